/* pingpong.c - how long a message takes to the other task and back, by its size */
#include "lesson.h"

#include <time.h>

enum { TAG = 1, ROUNDS = 20 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void ping(void *array, size_t bytes)
{
    check(covey_team_send_array(team, 1 - rank, TAG, COVEY_BYTES, array, bytes));
}

static void pong(void *array, size_t bytes)
{
    check(
        covey_team_recv_array(team, 1 - rank, TAG, COVEY_FOREVER, COVEY_BYTES, array, bytes, NULL));
}

int main(void)
{
    static char array[1048576];
    static const size_t sizes[] = {8, 1024, 131072, 1048576};

    begin();
    for (int i = 0; i < 4 && rank < 2; i++) {
        double began = now();
        for (int round = 0; round < ROUNDS; round++) {
            if (rank == 0)
                ping(array, sizes[i]);
            pong(array, sizes[i]);
            if (rank == 1)
                ping(array, sizes[i]);
        }
        double seconds = (now() - began) / ROUNDS / 2;
        if (rank == 0)
            printf("%8zu bytes: %9.1f us, %8.1f MB/s\n", sizes[i], seconds * 1e6,
                   (double)sizes[i] / seconds / 1e6);
    }
    return end();
}
