/* links: proto/bag/bag.c proto/bag/bag_answer.c proto/bag/bag_backup.c proto/bag/bag_copy.c proto/bag/bag_holder.c proto/bag/bag_lease.c proto/bag/bag_parts.c proto/state/bag_place.c proto/bag/bag_queue.c proto/bag/bag_save.c proto/bag/bag_file.c proto/bag/bag_share.c proto/bag/bag_user.c proto/bag/bag_wire.c proto/wire/names.c proto/wire/cursor.c */
/*
 * What tasks and daemons may send about bags: requests to a holder, logs to a backup, answers to a
 * task, notices of the VM; files of bags. Whatever comes, the counts of the holder stay right, and
 * a copy of it has what it has.
 *
 *   input = *(kind=u8 size=u16 *u8)   ; kind: whose bytes they are, see below
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/bag/bag_file.h"
#include "proto/bag/bag_parts.h"
#include "proto/bag/bag_user.h"
#include "proto/state/bag_place.h"
#include "proto/state/state_engine.h"
#include "tests/fuzz/fuzz.h"

struct ends {
    struct bag_holder *holder;
    struct bag_copy copy, loose;
    struct bag_user user;
    struct bag_incoming *incoming;
    uint64_t now_us;
};

/* ---- what the engine of the agreed state asks for: none of it is used here ---- */

void state_notice(struct state *state, uint32_t task, uint32_t about, const uint8_t *body,
                  size_t size)
{
    (void)state, (void)task, (void)about, (void)body, (void)size;
}

void state_answer(struct state *state, const struct state_request *to, int32_t status,
                  const uint8_t *body, size_t size)
{
    (void)state, (void)to, (void)status, (void)body, (void)size;
}

uint64_t state_fence(struct state *state)
{
    (void)state;
    return 1;
}

bool state_reaches_host(const struct state *state, uint32_t host)
{
    (void)state, (void)host;
    return true;
}

void state_exhausted(struct state *state)
{
    (void)state;
}

/* ---- the holder ---- */

static void on_answer(void *context, uint32_t task, struct bag_parcel *whole)
{
    struct bag_answer answer;
    struct cursor c = cursor_reader(whole->bytes, whole->used);
    (void)context, (void)task;
    bag_answer_get(&c, &answer);
    for (struct bag_record r; cursor_left(&c) > 0;)
        bag_record_get(&c, &r);
    REQUIRE(cursor_ok(&c));
}

static void on_log(void *context, const uint32_t *hosts, size_t count, struct bag_parcel *whole)
{
    struct ends *ends = context;
    struct bag_log ack;
    (void)hosts;
    REQUIRE(count == 1);
    REQUIRE(bag_copy_take(&ends->copy, 1, whole->bytes, whole->used, &ack));
    REQUIRE((ack.flags & BAG_LOG_REFUSED) == 0);
}

static void on_propose(void *context, const uint32_t *hosts, size_t count)
{
    (void)context, (void)hosts, (void)count;
}

static void on_watch(void *context, uint32_t task)
{
    (void)context, (void)task;
}

static void same(const struct bag *a, const struct bag *b)
{
    REQUIRE(a->next == b->next && a->closed == b->closed && a->bytes == b->bytes);
    REQUIRE(a->results.count == b->results.count && a->counters.put == b->counters.put);
    REQUIRE(a->ready_count + a->leased_count == b->ready_count + b->leased_count);
}

static void holder_step(struct ends *ends)
{
    bag_holder_step(ends->holder, ends->now_us);
    const struct bag *bag = bag_holder_bag(ends->holder);
    size_t open = 0;
    for (uint64_t n = bag->base; n < bag->next; n++) {
        const struct bag_item *item = bag_find(bag, n);
        open += item != NULL && item->state <= BAG_IS_LEASED;
    }
    REQUIRE(open == bag->ready_count + bag->leased_count);
    same(bag, ends->copy.bag);
}

/* ---- inputs ---- */

static void on_send(void *context, uint32_t host, const uint8_t *bytes, size_t size)
{
    struct ends *ends = context;
    (void)host;
    bag_holder_request(ends->holder, 9, bytes, size, ends->now_us);
}

static void place_read(const uint8_t *bytes, size_t size)
{
    struct bag_place place;
    struct cursor c = cursor_reader(bytes, size);
    bag_place_get(&c, &place);
    if (cursor_ok(&c))
        REQUIRE(place.count <= BAG_BACKUPS_MAX && place.params.name[0] != '\0');
}

/* As a file, and as the records of one whose sum fits. */
static void file_read(const uint8_t *bytes, size_t size)
{
    struct bag_file file;
    bag_file_read(bytes, size, &file);
    if (bag_file_records(bytes, size, &file))
        REQUIRE(file.params.name[0] != '\0' && file.items + file.results <= file.size);
}

static void part_take(struct ends *ends, const uint8_t *bytes, size_t size)
{
    const char *refused;
    struct cursor c = cursor_reader(bytes, size);
    const struct bag_parcel *whole = bag_incoming_take(&ends->incoming, 1, &c, &refused);
    if (whole != NULL)
        bag_holder_request(ends->holder, 1, whole->bytes, whole->used, ends->now_us);
}

static void give(struct ends *ends, uint8_t kind, const uint8_t *bytes, size_t size)
{
    struct bag_log ack;
    switch (kind % 8) {
    case 0:
    case 1:
    case 2:
        bag_holder_request(ends->holder, 1 + kind % 8, bytes, size, ends->now_us);
        break;
    case 3:
        bag_copy_take(&ends->loose, 2, bytes, size, &ack);
        break;
    case 4:
        bag_user_answer(&ends->user, 1, bytes, size, ends->now_us);
        break;
    case 5:
        place_read(bytes, size);
        file_read(bytes, size);
        break;
    case 6:
        part_take(ends, bytes, size);
        break;
    default:
        bag_holder_task_gone(ends->holder, 1 + kind / 8 % 3, kind < 128);
        break;
    }
}

static void begin(struct ends *ends)
{
    const struct bag_params params = {.deaths_max = 2, .lease_us = 1000, .copies = 2, .name = "b"};
    const struct bag_holder_owner owner = {.context = ends,
                                           .answer = on_answer,
                                           .log = on_log,
                                           .propose = on_propose,
                                           .watch = on_watch};
    struct bag *bag = bag_create(&params);
    REQUIRE(bag != NULL);
    ends->holder = bag_holder_create(5, 1, bag, NULL, 0, &owner);
    REQUIRE(ends->holder != NULL);
    bag_holder_copy_to(ends->holder, 2);
    ends->user.context = ends;
    ends->user.send = on_send;
    ends->user.handle = 1;
    bag_user_hunger(&ends->user, 1);
    bag_user_found(&ends->user, 5, 1, 0);
    bag_user_put(&ends->user, 0, "x", 1);
    holder_step(ends);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ends ends = {.now_us = 1};
    struct cursor c = cursor_reader(data, size);
    begin(&ends);
    while (cursor_left(&c) > 0) {
        uint8_t kind = cursor_get_u8(&c);
        size_t length = cursor_get_u16(&c);
        const uint8_t *bytes = cursor_get_view(&c, length);
        if (!cursor_ok(&c))
            break;
        give(&ends, kind, bytes, length);
        ends.now_us += 100;
        bag_user_step(&ends.user, ends.now_us);
        holder_step(&ends);
    }
    bag_user_fini(&ends.user);
    bag_holder_destroy(ends.holder);
    bag_destroy(ends.copy.bag);
    bag_destroy(ends.loose.bag);
    bag_incoming_fini(&ends.incoming);
    return 0;
}
