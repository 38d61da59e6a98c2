/*
 * model_play.c - the clock stands at the next moment at which an activity ends; between two such
 * moments all go on at rates that do not change.
 *
 * Activities are numbered as they were added, and those that may start do so in this order. What
 * waits for an activity is a list through `waits`. An activity's work is the seconds that it takes
 * alone, and its rate how much of it is done in a second.
 *
 * Messages take different times, as a calibration saw: segments of some are lost and sent again,
 * some come late. So each has a pace, drawn from the spread of what they took, by which it makes
 * use of its even part of a link. Those of one task to another have the same one: the streams that
 * meet on a link differ in what they got of it when they began, and keep that for seconds. What it
 * leaves is others' where a medium is all that limits them, and is lost on a link where there are
 * no others. The logarithm of what messages take is taken to be distributed logistically. The draws
 * are no chance, but the multiples of the golden ratio, which are spread evenly over 0 .. 1.
 */
#include "proto/model/model_play.h"
#include "proto/wire/grow.h"

#include <math.h>
#include <stdlib.h>

#define CAPACITY_MIN 0.1 /* of a processor: messages never stop computations altogether */
#define LINK_LEFT_MIN 0.05
#define GOLDEN 0.61803398874989485
#define LOGISTIC_UNIT 0.55132889542179205 /* sqrt(3) / pi: then its standard deviation is 1 */
#define DRAW_MIN 0.02                     /* and one minus that: what is rarer is left out */

enum state { WAITING, READY, RUNNING, ENDED };

struct activity {
    int task, to; /* to: PLAY_NONE of a computation */
    enum state state;
    bool packs;    /* a computation that is packing */
    int waits_for; /* so many have not ended yet */
    int first;     /* of its list in `waits`, or PLAY_NONE */
    double left_s, rate, start_s, end_s;
    double draw, pace; /* of a message between hosts */
};

struct wait {
    int activity, next;
};

/* All messages of a task to another one. */
struct stream {
    int to, next; /* next: of the same sender, or PLAY_NONE */
    double draw;
};

/* What goes on at a host. */
struct load {
    int computing;
    double out_pace, in_pace; /* of those messages together */
    double drag;              /* processors that messages take */
};

/* What goes on at all. */
struct traffic {
    int messages; /* between hosts */
    int computing_hosts;
    int computing; /* tasks */
    double
        demand; /* of others, of the host with most: where all share a machine, it is that one's */
    double byte_s; /* time of a byte of a message between hosts, as far as all decide it */
    double drag_s;
    double sigma; /* of the logarithm of what a message takes */
    double rates; /* of all messages, as far as links decide it */
};

/* What there is to do, and what waits for what. */
struct play_graph {
    struct activity *activities;
    int count;
    size_t room;
    struct wait *waits;
    int wait_count;
    size_t wait_room;
};

struct play {
    struct model_machine machine;
    const int *host_of;
    int tasks;
    bool failed;
    struct play_graph graph;
    struct stream *streams;
    int stream_count;
    size_t stream_room;
    int *first_stream; /* by task, or PLAY_NONE */
    int *open;         /* activities that are ready or run, by number */
    int open_count;
    size_t open_room;
    int looked_at; /* the activities from here on were not looked at: they may be ready */
    play_ended_fn *ended;
    void *context;
    struct load *loads;                      /* by host */
    bool *computing;                         /* by task */
    double *computation_s, *communication_s; /* by task */
    struct traffic traffic;
    double now_s;
};

/* ---- Making -------------------------------------------------------------------------------- */

struct play *play_create(const struct model_machine *machine, const int *host_of, int tasks)
{
    struct play *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->machine = *machine;
    p->host_of = host_of;
    p->tasks = tasks;
    p->loads = calloc((size_t)machine->host_count, sizeof *p->loads);
    p->computing = calloc((size_t)tasks, sizeof *p->computing);
    p->computation_s = calloc((size_t)tasks, sizeof *p->computation_s);
    p->communication_s = calloc((size_t)tasks, sizeof *p->communication_s);
    p->first_stream = calloc((size_t)tasks, sizeof *p->first_stream);
    p->failed = p->loads == NULL || p->computing == NULL || p->computation_s == NULL ||
                p->communication_s == NULL || p->first_stream == NULL;
    for (int i = 0; i < tasks && !p->failed; i++)
        p->first_stream[i] = PLAY_NONE;
    return p;
}

