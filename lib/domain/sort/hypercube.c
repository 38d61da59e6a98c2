/*
 * hypercube.c - hypercube quicksort (Wagar 1987), for any number of members: each sorts what it
 * has; a group of ranks agrees on a pivot, one half of it keeps what is before and the other one
 * what is behind, and each half goes on alone, until a group is one member. An element moves
 * log2(P) times, but a member has few messages: good where they are short.
 *
 * A group of g ranks has halves of g / 2 and of the rest, and the pivot is to divide its elements
 * as the ranks. The member i of the left half is the partner of i in the right one; in an odd group
 * the first member of the left half has two partners, among which it divides what it gives.
 * Elements come from both sides, and equal ones do not stay in order.
 */
#include "lib/domain/sort/probe.h"

#include "lib/domain/base/error.h"
#include "lib/domain/sort/pivot.h"

#include <stdlib.h>
#include <string.h>

#define TAG_PART 4

/* Ranks first .. first + size - 1; the left half has `left` of them. */
struct group {
    int first, size, left;
};

static int is_left(const struct sort_run *run, const struct group *group)
{
    return run->rank < group->first + group->left;
}

/* The partners of the caller: one, or two of the first member of an odd group. Returns how many. */
static int partners(const struct sort_run *run, const struct group *group, int ranks[2])
{
    int place = run->rank - group->first;
    if (!is_left(run, group)) {
        ranks[0] = group->first + (place - group->left) % group->left;
        return 1;
    }
    ranks[0] = run->rank + group->left;
    ranks[1] = group->first + group->size - 1;
    return place == 0 && group->size % 2 == 1 ? 2 : 1;
}

static int send_part(const struct sort_run *run, int to, const char *base, size_t n,
                     covey_req_t **req)
{
    int error = covey_team_isend_array(run->team, to, TAG_PART, run->order->wire_type, base,
                                       n * run->order->wire_count, req);
    return error < 0 ? run_fail(error) : 0;
}

/* Merges what comes from the partner into the piece. */
static int take_part(const struct sort_run *run, struct sort_piece *piece, int from)
{
    const struct sort_order *order = run->order;
    const void *base;
    size_t count;
    covey_msg_t *msg = NULL;
    int error = covey_team_recv(run->team, from, TAG_PART, COVEY_FOREVER, &msg);
    if (error >= 0)
        error = covey_unpack_view(msg, order->wire_type, &base, &count);
    if (error < 0) {
        covey_msg_free(msg);
        return run_fail(error);
    }
    size_t n = count / order->wire_count;
    char *both = run_alloc(run, piece->n + n);
    if (both != NULL) {
        order->kernel->merge(order, piece->base, piece->n, base, n, both);
        run_free(run, piece->base);
        *piece = (struct sort_piece){both, piece->n + n};
    }
    covey_msg_free(msg);
    return both == NULL ? COVEY_ENOMEM : 0;
}

/* Gives away the elements at `given`, an equal part to each partner, and takes theirs. */
static int swap(const struct sort_run *run, struct sort_piece *piece, const char *given,
                size_t given_n, const struct group *group)
{
    int ranks[2], count = partners(run, group, ranks), error = 0;
    covey_req_t *reqs[2] = {NULL, NULL};
    size_t begin = 0;
    for (int i = 0; error == 0 && i < count; i++) {
        size_t end = i + 1 == count ? given_n : given_n / 2;
        error = send_part(run, ranks[i], given + begin * run->order->size, end - begin, &reqs[i]);
        begin = end;
    }
    for (int i = 0; error == 0 && i < count; i++)
        error = take_part(run, piece, ranks[i]);
    if (error == 0) {
        error = covey_wait_all(reqs, 2, COVEY_FOREVER);
        error = error < 0 ? run_fail(error) : 0;
    }
    covey_req_free(&reqs[0]);
    covey_req_free(&reqs[1]);
    return error;
}

/* Divides the piece at the cut: what stays becomes the piece, and the whole is kept until the rest
 * of it has been sent. */
static int divide(const struct sort_run *run, struct sort_piece *piece, size_t cut,
                  const struct group *group)
{
    size_t size = run->order->size, kept_n = is_left(run, group) ? cut : piece->n - cut;
    struct sort_piece whole = *piece;
    char *kept = run_alloc(run, kept_n);
    if (kept == NULL)
        return COVEY_ENOMEM;
    memcpy(kept, whole.base + (is_left(run, group) ? 0 : cut * size), kept_n * size);
    *piece = (struct sort_piece){kept, kept_n};
    int error = is_left(run, group)
                    ? swap(run, piece, whole.base + cut * size, whole.n - cut, group)
                    : swap(run, piece, whole.base, cut, group);
    run_free(run, whole.base);
    return error;
}

int sort_hypercube(const struct sort_run *run, struct sort_piece *piece)
{
    struct group group = {.first = 0, .size = run->size};
    int error = piece_sort(run, piece);
    while (error == 0 && group.size > 1) {
        size_t cut;
        group.left = group.size / 2;
        error = pivot_cut(run, piece, group.first, group.size, &cut);
        if (error == 0)
            error = divide(run, piece, cut, &group);
        if (is_left(run, &group))
            group.size = group.left;
        else
            group =
                (struct group){.first = group.first + group.left, .size = group.size - group.left};
    }
    return error;
}
