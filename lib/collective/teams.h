/*
 * teams.h - what a task has of teams: the teams, the collectives that can go on, and what came for
 * teams that are not there yet.
 */
#ifndef COVEY_LIB_COLLECTIVE_TEAMS_H
#define COVEY_LIB_COLLECTIVE_TEAMS_H

#include "lib/member/vm.h"

struct collective;
struct covey_team;
struct op_defined;
struct paced;
struct shared_job;
struct shared_offer;
struct step_req;
struct sync;

struct teams {
    struct covey_team *first;
    struct collective *ready; /* collectives of which something is done */
    struct step_req *orphans; /* sends that go on for nobody */
    struct op_defined *ops;   /* the program's own operations */
    uint32_t context_next;    /* no team of this task has that or a larger one */
    bool assembling, aborts;  /* a team is being made; a member gave one up */
    struct paced *paced;      /* schedules that are carried out */
    struct covey_req *paced_due, *paced_due_last; /* of theirs: something happened */
    struct shared_job *awaited;  /* through shared memory: they wait for other members */
    struct shared_offer *offers; /* of segments, for teams that are being made */
    unsigned offer_count;
    struct sync *early; /* for those that have not begun here */
    unsigned early_count;
    int early_refused; /* 0, or why some could not be kept, of teams that were not there: */
    uint32_t early_refused_first, early_refused_last; /* contexts */
};

static inline struct teams *teams_of(const struct covey *vm)
{
    return vm->part[PART_TEAMS];
}

#endif
