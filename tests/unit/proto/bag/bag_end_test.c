/* links: proto/bag/bag.c proto/bag/bag_lease.c proto/bag/bag_queue.c proto/bag/bag_save.c proto/bag/bag_file.c proto/bag/bag_share.c proto/bag/bag_wire.c proto/bag/bag_holder.c proto/bag/bag_backup.c proto/bag/bag_answer.c proto/bag/bag_copy.c proto/bag/bag_user.c proto/wire/cursor.c */
/*
 * bag_end_test.c - the time of a host that is over: what is given before, what is left of a bag,
 * in a file, and a bag that is made of it again. Holder and attachments talk without a delay.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/bag/bag_file.h"
#include "proto/bag/bag_holder.h"
#include "proto/bag/bag_user.h"
#include "proto/wire/error.h"
#include "tests/unit/runner.h"

enum { USERS = 4, HOST = 1 };

static const struct bag_params plain = {.deaths_max = 3, .keep = true, .name = "b"};

/* One holder, and attachments of tasks 1 and on. */
static struct {
    struct bag_holder *holder;
    struct bag_copy copy; /* of a backup, if there is one */
    struct bag_user users[USERS];
    bool has[USERS];
    uint64_t now_us;
} w;

static void on_answer(void *context, uint32_t task, struct bag_parcel *whole)
{
    (void)context;
    if (task >= 1 && task <= USERS && w.has[task - 1])
        bag_user_answer(&w.users[task - 1], HOST, whole->bytes, whole->used, w.now_us);
}

static void on_log(void *context, const uint32_t *hosts, size_t count, struct bag_parcel *whole)
{
    struct bag_log ack;
    (void)context;
    CU_ASSERT_EQUAL(count, 1);
    CU_ASSERT(bag_copy_take(&w.copy, HOST, whole->bytes, whole->used, &ack));
    bag_holder_log_ack(w.holder, hosts[0], &ack);
}

static void on_propose(void *context, const uint32_t *hosts, size_t count)
{
    (void)context;
    bag_holder_agreed(w.holder, hosts, count);
}

static void on_watch(void *context, uint32_t task)
{
    (void)context, (void)task;
}

static const struct bag_holder_owner owner = {
    .answer = on_answer, .log = on_log, .propose = on_propose, .watch = on_watch};

static void on_send(void *context, uint32_t host, const uint8_t *bytes, size_t size)
{
    uint32_t task = (uint32_t)(uintptr_t)context;
    (void)host;
    const char *refused = bag_holder_request(w.holder, task, bytes, size, w.now_us);
    CU_ASSERT_PTR_NULL(refused);
}

static void begin(const struct bag_params *params)
{
    memset(&w, 0, sizeof w);
    w.now_us = 1000;
    w.holder = bag_holder_create(5, 1, bag_create(params), NULL, 0, &owner);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w.holder);
}

static void settle(void)
{
    for (int round = 0; round < 30; round++) {
        w.now_us += 1000;
        for (size_t i = 0; i < USERS; i++) {
            if (w.has[i] && bag_user_seeks(&w.users[i], w.now_us))
                bag_user_found(&w.users[i], 5, HOST, w.now_us);
            if (w.has[i])
                bag_user_step(&w.users[i], w.now_us);
        }
        bag_holder_step(w.holder, w.now_us);
    }
}

static struct bag_user *attach(size_t i)
{
    w.users[i] = (struct bag_user){
        .context = (void *)(uintptr_t)(i + 1), .send = on_send, .handle = (uint32_t)i + 1};
    w.has[i] = true;
    bag_user_found(&w.users[i], 5, HOST, w.now_us);
    settle();
    CU_ASSERT_EQUAL(w.users[i].tie.state, BAG_OPEN);
    return &w.users[i];
}

static void detach(size_t i)
{
    bag_user_say(&w.users[i], BAG_BYE);
    settle();
    bag_user_fini(&w.users[i]);
    w.has[i] = false;
}

