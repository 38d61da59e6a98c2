/* links: tools/trace/trace.c tools/trace/trace_clock.c tools/trace/trace_match.c tools/trace/trace_read.c tools/trace/seen.c tools/trace/waits.c tools/trace/waits_print.c tools/trace/why.c tools/trace/why_print.c tools/trace/slices.c tools/trace/to_csv.c tools/trace/to_html.c tools/trace/page_json.c tools/trace/link_use.c tools/trace/to_paje.c tools/trace/to_perfetto.c proto/wire/cursor.c proto/trace/trace_pack.c -lzstd -ljansson */
/*
 * Traces made by hand: what is found in them is known beforehand.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "proto/trace/trace_pack.h"
#include "proto/wire/cursor.h"
#include "tests/unit/runner.h"
#include "tools/trace/forms.h"
#include "tools/trace/link_use.h"
#include "tools/trace/waits.h"
#include "tools/trace/why.h"

#define MS 1000000u

static uint32_t tid_of(uint32_t task)
{
    return 0x40000 * (task / 2 + 1) + task % 2 + 1;
}

/* Tasks 2 a host: the first of host 0 is task 0. */
static struct trace make(uint32_t tasks)
{
    struct trace trace = {0};
    trace_text(&trace, "");
    for (uint32_t i = 0; i < tasks; i++) {
        char name[16];
        snprintf(name, sizeof name, "h%u", i / 2);
        uint32_t host = trace_host(&trace, i / 2 + 1, name);
        CU_ASSERT_EQUAL(trace_task(&trace, host, tid_of(i)), i);
    }
    return trace;
}

static struct trace_event *add(struct trace *trace, uint32_t task, int kind, const char *name,
                               uint64_t begin_ms, uint64_t end_ms)
{
    uint32_t text = trace_text(trace, name);
    struct trace_event *e = trace_event(trace);
    CU_ASSERT_PTR_NOT_NULL_FATAL(e);
    e->task = task;
    e->kind = (uint8_t)kind;
    e->name = text;
    e->begin_ns = begin_ms * MS;
    e->end_ns = end_ms * MS;
    e->call = kind == TRACE_CALL || kind == TRACE_COLLECTIVE || kind == TRACE_OPEN;
    return e;
}

static void message(struct trace *trace, uint32_t from, uint64_t sent_ms, uint32_t to,
                    uint64_t posted_ms, uint64_t came_ms, uint64_t number)
{
    struct trace_event *s = add(trace, from, TRACE_SEND, "send_array", sent_ms, sent_ms);
    s->call = true;
    s->peer = tid_of(to);
    s->tag = 5;
    s->bytes = 1000000;
    s->sequence = number;
    struct trace_event *r = add(trace, to, TRACE_RECEIVE, "recv_array", posted_ms, came_ms);
    r->call = true;
    r->peer = tid_of(from);
    r->tag = 5;
    r->bytes = 1000000;
    r->sequence = number;
}

static void finish(struct trace *trace)
{
    CU_ASSERT(trace_sort(trace) && trace_match(trace) && trace_mend(trace));
}

static const struct trace_event *find(const struct trace *trace, uint32_t task, int kind)
{
    for (size_t i = 0; i < trace->event_count; i++)
        if (trace->events[i].task == task && trace->events[i].kind == kind)
            return &trace->events[i];
    CU_FAIL_FATAL("no such event");
    return NULL;
}

static void test_messages_are_matched(void)
{
    struct trace trace = make(4);
    /* numbers have 24 bits, and go round */
    for (uint64_t i = 0; i < 6; i++)
        message(&trace, 0, 10 * i, 2, 10 * i, 10 * i + 5, (0xfffffd + i) & 0xffffff);
    message(&trace, 1, 1, 2, 1, 2, 7);
    message(&trace, 2, 3, 0, 1, 4, 7);
    trace_event(&trace)->kind = TRACE_RECEIVE; /* whose send is not there */
    trace.events[trace.event_count - 1].peer = tid_of(3);
    finish(&trace);
    size_t matched = 0;
    for (size_t i = 0; i < trace.event_count; i++) {
        const struct trace_event *e = &trace.events[i];
        if (e->match == TRACE_NONE)
            continue;
        matched++;
        CU_ASSERT_EQUAL(trace.events[e->match].match, i);
        CU_ASSERT_EQUAL(trace.tasks[trace.events[e->match].task].tid, e->peer);
        CU_ASSERT_EQUAL(trace.events[e->match].sequence, e->sequence);
    }
    CU_ASSERT_EQUAL(matched, 16);
    trace_free(&trace);
}

