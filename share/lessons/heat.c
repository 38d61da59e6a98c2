/* heat.c - heat along a rod: each task has a piece, and gets the edges of its neighbours at each
 * step */
#include "lesson.h"

#include <string.h>

enum { TAG = 1, POINTS = 64, STEPS = 500 };

/* The point beside each end of the piece is a neighbour's: `left` or `right`, if there is one. */
static void exchange(double *rod, int points)
{
    int left = rank > 0 ? rank - 1 : COVEY_NO_RANK;
    int right = rank < size - 1 ? rank + 1 : COVEY_NO_RANK;

    check(covey_team_sendrecv_array(team, left, right, TAG, COVEY_FOREVER, COVEY_DOUBLE, rod + 1, 1,
                                    rod + points + 1, 1, NULL));
    check(covey_team_sendrecv_array(team, right, left, TAG, COVEY_FOREVER, COVEY_DOUBLE,
                                    rod + points, 1, rod, 1, NULL));
}

int main(void)
{
    double rod[POINTS + 2] = {0}, next[POINTS + 2], whole[POINTS];
    size_t counts[POINTS], starts[POINTS];

    begin();
    for (int r = 0; r < size && r < POINTS; r++) {
        starts[r] = (size_t)(POINTS * r / size);
        counts[r] = (size_t)(POINTS * (r + 1) / size) - starts[r];
    }
    int points = (int)counts[rank];

    if (rank == 0)
        rod[0] = 100; /* one end is kept hot, the other one cold */
    for (int step = 0; step < STEPS; step++) {
        exchange(rod, points);
        for (int i = 1; i <= points; i++)
            next[i] = rod[i] + 0.25 * (rod[i - 1] - 2 * rod[i] + rod[i + 1]);
        memcpy(rod + 1, next + 1, sizeof *rod * (size_t)points);
    }
    check(covey_gatherv(team, 0, COVEY_DOUBLE, rod + 1, counts[rank], whole, counts, starts));
    if (rank == 0) {
        printf("each eighth point:");
        for (int i = 0; i < POINTS; i += 8)
            printf(" %.2f", whole[i]);
        printf("\n");
    }
    return end();
}
