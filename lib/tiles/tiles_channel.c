/*
 * tiles_channel.c - the faces that go to, or come from, the neighbour along one dimension.
 *
 * Each slot has a buffer of its own, like the registers between the stages of a pipeline (section
 * 5.3 of Koziris, Sotiropoulos & Goumas): while a face is under way the values of the next tile
 * change. Which faces there are both ends find by themselves: those in which the space is. Faces
 * are messages, or, where both tasks have the taker's slots in their memory, put into these
 * (tiles_window.c).
 */
#include "lib/collective/collective.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/tiles/tiles.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void tiles_book(uint64_t *since_us, double *part_s)
{
    uint64_t now_us = clock_us();
    *part_s += (double)(now_us - *since_us) / 1e6;
    *since_us = now_us;
}

static_assert(TILES_RECEIPT + TILING_DIMS_MAX - 1 < LANES, "the last lane is of those who give up");

/* ---- opening and closing --------------------------------------------------------------------- */

static int make_slots(struct tiles_channel *c, int ahead, size_t bytes)
{
    c->slots = calloc((size_t)ahead, sizeof *c->slots);
    for (c->ahead = 0; c->slots != NULL && c->ahead < ahead; c->ahead++) {
        c->slots[c->ahead].buffer = malloc(bytes > 0 ? bytes : 1);
        if (c->slots[c->ahead].buffer == NULL)
            break;
    }
    if (c->ahead == ahead)
        return COVEY_OK;
    tiles_channel_close(c);
    return error_code(COVEY_ENOMEM);
}

static int slots_of(const struct covey_tiles *t, size_t stride)
{
    return t->ahead > 0 ? t->ahead : tiles_window_slots(stride);
}

/* Faces of all dimensions have their slots one after the other, whether there are any or not. */
static size_t slots_before(const struct covey_tiles *t, int dim)
{
    size_t bytes = 0;
    for (int i = 0; i < dim; i++) {
        size_t stride = tiles_window_stride((size_t)t->plan.face_bytes[i]);
        bytes += (size_t)slots_of(t, stride) * stride;
    }
    return bytes;
}

size_t tiles_channel_memory(const struct covey_tiles *t)
{
    return t->working ? slots_before(t, t->shape.space.dims) : 0;
}

static int make_window(const struct covey_tiles *t, struct tiles_channel *c, int direction)
{
    size_t stride = tiles_window_stride((size_t)t->plan.face_bytes[c->dim]);
    c->window = (struct tiles_window){.memory = t->memory,
                                      .rank = c->rank,
                                      .lane = c->dim,
                                      .ahead = slots_of(t, stride),
                                      .at = slots_before(t, c->dim),
                                      .stride = stride};
    return tiles_window_open(&c->window, direction > 0);
}

int tiles_channel_open(const struct covey_tiles *t, struct tiles_channel *c, int dim, int direction)
{
    *c = (struct tiles_channel){.dim = dim};
    if (!tiles_shape_has(&t->shape, t->place, dim, direction))
        return COVEY_OK;
    int32_t there[TILING_DIMS_MAX];
    memcpy(there, t->place, sizeof there);
    there[dim] += direction;
    struct tiling_box halo;
    if (!tiles_shape_halo(&t->shape, there, &halo)) /* with nothing to do it receives nothing */
        return COVEY_OK;
    c->rank = tiling_grid_number(&t->shape.grid, there);
    memcpy(c->place, direction > 0 ? t->place : there, sizeof c->place);
    if (tiles_window_joins(t->memory, covey_team_rank(t->team), c->rank))
        return make_window(t, c, direction);
    if (direction > 0)
        tiles_open_way(t->team, c->rank);
    return make_slots(c, t->plan.ahead, (size_t)t->plan.face_bytes[dim]);
}

void tiles_channel_close(struct tiles_channel *c)
{
    for (int i = 0; c->slots != NULL && i < c->ahead; i++)
        free(c->slots[i].buffer);
    free(c->slots);
    c->slots = NULL;
}