static void test_clocks_become_one(void)
{
    struct trace trace = make(4);
    /* the second host's clock is 1000 s ahead, and drifts by 100 us a second */
    for (uint64_t i = 0; i <= 10; i++) {
        uint64_t at = i * 1000 * MS, late = i % 3 == 0 ? 0 : 5 * MS;
        const struct trace_look a = {at, at + MS / 10 + late, at + MS / 20};
        const struct trace_look b = {at, at + MS / 10 + late,
                                     1000000ull * MS + at + at / 10000 + MS / 20};
        CU_ASSERT(trace_look(&trace.hosts[0], &a) && trace_look(&trace.hosts[1], &b));
    }
    add(&trace, 0, TRACE_CALL, "first", 5000, 5001);
    add(&trace, 2, TRACE_CALL, "second", 1000000 + 5000, 1000000 + 5001)->begin_ns += MS / 2;
    trace_clock(&trace);
    double apart = (double)find(&trace, 0, TRACE_CALL)->begin_ns -
                   (double)find(&trace, 2, TRACE_CALL)->begin_ns;
    CU_ASSERT(apart < 1e5 && apart > -1e5);
    trace_free(&trace);
}

static void test_nothing_arrives_before_it_left(void)
{
    struct trace trace = make(6);
    message(&trace, 0, 100, 2, 0, 40, 0); /* host 1 is behind by 60 at least */
    message(&trace, 2, 50, 4, 0, 45, 0);  /* host 2 by 5 more */
    message(&trace, 4, 46, 0, 0, 200, 0);
    finish(&trace);
    for (size_t i = 0; i < trace.event_count; i++)
        if (trace_is_receive(&trace.events[i]))
            CU_ASSERT(trace.events[i].end_ns >= trace.events[trace.events[i].match].begin_ns);
    CU_ASSERT_EQUAL(trace.clamped, 0);
    trace_free(&trace);
    /* what no move of clocks can mend */
    trace = make(4);
    message(&trace, 0, 100, 2, 0, 40, 0);
    message(&trace, 2, 100, 0, 0, 40, 0);
    finish(&trace);
    CU_ASSERT(trace.clamped > 0);
    trace_free(&trace);
}

static void expect_wait(const struct trace *trace, enum wait_cause cause, uint32_t task,
                        uint32_t other, uint64_t begin_ms, uint64_t end_ms)
{
    struct waits waits;
    bool found = false;
    CU_ASSERT_FATAL(waits_find(trace, &waits));
    for (size_t i = 0; i < waits.count; i++) {
        const struct wait *w = &waits.items[i];
        found = found || (w->cause == cause && w->task == task && w->other == other &&
                          w->begin_ns == begin_ms * MS && w->end_ns == end_ms * MS);
    }
    CU_ASSERT(found);
    waits_free(&waits);
}

static void test_a_sender_is_late(void)
{
    struct trace trace = make(4);
    message(&trace, 2, 70, 0, 0, 80, 0);
    finish(&trace);
    expect_wait(&trace, WAIT_SENDER, 0, 2, 0, 70);
    expect_wait(&trace, WAIT_TRANSFER, 0, 2, 70, 80);
    trace_free(&trace);
    /* a receive that was begun early waits from the call that ends it */
    trace = make(2);
    message(&trace, 1, 70, 0, 0, 80, 0);
    for (size_t i = 0; i < trace.event_count; i++)
        trace.events[i].call = trace.events[i].call && !trace_is_receive(&trace.events[i]);
    add(&trace, 0, TRACE_CALL, "wait", 60, 81);
    finish(&trace);
    expect_wait(&trace, WAIT_SENDER, 0, 1, 60, 70);
    trace_free(&trace);
}

static void test_a_member_is_late(void)
{
    struct trace trace = make(4);
    for (uint32_t i = 0; i < 4; i++) {
        struct trace_event *e = add(&trace, i, TRACE_COLLECTIVE, "barrier", 10 * i, 31);
        e->peer = 2;
        e->tag = 1;
    }
    add(&trace, 1, TRACE_COLLECTIVE, "barrier", 40, 50)->tag = 2;
    finish(&trace);
    expect_wait(&trace, WAIT_COLLECTIVE, 0, 3, 0, 30);
    expect_wait(&trace, WAIT_COLLECTIVE, 2, 3, 20, 30);
    trace_free(&trace);
}

static void lock_call(struct trace *trace, uint32_t task, int what, uint64_t begin_ms,
                      uint64_t end_ms)
{
    add(trace, task, TRACE_SERVICE, "gate", begin_ms, end_ms)->sequence = (uint64_t)what;
}

