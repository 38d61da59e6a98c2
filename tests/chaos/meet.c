/* links: libcovey */
/*
 * meet.c - tasks that meet at a barrier and exclude each other, round after round, while a test
 * does harm to the daemons.
 *
 *   meet TASKS ROUNDS FILE   one of TASKS such tasks; the first prints `round N` after each tenth
 *
 * Whoever holds the lock creates FILE and removes it: nobody else may be there. The numbers of the
 * grants grow. An error is one line on standard error, and status 1.
 */
#include <covey.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PATIENCE_US 60000000
#define PAUSE_US 10000

static int complain(const char *what)
{
    fprintf(stderr, "meet: %s: %s\n", what, covey_error_text());
    return -1;
}

static int complain_of_others(const char *what)
{
    fprintf(stderr, "meet: %s\n", what);
    return -1;
}

static int be_alone(const char *path)
{
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);

    if (fd < 0)
        return complain_of_others("two hold the lock");
    close(fd);
    return unlink(path);
}

static int use_lock(covey_t *vm, const char *path, uint64_t *last)
{
    uint64_t fence;

    if (covey_lock(vm, "meet", PATIENCE_US, &fence) < 0)
        return complain("lock");
    if (fence <= *last)
        return complain_of_others("the number of a grant does not grow");
    *last = fence;
    if (be_alone(path) < 0)
        return -1;
    return covey_unlock(vm, "meet", fence) < 0 ? complain("unlock") : 0;
}

static int meet(covey_t *vm, int tasks, int rounds, const char *path)
{
    covey_group_t *group;
    uint64_t fence = 0;

    if (covey_group_join(vm, "meet", &group) < 0)
        return complain("join");
    for (int i = 1; i <= rounds; i++) {
        if (covey_group_barrier(group, tasks, PATIENCE_US) < 0)
            return complain("barrier");
        if (use_lock(vm, path, &fence) < 0)
            return -1;
        if (i % 10 == 0 && covey_group_instance(group) == 0)
            printf("round %d\n", i);
        usleep(PAUSE_US);
    }
    return covey_group_leave(&group);
}

int main(int argc, char **argv)
{
    covey_t *vm;

    if (argc != 4)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (covey_join(&vm, NULL) < 0)
        return complain("enrolment") < 0;
    if (meet(vm, atoi(argv[1]), atoi(argv[2]), argv[3]) < 0)
        return 1;
    covey_leave(&vm);
    return 0;
}
