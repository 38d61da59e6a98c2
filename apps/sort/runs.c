#include "apps/sort/runs.h"

#include "apps/block.h"
#include "apps/sort/keys.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

/* An item: how many keys are to be sorted, or how many the first and the second run to be merged
 * have; then the keys. A result: the keys. */
#define HEAD 2
enum { SORT_FIRST = 0, MERGE_FIRST = 1 }; /* priorities */

/* ---- a task ---- */

struct sorter {
    struct worker *worker;
    int64_t *keys, *scratch;
};

static bool reserve(int64_t **keys, size_t count)
{
    int64_t *more = realloc(*keys, (count + 1) * sizeof **keys);
    if (more != NULL)
        *keys = more;
    return more != NULL;
}

static bool is_sane(const struct covey_bag_item *item, const int64_t *head)
{
    size_t count = item->size / sizeof *head - HEAD;
    return item->size % sizeof *head == 0 && head[0] >= 0 && head[1] >= 0 &&
           (size_t)head[0] <= count && (size_t)head[1] == count - (size_t)head[0];
}

static int on_item(void *context, const struct covey_bag_item *item, const void **result,
                   size_t *size)
{
    struct sorter *s = context;
    const int64_t *head = item->bytes;
    if (item->size < HEAD * sizeof *head || !is_sane(item, head))
        return COVEY_EPROTO;
    size_t left = (size_t)head[0], count = left + (size_t)head[1];
    if (!reserve(&s->keys, count) || !reserve(&s->scratch, left))
        return COVEY_ENOMEM;
    double begin = worker_compute_begin();
    memcpy(s->keys, head + HEAD, count * sizeof *s->keys);
    if (head[1] == 0)
        keys_sort(s->keys, count);
    else
        keys_merge(s->keys, left, count, s->scratch);
    worker_compute_end(s->worker, begin);
    *result = s->keys;
    *size = count * sizeof *s->keys;
    return 0;
}

int runs_work(struct worker *worker)
{
    struct sorter s = {.worker = worker};
    int error = agenda_run(worker, on_item, &s);
    free(s.keys);
    free(s.scratch);
    return error;
}

/* ---- the coordinator ---- */

int runs_prepare(struct runs *runs, struct crew *crew, int64_t *keys, size_t count)
{
    *runs = (struct runs){.keys = keys, .count = count};
    runs->item = calloc(count + HEAD, sizeof *runs->item);
    if (keys != NULL && runs->item != NULL)
        return agenda_create(crew, &runs->bag);
    warnx("out of memory for the keys");
    return -1;
}

void runs_free(struct runs *runs)
{
    while (runs->waiting != NULL) {
        struct run *run = runs->waiting;
        runs->waiting = run->next;
        free(run);
    }
    free(runs->keys);
    free(runs->item);
    *runs = (struct runs){.bag = NULL};
}

static int put(struct runs *runs, struct crew *crew, int priority, size_t left, size_t right)
{
    runs->item[0] = (int64_t)left;
    runs->item[1] = (int64_t)right;
    return agenda_put(crew, runs->bag, priority, runs->item,
                      (HEAD + left + right) * sizeof *runs->item);
}

static int put_parts(struct runs *runs, struct crew *crew, int parts)
{
    for (int i = 0; i < parts; i++) {
        size_t first = (size_t)block_first((int64_t)runs->count, parts, i);
        size_t size = (size_t)block_size((int64_t)runs->count, parts, i);
        memcpy(runs->item + HEAD, runs->keys + first, size * sizeof *runs->keys);
        if (put(runs, crew, SORT_FIRST, size, 0) < 0)
            return -1;
    }
    return 0;
}

/* The two smallest are merged. */
static int put_merge(struct runs *runs, struct crew *crew)
{
    struct run *a = runs->waiting, *b = a->next;
    size_t left = a->count, right = b->count;
    memcpy(runs->item + HEAD, a->keys, left * sizeof *a->keys);
    memcpy(runs->item + HEAD + left, b->keys, right * sizeof *b->keys);
    runs->waiting = b->next;
    free(a);
    free(b);
    return put(runs, crew, MERGE_FIRST, left, right);
}

static int take(struct runs *runs, const struct covey_bag_result *result)
{
    size_t count = result->size / sizeof(int64_t);
    struct run *run = count <= runs->count ? malloc(sizeof *run + result->size) : NULL;
    if (run == NULL || count == 0) {
        warnx("a task sent keys that nobody asked for, or memory is exhausted");
        free(run);
        return -1;
    }
    struct run **at = &runs->waiting;
    while (*at != NULL && (*at)->count < count)
        at = &(*at)->next;
    run->count = count;
    memcpy(run->keys, result->bytes, result->size);
    run->next = *at;
    *at = run;
    return 0;
}

/* parts sorts and parts - 1 merges */
static int sort_all(struct runs *runs, struct crew *crew, int parts)
{
    int merges = parts - 1;
    if (merges == 0 && agenda_close(crew, runs->bag) < 0)
        return -1;
    for (int left = 2 * parts - 1; left > 0; left--) {
        struct covey_bag_result result;
        if (agenda_result(crew, runs->bag, &result) < 0 || take(runs, &result) < 0)
            return -1;
        if (runs->waiting->next == NULL)
            continue;
        if (put_merge(runs, crew) < 0 || (--merges == 0 && agenda_close(crew, runs->bag) < 0))
            return -1;
        progress_show(&crew->progress, 1.0 - (double)left / (2 * parts));
    }
    return 0;
}

int runs_sort(struct runs *runs, struct crew *crew)
{
    int parts = RUNS_PER_TASK * crew->count;
    int64_t keys = (int64_t)runs->count;
    if (parts > keys)
        parts = (int)keys;
    int result = parts == 0 ? agenda_close(crew, runs->bag) : put_parts(runs, crew, parts);
    if (result == 0 && parts > 0)
        result = sort_all(runs, crew, parts);
    covey_bag_free(&runs->bag);
    return result;
}