/* ---- faces ----------------------------------------------------------------------------------- */

/* False: there is no face k. */
static bool face_of(const struct covey_tiles *t, const struct tiles_channel *c, int64_t k,
                    struct tiling_box *face)
{
    if (c->slots == NULL && c->window.memory == NULL)
        return false;
    tiles_shape_face(&t->shape, c->place, c->dim, k, face);
    return tiling_space_meets(&t->shape.space, face);
}

static int lane_of(const struct covey_tiles *t, const struct tiles_channel *c)
{
    return c->dim - (c->dim > t->shape.grid.along);
}

static struct tiles_array array_of(const struct covey_tiles *t, const struct tiles_channel *c,
                                   const struct tiles_slot *slot, size_t values)
{
    return (struct tiles_array){.lane = lane_of(t, c),
                                .rank = c->rank,
                                .type = t->shape.type,
                                .base = slot->buffer,
                                .count = values * t->shape.width};
}

static int receive_into(struct covey_tiles *t, struct tiles_channel *c, struct tiles_slot *slot)
{
    size_t room = (size_t)t->plan.face_bytes[c->dim] / t->shape.value_bytes;
    const struct tiles_array array = array_of(t, c, slot, room);
    uint64_t since_us = clock_us();
    int error = tiles_receive(&t->talk, &array, &slot->message);
    tiles_book(&since_us, &t->timing.communication_s);
    return error;
}

/* Waits for what is in the slot. */
static int await_slot(struct covey_tiles *t, struct tiles_slot *slot, size_t *count)
{
    uint64_t since_us = clock_us();
    int error = tiles_await(&t->talk, &slot->message, count);
    tiles_book(&since_us, &t->timing.idle_s);
    return error;
}

static int channel_unpack(struct covey_tiles *t, const struct tiles_channel *c,
                          const struct tiles_slot *slot, const struct tiling_box *face,
                          size_t count)
{
    uint64_t since_us = clock_us();
    size_t values = tiles_store_unpack(&t->store, face, slot->buffer);
    tiles_book(&since_us, &t->timing.packing_s);
    if (values * t->shape.width != count)
        return error_set(COVEY_EPROTO, "tiles: member %d sent %zu elements of a face of %zu",
                         c->rank, count, values * t->shape.width);
    return COVEY_OK;
}

static int send_face(struct covey_tiles *t, struct tiles_channel *c, struct tiles_slot *slot,
                     const struct tiling_box *face)
{
    uint64_t since_us = clock_us();
    size_t values = tiles_store_pack(&t->store, face, slot->buffer);
    tiles_book(&since_us, &t->timing.packing_s);
    const struct tiles_array array = array_of(t, c, slot, values);
    int error = tiles_send(&t->talk, &array, &slot->message);
    tiles_book(&since_us, &t->timing.communication_s);
    t->timing.messages++;
    t->timing.bytes += (int64_t)(values * t->shape.value_bytes);
    return error;
}

/* ---- overlapped ------------------------------------------------------------------------------ */

/* Receives the next face there is, in that slot. */
static int expect_next(struct covey_tiles *t, struct tiles_channel *c, struct tiles_slot *slot)
{
    struct tiling_box face;
    while (c->next_k < t->end_k && !face_of(t, c, c->next_k, &face))
        c->next_k++;
    if (c->next_k == t->end_k)
        return COVEY_OK;
    slot->k = c->next_k++;
    return receive_into(t, c, slot);
}

int tiles_channel_expect(struct covey_tiles *t, struct tiles_channel *c)
{
    int error = COVEY_OK;
    c->next = 0;
    c->next_k = t->first_k;
    for (int i = 0; c->slots != NULL && i < c->ahead && error == COVEY_OK; i++)
        error = expect_next(t, c, &c->slots[i]);
    return error;
}

