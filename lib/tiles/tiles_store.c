/*
 * tiles_store.c - the values of a box of a tiled loop's space, by rows along its last dimension.
 *
 * Of a lattice there is a place for each step of it along each dimension, basis[i][i] indices: two
 * points that share one differ in a component before. So nothing is left empty, and how far apart
 * two values are depends on where in their steps the points are, which is the same all along a row.
 *
 * Whatever happens to values goes by rows: those of a tile that are in the space. Of a skewed space
 * the box has places that are not; those that a point inside depends on are the border, all others
 * are left alone, by faces too: another task may have a border value there.
 */
#include "lib/msg/error.h"
#include "lib/tiles/tiles.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE_PAGE ((size_t)2 << 20)

/* Which step along dimension i an index is in. */
static int64_t cell(const struct tiles_store *store, int i, int64_t index)
{
    int64_t step = store->shape->space.basis.at[i][i];
    return step == 1 ? index : index / step - (index % step < 0);
}

/* The offsets of a point depend on where in its steps it is: in which phase. */
static ptrdiff_t *offsets_at(const struct tiles_store *store, const int64_t *p)
{
    const struct tiling_space *space = &store->shape->space;
    int64_t phase = 0;
    for (int i = 0; i < space->dims && space->density > 1; i++) {
        int64_t step = space->basis.at[i][i];
        phase = phase * step + p[i] - cell(store, i, p[i]) * step;
    }
    return store->offsets + phase * store->shape->d.count;
}

/* Of all places within the first step of each dimension. */
static void fill_offsets(struct tiles_store *store)
{
    const struct tiles_shape *shape = store->shape;
    const struct tiling_space *space = &shape->space;
    for (int64_t phase = 0; phase < space->density; phase++) {
        int64_t p[TILING_DIMS_MAX], rest = phase;
        for (int i = space->dims - 1; i >= 0; i--) {
            p[i] = rest % space->basis.at[i][i];
            rest /= space->basis.at[i][i];
        }
        ptrdiff_t *offsets = offsets_at(store, p);
        for (int j = 0; j < shape->d.count; j++) {
            for (int i = 0; i < space->dims; i++)
                offsets[j] += (ptrdiff_t)cell(store, i, p[i] - shape->d.vector[j][i]) *
                              store->stride[i] * (ptrdiff_t)shape->width;
        }
    }
}

/* All zero, and touched: the kernel has its work with a page when it is touched first, which would
 * else be a part of what the loop takes, and of a large one more than the arithmetic. Large pages
 * are a small part of that work. */