void play_destroy(struct play *p)
{
    if (p == NULL)
        return;
    free(p->graph.activities);
    free(p->graph.waits);
    free(p->streams);
    free(p->first_stream);
    free(p->open);
    free(p->loads);
    free(p->computing);
    free(p->computation_s);
    free(p->communication_s);
    free(p);
}

/* Whether there is room, which an array that did not grow (false) ends for good. */
static bool play_has_room(struct play *p, bool grown)
{
    p->failed |= !grown;
    return !p->failed;
}

static int activity_add(struct play *p, int task, int to, double left_s)
{
    if (!play_has_room(p,
                       GROW(p->graph.activities, p->graph.room, (size_t)p->graph.count + 1, 256)))
        return PLAY_NONE;
    p->graph.activities[p->graph.count] =
        (struct activity){.task = task, .to = to, .first = PLAY_NONE, .left_s = left_s};
    return p->graph.count++;
}

int play_compute(struct play *p, int task, double seconds)
{
    return activity_add(p, task, PLAY_NONE, seconds);
}

int play_pack(struct play *p, int task, double seconds)
{
    int made = play_compute(p, task, seconds);
    if (made != PLAY_NONE)
        p->graph.activities[made].packs = true;
    return made;
}

static bool is_between(const struct play *p, const struct activity *a)
{
    return a->to != PLAY_NONE && p->host_of[a->task] != p->host_of[a->to];
}

static double draw_of_number(int number)
{
    double even = fmod(GOLDEN * number, 1);
    even = even < DRAW_MIN ? DRAW_MIN : even > 1 - DRAW_MIN ? 1 - DRAW_MIN : even;
    return LOGISTIC_UNIT * log(even / (1 - even));
}

static double draw_of_stream(struct play *p, int from, int to)
{
    int at = p->failed ? PLAY_NONE : p->first_stream[from];
    while (at != PLAY_NONE && p->streams[at].to != to)
        at = p->streams[at].next;
    if (at != PLAY_NONE)
        return p->streams[at].draw;
    if (!play_has_room(p, GROW(p->streams, p->stream_room, (size_t)p->stream_count + 1, 256)))
        return 0;
    at = p->stream_count++;
    p->streams[at] = (struct stream){to, p->first_stream[from], draw_of_number(at + 1)};
    p->first_stream[from] = at;
    return p->streams[at].draw;
}

int play_send(struct play *p, int from, int to, double bytes)
{
    bool inside = p->host_of[from] == p->host_of[to];
    const struct model_line *line = inside ? &p->machine.inside : &p->machine.between;
    double time_s = model_line_time(line, bytes);
    if (!p->failed && (!inside || p->machine.host_count == 1))
        p->communication_s[from] += time_s; /* the sender's, as the paper measures it */
    int sent = activity_add(p, from, to, time_s);
    if (sent != PLAY_NONE && !inside)
        p->graph.activities[sent].draw = draw_of_stream(p, from, to);
    return sent;
}

int play_receive(struct play *p, int sent, enum model_packing_type type, double bytes)
{
    if (sent == PLAY_NONE)
        return PLAY_NONE;
    const struct activity *a = &p->graph.activities[sent];
    int from = p->host_of[a->task], to = a->to;
    double seconds = model_convert_s(&p->machine, from, p->host_of[to], type, bytes);
    if (!(seconds > 0))
        return sent;
    int turned = play_pack(p, to, seconds);
    play_after(p, turned, sent);
    return turned;
}

void play_on_end(struct play *p, play_ended_fn *ended, void *context)
{
    p->ended = ended;
    p->context = context;
}

void play_after(struct play *p, int activity, int before)
{
    if (activity == PLAY_NONE || before == PLAY_NONE || p->graph.activities[before].state == ENDED)
        return;
    if (!play_has_room(
            p, GROW(p->graph.waits, p->graph.wait_room, (size_t)p->graph.wait_count + 1, 256)))
        return;
    p->graph.waits[p->graph.wait_count] =
        (struct wait){activity, p->graph.activities[before].first};
    p->graph.activities[before].first = p->graph.wait_count++;
    p->graph.activities[activity].waits_for++;
}

/* ---- Rates --------------------------------------------------------------------------------- */

/* What was measured of two, and what of `all`, at `n` of them. */
static double between_two_and_all(double two, double all, double n, double all_hosts)
{
    if (n <= 2 || all_hosts <= 2)
        return two;
    return n >= all_hosts ? all : two + (all - two) * (n - 2) / (all_hosts - 2);
}

