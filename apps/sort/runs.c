/*
 * runs.c - sort out of a bag: first parts of the keys are sorted, then ranges of keys are merged,
 * whoever is free doing the next one. runs.h tells why ranges are cut by a sample and which
 * messages pass.
 */
#include "apps/sort/runs.h"

#include "apps/block.h"
#include "apps/memory.h"
#include "apps/sort/keys.h"

#include <err.h>
#include <stdlib.h>

static int out_of_memory(void)
{
    warnx("out of memory for the keys");
    return -1;
}

/* ---- items ---- */

static size_t part_first(const struct runs *runs, int part)
{
    return (size_t)block_first((int64_t)runs->count, runs->parts, part);
}

/* Where a range begins in a part; behind the last one, where the part ends. */
static size_t range_cut(const struct runs *runs, int range, int part)
{
    return runs->cuts[(size_t)range * (size_t)runs->parts + (size_t)part];
}

/* How many keys the item has, and where they go. */
static size_t item_keys(const struct runs *runs, int number, int64_t **place)
{
    if (number < runs->parts) {
        *place = runs->keys + part_first(runs, number);
        return part_first(runs, number + 1) - part_first(runs, number);
    }
    int range = number - runs->parts;
    size_t before = 0, size = 0;
    for (int i = 0; i < runs->parts; i++) {
        before += range_cut(runs, range, i) - part_first(runs, i);
        size += range_cut(runs, range + 1, i) - range_cut(runs, range, i);
    }
    *place = runs->sorted + before;
    return size;
}

/* `parts` items, from the next number on. */
static int put_items(struct runs *runs, struct crew *crew)
{
    for (int i = 0; i < runs->parts; i++) {
        int32_t number = runs->put++;
        if (agenda_put(crew, runs->bag, 0, &number, sizeof number) < 0)
            return -1;
    }
    return 0;
}

/* ---- ranges ---- */

