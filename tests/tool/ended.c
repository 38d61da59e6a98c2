/* links: libcovey */
/*
 * ended.c - what a task used that has ended is in no demand.
 *
 *   ended STAT     where STAT is the /proc/stat that the daemon reads, and nobody else's
 *   ended -c       such a task: waits, computes when it is told to, says what it used, and ends
 *
 * Between two looks of the monitor the task computes and ends, and STAT says that all processors
 * were busy: what the demand is less than that must be what the task used.
 */
#include <covey.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TAG_END = 1, TAG_GO, TAG_READY };
#define APART_US 600000 /* looks are no closer than half a second */
#define PATIENCE_US 30000000
#define ROUNDS 1200000000L
#define NEAR_S 0.1 /* what a process takes to end */

static covey_t *vm;

static void check(int result)
{
    if (result >= 0)
        return;
    fprintf(stderr, "ended: %s\n", covey_error_text());
    exit(1);
}

static double used_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double receive(covey_tid_t from, int tag)
{
    double value;
    check(covey_recv_array(vm, from, tag, COVEY_FOREVER, COVEY_DOUBLE, &value, 1, NULL, NULL));
    return value;
}

static void compute(void)
{
    double used = used_s();
    check(covey_send_array(vm, covey_parent(vm), TAG_READY, COVEY_DOUBLE, &used, 1));
    receive(covey_parent(vm), TAG_GO);
    for (volatile long i = 0; i < ROUNDS; i = i + 1)
        continue;
    used = used_s();
    check(covey_send_array(vm, covey_parent(vm), TAG_READY, COVEY_DOUBLE, &used, 1));
}

/* So many ticks, all of them busy. */
static void set_stat(const char *path, int ticks)
{
    FILE *out = fopen(path, "we");
    if (out == NULL || fprintf(out, "cpu %d 0 0 0 0 0 0 0\n", ticks) < 0 || fclose(out) != 0)
        exit(1);
}

static struct covey_host_stat look(void)
{
    struct covey_host *hosts;
    struct covey_host_stat *stats, here;
    usleep(APART_US);
    check(covey_host_stats(vm, PATIENCE_US, &hosts, &stats));
    here = stats[0];
    covey_free(hosts);
    covey_free(stats);
    return here;
}

int main(int argc, char **argv)
{
    const char *command[] = {argv[0], "-c", NULL};
    const struct covey_spawn what = {.argv = command};
    covey_tid_t tid;
    covey_msg_t *msg;
    if (argc != 2)
        return 2;
    check(covey_join(&vm, NULL));
    if (strcmp(argv[1], "-c") == 0) {
        compute();
        covey_leave(&vm);
        return 0;
    }
    check(covey_spawn(vm, &what, 1, &tid) == 1 ? 0 : -1);
    check(covey_notify(vm, COVEY_NOTIFY_TASK_EXIT, TAG_END, &tid, 1));
    double before_s = receive(tid, TAG_READY), go = 1;
    set_stat(argv[1], 1000);
    look();
    check(covey_send_array(vm, tid, TAG_GO, COVEY_DOUBLE, &go, 1));
    double used = receive(tid, TAG_READY) - before_s;
    check(covey_recv(vm, COVEY_ANY_TASK, TAG_END, COVEY_FOREVER, &msg));
    covey_msg_free(msg);
    set_stat(argv[1], 2000);
    struct covey_host_stat after = look();
    double taken_off = (after.cpu_busy * after.cores - after.demand) * after.interval_s;
    printf("used %.3f s, taken off %.3f s of %.3f\n", used, taken_off, after.interval_s);
    covey_leave(&vm);
    return used > NEAR_S && fabs(taken_off - used) < NEAR_S ? 0 : 1;
}