static void end(void)
{
    for (size_t i = 0; i < USERS; i++)
        if (w.has[i])
            bag_user_fini(&w.users[i]);
    bag_destroy(w.copy.bag);
    bag_holder_destroy(w.holder);
}

static const struct bag *held(void)
{
    return bag_holder_bag(w.holder);
}

static void put_numbers(struct bag_user *u, int count)
{
    for (int i = 0; i < count; i++)
        CU_ASSERT(bag_user_put(u, 0, &i, sizeof i));
    settle();
}

/* Takes an item and ends it after so long. */
static bool work(struct bag_user *u, uint64_t us)
{
    bag_user_hunger(u, 1);
    settle();
    struct bag_thing *item = bag_user_begin(u, w.now_us);
    if (item == NULL)
        return false;
    w.now_us += us;
    CU_ASSERT(bag_user_done(u, item, item->bytes, item->size, w.now_us));
    settle();
    return true;
}

/* ---- what is given ---- */

static void nothing_that_would_not_end(void)
{
    begin(&plain);
    struct bag_user *u = attach(0);
    put_numbers(u, 40);
    for (int i = 0; i < 4; i++)
        CU_ASSERT(work(u, 1000000));
    bag_user_ends(u, w.now_us + 3500000);
    int done = 0;
    while (work(u, 1000000))
        done++;
    CU_ASSERT(done >= 1 && done <= 3);
    CU_ASSERT(w.now_us <= u->pace.end_us);
    settle();
    CU_ASSERT_EQUAL(held()->leased_count, 0);
    CU_ASSERT_EQUAL(held()->ready_count, (size_t)(36 - done));
    bag_user_ends(u, 0); /* it is not over after all */
    CU_ASSERT(work(u, 1000));
    end();
}

static void another_host_goes_on(void)
{
    begin(&plain);
    struct bag_user *a = attach(0), *b = attach(1);
    put_numbers(a, 10);
    CU_ASSERT(work(a, 1000) && work(b, 1000));
    bag_user_ends(a, w.now_us);
    CU_ASSERT_FALSE(work(a, 1000));
    int done = 2;
    while (work(b, 1000))
        done++;
    CU_ASSERT_EQUAL(done, 10);
    end();
}

/* Of what is not known yet one item at a time. */
static void where_nothing_is_known(void)
{
    begin(&plain);
    struct bag_user *u = attach(0);
    bag_user_ends(u, w.now_us + 1000000);
    put_numbers(u, 10);
    bag_user_hunger(u, 5);
    settle();
    CU_ASSERT_EQUAL(u->fresh.count, 1);
    end();
}

/* Items that lie here when the time is over go back when the next one would be begun. */
static void what_lies_here_goes_back(void)
{
    begin(&plain);
    struct bag_user *u = attach(0);
    put_numbers(u, 10);
    bag_user_hunger(u, 5);
    settle();
    CU_ASSERT(u->fresh.count >= 5);
    bag_user_ends(u, w.now_us);
    CU_ASSERT_PTR_NULL(bag_user_begin(u, w.now_us));
    settle();
    CU_ASSERT_EQUAL(held()->leased_count, 0);
    CU_ASSERT_EQUAL(held()->ready_count, 10);
    end();
}

static void a_small_item_instead(void)
{
    static const uint8_t large[1 << 20], small[10];
    begin(&plain);
    struct bag_user *u = attach(0);
    bag_user_put(u, 0, small, sizeof small);
    settle();
    CU_ASSERT(work(u, 10000));
    bag_user_ends(u, w.now_us + 500000);
    settle();
    bag_user_put(u, 0, large, sizeof large);
    bag_user_put(u, 0, small, sizeof small);
    settle();
    bag_user_hunger(u, 1);
    settle();
    CU_ASSERT(u->fresh.first != NULL && u->fresh.first->size == sizeof small);
    CU_ASSERT_EQUAL(u->fresh.count, 1);
    end();
}

