/*
 * speed.c - times sorting, merging and copying at the members, as seconds of the processor: what
 * others run there is told by the monitor, and is not to count twice. All members at once, for
 * tasks of one host share its memory; and rank 0 alone.
 *
 * Elements are random, and in arrays that were written before; records are compared as bytes, for
 * what the caller's comparison makes of random bytes is not known. A figure is
 * sort.KIND.WORK.LOG2.xMEMBERS: of numbers (n) or records (r) of so many bytes, of so many
 * elements, of so many members at once.
 */
#include "lib/domain/sort/speed.h"

#include "lib/domain/base/cache.h"
#include "lib/domain/base/clock.h"
#include "lib/domain/base/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS 2

static const char *const works[SORT_WORKS] = {"sort", "merge", "copy"};

static void figure_name(const struct sort_order *order, int work, int class, int together,
                        char name[DOMAIN_FIGURE_NAME])
{
    snprintf(name, DOMAIN_FIGURE_NAME, "sort.%c%zu.%s.%d.x%d", order->compare != NULL ? 'r' : 'n',
             order->size, works[work], SORT_CLASS_LOG2(class), together);
}

/* ---- One member ------------------------------------------------------------------------------ */

static int compare_bytes(const void *left, const void *right, void *context)
{
    return memcmp(left, right, *(const size_t *)context);
}

struct trial {
    struct sort_order order;
    size_t n;
    char *base, *scratch;
};

/* Other numbers each time: processors learn the branches of what they have seen. */
static void fill(const struct trial *t, uint64_t seed)
{
    size_t bytes = t->n * t->order.size;
    for (size_t i = 0; i < bytes; i += sizeof seed) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t mixed = seed ^ seed >> 29;
        memcpy(t->base + i, &mixed, bytes - i < sizeof mixed ? bytes - i : sizeof mixed);
    }
}

static double run_work(const struct trial *t, int work, int i)
{
    const struct sort_kernel *kernel = t->order.kernel;
    size_t half = t->n / 2, size = t->order.size;
    fill(t, (uint64_t)i + 1);
    if (work == SORT_MERGE) {
        kernel->sort(&t->order, t->base, half, t->scratch);
        kernel->sort(&t->order, t->base + half * size, t->n - half, t->scratch);
    }
    double begin = domain_processor_s();
    if (work == SORT_SORT)
        kernel->sort(&t->order, t->base, t->n, t->scratch);
    else if (work == SORT_MERGE)
        kernel->merge(&t->order, t->base, half, t->base + half * size, t->n - half, t->scratch);
    else
        order_encode(&t->order, t->base, t->scratch, t->n);
    return domain_processor_s() - begin;
}

/* Seconds an element, the least of the runs. */
static void measure(const struct sort_run *run, int class, double unit[SORT_WORKS])
{
    struct trial t = {.order = *run->order, .n = (size_t)1 << SORT_CLASS_LOG2(class)};
    t.base = run_alloc(run, t.n);
    t.scratch = run_alloc(run, t.n);
    if (t.order.compare != NULL) {
        t.order.context = &t.order.size;
        t.order.compare = compare_bytes;
    }
    for (int work = 0; work < SORT_WORKS; work++) {
        struct domain_least least = {0};
        double depth = work == SORT_SORT && t.order.compare != NULL ? log2((double)t.n) : 1;
        unit[work] = 0; /* no memory: it is not known */
        if (t.base == NULL || t.scratch == NULL)
            continue;
        memset(t.scratch, 0, t.n * t.order.size);
        while (domain_least_lacks(&least, RUNS))
            domain_least_add(&least, run_work(&t, work, least.runs));
        unit[work] = least.s / ((double)t.n * depth);
    }
    run_free(run, t.base);
    run_free(run, t.scratch);
}

/* Out of the cache, or measured; 0 where neither. */
static void recall(const struct sort_order *order, int class, int together, double unit[SORT_WORKS])
{
    char name[DOMAIN_FIGURE_NAME];
    for (int work = 0; work < SORT_WORKS; work++) {
        figure_name(order, work, class, together, name);
        unit[work] = domain_cache_figure(name);
    }
}