static void test_a_lock_is_held(void)
{
    struct trace trace = make(4);
    size_t count = 0;
    lock_call(&trace, 0, TRACE_SERVICE_TAKE, 0, 1);
    lock_call(&trace, 0, TRACE_SERVICE_GIVE, 90, 91);
    lock_call(&trace, 1, TRACE_SERVICE_TAKE, 10, 92);
    lock_call(&trace, 1, TRACE_SERVICE_GIVE, 95, 96);
    finish(&trace);
    expect_wait(&trace, WAIT_LOCK, 1, 0, 10, 90);
    struct why *why = why_find(&trace, &count);
    CU_ASSERT_FATAL(why != NULL && count > 0);
    CU_ASSERT_EQUAL(why[0].kind, WHY_LOCK);
    CU_ASSERT_EQUAL(why[0].who, 0);
    CU_ASSERT_STRING_EQUAL(trace.names[why[0].name], "gate");
    free(why);
    trace_free(&trace);
}

static void test_a_receiver_is_late(void)
{
    struct trace trace = make(4);
    size_t count = 0;
    add(&trace, 0, TRACE_CALL, "send", 0, 60);
    struct trace_event *held = add(&trace, 0, TRACE_HELD, "", 5, 55);
    held->sequence = TRACE_HELD_CREDIT;
    held->peer = tid_of(3);
    finish(&trace);
    expect_wait(&trace, WAIT_CREDIT, 0, 3, 5, 55);
    struct why *why = why_find(&trace, &count);
    CU_ASSERT_FATAL(why != NULL && count == 1);
    CU_ASSERT(why[0].kind == WHY_CREDIT && why[0].who == 3);
    free(why);
    trace_free(&trace);
}

/* Rounds in which task i computes so long, and then all wait for each other round a ring. */
static struct trace ring(uint32_t tasks, const uint64_t *computes_ms)
{
    struct trace trace = make(tasks);
    uint64_t begin_ms[8] = {0};
    for (uint64_t round = 0; round < 10; round++) {
        uint64_t sent_ms[8];
        for (uint32_t i = 0; i < tasks; i++)
            sent_ms[i] = begin_ms[i] + computes_ms[i];
        for (uint32_t i = 0; i < tasks; i++) {
            uint32_t from = (i + tasks - 1) % tasks;
            uint64_t came = (sent_ms[from] > sent_ms[i] ? sent_ms[from] : sent_ms[i]) + 1;
            message(&trace, from, sent_ms[from], i, sent_ms[i], came, round);
            begin_ms[i] = came;
        }
    }
    finish(&trace);
    return trace;
}

static void test_the_slow_task_is_named(void)
{
    struct trace trace = ring(6, (const uint64_t[]){10, 10, 10, 21, 10, 10});
    size_t count = 0;
    struct why *why = why_find(&trace, &count);
    CU_ASSERT_FATAL(why != NULL && count > 0);
    CU_ASSERT(why[0].kind == WHY_TASK && why[0].who == 3);
    CU_ASSERT(why[0].ratio > 1.9 && why[0].ratio < 2.3);
    free(why);
    trace_free(&trace);
}

static void test_the_slow_host_is_named(void)
{
    struct trace trace = ring(6, (const uint64_t[]){10, 10, 20, 20, 10, 10});
    size_t count = 0;
    struct why *why = why_find(&trace, &count);
    CU_ASSERT_FATAL(why != NULL && count > 0);
    CU_ASSERT(why[0].kind == WHY_HOST && why[0].who == 1);
    CU_ASSERT(why[0].ratio > 1.8 && why[0].ratio < 2.2);
    free(why);
    trace_free(&trace);
}

static void test_the_slow_link_is_named(void)
{
    struct trace trace = make(6);
    size_t count = 0;
    for (uint64_t i = 0; i < 10; i++) {
        message(&trace, 0, 200 * i, 2, 200 * i, 200 * i + 10, i);
        message(&trace, 2, 200 * i, 4, 200 * i, 200 * i + 100, i);
        message(&trace, 4, 200 * i, 0, 200 * i, 200 * i + 10, i);
    }
    finish(&trace);
    struct why *why = why_find(&trace, &count);
    CU_ASSERT_FATAL(why != NULL && count == 3);
    CU_ASSERT(why[0].kind == WHY_LINK && why[0].who == 1 && why[0].whom == 2);
    CU_ASSERT_DOUBLE_EQUAL(why[0].rate, 1e7, 1e3);
    CU_ASSERT_DOUBLE_EQUAL(why[0].usual, 1e8, 1e4);
    free(why);
    trace_free(&trace);
}