static void left_travels(void)
{
    uint8_t bytes[BAG_REQUEST_BYTES_MAX];
    const struct bag_request said = {.number = 1, .flags = BAG_LEFT, .left_ms = 77};
    struct bag_request heard = {.bag = 0};
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    bag_request_put(&c, &said);
    CU_ASSERT_EQUAL(c.at - bytes, BAG_REQUEST_BYTES_MAX);
    c = cursor_reader(bytes, sizeof bytes);
    bag_request_get(&c, &heard);
    CU_ASSERT(cursor_done(&c) && heard.left_ms == 77);
    c = cursor_reader(bytes, BAG_REQUEST_BYTES); /* it says so, and ends before */
    bag_request_get(&c, &heard);
    CU_ASSERT_FALSE(cursor_ok(&c));
}

/* ---- what is left ---- */

static uint8_t *file_make(const struct bag_user *saver, size_t *size)
{
    *size = BAG_FILE_HEAD_BYTES + saver->rest.records.used;
    uint8_t *bytes = malloc(*size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    bag_file_head(bytes, BAG_FILE_READY, saver->rest.records.bytes, saver->rest.records.used);
    memcpy(bytes + BAG_FILE_HEAD_BYTES, saver->rest.records.bytes, saver->rest.records.used);
    return bytes;
}

static void freeze(struct bag_user *u, uint8_t how)
{
    u->urgent = true;
    CU_ASSERT(bag_user_record(u, &(struct bag_record){.kind = BAG_FREEZE, .flag = how}));
    settle();
}

/* Ten items: two results are taken, two are with a task that did not confirm them, one lies there;
 * one item is leased. */
static uint8_t *saved(size_t *size)
{
    begin(&plain);
    bag_holder_copy_to(w.holder, 2);
    struct bag_user *u = attach(0), *other = attach(1);
    put_numbers(u, 10);
    bag_user_say(u, BAG_CLOSE);
    for (int i = 0; i < 4; i++)
        CU_ASSERT(work(u, 1000));
    bag_user_collect(other, 4);
    settle();
    for (int i = 0; i < 2; i++)
        CU_ASSERT_PTR_NOT_NULL(bag_user_result(other));
    bag_user_confirm(other);
    bag_user_collect(other, 2);
    other->urgent = true;
    settle();
    CU_ASSERT_EQUAL(held()->counters.given, 2);
    CU_ASSERT(work(u, 1000));
    bag_user_hunger(u, 1);
    settle();
    CU_ASSERT(held()->leased_count >= 1);
    freeze(attach(2), BAG_FREEZE_SAVE);
    CU_ASSERT_FATAL(w.users[2].rest.come);
    CU_ASSERT_EQUAL(w.copy.bag->frozen.how, BAG_FREEZE_SAVE);
    return file_make(&w.users[2], size);
}

static void load(const struct bag_file *file)
{
    begin(&file->params);
    struct bag_user *u = attach(0);
    freeze(u, BAG_FREEZE_LOAD);
    struct cursor c = cursor_reader(file->records, file->size);
    for (struct bag_record r; cursor_left(&c) > 0;) {
        bag_record_get(&c, &r);
        CU_ASSERT(bag_user_record(u, &r));
    }
    settle();
    CU_ASSERT_EQUAL(held()->frozen.how, BAG_FREEZE_LOAD);
    bag_user_say(u, BAG_THAW);
    settle();
    CU_ASSERT_EQUAL(u->error, 0);
    CU_ASSERT(bag_user_settled(u));
    detach(0);
}

static void each_result_once(void)
{
    size_t size, got = 0;
    struct bag_file file;
    uint8_t *bytes = saved(&size);
    end();
    CU_ASSERT_PTR_NULL_FATAL(bag_file_read(bytes, size, &file));
    CU_ASSERT_EQUAL(file.items, 5);
    CU_ASSERT_EQUAL(file.results, 3);
    CU_ASSERT(file.closed && file.counters.put == 10 && file.counters.given == 2);
    load(&file);
    free(bytes);
    CU_ASSERT_EQUAL(held()->frozen.how, 0);
    CU_ASSERT(held()->closed && held()->counters.put == 10 && held()->counters.done == 5);
    struct bag_user *u = attach(0);
    while (work(u, 1000)) {
    }
    bag_user_collect(u, 20);
    settle();
    bool seen[10] = {false};
    for (struct bag_thing *t; (t = bag_user_result(u)) != NULL; got++) {
        int value;
        memcpy(&value, t->bytes, sizeof value);
        CU_ASSERT(value >= 2 && value < 10 && !seen[value] && t->number == (uint64_t)value);
        seen[value] = true;
    }
    CU_ASSERT_EQUAL(got, 8);
    bag_user_confirm(u);
    bag_user_collect(u, 20);
    settle();
    CU_ASSERT(bag_drained(held()));
    end();
}

/* While it is saved nobody is given anything; whoever asks comes again. */
static void frozen_for_the_others(void)
{
    size_t size;
    free(saved(&size));
    uint64_t put = held()->counters.put, given = held()->counters.given;
    struct bag_user *other = &w.users[1];
    bag_user_confirm(other);
    bag_user_collect(other, 9);
    other->urgent = true;
    settle();
    CU_ASSERT(held()->counters.put == put && held()->counters.given == given);
    CU_ASSERT_NOT_EQUAL(other->tie.state, BAG_OPEN);
    bag_user_say(&w.users[2], BAG_THAW); /* the file could not be written */
    settle();
    w.now_us += 500000;
    settle();
    CU_ASSERT_EQUAL(other->tie.state, BAG_OPEN);
    CU_ASSERT_EQUAL(held()->frozen.how, 0);
    end();
}

static void the_end_behind_a_file(void)
{
    size_t size;
    free(saved(&size));
    bag_user_say(&w.users[2], BAG_END);
    settle();
    CU_ASSERT(bag_holder_is_over(w.holder));
    CU_ASSERT_EQUAL(held()->frozen.how, BAG_FREEZE_SAVE); /* until it is no more */
    bag_holder_dismiss(w.holder);
    CU_ASSERT_EQUAL(w.users[2].error, ERROR_ENOENT);
    end();
}

static void the_saver_dies(void)
{
    size_t size;
    free(saved(&size));
    bag_holder_task_gone(w.holder, 3, true);
    CU_ASSERT_EQUAL(held()->frozen.how, 0);
    CU_ASSERT_FALSE(bag_holder_is_over(w.holder));
    end();
}

/* Who takes over has the bag as frozen as it was, and sends what is left again. */
static void another_holder(void)
{
    size_t size, again;
    uint8_t *bytes = saved(&size);
    bag_holder_destroy(w.holder);
    w.holder = bag_holder_create(5, 2, bag_copy_give_up(&w.copy), NULL, 0, &owner);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w.holder);
    w.users[2].rest.come = false;
    for (size_t i = 0; i < 3; i++)
        bag_user_lost(&w.users[i], w.now_us);
    w.now_us += 500000;
    settle();
    CU_ASSERT_FATAL(w.users[2].rest.come);
    uint8_t *other = file_make(&w.users[2], &again);
    CU_ASSERT(again == size && memcmp(bytes, other, size) == 0);
    free(other);
    free(bytes);
    end();
}

