/* links: libcovey */
/*
 * ends.c - spawns many short tasks, asks how they ended when all have, and counts those whose exit
 * status is told.
 *
 *   ends HOST N     N tasks on that host, at most AT_ONCE in a call
 */
#include <covey.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TAG_END = 1, AT_ONCE = 500, STATUS = 7 };

static void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, covey_error_text());
    exit(1);
}

/* Waits until the caller is the only task of its own children. */
static void await_ends(covey_t *vm)
{
    int left = 1;
    while (left > 0) {
        struct covey_task *tasks;
        int count = covey_tasks(vm, 0, &tasks);
        if (count < 0)
            fail("tasks");
        left = 0;
        for (int i = 0; i < count; i++)
            left += tasks[i].parent == covey_mytid(vm);
        covey_free(tasks);
        usleep(10000);
    }
}

static int count_known(covey_t *vm, int n)
{
    int known = 0;
    for (int i = 0; i < n; i++) {
        covey_msg_t *msg;
        struct covey_notice notice;
        if (covey_recv(vm, COVEY_ANY_TASK, TAG_END, COVEY_FOREVER, &msg) < 0 ||
            covey_unpack_notice(msg, &notice) < 0)
            fail("recv");
        known += notice.exit_kind == COVEY_EXIT_STATUS && notice.value == STATUS;
        covey_msg_free(msg);
    }
    return known;
}

int main(int argc, char **argv)
{
    covey_t *vm;
    int n = argc == 3 ? atoi(argv[2]) : 0;
    covey_tid_t *tids = calloc((size_t)n + AT_ONCE, sizeof *tids);
    if (n < 1 || tids == NULL || covey_join(&vm, NULL) < 0)
        fail("ends HOST N");
    struct covey_spawn what = {.argv = (const char *[]){"sh", "-c", "exit 7", NULL},
                               .hosts = (const char *[]){argv[1], NULL},
                               .where = COVEY_WHERE_HOSTS};
    int started = 0;
    for (; started < n; started += AT_ONCE)
        if (covey_spawn(vm, &what, AT_ONCE, tids + started) != AT_ONCE)
            fail("spawn");
    await_ends(vm);
    if (covey_notify(vm, COVEY_NOTIFY_TASK_EXIT, TAG_END, tids, (size_t)started) < 0)
        fail("notify");
    printf("%d of %d\n", count_known(vm, started), started);
    covey_leave(&vm);
    free(tids);
    return 0;
}
