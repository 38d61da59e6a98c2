/*
 * covey/schedule.h - when each message of an all-to-all goes, so that no link is overloaded.
 */
#ifndef COVEY_SCHEDULE_H
#define COVEY_SCHEDULE_H

#include "topology.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct covey_schedule covey_schedule_t; /* when each message of an all-to-all goes */

/* A schedule lets every rank send one message to every other in phases in which no link carries
 * more than its rate allows, in as few phases as its bottleneck link needs (Faraj & Yuan); see
 * covey_schedule(3). */
struct covey_schedule_message {
    uint32_t phase;
    uint16_t from, to; /* ranks */
};

/* The first message has arrived before the second starts; positions in the list of messages. */
struct covey_schedule_sync {
    uint32_t before, after;
};

struct covey_schedule_info {
    int32_t ranks;
    uint32_t phases;
    uint32_t bound; /* phases that the bottleneck link needs */
    uint32_t slots; /* messages that the slowest link carries in a phase (perhaps fewer in the last
                       one): 1 for equal rates */
    uint64_t messages;
    uint64_t syncs;
};

enum covey_schedule_form {
    COVEY_SCHEDULE_TEXT = 1, /* a line a message and synchronisation, and one for the sum */
    COVEY_SCHEDULE_C = 2,    /* a C function for covey.h */
    COVEY_SCHEDULE_MPI = 3   /* C that takes the place of MPI_Alltoall */
};

/* Makes the schedule for `ranks` tasks; hosts[i] is where rank i runs: the position of its host in
 * the list of nodes. hosts NULL: one rank for each host, in the order of the file. Sets *schedule.
 * Errors: EINVAL (not a host; more than 2048 ranks), ENOMEM. */
int covey_schedule_create(const covey_topology_t *topology, const int32_t *hosts, int ranks,
                          covey_schedule_t **schedule);

/* Its numbers; its messages by phase; its synchronisations by the message that waits. The arrays
 * belong to the schedule. */
void covey_schedule_info(const covey_schedule_t *schedule, struct covey_schedule_info *info);
const struct covey_schedule_message *covey_schedule_messages(const covey_schedule_t *schedule);
const struct covey_schedule_sync *covey_schedule_syncs(const covey_schedule_t *schedule);

/* The name of a rank: its host's, and for several ranks on one host NAME:0, NAME:1 ...; NULL for no
 * such rank. It belongs to the schedule. */
const char *covey_schedule_rank_name(const covey_schedule_t *schedule, int rank);

/* Proves the schedule anew by means that its making does not share: each message once, no
 * contention, synchronisations that suffice, none of them implied by others. Errors: EPROTO
 * (covey_error_text() says what is wrong), ENOMEM. */
int covey_schedule_check(const covey_schedule_t *schedule);

/* Sets *text (free with covey_free()) to the schedule in a form (enum covey_schedule_form).
 * Errors: EINVAL, ENOMEM. */
int covey_schedule_print(const covey_schedule_t *schedule, int form, char **text);

/* Frees a schedule and sets *schedule to NULL. NULL is fine. */
void covey_schedule_free(covey_schedule_t **schedule);

/* The schedule of the team, made now if it was not yet; it belongs to the team. *made_s, which may
 * be NULL, is the seconds that took. NULL: it has none, and covey_error_text() says why. */
const covey_schedule_t *covey_team_schedule(covey_team_t *team, double *made_s);

#ifdef __cplusplus
}
#endif
#endif