static uint8_t *values_create(size_t bytes)
{
    size_t whole = (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    if (bytes < LARGE_PAGE || whole < bytes)
        return calloc(bytes > 0 ? bytes : 1, 1);
    uint8_t *values = aligned_alloc(LARGE_PAGE, whole);
    if (values == NULL)
        return NULL;
    madvise(values, whole, MADV_HUGEPAGE); /* if there are any */
    return memset(values, 0, whole);
}

int tiles_store_create(struct tiles_store *store, const struct tiles_shape *shape,
                       const struct tiling_box *box)
{
    struct tiles_store made = {.shape = shape, .box = *box};
    size_t count = 1;
    bool fits = true;
    for (int i = shape->space.dims - 1; i >= 0; i--) {
        int64_t side = box->end[i] > box->first[i]
                           ? cell(&made, i, box->end[i] - 1) - cell(&made, i, box->first[i]) + 1
                           : 0;
        made.stride[i] = (ptrdiff_t)count;
        fits = fits && !__builtin_mul_overflow(count, (size_t)side, &count) &&
               count < PTRDIFF_MAX / shape->value_bytes;
    }
    made.values = fits ? values_create(count * shape->value_bytes) : NULL;
    made.offsets =
        calloc((size_t)shape->space.density * (size_t)(shape->d.count + 1), sizeof *made.offsets);
    if (made.values == NULL || made.offsets == NULL) {
        tiles_store_destroy(&made);
        return error_set(COVEY_ENOMEM, "tiles: no memory for the values of a part");
    }
    fill_offsets(&made);
    *store = made;
    return COVEY_OK;
}

void tiles_store_destroy(struct tiles_store *store)
{
    free(store->values);
    free(store->offsets);
    store->values = NULL;
    store->offsets = NULL;
}

uint8_t *tiles_store_at(const struct tiles_store *store, const int64_t *p)
{
    ptrdiff_t at = 0;
    if (store->values == NULL)
        return NULL;
    for (int i = 0; i < store->shape->space.dims; i++)
        at += (ptrdiff_t)(cell(store, i, p[i]) - cell(store, i, store->box.first[i])) *
              store->stride[i];
    return store->values + at * (ptrdiff_t)store->shape->value_bytes;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool row_begin(const struct covey_tile *tile, int64_t *place)
{
    int dims = tile->store->shape->space.dims;
    memcpy(place, tile->box.first, (size_t)dims * sizeof *place);
    for (int i = 0; i < dims; i++) {
        if (tile->box.first[i] >= tile->box.end[i])
            return false;
    }
    return true;
}

/* To the next row of the box, as an odometer goes on. */
static bool row_go_on(const struct covey_tile *tile, int64_t *place)
{
    for (int i = tile->store->shape->space.dims - 2; i >= 0; i--) {
        if (++place[i] < tile->box.end[i])
            return true;
        place[i] = tile->box.first[i];
    }
    return false;
}

static void fill_row(const struct tiles_store *store, struct covey_tile_row *row, int64_t first,
                     int64_t end)
{
    const struct tiling_space *space = &store->shape->space;
    int last = space->dims - 1;
    row->place[last] = first;
    tiling_space_point(space, row->place, row->point);
    int64_t step = space->basis.at[last][last];
    for (int i = 0; i <= last; i++)
        row->step[i] = (int32_t)(space->back.at[i][last] * step / space->density);
    row->count = (end - first) / step;
    row->values = tiles_store_at(store, row->place);
    row->offset = store->offsets != NULL ? offsets_at(store, row->place) : NULL;
}

int covey_tile_next(const covey_tile_t *tile, struct covey_tile_row *row)
{
    const struct tiling_space *space = &tile->store->shape->space;
    int last = space->dims - 1;
    bool more = row->count == 0 ? row_begin(tile, row->place) : row_go_on(tile, row->place);
    for (; more; more = row_go_on(tile, row->place)) {
        int64_t first = tile->box.first[last], end = tile->box.end[last];
        if (tiling_space_row(space, row->place, &first, &end)) {
            fill_row(tile->store, row, first, end);
            return 1;
        }
    }
    row->count = 0;
    return 0;
}

size_t tiles_store_count(const struct tiles_store *store, const struct tiling_box *box)
{
    const struct covey_tile tile = {store, *box};
    struct covey_tile_row row = {0};
    size_t count = 0;
    while (covey_tile_next(&tile, &row))
        count += (size_t)row.count;
    return count;
}

size_t tiles_store_pack(const struct tiles_store *store, const struct tiling_box *box,
                        uint8_t *buffer)
{
    const struct covey_tile tile = {store, *box};
    struct covey_tile_row row = {0};
    size_t count = 0, width = store->shape->value_bytes;
    while (covey_tile_next(&tile, &row)) {
        memcpy(buffer + count * width, row.values, (size_t)row.count * width);
        count += (size_t)row.count;
    }
    return count;
}

size_t tiles_store_unpack(const struct tiles_store *store, const struct tiling_box *box,
                          const uint8_t *buffer)
{
    const struct covey_tile tile = {store, *box};
    struct covey_tile_row row = {0};
    size_t count = 0, width = store->shape->value_bytes;
    while (covey_tile_next(&tile, &row)) {
        memcpy(row.values, buffer + count * width, (size_t)row.count * width);
        count += (size_t)row.count;
    }
    return count;
}

/* ---- the border ------------------------------------------------------------------------------ */

struct border {
    struct tiles_store *store;
    const struct tiling_box *part;
    const struct covey_tiles_loop *loop;
};

/* Points p of a row, from `first` to before `end` along the last dimension. */
static void border_ask(const struct border *b, int64_t *p, int64_t first, int64_t end)
{
    const struct tiling_space *space = &b->store->shape->space;
    int last = space->dims - 1;
    for (p[last] = first; p[last] < end; p[last] += space->basis.at[last][last]) {
        int64_t point[TILING_DIMS_MAX] = {0};
        tiling_space_point(space, p, point);
        b->loop->outside(point, tiles_store_at(b->store, p), b->loop->context);
    }
}

/* The points of the row of p on which those depend that are further by d, in the part and in the
 * space: *first to before *end. */
static bool depended(const struct border *b, const int64_t *p, const int64_t *d, int64_t *first,
                     int64_t *end)
{
    const struct tiling_space *space = &b->store->shape->space;
    int last = space->dims - 1;
    int64_t q[TILING_DIMS_MAX];
    for (int i = 0; i < last; i++) {
        q[i] = p[i] + d[i];
        if (q[i] < b->part->first[i] || q[i] >= b->part->end[i])
            return false;
    }
    *first = b->part->first[last];
    *end = b->part->end[last];
    if (!tiling_space_row(space, q, first, end))
        return false;
    *first -= d[last];
    *end -= d[last];
    return true;
}

void tiles_store_border(struct tiles_store *store, const struct tiling_box *part,
                        const struct covey_tiles_loop *loop)
{
    const struct border b = {store, part, loop};
    const struct covey_tile all = {store, store->box};
    int64_t p[TILING_DIMS_MAX];
    if (loop->outside == NULL)
        return;
    for (bool more = row_begin(&all, p); more; more = row_go_on(&all, p)) {
        const struct tiles_shape *shape = b.store->shape;
        int last = shape->space.dims - 1;
        int64_t in_first = shape->space.box.first[last], in_end = shape->space.box.end[last];
        if (!tiling_space_row(&shape->space, p, &in_first, &in_end))
            in_first = in_end = INT64_MAX;
        for (int j = 0; j < shape->d.count; j++) {
            int64_t first, end;
            if (!depended(&b, p, shape->d.vector[j], &first, &end))
                continue;
            border_ask(&b, p, first, end < in_first ? end : in_first);
            border_ask(&b, p, first > in_end ? first : in_end, end);
        }
    }
}
