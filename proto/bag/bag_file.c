/*
 * bag_file.c - what is left of a bag as a file; see bag_file.h.
 */
#include "proto/bag/bag_file.h"

#include <string.h>

static const uint8_t magic[8] = {'C', 'O', 'V', 'E', 'Y', 'B', 'A', 'G'};

static uint64_t sum_of(const uint8_t *bytes, size_t size)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

void bag_file_state_put(uint8_t bytes[BAG_FILE_STATE_BYTES], uint32_t state)
{
    struct cursor c = cursor_writer(bytes, BAG_FILE_STATE_BYTES);
    cursor_put_u32(&c, state);
}

void bag_file_head(uint8_t head[BAG_FILE_HEAD_BYTES], uint32_t state, const uint8_t *records,
                   size_t size)
{
    struct cursor c = cursor_writer(head, BAG_FILE_HEAD_BYTES);
    cursor_put_bytes(&c, magic, sizeof magic);
    cursor_put_u32(&c, BAG_FILE_VERSION);
    cursor_put_u32(&c, state);
    cursor_put_u64(&c, size);
    cursor_put_u64(&c, sum_of(records, size));
}

/* Of kinds that are about attachments none is left. */
static bool is_of_rest(const struct bag_record *r)
{
    return r->kind == BAG_PUT || r->kind == BAG_DEATH || r->kind == BAG_DONE ||
           r->kind == BAG_ASIDE || r->kind == BAG_COUNT || r->kind == BAG_CLOSE;
}

/* What comes of them is a bag: whatever they say. */
static bool records_fit(const struct bag_file *file, struct bag *bag)
{
    bool counted = false;
    struct cursor c = cursor_reader(file->records, file->size);
    for (struct bag_record r; cursor_left(&c) > 0; counted |= r.kind == BAG_COUNT) {
        bag_record_get(&c, &r);
        if (!cursor_ok(&c) || !is_of_rest(&r) || (counted && r.kind != BAG_CLOSE) ||
            bag_apply(bag, &r) != BAG_OK)
            return false;
    }
    /* Results leave in the order of items from there on: none may stand before it. */
    bool reached = bag->next_given <= bag->next;
    for (uint64_t n = bag->base; n < bag->next_given && reached && bag->params.in_order; n++)
        reached = bag_find(bag, n) == NULL;
    return counted && reached;
}

bool bag_file_records(const uint8_t *records, size_t size, struct bag_file *file)
{
    struct bag_file f = {.size = 0, .state = BAG_FILE_READY};
    struct bag_record first;
    struct cursor c = cursor_reader(records, size);
    bag_record_get(&c, &first);
    if (!cursor_ok(&c) || first.kind != BAG_PARAMS || first.size == 0)
        return false;
    struct cursor params = cursor_reader(first.bytes, first.size);
    bag_params_get(&params, &f.params);
    f.size = cursor_left(&c);
    f.records = cursor_get_view(&c, f.size);
    struct bag *bag = cursor_done(&params) && f.size > 0 ? bag_create(&f.params) : NULL;
    bool good = bag != NULL && records_fit(&f, bag);
    if (good) {
        f.items = bag->ready_count;
        f.results = bag->results.count;
        f.closed = bag->closed;
        f.counters = bag->counters;
        *file = f;
    }
    bag_destroy(bag);
    return good;
}

const char *bag_file_read(const uint8_t *bytes, size_t size, struct bag_file *file)
{
    struct cursor c = cursor_reader(bytes, size);
    const uint8_t *begin = cursor_get_view(&c, sizeof magic);
    if (!cursor_ok(&c) || memcmp(begin, magic, sizeof magic) != 0)
        return "it holds no bag";
    uint32_t version = cursor_get_u32(&c);
    uint32_t state = cursor_get_u32(&c);
    uint64_t length = cursor_get_u64(&c);
    uint64_t sum = cursor_get_u64(&c);
    if (cursor_ok(&c) && version != BAG_FILE_VERSION)
        return "it is of another version of Covey";
    if (!cursor_ok(&c) || state > BAG_FILE_LOADED || length != cursor_left(&c))
        return "it is cut off, or has more than it should";
    const uint8_t *records = cursor_get_view(&c, (size_t)length);
    if (sum_of(records, (size_t)length) != sum)
        return "it was damaged: its sum is another one";
    if (!bag_file_records(records, (size_t)length, file))
        return "its records make no bag";
    file->state = state;
    return NULL;
}
