/*
 * door_choose.c - the first decision of each call: the caller alone, or how many tasks with it.
 *
 * The operation predicts what each number of tasks takes, and earlier calls correct it. More tasks
 * have to save a tenth: less is what predictions are off by. Of what has run it is known.
 *
 * Workers that are not there yet take time to start. One call need not be worth that: as who rents
 * skis buys them when the rent has come to their price, calls go on without workers until what
 * these would have saved, summed up, is what their start takes.
 */
#include "lib/domain/door/door_choose.h"

#include "lib/domain/base/history.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NEAR 1.1
#define ASSUMED_START_S 0.05
#define SHORT_S 0.002

#define NUMBERS_MOST 32 /* of numbers of tasks that are compared: 1, 2, 3, 4, 6 ... 4096 */

const struct covey_domain_place door_place_alone = {
    .network = {.members = 1, .hosts = 1}, .processors = 1, .load = 1, .load_root = 1};
static const struct door_line assumed_inside = {
    .source = DOOR_ASSUMED, .alpha_s = 40e-6, .beta_s = 1e-9};
static const struct door_line assumed_between = {
    .source = DOOR_ASSUMED, .alpha_s = 150e-6, .beta_s = 8.5e-9}; /* 1 Gbit/s */

/* The route between hosts that the calibration has the least beta of. */
static void take_calibration(struct door_knowledge *known, const struct covey_calibration *c)
{
    struct covey_domain_network network;
    for (int route = 0; route < (int)(sizeof c->routes / sizeof *c->routes); route++) {
        struct door_line *lines[] = {&known->inside, &known->between};
        for (int i = 0; i < 2; i++) {
            if (covey_domain_network_of(c, route, 2, i + 1, &network) < 0)
                continue;
            if (lines[i]->source == DOOR_ASSUMED || network.beta_s < lines[i]->beta_s)
                *lines[i] = (struct door_line){.source = DOOR_CALIBRATED,
                                               .alpha_s = network.alpha_s,
                                               .beta_s = network.beta_s};
        }
    }
}

void door_knowledge_init(struct door_knowledge *known, covey_t *vm)
{
    struct covey_calibration *calibration = NULL;
    *known = (struct door_knowledge){
        .inside = assumed_inside, .between = assumed_between, .start_s = ASSUMED_START_S};
    if (covey_calibration_load(covey_vm_name(vm), &calibration) == 0)
        take_calibration(known, calibration);
    covey_free(calibration);
}

struct door_line *door_line_of(struct door_knowledge *known, const struct door_places *places,
                               int tasks)
{
    return door_places_is_inside(places, tasks) ? &known->inside : &known->between;
}

struct covey_domain_network door_network_of(const struct door_line *line, int members, int hosts)
{
    return (struct covey_domain_network){.members = members,
                                         .hosts = hosts,
                                         .alpha_s = line->alpha_s,
                                         .beta_s = line->beta_s,
                                         .one_alpha_s = line->one_alpha_s,
                                         .one_beta_s = line->one_beta_s};
}

/* ---- predictions ---- */

/* Members of a host share what is idle there. */
static double cost_of(struct door_knowledge *known, const struct door_question *q, int tasks)
{
    const struct door_line *line = door_line_of(known, q->places, tasks);
    struct door_setting setting = {.tasks = tasks, .place = door_place_alone, .alone = q->alone};
    struct covey_domain_place *place = &setting.place;
    place->network = door_network_of(line, tasks, door_places_hosts(q->places, tasks));
    place->processors = ceil((double)tasks / place->network.hosts);
    place->load = 1 / door_places_share(q->places, tasks);
    place->load_root = 1 / door_places_share(q->places, 1);
    return q->op->cost(q->args, &setting);
}

static int is_forced(const struct door_question *q)
{
    return q->options->tasks > 0 || q->options->hosts > 0;
}

int door_choose_short(const struct door_question *q, struct covey_door_report *report)
{
    const struct door_setting alone = {.tasks = 1, .place = door_place_alone, .alone = q->alone};
    if (is_forced(q) || q->options->explain)
        return 0;
    double seconds = q->op->cost(q->args, &alone);
    if (!(seconds < SHORT_S))
        return 0;
    report->tasks = report->hosts = 1;
    report->predicted_s = seconds;
    snprintf(report->why, sizeof report->why, "it is short: hosts are asked from %g ms on",
             SHORT_S * 1e3);
    snprintf(report->table, sizeof report->table, "%4d task  on %3d host  %12.3f ms\n", 1, 1,
             seconds * 1e3);
    return 1;
}

/* The numbers of tasks that the options allow. */
static void range_of(const struct door_question *q, int *least, int *most)
{
    *most = q->places->rank_count;
    *least = q->options->tasks > 0 ? *most : q->options->hosts > 0 ? q->places->host_count : 1;
}

/* 1, 2, 3, 4, 6, 8, 12, 16 ... and the last one. */
static int next_number(int tasks, int most)
{
    int step = 1;
    while (step * 4 <= tasks)
        step *= 2;
    int next = tasks + step;
    return tasks < most && next > most ? most : next;
}

