/* links: libcovey */
/*
 * items.c - a program whose bag of work outlives the time of its job: `items N US FILE`.
 *
 * It puts the numbers 0 to N - 1 into the bag "items"; workers, two on each host, take US
 * microseconds for each, and the result is its square. Each result is a line of FILE, to which is
 * added. If there is such a bag already, as `covey bag load` makes it, what was not put yet is put.
 * The status is 75 if the time of the host is over, and the bag stays.
 */
#include "covey.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { AT_ONCE = 64, OVER = 75, A_HOST = 2, HOSTS_MAX = 64 };

static int failed(const char *what)
{
    fprintf(stderr, "items: %s: %s\n", what, covey_error_text());
    return 1;
}

static int work(covey_bag_t *bag, long us)
{
    struct covey_bag_item item;
    const struct timespec pause = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    int got;
    while ((got = covey_bag_take(bag, COVEY_FOREVER, &item, 1)) > 0) {
        uint64_t n;
        memcpy(&n, item.bytes, sizeof n);
        nanosleep(&pause, NULL);
        n *= n;
        if (covey_bag_done(bag, &item, &n, sizeof n) < 0)
            return failed("done");
    }
    return got < 0 ? failed("take") : 0;
}

static int collect(covey_bag_t *bag, const char *path)
{
    struct covey_bag_result results[AT_ONCE];
    FILE *out = fopen(path, "ae");
    int got;
    while (out && (got = covey_bag_result(bag, COVEY_FOREVER, results, AT_ONCE)) > 0)
        for (int i = 0; i < got; i++) {
            uint64_t n;
            memcpy(&n, results[i].bytes, sizeof n);
            fprintf(out, "%" PRIu64 " %" PRIu64 "\n", results[i].number, n);
        }
    if (!out || fclose(out) != 0)
        return perror(path), 1;
    if (got == COVEY_ETIMEOUT)
        fprintf(stderr, "items: %s\n", covey_error_text());
    return got == 0 ? 0 : got == COVEY_ETIMEOUT ? OVER : failed("result");
}

static int lead(covey_t *vm, char **argv)
{
    const struct covey_bag_options options = {.keep = 1};
    struct covey_bag_info info = {.put = 0};
    covey_bag_t *bag = NULL;
    struct covey_host *hosts = NULL;
    covey_tid_t tids[HOSTS_MAX * A_HOST];
    uint64_t count = strtoull(argv[1], NULL, 10);
    int error = covey_bag_create(vm, "items", &options, &bag);
    if (error == COVEY_EEXIST) {
        error = covey_bag_attach(vm, "items", &bag);
        if (error == COVEY_OK)
            error = covey_bag_info(bag, &info);
        printf("items: %" PRIu64 " are left and %" PRIu64 " results\n", info.ready, info.results);
    }
    for (uint64_t i = info.put; i < count && error == COVEY_OK && !info.closed; i++)
        error = covey_bag_put(bag, 0, &i, sizeof i);
    if (error == COVEY_OK)
        error = covey_bag_close(bag);
    int n = error == COVEY_OK ? covey_hosts(vm, &hosts) : error;
    const char *words[] = {argv[0], "work", argv[2], NULL};
    const struct covey_spawn what = {.argv = words, .output = COVEY_OUTPUT_SELF};
    int started = n > 0 ? covey_spawn(vm, &what, n * A_HOST, tids) : n;
    covey_free(hosts);
    if (started < n * A_HOST || started <= 0)
        return failed("begin");
    int status = collect(bag, argv[3]);
    if (status == 0)
        covey_bag_destroy(&bag);
    covey_bag_free(&bag);
    return status;
}

int main(int argc, char **argv)
{
    covey_bag_t *bag = NULL;
    covey_t *vm;
    int status;
    if (argc < 3 || (strcmp(argv[1], "work") != 0 && argc != 4))
        return fprintf(stderr, "usage: items N US FILE\n"), 2;
    if (covey_join(&vm, NULL) < 0)
        return failed("join");
    if (strcmp(argv[1], "work") != 0)
        status = lead(vm, argv);
    else if (covey_bag_attach(vm, "items", &bag) < 0)
        status = failed("attach");
    else
        status = work(bag, strtol(argv[2], NULL, 10));
    covey_bag_free(&bag);
    covey_leave(&vm);
    return status;
}