static void keep(const struct sort_order *order, int class, int together,
                 const double unit[SORT_WORKS])
{
    char name[DOMAIN_FIGURE_NAME];
    for (int work = 0; work < SORT_WORKS; work++) {
        figure_name(order, work, class, together, name);
        if (unit[work] > 0)
            domain_cache_set(name, unit[work]);
    }
}

static int is_known(const double unit[SORT_WORKS])
{
    return unit[SORT_SORT] > 0 && unit[SORT_MERGE] > 0 && unit[SORT_COPY] > 0;
}

/* ---- All members ----------------------------------------------------------------------------- */

int speed_together(const struct covey_domain_place *place)
{
    double on_host = ceil((double)place->network.members / place->network.hosts);
    return (int)fmax(1, fmin(on_host, place->processors));
}

/* Members measure if one of them does not know; where only rank 0 does, the others wait. */
static int learn(const struct sort_run *run, int class, int together, int is_all,
                 double of[SORT_WORKS])
{
    double mine[SORT_WORKS] = {0};
    int32_t lacks = 0, any = 0;
    if (is_all || run->rank == 0) {
        recall(run->order, class, together, mine);
        lacks = !is_known(mine);
    }
    int error = covey_allreduce(run->team, COVEY_OP_MAX, COVEY_INT32, &lacks, &any, 1);
    if (error == 0 && any && (is_all || run->rank == 0)) {
        measure(run, class, mine);
        keep(run->order, class, together, mine);
    }
    if (error == 0)
        error = covey_allreduce(run->team, COVEY_OP_MAX, COVEY_DOUBLE, mine, of, SORT_WORKS);
    return error < 0 ? run_fail(error) : 0;
}

int speed_learn(const struct sort_run *run, double elements, double alone, struct sort_cost *cost)
{
    int class = cost_class(elements, cost->bytes), one = cost_class(alone, cost->bytes);
    struct sort_speeds *speeds = &cost->speeds;
    double unit[SORT_WORKS];
    int error = 0;
    if (speeds->all[SORT_SORT][class] <= 0) {
        error = learn(run, class, speed_together(&cost->place), 1, unit);
        for (int work = 0; error == 0 && work < SORT_WORKS; work++)
            speeds->all[work][class] = unit[work];
    }
    if (error == 0 && speeds->alone[SORT_SORT][one] <= 0) {
        error = learn(run, one, 1, 0, unit);
        for (int work = 0; error == 0 && work < SORT_WORKS; work++)
            speeds->alone[work][one] = unit[work];
    }
    return error;
}

/* ---- Without a team -------------------------------------------------------------------------- */

static const struct covey_sort_kind usual = {.type = COVEY_UINT64};

int speed_of_figures(const struct domain_figures *figures, int together, struct sort_speeds *speeds)
{
    struct sort_order order;
    char name[DOMAIN_FIGURE_NAME];
    int known = order_init(&order, &usual) == 0 ? 0 : -1;
    *speeds = (struct sort_speeds){.alone = {{0}}};
    for (int work = 0; known >= 0 && work < SORT_WORKS; work++)
        for (int class = 0; class < SORT_CLASSES; class ++) {
            figure_name(&order, work, class, 1, name);
            speeds->alone[work][class] = domain_figure(figures, name);
            figure_name(&order, work, class, together, name);
            speeds->all[work][class] = domain_figure(figures, name);
            if (speeds->all[work][class] <= 0)
                speeds->all[work][class] = speeds->alone[work][class];
            if (speeds->alone[work][class] <= 0)
                speeds->alone[work][class] = speeds->all[work][class];
            known += speeds->all[work][class] > 0;
        }
    return known > 0;
}

int speed_measure_figures(struct domain_figures *figures)
{
    struct sort_order order;
    struct sort_memory memory = {.blocks = {{.base = NULL}}};
    struct sort_run run = {.order = &order, .memory = &memory, .size = 1};
    double unit[SORT_WORKS];
    char name[DOMAIN_FIGURE_NAME];
    int error = order_init(&order, &usual);
    for (int class = SORT_CLASSES; error == 0 && class -- > 0;) {
        measure(&run, class, unit);
        for (int work = 0; error == 0 && work < SORT_WORKS; work++) {
            figure_name(&order, work, class, 1, name);
            error = unit[work] > 0 ? domain_figure_set(figures, name, unit[work]) : COVEY_ENOMEM;
        }
    }
    memory_free(&memory);
    return error;
}
