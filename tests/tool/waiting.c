/* links: libcovey */
/*
 * Tasks of which each waits for something else, for ever, so that it can be seen what they do:
 * waiting [HOSTILE NAME], started by covey run -n 9. The first one computes.
 */
#include <covey.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TALKS 7 /* this task and the next one send to each other */

static covey_t *vm;
static covey_tid_t *tids;

static void check(int result)
{
    if (result >= 0)
        return;
    fprintf(stderr, "waiting: %s\n", covey_error_text());
    exit(1);
}

static void compute(void)
{
    for (volatile unsigned long sum = 0;; sum = sum + 1)
        continue;
}

static void lock(const char *name)
{
    uint64_t fence;
    check(covey_lock(vm, name, COVEY_FOREVER, &fence));
    pause();
}

static void take(void)
{
    covey_bag_t *bag;
    struct covey_bag_item item;
    check(covey_bag_create(vm, "empty", NULL, &bag));
    check(covey_bag_take(bag, COVEY_FOREVER, &item, 1));
}

static void fill(covey_tid_t to)
{
    static char block[1 << 20];
    for (;;)
        check(covey_send_array(vm, to, 3, COVEY_BYTES, block, sizeof block));
}

static void talk(covey_tid_t with, int begins)
{
    int64_t word = 0;
    for (;; begins = 1) {
        if (begins)
            check(covey_send_array(vm, with, 5, COVEY_INT64, &word, 1));
        check(covey_recv_array(vm, with, 5, COVEY_FOREVER, COVEY_INT64, &word, 1, NULL, NULL));
    }
}

static void join_barrier(int me)
{
    covey_team_t *team;
    check(covey_team_create(vm, tids + 5, 2, COVEY_FOREVER, &team));
    if (me == 5)
        check(covey_barrier(team));
    pause();
}

int main(int argc, char **argv)
{
    covey_msg_t *msg;
    int me = 0;
    check(covey_join(&vm, NULL));
    int count = covey_siblings(vm, &tids);
    check(count);
    while (me < count && tids[me] != covey_mytid(vm))
        me++;
    if (me == 0)
        compute();
    else if (me == 1)
        check(covey_recv(vm, tids[0], 11, COVEY_FOREVER, &msg));
    else if (me == 2)
        fill(tids[0]);
    else if (me == 3)
        take();
    else if (me == 4)
        lock(argc > 1 ? argv[1] : "gate");
    else if (me == 5 || me == 6)
        join_barrier(me);
    else
        talk(tids[me == TALKS ? TALKS + 1 : TALKS], me == TALKS);
    return 0;
}
