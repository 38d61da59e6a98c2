/* links: lib/domain/algebra/dense_cost.c lib/domain/algebra/dense_cost_cholesky.c lib/domain/algebra/dense_cost_qr.c lib/domain/algebra/dense_layout.c lib/domain/algebra/dense_ops.c lib/domain/algebra/gemm_cost.c lib/domain/algebra/lu_cost.c lib/domain/place/place.c lib/domain/place/network.c lib/domain/base/error.c libcovey */
/*
 * What Cholesky and QR are expected to take, of networks and hosts that do not exist: pure
 * functions.
 */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/domain/algebra/dense_cost.h"
#include "tests/unit/runner.h"

static const struct dense_setting open_setting = {.bcast = -1, .swap = -1, .lookahead = -1};

/* 10 GFlop/s a member, each on a host of its own with one processor. */
static struct dense_case case_of(int op, const int64_t size[3], double alpha_s, double beta_s)
{
    struct dense_case c = {
        .problem = {.op = op, .type = COVEY_DOUBLE, .m = size[0], .n = size[1], .r = size[2]},
        .place = {.network = {.members = 4, .hosts = 4, .alpha_s = alpha_s, .beta_s = beta_s},
                  .processors = 1},
        .speed = {.trsm_s = 1e-10,
                  .lu_s = {1e-10, 1e-10, 1e-10},
                  .cholesky_s = {1e-10, 1e-10, 1e-10},
                  .qr_s = {1e-10, 1e-10, 1e-10},
                  .vector_s = 1e-9,
                  .copy_s = 1e-11}};
    for (int i = 0; i < DENSE_WIDTHS; i++) {
        c.speed.gemm_s[i] = 1e-10;
        c.speed.panel_s[i] = 5e-10;
    }
    c.root = c.speed;
    return c;
}

/* The algorithm with the least seconds, and these. */
static const char *best_of(const struct dense_case *c, double *least)
{
    const struct dense_op *op = dense_op_of(c->problem.op);
    const char *best = NULL;
    for (int i = 0; op->names[i] != NULL; i++) {
        struct dense_setting taken;
        double seconds =
            op->refusal(i, c) != NULL ? -1 : dense_best(op, i, c, &open_setting, &taken);
        if (seconds >= 0 && (best == NULL || seconds < *least)) {
            best = op->names[i];
            *least = seconds;
        }
    }
    return best;
}

static double seconds_of(const struct dense_case *c, const char *name, struct dense_grid grid)
{
    const struct dense_op *op = dense_op_of(c->problem.op);
    struct dense_setting s = {.grid = grid, .block = 64, .bcast = DENSE_TREE};
    int i = 0;
    while (strcmp(op->names[i], name) != 0)
        i++;
    return op->refusal(i, c) != NULL ? -1 : op->cost(i, c, &s);
}

static void one_member_does_it_over_a_slow_network(void)
{
    double least;
    struct dense_case c = case_of(COVEY_DENSE_CHOLESKY, (const int64_t[]){4000, 4000, 1}, 1, 1e-12);
    CU_ASSERT_STRING_EQUAL(best_of(&c, &least), "local");
    c = case_of(COVEY_DENSE_QR, (const int64_t[]){4000, 2000, 1}, 1, 1e-12);
    CU_ASSERT_STRING_EQUAL(best_of(&c, &least), "local");
}

/* Four members take a quarter of the time, and some for ragged ends. */
static void all_members_do_it_over_a_fast_one(void)
{
    struct dense_case c =
        case_of(COVEY_DENSE_CHOLESKY, (const int64_t[]){16000, 16000, 0}, 1e-7, 1e-12);
    double least, local = seconds_of(&c, "local", (struct dense_grid){1, 1});
    CU_ASSERT_STRING_NOT_EQUAL(best_of(&c, &least), "local");
    CU_ASSERT(least >= local / 4 && least < local / 3);
    CU_ASSERT_DOUBLE_EQUAL(local, 16000.0 * 16000 * 16000 / 3 * 1e-10, local / 100);
}

static void looking_left_sends_fewer_messages_down_a_column(void)
{
    struct dense_case c =
        case_of(COVEY_DENSE_CHOLESKY, (const int64_t[]){4000, 4000, 0}, 0.1, 1e-12);
    struct dense_grid column = {4, 1};
    CU_ASSERT(seconds_of(&c, "left", column) < 0.6 * seconds_of(&c, "right", column));
}

static void tall_matrices_are_factored_in_a_tree(void)
{
    double least;
    struct dense_case c = case_of(COVEY_DENSE_QR, (const int64_t[]){1000000, 20, 0}, 1e-4, 1e-9);
    CU_ASSERT_STRING_EQUAL(best_of(&c, &least), "tsqr");
    CU_ASSERT(seconds_of(&c, "tsqr", (struct dense_grid){2, 2}) < 0);
    c.problem.m = 19;
    CU_ASSERT(seconds_of(&c, "tsqr", (struct dense_grid){4, 1}) < 0);
    c.problem.m = 40; /* block 64: the first member has all rows, and the third one none */
    CU_ASSERT(seconds_of(&c, "tsqr", (struct dense_grid){4, 1}) < 0);
    CU_ASSERT(seconds_of(&c, "tsqr", (struct dense_grid){2, 1}) > 0);
}

