/*
 * lesson.h - what the lessons share: each is one task of a run (covey run -n 4 ./ring), which knows
 * its team, its rank in it and how many there are. A call that fails ends the program with its
 * text.
 */
#ifndef LESSON_H
#define LESSON_H

#include <covey.h>
#include <stdio.h>
#include <stdlib.h>

static covey_t *vm;
static covey_team_t *team; /* all tasks of the run */
static int rank, size;

static inline int check(int result)
{
    if (result >= 0)
        return result;
    fprintf(stderr, "task %d: %s\n", rank, covey_error_text());
    exit(1);
}

static inline void begin(void)
{
    check(covey_join(&vm, NULL));
    check(covey_team_world(vm, &team));
    rank = covey_team_rank(team);
    size = covey_team_size(team);
}

static inline int end(void)
{
    covey_team_free(&team);
    covey_leave(&vm);
    return 0;
}

/* Prints "[0, 1, 2]". */
static inline void print_list(const int *list, int count)
{
    printf("[");
    for (int i = 0; i < count; i++)
        printf("%s%d", i == 0 ? "" : ", ", list[i]);
    printf("]");
}

#endif
