/*
 * model_play.c - the clock stands at the next moment at which an activity ends; between two such
 * moments all go on at rates that do not change.
 *
 * Activities are numbered as they were added, and those that may start do so in this order. What
 * waits for an activity is a list through `waits`. An activity's work is the seconds that it takes
 * alone, and its rate how much of it is done in a second.
 */
#include "proto/model_play.h"

#include <math.h>
#include <stdlib.h>

#define CAPACITY_MIN 0.1 /* of a processor: messages never stop computations altogether */

enum state { WAITING, READY, RUNNING, ENDED };

struct activity {
    int task, to; /* to: PLAY_NONE of a computation */
    enum state state;
    int waits_for; /* so many have not ended yet */
    int first;     /* of its list in `waits`, or PLAY_NONE */
    double left_s, rate, start_s, end_s;
};

struct wait {
    int activity, next;
};

/* What goes on at a host. */
struct load {
    int out, in, computing;
    double drag; /* processors that messages take */
};

struct play {
    struct model_machine machine;
    const int *host_of;
    int tasks;
    bool failed;
    struct activity *activities;
    int count, room;
    struct wait *waits;
    int wait_count, wait_room;
    int *open; /* activities that are ready or run, by number */
    int open_count;
    struct load *loads;                      /* by host */
    bool *computing;                         /* by task */
    double *computation_s, *communication_s; /* by task */
    int all_computing;
    double now_s;
};

/* ---- Making -------------------------------------------------------------------------------- */

struct play *play_create(const struct model_machine *machine, const int *host_of, int tasks)
{
    struct play *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->machine = *machine;
    p->host_of = host_of;
    p->tasks = tasks;
    p->loads = calloc((size_t)machine->host_count, sizeof *p->loads);
    p->computing = calloc((size_t)tasks, sizeof *p->computing);
    p->computation_s = calloc((size_t)tasks, sizeof *p->computation_s);
    p->communication_s = calloc((size_t)tasks, sizeof *p->communication_s);
    p->failed = !p->loads || !p->computing || !p->computation_s || !p->communication_s;
    return p;
}

void play_destroy(struct play *p)
{
    if (!p)
        return;
    free(p->activities);
    free(p->waits);
    free(p->open);
    free(p->loads);
    free(p->computing);
    free(p->computation_s);
    free(p->communication_s);
    free(p);
}

/* Room for one more in an array; false: there is none, and the play has failed. */
static bool make_room(struct play *p, void **array, int count, int *room, size_t size)
{
    if (p->failed || count < *room)
        return !p->failed;
    int wanted = *room > 0 ? 2 * *room : 256;
    void *larger = realloc(*array, (size_t)wanted * size);
    p->failed = !larger;
    if (p->failed)
        return false;
    *array = larger;
    *room = wanted;
    return true;
}

static int add(struct play *p, int task, int to, double left_s)
{
    void *array = p->activities;
    bool good = make_room(p, &array, p->count, &p->room, sizeof *p->activities);
    p->activities = array;
    if (!good)
        return PLAY_NONE;
    p->activities[p->count] =
        (struct activity){.task = task, .to = to, .first = PLAY_NONE, .left_s = left_s};
    return p->count++;
}

int play_compute(struct play *p, int task, double seconds)
{
    return add(p, task, PLAY_NONE, seconds);
}

static bool is_between(const struct play *p, const struct activity *a)
{
    return a->to != PLAY_NONE && p->host_of[a->task] != p->host_of[a->to];
}

int play_send(struct play *p, int from, int to, double bytes)
{
    bool inside = p->host_of[from] == p->host_of[to];
    const struct model_line *line = inside ? &p->machine.inside : &p->machine.between;
    double time_s = model_line_time(line, bytes);
    if (!p->failed && (!inside || p->machine.host_count == 1))
        p->communication_s[from] += time_s; /* the sender's, as the paper measures it */
    return add(p, from, to, time_s);
}

void play_after(struct play *p, int activity, int before)
{
    if (activity == PLAY_NONE || before == PLAY_NONE)
        return;
    void *array = p->waits;
    bool good = make_room(p, &array, p->wait_count, &p->wait_room, sizeof *p->waits);
    p->waits = array;
    if (!good)
        return;
    p->waits[p->wait_count] = (struct wait){activity, p->activities[before].first};
    p->activities[before].first = p->wait_count++;
    p->activities[activity].waits_for++;
}

/* ---- Rates --------------------------------------------------------------------------------- */

/* Counts what runs; the drag of a message is what it would be at full rate. */
static void count_loads(struct play *p)
{
    for (int i = 0; i < p->machine.host_count; i++)
        p->loads[i] = (struct load){0};
    p->all_computing = 0;
    for (int i = 0; i < p->open_count; i++) {
        const struct activity *a = &p->activities[p->open[i]];
        struct load *from = &p->loads[p->host_of[a->task]];
        if (a->state != RUNNING)
            continue;
        from->computing += a->to == PLAY_NONE;
        p->all_computing += a->to == PLAY_NONE;
        if (is_between(p, a)) {
            from->out++;
            p->loads[p->host_of[a->to]].in++;
        }
    }
}

/* Links are shared evenly; what is left of a shared link by one whose other end is busier stays
 * unused. */