static void test_who_is_slow_sends_late(void)
{
    struct trace trace = make(4);
    size_t count = 0;
    message(&trace, 2, 100, 0, 10, 300, 0); /* of some bytes: no network takes 200 ms for them */
    for (size_t i = 0; i < trace.event_count; i++)
        trace.events[i].bytes = 8;
    for (uint32_t task = 1; task < 4; task += 2)
        add(&trace, task, TRACE_CALL, "recv", 10, 300);
    add(&trace, 0, TRACE_CALL, "first", 0, 1);
    add(&trace, 2, TRACE_CALL, "first", 0, 1);
    add(&trace, 2, TRACE_CALL, "last", 101, 300);
    finish(&trace);
    struct why *why = why_find(&trace, &count);
    CU_ASSERT_FATAL(why != NULL && count == 1);
    CU_ASSERT(why[0].kind == WHY_TASK && why[0].who == 2);
    CU_ASSERT_DOUBLE_EQUAL((double)why[0].cost_ns, 290.0 * MS, 1.0 * MS);
    free(why);
    trace_free(&trace);
}

static void add_leg(void *context, uint32_t task, uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t *on_path = context;
    on_path[task] += end_ns - begin_ns;
}

static void test_the_path_goes_by_who_is_late(void)
{
    struct trace trace = make(4);
    struct waits waits;
    uint64_t on_path[4] = {0};
    message(&trace, 0, 50, 1, 0, 50, 0);  /* 0 computes 50, */
    message(&trace, 1, 80, 2, 10, 80, 0); /* 1 then 30, */
    add(&trace, 0, TRACE_CALL, "first", 0, 1);
    add(&trace, 2, TRACE_CALL, "last", 95, 100); /* 2 then 20 */
    finish(&trace);
    CU_ASSERT_FATAL(waits_find(&trace, &waits));
    trace_path(&trace, &waits, add_leg, on_path);
    CU_ASSERT_EQUAL(on_path[0], 50 * MS);
    CU_ASSERT_EQUAL(on_path[1], 30 * MS);
    CU_ASSERT_EQUAL(on_path[2], 20 * MS);
    CU_ASSERT_EQUAL(on_path[3], 0);
    waits_free(&waits);
    trace_free(&trace);
}

static void test_who_waits_for_ever_is_named_first(void)
{
    struct trace trace = ring(4, (const uint64_t[]){10, 10, 20, 10});
    add(&trace, 1, TRACE_OPEN, "recv", 400, 405)->peer = tid_of(2);
    size_t count = 0;
    finish(&trace);
    struct why *why = why_find(&trace, &count);
    CU_ASSERT_FATAL(why != NULL && count > 0);
    CU_ASSERT(why[0].kind == WHY_NEVER && why[0].who == 1 && why[0].whom == 2);
    free(why);
    trace_free(&trace);
}

/* ---- files ---- */

struct file {
    uint8_t bytes[65536];
    struct cursor c;
};

static void file_head_of(struct file *f, const char *magic, const char *more)
{
    f->c = cursor_writer(f->bytes, sizeof f->bytes);
    char text[4096];
    int n = snprintf(text, sizeof text, "%srecord %d\n%s", magic, TRACE_RECORD_BYTES, more);
#define FIELD(name, word, bit, bits, what)                                                         \
    n += snprintf(text + n, sizeof text - (size_t)n, "field %s %d %d %d %s\n", #name, word, bit,   \
                  bits, what);
#define KIND(number, NAME, name)                                                                   \
    n += snprintf(text + n, sizeof text - (size_t)n, "kind %d %s\n", number, name);
    TRACE_FIELDS(FIELD)
    TRACE_KINDS(KIND)
    n += snprintf(text + n, sizeof text - (size_t)n, "\n");
    cursor_put_bytes(&f->c, text, (size_t)n);
}

static void file_head(struct file *f, const char *more)
{
    file_head_of(f, TRACE_FILE_MAGIC, more);
}

/* What comes before the records of a block: a tick is two nanoseconds. */
static struct cursor block_begin(uint8_t *content, size_t size, uint32_t tid, bool big)
{
    const uint8_t open[TRACE_RECORD_BYTES] = {0};
    struct cursor c = cursor_writer(content, size);
    cursor_put_u32(&c, 1);
    cursor_put_text(&c, "h0");
    cursor_put_u64(&c, 100000);
    cursor_put_u64(&c, 100000);
    cursor_put_u8(&c, TRACE_RUNS);
    cursor_put_u8(&c, 0);
    cursor_put_u32(&c, 3);
    cursor_put_u64(&c, 100000);
    cursor_put_u32(&c, tid);
    cursor_put_u32(&c, 0);
    cursor_put_u8(&c, big ? TRACE_TASK_BIG : 0);
    cursor_put_u64(&c, 0);
    cursor_put_u64(&c, 1000);
    cursor_put_u64(&c, 10000);
    cursor_put_u64(&c, 21000);
    cursor_put_u64(&c, 4);
    cursor_put_text(&c, "prog");
    cursor_put_bytes(&c, open, sizeof open);
    return c;
}

