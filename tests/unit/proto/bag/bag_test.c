/* links: proto/bag/bag.c proto/bag/bag_lease.c proto/bag/bag_queue.c proto/bag/bag_save.c proto/bag/bag_share.c proto/bag/bag_wire.c proto/bag/bag_parts.c proto/bag/bag_holder.c proto/bag/bag_backup.c proto/bag/bag_answer.c proto/bag/bag_copy.c proto/bag/bag_user.c proto/wire/cursor.c */
/*
 * bag_test.c - what a bag gives to whom, and when; its records and parts as bytes.
 */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "proto/bag/bag_holder.h"
#include "proto/bag/bag_parts.h"
#include "proto/bag/bag_user.h"
#include "tests/unit/memory.h"
#include "tests/unit/runner.h"

static bool memory_is_out; /* for a record of 1000 bytes */

static bool memory_fails(size_t size)
{
    return memory_is_out && size == 1000;
}

static const struct bag_params plain = {.deaths_max = 3, .name = "b"};

static struct bag *bag_of(const struct bag_params *params)
{
    struct bag *bag = bag_create(params);
    CU_ASSERT_FATAL(bag != NULL && bag_hold(bag));
    return bag;
}

static void put(struct bag *bag, int32_t priority)
{
    const struct bag_record r = {
        .kind = BAG_PUT, .number = bag->next, .term = 1, .priority = priority};
    CU_ASSERT_EQUAL(bag_apply(bag, &r), BAG_OK);
}

static struct bag_member *join(struct bag *bag, uint32_t task, uint32_t hold)
{
    CU_ASSERT_EQUAL(bag_apply(bag, &(struct bag_record){.kind = BAG_JOIN, .task = task}), BAG_OK);
    struct bag_member *m = bag_member_find(bag, task, 0);
    m->served.hold = hold;
    return m;
}

static void takes(struct bag *bag, struct bag_member *m, uint64_t now_us, int64_t number)
{
    const struct bag_item *item = bag_take(bag, m, now_us);
    CU_ASSERT_EQUAL(item == NULL ? -1 : (int64_t)item->number, number);
}

static void ignore(void *context, struct bag_member *member, const struct bag_item *item)
{
    (void)context, (void)member, (void)item;
}

static void done(struct bag *bag, struct bag_member *m, uint64_t number)
{
    bag_release(bag, bag_find(bag, number), m, ignore, NULL, 1000);
    const struct bag_record r = {.kind = BAG_DONE, .number = number, .task = m->task};
    CU_ASSERT_EQUAL(bag_apply(bag, &r), BAG_OK);
}

static void note_death(void *context, struct bag_item *item)
{
    bag_apply(context, &(struct bag_record){
                           .kind = BAG_DEATH, .number = item->number, .flag = item->deaths + 1});
}

static void by_priority_then_number(void)
{
    static const int32_t priorities[] = {0, 5, 0, 5, -1};
    struct bag *bag = bag_of(&plain);
    for (size_t i = 0; i < 5; i++)
        put(bag, priorities[i]);
    struct bag_member *m = join(bag, 7, 9);
    static const int64_t order[] = {1, 3, 0, 2, 4, -1};
    for (size_t i = 0; i < 6; i++)
        takes(bag, m, 0, order[i]);
    bag_destroy(bag);
}

static void no_more_than_it_holds(void)
{
    struct bag *bag = bag_of(&plain);
    struct bag_member *m = join(bag, 7, 2);
    for (int i = 0; i < 3; i++)
        put(bag, 0);
    takes(bag, m, 0, 0);
    takes(bag, m, 0, 1);
    takes(bag, m, 0, -1);
    done(bag, m, 0);
    takes(bag, m, 0, 2);
    bag_destroy(bag);
}

static void a_lease_runs_out(void)
{
    struct bag_params params = plain;
    params.lease_us = 100;
    struct bag *bag = bag_of(&params);
    struct bag_member *a = join(bag, 7, 1), *b = join(bag, 8, 1);
    put(bag, 0);
    takes(bag, a, 10, 0);
    CU_ASSERT_EQUAL(bag_expire(bag, 109), 110);
    takes(bag, b, 109, -1);
    CU_ASSERT_EQUAL(bag_expire(bag, 110), UINT64_MAX);
    takes(bag, b, 110, 0);
    done(bag, a, 0); /* late, and first */
    CU_ASSERT_EQUAL(b->served.held, 0);
    bag_destroy(bag);
}