/* A bag of which only a part was loaded is none. */
static void the_loader_dies(void)
{
    begin(&plain);
    freeze(attach(0), BAG_FREEZE_LOAD);
    bag_user_record(&w.users[0], &(struct bag_record){.kind = BAG_PUT, .number = 7});
    settle();
    CU_ASSERT(bag_find(held(), 7) != NULL && !bag_holder_is_over(w.holder));
    bag_holder_task_gone(w.holder, 1, true);
    CU_ASSERT(bag_holder_is_over(w.holder));
    end();
}

static void into_a_bag_that_is_not_empty(void)
{
    begin(&plain);
    struct bag_user *u = attach(0);
    put_numbers(u, 1);
    freeze(u, BAG_FREEZE_LOAD);
    CU_ASSERT_EQUAL(u->error, ERROR_EINVAL);
    end();
}

/* ---- files ---- */

static void wrong(uint8_t *bytes, size_t size, const char *words)
{
    struct bag_file file;
    const char *why = bag_file_read(bytes, size, &file);
    CU_ASSERT(why != NULL && strstr(why, words) != NULL);
}

static void bad_files(void)
{
    size_t size;
    uint8_t *bytes = saved(&size);
    struct bag_file file;
    end();
    wrong(bytes, 0, "no bag");
    wrong(bytes, 20, "cut off");
    wrong(bytes, size - 1, "cut off");
    bytes[0] ^= 1;
    wrong(bytes, size, "no bag");
    bytes[0] ^= 1;
    bytes[11] ^= 2;
    wrong(bytes, size, "another version");
    bytes[11] ^= 2;
    for (size_t i = BAG_FILE_HEAD_BYTES; i < size; i++) { /* each byte counts */
        bytes[i] ^= 0x40;
        wrong(bytes, size, "damaged");
        /* and with a sum that fits nothing worse than another bag comes of it */
        uint8_t head[BAG_FILE_HEAD_BYTES], kept[BAG_FILE_HEAD_BYTES];
        memcpy(kept, bytes, sizeof kept);
        bag_file_head(head, BAG_FILE_READY, bytes + BAG_FILE_HEAD_BYTES,
                      size - BAG_FILE_HEAD_BYTES);
        memcpy(bytes, head, sizeof head);
        bag_file_read(bytes, size, &file);
        memcpy(bytes, kept, sizeof kept);
        bytes[i] ^= 0x40;
    }
    CU_ASSERT_PTR_NULL(bag_file_read(bytes, size, &file));
    free(bytes);
}

