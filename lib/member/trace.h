/*
 * trace.h - what a task records of itself while somebody traces it. Whoever has something to record
 * asks first whether vm->trace is NULL, which it is otherwise: that branch is all that it costs.
 * All is done with the lock held.
 */
#ifndef COVEY_LIB_MEMBER_TRACE_H
#define COVEY_LIB_MEMBER_TRACE_H

#include "lib/link/trace_ring.h"
#include "lib/member/vm.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame;

#define TRACE_NAME_SLOTS 8192u /* twice as many as there are names */

/* Names that have these numbers from the beginning: calls whose message is their only record. */
enum { TRACE_NAME_NONE, TRACE_NAME_SEND, TRACE_NAME_RECEIVE };

struct trace {
    struct trace_ring *ring;
    uint64_t begun;  /* the call under way, in ticks */
    uint64_t brief;  /* what a send that went at once took when that was looked at last, in ticks */
    unsigned briefs; /* of these, so far */
    bool cycles;
    struct trace_writer writer;
    uint32_t names;    /* numbers given */
    uint16_t *by_text; /* slots: numbers, 0: free */
    uint32_t *at;      /* by number: where its text begins in the ring */
    struct {
        const char *text;
        uint32_t number;
    } recent[64]; /* by the address of a text that does not change */
};

static inline uint64_t trace_now(const struct trace *t)
{
    return trace_ticks(t->cycles);
}

/* When something begins that is recorded at its end; 0: nobody traces. */
static inline uint64_t trace_begin(const struct covey *vm)
{
    const struct trace *t = __atomic_load_n(&vm->trace, __ATOMIC_RELAXED);
    return t == NULL ? 0 : trace_now(t);
}

struct trace_what {
    enum trace_kind kind;
    uint32_t name;
    uint64_t begun, bytes, sequence;
    uint32_t peer;
    int32_t tag;
    bool brief; /* it took too little to look at the clock each time */
};
/* One that began then and ends now. */
void trace_put(struct trace *t, const struct trace_what *what);

/* The number of a name; 0: there is no room for it. trace_literal(): of a text that does not
 * change as long as the program runs. */
uint32_t trace_name(struct trace *t, const char *text);
uint32_t trace_literal(struct trace *t, const char *text);

/* A call: from now on it is seen if it does not end. */
uint64_t trace_call_begin(struct trace *t, const char *name);
void trace_call_open(struct trace *t, const char *name, uint64_t begun); /* it began then */
void trace_call_awaits(struct trace *t, uint32_t peer, int tag); /* it waits for a message */
void trace_call_end(struct trace *t, const char *name, uint64_t begun);
void trace_call_told(struct trace *t); /* it ends, and a message's record says so */

/* Of an instant, with a word of the program's. */
void trace_instant(struct trace *t, enum trace_kind kind, const char *name, double value);

/* A ring comes, or none: the trace is over. */
void trace_on_ring(struct covey *vm, const struct frame *frame, const uint8_t *payload, int *fds,
                   int nfds);
void trace_free(struct covey *vm);

#endif
