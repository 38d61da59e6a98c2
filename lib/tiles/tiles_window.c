/*
 * tiles_window.c - faces that are packed straight into the memory of a neighbour on the same host
 * (section 6 of Koziris, Sotiropoulos & Goumas): no message, and no copy but packing and unpacking.
 *
 * The members make a window (lib/onesided). A task's part has the slots for the faces that come to
 * it, in turn, and counters along each dimension: how many of its own slots are full, how many that
 * it filled at the neighbour in front are free again, and, for the blocking schedule, for how many
 * of those that neighbour has come. They only grow, over all runs, so none is set back, and which
 * slot is next both ends find by themselves.
 *
 * The members agree whether they have the window: if one host has no memory to share, all faces are
 * messages. A window that ends with its first member would end while others still compute, so this
 * one goes on, and a wait ends with the neighbour that it is for, or with the team. All that a
 * member does to others is in their memory, so it is freed at each by itself.
 */
#include "lib/drive/call.h"
#include "lib/engine/peer.h"
#include "lib/link/shared_memory.h"
#include "lib/member/vm.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/onesided/onesided.h"
#include "lib/tiles/tiles.h"

#include <stdio.h>

#define LINE 64
#define PER_LINE (LINE / 8) /* counters: each has a line of memory of its own */
#define SLOTS_BYTES ((size_t)65536)
#define SLOTS_MAX 256
#define USED_BYTES ((size_t)1 << 20) /* of slots whose pages come before the first run */

/* What is counted: slots filled, slots read, and faces that the taker has come for. */
enum counter { FULL, FREE, SEEN, COUNTED };

static int counter_of(const struct tiles_window *w, enum counter what)
{
    return ((int)what * TILING_DIMS_MAX + w->lane) * PER_LINE;
}

