/*
 * model_agenda.c - plays a bag of items as activities of model_play.h: an item is its way to the
 * worker, the work, and the way back, each beginning when the one before has ended. Data is packed
 * before its way and unpacked just before the work, a result right after the work and after its
 * way.
 */
#include "proto/model/model_agenda.h"
#include "proto/wire/grow.h"

#include <stdlib.h>

enum kind { PASSING, FETCH, WORK, RESULT }; /* PASSING: nothing follows that was not told */

/* What an activity of the play is of. */
struct step {
    enum kind kind;
    int item, worker;
};

struct worker {
    int taken;             /* items, those on their way included */
    int sent;              /* results on their way */
    int last_in, last_out; /* messages: one goes after the other */
    int ready[2];          /* items that are here, in order */
    int ready_count;
    bool works;
};

struct queue {
    int *items;
    int count, first;
    size_t room;
};

struct agenda {
    const struct model_machine *machine;
    struct agenda_program program;
    struct play *play;
    int *host_of; /* of the workers, and last of the coordinator */
    struct worker *workers;
    int worker_count;
    struct queue urgent, usual;
    struct step *steps; /* by activity */
    size_t step_room;
    bool failed;
};

enum { TAKEN_MAX = 2 };

static void on_end(void *context, int activity);

/* ---- Making -------------------------------------------------------------------------------- */

struct agenda *agenda_create(const struct model_machine *machine, int workers,
                             const struct agenda_program *program)
{
    struct agenda *a = calloc(1, sizeof *a);
    if (a == NULL)
        return NULL;
    a->machine = machine;
    a->program = *program;
    a->worker_count = workers;
    a->host_of = calloc((size_t)workers + 1, sizeof *a->host_of);
    a->workers = calloc((size_t)workers, sizeof *a->workers);
    for (int i = 0; a->host_of != NULL && i < workers; i++)
        a->host_of[i] = i % machine->host_count;
    for (int i = 0; a->workers != NULL && i < workers; i++)
        a->workers[i].last_in = a->workers[i].last_out = PLAY_NONE;
    if (a->host_of != NULL && a->workers != NULL)
        a->play = play_create(machine, a->host_of, workers + 1);
    if (a->play == NULL) {
        agenda_destroy(a);
        return NULL;
    }
    play_on_end(a->play, on_end, a);
    return a;
}

void agenda_destroy(struct agenda *a)
{
    if (a == NULL)
        return;
    play_destroy(a->play);
    free(a->host_of);
    free(a->workers);
    free(a->urgent.items);
    free(a->usual.items);
    free(a->steps);
    free(a);
}

/* ---- Items ----------------------------------------------------------------------------------- */

void agenda_put(struct agenda *a, int item, bool urgent)
{
    struct queue *q = urgent ? &a->urgent : &a->usual;
    a->failed |= !GROW(q->items, q->room, (size_t)q->count + 1, 256);
    if (!a->failed)
        q->items[q->count++] = item;
}

