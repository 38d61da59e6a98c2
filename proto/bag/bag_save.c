/*
 * bag_save.c - a bag as the records of which it can be made again: for a host that is to have a
 * copy, all of it; for a file, what is left of it without those who use it.
 */
#include "proto/bag/bag.h"

struct copy {
    struct bag_parcel *out;
    uint64_t records;
};

static void copy_add(struct copy *copy, const struct bag_record *r)
{
    bag_parcel_add(copy->out, r);
    copy->records++;
}

static void item_save(const struct bag_item *item, struct copy *copy)
{
    struct bag_record r = {
        .kind = BAG_PUT, .number = item->number, .term = item->term, .priority = item->priority};
    if (item->state != BAG_IS_DONE) {
        r.bytes = item->bytes;
        r.size = item->size;
    }
    copy_add(copy, &r);
    if (item->deaths > 0)
        copy_add(copy, &(struct bag_record){
                           .kind = BAG_DEATH, .number = item->number, .flag = item->deaths});
}

static void result_save(const struct bag_item *item, struct copy *copy)
{
    struct bag_record r = {.kind = BAG_ASIDE, .number = item->number, .task = item->worker};
    if (item->state == BAG_IS_DONE) {
        r.kind = BAG_DONE;
        r.bytes = item->bytes;
        r.size = item->size;
    }
    copy_add(copy, &r);
}

static void member_save(const struct bag_member *member, struct copy *copy)
{
    uint8_t taken[8];
    struct cursor c = cursor_writer(taken, sizeof taken);
    struct bag_record r = {.kind = BAG_JOIN,
                           .task = member->task,
                           .handle = member->handle,
                           .number = member->applied,
                           .bytes = taken,
                           .size = sizeof taken};
    cursor_put_u64(&c, member->taken);
    copy_add(copy, &r);
    r = (struct bag_record){.kind = BAG_GIVE, .task = member->task, .handle = member->handle};
    for (const struct bag_item *item = member->given.first; item != NULL; item = item->next) {
        result_save(item, copy);
        r.number = item->number;
        copy_add(copy, &r);
    }
}

static void items_save(const struct bag *bag, struct copy *copy)
{
    for (uint64_t number = bag->base; number < bag->next; number++)
        if (bag_find(bag, number) != NULL)
            item_save(bag_find(bag, number), copy);
}

static void results_save(const struct bag_results *results, struct copy *copy)
{
    for (const struct bag_item *item = results->first; item != NULL; item = item->next)
        result_save(item, copy);
}

static void counts_save(const struct bag *bag, uint64_t next_given, struct copy *copy)
{
    uint8_t bytes[40];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    cursor_put_u64(&c, next_given);
    cursor_put_u64(&c, bag->counters.put);
    cursor_put_u64(&c, bag->counters.done);
    cursor_put_u64(&c, bag->counters.given);
    cursor_put_u64(&c, bag->counters.set_aside);
    copy_add(copy,
             &(struct bag_record){
                 .kind = BAG_COUNT, .number = bag->next, .bytes = bytes, .size = sizeof bytes});
    if (bag->closed)
        copy_add(copy, &(struct bag_record){.kind = BAG_CLOSE});
}

void bag_save(const struct bag *bag, struct bag_parcel *out, uint64_t *records)
{
    struct copy copy = {.out = out};
    items_save(bag, &copy);
    results_save(&bag->results, &copy);
    for (const struct bag_member *m = bag->members; m != NULL; m = m->next)
        member_save(m, &copy);
    counts_save(bag, bag->next_given, &copy);
    if (bag->frozen.how != 0)
        copy_add(&copy, &(struct bag_record){.kind = BAG_FREEZE,
                                             .flag = bag->frozen.how,
                                             .task = bag->frozen.task,
                                             .handle = bag->frozen.handle});
    *records = copy.records;
}

void bag_save_rest(const struct bag *bag, struct bag_parcel *out)
{
    struct copy copy = {.out = out};
    uint8_t bytes[BAG_PARAMS_BYTES_MAX];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    uint64_t next_given = bag->next_given;
    bag_params_put(&c, &bag->params);
    copy_add(&copy, &(struct bag_record){
                        .kind = BAG_PARAMS, .bytes = bytes, .size = (size_t)(c.at - bytes)});
    items_save(bag, &copy);
    for (const struct bag_member *m = bag->members; m != NULL; m = m->next) {
        results_save(&m->given, &copy);
        for (const struct bag_item *item = m->given.first; item != NULL; item = item->next)
            next_given = item->number < next_given ? item->number : next_given;
    }
    results_save(&bag->results, &copy);
    counts_save(bag, next_given, &copy);
}