static void the_last_ones_twice(void)
{
    struct bag *bag = bag_of(&plain);
    struct bag_member *a = join(bag, 7, 2), *b = join(bag, 8, 2), *c = join(bag, 9, 1);
    put(bag, 0);
    put(bag, 0);
    takes(bag, a, 0, 0);
    takes(bag, a, 50, 1);
    takes(bag, b, 60, -1); /* more may come, and it is not long ago */
    CU_ASSERT_EQUAL(bag_straggler_us(bag), BAG_STRAGGLER_US);
    takes(bag, b, BAG_STRAGGLER_US, 0);
    CU_ASSERT_EQUAL(bag_straggler_us(bag), 50 + BAG_STRAGGLER_US); /* the first one has two */
    bag_apply(bag, &(struct bag_record){.kind = BAG_CLOSE});
    takes(bag, b, BAG_STRAGGLER_US, -1); /* it has something */
    takes(bag, c, BAG_STRAGGLER_US, 1);
    done(bag, b, 0);
    CU_ASSERT_EQUAL(a->served.held, 1);
    takes(bag, b, BAG_STRAGGLER_US, -1); /* nobody has three */
    done(bag, a, 1);
    CU_ASSERT(bag_complete(bag));
    CU_ASSERT_EQUAL(bag->counters.done, 2);
    bag_destroy(bag);
}

static void the_last_ones_once(void)
{
    struct bag_params params = plain;
    params.single = true;
    struct bag *bag = bag_of(&params);
    struct bag_member *a = join(bag, 7, 2), *b = join(bag, 8, 2);
    put(bag, 0);
    takes(bag, a, 0, 0);
    CU_ASSERT_EQUAL(bag_straggler_us(bag), UINT64_MAX);
    takes(bag, b, BAG_STRAGGLER_US, -1);
    bag_apply(bag, &(struct bag_record){.kind = BAG_CLOSE});
    takes(bag, b, BAG_STRAGGLER_US, -1);
    bag_abandon(bag, a, note_death, bag);
    takes(bag, b, BAG_STRAGGLER_US, 0);
    bag_destroy(bag);
}

static void params_as_bytes(void)
{
    uint8_t body[BAG_PARAMS_BYTES_MAX];
    struct bag_params got = {.name = ""};
    for (int single = 0; single < 2; single++) {
        const struct bag_params params = {.lease_us = 5,
                                          .deaths_max = 3,
                                          .in_order = single == 0,
                                          .keep = single == 1,
                                          .copies = 2,
                                          .single = single == 1,
                                          .name = "b"};
        struct cursor c = cursor_writer(body, sizeof body);
        bag_params_put(&c, &params);
        c = cursor_reader(body, (size_t)(c.at - body));
        bag_params_get(&c, &got);
        CU_ASSERT(cursor_done(&c) && got.single == params.single && got.keep == params.keep &&
                  got.in_order == params.in_order && got.copies == 2);
    }
    for (unsigned flags = 0; flags < 256; flags++) {
        struct cursor c = cursor_reader(body, sizeof body);
        body[12] = (uint8_t)flags;
        bag_params_get(&c, &got);
        CU_ASSERT_EQUAL(cursor_ok(&c), flags < 32 && (flags >> 2 & 3) <= BAG_BACKUPS_MAX);
    }
}

/* The suspect is given alone, and whoever has it gets nothing else. */
static void a_suspect_alone(void)
{
    struct bag *bag = bag_of(&plain);
    struct bag_member *a = join(bag, 7, 4), *b = join(bag, 8, 4);
    for (int i = 0; i < 4; i++)
        put(bag, 0);
    takes(bag, a, 0, 0);
    takes(bag, b, 0, 1);
    bag_abandon(bag, a, note_death, bag);
    CU_ASSERT_EQUAL(bag_find(bag, 0)->deaths, 1);
    takes(bag, b, 0, -1); /* it comes to have nothing */
    done(bag, b, 1);
    takes(bag, b, 0, 0);
    takes(bag, b, 0, -1);
    takes(bag, a, 0, 2);
    done(bag, b, 0);
    takes(bag, b, 0, 3);
    bag_destroy(bag);
}

