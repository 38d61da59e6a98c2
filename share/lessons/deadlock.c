/* deadlock.c - everyone waits for the one before and sends only then: nobody ever gets anything */
#include "lesson.h"

enum { TAG = 1, SECOND = 1000000 };

int main(int argc, char **argv)
{
    int wait_s = argc > 1 ? atoi(argv[1]) : 1, got = -1;

    begin();
    int after = (rank + 1) % size, before = (rank + size - 1) % size;
    int error = covey_team_recv_array(team, before, TAG, (int64_t)wait_s * SECOND, COVEY_INT32,
                                      &got, 1, NULL);

    if (error == COVEY_ETIMEOUT) {
        printf("task %d waited in vain for task %d\n", rank, before);
    } else {
        check(error);
        check(covey_team_send_array(team, after, TAG, COVEY_INT32, &got, 1));
    }
    check(covey_barrier(team)); /* sendrecv sends without waiting for what it receives: */
    check(covey_team_sendrecv_array(team, after, before, TAG, COVEY_FOREVER, COVEY_INT32, &rank, 1,
                                    &got, 1, NULL));
    if (rank == 0)
        printf("with sendrecv task 0 got %d\n", got);
    return end();
}
