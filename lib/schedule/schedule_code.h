/*
 * schedule_code.h - the parts of generated programs that are the same for every schedule. They read
 * the tables `messages` (by phase), `syncs` and `lanes` (by rank: messages that it sends at a time)
 * and the constants RANKS, MESSAGES, SYNCS, SENDS (most messages that a rank sends at a time),
 * SYNCS_IN_MAX and SYNCS_OUT_MAX (most synchronisations that a rank waits for and sends). Each is a
 * list of lines, ended by NULL.
 */
#ifndef COVEY_LIB_SCHEDULE_CODE_H
#define COVEY_LIB_SCHEDULE_CODE_H

extern const char *const schedule_code_covey[]; /* the exchange over covey.h */
extern const char *const schedule_code_mpi[];   /* the same over MPI, as MPI_Alltoall */

#endif