/* More messages than were measured at once share what those had together. */
static void set_traffic(struct play *p)
{
    const struct model_load *load = &p->machine.load;
    struct traffic *t = &p->traffic;
    double alone_s = p->machine.between.beta_s, n = t->messages;
    double two_s = load->busy_s > alone_s ? load->busy_s : alone_s;
    double all_s = load->all_hosts > 2 && load->all_busy_s > two_s ? load->all_busy_s : two_s;
    t->byte_s = n <= 1 ? alone_s : between_two_and_all(two_s, all_s, n, load->all_hosts);
    if (load->all_hosts > 2 && n > load->all_hosts)
        t->byte_s *= n / load->all_hosts;
    double spread =
        n <= 1 ? 0 : between_two_and_all(load->spread, load->all_spread, n, load->all_hosts);
    t->sigma = sqrt(log(1 + spread * spread));
    t->drag_s =
        between_two_and_all(load->drag_s, load->all_drag_s, t->computing_hosts, load->all_hosts);
}

/* The mean of what messages take is that of an even part. */
static void set_pace(struct play *p, struct activity *a)
{
    double sigma = p->traffic.sigma;
    if (!is_between(p, a))
        return;
    a->pace = exp(sigma * a->draw + sigma * sigma / 2);
    p->loads[p->host_of[a->task]].out_pace += a->pace;
    p->loads[p->host_of[a->to]].in_pace += a->pace;
}

/* What others leave of a link. */
static double link_left(double used)
{
    return fmin(1, fmax(LINK_LEFT_MIN, 1 - used));
}

/* What is left of a link by one that is slow, or whose other end is busier, stays unused. */
static void set_link_rate(struct play *p, struct activity *a)
{
    const struct load *from = &p->loads[p->host_of[a->task]], *to = &p->loads[p->host_of[a->to]];
    a->rate = 1;
    if (!is_between(p, a))
        return;
    double out = link_left(p->machine.hosts[p->host_of[a->task]].link_out);
    double in = link_left(p->machine.hosts[p->host_of[a->to]].link_in);
    a->rate = a->pace / fmax(1, fmax(from->out_pace / out, to->in_pace / in));
    p->traffic.rates += a->rate;
}

/* All together get no more than the network has. */
static void set_message_rate(struct play *p, struct activity *a)
{
    const struct traffic *t = &p->traffic;
    double all = t->byte_s > 0 ? t->messages * p->machine.between.beta_s / t->byte_s : INFINITY;
    if (is_between(p, a) && t->rates > all)
        a->rate *= all / t->rates;
    /* Processors that a message takes at either end. */
    bool between = is_between(p, a);
    double byte_s = between ? p->machine.between.beta_s : p->machine.inside.beta_s;
    double drag_s = between ? p->traffic.drag_s : p->machine.inside_drag_s;
    double drag = byte_s > 0 ? a->rate * drag_s / byte_s : 0;
    p->loads[p->host_of[a->task]].drag += drag;
    p->loads[p->host_of[a->to]].drag += drag;
}

/* A task's computation goes on at full speed where each has a processor, others' tasks as well, in
 * units of what one task alone gets. */
static void set_computation_rate(struct play *p, struct activity *a)
{
    int at = p->host_of[a->task];
    const struct model_host *host = &p->machine.hosts[at];
    const struct load *load = &p->loads[at];
    double share = host->share > 0 ? host->share : 1;
    double capacity = host->processors - load->drag / share;
    capacity = capacity < CAPACITY_MIN ? CAPACITY_MIN : capacity;
    double competing = load->computing + host->demand;
    a->rate = capacity < competing ? capacity / competing : 1;
    double all = p->machine.together / (p->traffic.computing + p->traffic.demand);
    if (p->machine.together > 0 && all < a->rate)
        a->rate = all;
}

/* What the host's processors leave of messages that want more of them than there are. */
static double part_of_drag(const struct play *p, int at)
{
    const struct model_host *host = &p->machine.hosts[at];
    double left = fmax(host->processors - host->demand, host->processors / (1 + host->demand));
    double there = left * (host->share > 0 ? host->share : 1);
    double drag = p->loads[at].drag;
    return drag > there ? there / drag : 1;
}

static void limit_message_rate(struct play *p, struct activity *a)
{
    double from = part_of_drag(p, p->host_of[a->task]), to = part_of_drag(p, p->host_of[a->to]);
    a->rate *= from < to ? from : to;
}

static void set_rates_by(struct play *p, bool messages,
                         void (*set)(struct play *, struct activity *))
{
    for (int i = 0; i < p->open_count; i++) {
        struct activity *a = &p->graph.activities[p->open[i]];
        if (a->state == RUNNING && (a->to != PLAY_NONE) == messages)
            set(p, a);
    }
}