/* The first of the sorted keys that is not less. */
static size_t lower_bound(const int64_t *keys, size_t first, size_t end, int64_t key)
{
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (keys[middle] < key)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* By samples: each part's keys at equal distances, all in order. */
static void cut_parts(struct runs *runs, int64_t *samples)
{
    size_t parts = (size_t)runs->parts, n = 0;
    for (int i = 0; i < runs->parts; i++) {
        size_t first = part_first(runs, i), size = part_first(runs, i + 1) - first;
        for (size_t k = 1; k < parts; k++)
            samples[n++] = runs->keys[first + k * size / parts];
    }
    keys_sort(samples, n);
    for (int i = 0; i < runs->parts; i++) {
        size_t first = part_first(runs, i), end = part_first(runs, i + 1);
        runs->cuts[i] = first;
        for (size_t k = 1; k < parts; k++)
            runs->cuts[k * parts + (size_t)i] =
                lower_bound(runs->keys, first, end, samples[(k - 1) * parts + parts / 2]);
        runs->cuts[parts * parts + (size_t)i] = end;
    }
}

/* All parts are sorted: what is in the ranges is to be merged, if there is more than one. */
static int put_ranges(struct runs *runs, struct crew *crew)
{
    size_t parts = (size_t)runs->parts;
    int64_t *samples = parts > 1 ? calloc(parts * parts, sizeof *samples) : NULL;
    if (parts > 1 && samples == NULL)
        return out_of_memory();
    if (parts > 1)
        cut_parts(runs, samples);
    free(samples);
    if (parts > 1 && put_items(runs, crew) < 0)
        return -1;
    return agenda_close(crew, runs->bag);
}

/* ---- what the tasks ask for and send ---- */

/* Sends the message, which may be NULL. */
static int runs_answer(struct runs *runs, struct crew *crew, covey_tid_t task, int tag,
                       covey_msg_t *msg)
{
    int error = msg == NULL ? COVEY_ENOMEM : outbox_send(&runs->outbox, crew->vm, task, tag, msg);
    return error < 0 ? crew_error("cannot answer a task", error) : 0;
}

static int pack_range(covey_msg_t *msg, const struct runs *runs, int range)
{
    const int64_t parts = runs->parts;
    int error = covey_pack_int64(msg, &parts, 1, 1);
    for (int i = 0; i < runs->parts && error >= 0; i++) {
        const int64_t size = (int64_t)(range_cut(runs, range + 1, i) - range_cut(runs, range, i));
        error = covey_pack_int64(msg, &size, 1, 1);
    }
    for (int i = 0; i < runs->parts && error >= 0; i++) {
        size_t first = range_cut(runs, range, i), size = range_cut(runs, range + 1, i) - first;
        if (size > 0)
            error = covey_pack_inplace(msg, COVEY_INT64, runs->keys + first, size);
    }
    return error;
}

/* A part is copied, for its keys will lie in another order soon. */
static int pack_keys(covey_msg_t *msg, const struct runs *runs, int number)
{
    const int64_t done = RUNS_DONE;
    if (runs->done[number])
        return covey_pack_int64(msg, &done, 1, 1);
    if (number >= runs->parts)
        return pack_range(msg, runs, number - runs->parts);
    size_t first = part_first(runs, number);
    const int64_t head[2] = {1, (int64_t)(part_first(runs, number + 1) - first)};
    int error = covey_pack_int64(msg, head, 2, 1);
    return error < 0 ? error : covey_pack_int64(msg, runs->keys + first, (size_t)head[1], 1);
}

/* The number of the item that a message is about; -1 after saying what is wrong. */
static int number_of(const struct runs *runs, covey_msg_t *msg)
{
    int32_t number = -1;
    int error = covey_unpack_int32(msg, &number, 1, 1);
    if (error >= 0 && number >= 0 && number < runs->put)
        return number;
    warnx("a task named a run that there is not");
    return -1;
}

static int on_runs_ask(struct runs *runs, struct crew *crew, covey_msg_t *msg, covey_tid_t task)
{
    int number = number_of(runs, msg);
    if (number < 0)
        return -1;
    covey_msg_t *keys = covey_msg_new();
    int error = keys == NULL ? COVEY_ENOMEM : pack_keys(keys, runs, number);
    if (error < 0) {
        covey_msg_free(keys);
        return crew_error("cannot make a message of keys", error);
    }
    return runs_answer(runs, crew, task, RUNS_KEYS, keys);
}

static int runs_take(struct runs *runs, struct crew *crew, int number, covey_msg_t *msg)
{
    int64_t *place;
    size_t count = item_keys(runs, number, &place);
    if (count > 0 && covey_unpack_int64(msg, place, count, 1) < 0) {
        warnx("a task sent other keys than it got");
        return -1;
    }
    runs->done[number] = true;
    return ++runs->done_count == runs->parts ? put_ranges(runs, crew) : 0;
}

static int on_sorted(struct runs *runs, struct crew *crew, covey_msg_t *msg, covey_tid_t task)
{
    int number = number_of(runs, msg);
    if (number < 0 || (!runs->done[number] && runs_take(runs, crew, number, msg) < 0))
        return -1;
    return runs_answer(runs, crew, task, RUNS_TAKEN, covey_msg_new());
}

static int runs_serve(struct crew *crew, covey_msg_t *msg, const struct covey_info *info,
                      bool *taken)
{
    struct runs *runs = crew->server;
    *taken = info->tag == RUNS_ASK || info->tag == RUNS_SORTED;
    if (!*taken)
        return 0;
    return info->tag == RUNS_ASK ? on_runs_ask(runs, crew, msg, info->source)
                                 : on_sorted(runs, crew, msg, info->source);
}

/* ---- the whole ---- */

int runs_prepare(struct runs *runs, struct crew *crew, int64_t *keys, size_t count)
{
    int most = RUNS_PER_TASK * crew->count;
    *runs = (struct runs){
        .keys = keys, .count = count, .parts = (int64_t)count < most ? (int)count : most};
    size_t parts = (size_t)runs->parts;
    runs->done = calloc(2 * parts + 1, sizeof *runs->done);
    runs->cuts = calloc((parts + 1) * parts + 1, sizeof *runs->cuts);
    runs->sorted = parts > 1 ? memory_ready(count, sizeof *runs->sorted) : NULL;
    bool enough = runs->done != NULL && runs->cuts != NULL && (parts < 2 || runs->sorted != NULL);
    if (keys == NULL || !enough)
        return out_of_memory();
    crew->serve = runs_serve;
    crew->server = runs;
    return agenda_create(crew, &runs->bag);
}

const int64_t *runs_result(const struct runs *runs)
{
    return runs->sorted != NULL ? runs->sorted : runs->keys;
}

void runs_end(struct runs *runs)
{
    covey_bag_free(&runs->bag);
    outbox_free(&runs->outbox);
}

void runs_free(struct runs *runs)
{
    free(runs->done);
    free(runs->cuts);
    free(runs->sorted);
    free(runs->keys);
    *runs = (struct runs){.bag = NULL};
}

int runs_sort(struct runs *runs, struct crew *crew)
{
    int all = runs->parts > 1 ? 2 * runs->parts : runs->parts;
    if ((all > 0 ? put_items(runs, crew) : agenda_close(crew, runs->bag)) < 0)
        return -1;
    return agenda_conduct(crew, runs->bag, &runs->done_count, all);
}
