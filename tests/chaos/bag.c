/* links: libcovey */
/*
 * bag.c - a bag as a program uses it, for the suites of this folder and of tests/conformance.
 *
 *   bag make NAME     makes one that is kept
 *   bag lead NAME ITEMS WORKERS [--bytes N] [--kill ITEM] [--order] [--sleep US] [--attach]
 *       makes the bag, starts workers on all hosts, puts items and collects results; when half of
 *       them are here it prints "half", and at the end "ok ITEMS" or what is wrong
 *   bag work NAME US  takes items, until all are done
 *   bag calls         what each call must say when it is used wrongly
 */
#include <covey.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lead {
    covey_t *vm;
    covey_bag_t *bag;
    const char *name;
    uint32_t items, put, got, wrong, aside;
    size_t bytes;
    int64_t kill, sleep_us;
    int in_order, workers, attach;
    uint8_t *seen;
};

static int complain(const char *doing)
{
    printf("not ok: %s: %s\n", doing, covey_error_text());
    return 1;
}

/* ---- a worker ---- */

static uint32_t number_of(const void *bytes)
{
    uint32_t number;
    memcpy(&number, bytes, sizeof number);
    return number;
}

static int work_on(covey_bag_t *bag, const struct covey_bag_item *item, long pause_us)
{
    const uint8_t *bytes = item->bytes;
    uint32_t kills = number_of(bytes + 4), sum[2] = {number_of(bytes), 0};
    for (size_t i = 8; i < item->size; i++)
        sum[1] += bytes[i];
    if (kills)
        abort();
    if (pause_us > 0)
        usleep((useconds_t)pause_us);
    return covey_bag_done(bag, item, sum, sizeof sum);
}

static int work(covey_t *vm, const char *name, long pause_us)
{
    covey_bag_t *bag = NULL;
    struct covey_bag_item items[3];
    int got = covey_bag_attach(vm, name, &bag);
    while (got >= 0 && (got = covey_bag_take(bag, COVEY_FOREVER, items, 3)) > 0)
        for (int i = 0; i < got; i++)
            if (work_on(bag, &items[i], pause_us) < 0)
                return complain("done");
    covey_bag_free(&bag);
    return got < 0 ? complain("take") : 0;
}

/* ---- the leader ---- */

static uint8_t byte_of(uint32_t number, size_t i)
{
    return (uint8_t)(number * 31 + i);
}

static int put(struct lead *l)
{
    uint32_t number = l->put++, kills = (int64_t)number == l->kill;
    uint8_t *bytes = malloc(l->bytes);
    memcpy(bytes, &number, 4);
    memcpy(bytes + 4, &kills, 4);
    for (size_t i = 8; i < l->bytes; i++)
        bytes[i] = byte_of(number, i);
    int error = covey_bag_put(l->bag, 0, bytes, l->bytes);
    free(bytes);
    return error;
}

static void check(struct lead *l, const struct covey_bag_result *r)
{
    uint32_t number = r->size >= 8 ? number_of(r->bytes) : l->items, sum = 0;
    l->got++;
    if (number >= l->items || l->seen[number]++ > 0 || (l->in_order && number != l->got - 1) ||
        r->number != number) {
        l->wrong++;
        return;
    }
    for (size_t i = 8; i < l->bytes; i++)
        sum += byte_of(number, i);
    l->aside += (uint32_t)r->set_aside;
    if (r->set_aside ? (int64_t)number != l->kill : number_of((const uint8_t *)r->bytes + 4) != sum)
        l->wrong++;
}

static int collect(struct lead *l, int64_t timeout_us)
{
    struct covey_bag_result results[64];
    int got = covey_bag_result(l->bag, timeout_us, results, 64);
    uint32_t before = l->got;
    for (int i = 0; i < got; i++)
        check(l, &results[i]);
    if (before < l->items / 2 && l->got >= l->items / 2)
        printf("half\n");
    return got == COVEY_ETIMEOUT ? 1 : got;
}