static void set_rates(struct play *p)
{
    p->traffic = (struct traffic){0};
    for (int i = 0; i < p->machine.host_count; i++) {
        p->loads[i] = (struct load){0};
        p->traffic.demand = fmax(p->traffic.demand, p->machine.hosts[i].demand);
    }
    for (int i = 0; i < p->open_count; i++) {
        if (p->graph.activities[p->open[i]].state == RUNNING) {
            const struct activity *a = &p->graph.activities[p->open[i]];
            struct load *from = &p->loads[p->host_of[a->task]];
            if (a->to == PLAY_NONE) {
                p->traffic.computing_hosts += from->computing++ == 0;
                p->traffic.computing++;
            } else if (is_between(p, a)) {
                p->traffic.messages++;
            }
        }
    }
    set_traffic(p);
    set_rates_by(p, true, set_pace);
    set_rates_by(p, true, set_link_rate);
    set_rates_by(p, true, set_message_rate);
    set_rates_by(p, true, limit_message_rate);
    set_rates_by(p, false, set_computation_rate);
}

/* ---- The clock ----------------------------------------------------------------------------- */

static double next_end(const struct play *p)
{
    double next = INFINITY;
    for (int i = 0; i < p->open_count; i++) {
        const struct activity *a = &p->graph.activities[p->open[i]];
        if (a->state == RUNNING && a->left_s / a->rate < next)
            next = a->left_s / a->rate;
    }
    return next;
}

static void open_activity(struct play *p, int number)
{
    if (!play_has_room(p, GROW(p->open, p->open_room, (size_t)p->open_count + 1, 256)))
        return;
    p->graph.activities[number].state = READY;
    p->open[p->open_count++] = number;
}

static void open_new(struct play *p)
{
    for (; p->looked_at < p->graph.count; p->looked_at++) {
        if (p->graph.activities[p->looked_at].waits_for == 0)
            open_activity(p, p->looked_at);
    }
}

static void end_activity(struct play *p, struct activity *a)
{
    a->state = ENDED;
    a->end_s = p->now_s;
    if (a->to == PLAY_NONE) {
        p->computing[a->task] = false;
        double *part_s = a->packs ? p->communication_s : p->computation_s;
        part_s[a->task] += a->end_s - a->start_s;
    }
    for (int w = a->first; w != PLAY_NONE; w = p->graph.waits[w].next) {
        int later = p->graph.waits[w].activity;
        if (--p->graph.activities[later].waits_for == 0 && later < p->looked_at)
            open_activity(p, later);
    }
}

static void play_advance(struct play *p, double step_s)
{
    int before = p->open_count;
    p->now_s += step_s;
    for (int i = 0; i < before; i++) {
        struct activity *a = &p->graph.activities[p->open[i]];
        if (a->state != RUNNING)
            continue;
        a->left_s -= step_s * a->rate;
        if (a->left_s <= 1e-12 + 1e-9 * step_s)
            end_activity(p, a);
    }
    /* Takes what has ended out of the open ones and tells of it. */
    int kept = 0, all = p->open_count;
    for (int i = 0; i < before && p->ended != NULL; i++) {
        if (p->graph.activities[p->open[i]].state == ENDED)
            p->ended(p->context, p->open[i]);
    }
    for (int i = 0; i < all; i++) {
        if (p->graph.activities[p->open[i]].state != ENDED)
            p->open[kept++] = p->open[i];
    }
    p->open_count = kept;
    open_new(p);
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
    open_new(p);
    while (p->open_count > 0 && !p->failed) {
        /* What takes no time goes first: a task hands on what it has before it computes again. */
        for (int later = 0; later < 2; later++) {
            for (int i = 0; i < p->open_count; i++) {
                struct activity *a = &p->graph.activities[p->open[i]];
                bool computes = a->to == PLAY_NONE;
                if (a->state != READY || (a->left_s > 0) != later ||
                    (computes && p->computing[a->task]))
                    continue;
                a->state = RUNNING;
                a->start_s = p->now_s;
                p->computing[a->task] |= computes;
            }
        }
        set_rates(p);
        double next = next_end(p);
        if (isinf(next))
            return -1;
        play_advance(p, next);
    }
    for (int i = 0; i < p->graph.count; i++) {
        if (p->graph.activities[i].state != ENDED)
            return -1;
    }
    sum_up(p, time);
    return p->failed ? -1 : 0;
}

double play_end(const struct play *p, int activity)
{
    return p->graph.activities[activity].end_s;
}
