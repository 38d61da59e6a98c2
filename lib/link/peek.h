/*
 * peek.h - how one end of a link in memory reads the memory of the other end's task, so that a long
 * message is copied once. The kernel reads (process_vm_readv()), and only where it lets this user
 * do so: each end says where in its own memory a nonce lies, the other end tries to read it, and
 * reads it again with every piece of a message. So neither a task of another process namespace nor
 * a later process with the number of one that ended is taken for the other end.
 *
 * A message is offered in a frame (control.h); the word `state` in the memory of both ends says
 * what becomes of it. There is one at a time in each direction. Who offered it may take it back
 * until the other end has taken it, without that one's help.
 *
 * What the other end writes here may be nonsense: it is read once, and harms only the messages that
 * this end sends there.
 */
#ifndef COVEY_LIB_PEEK_H
#define COVEY_LIB_PEEK_H

#include "proto/wire/control.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PEEK_NONCE_BYTES 16

/* What one end says, in the memory of both. */
struct peek_shared {
    _Alignas(64) uint64_t pid; /* 0: nobody may read here */
    uint64_t nonce_at;         /* its address in that process */
    uint8_t nonce[PEEK_NONCE_BYTES];
    _Atomic uint32_t reads;  /* this end can read the other's memory */
    _Atomic uint32_t advice; /* to the other end: what it had better not offer, see faster.c */
    _Alignas(64) _Atomic uint64_t state;  /* of what this end offers: number, enum peek_state */
    _Alignas(64) _Atomic uint64_t copied; /* by the other end, of what this end offers */
};

enum peek_state {
    PEEK_NONE,    /* or nonsense */
    PEEK_OFFERED, /* the other end may take it, or this one take it back */
    PEEK_TAKEN,   /* the other end reads it */
    PEEK_DONE,    /* it has */
    PEEK_REFUSED, /* it cannot read what is left */
    PEEK_BACK     /* this end has it back */
};

/* One end. */
struct peek {
    struct peek_shared *own, *other;
    uint8_t nonce[PEEK_NONCE_BYTES]; /* which the other end looks for */
    uint8_t other_nonce[PEEK_NONCE_BYTES];
    uint64_t other_nonce_at;
    int32_t other_pid; /* 0: its memory cannot be read */
    uint64_t number;   /* of the last offer */
};

/* Says where this end's nonce is: the struct stays where it is from now on. */
void peek_tell(struct peek *p);
/* Tries to read that of the other end, which has told; says so to it. */
void peek_try(struct peek *p);

/* Whether the other end can read this task's memory. */
bool peek_may_offer(const struct peek *p);
/* What the other end advises; what this one does. */
uint32_t peek_advised(const struct peek *p);
void peek_advise(struct peek *p, uint32_t advice);
/* A new offer; its number. */
uint64_t peek_offer(struct peek *p);
/* What became of the last one; *copied of its bytes were read, as the other end says. */
enum peek_state peek_look(const struct peek *p, uint64_t *copied);
bool peek_take_back(struct peek *p); /* false: too late, it is being read, or was */
void peek_revoke(struct peek *p);    /* also while it is being read: that is then in vain */

/* The other end's offer of that number. False: it was taken back. */
bool peek_take(struct peek *p, uint64_t number);
void peek_copied(struct peek *p, uint64_t bytes);
bool peek_done(struct peek *p, uint64_t number);
void peek_refuse(struct peek *p, uint64_t number);

/* Reads `size` bytes of what is offered, from `offset` on; false: not all could be read, or it was
 * not the other end's memory. */
bool peek_read(const struct peek *p, const struct control_offer *offer, uint64_t offset, void *to,
               size_t size);

#endif
