/*
 * dense_cast.c - HPL's broadcasts of panels (netlib.org/benchmark/hpl/algorithm.html). In rings a
 * member receives the whole panel and passes it on when it is asked; trees and long broadcasts are
 * those of the library, which go on by themselves.
 *
 * Members are counted from the root on: 0 is the root, 1 the owner of the next panel.
 */
#include <string.h>

#include "lib/domain/dense/dense_cast.h"

#define TAG_CAST 0x706e6c

struct ring {
    int from; /* of whom this one receives; -1: it is the root */
    int to[3];
    int count;
};

/* The place `at` of `size`: rings begin at 1, with M at 2, and the second one in the middle. */
static struct ring ring_of(int bcast, int at, int size)
{
    int modified = bcast == DENSE_1RING_M || bcast == DENSE_2RING_M;
    int first = modified ? 2 : 1;
    int second =
        bcast == DENSE_2RING || bcast == DENSE_2RING_M ? first + (size - first + 1) / 2 : size;
    struct ring ring = {.from = at - 1};
    if (at == 0) {
        const int starts[] = {1, first > 1 ? first : size, second > first ? second : size};
        for (int i = 0; i < 3; i++)
            if (starts[i] < size)
                ring.to[ring.count++] = starts[i];
        return ring;
    }
    if (at == 1 || at == first || at == second)
        ring.from = 0;
    if (at >= first && at + 1 < size && at + 1 != second)
        ring.to[ring.count++] = at + 1;
    return ring;
}

static int pass_on(struct dense_cast *cast)
{
    for (; cast->sent < cast->to_count; cast->sent++) {
        int error = covey_team_isend_array(cast->team, cast->to[cast->sent], TAG_CAST, cast->type,
                                           cast->base, cast->count, &cast->sends[cast->sent]);
        if (error < 0)
            return error;
    }
    return 1;
}

int dense_cast_begin(struct dense_cast *cast, covey_team_t *team, int bcast, int root)
{
    int size = covey_team_size(team), rank = covey_team_rank(team);
    int at = (rank - root + size) % size;
    cast->team = team;
    cast->receive = NULL;
    cast->to_count = cast->sent = 0;
    memset(cast->sends, 0, sizeof cast->sends);
    if (size == 1 || cast->count == 0)
        return 0;
    if (bcast == DENSE_TREE || bcast == DENSE_LONG)
        return covey_ibcast(team, root, cast->type, cast->base, cast->count, &cast->receive);
    struct ring ring = ring_of(bcast, at, size);
    for (int i = 0; i < ring.count; i++)
        cast->to[cast->to_count++] = (ring.to[i] + root) % size;
    if (at > 0)
        return covey_team_irecv_array(team, (ring.from + root) % size, TAG_CAST, cast->type,
                                      cast->base, cast->count, &cast->receive);
    int error = pass_on(cast);
    return error < 0 ? error : 0;
}

static int arrived(struct dense_cast *cast, int state)
{
    if (state <= 0)
        return state;
    covey_req_free(&cast->receive);
    return pass_on(cast);
}

/* A member that only sends asks for its sends: a panel may be longer than what the link to the next
 * one holds, and the rest goes when somebody looks. */
int dense_cast_poll(struct dense_cast *cast)
{
    int state = 1;
    if (cast->receive != NULL)
        return arrived(cast, covey_test(cast->receive));
    for (int i = 0; state >= 0 && i < cast->sent; i++)
        state = covey_test(cast->sends[i]);
    return state < 0 ? state : 1;
}

int dense_cast_wait(struct dense_cast *cast)
{
    if (cast->receive == NULL)
        return 0;
    int error = covey_wait(cast->receive, COVEY_FOREVER);
    error = arrived(cast, error < 0 ? error : 1);
    return error < 0 ? error : 0;
}

int dense_cast_end(struct dense_cast *cast)
{
    int error = dense_cast_wait(cast);
    if (error == 0 && cast->sent > 0)
        error = covey_wait_all(cast->sends, (size_t)cast->sent, COVEY_FOREVER);
    if (error < 0)
        return error;
    dense_cast_free(cast);
    return 0;
}

void dense_cast_free(struct dense_cast *cast)
{
    covey_req_free(&cast->receive);
    for (int i = 0; i < cast->sent; i++)
        covey_req_free(&cast->sends[i]);
    cast->sent = cast->to_count = 0;
}
