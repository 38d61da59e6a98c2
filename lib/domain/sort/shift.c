/*
 * shift.c - moves parts of the sorted whole between neighbours, until each member has as many
 * elements as it shall have. Every member knows all counts, and sends only where there is something
 * to send: mostly to the ranks beside it.
 */
#include "lib/domain/sort/run.h"

#include "lib/domain/base/error.h"

#include <stdlib.h>
#include <string.h>

#define TAG_SHIFT 3

struct shift {
    const struct sort_run *run;
    uint64_t *starts;   /* of what the members have now */
    covey_req_t **reqs; /* two a member */
    char *base;         /* the result here */
};

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What `from` has and `to` shall have: elements begin .. end-1 of the whole. Returns how many. */
static uint64_t common(const struct shift *s, int from, int to, uint64_t *begin)
{
    uint64_t end = less(s->starts[from + 1], s->run->targets[to + 1]);
    *begin = greater(s->starts[from], s->run->targets[to]);
    return end > *begin ? end - *begin : 0;
}

static int start_receive(struct shift *s, int from)
{
    const struct sort_run *run = s->run;
    uint64_t begin, n = common(s, from, run->rank, &begin);
    if (n == 0 || from == run->rank)
        return 0;
    return covey_team_irecv_array(run->team, from, TAG_SHIFT, run->order->wire_type,
                                  s->base + (begin - run->targets[run->rank]) * run->order->size,
                                  (size_t)n * run->order->wire_count, &s->reqs[2 * from]);
}

static int start_send(struct shift *s, const struct sort_piece *piece, int to)
{
    const struct sort_run *run = s->run;
    uint64_t begin, n = common(s, run->rank, to, &begin);
    const char *at = piece->base + (begin - s->starts[run->rank]) * run->order->size;
    if (n == 0)
        return 0;
    if (to == run->rank) {
        memcpy(s->base + (begin - run->targets[to]) * run->order->size, at,
               (size_t)n * run->order->size);
        return 0;
    }
    return covey_team_isend_array(run->team, to, TAG_SHIFT, run->order->wire_type, at,
                                  (size_t)n * run->order->wire_count, &s->reqs[2 * to + 1]);
}

static int move(struct shift *s, const struct sort_piece *piece)
{
    size_t reqs = 2 * (size_t)s->run->size;
    int error = 0;
    for (int i = 0; error == 0 && i < s->run->size; i++)
        error = start_receive(s, i);
    for (int i = 0; error == 0 && i < s->run->size; i++)
        error = start_send(s, piece, i);
    if (error == 0)
        error = covey_wait_all(s->reqs, reqs, COVEY_FOREVER);
    if (error < 0)
        run_fail(error);
    for (size_t i = 0; i < reqs; i++)
        covey_req_free(&s->reqs[i]);
    return error;
}

/* Sets the starts of what the members have. */
static int learn(struct shift *s, size_t n)
{
    uint64_t mine = n;
    int error = covey_allgather(s->run->team, COVEY_UINT64, &mine, s->starts + 1, 1);
    if (error < 0)
        return run_fail(error);
    for (int i = 0; i < s->run->size; i++)
        s->starts[i + 1] += s->starts[i];
    return 0;
}

int piece_shift(const struct sort_run *run, struct sort_piece *piece)
{
    size_t members = (size_t)run->size;
    size_t mine = (size_t)(run->targets[run->rank + 1] - run->targets[run->rank]);
    struct shift s = {.run = run,
                      .starts = calloc(members + 1, sizeof *s.starts),
                      .reqs = calloc(2 * members, sizeof *s.reqs),
                      .base = run_alloc(run, mine)};
    int error = COVEY_ENOMEM;
    if (s.starts != NULL && s.reqs != NULL && s.base != NULL) {
        error = learn(&s, piece->n);
        if (error == 0)
            error = move(&s, piece);
    } else
        domain_fail(error, "sort: no memory for the result");
    free(s.starts);
    free(s.reqs);
    run_free(run, piece->base);
    *piece = (struct sort_piece){s.base, mine};
    return error;
}