static void block_end(struct file *f, const uint8_t *content, const struct cursor *c)
{
    CU_ASSERT(cursor_ok(c));
    cursor_put_u8(&f->c, TRACE_CHUNK_PULLED);
    cursor_put_u32(&f->c, (uint32_t)(c->at - content));
    cursor_put_bytes(&f->c, content, (size_t)(c->at - content));
}

/* 2000 .. 5000 ticks */
#define CALL_WORDS                                                                                 \
    {                                                                                              \
        2000, 3000 | (uint64_t)1 << 48 | (uint64_t)TRACE_CALL << 60, 0, 0                          \
    }

/* A task with one call, of version 1, in `big` order. */
static void file_block_words(struct file *f, uint32_t tid, bool big)
{
    const uint64_t words[TRACE_WORDS] = CALL_WORDS;
    uint8_t raw[6 + TRACE_RECORD_BYTES] = "hello", packed[256], content[512];
    for (int w = 0; w < TRACE_WORDS; w++)
        for (int i = 0; i < 8; i++)
            raw[6 + 8 * w + i] = (uint8_t)(words[w] >> 8 * (big ? 7 - i : i));
    size_t size = ZSTD_compress(packed, sizeof packed, raw, sizeof raw, 1);
    struct cursor c = block_begin(content, sizeof content, tid, big);
    cursor_put_u32(&c, 6);
    cursor_put_u32(&c, 1);
    cursor_put_u32(&c, (uint32_t)size);
    cursor_put_bytes(&c, packed, size);
    block_end(f, content, &c);
}

static void file_block_bytes(struct file *f, uint32_t tid, uint64_t from, const uint8_t *bytes,
                             size_t size)
{
    static uint8_t content[16384];
    struct cursor c = block_begin(content, sizeof content, tid, false);
    cursor_put_u64(&c, from);
    cursor_put_u32(&c, from == 0 ? 6 : 0);
    cursor_put_u32(&c, (uint32_t)size);
    cursor_put_bytes(&c, "hello", from == 0 ? 6 : 0);
    cursor_put_bytes(&c, bytes, size);
    block_end(f, content, &c);
}

/* A task with one call. */
static void file_block(struct file *f, uint32_t tid)
{
    uint8_t bytes[TRACE_PACKED_MAX];
    struct trace_pack pack = {0};
    size_t size = trace_pack_put(&pack, bytes, &(struct trace_record){CALL_WORDS});
    file_block_bytes(f, tid, 0, bytes, size);
}

static void file_seen(struct file *f, const char *text)
{
    cursor_put_u8(&f->c, TRACE_CHUNK_SEEN);
    cursor_put_u32(&f->c, (uint32_t)(8 + strlen(text)));
    cursor_put_u64(&f->c, 100000);
    cursor_put_bytes(&f->c, text, strlen(text));
}

static void file_is_read(bool first_version)
{
    static struct file f;
    struct trace trace = {0};
    file_head_of(&f, first_version ? TRACE_FILE_MAGIC_1 : TRACE_FILE_MAGIC,
                 "clock of a later version\n");
    if (first_version) {
        file_block_words(&f, 0x40001, false);
        file_block_words(&f, 0x40002, true);
    } else {
        file_block(&f, 0x40001);
        file_block(&f, 0x40002);
    }
    file_seen(&f, "host 1 0.5 1 2 3 4\n");
    cursor_put_u8(&f.c, TRACE_CHUNK_END);
    cursor_put_u32(&f.c, 0);
    size_t size = (size_t)(f.c.at - f.bytes);
    CU_ASSERT_FATAL(trace_read(&trace, f.bytes, size));
    CU_ASSERT(!trace.cut && trace.task_count == 2 && trace.event_count == 2);
    CU_ASSERT(trace.dropped == 8 && trace.untraced == 3);
    CU_ASSERT(trace.seen.host_count == 1 && trace.seen.hosts[0].busy == 0.5);
    for (size_t i = 0; i < trace.event_count; i++) {
        const struct trace_event *e = &trace.events[i];
        CU_ASSERT_EQUAL(e->kind, TRACE_CALL);
        CU_ASSERT_STRING_EQUAL(trace.names[e->name], "hello");
        CU_ASSERT_EQUAL(e->end_ns - e->begin_ns, 6000);
    }
    trace_free(&trace);
    /* wherever it ends, what came before is read */
    for (size_t n = 0; n < size; n++) {
        bool good = trace_read(&trace, f.bytes, n);
        CU_ASSERT(good == (trace.error[0] == '\0') && (!good || trace.cut));
        CU_ASSERT(n < size - 5 || trace.event_count == 2);
        trace_free(&trace);
    }
}

static void test_a_file_is_read(void)
{
    file_is_read(false);
}

static void test_a_file_of_the_first_version_is_read(void)
{
    file_is_read(true);
}

