/* ring.c - a message goes round: each task receives it from the one before, and adds its rank */
#include "lesson.h"

enum { TAG = 1, TASKS_MAX = 256 };

int main(void)
{
    int list[TASKS_MAX] = {0};
    size_t count = 1;

    begin();
    int after = (rank + 1) % size, before = (rank + size - 1) % size;

    if (rank == 0)
        check(covey_team_send_array(team, after, TAG, COVEY_INT32, list, count));
    check(covey_team_recv_array(team, before, TAG, COVEY_FOREVER, COVEY_INT32, list, TASKS_MAX - 1,
                                &count));
    if (rank == 0) {
        printf("round the ring came ");
        print_list(list, (int)count);
        printf("\n");
    } else {
        list[count++] = rank;
        check(covey_team_send_array(team, after, TAG, COVEY_INT32, list, count));
    }
    return end();
}
