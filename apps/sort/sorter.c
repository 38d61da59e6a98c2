/*
 * sorter.c - a task of sort that takes runs out of a bag; see runs.h. While it sorts or merges, the
 * keys of the next item come, and those of the item before leave (ahead.h).
 */
#include "apps/ahead.h"
#include "apps/sort/keys.h"
#include "apps/sort/runs.h"

#include <stdlib.h>

#define SENT_MAX 2

struct task_item {
    int32_t number;
    covey_req_t *coming;
};

struct sorter {
    struct worker *worker;
    struct task_item items[AHEAD_ITEMS_MAX]; /* by place */
    int64_t *keys, *scratch;
    int64_t *ends; /* of the runs at hand */
};

static bool sorter_reserve(int64_t **keys, size_t count)
{
    int64_t *more = realloc(*keys, (count + 1) * sizeof **keys);
    if (more != NULL)
        *keys = more;
    return more != NULL;
}

/* ---- taking ---- */

static int item_begin(void *state, int place, const struct covey_bag_item *item)
{
    struct sorter *s = state;
    struct task_item *t = &s->items[place];
    covey_t *vm = s->worker->vm;
    if (item->size != sizeof t->number)
        return COVEY_EPROTO;
    t->number = *(const int32_t *)item->bytes;
    int error = covey_irecv(vm, s->worker->parent, RUNS_KEYS, &t->coming);
    return error < 0
               ? error
               : covey_send_array(vm, s->worker->parent, RUNS_ASK, COVEY_INT32, &t->number, 1);
}

/* ---- sorting ---- */

/* Reads where each run ends among the keys, and the keys; `runs` is the number of runs. */
static int read_runs(struct sorter *s, covey_msg_t *msg, int64_t runs)
{
    int64_t end = 0;
    int error = runs < 1 || runs > RUNS_MAX               ? COVEY_EPROTO
                : !sorter_reserve(&s->ends, (size_t)runs) ? COVEY_ENOMEM
                                                          : 0;
    for (int64_t i = 0; i < runs && error >= 0; i++) {
        int64_t size = -1;
        error = covey_unpack_int64(msg, &size, 1, 1);
        if (error >= 0 && (size < 0 || size > SPLIT_KEYS_MAX - end))
            error = COVEY_EPROTO;
        s->ends[i] = end += size;
    }
    if (error < 0)
        return error;
    size_t count = (size_t)end, at = 0;
    if (!sorter_reserve(&s->keys, count) || !sorter_reserve(&s->scratch, count))
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

static int send_keys(struct sorter *s, const struct task_item *t, size_t count,
                     covey_req_t **sending)
{
    covey_msg_t *msg = covey_msg_new();
    s->worker->doing = "sending keys";
    int error = msg == NULL ? COVEY_ENOMEM : covey_pack_int32(msg, &t->number, 1, 1);
    if (error >= 0 && count > 0)
        error = covey_pack_int64(msg, s->keys, count, 1);
    if (error >= 0)
        error = covey_isend(s->worker->vm, s->worker->parent, RUNS_SORTED, &msg, sending);
    covey_msg_free(msg);
    return error;
}

/* Somebody who died since may have done it: then no keys go back. */
static int item_work(void *state, int place, covey_req_t **sending)
{
    struct sorter *s = state;
    struct task_item *t = &s->items[place];
    int64_t runs;
    int error = await_keys(s, t, &runs);
    if (error < 0)
        return error;
    size_t count = runs == RUNS_DONE ? 0 : (size_t)s->ends[runs - 1];
    double begin = worker_compute_begin();
    if (runs == 1)
        keys_sort(s->keys, count);
    else if (runs != RUNS_DONE)
        merge_all(s, (size_t)runs);
    worker_compute_end(s->worker, begin);
    return send_keys(s, t, count, sending);
}

/* ---- the whole ---- */

int sorter_run(struct worker *worker)
{
    static const struct ahead_program program = {.sent_max = SENT_MAX,
                                                 .taken_over = RUNS_TAKEN,
                                                 .waiting = "waiting for keys to be taken over",
                                                 .begin = item_begin,
                                                 .work = item_work};
    struct sorter s = {.worker = worker};
    int error = ahead_run(&program, worker, &s);
    for (int i = 0; i < AHEAD_ITEMS_MAX; i++) /* these are for nobody */
        covey_req_free(&s.items[i].coming);
    free(s.keys);
    free(s.scratch);
    free(s.ends);
    return error;
}