static void test_other_programs_are_left_out(void)
{
    static struct file f;
    struct trace trace = {0};
    file_head(&f, "root 262146\n");
    file_block(&f, 0x40001);
    file_block(&f, 0x40002);
    CU_ASSERT_FATAL(trace_read(&trace, f.bytes, (size_t)(f.c.at - f.bytes)));
    CU_ASSERT(trace.cut && trace.task_count == 1 && trace.event_count == 1);
    CU_ASSERT_EQUAL(trace.tasks[0].tid, 0x40002);
    trace_free(&trace);
}

/* An answer that did not come takes with it what is left of its last page. */
static void test_records_behind_lost_ones_are_read(void)
{
    static struct file f;
    static uint8_t pages[2 * TRACE_PAGE_BYTES];
    struct trace trace = {0};
    struct trace_pack pack = {0};
    struct trace_record record = {CALL_WORDS};
    size_t first = 0, cut[3], second = TRACE_PAGE_BYTES;
    for (int i = 0; i < 3; i++, record.word[0] += 5000)
        cut[i] = first += trace_pack_put(&pack, pages + first, &record);
    pages[first] = TRACE_PAGE_END;
    trace_pack_begin(&pack);
    for (int i = 0; i < 2; i++, record.word[0] += 5000)
        second += trace_pack_put(&pack, pages + second, &record);
    for (int lost = 0; lost < 2; lost++) {
        file_head(&f, "");
        file_block_bytes(&f, 0x40001, 0, pages, cut[0]);
        if (lost == 0)
            file_block_bytes(&f, 0x40001, cut[0], pages + cut[0], cut[1] - cut[0]);
        file_block_bytes(&f, 0x40001, cut[1], pages + cut[1], second - cut[1]);
        CU_ASSERT_FATAL(trace_read(&trace, f.bytes, (size_t)(f.c.at - f.bytes)));
        CU_ASSERT_EQUAL(trace.event_count, lost == 0 ? 5 : 3);
        CU_ASSERT_EQUAL(trace.events[trace.event_count - 1].begin_ns - trace.events[0].begin_ns,
                        40000);
        trace_free(&trace);
    }
    /* what is no record ends it */
    pages[cut[0]] = 0x3f;
    file_head(&f, "");
    file_block_bytes(&f, 0x40001, 0, pages, second);
    CU_ASSERT_FATAL(trace_read(&trace, f.bytes, (size_t)(f.c.at - f.bytes)));
    CU_ASSERT(trace.cut && trace.event_count == 1);
    trace_free(&trace);
}

static void test_strange_files_are_refused(void)
{
    static const char *const wrong[] = {
        "",
        "covey-trace 3\n\n",
        "covey-trace 2\n\n",
        "covey-trace 1\n\n",
        "covey-trace 1\nrecord 31\n\n",
        "covey-trace 1\nrecord 32\nfield begin 0 60 64 x\n\n",
        "covey-trace 1\nrecord 32\nfield begin 4000000000 0 64 x\n\n",
        "covey-trace 1\nkind 77 x\n\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct trace trace = {0};
        CU_ASSERT(!trace_read(&trace, (const uint8_t *)wrong[i], strlen(wrong[i])));
        CU_ASSERT(trace.error[0] != '\0');
        trace_free(&trace);
    }
}

/* ---- forms ---- */

static char *form(bool write(const struct trace *, FILE *), const struct trace *trace, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    CU_ASSERT_FATAL(out != NULL && write(trace, out));
    fclose(out);
    return text;
}

static size_t count_text(const char *text, const char *part)
{
    size_t n = 0;
    while ((text = strstr(text, part)) != NULL) {
        n++;
        text++;
    }
    return n;
}

static void test_slices_lie_in_each_other(void)
{
    struct trace trace = make(2);
    size_t count = 0;
    add(&trace, 0, TRACE_ENTER, "part", 0, 0);
    add(&trace, 0, TRACE_CALL, "a", 10, 50);
    add(&trace, 0, TRACE_CALL, "b", 20, 70); /* of another thread */
    add(&trace, 0, TRACE_LEAVE, "part", 60, 60);
    add(&trace, 0, TRACE_ENTER, "open", 80, 80);
    add(&trace, 0, TRACE_CALL, "c", 90, 95);
    finish(&trace);
    struct trace_slice *s = trace_slices(&trace, &count);
    CU_ASSERT_FATAL(s != NULL && count == 5);
    CU_ASSERT(s[0].end_ns == 60 * MS && s[1].end_ns == 50 * MS && s[2].end_ns == 50 * MS);
    CU_ASSERT(s[3].end_ns == 95 * MS && s[4].end_ns == 95 * MS);
    free(s);
    trace_free(&trace);
}

