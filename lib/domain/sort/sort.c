/*
 * sort.c - the calls: a handle knows what is sorted and how fast; a run learns how much there is,
 * chooses, and works on a copy, so that the caller's array is whole when something fails.
 *
 * A run that fails at one member is given up for all: they would wait for it.
 */
#include "lib/domain/covey_domain/sort.h"

#include "lib/domain/base/agree.h"
#include "lib/domain/base/cache.h"
#include "lib/domain/base/clock.h"
#include "lib/domain/base/error.h"
#include "lib/domain/base/history.h"
#include "lib/domain/base/options.h"
#include "lib/domain/base/part.h"
#include "lib/domain/place/place.h"
#include "lib/domain/sort/algorithms.h"
#include "lib/domain/sort/run.h"
#include "lib/domain/sort/speed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE "COVEY_SORT"
#define NO_COUNT UINT64_MAX    /* told to the others: this member's arguments are wrong */
#define FIRST_ELEMENTS 16384.0 /* whose speed a new handle knows */
#define PROBLEM_BYTES 48
#define LOOK_S 2.0     /* from one look at the load of the hosts to the next */
#define TRIED_RUNS 12  /* of a problem, before each of which the members choose anew */
#define CHOSEN_RUNS 16 /* for which they keep their choice then */

struct covey_sort {
    covey_team_t *team;
    struct sort_order order;
    struct sort_memory memory;
    struct sort_cost cost; /* total, keeps_counts and kept are set by each run */
    int is_stable;
    int forced, taken;           /* places among the algorithms; DOMAIN_CHOSEN */
    char problem[PROBLEM_BYTES]; /* of the last run, as the history names it */
    int runs;                    /* of that problem in a row */
    int is_trial;                /* the last run was of what is not known */
    double looked_s;             /* when rank 0 asked for the load */
    double predicted_s;          /* of the last run by the formula alone */
    int is_cold;                 /* 1: memory that it wrote first is a part of that */
    double began_s;              /* the last run */
};

static struct sort_run run_of(struct covey_sort *sort)
{
    return (struct sort_run){.team = sort->team,
                             .order = &sort->order,
                             .memory = &sort->memory,
                             .rank = covey_team_rank(sort->team),
                             .size = covey_team_size(sort->team)};
}

/* ---- the handle ---- */

static int read_kind(struct covey_sort *sort, const struct covey_sort_kind *kind)
{
    if (kind == NULL)
        return domain_fail(COVEY_EINVAL, "the kind of a sort is NULL");
    sort->is_stable = kind->stable && kind->compare != NULL;
    return order_init(&sort->order, kind);
}

static int read_options(struct covey_sort *sort, const char *options)
{
    struct domain_option option = {.key = "sort", .names = sort_names};
    int error = domain_options_agree(sort->team, options, VARIABLE, &option, 1);
    sort->forced = option.value;
    return error;
}

static int learn_speeds(struct covey_sort *sort, const struct covey_domain_network *given)
{
    sort->cost = (struct sort_cost){.bytes = (double)sort->order.size,
                                    .is_record = sort->order.compare != NULL};
    int error = domain_place_learn(sort->team, given, &sort->cost.place, NULL);
    struct sort_run run = run_of(sort);
    sort->looked_s = domain_now_s();
    return error < 0 ? error : speed_learn(&run, FIRST_ELEMENTS, FIRST_ELEMENTS, &sort->cost);
}

int covey_sort_create(covey_team_t *team, const struct covey_sort_kind *kind, const char *options,
                      const struct covey_domain_network *network, covey_sort_t **sort)
{
    if (team == NULL || sort == NULL)
        return domain_fail(COVEY_EINVAL, "sort: the team or the place of the handle is NULL");
    struct covey_sort *made = calloc(1, sizeof *made);
    if (made == NULL)
        return domain_break(team, domain_fail(COVEY_ENOMEM, "sort: no memory for the handle"));
    made->team = team;
    made->taken = DOMAIN_CHOSEN;
    int error = domain_agree(team, read_kind(made, kind), "sort");
    if (error == 0)
        error = read_options(made, options);
    if (error == 0)
        error = learn_speeds(made, network);
    if (error < 0)
        covey_sort_free(&made);
    else
        *sort = made;
    return error < 0 ? error : 0;
}

void covey_sort_free(covey_sort_t **sort)
{
    if (sort == NULL || *sort == NULL)
        return;
    if (covey_team_rank((*sort)->team) == 0)
        domain_cache_save();
    memory_free(&(*sort)->memory);
    free(*sort);
    *sort = NULL;
}

/* ---- the choice ---- */

/* What is learned of one run counts for those of about as many elements, on such a network, and on
 * hosts of about that load: where members wait for one that others keep from its processor, what
 * counts is how often they wait, and no formula has that. */
