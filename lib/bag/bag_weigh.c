/*
 * bag_weigh.c - what a worker says of its host before it has done anything: the speed of a core
 * times the share of one that others leave. As in placement (lib/spawn/place.c) the speed is what
 * the owner says, if the owner of any host says something, otherwise what was measured.
 */
#include <math.h>
#include <stdlib.h>

#include "lib/bag/bag.h"
#include "lib/calls/hosts.h"
#include "lib/drive/request.h"
#include "lib/msg/clock.h"
#include "proto/model/figure.h"

#define ANSWER_US 1000000u
#define SPEED 1000         /* the default of covey.conf */
#define ORDINARY_PER_S 4e9 /* integer and floating point operations of a core of weight 1000 */
#define PAGING 0.01        /* what is left of a host that pages */

static bool look(struct covey *vm, struct covey_host_stat *stat)
{
    uint8_t *content = NULL;
    size_t size = 0;
    struct figures figures;
    if (request_call(vm, FRAME_HOST_STAT, vm->self.host, NULL, 0, clock_us() + ANSWER_US, &content,
                     &size) != COVEY_OK)
        return false;
    struct cursor c = cursor_reader(content, size);
    figures_get(&c, &figures);
    free(content);
    *stat = host_stat_of(vm->self.host, &figures);
    return cursor_ok(&c);
}

/* 0: not known. */
static double speed_of_host(struct covey *vm, const struct covey_host_stat *stat)
{
    struct covey_host *hosts = NULL;
    int n = hosts_ask(vm, &hosts), own = SPEED;
    bool set = false;
    for (int i = 0; i < n; i++) {
        set = set || hosts[i].speed != SPEED;
        own = (uint32_t)hosts[i].index == vm->self.host ? hosts[i].speed : own;
    }
    if (n < 0)
        return 0;
    free(hosts);
    if (set)
        return own / (double)SPEED;
    bool measured = stat->integer_per_s > 0 && stat->float_per_s > 0;
    return measured ? (stat->integer_per_s + stat->float_per_s) / ORDINARY_PER_S : 0;
}

uint16_t bag_weigh(struct covey *vm)
{
    struct covey_host_stat stat;
    if (!look(vm, &stat) || stat.demand < 0 || !(stat.cores > 0))
        return 0;
    /* This task is one of the young ones, unless it was there for long: then it waited. */
    double others = stat.demand + fmax(stat.tasks_young - 1, 0);
    double share = fmin(1, stat.cores / (others + 1));
    double weight = 1000 * speed_of_host(vm, &stat) * share;
    if (covey_host_pages(&stat))
        weight *= PAGING;
    return weight > 0 ? (uint16_t)fmin(fmax(weight, 1), UINT16_MAX) : 0;
}
