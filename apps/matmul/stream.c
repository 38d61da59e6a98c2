/*
 * stream.c - the plan of the two streams of panels, and the transfers that carry it out. The plan
 * is made once, from the task's place in the grid alone; the transfers look only at what the plan
 * says, so that the grid cannot lock up (stream.h tells why).
 */
#include "apps/matmul/stream.h"

#include "apps/block.h"
#include "apps/matmul/grid.h"
#include "apps/memory.h"

#include <stdlib.h>

#define TAG_A 0x100000
#define TAG_B 0x200000
#define ROLL_AHEAD                                                                                 \
    2 /* panels of B that may go before their turn: theirs comes a step later at the neighbour */

int stream_panels(int64_t n, int q, int width)
{
    int64_t smallest = block_size(n, q, q - 1);
    int64_t panels = (block_size_max(n, q) + width - 1) / width;
    if (panels > smallest)
        panels = smallest;
    return panels > 0 ? (int)panels : 1;
}

/* The inner block of step k: B has rolled k times, up, so task (i,j) now holds B(i+k,j). */
static int inner_block(const struct stream_place *place, int t)
{
    return (place->row + t / place->panels) % place->q;
}

void stream_inner(const struct stream_place *place, int t, int64_t *first, int64_t *size)
{
    int block = inner_block(place, t);
    int64_t block_elements = block_size(place->n, place->q, block);
    int panel = t % place->panels;
    *first =
        block_first(place->n, place->q, block) + block_first(block_elements, place->panels, panel);
    *size = block_size(block_elements, place->panels, panel);
}

static int parcels_plan(const struct stream_place *place, struct stream *stream)
{
    *stream = (struct stream){.length = place->q * place->panels, .window = place->window};
    stream->parcels = calloc((size_t)stream->length, sizeof *stream->parcels);
    return stream->parcels == NULL ? COVEY_ENOMEM : 0;
}

/* Along the row: from the column before in the chain that starts at the owner, to the one behind.
 */
static void route_a(const struct stream_place *place, int root, struct parcel *parcel)
{
    int order[GRID_Q_MAX];
    grid_chain(place->row_hosts, place->q, root, order);
    int at = 0;
    while (order[at] != place->column)
        at++;
    int first = place->row * place->q;
    parcel->source = at > 0 ? first + order[at - 1] : -1;
    parcel->target = at + 1 < place->q ? first + order[at + 1] : -1;
}

int stream_plan_a(const struct stream_place *place, struct stream *stream)
{
    if (parcels_plan(place, stream) < 0)
        return COVEY_ENOMEM;
    stream->depth = place->window;
    stream->tag = TAG_A;
    for (int t = 0; t < stream->length; t++) {
        struct parcel *parcel = &stream->parcels[t];
        int64_t first;
        int64_t size;
        stream_inner(place, t, &first, &size);
        parcel->rows = (size_t)block_size(place->n, place->q, place->row);
        parcel->columns = (size_t)size;
        route_a(place, inner_block(place, t), parcel);
    }
    return 0;
}

int stream_plan_b(const struct stream_place *place, struct stream *stream)
{
    if (parcels_plan(place, stream) < 0)
        return COVEY_ENOMEM;
    int q = place->q;
    stream->depth = place->panels + place->window;
    stream->window = place->window < ROLL_AHEAD ? place->window : ROLL_AHEAD;
    stream->tag = TAG_B;
    stream->hop = place->panels;
    for (int t = 0; t < stream->length; t++) {
        struct parcel *parcel = &stream->parcels[t];
        int64_t first;
        int64_t size;
        stream_inner(place, t, &first, &size);
        parcel->rows = (size_t)size;
        parcel->columns = (size_t)block_size(place->n, q, place->column);
        bool rolls_on = t + place->panels < stream->length; /* not after the last step */
        parcel->source = t < place->panels ? -1 : (place->row + 1) % q * q + place->column;
        parcel->target = rolls_on ? (place->row + q - 1) % q * q + place->column : -1;
    }
    return 0;
}

/* ---- Buffers ----------------------------------------------------------------------------- */

static size_t parcel_elements(const struct parcel *parcel)
{
    return parcel->rows * parcel->columns;
}