static int start_workers(struct lead *l, const char *program)
{
    char pause[24];
    snprintf(pause, sizeof pause, "%" PRId64, l->sleep_us);
    const char *argv[] = {program, "work", l->name, pause, NULL};
    struct covey_spawn what = {.argv = argv};
    covey_tid_t *tids = calloc((size_t)l->workers, sizeof *tids);
    int started = covey_spawn(l->vm, &what, l->workers, tids);
    free(tids);
    return started == l->workers ? 0 : -1;
}

static int run(struct lead *l)
{
    int got = 1;
    while (l->put < l->items) {
        for (int i = 0; i < 100 && l->put < l->items; i++)
            if (put(l) < 0)
                return complain("put");
        if (collect(l, COVEY_POLL) < 0)
            return complain("result");
    }
    if (covey_bag_close(l->bag) < 0)
        return complain("close");
    while (got > 0)
        got = collect(l, 60000000);
    if (got < 0 || covey_bag_wait(l->bag, COVEY_FOREVER) < 0)
        return complain("result");
    if (l->got == l->items && l->wrong == 0 && l->aside == (l->kill >= 0))
        printf("ok %" PRIu32 "\n", l->items);
    else
        printf("not ok: %" PRIu32 " results of %" PRIu32 ", %" PRIu32 " wrong, %" PRIu32 " aside\n",
               l->got, l->items, l->wrong, l->aside);
    return 0;
}

static void options(struct lead *l, int argc, char **argv)
{
    for (int i = 5; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "0";
        if (strcmp(argv[i], "--bytes") == 0)
            l->bytes = (size_t)atol(value);
        else if (strcmp(argv[i], "--kill") == 0)
            l->kill = atol(value);
        else if (strcmp(argv[i], "--sleep") == 0)
            l->sleep_us = atol(value);
        else if (strcmp(argv[i], "--order") == 0)
            l->in_order = 1;
        else if (strcmp(argv[i], "--attach") == 0)
            l->attach = 1;
    }
}

static int make(covey_t *vm, const char *name)
{
    covey_bag_t *bag = NULL;
    const struct covey_bag_options keep = {.keep = 1};
    int error = covey_bag_create(vm, name, &keep, &bag);
    covey_bag_free(&bag);
    return error < 0 ? complain("create") : 0;
}

static int lead(covey_t *vm, int argc, char **argv)
{
    struct lead l = {.vm = vm, .bytes = 8, .kill = -1, .name = argv[2]};
    l.items = (uint32_t)atol(argv[3]);
    l.workers = atoi(argv[4]);
    options(&l, argc, argv);
    l.seen = calloc(l.items + 1, 1);
    const struct covey_bag_options how = {.in_order = l.in_order};
    if ((l.attach ? covey_bag_attach(vm, l.name, &l.bag)
                  : covey_bag_create(vm, l.name, &how, &l.bag)) < 0)
        return complain("create");
    int status = start_workers(&l, argv[0]) < 0 ? complain("spawn") : run(&l);
    if (l.attach)
        covey_bag_destroy(&l.bag);
    covey_bag_free(&l.bag);
    free(l.seen);
    return status;
}

/* ---- calls ---- */

static int failures;

static void expect(const char *what, int got, int wanted)
{
    if (got == wanted)
        return;
    printf("not ok: %s: %d and not %d (%s)\n", what, got, wanted, covey_error_text());
    failures++;
}

static void wrong_arguments(covey_t *vm)
{
    covey_bag_t *bag = NULL;
    const struct covey_bag_options bad = {.lease_us = -1};
    expect("no name", covey_bag_create(vm, "", NULL, &bag), COVEY_EINVAL);
    expect("a bad option", covey_bag_create(vm, "x", &bad, &bag), COVEY_EINVAL);
    expect("no such bag", covey_bag_attach(vm, "nobody's", &bag), COVEY_ENOENT);
    expect("no bag", covey_bag_put(NULL, 0, "", 0), COVEY_EINVAL);
}

