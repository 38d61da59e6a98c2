/*
 * state.h - the state of the VM that its voters agree on: groups, locks, tokens, meetings. A
 * deterministic state machine: whoever applies the same commands in the same order has the same
 * state, byte for byte (state_save()), and emits the same events. There is no clock in it: a
 * deadline is kept by who waits, and reaches it as a command (CANCEL).
 *
 * Exactly once, whatever is lost on the way. The commands of one daemon are applied in the order of
 * their numbers, each once: one that comes again is not applied again, one that comes before its
 * turn is not applied at all and must be proposed again when its turn has come. The events for one
 * daemon are numbered likewise and kept until a command of that daemon says that it has taken them;
 * state_resend() gives out again what may have been lost with a leader.
 *
 *   daemon --propose(command)--> leader --log--> every voter: state_apply()
 *   daemon <------- event ------ leader <------- on_event (at the leader; voters only keep it)
 *
 * Limits: names have at most NAME_BYTES_MAX bytes; NAMES_MAX of a kind. All of it together is not
 * to outgrow a snapshot: while it takes more than STATE_BYTES_MAX, or the events that nobody has
 * taken yet take more than STATE_KEPT_MAX, commands that add something are answered
 * ERROR_ERESOURCE. The whole is looked at every STATE_LOOK_EVERY commands, and what was found is a
 * part of the state, so that all replicas refuse the same ones.
 */
#ifndef COVEY_PROTO_STATE_H
#define COVEY_PROTO_STATE_H

#include <stdbool.h>

#include "proto/wire/command.h"
#include "proto/wire/error.h"

#define STATE_BYTES_MAX ((size_t)24 << 20)
#define STATE_KEPT_MAX ((size_t)8 << 20)
#define STATE_LOOK_EVERY 256

enum state_verdict {
    STATE_APPLIED = 0,
    STATE_REPEATED, /* applied before: nothing changed; its answer is among the events */
    STATE_AHEAD,    /* others of its daemon must come first: nothing changed */
    STATE_STALE,    /* its session has ended: nothing changed, nor ever will */
    STATE_BAD,      /* no command: nothing changed */
    STATE_BROKEN    /* memory is exhausted: this replica must be given up */
};

struct state;

/* An event for a daemon; its body lives only for the call, which must not call back. */
typedef void state_event_fn(void *context, const struct event *event);

struct state *state_create(state_event_fn *on_event, void *context); /* NULL: no memory */
void state_destroy(struct state *state);                             /* NULL is fine */

/* Before the first command, for a state that takes the place of one that was lost: all numbers that
 * it gives (fences, views) are larger than `base`. */
void state_begin(struct state *state, uint64_t base);

/* Carries out the index-th command of the log; index grows from call to call. */
enum state_verdict state_apply(struct state *state, uint64_t index, const uint8_t *bytes,
                               size_t size);
uint64_t state_index(const struct state *state); /* of the last one */
bool state_is_full(const struct state *state);

/* Answers a question of a task about what is agreed so far: the answer is written to `out`, which
 * is bad when it does not fit. Returns enum error_code. */
int32_t state_query(const struct state *state, uint8_t kind, uint32_t task, struct cursor *body,
                    struct cursor *out);

/* The session of a host (0: none is open) and its last command that was applied. */
uint64_t state_session(const struct state *state, uint32_t host, uint64_t *applied);

/* Gives on_event the events of a host's session that are kept and come after `taken`. */
void state_resend(struct state *state, uint32_t host, uint64_t taken);

/* The whole state as bytes: how many were written, 0 when they do not fit. */
size_t state_save(const struct state *state, uint8_t *bytes, size_t capacity);
/* The state that was saved; NULL: the bytes make no sense, or memory is exhausted. What was applied
 * to the saved one in the meantime is to be applied to this one. */
struct state *state_load(state_event_fn *on_event, void *context, const uint8_t *bytes,
                         size_t size);

#endif