static void results_in_order(void)
{
    struct bag_params params = plain;
    params.in_order = true;
    struct bag *bag = bag_of(&params);
    struct bag_member *m = join(bag, 7, 9);
    for (int i = 0; i < 3; i++) {
        put(bag, 0);
        takes(bag, m, 0, i);
    }
    done(bag, m, 1);
    CU_ASSERT_PTR_NULL(bag_next_result(bag));
    done(bag, m, 0);
    for (uint64_t n = 0; n < 2; n++) {
        CU_ASSERT_EQUAL_FATAL(bag_next_result(bag)->number, n);
        bag_apply(bag, &(struct bag_record){.kind = BAG_GIVE, .number = n, .task = 7});
    }
    CU_ASSERT_PTR_NULL(bag_next_result(bag));
    bag_abandon(bag, m, note_death, bag);
    bag_apply(bag, &(struct bag_record){.kind = BAG_GONE, .task = 7});
    CU_ASSERT_EQUAL(bag_next_result(bag)->number, 0);
    bag_destroy(bag);
}

/* ---- a holder alone ---- */

static struct {
    uint8_t answer[4096];
    size_t size;
} heard;

static void on_answer(void *context, uint32_t task, struct bag_parcel *whole)
{
    (void)context, (void)task;
    heard.size = whole->used < sizeof heard.answer ? whole->used : sizeof heard.answer;
    memcpy(heard.answer, whole->bytes, heard.size);
}

static void on_watch(void *context, uint32_t task)
{
    (void)context, (void)task;
}

static void ask(struct bag_holder *h, uint32_t task, uint8_t flags, uint64_t number, uint32_t hold,
                const struct bag_record *record)
{
    struct bag_parcel p = {.bytes = NULL};
    struct cursor c = bag_parcel_room(&p, BAG_REQUEST_BYTES + (flags ? 4 : 0));
    bag_request_put(&c, &(struct bag_request){
                            .bag = 5, .term = 1, .flags = flags, .hold = hold, .number = number});
    if (flags & BAG_HELLO)
        cursor_put_u32(&c, 0);
    if (record != NULL)
        bag_parcel_add(&p, record);
    CU_ASSERT_PTR_NULL(bag_holder_request(h, task, p.bytes, p.used, 0));
    bag_holder_step(h, 0);
    bag_parcel_fini(&p);
}

/* After exactly three deaths it is aside, and a result says so. */
static void aside_after_k_deaths(void)
{
    const struct bag_holder_owner owner = {.answer = on_answer, .watch = on_watch};
    struct bag_holder *h = bag_holder_create(5, 1, bag_create(&plain), NULL, 0, &owner);
    ask(h, 1, BAG_HELLO, 1, 0,
        &(struct bag_record){.kind = BAG_PUT, .bytes = (const uint8_t *)"x", .size = 1});
    for (uint32_t worker = 2; worker < 5; worker++) {
        CU_ASSERT_EQUAL(bag_holder_bag(h)->ready_count, 1);
        ask(h, worker, BAG_HELLO, 1, 1, NULL);
        CU_ASSERT_EQUAL(bag_holder_bag(h)->leased_count, 1);
        bag_holder_task_gone(h, worker, true);
    }
    CU_ASSERT_EQUAL(bag_holder_bag(h)->counters.set_aside, 1);
    CU_ASSERT_EQUAL(bag_holder_bag(h)->results.count, 1);
    bag_holder_destroy(h);
}

/* Who ends in order leaves no suspect behind. */
static void nobody_died(void)
{
    const struct bag_holder_owner owner = {.answer = on_answer, .watch = on_watch};
    struct bag_holder *h = bag_holder_create(5, 1, bag_create(&plain), NULL, 0, &owner);
    ask(h, 1, BAG_HELLO, 1, 0, &(struct bag_record){.kind = BAG_PUT});
    for (uint32_t worker = 2; worker < 8; worker++) {
        ask(h, worker, BAG_HELLO, 1, 1, NULL);
        bag_holder_task_gone(h, worker, false);
    }
    CU_ASSERT_EQUAL(bag_holder_bag(h)->ready_count, 1);
    CU_ASSERT_EQUAL(bag_find(bag_holder_bag(h), 0)->deaths, 0);
    bag_holder_destroy(h);
}

