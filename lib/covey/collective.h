/*
 * covey/collective.h - calls that all members of a team make together: broadcast, reduction and
 * their like.
 */
#ifndef COVEY_COLLECTIVE_H
#define COVEY_COLLECTIVE_H

#include "request.h"
#include "team.h"

#ifdef __cplusplus
extern "C" {
#endif

enum covey_op {
    COVEY_OP_SUM = 1, /* numbers, complex ones included */
    COVEY_OP_PROD = 2,
    COVEY_OP_MIN = 3, /* numbers; of a NaN and another, the other */
    COVEY_OP_MAX = 4,
    COVEY_OP_LAND = 5, /* logical, of numbers: 0 or 1 */
    COVEY_OP_LOR = 6,
    COVEY_OP_LXOR = 7,
    COVEY_OP_BAND = 8, /* bitwise, of integers and BYTES */
    COVEY_OP_BOR = 9,
    COVEY_OP_BXOR = 10,
    COVEY_OP_MINLOC = 11, /* pairs of elements, a value and where it is: the least value, and of */
    COVEY_OP_MAXLOC = 12  /* equal ones the least place; counts are those of elements */
};

/* result[i] = left[i] op right[i] for `count` elements; result may be left or right. Called by any
 * thread of the library, without its lock; no collective call and no wait is allowed inside. */
typedef void covey_op_fn(const void *left, const void *right, void *result, size_t count, int type,
                         void *context);

/* Defines an operation and returns its number for the calls below. It is associative; commutes: 0
 * keeps the order of ranks. `grain` elements belong together (4 for matrices of 2 by 2), 1
 * otherwise: counts are then multiples of it. Every member defines it for itself.
 * Errors: EINVAL, ENOMEM. */
int covey_op_define(covey_t *vm, covey_op_fn *fn, void *context, int commutes, size_t grain);

/* ---- The calls ---------------------------------------------------------------------------- */

/* All members call the same one with the same root, type, operation and counts, and on one team in
 * the same order; then each returns when its part is done. Arrays are contiguous, of any type but
 * STRING and MESSAGE. The covey_i... forms start the call and set *req: it progresses while the
 * task computes, the arrays stay untouched until covey_wait() or covey_test() says it is complete,
 * and covey_req_free() frees it (one not complete is given up for all: the team is broken).
 *
 * In place: where send and receive array are the same, or the own block stands already where the
 * call would put it, it is not copied. Arrays must not overlap otherwise.
 *
 * Errors of all: EINVAL (found before anything is sent), ENOTASK and EHOSTFAIL (a member ended),
 * ETIMEOUT (the time of the team ran out), ECANCELED (another member gave up), ETYPE and ETRUNC
 * (another member gave another type or count), EROUTE, ENOMEM, EDAEMON. */

/* Returns when all members called it. */
int covey_barrier(covey_team_t *team);
int covey_ibarrier(covey_team_t *team, covey_req_t **req);

/* The array of the root to all. */
int covey_bcast(covey_team_t *team, int root, int type, void *base, size_t count);
int covey_ibcast(covey_team_t *team, int root, int type, void *base, size_t count,
                 covey_req_t **req);

/* `count` elements for each member from the root, of those for rank i at send + i * count elements;
 * and in scatterv counts[i] of them at send + starts[i] elements (starts NULL: one after another).
 * send, counts and starts matter at the root alone. */
int covey_scatter(covey_team_t *team, int root, int type, const void *send, void *recv,
                  size_t count);
int covey_iscatter(covey_team_t *team, int root, int type, const void *send, void *recv,
                   size_t count, covey_req_t **req);
int covey_scatterv(covey_team_t *team, int root, int type, const void *send, const size_t *counts,
                   const size_t *starts, void *recv, size_t count);
int covey_iscatterv(covey_team_t *team, int root, int type, const void *send, const size_t *counts,
                    const size_t *starts, void *recv, size_t count, covey_req_t **req);

/* The other way: blocks of all members to the root. recv, counts and starts matter there alone. */
int covey_gather(covey_team_t *team, int root, int type, const void *send, void *recv,
                 size_t count);
int covey_igather(covey_team_t *team, int root, int type, const void *send, void *recv,
                  size_t count, covey_req_t **req);
int covey_gatherv(covey_team_t *team, int root, int type, const void *send, size_t count,
                  void *recv, const size_t *counts, const size_t *starts);
int covey_igatherv(covey_team_t *team, int root, int type, const void *send, size_t count,
                   void *recv, const size_t *counts, const size_t *starts, covey_req_t **req);

/* Blocks of all members to all: those of rank i at recv + i * count elements, and in allgatherv
 * counts[i] of them at recv + starts[i] elements; counts are the same at all. */
int covey_allgather(covey_team_t *team, int type, const void *send, void *recv, size_t count);
int covey_iallgather(covey_team_t *team, int type, const void *send, void *recv, size_t count,
                     covey_req_t **req);
int covey_allgatherv(covey_team_t *team, int type, const void *send, void *recv,
                     const size_t *counts, const size_t *starts);
int covey_iallgatherv(covey_team_t *team, int type, const void *send, void *recv,
                      const size_t *counts, const size_t *starts, covey_req_t **req);

/* A block of each member for each: send holds those for rank i at i * count elements, recv gets
 * those of rank i there. In alltoallv each pair has a count of its own: what one sends is what the
 * other receives; starts as above. */
int covey_alltoall(covey_team_t *team, int type, const void *send, void *recv, size_t count);
int covey_ialltoall(covey_team_t *team, int type, const void *send, void *recv, size_t count,
                    covey_req_t **req);
int covey_alltoallv(covey_team_t *team, int type, const void *send, const size_t *send_counts,
                    const size_t *send_starts, void *recv, const size_t *recv_counts,
                    const size_t *recv_starts);
int covey_ialltoallv(covey_team_t *team, int type, const void *send, const size_t *send_counts,
                     const size_t *send_starts, void *recv, const size_t *recv_counts,
                     const size_t *recv_starts, covey_req_t **req);

/* recv[i] = send[i] of rank 0 op that of rank 1 op ...: at the root (recv matters there alone), or
 * at all. How it is bracketed depends on the number of members and of elements; all members of an
 * allreduce have the same bits. */
int covey_reduce(covey_team_t *team, int root, int op, int type, const void *send, void *recv,
                 size_t count);
int covey_ireduce(covey_team_t *team, int root, int op, int type, const void *send, void *recv,
                  size_t count, covey_req_t **req);
int covey_allreduce(covey_team_t *team, int op, int type, const void *send, void *recv,
                    size_t count);
int covey_iallreduce(covey_team_t *team, int op, int type, const void *send, void *recv,
                     size_t count, covey_req_t **req);

/* Blocks of the result of a reduction, counts[i] elements to rank i; the same counts at all. */
int covey_reduce_scatter(covey_team_t *team, int op, int type, const void *send, void *recv,
                         const size_t *counts);
int covey_ireduce_scatter(covey_team_t *team, int op, int type, const void *send, void *recv,
                          const size_t *counts, covey_req_t **req);

/* To each member the result of those up to its rank (scan), or of those before it (exscan; recv of
 * rank 0 is left as it is). */
int covey_scan(covey_team_t *team, int op, int type, const void *send, void *recv, size_t count);
int covey_iscan(covey_team_t *team, int op, int type, const void *send, void *recv, size_t count,
                covey_req_t **req);
int covey_exscan(covey_team_t *team, int op, int type, const void *send, void *recv, size_t count);
int covey_iexscan(covey_team_t *team, int op, int type, const void *send, void *recv, size_t count,
                  covey_req_t **req);

/* Which algorithm a call takes is decided by a table, from the operation ("bcast"), the number of
 * members and the size; see covey_collectives(5). All members have the table of rank 0. */

/* The index-th algorithm of an operation, NULL behind the last. */
const char *covey_algorithm(const char *operation, int index);

/* The one that a call of so many bytes takes on this team; NULL: no such operation. */
const char *covey_team_algorithm(const covey_team_t *team, const char *operation, uint64_t bytes);

/* From now on calls of that operation take that algorithm, NULL: again the one of the table. Not
 * collective, but all members do the same. Returns 1 when it does not suit this team, where it is
 * right all the same, but no better than another. Errors: EINVAL (no such operation or algorithm).
 */
int covey_team_force(covey_team_t *team, const char *operation, const char *algorithm);

#ifdef __cplusplus
}
#endif
#endif
