/*
 * credit.h - how much each peer may have outstanding.
 */
#ifndef COVEY_LIB_ENGINE_CREDIT_H
#define COVEY_LIB_ENGINE_CREDIT_H

#include <stdbool.h>
#include <stdint.h>

struct covey;
struct peer;

#define BUFFER_BYTES_DEFAULT ((size_t)16 * 1024 * 1024)

/* Whether the task may keep so many bytes more. */
bool credit_has_room(struct covey *vm, uint64_t bytes);
void credit_update(struct covey *vm, struct peer *peer);
void credit_reopen(struct covey *vm); /* the task waits: peers that were held back may go on */
void credit_keep(struct covey *vm, int64_t bytes); /* so much more is put aside by the program */

#endif