int tiles_channel_take(struct covey_tiles *t, struct tiles_channel *c, int64_t k)
{
    struct tiling_box face;
    size_t count = 0;
    if (!face_of(t, c, k, &face))
        return COVEY_OK;
    if (c->window.memory != NULL)
        return tiles_window_take(t, &c->window, &face);
    struct tiles_slot *slot = &c->slots[c->next];
    c->next = (c->next + 1) % c->ahead;
    int error = await_slot(t, slot, &count);
    if (error == COVEY_OK)
        error = channel_unpack(t, c, slot, &face, count);
    return error != COVEY_OK ? error : expect_next(t, c, slot);
}

int tiles_channel_give(struct covey_tiles *t, struct tiles_channel *c, int64_t k)
{
    struct tiling_box face;
    if (!face_of(t, c, k, &face))
        return COVEY_OK;
    if (c->window.memory != NULL)
        return tiles_window_give(t, &c->window, &face);
    struct tiles_slot *slot = &c->slots[c->next];
    c->next = (c->next + 1) % c->ahead;
    int error = await_slot(t, slot, NULL);
    return error != COVEY_OK ? error : send_face(t, c, slot, &face);
}

int tiles_channel_flush(struct covey_tiles *t, struct tiles_channel *c)
{
    int error = COVEY_OK;
    for (int i = 0; c->slots != NULL && i < c->ahead && error == COVEY_OK; i++)
        error = await_slot(t, &c->slots[i], NULL);
    return error;
}

void tiles_channel_abandon(struct covey_tiles *t, struct tiles_channel *c)
{
    for (int i = 0; c->slots != NULL && i < c->ahead; i++)
        tiles_abandon(&t->talk, &c->slots[i].message);
}

/* ---- blocking -------------------------------------------------------------------------------- */

/* An empty message says that a face was received: a send lasts until then, as MPI_Ssend() does in
 * section 5.3. It has a lane of its own. */
static struct tiles_array receipt_of(const struct covey_tiles *t, const struct tiles_channel *c)
{
    return (struct tiles_array){
        .lane = TILES_RECEIPT + lane_of(t, c), .rank = c->rank, .type = t->shape.type};
}

int tiles_channel_take_now(struct covey_tiles *t, struct tiles_channel *c, int64_t k)
{
    struct tiling_box face;
    struct tiles_message receipt = {NULL};
    size_t count = 0;
    if (!face_of(t, c, k, &face))
        return COVEY_OK;
    if (c->window.memory != NULL)
        return tiles_window_take(t, &c->window, &face);
    int error = receive_into(t, c, &c->slots[0]);
    if (error == COVEY_OK)
        error = await_slot(t, &c->slots[0], &count);
    const struct tiles_array array = receipt_of(t, c);
    uint64_t since_us = clock_us();
    if (error == COVEY_OK)
        error = tiles_send(&t->talk, &array, &receipt);
    if (error == COVEY_OK)
        error = tiles_await(&t->talk, &receipt, NULL);
    tiles_abandon(&t->talk, &receipt);
    tiles_book(&since_us, &t->timing.communication_s);
    return error != COVEY_OK ? error : channel_unpack(t, c, &c->slots[0], &face, count);
}

int tiles_channel_give_now(struct covey_tiles *t, struct tiles_channel *c, int64_t k)
{
    struct tiling_box face;
    struct tiles_message receipt = {NULL};
    if (!face_of(t, c, k, &face))
        return COVEY_OK;
    if (c->window.memory != NULL) {
        int failed = tiles_window_give(t, &c->window, &face);
        return failed != COVEY_OK ? failed : tiles_window_await_taker(t, &c->window);
    }
    const struct tiles_array array = receipt_of(t, c);
    int error = send_face(t, c, &c->slots[0], &face);
    uint64_t since_us = clock_us();
    if (error == COVEY_OK)
        error = tiles_receive(&t->talk, &array, &receipt);
    if (error == COVEY_OK)
        error = tiles_await(&t->talk, &c->slots[0].message, NULL);
    if (error == COVEY_OK)
        error = tiles_await(&t->talk, &receipt, NULL);
    tiles_abandon(&t->talk, &receipt);
    tiles_book(&since_us, &t->timing.idle_s);
    return error;
}
