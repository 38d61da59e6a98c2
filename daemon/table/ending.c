/*
 * The end of the daemon, in this order: no new tasks; SIGTERM to every task, after TERM_US SIGKILL;
 * what they had cast to where it goes, at most CASTS_US; goodbye to the other hosts, and what they
 * have not acknowledged sent until they have, at most GOODBYE_US with the former; then the loop
 * stops, and daemon_destroy() removes socket and files. Who leaves a VM that goes on waits until it
 * can: node_leave() says how long that takes.
 *
 *   NONE -begin-> TERM -(2 s)-> KILL -(2 s)-> GOODBYE -(acknowledged, or 2 s)-> DONE
 *                   \____________\__ no task left __/
 */
#include "daemon/table/ending.h"

#include <assert.h>
#include <stdlib.h>

#include "daemon/table/task.h"

#define TERM_US 2000000u
#define KILL_US 2000000u
#define GOODBYE_US 2000000u
#define CASTS_US 1000000u

enum phase { PHASE_NONE, PHASE_TERM, PHASE_KILL, PHASE_GOODBYE, PHASE_DONE };

struct ending {
    enum phase phase;
    enum ending_way way;
    bool said; /* goodbye */
    uint64_t casts_by_us;
    struct loop_timer *timer;
};

static const char *const phase_names[] = {"running", "term", "kill", "goodbye", "done"};

static void ending_to(struct daemon *d, enum phase phase, const char *event)
{
    assert(phase > d->own.ending->phase);
    log_line(&d->log, LOG_DEBUG, "%s: %s -> %s", event, phase_names[d->own.ending->phase],
             phase_names[phase]);
    d->own.ending->phase = phase;
}

static bool any_child(const struct daemon *d)
{
    for (const struct task *task = d->tasks->first; task != NULL; task = task->next)
        if (task->cookie != 0)
            return true;
    return false;
}

static void ending_goodbye(struct daemon *d, const char *event)
{
    ending_to(d, PHASE_GOODBYE, event);
    d->own.ending->casts_by_us = loop_now_us() + CASTS_US;
    loop_timer_start(d->own.ending->timer, GOODBYE_US);
    part_want(d, PART_ending);
    loop_wake(d->loop);
}

static void on_ending_timer(void *context)
{
    struct daemon *d = context;
    struct ending *ending = d->own.ending;
    if (ending->phase == PHASE_TERM) {
        ending_to(d, PHASE_KILL, "timer");
        parts_ending(d, PART_ENDING_KILLS, "");
        loop_timer_start(ending->timer, KILL_US);
    } else if (ending->phase == PHASE_KILL) {
        ending_goodbye(d, "timer");
    } else if (ending->phase == PHASE_GOODBYE && ending->way == ENDING_LEAVE && ending->said &&
               d->joined && !node_has_left(d->node)) {
        loop_timer_start(ending->timer, GOODBYE_US);
    } else if (ending->phase == PHASE_GOODBYE) {
        ending_to(d, PHASE_DONE, "timer");
        loop_stop(d->loop);
    }
}

static int ending_create(struct daemon *d, struct failure *why)
{
    d->own.ending->timer = loop_timer_add(d->loop, on_ending_timer, d);
    return d->own.ending->timer == NULL ? failure_memory(why) : 0;
}

static void ending_destroy(struct daemon *d)
{
    loop_timer_remove(&d->own.ending->timer);
}

void ending_begin(struct daemon *d, enum ending_way way, const char *text)
{
    if (ending_under_way(d))
        return;
    bool in_order = way == ENDING_TOLD || way == ENDING_HALTED;
    log_line(&d->log, in_order ? LOG_INFO : LOG_ERROR, "ending: %s", text);
    if (way == ENDING_FAILED)
        d->exit_status = 1;
    d->own.ending->way = way;
    ending_to(d, PHASE_TERM, "begin");
    parts_ending(d, PART_ENDING_BEGINS, text);
    loop_timer_start(d->own.ending->timer, TERM_US);
    ending_task_gone(d);
}

enum runtime_logs ending_logs(const struct daemon *d)
{
    if (!d->joined)
        return RUNTIME_LOGS_LESS_OWN; /* who started it was told */
    switch (d->own.ending->way) {
    case ENDING_HALTED:
        return RUNTIME_LOGS_NONE;
    case ENDING_TOLD:
        return RUNTIME_LOGS_LESS_OWN;
    default:
        return RUNTIME_LOGS_ALL;
    }
}

bool ending_under_way(const struct daemon *d)
{
    return d->own.ending->phase != PHASE_NONE;
}

void ending_task_gone(struct daemon *d)
{
    bool waiting = d->own.ending->phase == PHASE_TERM || d->own.ending->phase == PHASE_KILL;
    if (waiting && !any_child(d))
        ending_goodbye(d, "no task left");
}

/* Before the node's step: says goodbye. What is still to be passed on tells nobody that it is: each
 * round looks. */
static uint64_t ending_settle(struct daemon *d, uint64_t now_us)
{
    struct ending *ending = d->own.ending;
    if (ending->phase != PHASE_GOODBYE || ending->said)
        return UINT64_MAX;
    if (ending->way == ENDING_LEAVE && !parts_passed(d) && now_us < ending->casts_by_us) {
        part_want(d, PART_ending);
        return UINT64_MAX;
    }
    ending->said = true;
    if (ending->way == ENDING_LEAVE && d->joined)
        node_leave(d->node, now_us);
    return UINT64_MAX;
}

/* Behind it: sees whether the goodbye was heard. */
static void ending_round_end(struct daemon *d)
{
    const struct ending *ending = d->own.ending;
    if (ending->phase != PHASE_GOODBYE || !ending->said)
        return;
    if (node_unsent(d->node) == 0 || ending->way == ENDING_FAILED ||
        (ending->way == ENDING_HALTED && node_is_alone(d->node)) ||
        (ending->way == ENDING_LEAVE && node_has_left(d->node))) {
        ending_to(d, PHASE_DONE, "acknowledged");
        loop_stop(d->loop);
    }
}

const struct part ending_part = {.name = "ending",
                                 .state_bytes = sizeof(struct ending),
                                 .create = ending_create,
                                 .destroy = ending_destroy,
                                 .settle = ending_settle,
                                 .round_end = ending_round_end};
