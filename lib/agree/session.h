/*
 * session.h - sessions of a task with the state that the VM agrees on.
 */
#ifndef COVEY_LIB_AGREE_SESSION_H
#define COVEY_LIB_AGREE_SESSION_H

#include "lib/member/vm.h"

/* The sessions that a task has open. */
struct sessions {
    struct covey_session *first;
};

static inline struct sessions *sessions_of(const struct covey *vm)
{
    return vm->part[PART_SESSIONS];
}

/* An answer came that a session may have waited for in the background. */
void session_settle(struct covey *vm);
void session_free_all(struct covey *vm);

#endif