int stream_allocate(struct stream *stream, double *own)
{
    size_t most = 0;
    for (int t = 0; t < stream->length; t++)
        if (parcel_elements(&stream->parcels[t]) > most)
            most = parcel_elements(&stream->parcels[t]);
    stream->slot_elements = most;
    stream->ring =
        memory_ready((size_t)stream->depth, (stream->slot_elements + 1) * sizeof(double));
    if (stream->ring == NULL)
        return COVEY_ENOMEM;
    for (int t = 0; t < stream->length; t++) {
        struct parcel *parcel = &stream->parcels[t];
        bool in_place = parcel->source < 0;
        parcel->data = in_place && own != NULL
                           ? own
                           : stream->ring + (size_t)(t % stream->depth) * stream->slot_elements;
        parcel->posted = parcel->arrived = in_place;
        if (in_place && own != NULL)
            own += parcel_elements(parcel);
    }
    return 0;
}

/* ---- Transfers --------------------------------------------------------------------------- */

/* Whether the parcel's place in the ring is free at sequence number `now`: 1, 0 or an error. */
static int is_free(struct stream *stream, int t, int now)
{
    int before = t - stream->depth;
    if (before < 0)
        return 1;
    struct parcel *old = &stream->parcels[before];
    if (before >= now || !old->passed)
        return 0;
    int result = old->out == NULL ? 1 : covey_test(old->out);
    if (result == 1)
        covey_req_free(&old->out);
    return result;
}

static int stream_post(struct stream *stream, covey_t *vm, const covey_tid_t *tids, int now)
{
    while (stream->next_post < stream->length) {
        int t = stream->next_post;
        struct parcel *parcel = &stream->parcels[t];
        if (!parcel->posted) {
            int result = is_free(stream, t, now);
            if (result <= 0)
                return result;
            result = covey_irecv_array(vm, tids[parcel->source], stream->tag + t, COVEY_DOUBLE,
                                       parcel->data, parcel_elements(parcel), &parcel->in);
            if (result < 0)
                return result;
            parcel->posted = true;
        }
        stream->next_post++;
    }
    return 0;
}

/* Books the arrival. Returns 1, 0 (not yet) or an error. */
static int check_arrival(struct parcel *parcel)
{
    if (parcel->arrived || !parcel->posted)
        return parcel->arrived;
    int result = covey_test(parcel->in);
    if (result != 1)
        return result;
    size_t count = 0;
    covey_req_result(parcel->in, NULL, NULL, &count);
    covey_req_free(&parcel->in);
    parcel->arrived = true;
    return count == parcel_elements(parcel) ? 1 : COVEY_EPROTO;
}

static int stream_pass(struct stream *stream, covey_t *vm, const covey_tid_t *tids, int now)
{
    while (stream->next_pass < stream->length && stream->next_pass < now + stream->window) {
        struct parcel *parcel = &stream->parcels[stream->next_pass];
        int result = check_arrival(parcel);
        if (result <= 0)
            return result;
        if (parcel->target >= 0)
            result = covey_isend_array(vm, tids[parcel->target],
                                       stream->tag + stream->next_pass + stream->hop, COVEY_DOUBLE,
                                       parcel->data, parcel_elements(parcel), &parcel->out);
        if (result < 0)
            return result;
        parcel->passed = true;
        stream->next_pass++;
    }
    return 0;
}

int stream_pump(struct stream *stream, covey_t *vm, const covey_tid_t *tids, int now)
{
    int error = stream_post(stream, vm, tids, now);
    return error < 0 ? error : stream_pass(stream, vm, tids, now);
}

bool stream_ready(const struct stream *stream, int now)
{
    return stream->parcels[now].arrived;
}

/* Only what stream_pump() would act upon: a complete request that it leaves alone would make the
 * caller spin. */
void stream_watch(const struct stream *stream, int now, covey_req_t **reqs, size_t *n)
{
    if (stream->next_pass < stream->length && stream->next_pass < now + stream->window)
        reqs[(*n)++] = stream->parcels[stream->next_pass].in;
    int before = stream->next_post - stream->depth;
    if (stream->next_post < stream->length && before >= 0 && before < now)
        reqs[(*n)++] = stream->parcels[before].out;
}

int stream_drain(struct stream *stream)
{
    for (int t = 0; t < stream->length; t++) {
        struct parcel *parcel = &stream->parcels[t];
        if (parcel->out == NULL)
            continue;
        int error = covey_wait(parcel->out, COVEY_FOREVER);
        if (error < 0)
            return error;
        covey_req_free(&parcel->out);
    }
    return 0;
}

void stream_free(struct stream *stream)
{
    for (int t = 0; stream->parcels != NULL && t < stream->length; t++) {
        covey_req_free(&stream->parcels[t].in);
        covey_req_free(&stream->parcels[t].out);
    }
    free(stream->parcels);
    free(stream->ring);
    *stream = (struct stream){0};
}
