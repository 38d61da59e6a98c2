/*
 * covey/window.h - one-sided put and get: memory of a team's members that the others write and
 * read.
 */
#ifndef COVEY_WINDOW_H
#define COVEY_WINDOW_H

#include "team.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct covey_window covey_window_t; /* memory of all members of a team */

/* A window is memory that each member of a team brings, a part of its own size, and into which the
 * others put arrays and from which they get arrays, without a receive of that member: what MPI-3
 * calls MPI_Win_allocate(), with displacements in bytes. Members on one host share the memory:
 * there a put is a copy. On other hosts the library of the member whose memory it is does the work,
 * which goes on while that task computes. See covey_window(3) for when a put is visible.
 *
 * Types are those of covey_pack() but STRING and MESSAGE; arrays are contiguous. Ranks are those of
 * the team. A handle is used by one thread at a time. When a member ends, the window is broken:
 * calls under way and later ones end at all members with the cause.
 *
 * Errors of all: EINVAL (NULL, no such rank, type or signal, an array that is not within the
 * member's part; nothing was done), ENOTASK and EHOSTFAIL (a member ended), ETIMEOUT (the time of
 * the team ran out, and the call was given up for all), ECANCELED (another member gave up), EPROTO
 * (another member broke the rules), ENOMEM, EDAEMON. */

#define COVEY_ALL_RANKS (-3)           /* covey_window_flush(): every member */
#define COVEY_WINDOW_SIGNALS_MAX 65536 /* that a member has */

enum covey_window_lock {
    COVEY_LOCK_SHARED = 1,   /* several may have it at once, */
    COVEY_LOCK_EXCLUSIVE = 2 /* one alone */
};

/* Makes a window of all members of the team, which may be freed before it: the caller brings
 * `bytes` of memory, all 0, which the library allocates at *base (aligned to a page), and so many
 * counters for covey_window_wait(), 0 .. COVEY_WINDOW_SIGNALS_MAX. Both may differ from member to
 * member. A collective call; it sets *base and *window. Calls on the window wait as long as the
 * time that the team had then, see covey_team_set_timeout(). Errors: also those of collective
 * calls. */
int covey_window_create(covey_team_t *team, size_t bytes, int signals, void **base,
                        covey_window_t **window);

/* Copies `count` elements at base into the part of a member, `displacement` bytes from its start.
 * On return base is the caller's again. */
int covey_window_put(covey_window_t *window, int rank, size_t displacement, int type,
                     const void *base, size_t count);

/* The other way. The elements are at base when the call is complete (flush, unlock or fence); until
 * then base is the library's. */
int covey_window_get(covey_window_t *window, int rank, size_t displacement, int type, void *base,
                     size_t count);

/* Every put and get of the caller with that member, or COVEY_ALL_RANKS, is complete here and
 * there. */
int covey_window_flush(covey_window_t *window, int rank);

/* Every put and get before it, of all members, is complete everywhere. A collective call. */
int covey_window_fence(covey_window_t *window);

/* Waits for the member's lock, which excludes others that lock, in the order in which they ask, and
 * nobody else: enum covey_window_lock. covey_window_unlock() flushes, and gives it back. EINVAL
 * also: the caller has it already, or has it not. */
int covey_window_lock(covey_window_t *window, int rank, int kind);
int covey_window_unlock(covey_window_t *window, int rank);

/* Adds 1 to a counter of the member. Who saw that, by covey_window_wait(), sees all that the caller
 * put there before. */
int covey_window_signal(covey_window_t *window, int rank, int signal);

/* Waits until a counter of the caller's is at least `count`. Counters begin with 0 and are never
 * set back. COVEY_POLL: just looks. ETIMEOUT: it is less, and the window is as it was. */
int covey_window_wait(covey_window_t *window, int signal, uint64_t count, int64_t timeout_us);

/* Where the caller has the part of a member in its own memory: its own, and those of members with
 * which it shares memory; NULL: it has not, or there is no such rank. *bytes, which may be NULL, is
 * the size of the part in either case. It may be read and written like any memory, by the rules of
 * puts and gets. It belongs to the window. */
void *covey_window_part(const covey_window_t *window, int rank, size_t *bytes);

/* Completes what is under way as a fence does, frees the window and the memory of all its parts,
 * and sets *window to NULL, also when it fails. A collective call, but of a window that is broken
 * or NULL. */
int covey_window_free(covey_window_t **window);

#ifdef __cplusplus
}
#endif
#endif
