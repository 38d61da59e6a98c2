/* links: lib/domain/sort/cost.c lib/domain/sort/memory.c lib/domain/place/place.c lib/domain/base/error.c lib/domain/base/sizes.c lib/domain/place/network.c libcovey */
/*
 * What sorting is expected to take, from figures by hand; the arrays that a handle keeps; sizes as
 * a user writes them.
 */
#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

#include "lib/domain/base/sizes.h"
#include "lib/domain/sort/cost.h"
#include "lib/domain/sort/memory.h"
#include "tests/unit/runner.h"

/* 10 ns to sort, 5 to merge, 1 to copy; 100 us and 10 ns a byte. */
static struct sort_cost problem(double total, int members)
{
    struct sort_cost c = {.total = total, .bytes = 8, .keeps_counts = 1, .kept = INFINITY};
    c.place =
        (struct covey_domain_place){.processors = 1, .touch_s = 5e-9, .load = 1, .load_root = 1};
    c.place.network = (struct covey_domain_network){
        .members = members, .hosts = members, .alpha_s = 1e-4, .beta_s = 1e-8};
    for (int i = 0; i < SORT_CLASSES; i++) {
        c.speeds.all[SORT_SORT][i] = c.speeds.alone[SORT_SORT][i] = 1e-8;
        c.speeds.all[SORT_MERGE][i] = c.speeds.alone[SORT_MERGE][i] = 5e-9;
        c.speeds.all[SORT_COPY][i] = c.speeds.alone[SORT_COPY][i] = 1e-9;
    }
    return c;
}