static void add_line(struct covey_door_report *report, const struct door_question *q, int tasks,
                     double seconds)
{
    size_t used = strlen(report->table);
    snprintf(report->table + used, sizeof report->table - used,
             "%4d task%s on %3d host%s %12.3f ms\n", tasks, tasks == 1 ? " " : "s",
             door_places_hosts(q->places, tasks),
             door_places_hosts(q->places, tasks) == 1 ? " " : "s", seconds * 1e3);
}

/* What each number of tasks takes, the caller alone first. */
struct numbers {
    int n, tasks[NUMBERS_MOST];
    char names[NUMBERS_MOST][16];
    struct domain_algorithm rows[NUMBERS_MOST];
};

static void add_number(struct numbers *numbers, int tasks, double seconds)
{
    int i = numbers->n++;
    numbers->tasks[i] = tasks;
    snprintf(numbers->names[i], sizeof numbers->names[i], "t%d", tasks);
    numbers->rows[i] = (struct domain_algorithm){.name = numbers->names[i], .seconds = seconds};
}

/* What is learned of one call counts for those that take the caller alone about as long. */
static void predict(struct door_knowledge *known, const struct door_question *q,
                    struct numbers *numbers)
{
    int least, most;
    const struct door_line *line = door_line_of(known, q->places, q->places->rank_count);
    range_of(q, &least, &most);
    numbers->n = 0;
    add_number(numbers, 1, cost_of(known, q, 1));
    for (int tasks = least; tasks <= most && numbers->n < NUMBERS_MOST;
         tasks = next_number(tasks, most))
        if (tasks > 1)
            add_number(numbers, tasks, cost_of(known, q, tasks));
    snprintf(known->problem, sizeof known->problem, "door.%s.2^%d.b%d", q->op->name,
             domain_size_class(numbers->rows[0].seconds * 1e6),
             domain_size_class(line->beta_s * 1e12) / 3);
    domain_history_expect(known->problem, numbers->rows, numbers->n);
}

/* Sets what the caller alone and the best number of tasks take; returns that number. */
static int best_of(struct door_knowledge *known, const struct door_question *q,
                   struct covey_door_report *report, double *alone_s, double *best_s)
{
    struct numbers numbers;
    int least, most;
    range_of(q, &least, &most);
    predict(known, q, &numbers);
    int best = least > 1 ? 1 : 0;
    report->table[0] = '\0';
    for (int i = 0; i < numbers.n; i++) {
        double seconds = domain_expected_s(&numbers.rows[i]);
        double near = numbers.rows[i].runs < DOMAIN_KNOWN_RUNS ? NEAR : 1;
        if (i > best && seconds * near < domain_expected_s(&numbers.rows[best]))
            best = i;
        add_line(report, q, numbers.tasks[i], seconds);
    }
    *alone_s = domain_expected_s(&numbers.rows[0]);
    *best_s = domain_expected_s(&numbers.rows[best]);
    known->formula_s[0] = numbers.rows[0].seconds;
    known->formula_s[1] = numbers.rows[best].seconds;
    known->tasks = numbers.tasks[best];
    return numbers.tasks[best];
}

/* ---- the choice ---- */

static const char *source_of(const struct door_line *line)
{
    static const char *const words[] = {"assumed", "calibrated", "measured"};
    return words[line->source];
}

int door_choose_tasks(struct door_knowledge *known, const struct door_question *q,
                      struct covey_door_report *report)
{
    double alone_s = 0, best_s = 0;
    int best = best_of(known, q, report, &alone_s, &best_s), starts = best > q->there;
    double saved_s = alone_s - best_s;
    const char *source = source_of(door_line_of(known, q->places, q->places->rank_count));
    report->predicted_s = best_s;
    if (is_forced(q)) {
        snprintf(report->why, sizeof report->why, "%d tasks on %d hosts are forced", best,
                 door_places_hosts(q->places, best));
    } else if (q->places->rank_count == 1) {
        snprintf(report->why, sizeof report->why, "no other processor is idle");
    } else if (best == 1) {
        snprintf(report->why, sizeof report->why, "more tasks save nothing, by the network as %s",
                 source);
    } else if (starts && known->missed_s + saved_s < known->start_s) {
        known->missed_s += saved_s;
        snprintf(report->why, sizeof report->why,
                 "%d tasks would save %.3g ms: %.3g ms so far are less than the %.3g ms of a start",
                 best, saved_s * 1e3, known->missed_s * 1e3, known->start_s * 1e3);
        best = 1;
        report->predicted_s = alone_s;
    } else {
        snprintf(report->why, sizeof report->why,
                 "%d tasks save %.3g of %.3g ms, by the network as %s", best, saved_s * 1e3,
                 alone_s * 1e3, source);
    }
    report->tasks = best;
    report->hosts = door_places_hosts(q->places, best);
    return best;
}

void door_choose_note(const struct door_knowledge *known, int tasks, double seconds)
{
    char name[16];
    if (tasks > 1 && tasks != known->tasks)
        return;
    snprintf(name, sizeof name, "t%d", tasks);
    domain_history_note(known->problem, name, known->formula_s[tasks > 1], seconds);
}
