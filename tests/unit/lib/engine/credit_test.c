/* links: lib/engine/credit.c */
/*
 * How much a peer may send is bounded by what the task keeps, and by what the host has left.
 */
#include <CUnit/CUnit.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/engine/credit.h"
#include "lib/engine/outgo.h"
#include "lib/engine/peer.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "tests/unit/runner.h"

#define MIB ((uint64_t)1024 * 1024)

static int pumped;
static uint64_t check_at;

void outgo_pump(struct covey *vm, struct peer *peer)
{
    (void)vm, (void)peer;
    pumped++;
}

void wait_check_at(struct covey *vm, uint64_t at_us)
{
    (void)vm;
    check_at = at_us;
}

struct fixture {
    struct covey vm;
    struct peer peer;
    char file[32];
};

static void left_is(struct fixture *f, uint64_t mib)
{
    FILE *file = fopen(f->file, "w");
    fprintf(file, "MemTotal:  99999999 kB\nMemFree:  1 kB\nMemAvailable: %" PRIu64 " kB\n",
            mib * 1024);
    fclose(file);
}

static void begin(struct fixture *f)
{
    *f = (struct fixture){.file = "/tmp/covey-credit.XXXXXX"};
    close(mkstemp(f->file));
    f->vm.memory.buffer_bytes = 16 * MIB;
    f->vm.memory.bytes = 1000 * MIB;
    f->vm.memory.file = f->file;
    f->vm.known.peers[0] = &f->peer;
    f->peer.in.credit_window = MIB;
    check_at = 0;
}

/* So much has come in all, and is kept; whether more may come. */
static bool goes_on(struct fixture *f, uint64_t mib)
{
    uint64_t before = f->peer.in.granted_bytes;
    f->vm.inbox.unexpected_bytes = f->peer.in.received_bytes = mib * MIB;
    credit_update(&f->vm, &f->peer);
    return f->peer.in.granted_bytes > before;
}

static void test_computing(void)
{
    struct fixture f;
    begin(&f);
    left_is(&f, 500);
    CU_ASSERT_TRUE(goes_on(&f, 15));
    CU_ASSERT_FALSE(goes_on(&f, 17));
    CU_ASSERT_EQUAL(f.vm.memory.starved, 1);
    f.vm.wait.threads = 1; /* in the library: there is memory for more */
    credit_reopen(&f.vm);
    CU_ASSERT_EQUAL(f.vm.memory.starved, 0);
    unlink(f.file);
}

static void test_waiting(void)
{
    struct fixture f;
    begin(&f);
    left_is(&f, 100);
    f.vm.wait.threads = 1;
    CU_ASSERT_TRUE(goes_on(&f, 50));
    CU_ASSERT_EQUAL(check_at, 0);
    CU_ASSERT_FALSE(goes_on(&f, 110)); /* more than the host has left */
    CU_ASSERT_NOT_EQUAL(check_at, 0);
    credit_reopen(&f.vm);
    CU_ASSERT_EQUAL(f.vm.memory.starved, 1);
    left_is(&f, 200); /* another task has ended */
    credit_reopen(&f.vm);
    CU_ASSERT_EQUAL(f.vm.memory.starved, 0);
    left_is(&f, 9000);
    CU_ASSERT_TRUE(goes_on(&f, 490));
    CU_ASSERT_FALSE(goes_on(&f, 501)); /* more than half of memory */
    unlink(f.file);
}

static void test_kept(void)
{
    struct fixture f;
    begin(&f);
    left_is(&f, 500);
    credit_keep(&f.vm, 10 * (int64_t)MIB);
    CU_ASSERT_TRUE(goes_on(&f, 5));
    CU_ASSERT_FALSE(goes_on(&f, 7));
    credit_keep(&f.vm, -5 * (int64_t)MIB);
    CU_ASSERT_EQUAL(f.vm.memory.starved, 0);
    CU_ASSERT_EQUAL(f.vm.memory.kept_bytes, 5 * MIB);
    credit_keep(&f.vm, -50 * (int64_t)MIB);
    CU_ASSERT_EQUAL(f.vm.memory.kept_bytes, 0);
    unlink(f.file);
}

/* Where the host does not say what it has left, half of its memory counts. */
static void test_unknown(void)
{
    struct fixture f;
    begin(&f);
    unlink(f.file);
    f.vm.wait.threads = 1;
    CU_ASSERT_TRUE(goes_on(&f, 490));
    CU_ASSERT_FALSE(goes_on(&f, 510));
}

int main(void)
{
    static const struct test_case cases[] = {
        {"while it computes", test_computing},
        {"while it waits", test_waiting},
        {"what is put aside counts", test_kept},
        {"memory is not known", test_unknown},
    };
    return covey_test_main("credit", cases, sizeof cases / sizeof cases[0]);
}
