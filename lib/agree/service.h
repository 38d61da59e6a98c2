/*
 * service.h - locks, tokens and the like: the state that the VM agrees on.
 */
#ifndef COVEY_LIB_AGREE_SERVICE_H
#define COVEY_LIB_AGREE_SERVICE_H

#include "lib/covey.h"
#include "proto/wire/cursor.h"
#include <stddef.h>
#include <stdint.h>

struct covey;
struct frame;

#define SERVICE_BYTES 8192 /* of a command or a question: its kind and what follows */

/* A command or a question to the state that the VM agrees on: begun with a name (NULL: none), what
 * follows is written to `body`. */
struct service {
    struct covey *vm;
    uint8_t kind;            /* enum command_kind */
    const char *what, *name; /* "lock" and which, for the texts of errors */
    struct cursor body;
    uint8_t bytes[SERVICE_BYTES];
};
void service_begin(struct service *s, struct covey *vm, uint8_t kind, const char *what,
                   const char *name);
/* Sends a command and waits; COVEY_POLL: for no other task, only for the answer. content may be
 * NULL and is freed by the caller. */
int service_call(struct service *s, int64_t timeout_us, uint8_t **content, size_t *size);
/* The same for a question. */
int service_ask(struct service *s, uint8_t **content, size_t *size);
/* A command that is answered with a number, and a question about a holder and its number. */
int service_number(struct service *s, int64_t timeout_us, uint64_t *number);
covey_tid_t service_holder(struct service *s, uint64_t *number);
int service_name_check(const covey_t *vm, const char *what, const char *name);
/* Sends a command whose answer nobody waits for. */
void service_post(struct service *s);
void service_on_notice(struct covey *vm, const struct frame *frame, const uint8_t *payload);

#endif
