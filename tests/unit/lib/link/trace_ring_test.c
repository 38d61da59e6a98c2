/* links: lib/link/trace_ring.c lib/link/shared_memory.c proto/trace/trace_pack.c proto/wire/cursor.c */
#include <CUnit/CUnit.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "lib/link/trace_ring.h"
#include "tests/unit/runner.h"

static struct trace_ring *both(struct trace_ring **task)
{
    int fd = -1;
    struct trace_ring *daemon = trace_ring_create(&fd);
    CU_ASSERT_PTR_NOT_NULL_FATAL(daemon);
    *task = trace_ring_open(fd);
    CU_ASSERT_PTR_NOT_NULL_FATAL(*task);
    close(fd);
    return daemon;
}

/* As the reader of a file goes through what was taken; returns how many records, with the last. */
struct reading {
    struct trace_pack pack;
    uint64_t at;
    struct trace_record last;
    bool good;
};

static size_t read_on(struct reading *r, uint64_t from, const uint8_t *bytes, size_t size)
{
    size_t count = 0;
    r->good = r->good && from == r->at;
    for (size_t at = 0; at < size && r->good;) {
        size_t left = TRACE_PAGE_BYTES - r->at % TRACE_PAGE_BYTES;
        size_t part = left < size - at ? left : size - at;
        struct cursor c = cursor_reader(bytes + at, part);
        struct trace_record record;
        int got = 1;
        if (left == TRACE_PAGE_BYTES)
            trace_pack_begin(&r->pack);
        while (cursor_left(&c) > 0 && (got = trace_pack_get(&r->pack, &c, &record)) > 0) {
            r->good =
                r->good && record.word[0] > r->last.word[0] && record.word[3] == record.word[0];
            r->last = record;
            count++;
        }
        r->good = r->good && got >= 0;
        at += part;
        r->at += part;
    }
    return count;
}

static void put(struct trace_ring *ring, struct trace_writer *writer, uint64_t i)
{
    trace_ring_put(ring, writer, &(struct trace_record){{i, (uint64_t)TRACE_MARK << 60, i * i, i}});
}

static void test_what_finds_no_room_is_counted(void)
{
    struct trace_ring *task, *daemon = both(&task);
    static uint8_t bytes[TRACE_RING_BYTES];
    static struct trace_writer writer;
    static struct reading reading;
    reading = (struct reading){.good = true};
    uint64_t i = 0, from;
    while (daemon->dropped < 10)
        put(task, &writer, ++i);
    size_t size = trace_ring_take(daemon, bytes, 2 * TRACE_PAGE_BYTES + 100, &from);
    CU_ASSERT_EQUAL(size, 2 * TRACE_PAGE_BYTES); /* whole pages of what is not all */
    CU_ASSERT_EQUAL(trace_ring_take(daemon, bytes + size, TRACE_PAGE_BYTES - 1, &from), 0);
    uint64_t came = read_on(&reading, 0, bytes, size);
    put(task, &writer, i + 10);
    size = trace_ring_take(daemon, bytes, TRACE_RING_BYTES, &from);
    came += read_on(&reading, from, bytes, size);
    CU_ASSERT(reading.good);
    CU_ASSERT_EQUAL(reading.last.word[0], i + 10);
    CU_ASSERT(came == i - 10 + 1 && trace_ring_waiting(daemon) == 0 && daemon->dropped == 10);
    trace_ring_close(task);
    trace_ring_close(daemon);
}

static void test_names(void)
{
    struct trace_ring *task, *daemon = both(&task);
    static char names[TRACE_NAMES_BYTES];
    CU_ASSERT(trace_ring_name(task, "send", 4) && trace_ring_name(task, "", 0));
    CU_ASSERT_EQUAL(trace_ring_names(daemon, 0, names, sizeof names), 6);
    CU_ASSERT_EQUAL(memcmp(names, "send\0", 6), 0);
    CU_ASSERT_EQUAL(trace_ring_names(daemon, 6, names, sizeof names), 0);
    while (trace_ring_name(task, "abcdefgh", 8))
        continue;
    CU_ASSERT(trace_ring_names(daemon, 0, names, sizeof names) <= sizeof names);
    trace_ring_close(task);
    trace_ring_close(daemon);
}

/* A task may write anything there: the daemon reads within bounds. */
static void test_a_hostile_task(void)
{
    struct trace_ring *task, *daemon = both(&task);
    static uint8_t bytes[8];
    static char names[16];
    uint64_t from;
    task->head = UINT64_MAX;
    CU_ASSERT_EQUAL(trace_ring_take(daemon, bytes, sizeof bytes, &from), 0);
    task->tail = UINT64_MAX - 3;
    CU_ASSERT_EQUAL(trace_ring_take(daemon, bytes, sizeof bytes, &from), 3);
    task->names_bytes = UINT32_MAX;
    CU_ASSERT_EQUAL(trace_ring_names(daemon, 0, names, sizeof names), 0);
    task->names_bytes = TRACE_NAMES_BYTES;
    CU_ASSERT_EQUAL(trace_ring_names(daemon, TRACE_NAMES_BYTES - 4, names, sizeof names), 4);
    CU_ASSERT(!trace_ring_name(task, "x", 1));
    trace_ring_close(task);
    trace_ring_close(daemon);
}

#define MANY 2000000u

static void *write_many(void *task)
{
    static struct trace_writer writer;
    for (uint64_t i = 1; i <= MANY; i++)
        put(task, &writer, i);
    return NULL;
}

/* While one writes and the other reads, each record comes whole, in order, or is counted. */
static void test_both_at_once(void)
{
    struct trace_ring *task, *daemon = both(&task);
    static uint8_t bytes[20000];
    static struct reading reading;
    reading = (struct reading){.good = true};
    pthread_t writer;
    uint64_t came = 0, from;
    bool good = pthread_create(&writer, NULL, write_many, task) == 0;
    CU_ASSERT_FATAL(good);
    while (reading.good && came + atomic_load(&daemon->dropped) < MANY) {
        size_t size = trace_ring_take(daemon, bytes, sizeof bytes, &from);
        came += read_on(&reading, from, bytes, size);
    }
    pthread_join(writer, NULL);
    CU_ASSERT(reading.good && came + daemon->dropped == MANY && came > 0);
    trace_ring_close(task);
    trace_ring_close(daemon);
}

static void test_other_memory_is_none(void)
{
    int ends[2];
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    CU_ASSERT_PTR_NULL(trace_ring_open(ends[0]));
    close(ends[0]);
    close(ends[1]);
}

static const struct test_case cases[] = {
    {"what finds no room is counted", test_what_finds_no_room_is_counted},
    {"names", test_names},
    {"a hostile task", test_a_hostile_task},
    {"both at once", test_both_at_once},
    {"other memory is none", test_other_memory_is_none},
};

int main(void)
{
    return covey_test_main("trace_ring", cases, sizeof cases / sizeof cases[0]);
}
