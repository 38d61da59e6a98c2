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
struct request;

#define SERVICE_BYTES 8192 /* of a command or a question: its kind and what follows */

/* A command or a question to the state that the VM agrees on: begun with a name (NULL: none), what
 * follows is written to `body`. */
struct service {
    struct covey *vm;
    uint8_t kind;            /* enum command_kind */
    const char *what, *name; /* "lock" and which, for the texts of errors */
    struct cursor body;
    struct cursor answer; /* over `content`, after COVEY_OK */
    uint8_t *content;
    uint8_t bytes[SERVICE_BYTES];
};
void service_begin(struct service *s, struct covey *vm, uint8_t kind, const char *what,
                   const char *name);
/* The same for a name that the program gave: COVEY_EINVAL if it cannot be one. */
int service_open(struct service *s, covey_t *vm, uint8_t kind, const char *what, const char *name);
/* Sends a command and waits; COVEY_POLL: for no other task, only for the answer. After COVEY_OK the
 * caller reads `answer` and ends with service_done() or service_drop(). */
int service_call(struct service *s, int64_t timeout_us);
/* The same for a question. */
int service_ask(struct service *s);
/* Frees the answer; COVEY_EPROTO: it was not read to its end, or was too short. */
int service_done(struct service *s);
void service_drop(struct service *s);
/* A command whose answer says no more than that it was carried out. */
int service_order(struct service *s, int64_t timeout_us);
/* A command that is answered with a number, and a question about a holder and its number. */
int service_number(struct service *s, int64_t timeout_us, uint64_t *number);
covey_tid_t service_holder(struct service *s, uint64_t *number);
int service_name_check(const covey_t *vm, const char *what, const char *name);
/* Sends a command whose answer nobody waits for: it takes back one that may yet be carried out. */
void service_undo(covey_t *vm, uint8_t kind, const char *what, const char *name);
/* Sends what was begun, for a caller that looks at the answer later; NULL: not sent, and
 * request_refused() says why. */
struct request *service_request(struct service *s);
void service_on_notice(struct covey *vm, const struct frame *frame, const uint8_t *payload);

#endif
