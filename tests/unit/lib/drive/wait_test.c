/* links: tests/unit/lib/engine/one_peer.c libcovey-sources */
/*
 * wait_test.c - looking briefly at links in memory before a wait: how often, as the waits before
 * have taught it, and that descriptors have their turn.
 */
#include <CUnit/CUnit.h>

#include "lib/drive/wait.h"
#include "lib/member/vm.h"
#include "tests/unit/lib/engine/one_peer.h"
#include "tests/unit/runner.h"

#define WAITS 1000

struct looks {
    int count, enough; /* with so many it is there; 0: never */
};

static int look(void *context)
{
    struct looks *looks = context;
    return ++looks->count == looks->enough;
}

static int another_way(void *context)
{
    ((struct looks *)context)->count++;
    return -1;
}

static struct one_peer one;
static struct link no_link = {.ops = &one_peer_no_ops};

static struct covey *begin(void)
{
    one_peer_begin(&one, 0x40001, 0x40002, &no_link, COVEY_ROUTE_TCP);
    one.vm->wait.briefs = 0;
    return one.vm;
}

/* How often it looks for what does not come. */
static int looks_in_vain(struct covey *vm, bool once)
{
    struct looks looks = {0};
    bool waited;
    CU_ASSERT_FALSE(wait_briefly(vm, look, &looks, once, &waited));
    CU_ASSERT_EQUAL(waited, looks.count > 1);
    return looks.count;
}

static void it_looks_for_long_where_that_pays(void)
{
    struct covey *vm = begin();
    CU_ASSERT(looks_in_vain(vm, false) > 1);
    CU_ASSERT_EQUAL(looks_in_vain(vm, true), 1);
    vm->wait.crowded = true;
    CU_ASSERT_EQUAL(looks_in_vain(vm, false), 1);
    vm->wait.crowded = false;
    vm->wait.doubt = 1000;
    CU_ASSERT_EQUAL(looks_in_vain(vm, false), 1);
    one_peer_end(&one);
}

static void what_comes_by_looking_ends_all_doubt(void)
{
    struct covey *vm = begin();
    struct looks looks = {.enough = 1};
    bool waited;
    vm->wait.doubt = 1;
    CU_ASSERT(wait_briefly(vm, look, &looks, false, &waited));
    CU_ASSERT(!waited && vm->wait.doubt == 1); /* it was there */
    looks = (struct looks){.enough = 2};
    CU_ASSERT(wait_briefly(vm, look, &looks, false, &waited));
    CU_ASSERT(waited && vm->wait.doubt == 0);
    one_peer_end(&one);
}

static void what_is_not_done_so_is_left_at_once(void)
{
    struct covey *vm = begin();
    struct looks looks = {0};
    bool waited;
    CU_ASSERT_FALSE(wait_briefly(vm, another_way, &looks, false, &waited));
    CU_ASSERT(looks.count == 1 && !waited);
    one_peer_end(&one);
}

/* However many other calls a program makes between two waits. */
static void descriptors_have_their_turn(void)
{
    for (unsigned calls = 1; calls < 5; calls++) {
        struct covey *vm = begin();
        int turns = 0;
        for (int i = 0; i < WAITS; i++) {
            struct looks looks = {.enough = 1};
            bool waited;
            turns += !wait_briefly(vm, look, &looks, false, &waited);
            CU_ASSERT(looks.count <= 1);
            vm->wait.calls += calls;
        }
        CU_ASSERT(turns >= WAITS / 100 && turns <= WAITS / 10);
        one_peer_end(&one);
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        {"it looks for long where that pays", it_looks_for_long_where_that_pays},
        {"what comes by looking ends all doubt", what_comes_by_looking_ends_all_doubt},
        {"what is not done so is left at once", what_is_not_done_so_is_left_at_once},
        {"descriptors have their turn", descriptors_have_their_turn},
    };
    return covey_test_main("wait", cases, sizeof cases / sizeof cases[0]);
}
