/* links: lib/link/trace_ring.c lib/link/shared_memory.c */
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

static void test_what_finds_no_room_is_counted(void)
{
    struct trace_ring *task, *daemon = both(&task);
    static struct trace_record records[TRACE_RING_RECORDS];
    uint64_t read = 0;
    for (uint64_t i = 0; i < TRACE_RING_RECORDS + 10; i++)
        trace_ring_put(task, &read, &(struct trace_record){{i}});
    CU_ASSERT_EQUAL(daemon->dropped, 10);
    CU_ASSERT_EQUAL(trace_ring_take(daemon, records, 100), 100);
    CU_ASSERT_EQUAL(records[99].word[0], 99);
    trace_ring_put(task, &read, &(struct trace_record){{77}});
    CU_ASSERT_EQUAL(trace_ring_take(daemon, records, TRACE_RING_RECORDS), TRACE_RING_RECORDS - 99);
    CU_ASSERT_EQUAL(records[TRACE_RING_RECORDS - 100].word[0], 77);
    CU_ASSERT(!trace_ring_waits(daemon) && daemon->dropped == 10);
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
    static struct trace_record records[8];
    static char names[16];
    task->head = UINT64_MAX;
    CU_ASSERT_EQUAL(trace_ring_take(daemon, records, 8), 0);
    task->tail = UINT64_MAX - 3;
    CU_ASSERT_EQUAL(trace_ring_take(daemon, records, 8), 3);
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
    uint64_t read = 0;
    for (uint64_t i = 1; i <= MANY; i++)
        trace_ring_put(task, &read, &(struct trace_record){{i, i, i, i}});
    return NULL;
}

/* While one writes and the other reads, each record comes whole, in order, or is counted. */
static void test_both_at_once(void)
{
    struct trace_ring *task, *daemon = both(&task);
    static struct trace_record records[1000];
    pthread_t writer;
    uint64_t last = 0, came = 0;
    bool good = pthread_create(&writer, NULL, write_many, task) == 0;
    CU_ASSERT_FATAL(good);
    while (came + atomic_load(&daemon->dropped) < MANY) {
        size_t n = trace_ring_take(daemon, records, 1000);
        for (size_t i = 0; i < n; i++) {
            good = good && records[i].word[0] > last && records[i].word[3] == records[i].word[0];
            last = records[i].word[0];
        }
        came += n;
    }
    pthread_join(writer, NULL);
    CU_ASSERT(good && came + daemon->dropped == MANY && came > 0);
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
