/* links: libcovey */
/*
 * Tasks in which something is wrong: what is to be seen in their trace. Started by covey run -n N.
 *
 *   traced slow     a ring, in which the third task computes twenty times as long as the others
 *   traced ring BYTES  a ring of tasks that compute equally long, with messages of so many bytes
 *   traced cross BYTES likewise, to the task that is half the number of tasks away
 *   traced bag [NAME]  the first task waits for the results of a bag at which the others work; one
 *                      of that name it keeps until standard input ends
 *   traced lock     a lock that the second task holds while it computes
 *   traced die      the second task aborts, with a mark before
 *   traced words [NAME]  parts, marks and numbers of the program's own, one of that name
 *   traced wait     until standard input ends
 */
#include <covey.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 20

static covey_t *vm;
static covey_tid_t *tids;
static int me, count;

static void check(int result)
{
    if (result >= 0)
        return;
    fprintf(stderr, "traced: %s\n", covey_error_text());
    exit(1);
}

static void compute(int times)
{
    volatile unsigned long sum = 0;
    for (long i = 0; i < 1000000L * times; i++)
        sum = sum + (unsigned long)i;
}

static void slow(void)
{
    int64_t word = 0;
    for (int i = 0; i < ROUNDS; i++) {
        compute(me == 2 ? 20 : 1);
        check(covey_send_array(vm, tids[(me + 1) % count], 5, COVEY_INT64, &word, 1));
        check(covey_recv_array(vm, tids[(me + count - 1) % count], 5, COVEY_FOREVER, COVEY_INT64,
                               &word, 1, NULL, NULL));
    }
}

static void even(int step, size_t bytes)
{
    char *block = calloc(bytes + 1, 1);
    for (int i = 0; i < ROUNDS && block != NULL; i++) {
        compute(5);
        check(covey_send_array(vm, tids[(me + step) % count], 5, COVEY_BYTES, block, bytes));
        check(covey_recv_array(vm, tids[(me + count - step) % count], 5, COVEY_FOREVER, COVEY_BYTES,
                               block, bytes, NULL, NULL));
    }
    free(block);
}

static void work(covey_bag_t *bag)
{
    struct covey_bag_item item;
    int taken;
    while ((taken = covey_bag_take(bag, COVEY_FOREVER, &item, 1)) > 0) {
        compute(10);
        check(covey_bag_done(bag, &item, NULL, 0));
    }
    check(taken);
}

static void await_end(void)
{
    while (getchar() != EOF)
        continue;
}

static void bag(const char *name, bool keeps)
{
    covey_bag_t *bag;
    covey_team_t *team;
    check(covey_team_create(vm, tids, count, COVEY_FOREVER, &team));
    if (me == 0)
        check(covey_bag_create(vm, name, NULL, &bag));
    check(covey_barrier(team));
    if (me != 0)
        check(covey_bag_attach(vm, name, &bag));
    check(covey_barrier(team));
    if (me != 0) {
        work(bag);
    } else {
        struct covey_bag_result result;
        int taken;
        for (int i = 0; i < 2 * ROUNDS; i++)
            check(covey_bag_put(bag, 0, &i, sizeof i));
        check(covey_bag_close(bag));
        while ((taken = covey_bag_result(bag, COVEY_FOREVER, &result, 1)) > 0)
            continue;
        check(taken);
        if (keeps)
            await_end();
    }
    covey_bag_free(&bag);
    covey_team_free(&team);
}

static void lock(void)
{
    covey_team_t *team;
    check(covey_team_create(vm, tids, count, COVEY_FOREVER, &team));
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t fence = 0;
        if (me == 1)
            check(covey_lock(vm, "gate", COVEY_FOREVER, &fence));
        check(covey_barrier(team));
        if (me != 1)
            check(covey_lock(vm, "gate", COVEY_FOREVER, &fence));
        compute(me == 1 ? 20 : 0);
        check(covey_unlock(vm, "gate", fence));
        check(covey_barrier(team));
    }
    covey_team_free(&team);
}

static void die(void)
{
    int64_t word = 1;
    if (me == 1) {
        check(covey_send_array(vm, tids[0], 5, COVEY_INT64, &word, 1));
        check(covey_trace_mark(vm, "last words"));
        abort();
    }
    if (me == 0)
        check(covey_recv_array(vm, tids[1], 5, COVEY_FOREVER, COVEY_INT64, &word, 1, NULL, NULL));
}

static void words(const char *name)
{
    check(covey_trace_expect(vm, "part", 0.125));
    check(covey_trace_begin(vm, "part"));
    for (int i = 0; i < 3; i++)
        check(covey_trace_count(vm, "number", 1.5 * i));
    if (name != NULL)
        check(covey_trace_count(vm, name, 1));
    check(covey_trace_mark(vm, "a mark, with a \"quote\""));
    check(covey_trace_end(vm, "part"));
    printf("traced: %d\n", covey_trace_on(vm));
}

int main(int argc, char **argv)
{
    check(covey_join(&vm, NULL));
    count = covey_siblings(vm, &tids);
    check(count);
    while (me < count && tids[me] != covey_mytid(vm))
        me++;
    const char *mode = argc > 1 ? argv[1] : "words";
    if (strcmp(mode, "slow") == 0)
        slow();
    else if (strcmp(mode, "lock") == 0)
        lock();
    else if (strcmp(mode, "ring") == 0 && argc > 2)
        even(1, strtoul(argv[2], NULL, 10));
    else if (strcmp(mode, "cross") == 0 && argc > 2)
        even(count / 2, strtoul(argv[2], NULL, 10));
    else if (strcmp(mode, "bag") == 0)
        bag(argc > 2 ? argv[2] : "traced", argc > 2);
    else if (strcmp(mode, "die") == 0)
        die();
    else if (strcmp(mode, "wait") == 0)
        await_end();
    else
        words(argc > 2 ? argv[2] : NULL);
    covey_free(tids);
    covey_leave(&vm);
    return 0;
}