static void name_problem(const struct covey_sort *sort, const struct sort_cost *cost,
                         char name[PROBLEM_BYTES])
{
    const struct covey_domain_network *n = &cost->place.network;
    snprintf(name, PROBLEM_BYTES, "sort.%c%zu.2^%d.%dx%d.b%d.l%d%s", cost->is_record ? 'r' : 'n',
             sort->order.size, domain_size_class(cost->total), (int)n->members, (int)n->hosts,
             domain_size_class(n->beta_s * 1e12) / 3, domain_size_class(cost->place.load),
             cost->keeps_counts ? "" : ".u");
}

/* Before a run all members know its problem, and how often in a row it was that one. No trial is
 * kept. */
static int is_choice_kept(struct covey_sort *sort)
{
    char name[PROBLEM_BYTES];
    name_problem(sort, &sort->cost, name);
    sort->runs = strcmp(name, sort->problem) == 0 ? sort->runs + 1 : 0;
    memcpy(sort->problem, name, sizeof name);
    return sort->taken >= 0 && !sort->is_trial && sort->runs >= TRIED_RUNS &&
           sort->runs % CHOSEN_RUNS != 0;
}

/* Rank 0 sees the load now and then, and predicts with it; all members take it from there. */
static int choose_together(struct covey_sort *sort, struct domain_algorithm *rows)
{
    struct covey_domain_place *place = &sort->cost.place;
    if (covey_team_rank(sort->team) == 0 && domain_now_s() - sort->looked_s > LOOK_S) {
        domain_place_look(sort->team, place);
        sort->looked_s = domain_now_s();
    }
    sort_predict(&sort->cost, sort->is_stable, rows);
    double told[] = {place->processors, place->load, place->load_root};
    int taken = domain_choose_told(sort->team, sort->problem, rows, SORT_ALGORITHMS, DOMAIN_CHOSEN,
                                   told, 3);
    if (taken < 0)
        return taken;
    sort->is_trial = rows[taken].runs < DOMAIN_KNOWN_RUNS;
    place->processors = told[0];
    place->load = told[1];
    place->load_root = told[2];
    name_problem(sort, &sort->cost, sort->problem);
    return taken;
}

/* All members force the same, or all choose. */
static int choose(struct covey_sort *sort, const struct sort_run *run, uint64_t total,
                  int keeps_counts)
{
    struct domain_algorithm rows[SORT_ALGORITHMS];
    sort->cost.total = (double)total;
    sort->cost.keeps_counts = keeps_counts;
    int error = speed_learn(run, (double)total / run->size, (double)total, &sort->cost);
    if (error < 0)
        return error;
    sort->cost.kept = (double)memory_kept(&sort->memory);
    int is_kept = is_choice_kept(sort), taken = sort->taken;
    if (sort->forced < 0 && run->size > 1 && !is_kept)
        taken = choose_together(sort, rows);
    else {
        sort_predict(&sort->cost, sort->is_stable, rows);
        if (!is_kept)
            taken = domain_choose(rows, SORT_ALGORITHMS, sort->forced);
    }
    if (taken < 0)
        return taken;
    struct sort_cost warm = sort->cost;
    warm.kept = INFINITY;
    sort->predicted_s = rows[taken].seconds;
    sort->is_cold = sort->predicted_s > 1.02 * sort_algorithms[taken].cost(&warm);
    return taken;
}

size_t covey_sort_explain(const covey_sort_t *sort, uint64_t total, char *text, size_t size)
{
    struct domain_algorithm rows[SORT_ALGORITHMS];
    char name[PROBLEM_BYTES];
    if (sort == NULL || (text == NULL && size > 0))
        return 0;
    struct sort_cost cost = sort->cost;
    cost.total = (double)total;
    cost.keeps_counts = 1;
    cost.kept = (double)memory_kept(&sort->memory);
    sort_predict(&cost, sort->is_stable, rows);
    name_problem(sort, &cost, name);
    domain_history_look(name, rows, SORT_ALGORITHMS);
    return domain_explain(rows, SORT_ALGORITHMS, domain_choose(rows, SORT_ALGORITHMS, sort->forced),
                          sort->forced, text, size);
}

const char *covey_sort_taken(const covey_sort_t *sort)
{
    return sort == NULL || sort->taken < 0 ? "" : sort_names[sort->taken];
}

/* ---- a run ---- */

/* Sets how many elements each member has. EINVAL at all members when one has told NO_COUNT. */
static int learn_counts(struct sort_run *run, uint64_t mine)
{
    int error = covey_allgather(run->team, COVEY_UINT64, &mine, run->starts + 1, 1);
    if (error < 0)
        return run_fail(error);
    for (int i = 1; i <= run->size; i++) {
        if (run->starts[i] == NO_COUNT)
            return domain_fail(COVEY_EINVAL,
                               "sort: the array of rank %d is NULL, or larger than memory", i - 1);
        if (run->starts[i] > PTRDIFF_MAX / run->order->size - run->starts[i - 1])
            return domain_fail(COVEY_EINVAL, "sort: all arrays together have more than %td bytes",
                               PTRDIFF_MAX);
        run->starts[i] += run->starts[i - 1];
    }
    return 0;
}

