/*
 * bag.c - a worker of the benchmark of bags, which does nothing with its items, so that the time
 * is the bag's alone.
 */
#include "tools/bench/tasks/bag.h"

#include <stdio.h>

static int work_off(covey_bag_t *bag)
{
    struct covey_bag_item item;
    int got;
    while ((got = covey_bag_take(bag, COVEY_FOREVER, &item, 1)) > 0) {
        got = covey_bag_done(bag, &item, NULL, 0);
        if (got < 0)
            return got;
    }
    return got;
}

static int echo(covey_t *vm)
{
    covey_tid_t parent = covey_parent(vm);
    int error = covey_set_route(vm, parent, COVEY_ROUTE_UDP);
    for (size_t count = 1; error == 0 && count > 0;) {
        uint8_t byte;
        error = covey_recv_array(vm, parent, 1, COVEY_FOREVER, COVEY_UINT8, &byte, 1, &count, NULL);
        if (error == 0 && count > 0)
            error = covey_send_array(vm, parent, 1, COVEY_UINT8, &byte, 1);
    }
    return error;
}

int bag_work(covey_t *vm, const char *name)
{
    covey_bag_t *bag = NULL;
    int error = covey_bag_attach(vm, name, &bag);
    if (error == 0)
        error = work_off(bag);
    covey_bag_free(&bag);
    if (error == 0)
        error = echo(vm);
    if (error != 0)
        fprintf(stderr, "covey-bench: %s\n", covey_error_text());
    return error != 0;
}
