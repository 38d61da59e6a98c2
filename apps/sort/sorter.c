/*
 * sorter.c - a task of sort that takes runs out of a bag; see runs.h. While it sorts or merges, the
 * keys of the next item come, and those of the item before leave.
 *
 *   items:  taken, keys asked for -> sorted or merged, sent -> taken over: done
 */
#include "apps/sort/keys.h"
#include "apps/sort/runs.h"

#include <stdlib.h>

#define TAKEN_MAX 2 /* the item at hand and the next */
#define SENT_MAX 2
#define ITEMS_MAX (TAKEN_MAX + SENT_MAX)

struct task_item {
    struct covey_bag_item item;
    int32_t number;
    covey_req_t *coming, *sending;
};

struct sorter {
    struct worker *worker;
    struct task_item items[ITEMS_MAX]; /* a ring: sent ones first, then those that were taken */
    int first, sent, taken;
    int64_t *keys, *scratch;
    int64_t *ends; /* of the runs at hand */
};

static struct task_item *item_at(struct sorter *s, int place)
{
    return &s->items[(s->first + place) % ITEMS_MAX];
}

static bool reserve(int64_t **keys, size_t count)
{
    int64_t *more = realloc(*keys, (count + 1) * sizeof **keys);
    if (more != NULL)
        *keys = more;
    return more != NULL;
}

/* ---- taking ---- */

static int item_begin(struct sorter *s, const struct covey_bag_item *item)
{
    struct task_item *t = item_at(s, s->sent + s->taken);
    covey_t *vm = s->worker->vm;
    if (item->size != sizeof t->number)
        return COVEY_EPROTO;
    t->item = *item;
    t->number = *(const int32_t *)item->bytes;
    s->taken++;
    int error = covey_irecv(vm, s->worker->parent, RUNS_KEYS, &t->coming);
    return error < 0
               ? error
               : covey_send_array(vm, s->worker->parent, RUNS_ASK, COVEY_INT32, &t->number, 1);
}

/* The next items, for which it waits only when there is nothing else to do. */
static int take_ahead(struct sorter *s)
{
    while (s->taken < TAKEN_MAX && s->sent + s->taken < ITEMS_MAX) {
        struct covey_bag_item item;
        bool idle = s->taken + s->sent == 0;
        s->worker->doing = "taking items out of the bag";
        int got = covey_bag_take(s->worker->bag, idle ? COVEY_FOREVER : COVEY_POLL, &item, 1);
        if (got == 0 || got == COVEY_ETIMEOUT)
            return 0;
        int error = got < 0 ? got : item_begin(s, &item);
        if (error < 0)
            return error;
    }
    return 0;
}

/* ---- sorting ---- */

/* Reads where each run ends among the keys; `runs` is their number. */
static int read_ends(struct sorter *s, covey_msg_t *msg, int64_t runs)
{
    int64_t end = 0;
    int error = runs < 1 || runs > RUNS_MAX        ? COVEY_EPROTO
                : !reserve(&s->ends, (size_t)runs) ? COVEY_ENOMEM
                                                   : 0;
    for (int64_t i = 0; i < runs && error >= 0; i++) {
        int64_t size = -1;
        error = covey_unpack_int64(msg, &size, 1, 1);
        if (error >= 0 && (size < 0 || size > SPLIT_KEYS_MAX - end))
            error = COVEY_EPROTO;
        s->ends[i] = end += size;
    }
    return error < 0 ? error : 0;
}

static int read_runs(struct sorter *s, covey_msg_t *msg, int64_t runs)
{
    int error = read_ends(s, msg, runs);
    if (error < 0)
        return error;
    size_t count = (size_t)s->ends[runs - 1], at = 0;
    if (!reserve(&s->keys, count) || !reserve(&s->scratch, count))
        return COVEY_ENOMEM;
    for (int64_t i = 0; i < runs && error >= 0; i++) {
        size_t size = (size_t)s->ends[i] - at;
        if (size > 0)
            error = covey_unpack_int64(msg, s->keys + at, size, 1);
        at += size;
    }
    return error;
}