/* Members of a grid column wait for one another in each column of a panel, those of a row once. */
static void columns_of_several_members_wait_for_each_column(void)
{
    struct dense_case c = case_of(COVEY_DENSE_QR, (const int64_t[]){2000, 2000, 0}, 1e-4, 1e-12);
    struct dense_grid row = {1, 4}, column = {4, 1}, one = {1, 1};
    double waits = 2000 * 2 * 1e-4, compute = seconds_of(&c, "block", one) / 4;
    CU_ASSERT(seconds_of(&c, "block", column) > compute + waits);
    CU_ASSERT(seconds_of(&c, "block", row) < compute + waits / 4);
}

static void messages_wait_for_those_that_are_sent_meanwhile(void)
{
    struct covey_domain_network net = {.members = 9, .alpha_s = 9e-5};
    CU_ASSERT_DOUBLE_EQUAL(dense_alpha_s(&net, 1), 9e-5, 1e-12); /* not known of one alone */
    net.one_alpha_s = 1e-5;
    CU_ASSERT_DOUBLE_EQUAL(dense_alpha_s(&net, 1), 1e-5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(dense_alpha_s(&net, 0.5), 1e-5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(dense_alpha_s(&net, 5), 5e-5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(dense_alpha_s(&net, 9), 9e-5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(dense_alpha_s(&net, 100), 9e-5, 1e-12);
    net.beta_s = 9e-8; /* of bytes the same */
    CU_ASSERT_DOUBLE_EQUAL(dense_message_s(&net, 1, 1000), 1e-5 + 9e-5, 1e-12);
    net.one_beta_s = 1e-8;
    CU_ASSERT_DOUBLE_EQUAL(dense_beta_s(&net, 5), 5e-8, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(dense_message_s(&net, 1, 1000), 1e-5 + 1e-5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(dense_message_s(&net, 9, 1000), 9e-5 + 9e-5, 1e-12);
    net.one_alpha_s = 1e-4; /* as it may be measured: one alone is not slower */
    CU_ASSERT_DOUBLE_EQUAL(dense_alpha_s(&net, 1), 9e-5, 1e-12);
}

static void more_processes_than_processors_gain_nothing(void)
{
    struct dense_case c = case_of(COVEY_DENSE_CHOLESKY, (const int64_t[]){4000, 4000, 1}, 0, 0);
    c.place.network.hosts = 1;
    c.place.processors = 2;
    c.place.load = 1;
    CU_ASSERT_DOUBLE_EQUAL(dense_crowd(&c, 2), 1, 1e-12);
    CU_ASSERT(dense_crowd(&c, 4) / 4 > dense_crowd(&c, 2) / 2);
    CU_ASSERT(dense_crowd(&c, 4) / 4 < 1.2 * dense_crowd(&c, 2) / 2);
}

/* One grid column factors while the others wait: its messages cost what lone ones do. */
static void a_ring_passes_one_message_at_a_time(void)
{
    struct covey_domain_network net = {
        .members = 8, .alpha_s = 8e-5, .beta_s = 1e-9, .one_alpha_s = 1e-5};
    double lone = dense_cast_cost(&net, DENSE_1RING_M, 4, 1, 1000).next_s;
    double both = dense_cast_cost(&net, DENSE_1RING_M, 4, 2, 1000).next_s;
    double tree = dense_cast_cost(&net, DENSE_TREE, 8, 1, 1000).next_s;
    CU_ASSERT_DOUBLE_EQUAL(lone, 1e-5 + 1e-6, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(both, 2e-5 + 1e-6, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(tree, 3 * (4e-5 + 1e-6), 1e-12);
}

/* A slow link is all that counts: in the ring of four the only panel is passed on twice before the
 * last member has it, and of many panels only the ends are late. */
static void the_last_member_of_a_ring_counts(void)
{
    struct dense_case c = case_of(COVEY_DENSE_CHOLESKY, (const int64_t[]){300, 300, 0}, 0, 1e-4);
    const struct dense_op *op = dense_op_of(COVEY_DENSE_CHOLESKY);
    struct dense_setting s = {.grid = {1, 4}, .block = 192, .bcast = DENSE_1RING_M};
    double panel = (300 * 0.75 - 192 / 2.0) * 192 * 8 * 1e-4; /* the mean of what is below */
    CU_ASSERT_DOUBLE_EQUAL(op->cost(1, &c, &s), 3 * panel, panel / 20);
    s.block = 10;
    CU_ASSERT_DOUBLE_EQUAL(op->cost(1, &c, &s), 300 * 300 / 2 * 8 * 1e-4,
                           0.1 * 300 * 300 / 2 * 8 * 1e-4);
    c = case_of(COVEY_DENSE_LU, (const int64_t[]){300, 300, 0}, 0, 1e-4);
    s = (struct dense_setting){.grid = {1, 4}, .block = 300, .bcast = DENSE_1RING_M};
    panel = (150 + 300) * 300 * 8 * 1e-4;
    CU_ASSERT_DOUBLE_EQUAL(dense_op_of(COVEY_DENSE_LU)->cost(1, &c, &s), 3 * panel, panel / 10);
}

/* Over a slow link: a tile goes to the others of its row and of its column. */
static void members_have_their_own_tiles(void)
{
    struct dense_case c = case_of(COVEY_DENSE_CHOLESKY, (const int64_t[]){640, 640, 0}, 0, 1e-4);
    double all = 640 * 640 / 2 * 8 * 1e-4;
    CU_ASSERT_DOUBLE_EQUAL(seconds_of(&c, "tiles", (struct dense_grid){1, 4}), all * 3 / 4,
                           all / 50);
    CU_ASSERT_DOUBLE_EQUAL(seconds_of(&c, "tiles", (struct dense_grid){2, 2}), all / 2, all / 50);
}

static void few_messages_cost_little_where_few_send(void)
{
    struct dense_case c = case_of(COVEY_DENSE_CHOLESKY, (const int64_t[]){100, 100, 1}, 1e-3, 1e-9);
    struct dense_grid grid = {2, 2};
    double all = seconds_of(&c, "tiles", grid);
    c.place.network.one_alpha_s = 1e-5;
    CU_ASSERT(seconds_of(&c, "tiles", grid) < all);
    CU_ASSERT(seconds_of(&c, "right", grid) < all);
}

static void costs_are_numbers_and_grow(void)
{
    static const int ops[] = {COVEY_DENSE_CHOLESKY, COVEY_DENSE_QR};
    for (int i = 0; i < 2; i++) {
        const struct dense_op *op = dense_op_of(ops[i]);
        for (int a = 0; op->names[a] != NULL; a++) {
            double before = -1;
            for (int64_t n = 0; n <= 4096; n = n == 0 ? 1 : 4 * n) {
                struct dense_case c = case_of(ops[i], (const int64_t[]){8 * n, n, 1}, 1e-5, 1e-9);
                struct dense_setting s = {.grid = {4, 1}, .block = 64, .bcast = DENSE_1RING};
                double seconds = op->cost(a, &c, &s);
                if (!isfinite(seconds))
                    printf("    %s of %lld: %g\n", op->names[a], (long long)n, seconds);
                CU_ASSERT(isfinite(seconds));
                CU_ASSERT(seconds == -1 || seconds > before || n <= 1);
                before = seconds;
            }
        }
    }
}

/* One of four members is on a loaded host: three do small blocks, in which all wait often; without
 * waits, or where rank 0 has a load, too, the others are not told apart. */
static void members_at_rest_are_taken(void)
{
    static const int ops[] = {COVEY_DENSE_LU, COVEY_DENSE_CHOLESKY, COVEY_DENSE_QR};
    const struct dense_setting small = {.block = 8, .bcast = -1, .swap = -1, .lookahead = -1};
    for (int i = 0; i < 3; i++) {
        struct dense_case c = case_of(ops[i], (const int64_t[]){2000, 2000, 1}, 1e-5, 1e-9);
        const struct dense_op *op = dense_op_of(ops[i]);
        struct dense_setting taken;
        c.place.load = 2;
        c.place.load_root = 1;
        c.place.capacity = 3.5;
        double among_all = dense_best(op, 1, &c, &small, &taken);
        CU_ASSERT_EQUAL(dense_is_at_rest(&c, &taken.grid), 0);
        c.place.at_rest = c.place.network;
        c.place.at_rest.members = c.place.at_rest.hosts = 3;
        CU_ASSERT(dense_best(op, 1, &c, &small, &taken) < among_all);
        CU_ASSERT_EQUAL(dense_is_at_rest(&c, &taken.grid), 1);
        c.place.load_root = 2;
        CU_ASSERT_EQUAL(dense_is_at_rest(&c, &taken.grid), 0);
        CU_ASSERT_DOUBLE_EQUAL(dense_best(op, 1, &c, &small, &taken), among_all, 1e-9);
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        {"one member does it over a slow network", one_member_does_it_over_a_slow_network},
        {"all members do it over a fast one", all_members_do_it_over_a_fast_one},
        {"looking left sends fewer messages", looking_left_sends_fewer_messages_down_a_column},
        {"tall matrices are factored in a tree", tall_matrices_are_factored_in_a_tree},
        {"columns wait for each column", columns_of_several_members_wait_for_each_column},
        {"messages wait for others", messages_wait_for_those_that_are_sent_meanwhile},
        {"a crowd gains nothing", more_processes_than_processors_gain_nothing},
        {"a ring passes one message at a time", a_ring_passes_one_message_at_a_time},
        {"the last member of a ring counts", the_last_member_of_a_ring_counts},
        {"members have their own tiles", members_have_their_own_tiles},
        {"lone messages cost little", few_messages_cost_little_where_few_send},
        {"members at rest are taken", members_at_rest_are_taken},
        {"costs are numbers and grow", costs_are_numbers_and_grow},
    };
    return covey_test_main("dense_cost_factor", cases, sizeof cases / sizeof cases[0]);
}