/* A request that comes again changes nothing. */
static void a_record_once(void)
{
    const struct bag_holder_owner owner = {.answer = on_answer, .watch = on_watch};
    struct bag_holder *h = bag_holder_create(5, 1, bag_create(&plain), NULL, 0, &owner);
    const struct bag_record item = {.kind = BAG_PUT};
    ask(h, 1, BAG_HELLO, 1, 0, &item);
    ask(h, 1, BAG_HELLO, 1, 0, &item);
    ask(h, 1, 0, 2, 0, &item);
    ask(h, 1, 0, 2, 0, &item);
    CU_ASSERT_EQUAL(bag_holder_bag(h)->counters.put, 2);
    ask(h, 1, 0, 4, 0, &item); /* one is missing */
    CU_ASSERT_EQUAL(bag_holder_bag(h)->counters.put, 2);
    struct cursor c = cursor_reader(heard.answer, heard.size);
    struct bag_answer a = {.flags = 0};
    bag_answer_get(&c, &a);
    CU_ASSERT(a.flags & BAG_REFUSED);
    bag_holder_destroy(h);
}

static int32_t heard_error(void)
{
    struct cursor c = cursor_reader(heard.answer, heard.size);
    struct bag_answer a = {.flags = 0};
    bag_answer_get(&c, &a);
    return a.error;
}

/* What is put beyond the room is refused; a result waits, and comes in when there is room. */
static void room_is_not_exceeded(void)
{
    const struct bag_holder_owner owner = {.answer = on_answer, .watch = on_watch};
    static const uint8_t bytes[1000];
    struct bag_holder *h = bag_holder_create(5, 1, bag_create(&plain), NULL, 0, &owner);
    const struct bag_record item = {.kind = BAG_PUT};
    const struct bag_record large = {.kind = BAG_PUT, .bytes = bytes, .size = sizeof bytes};
    const struct bag_record result = {
        .kind = BAG_DONE, .number = 0, .term = 1, .bytes = bytes, .size = sizeof bytes};
    bag_holder_allow(h, bag_item_memory(0), 10);
    ask(h, 1, BAG_HELLO, 1, 0, &item);
    CU_ASSERT_EQUAL(heard_error(), 0);
    bag_holder_allow(h, bag_item_memory(sizeof bytes) - 1, 10);
    ask(h, 1, 0, 2, 0, &large);
    CU_ASSERT_EQUAL(heard_error(), -16); /* COVEY_ERESOURCE */
    CU_ASSERT_EQUAL(bag_holder_bag(h)->counters.put, 1);
    ask(h, 2, BAG_HELLO, 1, 1, NULL);
    ask(h, 2, 0, 1, 1, &result);
    CU_ASSERT_EQUAL(heard_error(), 0);
    CU_ASSERT(bag_holder_waits(h));
    CU_ASSERT_EQUAL(bag_holder_bag(h)->counters.done, 0);
    bag_holder_allow(h, 0, sizeof bytes);
    bag_holder_step(h, 0); /* it is told to begin anew */
    CU_ASSERT_FALSE(bag_holder_waits(h));
    ask(h, 2, BAG_HELLO, 1, 1, &result);
    CU_ASSERT_EQUAL(bag_holder_bag(h)->counters.done, 1);
    CU_ASSERT(bag_holder_memory(h) > sizeof bytes);
    bag_holder_destroy(h);
}

/* ---- the task's side ---- */

static void on_request(void *context, uint32_t host, const uint8_t *bytes, size_t size)
{
    (void)context, (void)host, (void)bytes, (void)size;
}

static void comes(struct bag_user *u, uint64_t number)
{
    struct bag_parcel p = {.bytes = NULL};
    struct cursor c = bag_parcel_room(&p, BAG_ANSWER_BYTES);
    bag_answer_put(&c, &(struct bag_answer){.bag = 5, .term = 1, .flags = BAG_WELCOME});
    bag_parcel_add(&p, &(struct bag_record){.kind = BAG_ITEM, .number = number, .term = 1});
    CU_ASSERT_PTR_NULL(bag_user_answer(u, 7, p.bytes, p.used, 0));
    bag_parcel_fini(&p);
}

/* Large ones come before small ones that were put earlier; a lease that ran out is given again. */
static void an_item_that_is_here(void)
{
    struct bag_user u = {.send = on_request};
    bag_user_found(&u, 5, 7, 0);
    bag_user_hunger(&u, 4);
    comes(&u, 9);
    comes(&u, 3);
    comes(&u, 9);
    comes(&u, 3);
    comes(&u, 4);
    CU_ASSERT_EQUAL(u.fresh.count, 3);
    CU_ASSERT_EQUAL(bag_user_begin(&u, 0)->number, 9);
    comes(&u, 9);
    CU_ASSERT_EQUAL(u.fresh.count, 2);
    bag_user_fini(&u);
}

/* ---- bytes ---- */