/* What became of the bag and the file since it was written stands in its head, and nothing else. */
static void states_of_files(void)
{
    size_t size;
    uint8_t *bytes = saved(&size);
    struct bag_file file;
    end();
    for (uint32_t state = 0; state < 4; state++) {
        bag_file_state_put(bytes + BAG_FILE_STATE_AT, state);
        if (state > BAG_FILE_LOADED) {
            wrong(bytes, size, "more than it should");
            break;
        }
        CU_ASSERT_PTR_NULL(bag_file_read(bytes, size, &file));
        CU_ASSERT_EQUAL(file.state, state);
        CU_ASSERT_EQUAL(file.items, 5);
    }
    bag_file_head(bytes, BAG_FILE_WRITTEN, bytes + BAG_FILE_HEAD_BYTES, size - BAG_FILE_HEAD_BYTES);
    CU_ASSERT_PTR_NULL(bag_file_read(bytes, size, &file));
    CU_ASSERT_EQUAL(file.state, BAG_FILE_WRITTEN);
    free(bytes);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"nothing is given that would not end in time", nothing_that_would_not_end},
        {"a host that goes on gets what another one does not", another_host_goes_on},
        {"where nothing is known, one item at a time", where_nothing_is_known},
        {"what lies with a task goes back when its time is over", what_lies_here_goes_back},
        {"where a large item would not end, a small one is given", a_small_item_instead},
        {"what is left of the time travels", left_travels},
        {"saved and loaded: each result once, under its number", each_result_once},
        {"a bag that is saved is frozen for all others", frozen_for_the_others},
        {"a bag that is in a file ends, and stays frozen until then", the_end_behind_a_file},
        {"who saves dies: the bag goes on", the_saver_dies},
        {"another holder saves the same", another_holder},
        {"who loads dies: there is no bag", the_loader_dies},
        {"a bag that is not empty is not loaded", into_a_bag_that_is_not_empty},
        {"files that hold no bag are refused", bad_files},
        {"a file says whether it may be loaded", states_of_files},
    };
    return covey_test_main("bag_end", cases, sizeof cases / sizeof cases[0]);
}
