/*
 * exchange_pace.h - one rank's part in carrying out the order of an exchange, for pace.h.
 *
 * The receiver of a message hands over to the message that it receives next, and where links are
 * the limit to those that wait for it by exchange_signal.h. Orders with phases go by them as an
 * order alone: nobody waits for a phase of others to end.
 */
#ifndef COVEY_PROTO_EXCHANGE_PACE_H
#define COVEY_PROTO_EXCHANGE_PACE_H

#include "proto/exchange/exchange_signal.h"
#include "proto/schedule/pace.h"

/* So many bytes of other messages may be under way to a receiver when the next one starts. */
#define EXCHANGE_AHEAD_BYTES 16384

/* Of an exchange that exchange_schedule() has ordered; signal_count 0: links are not the limit.
 * pace.h says what `blind` is. Nothing is kept. Returns 0, or -1 when memory is exhausted. */
int exchange_pace(struct pace_plan *plan, const struct exchange *exchange,
                  const struct exchange_signal *signals, size_t signal_count, int rank, bool blind);

#endif
