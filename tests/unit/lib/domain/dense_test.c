/* links: lib/domain/algebra/dense_layout.c lib/domain/algebra/dense_ops.c lib/domain/algebra/dense_cost.c lib/domain/algebra/dense_cost_cholesky.c lib/domain/algebra/dense_cost_qr.c lib/domain/algebra/gemm_cost.c lib/domain/algebra/lu_cost.c lib/domain/place/place.c lib/domain/place/network.c lib/domain/base/error.c libcovey */
/*
 * The layout of dense algebra, and what its algorithms are expected to take, without a team.
 */
#include <CUnit/CUnit.h>
#include <math.h>

#include "lib/domain/algebra/dense_cost.h"
#include "lib/domain/algebra/dense_layout.h"
#include "lib/domain/algebra/gemm.h"
#include "lib/domain/algebra/lu.h"
#include "tests/unit/runner.h"

/* ---- Layout ---------------------------------------------------------------------------------- */

/* Every element has one owner, where it stands behind those before it. */
static void elements_have_one_place(void)
{
    for (int of = 1; of <= 5; of++)
        for (int64_t block = 1; block <= 7; block++) {
            int64_t seen[5] = {0};
            for (int64_t i = 0; i < 50; i++) {
                struct dense_axis axis = {block, 0, of};
                axis.at = dense_axis_owner(&axis, i);
                CU_ASSERT_EQUAL(dense_axis_local(&axis, i), seen[axis.at]);
                CU_ASSERT_EQUAL(dense_axis_before(&axis, i), seen[axis.at]);
                CU_ASSERT_EQUAL(dense_axis_global(&axis, seen[axis.at]), i);
                seen[axis.at]++;
                for (axis.at = 0; axis.at < of; axis.at++)
                    CU_ASSERT_EQUAL(dense_axis_before(&axis, i + 1), seen[axis.at]);
            }
        }
}

