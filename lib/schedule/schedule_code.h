/*
 * schedule_code.h - the parts of generated programs that are the same for every schedule. They read
 * the tables `messages` (by phase), `syncs` and `lanes` (by rank: messages that it sends at a time)
 * and the constants RANKS, MESSAGES, SYNCS, SENDS (most messages that a rank sends at a time),
 * SYNCS_IN_MAX and SYNCS_OUT_MAX (most synchronisations that a rank waits for and sends). Each is
 * the text of a file; what is printed begins below its line SCHEDULE_CODE_BEGIN.
 */
#ifndef COVEY_LIB_SCHEDULE_CODE_H
#define COVEY_LIB_SCHEDULE_CODE_H

#define SCHEDULE_CODE_BEGIN "/* ---- template ---- */\n"

extern const char schedule_code_covey[]; /* template/covey.c: the exchange over covey.h */
extern const char schedule_code_mpi[];   /* template/mpi.c: the same over MPI, as MPI_Alltoall */

#endif
