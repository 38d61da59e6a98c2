/* links: lib/link/peek.c proto/wire/control.c proto/contention/contention.c proto/wire/contention_config.c proto/wire/address.c proto/wire/frame.c proto/wire/cursor.c */
/*
 * peek_test.c - reading another process: a child tells and offers, this one reads; what is not its
 * memory is not taken for it; and the word by which two ends agree what becomes of an offer.
 */
#include "lib/link/peek.h"
#include "tests/unit/runner.h"

#include <CUnit/CUnit.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES 100000

/* Both ends' halves, and where the child has what it offers. */
struct memory {
    struct peek_shared parent, child;
    _Atomic uint64_t at;
};

struct world {
    struct memory *memory;
    struct peek here, there; /* `there` is used where the other end is this process, too */
    pid_t child;
};

static uint8_t bytes[BYTES];

static void begin(struct world *w)
{
    *w = (struct world){.child = 0};
    w->memory =
        mmap(NULL, sizeof *w->memory, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CU_ASSERT_FATAL(w->memory != MAP_FAILED);
    w->here.own = w->there.other = &w->memory->parent;
    w->here.other = w->there.own = &w->memory->child;
}

static void fork_child(struct world *w)
{
    w->child = fork();
    CU_ASSERT_FATAL(w->child >= 0);
    if (w->child == 0) {
        static struct peek own;
        own.own = &w->memory->child;
        own.other = &w->memory->parent;
        for (int i = 0; i < BYTES; i++)
            bytes[i] = (uint8_t)(i * 3);
        peek_tell(&own);
        atomic_store(&w->memory->at, (uint64_t)(uintptr_t)bytes);
        for (;;)
            pause();
    }
    while (atomic_load(&w->memory->at) == 0)
        usleep(1000);
}

static void end_child(struct world *w)
{
    kill(w->child, SIGKILL);
    waitpid(w->child, NULL, 0);
    w->child = 0;
}

static void end(struct world *w)
{
    if (w->child > 0)
        end_child(w);
    munmap(w->memory, sizeof *w->memory);
}

static struct control_offer offer_of(const struct world *w)
{
    uint64_t at = atomic_load(&w->memory->at);
    return (struct control_offer){
        .number = 1, .count = 3, .pieces = {{at + 50, 100}, {at + 5000, 1}, {at + 90000, 200}}};
}

static void pieces_of_another_process_are_read(void)
{
    struct world w;
    uint8_t got[301];
    begin(&w);
    fork_child(&w);
    peek_try(&w.here);
    CU_ASSERT(peek_may_offer(&w.there));
    struct control_offer offer = offer_of(&w);
    CU_ASSERT(peek_read(&w.here, &offer, 0, got, sizeof got));
    for (int i = 0; i < 301; i++) {
        int at = i < 100 ? 50 + i : i == 100 ? 5000 : 90000 + i - 101;
        CU_ASSERT_EQUAL(got[i], (uint8_t)(at * 3));
    }
    memset(got, 0, sizeof got);
    CU_ASSERT(peek_read(&w.here, &offer, 99, got, 3));
    CU_ASSERT(got[0] == (uint8_t)(149 * 3) && got[1] == (uint8_t)(5000 * 3) &&
              got[2] == (uint8_t)(90000 * 3));
    CU_ASSERT_FALSE(peek_read(&w.here, &offer, 300, got, 2)); /* more than there is */
    offer.pieces[2].address = 16;                             /* where nothing is */
    CU_ASSERT_FALSE(peek_read(&w.here, &offer, 0, got, sizeof got));
    end(&w);
}

static void a_process_that_ended_is_not_read(void)
{
    struct world w;
    uint8_t got;
    begin(&w);
    fork_child(&w);
    peek_try(&w.here);
    const struct control_offer offer = offer_of(&w);
    CU_ASSERT(peek_read(&w.here, &offer, 0, &got, 1));
    end_child(&w);
    CU_ASSERT_FALSE(peek_read(&w.here, &offer, 0, &got, 1));
    end(&w);
}

/* Its pid is that of another one by now, or of another namespace. */
static void another_process_is_not_taken_for_it(void)
{
    struct world w;
    uint8_t got;
    begin(&w);
    fork_child(&w);
    peek_try(&w.here);
    const struct control_offer offer = offer_of(&w);
    w.here.other_pid = getpid();
    CU_ASSERT_FALSE(peek_read(&w.here, &offer, 0, &got, 1));
    w.memory->child.pid = (uint64_t)getpid();
    peek_try(&w.here);
    CU_ASSERT_FALSE(peek_may_offer(&w.there));
    CU_ASSERT_FALSE(peek_read(&w.here, &offer, 0, &got, 1));
    end(&w);
}

static void who_tells_nothing_is_not_read(void)
{
    static const uint64_t pids[] = {0, 1ull << 32, UINT64_MAX, INT32_MAX};
    for (size_t i = 0; i < sizeof pids / sizeof pids[0]; i++) {
        struct world w;
        begin(&w);
        if (i > 0)
            peek_tell(&w.there);
        w.memory->child.pid = pids[i];
        peek_try(&w.here);
        CU_ASSERT_FALSE(peek_may_offer(&w.there));
        end(&w);
    }
}

static void an_offer_is_taken_or_taken_back(void)
{
    struct world w;
    uint64_t copied;
    begin(&w);
    uint64_t first = peek_offer(&w.there);
    CU_ASSERT_EQUAL(peek_look(&w.there, &copied), PEEK_OFFERED);
    CU_ASSERT(peek_take_back(&w.there));
    CU_ASSERT_EQUAL(peek_look(&w.there, &copied), PEEK_BACK);
    CU_ASSERT_FALSE(peek_take(&w.here, first));
    uint64_t second = peek_offer(&w.there);
    CU_ASSERT_FALSE(peek_take(&w.here, first));
    CU_ASSERT(peek_take(&w.here, second));
    CU_ASSERT_FALSE(peek_take(&w.here, second));
    CU_ASSERT_FALSE(peek_take_back(&w.there));
    peek_copied(&w.here, 5);
    CU_ASSERT_EQUAL(peek_look(&w.there, &copied), PEEK_TAKEN);
    CU_ASSERT_EQUAL(copied, 5);
    CU_ASSERT(peek_done(&w.here, second));
    CU_ASSERT_EQUAL(peek_look(&w.there, &copied), PEEK_DONE);
    CU_ASSERT_FALSE(peek_done(&w.here, second));
    end(&w);
}

static void a_revoked_offer_is_never_done(void)
{
    struct world w;
    uint64_t copied;
    begin(&w);
    uint64_t number = peek_offer(&w.there);
    CU_ASSERT(peek_take(&w.here, number));
    peek_revoke(&w.there);
    CU_ASSERT_FALSE(peek_done(&w.here, number));
    peek_refuse(&w.here, number);
    CU_ASSERT_EQUAL(peek_look(&w.there, &copied), PEEK_BACK);
    number = peek_offer(&w.there);
    CU_ASSERT(peek_take(&w.here, number));
    peek_refuse(&w.here, number);
    CU_ASSERT_EQUAL(peek_look(&w.there, &copied), PEEK_REFUSED);
    end(&w);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"pieces of another process are read", pieces_of_another_process_are_read},
        {"a process that ended is not read", a_process_that_ended_is_not_read},
        {"another process is not taken for it", another_process_is_not_taken_for_it},
        {"who tells nothing is not read", who_tells_nothing_is_not_read},
        {"an offer is taken or taken back", an_offer_is_taken_or_taken_back},
        {"a revoked offer is never done", a_revoked_offer_is_never_done},
    };
    return covey_test_main("peek", cases, sizeof cases / sizeof cases[0]);
}