/* The example of ScaLAPACK's Users' Guide: a 9 x 9 matrix in blocks of 2 on a grid of 2 x 3. */
static void the_example_of_scalapack(void)
{
    static const int64_t rows[] = {5, 4}, columns[] = {4, 3, 2};
    for (int i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(dense_axis_before(&(struct dense_axis){2, i, 2}, 9), rows[i]);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(dense_axis_before(&(struct dense_axis){2, i, 3}, 9), columns[i]);
}

static void grids_are_nearly_square(void)
{
    static const int wanted[][2] = {{1, 1}, {1, 2}, {1, 3}, {2, 2}, {1, 5}, {2, 3}, {1, 7}, {2, 4}};
    for (int i = 0; i < 8; i++) {
        struct dense_grid grid = dense_grid_square(i + 1);
        CU_ASSERT_EQUAL(grid.rows, wanted[i][0]);
        CU_ASSERT_EQUAL(grid.columns, wanted[i][1]);
    }
}

/* ---- Costs ----------------------------------------------------------------------------------- */

static const struct dense_setting open = {{0, 0}, 0, -1, -1, -1};

static struct dense_case case_of(int members, double alpha_s, int64_t n)
{
    struct dense_case c = {
        .problem = {.op = COVEY_DENSE_SOLVE, .type = COVEY_DOUBLE, .n = n, .r = 1},
        .place = {.network = {members, members, alpha_s, 1e-8}, .processors = 1},
        .speed = {.gemm_s = {4e-11, 3e-11, 2.5e-11, 2.4e-11},
                  .panel_s = {1.2e-10, 1e-10, 8e-11, 7e-11},
                  .trsm_s = 4e-11,
                  .lu_s = {3e-11, 3e-11, 3e-11},
                  .cholesky_s = {3e-11, 3e-11, 3e-11},
                  .qr_s = {3e-11, 3e-11, 3e-11},
                  .vector_s = 2e-10,
                  .copy_s = 3e-10}};
    c.root = c.speed;
    return c;
}

static double seconds_of(const struct dense_case *c, int algorithm, struct dense_setting forced,
                         struct dense_setting *best)
{
    return dense_best(dense_op_of(c->problem.op), algorithm, c, &forced, best);
}

static void small_problems_stay_local(void)
{
    struct dense_setting best;
    struct dense_case c = case_of(16, 100e-6, 100);
    c.at_root = 1;
    double local = seconds_of(&c, LU_LOCAL, open, &best);
    CU_ASSERT(best.grid.rows == 1 && best.grid.columns == 1);
    for (int a = LU_COLUMN; a <= LU_FLOAT; a++)
        CU_ASSERT(seconds_of(&c, a, open, &best) >= local * 0.5);
    c = case_of(16, 100e-6, 30000);
    local = seconds_of(&c, LU_LOCAL, open, &best);
    CU_ASSERT(seconds_of(&c, LU_BLOCK, open, &best) < local / 4);
}

/* One message a column becomes one a panel. */
static void long_ways_want_tournaments(void)
{
    struct dense_setting best, tall = open;
    struct dense_case slow = case_of(16, 500e-6, 4000), fast = case_of(16, 1e-6, 4000);
    tall.grid = (struct dense_grid){16, 1};
    CU_ASSERT(seconds_of(&slow, LU_TOURNAMENT, tall, &best) <
              seconds_of(&slow, LU_BLOCK, tall, &best) / 2);
    CU_ASSERT(seconds_of(&fast, LU_TOURNAMENT, tall, &best) >
              seconds_of(&fast, LU_BLOCK, tall, &best) / 2);
}

static void lookahead_hides_panels(void)
{
    struct dense_setting best, none = open, one = open;
    struct dense_case c = case_of(4, 50e-6, 4000);
    none.lookahead = 0;
    one.lookahead = 1;
    CU_ASSERT(seconds_of(&c, LU_COLUMN, one, &best) < seconds_of(&c, LU_COLUMN, none, &best));
    CU_ASSERT_EQUAL(best.lookahead, 0);
}

static void what_is_forced_is_kept(void)
{
    struct dense_setting best;
    struct dense_case c = case_of(6, 50e-6, 1000);
    struct dense_setting forced = {{2, 3}, 48, DENSE_2RING_M, DENSE_SWAP_ROLL, 0};
    CU_ASSERT(seconds_of(&c, LU_BLOCK, forced, &best) > 0);
    CU_ASSERT(best.grid.rows == 2 && best.grid.columns == 3 && best.block == 48);
    CU_ASSERT(best.bcast == DENSE_2RING_M && best.swap == DENSE_SWAP_ROLL && best.lookahead == 0);
    CU_ASSERT(seconds_of(&c, LU_COLUMN, forced, &best) < 0); /* not one row */
}

/* Products of tall matrices take a grid of one column, which moves nothing of A. */
static void tall_products_are_split_once(void)
{
    struct dense_setting best;
    struct dense_case c = case_of(8, 50e-6, 0);
    c.problem = (struct covey_dense_problem){
        .op = COVEY_DENSE_GEMM, .type = COVEY_DOUBLE, .m = 100000, .n = 200, .k = 200};
    CU_ASSERT(seconds_of(&c, GEMM_SUMMA, open, &best) > 0);
    CU_ASSERT_EQUAL(best.grid.columns, 1);
    c.problem.m = 200;
    c.problem.n = 100000;
    CU_ASSERT(seconds_of(&c, GEMM_SUMMA, open, &best) > 0);
    CU_ASSERT_EQUAL(best.grid.rows, 1);
}

static void nothing_takes_no_time(void)
{
    struct dense_setting best;
    struct dense_case c = case_of(4, 50e-6, 0);
    for (int a = LU_LOCAL; a <= LU_FLOAT; a++) {
        double seconds = seconds_of(&c, a, open, &best);
        CU_ASSERT(seconds >= 0 && seconds < 0.01);
    }
    CU_ASSERT_PTR_NULL(dense_op_of(0));
    CU_ASSERT_PTR_NULL(dense_op_of(-1));
    CU_ASSERT_PTR_NULL(dense_op_of(DENSE_OPS));
}

/* Between the orders that are measured in the logarithm, and as at the ends beyond them. */
static void small_matrices_have_their_speed(void)
{
    const double speeds[DENSE_ORDERS] = {4e-10, 2e-10, 1e-10};
    CU_ASSERT_DOUBLE_EQUAL(dense_at_order(speeds, 10), 4e-10, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(dense_at_order(speeds, DENSE_ORDER(0)), 4e-10, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(dense_at_order(speeds, 128), 3e-10, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(dense_at_order(speeds, DENSE_ORDER(1)), 2e-10, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(dense_at_order(speeds, DENSE_ORDER(2)), 1e-10, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(dense_at_order(speeds, 5000), 1e-10, 1e-15);
}

/* Each step brings a matrix beyond the caches from memory once more. */
static void large_matrices_want_few_steps(void)
{
    struct dense_setting small, large;
    struct dense_case c = case_of(2, 1e-6, 1000);
    seconds_of(&c, LU_COLUMN, open, &small);
    c.problem.n = 8000;
    seconds_of(&c, LU_COLUMN, open, &large);
    CU_ASSERT(large.block > small.block);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"elements have one place", elements_have_one_place},
        {"the example of ScaLAPACK", the_example_of_scalapack},
        {"grids are nearly square", grids_are_nearly_square},
        {"small problems stay local", small_problems_stay_local},
        {"long ways want tournaments", long_ways_want_tournaments},
        {"lookahead hides panels", lookahead_hides_panels},
        {"what is forced is kept", what_is_forced_is_kept},
        {"tall products are split once", tall_products_are_split_once},
        {"nothing takes no time", nothing_takes_no_time},
        {"small matrices have their speed", small_matrices_have_their_speed},
        {"large matrices want few steps", large_matrices_want_few_steps},
    };
    return covey_test_main("dense", cases, sizeof cases / sizeof cases[0]);
}
