/* links: libcovey */
/*
 * spawner.c - a program that starts tasks and says when they have ended.
 *
 *   spawner [-n N] [-l] [-t] [-k] [-m] PROG [ARG...]
 *     -l   leaves at once, and waits for none
 *     -t   the tasks are tethered to it, and it leaves at once
 *     -k   ends them by covey_kill()
 *     -m   waits for a message of each, and then leaves at once: they are tethered
 *   spawner -w     such a task: prints, sends the message, and stays
 */
#include <covey.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TAG_END = 1, TAG_WORD, TASKS_MAX = 1000 };

static void check(int result)
{
    if (result >= 0)
        return;
    fprintf(stderr, "spawner: %s\n", covey_error_text());
    exit(1);
}

static void await_ends(covey_t *vm, const covey_tid_t *tids, int n)
{
    check(covey_notify(vm, COVEY_NOTIFY_TASK_EXIT, TAG_END, tids, (size_t)n));
    for (int i = 0; i < n; i++) {
        covey_msg_t *msg;
        check(covey_recv(vm, COVEY_ANY_TASK, TAG_END, COVEY_FOREVER, &msg));
        covey_msg_free(msg);
    }
}

static void work(covey_t *vm)
{
    printf("out of a worker\n");
    fprintf(stderr, "error of a worker\n");
    fflush(stdout);
    check(covey_send_array(vm, covey_parent(vm), TAG_WORD, COVEY_INT32, (int32_t[]){1}, 1));
    for (;;)
        pause();
}

static void await_words(covey_t *vm, int n)
{
    for (int i = 0; i < n; i++) {
        covey_msg_t *msg;
        check(covey_recv(vm, COVEY_ANY_TASK, TAG_WORD, COVEY_FOREVER, &msg));
        covey_msg_free(msg);
    }
}

int main(int argc, char **argv)
{
    covey_t *vm;
    covey_tid_t tids[TASKS_MAX];
    struct covey_spawn what = {0};
    int n = 1, leave = 0, end = 0, words = 0;
    for (int option; (option = getopt(argc, argv, "+n:ltkmw")) != -1;) {
        if (option == 'w') {
            check(covey_join(&vm, NULL));
            work(vm);
        }
        n = option == 'n' ? atoi(optarg) : n;
        leave |= option == 'l' || option == 't' || option == 'm';
        what.tether |= option == 't' || option == 'm';
        end |= option == 'k';
        words |= option == 'm';
    }
    what.argv = (const char *const *)argv + optind;
    if (n < 1 || n > TASKS_MAX || optind == argc)
        return 2;
    check(covey_join(&vm, NULL));
    check(covey_spawn(vm, &what, n, tids) == n ? 0 : -1);
    for (int i = 0; i < n && end; i++)
        check(covey_kill(vm, tids[i]));
    if (words)
        await_words(vm, n);
    if (!leave)
        await_ends(vm, tids, n);
    printf("spawner done\n");
    covey_leave(&vm);
    return 0;
}
