/*
 * view_session.h - one session of view.h, for view.c alone.
 */
#ifndef COVEY_PROTO_VIEW_SESSION_H
#define COVEY_PROTO_VIEW_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "proto/state/listeners.h"
#include "proto/state/state_engine.h"
#include "proto/state/view.h"
#include "proto/wire/cursor.h"
#include "proto/wire/names.h"

#define VIEW_SESSION_HEAD_BYTES 13 /* of what view_session_tell() writes */

struct view_session_change {
    uint8_t kind; /* enum view_change */
    uint32_t task;
};

struct view_session {
    struct name name;  /* first: both have one address */
    uint64_t number;   /* of the present view */
    uint32_t *members; /* in the order of joining */
    size_t count, capacity;
    struct listeners listeners;
    size_t kept; /* changes in the history */
    struct view_session_change history[VIEW_HISTORY];
    struct {
        uint64_t version; /* 0: never put */
        uint64_t view;    /* in which it was put */
        uint32_t author;
        size_t size;
        uint8_t bytes[VIEW_VALUE_MAX];
    } value;
};

bool view_session_has(const struct view_session *s, uint32_t task); /* a member; s may be NULL */

/* False: no memory. */
bool view_session_add(struct view_session *s, uint32_t task);
void view_session_take_out(struct view_session *s, uint32_t task);
/* Returns how many members went with the host, or are the task. */
size_t view_session_take_out_gone(struct view_session *s, const struct state_gone *gone);
/* The membership has changed: that is the next view. */
void view_session_record(struct view_session *s, uint8_t kind, uint32_t task);

/* Writes `views` for a task: what came after the view `seen`; the whole when the history is too
 * short, or such a view never was; or that it is no member. s may be NULL. */
void view_session_tell(struct cursor *c, const struct view_session *s, uint32_t task,
                       uint64_t seen);

/* Versions are numbers of the whole VM: one that was read in a session that has ended is not that
 * of another one. */
void view_session_put(struct view_session *s, uint32_t author, uint64_t version,
                      struct cursor *bytes);

void view_session_save(const struct view_session *s, struct cursor *c);
/* Into a new one, but for its name; false: that cannot be. */
bool view_session_load(struct view_session *s, struct cursor *c);
/* Frees what it holds. */
void view_session_clear(struct view_session *s);

#endif
