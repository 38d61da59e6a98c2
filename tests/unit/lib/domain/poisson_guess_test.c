/* links: lib/domain/poisson/equation.c lib/domain/poisson/coarsen.c lib/domain/poisson/guess.c -lm */
/*
 * What is predicted of the methods of Poisson's equation: eigenvalues, iterations, seconds, and at
 * how many members coarse grids lie.
 */
#include <CUnit/CUnit.h>
#include <math.h>

#include "lib/domain/poisson/guess.h"
#include "tests/unit/runner.h"

#define V COVEY_BORDER_VALUE
#define S COVEY_BORDER_SLOPE
#define P COVEY_BORDER_PERIODIC

static const struct speed quick = {1e-6, 1e-10, 1e-9, 1e-9, 4, 1, 0, 0, 1e-9, 0};
static const struct speed slow = {1e-2, 1e-6, 1e-9, 1e-9, 4, 4, 0, 0, 1e-9, 0};

static struct equation cube(int64_t n, int border)
{
    struct equation e = {.dims = 3};
    for (int d = 0; d < GRID_AXES; d++) {
        e.n[d] = n;
        e.h[d] = 1 / (double)n;
        e.low[d] = e.high[d] = border;
    }
    return e;
}

static int is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

/* By hand: n = 2 with h = 1/2, k = 4. Values: the rows are 12, -4 and -4, 12. Slopes: 4, -4. */
static void eigenvalues(void)
{
    struct equation e = cube(2, V);
    e.dims = 2;
    CU_ASSERT(is_near(equation_least(&e), 16));
    CU_ASSERT(is_near(equation_diagonal(&e), 16));
    CU_ASSERT(is_near(equation_diagonal_most(&e), 24));
    e = cube(2, S);
    e.dims = 2;
    CU_ASSERT(equation_is_singular(&e));
    CU_ASSERT(is_near(equation_least(&e), 8));
    e.c = 1;
    CU_ASSERT(!equation_is_singular(&e));
    CU_ASSERT(is_near(equation_least(&e), 1));
    e = cube(4, P);
    CU_ASSERT(equation_is_singular(&e));
    CU_ASSERT(is_near(equation_least(&e), 2 * 16));
    e.low[2] = e.high[2] = V;
    CU_ASSERT(!equation_is_singular(&e));
    e = cube(1, P);
    CU_ASSERT(equation_least(&e) > 0);
}

/* Twice the cells: four times the iterations of Jacobi, twice those of SOR, CG and Chebyshev. */
static void iterations(void)
{
    static const struct {
        int method;
        double least, most;
    } growth[] = {{METHOD_JACOBI, 3.8, 4.2}, {METHOD_SOR, 1.8, 2.2}, {METHOD_CHEBYSHEV, 1.8, 2.2},
                  {METHOD_CG, 1.8, 2.2},     {METHOD_MG, 1, 1},      {METHOD_MG_CG, 1, 1},
                  {METHOD_FFT, 1, 1}};
    const struct equation coarse = cube(64, V), fine = cube(128, V);
    for (size_t i = 0; i < sizeof growth / sizeof *growth; i++) {
        const struct settings s = {.method = growth[i].method, .sweeps = 1, .degree = 4};
        double times = guess_iterations(&s, &fine, 1e-8) / guess_iterations(&s, &coarse, 1e-8);
        CU_ASSERT(times >= growth[i].least && times <= growth[i].most);
        CU_ASSERT(guess_iterations(&s, &coarse, 1e-2) <= guess_iterations(&s, &coarse, 1e-8));
    }
}

static void coarser_grids(void)
{
    struct equation e = cube(100, V), coarse;
    int levels = 0;
    CU_ASSERT(coarsen_equation(&e, &coarse));
    CU_ASSERT(coarse.n[0] == 50 && is_near(coarse.h[0], 0.02));
    for (; coarsen_equation(&e, &coarse); e = coarse)
        levels++;
    CU_ASSERT(levels == 6 && e.n[0] == 2 && e.n[1] == 2 && e.n[2] == 2);
    e = cube(9, V);
    e.h[0] *= 10; /* the weak axis waits */
    CU_ASSERT(coarsen_equation(&e, &coarse));
    CU_ASSERT(coarse.n[0] == 9 && coarse.n[1] == 5 && coarse.n[2] == 5);
    e = cube(2, V);
    CU_ASSERT(!coarsen_equation(&e, &coarse));
}

/* All where messages cost nothing or there is much to do, one where they cost more than all of it.
 */
static void agglomeration(void)
{
    const struct equation large = cube(128, V), middle = cube(16, V), small = cube(4, V);
    const struct speed free_of_cost = {0, 0, 1e-9, 1e-9, 8, 1, 0, 0, 1e-9, 0};
    CU_ASSERT_EQUAL(coarsen_members(&free_of_cost, &small, 8, 1), 8);
    CU_ASSERT_EQUAL(coarsen_members(&quick, &large, 8, 1), 8);
    CU_ASSERT_EQUAL(coarsen_members(&quick, &small, 8, 1), 1);
    CU_ASSERT_EQUAL(coarsen_members(&slow, &middle, 8, 1), 1);
    CU_ASSERT_EQUAL(coarsen_members(&slow, &large, 8, 1), 8); /* all of it would have to be moved */
    CU_ASSERT_EQUAL(coarsen_members(&slow, &small, 1, 1), 1);
}