/* As the clocks of hosts, which are mended, let calls of one thread do. */
static void test_a_call_that_overlaps_by_a_moment_is_not_lost(void)
{
    struct trace trace = make(2);
    size_t count = 0;
    add(&trace, 0, TRACE_CALL, "send", 10, 21);
    add(&trace, 0, TRACE_CALL, "recv", 20, 90);
    finish(&trace);
    struct trace_slice *s = trace_slices(&trace, &count);
    CU_ASSERT_FATAL(s != NULL && count == 2);
    CU_ASSERT(s[0].end_ns - s[0].begin_ns == 10 * MS && s[1].begin_ns == s[0].end_ns);
    CU_ASSERT_EQUAL(s[1].end_ns - s[1].begin_ns, 70 * MS);
    free(s);
    trace_free(&trace);
}

static void test_csv_and_paje(void)
{
    struct trace trace = ring(4, (const uint64_t[]){10, 10, 20, 10});
    add(&trace, 0, TRACE_COUNT, "a \"count\"", 5, 5)->value = 2.5;
    finish(&trace);
    size_t size;
    char *text = form(trace_to_csv, &trace, &size);
    CU_ASSERT_EQUAL(count_text(text, "\n"), trace.event_count + 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"a \"\"count\"\"\",,,,2.5,"));
    free(text);
    text = form(trace_to_paje, &trace, &size);
    CU_ASSERT_EQUAL(count_text(text, "\n8 "), 40);
    CU_ASSERT_EQUAL(count_text(text, "\n9 "), 40);
    CU_ASSERT_EQUAL(count_text(text, "\n6 "), 80);
    CU_ASSERT_EQUAL(count_text(text, "\n7 "), 80);
    double at = 0;
    for (const char *line = strstr(text, "\n4 "); line != NULL; line = strchr(line + 1, '\n')) {
        double next = at;
        if (sscanf(line, " %*[45678901] %lf", &next) == 1 && line[1] != '3') {
            CU_ASSERT(next >= at);
            at = next;
        }
    }
    free(text);
    trace_free(&trace);
}

static void test_flows_join_messages(void)
{
    struct trace trace = ring(4, (const uint64_t[]){10, 10, 20, 10});
    size_t size, packets = 0;
    uint8_t *bytes = (uint8_t *)form(trace_to_perfetto, &trace, &size);
    /* each packet is field 1, with a length */
    for (size_t at = 0; at < size; packets++) {
        size_t length = 0;
        CU_ASSERT_EQUAL_FATAL(bytes[at++], 1 << 3 | 2);
        for (int shift = 0;; shift += 7) {
            length |= (size_t)(bytes[at] & 127) << shift;
            if (bytes[at++] < 128)
                break;
        }
        CU_ASSERT_FATAL(length <= size - at);
        at += length;
    }
    /* hosts, tasks; slices with ends, and messages at both ends */
    CU_ASSERT_EQUAL(packets, 2 + 4 + 2 * 80 + 80);
    free(bytes);
    trace_free(&trace);
}

static void see(struct trace *trace, uint64_t at_ms, const char *text)
{
    CU_ASSERT(seen_take(trace, at_ms * MS, text, strlen(text)));
}

static void test_what_was_seen_is_read(void)
{
    struct trace trace = make(4);
    add(&trace, 0, TRACE_CALL, "first", 1000, 2000);
    see(&trace, 1500,
        "host 2 0.25 1e9 4e9 100 200\nhost 9 1 1 1 1 1\nhost 1 nan 1 1 1 1\nhost 1\n"
        "bag 10 4 5 1 2 a bag of words\nbag 1 2 3 4 5 \nmoon 1 2\n\n");
    see(&trace, 900,
        "node 1 s0\nnode 0 h0\nlink 1 0 1e9\nlink 1 7 1e9\nlink 0 1 -5\n"
        "log 1 2026-11-27 it began\nlog 77 nobody's\nhost 1 1 1 1 1 1");
    finish(&trace);
    seen_shift(&trace);
    const struct trace_seen *seen = &trace.seen;
    CU_ASSERT_FATAL(seen->host_count == 2 && seen->bag_count == 1);
    CU_ASSERT(seen->hosts[0].host == 1 && seen->hosts[0].busy == 0.25 &&
              seen->hosts[0].at_ns == 500 * MS && seen->hosts[0].sent == 200);
    CU_ASSERT_EQUAL(seen->hosts[1].at_ns, 0); /* before the first event */
    CU_ASSERT(seen->bags[0].put == 10 && seen->bags[0].workers == 2);
    CU_ASSERT_STRING_EQUAL(trace.names[seen->bags[0].name], "a bag of words");
    CU_ASSERT(seen->node_count == 2 && seen->nodes[0].is_switch && seen->link_count == 1);
    CU_ASSERT_FATAL(seen->log_count == 2);
    CU_ASSERT_STRING_EQUAL(seen->logs[0].text, "2026-11-27 it began");
    CU_ASSERT(seen->logs[0].host == 0 && seen->logs[1].host == TRACE_NONE);
    trace_free(&trace);
}