/* The same counts as before, or as equal ones as can be. */
static void set_targets(struct sort_run *run, int keeps_counts)
{
    uint64_t total = run->starts[run->size], size = (uint64_t)run->size;
    for (uint64_t i = 0; i <= size; i++)
        run->targets[i] =
            keeps_counts ? run->starts[i] : total / size * i + total % size * i / size;
}

static int piece_take(const struct sort_run *run, struct sort_piece *piece, const void *base,
                      size_t count)
{
    *piece = (struct sort_piece){run_alloc(run, count), count};
    if (piece->base == NULL)
        return COVEY_ENOMEM;
    order_encode(run->order, base, piece->base, count);
    return 0;
}

static int carry_out(struct covey_sort *sort, const struct sort_run *run, int keeps_counts,
                     struct sort_piece *piece)
{
    const struct sort_algorithm *algorithm = &sort_algorithms[sort->taken];
    int error = algorithm->run(run, piece);
    if (error == 0 && keeps_counts && run->size > 1 && algorithm->finish != NULL)
        error = algorithm->finish(run, piece);
    return error;
}

/* The result, still as keys, in a piece that the caller frees. */
static int sort_all(struct covey_sort *sort, const void *base, size_t count, int keeps_counts,
                    struct sort_piece *piece)
{
    struct sort_run run = run_of(sort);
    int size = run.size;
    uint64_t *memory = calloc(2 * ((size_t)size + 1), sizeof *memory);
    run.starts = memory;
    run.targets = memory == NULL ? NULL : memory + size + 1;
    int is_wrong = (base == NULL && count > 0) || count > PTRDIFF_MAX / sort->order.size;
    if (memory == NULL)
        return domain_break(sort->team, domain_fail(COVEY_ENOMEM, "sort: no memory for counts"));
    int error = learn_counts(&run, is_wrong ? NO_COUNT : count);
    int taken = error < 0 ? error : choose(sort, &run, run.starts[size], keeps_counts);
    if (taken >= 0) {
        sort->began_s = domain_now_s();
        sort->taken = taken;
        set_targets(&run, keeps_counts);
        run.probes = cost_probes(&sort->cost);
        struct domain_part part;
        domain_part_begin(&part, sort->team, sort->problem, sort_names[taken], sort->predicted_s);
        error = piece_take(&run, piece, base, count);
        if (error == 0)
            error = carry_out(sort, &run, keeps_counts, piece);
        domain_part_end(&part);
        if (error < 0)
            domain_break(sort->team, error);
    }
    free(memory);
    return taken < 0 ? taken : error;
}

/* What it took is known for the next run. What memory costs that is written first depends on what
 * the process, and the machine, had before: of such a run a part is believed, and only if there is
 * no other. */
static void end_run(struct covey_sort *sort, struct sort_piece *piece, int error)
{
    double took_s = domain_now_s() - sort->began_s, likely_s = sort->predicted_s;
    struct domain_algorithm row = {.name = sort->taken < 0 ? "" : sort_names[sort->taken]};
    memory_give(&sort->memory, piece->base);
    if (error < 0)
        return;
    if (sort->is_cold) {
        domain_history_look(sort->problem, &row, 1);
        took_s = fmin(fmax(took_s, likely_s / 2), 2 * likely_s);
    }
    if (row.runs < 1)
        domain_history_note(sort->problem, row.name, likely_s, took_s);
}

int covey_sort_run(covey_sort_t *sort, void *base, size_t count)
{
    struct sort_piece piece = {NULL, 0};
    if (sort == NULL)
        return domain_fail(COVEY_EINVAL, "sort: the handle is NULL");
    int error = sort_all(sort, base, count, 1, &piece);
    if (error == 0)
        order_decode(&sort->order, piece.base, base, piece.n);
    end_run(sort, &piece, error);
    return error;
}

int covey_sort_run_uneven(covey_sort_t *sort, const void *base, size_t count, void **sorted,
                          size_t *sorted_count)
{
    struct sort_piece piece = {NULL, 0};
    if (sort == NULL || sorted == NULL || sorted_count == NULL)
        return domain_fail(COVEY_EINVAL, "sort: the handle or the place of the result is NULL");
    int error = sort_all(sort, base, count, 0, &piece);
    void *numbers = error == 0 && piece.n > 0 ? memory_new(piece.n * sort->order.size) : NULL;
    if (error == 0 && piece.n > 0 && numbers == NULL)
        error = domain_fail(COVEY_ENOMEM, "sort: no memory for the result");
    if (error == 0) {
        if (piece.n > 0)
            order_decode(&sort->order, piece.base, numbers, piece.n);
        *sorted = numbers;
        *sorted_count = piece.n;
    }
    end_run(sort, &piece, error);
    return error;
}
