/*
 * covey/session.h - sessions with agreed views, election of a leader, consensus.
 */
#ifndef COVEY_SESSION_H
#define COVEY_SESSION_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct covey_session covey_session_t; /* membership of one session, with agreed views */

/* Kept by the daemons like locks and tokens, and ended like them: see covey_services(7). */

enum covey_change {
    COVEY_VIEW_ROSTER = 0,  /* several changes at once, more than the VM keeps */
    COVEY_VIEW_JOINED = 1,  /* view->tid joined */
    COVEY_VIEW_LEFT = 2,    /* it left */
    COVEY_VIEW_ENDED = 3,   /* it ended */
    COVEY_VIEW_HOST = 4,    /* host view->host left, died or was cut off, and its members with it */
    COVEY_VIEW_EXPELLED = 5 /* view->tid was excluded by another member */
};

/* Who is in a session from this change until the next. */
struct covey_view {
    uint64_t number; /* counts the changes; never the same again under one name */
    int32_t change;  /* enum covey_change: what made it */
    covey_tid_t tid; /* whom it is about; 0: see change */
    int32_t host;
    int32_t count;              /* of members */
    const covey_tid_t *members; /* in the order of joining; the session's, until its next call */
};

/* Joins the named session, which is there while it has members. All members see the same views in
 * the same order, each from the one by which it joined, which covey_session_view() gives at first.
 * A handle is used by one thread at a time. Errors: EINVAL, EEXIST (already a member), ERESOURCE
 * (1024 sessions, 4096 members), EHOSTFAIL, EDAEMON. */
int covey_session_join(covey_t *vm, const char *name, covey_session_t **session);

/* Leaves the session and sets *session to NULL. A task's end leaves all its sessions. A handle
 * whose member was excluded is ended by this, too. NULL is fine. */
int covey_session_leave(covey_session_t **session);

/* Waits for the next view. One that was slow catches up view by view, or, when it lacks more than
 * the VM keeps (64), by one with the change COVEY_VIEW_ROSTER. Errors: ENOGROUP (the caller is no
 * member any more: covey_error_text() tells since which view and why), ETIMEOUT, EHOSTFAIL (the
 * state was lost), EDAEMON, ENOMEM. */
int covey_session_next(covey_session_t *session, int64_t timeout_us, struct covey_view *view);

/* The view that covey_session_next() gave last. */
int covey_session_view(const covey_session_t *session, struct covey_view *view);

/* From now on a message with `tag` tells of each view that covey_session_next() then has at once:
 * its number as a uint64, 0 when the session has ended for the caller. */
int covey_session_notify(covey_session_t *session, int tag);

/* Excludes another member, such as one that does not answer any more. Errors: ENOTASK (it is no
 * member), EINVAL (oneself), ENOGROUP, EHOSTFAIL, EDAEMON. */
int covey_session_expel(covey_session_t *session, covey_tid_t tid);

#define COVEY_SESSION_VALUE_MAX 1024

/* The session's shared value, by which a newcomer catches up. */
struct covey_value {
    uint64_t version;   /* grows; 0: it was never set */
    uint64_t view;      /* number of the view in which it was set */
    covey_tid_t author; /* who set it */
    int32_t bytes;
    uint8_t value[COVEY_SESSION_VALUE_MAX];
};
int covey_session_get(covey_session_t *session, struct covey_value *value);

/* Sets the shared value to value->value, in place of the version value->version; returns 1 and the
 * new version there, or 0 when it has another version: that is then in value->version, and
 * covey_session_get() gives what it is. Errors of both: ENOGROUP, EINVAL, EHOSTFAIL, EDAEMON. */
int covey_session_put(covey_session_t *session, struct covey_value *value);

/* The leader of a group in a term. Terms grow, and are fencing numbers as those of locks are: there
 * is at most one leader in a term for ever. */
struct covey_leader {
    uint64_t term;
    covey_tid_t tid;
};

/* Makes the caller a candidate of the named group, and tells who leads now: the candidate that
 * stood first. When it resigns or ends, the next one leads in a new term. Errors: EINVAL,
 * ERESOURCE, EHOSTFAIL, EDAEMON. */
int covey_elect_stand(covey_t *vm, const char *group, struct covey_leader *leader);

/* Gives up the candidacy, and with it leading. Errors: ENOGROUP (no candidate), EINVAL, EHOSTFAIL,
 * EDAEMON. */
int covey_elect_resign(covey_t *vm, const char *group);

/* Waits for a leader of a term after `term`; 0: of any. Any task may ask. All tasks learn of terms
 * in the same order; terms that have ended meanwhile are passed over. Errors: ETIMEOUT, EINVAL,
 * ERESOURCE, EHOSTFAIL, EDAEMON. */
int covey_elect_leader(covey_t *vm, const char *group, uint64_t term, int64_t timeout_us,
                       struct covey_leader *leader);

#define COVEY_DECISION_MAX 4096

/* What is proposed, and what was decided. */
struct covey_decision {
    covey_tid_t proposer;
    int32_t bytes;
    uint8_t value[COVEY_DECISION_MAX];
};

/* Proposes decision->value for a number of a series, and sets *decision to what is decided for it:
 * the value that was proposed first, the same for everyone and for ever. Errors: EINVAL, ENOENT
 * (that number was forgotten), ERESOURCE (the VM keeps no more than 1 MiB of decisions), ETIMEOUT
 * (it may be decided all the same), EHOSTFAIL, EDAEMON. */
int covey_propose(covey_t *vm, const char *series, uint64_t number, int64_t timeout_us,
                  struct covey_decision *decision);

/* Waits for the decision without proposing anything. Errors: as covey_propose(). */
int covey_learn(covey_t *vm, const char *series, uint64_t number, int64_t timeout_us,
                struct covey_decision *decision);

/* Forgets the decisions of all numbers less than `below`: they are refused from then on. With
 * UINT64_MAX the whole series, as if it had never been. Errors: EINVAL, EHOSTFAIL, EDAEMON. */
int covey_forget(covey_t *vm, const char *series, uint64_t below);

#ifdef __cplusplus
}
#endif
#endif