/* Sets the number of runs, or RUNS_DONE. */
static int await_keys(struct sorter *s, struct task_item *t, int64_t *runs)
{
    covey_msg_t *msg = NULL;
    s->worker->doing = "waiting for keys";
    int error = covey_wait(t->coming, COVEY_FOREVER);
    if (error >= 0)
        error = covey_req_result(t->coming, NULL, &msg, NULL);
    covey_req_free(&t->coming);
    if (error >= 0)
        error = covey_unpack_int64(msg, runs, 1, 1);
    if (error >= 0 && *runs != RUNS_DONE)
        error = read_runs(s, msg, *runs);
    covey_msg_free(msg);
    return error;
}

/* Each two that lie beside each other become one, until there is only one. */
static void merge_all(struct sorter *s, size_t runs)
{
    for (; runs > 1; runs = (runs + 1) / 2) {
        int64_t first = 0;
        for (size_t i = 0; i < runs / 2; i++) {
            int64_t end = s->ends[2 * i + 1];
            keys_merge(s->keys + first, (size_t)(s->ends[2 * i] - first), (size_t)(end - first),
                       s->scratch);
            s->ends[i] = first = end;
        }
        s->ends[(runs - 1) / 2] = s->ends[runs - 1];
    }
}

static size_t sort_or_merge(struct sorter *s, int64_t runs)
{
    size_t count = (size_t)s->ends[runs - 1];
    double begin = worker_compute_begin();
    if (runs == 1)
        keys_sort(s->keys, count);
    else
        merge_all(s, (size_t)runs);
    worker_compute_end(s->worker, begin);
    return count;
}

static int send_keys(struct sorter *s, struct task_item *t, size_t count)
{
    covey_msg_t *msg = covey_msg_new();
    s->worker->doing = "sending keys";
    int error = msg == NULL ? COVEY_ENOMEM : covey_pack_int32(msg, &t->number, 1, 1);
    if (error >= 0 && count > 0)
        error = covey_pack_int64(msg, s->keys, count, 1);
    if (error >= 0)
        error = covey_isend(s->worker->vm, s->worker->parent, RUNS_SORTED, &msg, &t->sending);
    covey_msg_free(msg);
    s->taken--;
    s->sent++;
    return error;
}

/* Somebody who died since may have done it: then no keys go back. */
static int work(struct sorter *s, struct task_item *t)
{
    int64_t runs;
    int error = await_keys(s, t, &runs);
    if (error < 0)
        return error;
    return send_keys(s, t, runs == RUNS_DONE ? 0 : sort_or_merge(s, runs));
}

/* ---- settling ---- */

/* The first that was sent is taken over: it is done. Returns 1, 0: not yet, or an error. */
static int take_over(struct sorter *s, int64_t timeout_us)
{
    covey_msg_t *msg = NULL;
    int error = covey_recv(s->worker->vm, s->worker->parent, RUNS_TAKEN, timeout_us, &msg);
    covey_msg_free(msg);
    if (error < 0)
        return error == COVEY_ETIMEOUT ? 0 : error;
    struct task_item *t = item_at(s, 0);
    covey_req_free(&t->sending);
    s->first = (s->first + 1) % ITEMS_MAX;
    s->sent--;
    error = covey_bag_done(s->worker->bag, &t->item, NULL, 0);
    return error < 0 ? error : 1;
}

/* Waits for one at most: after that another item may be there. */
static int settle(struct sorter *s)
{
    bool wait = s->taken == 0 || s->sent == SENT_MAX;
    int got = 1;
    for (; s->sent > 0 && got > 0; wait = false) {
        s->worker->doing = "waiting for keys to be taken over";
        got = take_over(s, wait ? COVEY_FOREVER : COVEY_POLL);
    }
    return got < 0 ? got : 0;
}

/* ---- the whole ---- */

/* What is still under way is for nobody. */
static void leave(struct sorter *s)
{
    for (int i = 0; i < ITEMS_MAX; i++) {
        covey_req_free(&s->items[i].coming);
        covey_req_free(&s->items[i].sending);
    }
    covey_bag_free(&s->worker->bag);
    free(s->keys);
    free(s->scratch);
    free(s->ends);
}

int sorter_run(struct worker *worker)
{
    struct sorter s = {.worker = worker};
    int error = 0;
    while (error >= 0) {
        error = take_ahead(&s);
        if (error >= 0 && s.taken + s.sent == 0)
            break; /* nothing is left */
        if (error >= 0 && s.taken > 0)
            error = work(&s, item_at(&s, s.sent));
        if (error >= 0)
            error = settle(&s);
    }
    leave(&s);
    return error;
}
