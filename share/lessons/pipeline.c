/* pipeline.c - each task is a stage: while one works at an item, those before it work at later ones
 */
#include "lesson.h"

enum { TAG = 1, ITEMS = 8 };

int main(void)
{
    int done[ITEMS];

    begin();
    for (int number = 0; number < ITEMS; number++) {
        int item = number;
        if (rank > 0)
            check(covey_team_recv_array(team, rank - 1, TAG, COVEY_FOREVER, COVEY_INT32, &item, 1,
                                        NULL));
        item = item * 2 + 1; /* what a stage does */
        if (rank < size - 1)
            check(covey_team_send_array(team, rank + 1, TAG, COVEY_INT32, &item, 1));
        done[number] = item;
    }
    if (rank == size - 1) {
        printf("out of the pipeline came ");
        print_list(done, ITEMS);
        printf("\n");
    }
    return end();
}
