/*
 * choose.c - how many tasks on which hosts: predictions for growing numbers of hosts, and the rule
 * of section 4.1 of Schmidt & Sunderam, by which a host that saves too little is left to others.
 *
 * The hosts are taken in one order, the fastest first, so that a number of hosts says which. On
 * each number of them the program's own number of tasks is looked at, and as many more as the hosts
 * have processors; the same rule decides between these.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/model/model.h"
#include "lib/msg/error.h"
#include "proto/model/model.h"

#define EQUAL 1.15    /* speeds that differ by less are one: so much do those of like hosts */
#define EACH_UP_TO 64 /* hosts; beyond it every sixteenth number is looked at */
#define TASKS_MOST 4096
#define LEVELS_MAX 16 /* numbers of tasks for one number of hosts: powers of two, and all */

struct candidate {
    int at;    /* position in the caller's list */
    int in;    /* and in the calibration */
    int class; /* of speed, the fastest 0 */
    double operation_s;
};

struct choosing {
    const struct calibration *calibration;
    const struct covey_problem *problem;
    double tolerance;
    struct candidate hosts[COVEY_MODEL_HOSTS_MAX]; /* the fastest first */
    const char *names[COVEY_MODEL_HOSTS_MAX];      /* theirs */
    int host_count;
    double *rows; /* of model_predict() */
};

/* ---- The hosts ------------------------------------------------------------------------------- */

/* What the program does most, on a host that it has for itself; 0: not measured. */
static double operation_alone_s(const struct model_host *host, const struct covey_problem *p)
{
    switch (p->model) {
    case COVEY_MODEL_MATMUL:
        return model_madd(host, (double)p->size);
    case COVEY_MODEL_SORT:
        return host->oper_s;
    default:
        return host->iteration_s;
    }
}

/* And beside what competes for its processors. */
static double operation_s(const struct model_host *host, const struct covey_problem *p)
{
    double competing = host->demand + 1;
    double part = host->processors < competing ? host->processors / competing : 1;
    return part > 0 ? operation_alone_s(host, p) / part : 0;
}

static int by_speed(const void *a, const void *b)
{
    const struct candidate *one = a, *two = b;
    if (one->operation_s != two->operation_s)
        return one->operation_s < two->operation_s ? -1 : 1;
    return one->at - two->at;
}

static int by_class(const void *a, const void *b)
{
    const struct candidate *one = a, *two = b;
    return one->class != two->class ? one->class - two->class : one->at - two->at;
}

/* The fastest first; like hosts keep the caller's order. */
static void sort_hosts(struct choosing *c)
{
    size_t count = (size_t)c->host_count;
    qsort(c->hosts, count, sizeof *c->hosts, by_speed);
    double first_s = c->hosts[0].operation_s;
    for (size_t i = 1; i < count; i++) {
        bool like = c->hosts[i].operation_s <= first_s * EQUAL;
        c->hosts[i].class = c->hosts[i - 1].class + !like;
        first_s = like ? first_s : c->hosts[i].operation_s;
    }
    qsort(c->hosts, count, sizeof *c->hosts, by_class);
    for (size_t i = 0; i < count; i++)
        c->names[i] = c->calibration->hosts[c->hosts[i].in].name;
}

/* Takes the hosts that were calibrated. */
static int take_hosts(struct choosing *c, const char *const *names, int hosts)
{
    for (int i = 0; i < hosts && c->host_count < COVEY_MODEL_HOSTS_MAX; i++) {
        int in = names != NULL ? calibration_find(c->calibration, names[i]) : i;
        double here_s = in >= 0 ? operation_s(&c->calibration->hosts[in].speed, c->problem) : 0;
        if (here_s > 0)
            c->hosts[c->host_count++] =
                (struct candidate){.at = i, .in = in, .operation_s = here_s};
    }
    if (c->host_count == 0)
        return error_set(COVEY_ENOHOST, "none of the hosts was calibrated; run covey calibrate");
    sort_hosts(c);
    return COVEY_OK;
}

/* ---- The tasks ------------------------------------------------------------------------------- */

/* What the first so many hosts have at most. */
static int processors(const struct choosing *c, int hosts)
{
    double most = 1;
    for (int i = 0; i < hosts; i++) {
        double here = c->calibration->hosts[c->hosts[i].in].speed.processors;
        most = here > most ? here : most;
    }
    return (int)lround(most < TASKS_MOST ? most : TASKS_MOST);
}

/* The number of tasks with `each` on a host; 0: the program's own. -1: the program has no such. */
static int tasks_of(const struct covey_problem *p, int hosts, int each)
{
    bool bag = p->form == COVEY_FORM_BAG || p->form == COVEY_FORM_BAG_FETCH;
    if (each == 1)
        return p->tasks;
    if (p->tasks > 0 || p->paper || p->form == COVEY_FORM_HIERARCHICAL)
        return -1;
    if (p->model != COVEY_MODEL_MATMUL || bag)
        return hosts * each;
    int q = model_grid(hosts * each);
    return q * q;
}

