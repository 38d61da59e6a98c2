/*
 * fault_line.h - a line on which datagrams meet their faults (fault.h): what is put in comes out
 * once, twice, late, changed or never. Pure: it is told the time and says when it must be asked.
 */
#ifndef COVEY_PROTO_FAULT_LINE_H
#define COVEY_PROTO_FAULT_LINE_H

#include "proto/session/fault.h"
#include "proto/wire/address.h"

struct fault_line;

/* Where datagrams come out; nothing is kept of them after the call. */
typedef void fault_line_out(void *context, const struct address *to, const uint8_t *bytes,
                            size_t size);

/* NULL: no memory. */
struct fault_line *fault_line_create(const struct fault_config *config, fault_line_out *out,
                                     void *context);
void fault_line_destroy(struct fault_line *line); /* NULL is fine; what waits is lost */

/* Puts in a datagram, which comes out so much later, and what its faults add. What has no delay
 * comes out before it returns. */
void fault_line_put(struct fault_line *line, const struct address *to, const uint8_t *bytes,
                    size_t size, uint64_t after_us, uint64_t now_us);

/* Lets out what is due; returns when the next is, UINT64_MAX: nothing waits. */
uint64_t fault_line_step(struct fault_line *line, uint64_t now_us);

/* The i-th counter and its name, NULL at the end. */
const char *fault_line_stat(const struct fault_line *line, size_t i, uint64_t *value);

#endif
