/*
 * alltoall_tasks N - N tasks exchange blocks by the function that `covey schedule --emit covey` wrote;
 * each prints `same` when it got what it must.
 */
#include <covey.h>
#include <stdio.h>
#include <stdlib.h>

#define TASKS_MAX 64
#define COUNT 3000

int covey_scheduled_alltoall(covey_t *vm, const covey_tid_t *tids, int me, int tag,
                             const void *send, void *recv, size_t bytes);

static int send[TASKS_MAX * COUNT], recv[TASKS_MAX * COUNT];

static int exchange(covey_t *vm, const covey_tid_t *tids, int n, int me)
{
    for (int i = 0; i < n * COUNT; i++)
        send[i] = me * 1000003 + i;
    int error = covey_scheduled_alltoall(vm, tids, me, 100, send, recv, COUNT * sizeof(int));
    for (int r = 0; r < n && error == 0; r++)
        for (int k = 0; k < COUNT; k++)
            if (recv[r * COUNT + k] != r * 1000003 + me * COUNT + k)
                return -1;
    return error;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0, me, error = 0;
    covey_tid_t tids[TASKS_MAX];
    covey_group_t *group;
    covey_t *vm;

    if (covey_join(&vm, NULL) < 0 || (me = covey_group_join(vm, "alltoall", &group)) < 0 ||
        covey_group_barrier(group, n, COVEY_FOREVER) < 0) {
        fprintf(stderr, "%s\n", covey_error_text());
        return 1;
    }
    for (int i = 0; i < n; i++)
        tids[i] = covey_group_tid(group, i);
    for (int round = 0; round < 3 && error == 0; round++)
        error = exchange(vm, tids, n, me);
    puts(error == 0 ? "same" : "different");
    covey_group_barrier(group, n, COVEY_FOREVER);
    covey_leave(&vm);
    return error != 0;
}
