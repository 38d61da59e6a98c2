/*
 * exchange_signal.h - which message must have arrived before which other one starts.
 *
 * In the order of EXCHANGE_LONGEST a message starts when every link of its way is free. Between two
 * messages of one sender this is its own affair, between two to one receiver it is the receiver
 * that tells the next sender that it is ready; that a link in between became free must be said by
 * the receiver of the message that left it to the sender of the one that takes it. Where all ranks'
 * links have one rate and no other link is the limit, no signals are needed: a rank sends its
 * messages one after the other, and so it receives them.
 */
#ifndef COVEY_PROTO_EXCHANGE_SIGNAL_H
#define COVEY_PROTO_EXCHANGE_SIGNAL_H

#include "proto/exchange/exchange.h"

/* Message `before` has arrived before message `after` starts: positions in exchange->messages. */
struct exchange_signal {
    uint32_t before, after;
};

/* The signals of an exchange that exchange_schedule() ordered by EXCHANGE_LONGEST with this
 * network, by before, then after: those of the ranks' own links, too. *signals is freed by the
 * caller. Returns 0, or -1 when memory is exhausted. */
int exchange_signals(const struct exchange *exchange, const struct network *network,
                     struct exchange_signal **signals, size_t *count);

#endif