static void one_alone(covey_t *vm)
{
    covey_bag_t *bag = NULL, *second = NULL;
    struct covey_bag_item items[4];
    struct covey_bag_result results[4];
    struct covey_bag_info info;
    expect("create", covey_bag_create(vm, "calls", NULL, &bag), 0);
    expect("again", covey_bag_create(vm, "calls", NULL, &second), COVEY_EEXIST);
    expect("attach", covey_bag_attach(vm, "calls", &second), 0);
    expect("nothing there", covey_bag_take(bag, 20000, items, 4), COVEY_ETIMEOUT);
    expect("no result", covey_bag_result(bag, COVEY_POLL, results, 4), COVEY_ETIMEOUT);
    expect("not complete", covey_bag_wait(bag, 20000), COVEY_ETIMEOUT);
    expect("put low", covey_bag_put(bag, 1, "low", 3), 0);
    expect("put high", covey_bag_put(bag, 9, "high", 4), 0);
    expect("flush", covey_bag_flush(bag, COVEY_FOREVER), 0);
    expect("info", covey_bag_info(bag, &info), 0);
    expect("two wait", (int)info.ready, 2);
    expect("two attached", info.tasks, 2);
    expect("take", covey_bag_take(second, COVEY_FOREVER, items, 1), 1);
    expect("the high one", memcmp(items[0].bytes, "high", 4), 0);
    expect("not mine", covey_bag_done(bag, &items[0], NULL, 0), COVEY_EINVAL);
    expect("give back", covey_bag_return(second, &items[0]), 0);
    expect("take it again", covey_bag_take(second, COVEY_FOREVER, items, 1), 1);
    expect("done", covey_bag_done(second, &items[0], "yes", 3), 0);
    expect("the other", covey_bag_take(second, COVEY_FOREVER, items, 1), 1);
    expect("done, too", covey_bag_done(second, &items[0], NULL, 0), 0);
    expect("close", covey_bag_close(second), 0);
    expect("closed", covey_bag_put(second, 0, "x", 1), 0);
    expect("closed, told late", covey_bag_flush(second, COVEY_FOREVER), COVEY_EDENIED);
    expect("wait", covey_bag_wait(bag, COVEY_FOREVER), 0);
    expect("no more items", covey_bag_take(bag, COVEY_FOREVER, items, 4), 0);
    int got = 0, now;
    while ((now = covey_bag_result(bag, COVEY_FOREVER, results, 4)) > 0)
        got += now;
    expect("the end", now, 0);
    expect("two results", got, 2);
    covey_bag_free(&second);
    covey_bag_free(&bag);
}

static int count_bags(covey_t *vm)
{
    struct covey_bag_info *list = NULL;
    int count = covey_bags(vm, &list);
    covey_free(list);
    return count;
}

static void ends(covey_t *vm)
{
    covey_bag_t *bag = NULL, *other = NULL;
    struct covey_bag_item item;
    const struct covey_bag_options keep = {.keep = 1};
    int tries = 3000; /* it takes milliseconds, and on a busy machine what it takes */
    while (count_bags(vm) > 0 && tries-- > 0)
        usleep(20000);
    expect("what nobody uses is no more", count_bags(vm), 0);
    expect("keep", covey_bag_create(vm, "kept", &keep, &bag), 0);
    covey_bag_free(&bag);
    usleep(100000);
    expect("it is kept", covey_bag_attach(vm, "kept", &bag), 0);
    expect("twice", covey_bag_attach(vm, "kept", &other), 0);
    expect("destroy", covey_bag_destroy(&bag), 0);
    expect("the other learns of it", covey_bag_take(other, COVEY_FOREVER, &item, 1), COVEY_ENOENT);
    covey_bag_free(&other);
}

static int calls(covey_t *vm)
{
    wrong_arguments(vm);
    one_alone(vm);
    ends(vm);
    if (failures == 0)
        printf("ok calls\n");
    return failures > 0;
}

int main(int argc, char **argv)
{
    covey_t *vm = NULL;
    int status = 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (covey_join(&vm, NULL) < 0)
        return complain("join");
    if (argc > 4 && strcmp(argv[1], "lead") == 0)
        status = lead(vm, argc, argv);
    else if (argc > 2 && strcmp(argv[1], "make") == 0)
        status = make(vm, argv[2]);
    else if (argc > 3 && strcmp(argv[1], "work") == 0)
        status = work(vm, argv[2], atol(argv[3]));
    else if (argc > 1 && strcmp(argv[1], "calls") == 0)
        status = calls(vm);
    covey_leave(&vm);
    return status;
}