static void a_whole_in_parts(void)
{
    enum { SIZE = 2 * BAG_PART_BYTES + 17 };
    uint8_t *whole = malloc(SIZE), part[BAG_PART_HEAD_BYTES + BAG_PART_BYTES];
    struct bag_incoming *all = NULL;
    const struct bag_parcel *got = NULL;
    const char *refused = NULL;
    size_t parts = 0;
    for (size_t i = 0; i < SIZE; i++)
        whole[i] = (uint8_t)(i * 7);
    for (size_t at = 0; at < SIZE; parts++) {
        CU_ASSERT_PTR_NULL(got);
        size_t length = bag_part_put(part, whole, SIZE, &at);
        struct cursor c = cursor_reader(part, length);
        got = bag_incoming_take(&all, 9, &c, &refused);
        CU_ASSERT_PTR_NULL(refused);
    }
    CU_ASSERT_EQUAL(parts, 3);
    CU_ASSERT_FATAL(got != NULL && got->used == SIZE);
    CU_ASSERT_EQUAL(memcmp(got->bytes, whole, SIZE), 0);
    bag_incoming_fini(&all);
    free(whole);
}

/* What was sent, by the last digit of the receiver: its bytes, and those that may yet be sent. */
static struct {
    size_t used[3], room[3];
    uint8_t bytes[3][3 * BAG_PART_BYTES];
} sent;

static bool take_part(void *context, uint8_t kind, uint32_t to, const uint8_t *part, size_t size)
{
    size_t i = to % 10, length = size - BAG_PART_HEAD_BYTES;
    (void)context;
    CU_ASSERT_EQUAL(kind, 5);
    if (sent.room[i] < length)
        return false;
    memcpy(sent.bytes[i] + sent.used[i], part + BAG_PART_HEAD_BYTES, length);
    sent.used[i] += length;
    sent.room[i] -= length;
    return true;
}

static struct bag_parcel filled(size_t size, uint8_t with)
{
    struct bag_parcel p = {.bytes = malloc(size), .used = size, .capacity = size};
    memset(p.bytes, with, size);
    return p;
}

static void wholes_go_out_as_there_is_room(void)
{
    enum { SIZE = BAG_PART_BYTES + 17 };
    static const uint32_t both[] = {10, 11}, third[] = {12};
    struct bag_outgoing all = {NULL};
    struct bag_parcel first = filled(SIZE, 'a'), second = filled(3, 'b');
    memset(&sent, 0, sizeof sent);
    CU_ASSERT(bag_outgoing_add(&all, 5, both, 2, &first));
    CU_ASSERT_PTR_NULL(first.bytes);
    CU_ASSERT(bag_outgoing_add(&all, 5, both, 1, &second));
    CU_ASSERT_EQUAL(all.bytes, 2 * SIZE + 3);
    CU_ASSERT_EQUAL(bag_outgoing_to(&all, 10), SIZE + 3);
    CU_ASSERT_FALSE(bag_outgoing_send(&all, take_part, NULL));
    sent.room[0] = BAG_PART_BYTES + 3; /* what came later does not pass what is not all sent */
    sent.room[1] = SIZE;
    CU_ASSERT(bag_outgoing_send(&all, take_part, NULL));
    CU_ASSERT_EQUAL(sent.used[0], BAG_PART_BYTES);
    CU_ASSERT_EQUAL(sent.used[1], SIZE);
    CU_ASSERT_EQUAL(all.bytes, 17 + 3);
    CU_ASSERT_EQUAL(bag_outgoing_to(&all, 11), 0);
    sent.room[0] = SIZE;
    CU_ASSERT(bag_outgoing_send(&all, take_part, NULL));
    CU_ASSERT_EQUAL(sent.used[0], SIZE + 3);
    CU_ASSERT_EQUAL(sent.bytes[0][SIZE - 1], 'a');
    CU_ASSERT_EQUAL(sent.bytes[0][SIZE], 'b');
    CU_ASSERT_PTR_NULL(all.first);
    CU_ASSERT_PTR_NULL(all.last);
    CU_ASSERT_EQUAL(all.bytes, 0);
    first = filled(4, 'c');
    CU_ASSERT(bag_outgoing_add(&all, 5, third, 1, &first));
    bag_outgoing_fini(&all);
    CU_ASSERT_EQUAL(all.bytes, 0);
}

