/*
 * door_crew.h - the workers of one caller: started, given orders, ended.
 *
 * Orders go by tid to the workers, whose mailbox is this library's; answers by rank in a team, for
 * in the mailbox of the caller its own program may receive whatever comes.
 */
#ifndef COVEY_LIB_DOMAIN_DOOR_DOOR_CREW_H
#define COVEY_LIB_DOMAIN_DOOR_DOOR_CREW_H

#include "lib/domain/door/door.h"

#define DOOR_TAG_ORDER 0x646f72
#define DOOR_TAG_ANSWER 0x646f73

#define DOOR_FORM_US (60 * (int64_t)1000000) /* a worker that does not come by then never does */
#define DOOR_DRAIN_US (2 * (int64_t)1000000) /* for the causes of a failure, all together */

enum door_order { DOOR_FORM = 1, DOOR_RUN = 2, DOOR_END = 3 };

struct door_crew {
    covey_t *vm;
    int count;          /* of workers; 0: there is none */
    covey_tid_t *tids;  /* count + 1, the caller's first: in the order of ranks */
    int32_t *hosts;     /* likewise, the indices of their hosts */
    covey_team_t *talk; /* all of them, for answers; it is never broken by what is solved */
    covey_team_t *team; /* the first `used` of them, which solve */
    int used;
    int32_t number;   /* of the last order */
    int is_stale;     /* 1: the last run found workers gone before anything was sent to them */
    int64_t limit_us; /* that a run may take, and the forming of teams; 0: no limit */
};

/* Starts a worker on each host of the list, whose first one, the caller's own, gets none: hosts[i]
 * is the index and names[i] the name of where rank i is. Those that cannot be started are left out:
 * *missing is then the error of the first one, and the text its cause. Returns how many workers
 * there are. Errors: those of covey_spawn() and covey_team_create(), after which there is no crew.
 */
int door_crew_start(struct door_crew *crew, const int32_t *hosts, const char *const *names,
                    int count, int *missing);

/* Has the first `tasks` members run the operation, the caller as rank 0. On an error that is not
 * all members' agreed one the crew is ended, and the text tells the cause as the member that failed
 * first knows it. */
int door_crew_run(struct door_crew *crew, int tasks, int op, const struct door_args *args,
                  struct door_member *member, int64_t keep_us);

/* Ends the workers; is_lost: at once, whatever they do. */
void door_crew_end(struct door_crew *crew, int is_lost);

/* Whether an error breaks teams, and the same call may go well on what is left. */
int door_error_is_loss(int error);

#endif