/* -1: there is none. */
static int next_item(struct agenda *a)
{
    struct queue *q = a->urgent.first < a->urgent.count ? &a->urgent : &a->usual;
    return q->first < q->count ? q->items[q->first++] : -1;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void agenda_note(struct agenda *a, int activity, const struct step *step)
{
    if (activity == PLAY_NONE)
        return;
    a->failed |= !GROW(a->steps, a->step_room, (size_t)activity + 1, 256);
    if (!a->failed)
        a->steps[activity] = *step;
}

/* Packing of an item by a task, after `before`; `before` itself where that takes no time. */
static int agenda_pack(struct agenda *a, int item, enum agenda_packing where, int task, int before)
{
    static const enum model_packing_way ways[AGENDA_PACKINGS] = {
        MODEL_PACKING_PACK, MODEL_PACKING_UNPACK, MODEL_PACKING_PACK, MODEL_PACKING_UNPACK};
    const struct agenda_program *program = &a->program;
    double bytes = program->packed == NULL ? 0 : program->packed(program->context, item, where);
    double touched = program->touched == NULL ? 0 : program->touched(program->context, item, where);
    int host = a->host_of[task];
    double seconds = touched * a->machine->hosts[host].touch_s;
    if (bytes > 0)
        seconds += model_packing_s(a->machine, host, program->packed_type, ways[where], bytes);
    if (!(seconds > 0))
        return before;
    int packed = play_pack(a->play, task, seconds);
    play_after(a->play, packed, before);
    agenda_note(a, packed, &(struct step){PASSING, item, task});
    return packed;
}

/* The system's copy of what a task sends, which the sender writes, after `before`. */
static int agenda_touch_stream(struct agenda *a, const struct step *step, double bytes, int before)
{
    int worker = a->host_of[step->worker], coordinator = a->host_of[a->worker_count];
    bool in = step->kind == FETCH, streams = worker != coordinator || a->machine->inside_streams;
    double touch_s = a->machine->hosts[in ? coordinator : worker].touch_s;
    if (!a->program.touches_streams || !streams || !(touch_s > 0))
        return before;
    int written = play_pack(a->play, in ? a->worker_count : step->worker, bytes * touch_s);
    play_after(a->play, written, before);
    agenda_note(a, written, &(struct step){PASSING, step->item, step->worker});
    return written;
}

/* To or from the worker; messages of one task to another go in order. What arrives at the
 * coordinator is there once it is unpacked. */
static void agenda_send(struct agenda *a, const struct step *step, double bytes)
{
    struct worker *w = &a->workers[step->worker];
    bool in = step->kind == FETCH;
    int *last = in ? &w->last_in : &w->last_out;
    int packed = in ? agenda_pack(a, step->item, AGENDA_PACK_DATA, a->worker_count, PLAY_NONE)
                    : agenda_pack(a, step->item, AGENDA_PACK_RESULT, step->worker, PLAY_NONE);
    packed = agenda_touch_stream(a, step, bytes, packed);
    int sent = play_send(a->play, in ? a->worker_count : step->worker,
                         in ? step->worker : a->worker_count, bytes);
    play_after(a->play, sent, packed);
    play_after(a->play, sent, *last);
    *last = sent;
    agenda_note(a, sent, &(struct step){PASSING, step->item, step->worker});
    int there = play_receive(a->play, sent, a->program.packed_type, bytes);
    agenda_note(a, there, &(struct step){PASSING, step->item, step->worker});
    if (!in)
        there = agenda_pack(a, step->item, AGENDA_UNPACK_RESULT, a->worker_count, there);
    agenda_note(a, there, step);
}

/* An item whose data is here already needs no message. */
static void agenda_take(struct agenda *a, int worker, int item)
{
    struct worker *w = &a->workers[worker];
    double bytes = a->program.fetched(a->program.context, item, worker);
    w->taken++;
    if (bytes > 0)
        agenda_send(a, &(struct step){FETCH, item, worker}, bytes);
    else
        w->ready[w->ready_count++] = item;
}

static void agenda_work_next(struct agenda *a, int worker)
{
    struct worker *w = &a->workers[worker];
    bool waits = a->program.sent_max > 0 && w->sent >= a->program.sent_max;
    if (w->works || waits || w->ready_count == 0)
        return;
    const struct model_host *host = &a->machine->hosts[a->host_of[worker]];
    int item = w->ready[0];
    w->ready[0] = w->ready[1];
    w->ready_count--;
    w->works = true;
    int unpacked = agenda_pack(a, item, AGENDA_UNPACK_DATA, worker, PLAY_NONE);
    int work = play_compute(a->play, worker, a->program.work_s(a->program.context, item, host));
    play_after(a->play, work, unpacked);
    agenda_note(a, work, &(struct step){WORK, item, worker});
}

/* Whoever has least takes the next one. */
static void hand_out(struct agenda *a)
{
    for (int most = 0; most < a->program.taken_max && most < TAKEN_MAX; most++) {
        for (int i = 0; i < a->worker_count; i++) {
            int item = a->workers[i].taken > most ? -1 : next_item(a);
            if (item >= 0)
                agenda_take(a, i, item);
        }
    }
    for (int i = 0; i < a->worker_count; i++)
        agenda_work_next(a, i);
}

static void on_worked(struct agenda *a, const struct step *step)
{
    struct worker *w = &a->workers[step->worker];
    double bytes = a->program.result(a->program.context, step->item);
    w->works = false;
    w->taken--;
    w->sent++;
    agenda_send(a, &(struct step){RESULT, step->item, step->worker}, bytes);
}

static void on_end(void *context, int activity)
{
    struct agenda *a = context;
    if (a->failed)
        return;
    const struct step step = a->steps[activity];
    if (step.kind == PASSING)
        return;
    struct worker *w = &a->workers[step.worker];
    if (step.kind == FETCH)
        w->ready[w->ready_count++] = step.item;
    else if (step.kind == WORK)
        on_worked(a, &step);
    else
        w->sent--;
    if (step.kind == RESULT && a->program.done)
        a->program.done(a->program.context, a, step.item);
    hand_out(a);
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* The coordinator is no task of the program: what it sent counts for those who waited for it. */
int agenda_play(struct agenda *a, struct model_time *time)
{
    hand_out(a);
    int failed = play_run(a->play, time);
    if (failed || a->failed)
        return -1;
    double more = (a->worker_count + 1.0) / a->worker_count;
    time->tasks = a->worker_count;
    time->computation_s *= more;
    double rest_s = time->total_s - time->computation_s;
    time->communication_s *= more;
    if (time->communication_s > rest_s)
        time->communication_s = rest_s;
    time->idle_s = rest_s - time->communication_s;
    return 0;
}
