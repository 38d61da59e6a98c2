/* covey bags: how it stands with the bags of work of the VM. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/base/command.h"
#include "tools/list/listing.h"
#include "tools/list/report.h"
#include "tools/list/table.h"

#define LOOK_NS 250000000L /* between the two looks of which the rate is told */

/* What is known of all bags. */
struct bags {
    struct covey_bag_info *now;
    int count;
    double *rates; /* items done a second */
    struct covey_host *hosts;
    int host_count;
};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t done_before(const struct covey_bag_info *before, int count,
                            const struct covey_bag_info *now)
{
    for (int i = 0; i < count; i++)
        if (strcmp(before[i].name, now->name) == 0 && before[i].done <= now->done)
            return before[i].done;
    return 0;
}

/* Two looks, unless there is nothing to see. */
static int look_at_bags(covey_t *vm, struct bags *bags)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    struct covey_bag_info *before = NULL;
    double begin = seconds();
    int count = covey_bags(vm, &before);
    if (count > 0)
        nanosleep(&pause, NULL);
    bags->count = count < 0 ? count : covey_bags(vm, &bags->now);
    if (bags->count > 0)
        bags->rates = calloc((size_t)bags->count, sizeof *bags->rates);
    for (int i = 0; bags->rates != NULL && i < bags->count; i++) {
        const struct covey_bag_info *b = &bags->now[i];
        bags->rates[i] = (double)(b->done - done_before(before, count, b)) / (seconds() - begin);
    }
    covey_free(before);
    return bags->count > 0 && bags->rates == NULL ? COVEY_ENOMEM : bags->count;
}

static const char *bag_holder(const struct bags *bags, const struct covey_bag_info *b)
{
    return b->holder == 0 ? NULL : listing_host_name(bags->hosts, bags->host_count, b->holder);
}

static int print_bags_json(const struct bags *bags)
{
    json_t *array = json_array();
    for (int i = 0; i < bags->count; i++) {
        const struct covey_bag_info *b = &bags->now[i];
        json_t *row = json_pack("{s:o, s:s?, s:i, s:i, s:b, s:f}", "name", report_text(b->name),
                                "holder", bag_holder(bags, b), "backups", (int)b->backups, "tasks",
                                (int)b->tasks, "closed", b->closed != 0, "rate", bags->rates[i]);
        json_t *counts =
            json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "ready",
                      (json_int_t)b->ready, "leased", (json_int_t)b->leased, "results",
                      (json_int_t)b->results, "put", (json_int_t)b->put, "done",
                      (json_int_t)b->done, "delivered", (json_int_t)b->delivered, "set_aside",
                      (json_int_t)b->set_aside, "leases", (json_int_t)b->leases, "retried",
                      (json_int_t)b->retried, "duplicated", (json_int_t)b->duplicated, "expired",
                      (json_int_t)b->expired, "bytes", (json_int_t)b->bytes);
        if (row != NULL)
            json_object_update(row, counts);
        json_decref(counts);
        report_add(&array, row);
    }
    return report_print("bags", array);
}

#define COUNT(value) CELL("%" PRIu64, (uint64_t)(value))

static int print_bags_table(const struct bags *bags)
{
    static const char *const headings[] = {"NAME",     "HOLDER",  ">COPIES", "STATE", ">TASKS",
                                           ">READY",   ">LEASED", ">PUT",    ">DONE", ">RATE/s",
                                           ">RETRIED", ">ASIDE",  NULL};
    struct table *table = table_create(headings);
    for (int i = 0; i < bags->count; i++) {
        const struct covey_bag_info *b = &bags->now[i];
        const char *host = bag_holder(bags, b);
        TABLE_ROW(table, b->name, host == NULL ? "lost" : host, COUNT(b->backups),
                  b->closed ? "closed" : "open", COUNT(b->tasks), COUNT(b->ready), COUNT(b->leased),
                  COUNT(b->put), COUNT(b->done), CELL("%.0f", bags->rates[i]),
                  COUNT(b->retried + b->duplicated), COUNT(b->set_aside));
    }
    return report_table("bags", table);
}

static int bags_command(struct tool *tool, int argc, char **argv)
{
    struct bags bags = {.count = 0};
    bool json;
    int status = listing_join(tool, argc, argv, &json);
    if (status != TOOL_OK)
        return status;
    int error = bags.host_count = covey_hosts(tool->vm, &bags.hosts);
    if (error >= 0)
        error = look_at_bags(tool->vm, &bags);
    status = error < 0 ? tool_failed(tool, "bags", error)
                       : (json ? print_bags_json : print_bags_table)(&bags);
    covey_free(bags.hosts);
    covey_free(bags.now);
    free(bags.rates);
    return status;
}

const struct command cmd_bags = {
    .name = "bags",
    .run = bags_command,
    .usage = "[--json]",
    .help = "list bags of work: depth, rate, leases, retries",
    .options = listing_options,
};