/* Of two parts of an axis each has one neighbour there; of three one has two, and where the axis
 * goes on from its end to its beginning all have. */
static void faces(void)
{
    const struct equation box = cube(64, V), ring = cube(64, P);
    const struct speed bytes_only = {0, 1e-9, 1e-9, 1e-9, 8, 8, 0, 0, 1e-9, 0};
    CU_ASSERT_EQUAL(coarsen_exchange_s(&bytes_only, &box, 1), 0);
    CU_ASSERT(is_near(coarsen_exchange_s(&bytes_only, &box, 8), 3 * 8 * 32 * 32 * 1e-9));
    CU_ASSERT(is_near(coarsen_exchange_s(&bytes_only, &ring, 8), 3 * 16 * 32 * 32 * 1e-9));
    CU_ASSERT(is_near(coarsen_exchange_s(&bytes_only, &box, 64), 3 * 16 * 16 * 16 * 1e-9));
    CU_ASSERT(coarsen_exchange_s(&slow, &box, 8) > coarsen_exchange_s(&bytes_only, &box, 8));
}

static double seconds(int method, const struct equation *e, const struct speed *speed)
{
    const struct settings s = {.method = method, .sweeps = 1, .degree = 4, .agglomerate = 1};
    return guess_s(&s, METHOD_MG_CG, e, speed, 1e-8);
}

static void what_is_fastest(void)
{
    const struct equation large = cube(128, V), small = cube(8, V);
    CU_ASSERT(seconds(METHOD_MG_CG, &large, &quick) < seconds(METHOD_LOCAL, &large, &quick));
    CU_ASSERT(seconds(METHOD_LOCAL, &small, &slow) < seconds(METHOD_MG_CG, &small, &slow));
    CU_ASSERT(seconds(METHOD_MG_CG, &large, &quick) < seconds(METHOD_CG, &large, &quick));
    CU_ASSERT(seconds(METHOD_CG, &large, &quick) < seconds(METHOD_JACOBI, &large, &quick));
    CU_ASSERT(seconds(METHOD_MG, &large, &slow) > seconds(METHOD_MG, &large, &quick));
    const struct settings s = {.method = METHOD_LOCAL, .sweeps = 1, .degree = 4};
    CU_ASSERT_NOT_EQUAL(guess_alone(&s, &large, &quick, 0), METHOD_FFT);
    CU_ASSERT_EQUAL(guess_alone(&s, &large, &quick, 1), METHOD_FFT);
}

/* A grid that is divided into slabs saves the direct method half of its moves; what hosts have to
 * do beside counts as far as slabs are smaller there. */
static void slabs(void)
{
    const struct equation e = cube(64, V);
    struct speed speed = quick;
    speed.even_s = speed.sweep_s;
    double moved = seconds(METHOD_FFT, &e, &speed);
    speed.slabs = SLABS_EVEN;
    double kept = seconds(METHOD_FFT, &e, &speed);
    CU_ASSERT(kept < moved);
    speed.sweep_s *= 2;
    speed.wait_s = 1e-3;
    CU_ASSERT(seconds(METHOD_FFT, &e, &speed) > kept);
    CU_ASSERT(seconds(METHOD_FFT, &e, &speed) < kept + 10e-3);
    CU_ASSERT(seconds(METHOD_MG, &e, &speed) > kept + 10e-3); /* waits at each level */
}

/* Who waits for loaded hosts often, and computes little, leaves them out. */
static void slabs_at_rest(void)
{
    const struct settings s = {.method = METHOD_FFT, .sweeps = 1};
    const struct equation small = cube(32, V), large = cube(256, V);
    struct speed speed = quick;
    speed.slabs = SLABS_OPEN;
    speed.members = 8;
    speed.rest = (struct speed_rest){speed.alpha_s, speed.beta_s, speed.sweep_s, 6, 6};
    speed.even_s = speed.sweep_s * 8 / 7;
    speed.wait_s = 3e-3;
    CU_ASSERT_EQUAL(guess_slabs(&s, &small, &speed), SLABS_REST);
    CU_ASSERT_EQUAL(guess_slabs(&s, &large, &speed), SLABS_EVEN);
    double chosen = seconds(METHOD_FFT, &small, &speed);
    speed.slabs = SLABS_EVEN;
    CU_ASSERT(chosen < seconds(METHOD_FFT, &small, &speed));
    CU_ASSERT_EQUAL(guess_slabs(&s, &small, &speed), SLABS_EVEN); /* as it is divided */
    speed.slabs = SLABS_OPEN;
    speed.rest.members = 0;
    CU_ASSERT_EQUAL(guess_slabs(&s, &small, &speed), SLABS_EVEN);
    speed.slabs = SLABS_REST; /* of an earlier plan; nobody is loaded now */
    CU_ASSERT(isfinite(seconds(METHOD_FFT, &small, &speed)));
}

int main(void)
{
    static const struct test_case cases[] = {
        {"eigenvalues", eigenvalues},
        {"iterations", iterations},
        {"coarser grids", coarser_grids},
        {"coarse grids at fewer members", agglomeration},
        {"faces of parts", faces},
        {"what is the fastest", what_is_fastest},
        {"slabs", slabs},
        {"slabs at rest", slabs_at_rest},
    };
    return covey_test_main("poisson_guess", cases, sizeof cases / sizeof cases[0]);
}