static void bad_parts_and_records(void)
{
    struct bag_incoming *all = NULL;
    const char *refused = NULL;
    struct cursor c = cursor_reader("\0\0\0\0x", 5); /* nothing came before */
    CU_ASSERT_PTR_NULL(bag_incoming_take(&all, 9, &c, &refused));
    CU_ASSERT_PTR_NOT_NULL(refused);
    c = cursor_reader("\4\0\0\0x", 5);
    CU_ASSERT_PTR_NULL(bag_incoming_take(&all, 9, &c, &refused));
    CU_ASSERT_PTR_NOT_NULL(refused);
    bag_incoming_fini(&all);

    uint8_t bytes[BAG_RECORD_BYTES];
    struct bag_record r = {.kind = BAG_PUT};
    c = cursor_writer(bytes, sizeof bytes);
    bag_record_put(&c, &r);
    bytes[BAG_RECORD_BYTES - 1] = 1; /* more bytes than there are */
    c = cursor_reader(bytes, sizeof bytes);
    bag_record_get(&c, &r);
    CU_ASSERT_FALSE(cursor_ok(&c));
    bytes[BAG_RECORD_BYTES - 1] = 0;
    bytes[0] = BAG_PARAMS + 1;
    c = cursor_reader(bytes, sizeof bytes);
    bag_record_get(&c, &r);
    CU_ASSERT_FALSE(cursor_ok(&c));
}

/* Of a copy: the numbers before it were of items that are done. */
static void a_put_without_memory(void)
{
    if (!MEMORY_CAN_FAIL) {
        covey_test_skip("no allocation can be made to fail here");
        return;
    }
    static const uint8_t bytes[1000];
    struct bag *bag = bag_of(&plain);
    const struct bag_record r = {
        .kind = BAG_PUT, .number = 100, .term = 1, .bytes = bytes, .size = sizeof bytes};
    memory_is_out = true;
    CU_ASSERT_EQUAL(bag_apply(bag, &r), BAG_NOMEM);
    memory_is_out = false;
    CU_ASSERT(bag->base <= bag->next && bag->item_count == 0);
    put(bag, 0);
    CU_ASSERT_PTR_NOT_NULL(bag_find(bag, bag->next - 1));
    bag_destroy(bag);
}

/* What the monitor says of a worker's host goes to the holder with each request. */
static void a_weight_travels(void)
{
    uint8_t bytes[BAG_REQUEST_BYTES];
    const struct bag_request said = {.bag = 5, .weight = 54321, .flags = BAG_HELLO, .number = 1};
    struct bag_request heard_of = {.bag = 0};
    struct cursor w = cursor_writer(bytes, sizeof bytes);
    bag_request_put(&w, &said);
    CU_ASSERT_TRUE_FATAL(cursor_ok(&w));
    struct cursor r = cursor_reader(bytes, sizeof bytes);
    bag_request_get(&r, &heard_of);
    CU_ASSERT_TRUE(cursor_done(&r));
    CU_ASSERT_EQUAL(heard_of.weight, 54321);
    CU_ASSERT_EQUAL(heard_of.flags, BAG_HELLO);
    bytes[17] = 1; /* what must be zero */
    r = cursor_reader(bytes, sizeof bytes);
    bag_request_get(&r, &heard_of);
    CU_ASSERT_FALSE(cursor_ok(&r));
}

int main(void)
{
    static const struct test_case cases[] = {
        {"by priority, and then first come, first served", by_priority_then_number},
        {"nobody gets more than it wants to hold", no_more_than_it_holds},
        {"a lease runs out, and a late result counts if it is first", a_lease_runs_out},
        {"the last items are given twice, oldest first", the_last_ones_twice},
        {"but not of a bag that is single", the_last_ones_once},
        {"how a bag was made, as bytes", params_as_bytes},
        {"an item at which a worker died is given alone", a_suspect_alone},
        {"results in the order of items", results_in_order},
        {"an item is set aside after exactly k deaths", aside_after_k_deaths},
        {"who ends in order is not counted as a death", nobody_died},
        {"a record that comes again changes nothing", a_record_once},
        {"what is put beyond the room is refused, and a result waits", room_is_not_exceeded},
        {"an item that is here is not taken again, in whatever order they come",
         an_item_that_is_here},
        {"a put for which there is no memory leaves a bag that takes the next",
         a_put_without_memory},
        {"a whole travels in parts", a_whole_in_parts},
        {"wholes go out as there is room", wholes_go_out_as_there_is_room},
        {"a weight travels", a_weight_travels},
        {"parts and records that make no sense are refused", bad_parts_and_records},
    };
    return covey_test_main("bag", cases, sizeof cases / sizeof cases[0]);
}
