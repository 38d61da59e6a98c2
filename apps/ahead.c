/*
 * ahead.c - a task of a bag that never waits for the network if it can help it: a few items are
 * taken at once and stand in a ring of slots, so that what the next one needs comes while the task
 * works on this one, and results leave behind its back.
 */
#include "apps/ahead.h"

struct slot {
    struct covey_bag_item item;
    covey_req_t *sending;
};

struct ahead {
    const struct ahead_program *program;
    struct worker *worker;
    void *state;
    struct slot slots[AHEAD_ITEMS_MAX]; /* a ring: sent ones first, then those that were taken */
    int first, sent, taken;
};

static int place_of(const struct ahead *a, int position)
{
    return (a->first + position) % AHEAD_ITEMS_MAX;
}

/* The next items, for which it waits only when there is nothing else to do. */
static int ahead_take(struct ahead *a)
{
    int error = 0;
    while (error >= 0 && a->taken < AHEAD_TAKEN_MAX) {
        bool idle = a->taken + a->sent == 0;
        int place = place_of(a, a->sent + a->taken);
        struct covey_bag_item *item = &a->slots[place].item;
        a->worker->doing = "taking items out of the bag";
        int got = covey_bag_take(a->worker->bag, idle ? COVEY_FOREVER : COVEY_POLL, item, 1);
        if (got == 0 || got == COVEY_ETIMEOUT)
            return 0;
        error = got < 0 ? got : a->program->begin(a->state, place, item);
        a->taken += error >= 0;
    }
    return error;
}

static int ahead_work(struct ahead *a)
{
    int place = place_of(a, a->sent);
    int error = a->program->work(a->state, place, &a->slots[place].sending);
    a->taken--;
    a->sent++;
    return error;
}

/* The first that was sent is taken over: it is done. Returns 1, 0: not yet, or an error. */
static int finish_one(struct ahead *a, int64_t timeout_us)
{
    covey_msg_t *msg = NULL;
    int error =
        covey_recv(a->worker->vm, a->worker->parent, a->program->taken_over, timeout_us, &msg);
    covey_msg_free(msg);
    if (error < 0)
        return error == COVEY_ETIMEOUT ? 0 : error;
    struct slot *slot = &a->slots[a->first];
    covey_req_free(&slot->sending);
    a->first = place_of(a, 1);
    a->sent--;
    error = covey_bag_done(a->worker->bag, &slot->item, NULL, 0);
    return error < 0 ? error : 1;
}

/* Waits for one at most: after that another item may be there. */
static int ahead_settle(struct ahead *a)
{
    bool wait = a->taken == 0 || a->sent == a->program->sent_max;
    int got = 1;
    for (; a->sent > 0 && got > 0; wait = false) {
        a->worker->doing = a->program->waiting;
        got = finish_one(a, wait ? COVEY_FOREVER : COVEY_POLL);
    }
    return got < 0 ? got : 0;
}

int ahead_run(const struct ahead_program *program, struct worker *worker, void *state)
{
    struct ahead a = {.program = program, .worker = worker, .state = state};
    int error = 0;
    while (error >= 0) {
        error = ahead_take(&a);
        if (error >= 0 && a.taken + a.sent == 0)
            break; /* nothing is left */
        if (error >= 0 && a.taken > 0)
            error = ahead_work(&a);
        if (error >= 0)
            error = ahead_settle(&a);
    }
    for (int i = 0; i < AHEAD_ITEMS_MAX; i++) /* what is still under way is for nobody */
        covey_req_free(&a.slots[i].sending);
    covey_bag_free(&worker->bag);
    return error;
}