/* h0 and h1 at one switch, h2 at another: what goes from h0 to h2 passes three links, one way. */
static void test_messages_use_the_links_between_their_hosts(void)
{
    struct trace trace = make(6);
    size_t outside;
    see(&trace, 0,
        "node 1 s0\nnode 1 s1\nnode 0 h0\nnode 0 h1\nnode 0 h2\n"
        "link 2 0 8e6\nlink 3 0 8e6\nlink 4 1 8e6\nlink 0 1 8e7\n");
    message(&trace, 0, 0, 4, 0, 1000, 0); /* a megabyte in a second */
    add(&trace, 0, TRACE_CALL, "rest", 1000, 2000);
    finish(&trace);
    struct link_use *use = link_use_find(&trace, &outside);
    CU_ASSERT_FATAL(use != NULL);
    CU_ASSERT_EQUAL(outside, 0);
    for (size_t link = 0; link < 4; link++)
        for (size_t back = 0; back < 2; back++)
            CU_ASSERT_EQUAL(use[link].bytes[back], (link == 0 && back == 0) ||
                                                           (link == 2 && back == 1) ||
                                                           (link == 3 && back == 0)
                                                       ? 1e6
                                                       : 0);
    CU_ASSERT(use[0].share[0][10] > 0.99 && use[0].share[0][10] < 1.01);
    CU_ASSERT(use[3].share[0][10] > 0.099 && use[3].share[0][10] < 0.101);
    CU_ASSERT_EQUAL(use[0].share[0][150], 0);
    free(use);
    trace_free(&trace);
    /* a host that is not in it, and links in a circle */
    trace = make(6);
    see(&trace, 0,
        "node 0 h0\nnode 1 s1\nnode 1 s2\nnode 0 h1\n"
        "link 0 1 8e6\nlink 1 2 8e6\nlink 2 0 8e6\nlink 3 3 8e6\n");
    message(&trace, 0, 0, 4, 0, 1000, 0);
    message(&trace, 0, 0, 2, 0, 1000, 0);
    finish(&trace);
    use = link_use_find(&trace, &outside);
    CU_ASSERT(use != NULL && outside == 1);
    free(use);
    trace_free(&trace);
}

static bool print_why(const struct trace *trace, FILE *out)
{
    return why_print(trace, 3, out);
}

static void test_causes_are_said(void)
{
    struct trace trace = ring(6, (const uint64_t[]){10, 10, 10, 21, 10, 10});
    size_t size;
    char *text = form(print_why, &trace, &size);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "1. "));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "t80002 on h1 kept the others waiting: it computed 2.1 times"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "The longest waits:"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "The critical path"));
    free(text);
    trace_free(&trace);
    text = form(print_why, &trace, &size); /* an empty one */
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "No task waited"));
    free(text);
}

static const struct test_case cases[] = {
    {"messages are matched", test_messages_are_matched},
    {"clocks become one", test_clocks_become_one},
    {"nothing arrives before it left", test_nothing_arrives_before_it_left},
    {"a sender is late", test_a_sender_is_late},
    {"a member is late", test_a_member_is_late},
    {"a lock is held", test_a_lock_is_held},
    {"a receiver is late", test_a_receiver_is_late},
    {"the slow task is named", test_the_slow_task_is_named},
    {"the slow host is named", test_the_slow_host_is_named},
    {"the slow link is named", test_the_slow_link_is_named},
    {"the path goes by who is late", test_the_path_goes_by_who_is_late},
    {"who waits for ever is named first", test_who_waits_for_ever_is_named_first},
    {"a file is read", test_a_file_is_read},
    {"a file of the first version is read", test_a_file_of_the_first_version_is_read},
    {"other programs are left out", test_other_programs_are_left_out},
    {"records behind lost ones are read", test_records_behind_lost_ones_are_read},
    {"strange files are refused", test_strange_files_are_refused},
    {"who is slow sends late", test_who_is_slow_sends_late},
    {"slices lie in each other", test_slices_lie_in_each_other},
    {"a call that overlaps by a moment is not lost",
     test_a_call_that_overlaps_by_a_moment_is_not_lost},
    {"csv and paje", test_csv_and_paje},
    {"flows join messages", test_flows_join_messages},
    {"causes are said", test_causes_are_said},
    {"what was seen is read", test_what_was_seen_is_read},
    {"messages use the links between their hosts", test_messages_use_the_links_between_their_hosts},
};

int main(void)
{
    return covey_test_main("tool_trace", cases, sizeof cases / sizeof cases[0]);
}
