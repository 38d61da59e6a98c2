/*
 * bag_copy.c - a backup's copy of a bag: it follows the log of one holder, record by record. A log
 * that does not continue the copy is refused, and the holder begins anew; the copy that there is
 * stays as it is until a whole new one has come.
 */
#include "proto/bag/bag_holder.h"

#include <stdlib.h>

static bool records_apply(struct bag *bag, struct cursor *c, uint64_t *count)
{
    for (struct bag_record r; cursor_left(c) > 0; (*count)++) {
        bag_record_get(c, &r);
        if (!cursor_ok(c) || bag_apply(bag, &r) != BAG_OK)
            return false;
    }
    return cursor_ok(c);
}

static bool copy_begin(struct bag_copy *copy, uint32_t host, const struct bag_log *log,
                       struct cursor *c)
{
    struct bag_params params;
    uint64_t count = 0;
    bag_params_get(c, &params);
    struct bag *bag = cursor_ok(c) ? bag_create(&params) : NULL;
    if (bag == NULL || !records_apply(bag, c, &count)) {
        bag_destroy(bag);
        return false;
    }
    bag_destroy(copy->bag);
    *copy = (struct bag_copy){
        .bag = bag, .holder = host, .term = log->epoch, .position = log->position};
    return true;
}

static bool copy_go_on(struct bag_copy *copy, uint32_t host, const struct bag_log *log,
                       struct cursor *c)
{
    uint64_t count = 0;
    if (copy->bag == NULL || copy->holder != host || copy->term != log->epoch ||
        copy->position != log->position)
        return false;
    bool good = records_apply(copy->bag, c, &count);
    copy->position += count;
    return good;
}

bool bag_copy_take(struct bag_copy *copy, uint32_t host, const uint8_t *bytes, size_t size,
                   struct bag_log *ack)
{
    struct cursor c = cursor_reader(bytes, size);
    struct bag_log log;
    bag_log_get(&c, &log);
    if (!cursor_ok(&c))
        return false;
    bool good = log.flags & BAG_LOG_BEGIN ? copy_begin(copy, host, &log, &c)
                                          : copy_go_on(copy, host, &log, &c);
    *ack = (struct bag_log){.bag = log.bag,
                            .epoch = log.epoch,
                            .flags = good ? 0 : BAG_LOG_REFUSED,
                            .position = good ? copy->position : 0};
    return true;
}

struct bag *bag_copy_give_up(struct bag_copy *copy)
{
    struct bag *bag = copy->bag;
    *copy = (struct bag_copy){.bag = NULL};
    return bag;
}
