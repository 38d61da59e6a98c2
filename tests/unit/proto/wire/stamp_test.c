/* links: lib/link/ledger.c */
/*
 * stamp_test.c - stamps follow each other, and the clock where it is ahead, also when they begin
 * again; and the ledger by which the daemon tells a task how far it is, which only it can write.
 */
#include "lib/link/ledger.h"
#include "proto/wire/stamp.h"
#include "tests/unit/runner.h"

#include <CUnit/CUnit.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static void stamps_grow(void)
{
    uint64_t a = stamp_next(0, 1000), b = stamp_next(a, 1000), c = stamp_next(b, 1001);
    CU_ASSERT(stamp_is_before(a, b) && stamp_is_before(b, c) && stamp_is_before(a, c));
    CU_ASSERT(!stamp_is_before(a, a) && !stamp_is_before(c, a));
    CU_ASSERT_EQUAL(stamp_later(a, c), c);
    CU_ASSERT_EQUAL(stamp_later(c, a), c);
    CU_ASSERT(stamp_is_before(c, stamp_next(c, 5))); /* a clock that is behind */
}

static void stamps_begin_again(void)
{
    uint64_t last = STAMP_MASK, next = stamp_next(last, 0);
    CU_ASSERT(next != 0 && next <= STAMP_MASK && stamp_is_before(last, next));
    CU_ASSERT_EQUAL(stamp_later(last, next), next);
    uint64_t end_us = STAMP_MASK >> STAMPS_US_SHIFT;
    uint64_t before = stamp_next(0, end_us - 1), after = stamp_next(before, end_us + 2);
    CU_ASSERT(stamp_is_before(before, after) && after <= STAMP_MASK && after != 0);
}

static void a_ledger_tells_what_was_written(void)
{
    int fd;
    struct ledger *own = ledger_create(&fd);
    CU_ASSERT_PTR_NOT_NULL_FATAL(own);
    struct ledger *seen = ledger_open(fd);
    CU_ASSERT_PTR_NOT_NULL_FATAL(seen);
    CU_ASSERT(ledger_queued(seen) == 0 && ledger_taken(seen) == 0);
    ledger_set_queued(own, 1ull << 40);
    ledger_set_taken(own, 7, 8);
    CU_ASSERT(ledger_queued(seen) == 1ull << 40 && ledger_taken(seen) == 7);
    CU_ASSERT_EQUAL(ledger_stamp(seen), 8);
    ledger_close(seen);
    ledger_close(own);
    close(fd);
}

static void only_the_daemon_writes_it(void)
{
    int fd;
    struct ledger *own = ledger_create(&fd);
    CU_ASSERT_PTR_NOT_NULL_FATAL(own);
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CU_ASSERT(page == MAP_FAILED);
    CU_ASSERT(write(fd, "x", 1) < 0);
    CU_ASSERT(ftruncate(fd, 0) < 0);
    ledger_close(own);
    close(fd);
}

static void what_is_no_ledger_is_refused(void)
{
    int zero = open("/dev/zero", O_RDONLY), memory = memfd_create("none", MFD_ALLOW_SEALING);
    CU_ASSERT_PTR_NULL(ledger_open(-1));
    CU_ASSERT_PTR_NULL(ledger_open(zero));
    CU_ASSERT_PTR_NULL(ledger_open(memory));
    CU_ASSERT_EQUAL(ftruncate(memory, 192), 0);
    CU_ASSERT_EQUAL(fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    CU_ASSERT_PTR_NULL(ledger_open(memory)); /* of no format */
    close(zero);
    close(memory);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"stamps grow", stamps_grow},
        {"stamps begin again at their end", stamps_begin_again},
        {"a ledger tells what was written", a_ledger_tells_what_was_written},
        {"only the daemon writes it", only_the_daemon_writes_it},
        {"what is no ledger is refused", what_is_no_ledger_is_refused},
    };
    return covey_test_main("stamp", cases, sizeof cases / sizeof cases[0]);
}