static void set_message_rate(struct play *p, struct activity *a)
{
    struct load *from = &p->loads[p->host_of[a->task]];
    a->rate = 1;
    if (!is_between(p, a))
        return;
    struct load *to = &p->loads[p->host_of[a->to]];
    a->rate = 1.0 / (from->out > to->in ? from->out : to->in);
    double byte_s = p->machine.between.beta_s;
    if ((from->computing > 0 || to->computing > 0) && p->machine.busy_s > byte_s)
        a->rate *= byte_s / p->machine.busy_s;
    double drag = byte_s > 0 ? a->rate * p->machine.drag_s / byte_s : 0;
    from->drag += drag;
    to->drag += drag;
}

/* A task's computation goes on at full speed where each has a processor, in units of what one task
 * alone gets. */
static void set_computation_rate(struct play *p, struct activity *a)
{
    int at = p->host_of[a->task];
    const struct model_host *host = &p->machine.hosts[at];
    const struct load *load = &p->loads[at];
    double share = host->share > 0 ? host->share : 1;
    double capacity = host->processors - load->drag / share;
    capacity = capacity < CAPACITY_MIN ? CAPACITY_MIN : capacity;
    a->rate = capacity < load->computing ? capacity / load->computing : 1;
    double all = p->machine.together / p->all_computing;
    if (p->machine.together > 0 && all < a->rate)
        a->rate = all;
}

static void set_rates(struct play *p)
{
    count_loads(p);
    for (int computations = 0; computations < 2; computations++) {
        for (int i = 0; i < p->open_count; i++) {
            struct activity *a = &p->activities[p->open[i]];
            if (a->state != RUNNING || (a->to == PLAY_NONE) != computations)
                continue;
            (computations ? set_computation_rate : set_message_rate)(p, a);
        }
    }
}

/* ---- The clock ----------------------------------------------------------------------------- */

/* What takes no time goes first: a task hands on what it has before it computes again. */
static void start_all(struct play *p)
{
    for (int later = 0; later < 2; later++) {
        for (int i = 0; i < p->open_count; i++) {
            struct activity *a = &p->activities[p->open[i]];
            bool computes = a->to == PLAY_NONE;
            if (a->state != READY || (a->left_s > 0) != later ||
                (computes && p->computing[a->task]))
                continue;
            a->state = RUNNING;
            a->start_s = p->now_s;
            p->computing[a->task] |= computes;
        }
    }
}

static double next_end(const struct play *p)
{
    double next = INFINITY;
    for (int i = 0; i < p->open_count; i++) {
        const struct activity *a = &p->activities[p->open[i]];
        if (a->state == RUNNING && a->left_s / a->rate < next)
            next = a->left_s / a->rate;
    }
    return next;
}

static void end_activity(struct play *p, struct activity *a)
{
    a->state = ENDED;
    a->end_s = p->now_s;
    if (a->to == PLAY_NONE) {
        p->computing[a->task] = false;
        p->computation_s[a->task] += a->end_s - a->start_s;
    }
    for (int w = a->first; w != PLAY_NONE; w = p->waits[w].next) {
        struct activity *later = &p->activities[p->waits[w].activity];
        if (--later->waits_for == 0) {
            later->state = READY;
            p->open[p->open_count++] = p->waits[w].activity;
        }
    }
}

static void advance(struct play *p, double step_s)
{
    int before = p->open_count, kept = 0;
    p->now_s += step_s;
    for (int i = 0; i < before; i++) {
        struct activity *a = &p->activities[p->open[i]];
        if (a->state != RUNNING)
            continue;
        a->left_s -= step_s * a->rate;
        if (a->left_s <= 1e-12 + 1e-9 * step_s)
            end_activity(p, a);
    }
    for (int i = 0; i < p->open_count; i++) {
        if (p->activities[p->open[i]].state != ENDED)
            p->open[kept++] = p->open[i];
    }
    p->open_count = kept;
}

static void sum_up(const struct play *p, struct model_time *time)
{
    double communication_s = 0;
    *time = (struct model_time){.tasks = p->tasks, .total_s = p->now_s};
    for (int i = 0; i < p->tasks; i++) {
        time->computation_s += p->computation_s[i] / p->tasks;
        communication_s += p->communication_s[i] / p->tasks;
    }
    double rest_s = time->total_s - time->computation_s;
    time->communication_s = communication_s < rest_s ? communication_s : rest_s;
    time->idle_s = rest_s - time->communication_s;
}

int play_run(struct play *p, struct model_time *time)
{
    if (!p->failed)
        p->open = calloc((size_t)p->count + 1, sizeof *p->open);
    if (p->failed || !p->open)
        return -1;
    for (int i = 0; i < p->count; i++) {
        if (p->activities[i].waits_for > 0)
            continue;
        p->activities[i].state = READY;
        p->open[p->open_count++] = i;
    }
    while (p->open_count > 0) {
        start_all(p);
        set_rates(p);
        double next = next_end(p);
        if (isinf(next))
            return -1;
        advance(p, next);
    }
    for (int i = 0; i < p->count; i++) {
        if (p->activities[i].state != ENDED)
            return -1;
    }
    sum_up(p, time);
    return 0;
}

double play_end(const struct play *p, int activity)
{
    return p->activities[activity].end_s;
}