static void one_member(void)
{
    struct sort_cost c = problem(1e6, 1);
    CU_ASSERT_DOUBLE_EQUAL(cost_local(&c), 12e-3, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(cost_sample(&c), 12e-3, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(cost_hypercube(&c), 12e-3, 1e-9);
    c.kept = 0; /* 16 MB are written first */
    CU_ASSERT_DOUBLE_EQUAL(cost_local(&c), 92e-3, 1e-9);
    c.kept = 8e6;
    CU_ASSERT_DOUBLE_EQUAL(cost_local(&c), 52e-3, 1e-9);
}

static void what_rank_0_gathers(void)
{
    struct sort_cost c = problem(1e6, 2);
    /* 2 ms to turn half of them twice and to copy; 2 x (100 us + 4 MB), 10 ms to sort */
    CU_ASSERT_DOUBLE_EQUAL(cost_local(&c), 1e-3 + 1e-3 + 2 * (1e-4 + 40e-3) + 10e-3, 1e-9);
    double before = cost_sample(&c);
    c.place.network.one_beta_s = 1e-9;
    CU_ASSERT_DOUBLE_EQUAL(cost_local(&c), 1e-3 + 1e-3 + 2 * (1e-4 + 4e-3) + 10e-3, 1e-9);
    CU_ASSERT_EQUAL(cost_sample(&c), before);
}

static void load_slows_who_computes_there(void)
{
    struct sort_cost c = problem(1e6, 8);
    double local = cost_local(&c), sample = cost_sample(&c);
    c.place.load = 2;                         /* somewhere, but not where rank 0 is */
    CU_ASSERT(cost_local(&c) < local + 7e-3); /* all copy to begin with, and it waits twice */
    CU_ASSERT(cost_sample(&c) > sample + 1e-3);
    c.place.load_root = 2;
    CU_ASSERT(cost_local(&c) > local + 9e-3);
    c.place.load = c.place.load_root = 1;
    c.place.processors = 0.25; /* eight virtual hosts on two processors */
    CU_ASSERT(cost_sample(&c) > sample + 3e-3);
}

/* As many as take as long as the latency of a round: more where that is longer, within bounds. */
static void what_members_show(void)
{
    struct sort_cost c = problem(1e6, 8);
    struct sort_probes at_rest = cost_probes(&c);
    CU_ASSERT(at_rest.next >= 8 && at_rest.first >= cost_samples(8));
    c.place.network.alpha_s = 10; /* as few rounds as can be */
    CU_ASSERT_EQUAL(cost_probes(&c).first, 512);
    CU_ASSERT_EQUAL(cost_probes(&c).next, 512);
    CU_ASSERT(cost_probes(&c).next > at_rest.next);
    c.total = 8 * 32768; /* but no more probes than these need */
    CU_ASSERT_EQUAL(cost_probes(&c).first, 512);
    CU_ASSERT_EQUAL(cost_probes(&c).next, 128);
    c.place.network = (struct covey_domain_network){.members = 200, .hosts = 200};
    CU_ASSERT_EQUAL(cost_probes(&c).next, 8);
    CU_ASSERT_EQUAL(cost_probes(&c).first, 800); /* four a member, as in sample sort */
    c.place.network.members = 1;
    CU_ASSERT(cost_probes(&c).next >= 8);
}

static void sizes_that_were_not_measured(void)
{
    struct sort_cost c = problem(1e6, 2);
    memset(&c.speeds, 0, sizeof c.speeds);
    c.speeds.all[SORT_SORT][2] = 3e-9;
    CU_ASSERT_DOUBLE_EQUAL(cost_work(&c, SORT_SORT, 1, 1000), 3e-6, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(cost_work(&c, SORT_SORT, 1, 1e8), 0.3, 1e-9);
    CU_ASSERT_EQUAL(cost_work(&c, SORT_SORT, 0, 1000), 0);
    CU_ASSERT_EQUAL(cost_class(0, 8), 0);
    CU_ASSERT_EQUAL(cost_class(1e12, 8), 5);
    CU_ASSERT_EQUAL(cost_class(1e12, 1 << 20), 0); /* records of 1 MiB */
    CU_ASSERT_EQUAL(cost_class(16384, 8), 2);
}

static void arrays_are_kept(void)
{
    struct sort_memory memory = {.blocks = {{.base = NULL}}};
    size_t least = memory_kept(&memory), bytes = 4 * MEMORY_SMALL;
    void *one = memory_take(&memory, bytes), *other = memory_take(&memory, 2 * bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(one);
    CU_ASSERT_PTR_NOT_NULL_FATAL(other);
    CU_ASSERT_EQUAL(memory_kept(&memory), least);
    memory_give(&memory, other);
    memory_give(&memory, one);
    CU_ASSERT(memory_kept(&memory) >= least + 3 * bytes);
    CU_ASSERT_PTR_EQUAL(memory_take(&memory, bytes), one); /* the smallest that is large enough */
    CU_ASSERT_PTR_EQUAL(memory_take(&memory, bytes), other);
    memory_give(&memory, one);
    memory_give(&memory, other);
#if !defined(__SANITIZE_ADDRESS__) /* which reports what cannot be given */
    CU_ASSERT_PTR_NULL(memory_take(&memory, (size_t)-1));
    CU_ASSERT_PTR_NULL(memory_take(&memory, (size_t)-1 / 2));
#endif
    memory_give(&memory, NULL);
    memory_free(&memory);
}

static void more_arrays_than_are_kept(void)
{
    struct sort_memory memory = {.blocks = {{.base = NULL}}};
    void *taken[MEMORY_BLOCKS + 2];
    for (int i = 0; i < MEMORY_BLOCKS + 2; i++) {
        taken[i] = memory_take(&memory, (size_t)(i + 1) * MEMORY_SMALL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(taken[i]);
        memset(taken[i], 1, (size_t)(i + 1) * MEMORY_SMALL);
    }
    for (int i = 0; i < MEMORY_BLOCKS + 2; i++)
        memory_give(&memory, taken[i]);
    void *small = memory_take(&memory, 10); /* not one of these */
    CU_ASSERT_PTR_NOT_NULL(small);
    memory_give(&memory, small);
    void *large = memory_take(&memory, 100 * MEMORY_SMALL); /* in the place of the smallest */
    CU_ASSERT_PTR_NOT_NULL(large);
    CU_ASSERT_PTR_EQUAL(memory_take(&memory, MEMORY_BLOCKS * MEMORY_SMALL),
                        taken[MEMORY_BLOCKS - 1]);
    memory_free(&memory);
}

static void sizes_in_words(void)
{
    int64_t n[3];
    CU_ASSERT_EQUAL(domain_sizes_read("4000", "a number", 1, n), 1);
    CU_ASSERT_EQUAL(n[0], 4000);
    CU_ASSERT_EQUAL(domain_sizes_read("8M", "a number", 1, n), 1);
    CU_ASSERT_EQUAL(n[0], 8 << 20);
    CU_ASSERT_EQUAL(domain_sizes_read("2Kx3x5", "sides", 3, n), 3);
    CU_ASSERT_EQUAL(n[0], 2048);
    CU_ASSERT_EQUAL(n[2], 5);
    static const char *const wrong[] = {"",   "0",   "-1",       "x",
                                        "3x", "3x4", "3k",       "1e6",
                                        " 7", "3 ",  "2000000G", "99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CU_ASSERT_EQUAL(domain_sizes_read(wrong[i], "a number", 1, n), COVEY_EINVAL);
    CU_ASSERT_EQUAL(domain_sizes_read("2x2x2x2", "sides", 3, n), COVEY_EINVAL);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"one member", one_member},
        {"what rank 0 gathers", what_rank_0_gathers},
        {"load slows who computes there", load_slows_who_computes_there},
        {"what members show in a round", what_members_show},
        {"sizes that were not measured", sizes_that_were_not_measured},
        {"arrays are kept", arrays_are_kept},
        {"more arrays than are kept", more_arrays_than_are_kept},
        {"sizes in words", sizes_in_words},
    };
    return covey_test_main("sort_cost", cases, sizeof cases / sizeof cases[0]);
}