size_t tiles_window_stride(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

int tiles_window_slots(size_t stride)
{
    size_t most = stride > 0 ? SLOTS_BYTES / stride : 0;
    return most < TILES_AHEAD ? TILES_AHEAD : most > SLOTS_MAX ? SLOTS_MAX : (int)most;
}

/* ---- the members make it --------------------------------------------------------------------- */

/* Whether the caller has the parts of all members on its host in its memory. */
static bool has_parts(const struct covey_window *memory)
{
    const struct covey_team *team = memory->team;
    for (int i = 0; i < team->size; i++) {
        if (tiles_window_joins(memory, i, team->rank) && covey_window_part(memory, i, NULL) == NULL)
            return false;
    }
    return true;
}

int tiles_window_create(struct covey_team *team, size_t bytes, struct covey_window **memory)
{
    void *part;
    char why[160];
    int32_t mine = 0, all = 0;
    *memory = NULL;
    if (team->hosts == team->size)
        return COVEY_OK;
    int error =
        covey_window_create(team, bytes, COUNTED * TILING_DIMS_MAX * PER_LINE, &part, memory);
    snprintf(why, sizeof why, "%s", covey_error_text());
    if (error == COVEY_OK) {
        window_let_leave(*memory);
        mine = has_parts(*memory);
    }
    int failed = covey_allreduce(team, COVEY_OP_MIN, COVEY_INT32, &mine, &all, 1);
    if (failed != COVEY_OK || all == 0)
        window_discard(memory);
    if (error == COVEY_OK || error == COVEY_ENOMEM)
        return failed;
    return error_set(error, "%s", why);
}

bool tiles_window_joins(const struct covey_window *memory, int a, int b)
{
    return memory != NULL && memory->team->host_lead[a] == memory->team->host_lead[b];
}

/* ---- one end of the slots -------------------------------------------------------------------- */

int tiles_window_open(struct tiles_window *w, bool gives)
{
    struct covey_team *team = w->memory->team;
    uint8_t *part = covey_window_part(w->memory, gives ? w->rank : team->rank, NULL);
    size_t bytes = (size_t)w->ahead * w->stride;
    w->slots = part + w->at;
    shared_memory_use(w->slots, bytes < USED_BYTES ? bytes : USED_BYTES);
    struct call call = call_begin(team->vm);
    bool watched = peer_get(team->vm, (uint32_t)team->tids[w->rank]) != NULL; /* for its end */
    return call_end(team->vm, &call, watched ? COVEY_OK : error_code(COVEY_ENOMEM));
}

struct neighbour {
    const struct covey_team *team;
    uint32_t tid;
};

static const struct peer *gone_peer(const struct neighbour *n)
{
    const struct peer *peer = peer_find(n->team->vm, n->tid);
    return peer != NULL && peer->gone ? peer : NULL;
}

static bool is_vain(void *context)
{
    const struct neighbour *n = context;
    return n->team->broken != COVEY_OK || gone_peer(n) != NULL;
}

/* Why a wait ended in vain. */
static int vain_error(const struct tiles_window *w, const struct neighbour *n, int error)
{
    const struct covey_team *own = w->memory->team;
    struct call call = call_begin(own->vm);
    const struct peer *gone = gone_peer(n);
    if (n->team->broken != COVEY_OK)
        error = error_set(n->team->broken, "tiles: %s", n->team->broken_text);
    else if (gone != NULL)
        error = peer_error(gone);
    else if (own->broken != COVEY_OK)
        error = error_set(own->broken, "tiles: %s", own->broken_text);
    else if (error == COVEY_ETIMEOUT)
        error = error_set(error, "tiles: the time of the team ran out");
    return call_end(own->vm, &call, error);
}

/* A task that finds full and free slots need not wait for long, so it looks each time whether the
 * team is broken. */
static int await_count(const struct tiles_talk *talk, const struct tiles_window *w,
                       enum counter what, uint64_t count)
{
    struct neighbour neighbour = {talk->team, (uint32_t)talk->team->tids[w->rank]};
    const struct window_hope hope = {counter_of(w, what), count, is_vain, &neighbour};
    bool there = false;
    if (talk->team->broken != COVEY_OK)
        return vain_error(w, &neighbour, COVEY_OK);
    int error = window_await(w->memory, &hope, talk->deadline_us, &there);
    return there ? COVEY_OK : vain_error(w, &neighbour, error);
}

static uint8_t *slot_of(const struct tiles_window *w)
{
    return w->slots + w->count % (uint64_t)w->ahead * w->stride;
}

int tiles_window_room(const struct tiles_talk *talk, const struct tiles_window *w, uint8_t **slot)
{
    uint64_t ahead = (uint64_t)w->ahead;
    *slot = slot_of(w);
    return await_count(talk, w, FREE, w->count < ahead ? 0 : w->count - ahead + 1);
}

void tiles_window_full(struct tiles_window *w)
{
    w->count++;
    window_tell(w->memory, w->rank, counter_of(w, FULL));
}

int tiles_window_next(const struct tiles_talk *talk, const struct tiles_window *w,
                      const uint8_t **slot)
{
    *slot = slot_of(w);
    return await_count(talk, w, FULL, w->count + 1);
}

void tiles_window_free(struct tiles_window *w)
{
    w->count++;
    window_tell(w->memory, w->rank, counter_of(w, FREE));
}

/* ---- faces ----------------------------------------------------------------------------------- */

int tiles_window_give(struct covey_tiles *t, struct tiles_window *w, const struct tiling_box *face)
{
    uint8_t *slot;
    uint64_t since_us = clock_us();
    int error = tiles_window_room(&t->talk, w, &slot);
    tiles_book(&since_us, &t->timing.idle_s);
    if (error != COVEY_OK)
        return error;
    size_t values = tiles_store_pack(&t->store, face, slot);
    tiles_book(&since_us, &t->timing.packing_s);
    tiles_window_full(w);
    tiles_book(&since_us, &t->timing.communication_s);
    t->timing.puts++;
    t->timing.bytes += (int64_t)(values * t->shape.value_bytes);
    return COVEY_OK;
}

int tiles_window_take(struct covey_tiles *t, struct tiles_window *w, const struct tiling_box *face)
{
    const uint8_t *slot;
    uint64_t since_us = clock_us();
    int error = tiles_window_next(&t->talk, w, &slot);
    tiles_book(&since_us, &t->timing.idle_s);
    if (error != COVEY_OK)
        return error;
    if (t->plan.schedule == COVEY_TILES_BLOCK)
        window_tell(w->memory, w->rank, counter_of(w, SEEN));
    tiles_store_unpack(&t->store, face, slot);
    tiles_book(&since_us, &t->timing.packing_s);
    tiles_window_free(w);
    tiles_book(&since_us, &t->timing.communication_s);
    return COVEY_OK;
}

int tiles_window_await_taker(struct covey_tiles *t, const struct tiles_window *w)
{
    uint64_t since_us = clock_us();
    int error = await_count(&t->talk, w, SEEN, w->count);
    tiles_book(&since_us, &t->timing.idle_s);
    return error;
}
