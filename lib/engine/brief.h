/*
 * brief.h - the short header of short messages.
 */
#ifndef COVEY_LIB_ENGINE_BRIEF_H
#define COVEY_LIB_ENGINE_BRIEF_H

#include "proto/wire/frame.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conn;
struct covey_req;

/* Writes that of a message which begins, and is whole, into out.head; returns its bytes, 0: it has
 * none. */
size_t brief_put(struct conn *conn, const struct covey_req *req);
/* How many bytes in.head has, of which the first ones are there. */
size_t brief_head_bytes(const struct conn *conn);
/* Takes the one in in.head; the reason of refusal or NULL. */
const char *brief_take(struct conn *conn);

/* The header of a message in memory of two tasks, and the elements of its array; the reason of
 * refusal or NULL. `words` are a copy, for the other task may change that memory. */
const char *brief_look(const uint64_t words[BRIEF_STAMPED_WORDS], struct brief *brief,
                       uint64_t *stamp, size_t *count);
/* The whole number of the message, of which the header has half. */
uint64_t brief_sequence(const struct brief *brief, uint64_t next);

#endif
