/*
 * covey/team.h - teams: tasks in a fixed order, the ground of collective calls.
 */
#ifndef COVEY_TEAM_H
#define COVEY_TEAM_H

#include "group.h"
#include "request.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct covey_team covey_team_t; /* tasks in a fixed order, for collective calls */

/* A team is a number of tasks in a fixed order: each has a rank, 0 .. size-1. Collective calls run
 * on teams. Making one is itself a call that all members make, in the same order at all that are
 * members of several; its messages are taken for no others, neither the program's nor another
 * team's. A handle is used by one thread at a time.
 *
 * Members stay members. When one ends, or gives up (its time ran out), and another needs it, the
 * team is broken: running and later collective calls on it end at all members with the cause. */

/* Makes a team of the tasks in that order; the caller is one of them, and all give the same list.
 * Sets *team, which covey_team_free() ends. Errors: EINVAL (a tid twice, the caller not in it, the
 * others gave another list), ENOTASK, EHOSTFAIL, ETIMEOUT, ENOMEM, EDAEMON. */
int covey_team_create(covey_t *vm, const covey_tid_t *tids, int size, int64_t timeout_us,
                      covey_team_t **team);

/* Waits until `size` members of the group called it, and makes a team of these, in the order of
 * their instances. At most COVEY_RENDEZVOUS_MAX. Errors: as covey_team_create() and
 * covey_rendezvous(). */
int covey_team_of_group(covey_group_t *group, int size, int64_t timeout_us, covey_team_t **team);

/* Makes a team of all tasks of the run that the caller belongs to, which all of them call; it ends
 * with an error when one of them ends before. A run is one covey_spawn(), for which `covey run` is
 * one: ranks are the places in its `tids`, without those that could not be started. Errors:
 * ENOGROUP (the caller was started by hand), and as covey_siblings() and covey_team_create(). */
int covey_team_world(covey_t *vm, covey_team_t **team);

/* Divides a team: members that give the same colour form a new one, ordered by key and then by
 * rank. colour < 0: none, and *part is set to NULL. A collective call of the whole team. */
int covey_team_split(covey_team_t *team, int colour, int key, covey_team_t **part);

int covey_team_rank(const covey_team_t *team); /* the caller's own */
int covey_team_size(const covey_team_t *team);
covey_tid_t covey_team_tid(const covey_team_t *team, int rank);    /* or EINVAL */
int covey_team_rank_of(const covey_team_t *team, covey_tid_t tid); /* or ENOTASK */
covey_t *covey_team_vm(const covey_team_t *team); /* as which the caller is in it; NULL: no team */

/* How long each blocking collective call may take from now on; COVEY_FOREVER at first. One whose
 * time runs out gives up for all members: the team is broken. */
int covey_team_set_timeout(covey_team_t *team, int64_t timeout_us);

/* ---- Messages by rank ---------------------------------------------------------------------- */

/* A message to a member of a team is received by that team's calls alone: no receive by tid takes
 * it, and none of these takes a message that was sent by tid, or in another team. Tags, order and
 * memory are those of covey_send() and covey_recv(), whose errors these calls have, too; EINVAL
 * also: no such rank. covey_fd() does not tell of such messages.
 *
 * A member that ends does not break the team by this: who sends to it, or receives from it, gets
 * ENOTASK or EHOSTFAIL. When the team is broken, or freed here, receives under way end with the
 * cause, and messages that nobody received are gone. */

#define COVEY_ANY_RANK (-1) /* receive: from any member */
#define COVEY_NO_RANK (-2)  /* covey_team_sendrecv(): nobody */

int covey_team_send(covey_team_t *team, int rank, int tag, const covey_msg_t *msg);
int covey_team_send_array(covey_team_t *team, int rank, int tag, int type, const void *base,
                          size_t count);

/* Receives from the member of that rank, or COVEY_ANY_RANK, and returns the rank of the sender. A
 * probe takes nothing; info may be NULL. */
int covey_team_recv(covey_team_t *team, int rank, int tag, int64_t timeout_us, covey_msg_t **msg);
int covey_team_recv_array(covey_team_t *team, int rank, int tag, int64_t timeout_us, int type,
                          void *base, size_t capacity, size_t *count);
int covey_team_probe(covey_team_t *team, int rank, int tag, int64_t timeout_us,
                     struct covey_info *info);

/* As covey_sendrecv(); COVEY_NO_RANK: nothing is sent, or received. Returns 0. */
int covey_team_sendrecv(covey_team_t *team, int to, int from, int tag, int64_t timeout_us,
                        const covey_msg_t *out, covey_msg_t **in);
int covey_team_sendrecv_array(covey_team_t *team, int to, int from, int tag, int64_t timeout_us,
                              int type, const void *out, size_t out_count, void *in,
                              size_t capacity, size_t *count);

/* Start a send or a receive, as covey_isend() and covey_irecv(). Whose message a receive got is
 * covey_team_rank_of() of the source that covey_req_result() gives. */
int covey_team_isend(covey_team_t *team, int rank, int tag, covey_msg_t **msg, covey_req_t **req);
int covey_team_isend_array(covey_team_t *team, int rank, int tag, int type, const void *base,
                           size_t count, covey_req_t **req);
int covey_team_irecv(covey_team_t *team, int rank, int tag, covey_req_t **req);
int covey_team_irecv_array(covey_team_t *team, int rank, int tag, int type, void *base,
                           size_t capacity, covey_req_t **req);

/* ---- The end of a team --------------------------------------------------------------------- */

/* Frees the team and sets *team to NULL; not collective. What is under way is given up. NULL is
 * fine. */
void covey_team_free(covey_team_t **team);

#ifdef __cplusplus
}
#endif
#endif
