/* master_worker.c - rank 0 gives the next piece of work to each worker that has done one */
#include "lesson.h"

enum { WORK, DONE, PIECES = 20, STOP = -1 };

static void give(int worker, int piece)
{
    check(covey_team_send_array(team, worker, WORK, COVEY_INT32, &piece, 1));
}

static void lead(void)
{
    int next = 0, busy = 0, results = 0, sum = 0, done[2];

    for (int worker = 1; worker < size && next < PIECES; worker++, busy++)
        give(worker, next++);
    while (busy > 0) {
        int worker = check(covey_team_recv_array(team, COVEY_ANY_RANK, DONE, COVEY_FOREVER,
                                                 COVEY_INT32, done, 2, NULL));
        results++;
        sum += done[1];
        if (next < PIECES)
            give(worker, next++);
        else
            busy--;
    }
    for (int worker = 1; worker < size; worker++)
        give(worker, STOP);
    printf("%d results, their sum is %d\n", results, sum);
}

static void work(void)
{
    int piece;

    for (;;) {
        check(covey_team_recv_array(team, 0, WORK, COVEY_FOREVER, COVEY_INT32, &piece, 1, NULL));
        if (piece == STOP)
            return;
        int done[2] = {piece, piece * piece};
        check(covey_team_send_array(team, 0, DONE, COVEY_INT32, done, 2));
    }
}

int main(void)
{
    begin();
    if (rank == 0)
        lead();
    else
        work();
    return end();
}