/* What so many hosts take, with the number of tasks that suits them. */
static int look_at(struct choosing *c, int hosts, struct covey_prediction *chosen)
{
    struct covey_prediction found[LEVELS_MAX];
    double total_s[LEVELS_MAX];
    int tasks[LEVELS_MAX], count = 0, most = processors(c, hosts);
    for (int each = 1; each <= most && count < LEVELS_MAX;) {
        struct covey_problem problem = *c->problem;
        problem.tasks = tasks_of(c->problem, hosts, each);
        if (problem.tasks < 0 || problem.tasks > TASKS_MOST)
            break;
        int error =
            model_predict(c->calibration, &problem, c->names, hosts, &c->rows, &found[count]);
        if (error < 0)
            return error;
        total_s[count] = found[count].total_s;
        tasks[count] = found[count].tasks;
        if (count == 0 || tasks[count] > tasks[count - 1])
            count++;
        each = each < most && 2 * each > most ? most : 2 * each;
    }
    *chosen = found[model_best(tasks, total_s, count, c->tolerance).efficient];
    return COVEY_OK;
}

/* ---- The choice ------------------------------------------------------------------------------ */

static int next_number(int hosts, int all)
{
    int next = hosts < EACH_UP_TO ? hosts + 1 : hosts + hosts / 16;
    return next > all && hosts < all ? all : next;
}

static void set_slopes(struct covey_choice *choice)
{
    const struct covey_prediction *chosen = &choice->rows[choice->row].predicted;
    for (int i = 0; i < choice->row_count; i++) {
        struct covey_choice_row *row = &choice->rows[i];
        const struct covey_prediction *here = &row->predicted;
        row->slope = i < choice->row
                         ? model_slope(here->hosts, here->total_s, chosen->hosts, chosen->total_s)
                     : i > choice->row
                         ? model_slope(chosen->hosts, chosen->total_s, here->hosts, here->total_s)
                         : 0;
    }
}

static void say_why(const struct choosing *c, int break_even, struct covey_choice *choice)
{
    const struct covey_prediction *chosen = &choice->rows[choice->row].predicted;
    const struct covey_prediction *last = &choice->rows[choice->row_count - 1].predicted;
    const struct covey_prediction *least = &choice->rows[break_even].predicted;
    char *text = choice->why;
    size_t size = sizeof choice->why;
    int used =
        snprintf(text, size, "%d task%s on %d of %d hosts: predicted %.3g s; ", chosen->tasks,
                 chosen->tasks == 1 ? "" : "s", chosen->hosts, c->host_count, chosen->total_s);
    text += used;
    size -= (size_t)used;
    if (c->host_count == 1)
        snprintf(text, size, "there is no other host");
    else if (choice->row == choice->row_count - 1)
        snprintf(text, size, "all of them pay (one host: %.3g s)",
                 choice->rows[0].predicted.total_s);
    else if (choice->row == break_even)
        snprintf(text, size, "more hosts gain no time (all of them: %.3g s)", last->total_s);
    else
        snprintf(text, size, "more hosts save too little (%d hosts: %.3g s; slope below %g)",
                 least->hosts, least->total_s, c->tolerance);
}

static int choose(struct choosing *c, struct covey_choice *choice)
{
    double total_s[COVEY_MODEL_HOSTS_MAX];
    int hosts[COVEY_MODEL_HOSTS_MAX], error = COVEY_OK;
    for (int n = 1; n <= c->host_count; n = next_number(n, c->host_count)) {
        struct covey_prediction *row = &choice->rows[choice->row_count].predicted;
        error = look_at(c, n, row);
        if (error < 0)
            return error;
        hosts[choice->row_count] = n;
        total_s[choice->row_count++] = row->total_s;
    }
    struct model_best best = model_best(hosts, total_s, choice->row_count, c->tolerance);
    choice->row = best.efficient;
    choice->tasks = choice->rows[choice->row].predicted.tasks;
    choice->host_count = hosts[choice->row];
    for (int i = 0; i < choice->host_count; i++)
        choice->hosts[i] = c->hosts[i].at;
    set_slopes(choice);
    say_why(c, best.break_even, choice);
    return COVEY_OK;
}

int covey_predict_choose(const struct covey_calibration *calibration,
                         const struct covey_problem *problem, const char *const *names, int hosts,
                         double tolerance, struct covey_choice **choice)
{
    if (calibration == NULL || problem == NULL || choice == NULL || hosts < 0 ||
        !(tolerance >= 0 && tolerance <= 1))
        return error_set(COVEY_EINVAL, "predict: no calibration, problem or hosts, or a tolerance "
                                       "that is not 0 to 1");
    if (names == NULL)
        hosts = calibration->host_count;
    struct covey_choice *made = calloc(1, sizeof *made);
    struct choosing *c = calloc(1, sizeof *c);
    int error = made != NULL && c != NULL ? COVEY_OK : error_code(COVEY_ENOMEM);
    if (error == COVEY_OK) {
        c->calibration = (const struct calibration *)(const void *)calibration;
        c->problem = problem;
        c->tolerance = tolerance;
        error = take_hosts(c, names, hosts);
    }
    if (error == COVEY_OK) {
        made->left_out = hosts - c->host_count;
        error = choose(c, made);
    }
    if (error == COVEY_OK) {
        *choice = made;
        made = NULL;
    }
    if (c != NULL)
        free(c->rows);
    free(c);
    free(made);
    return error;
}
