/*
 * speed.c - a residual is what is measured: two arrays are read and one is written, as in sweeps;
 * as seconds of the processor: what others run there is told by the monitor, and is not to count
 * twice. The least of some runs counts, and of all members the slowest one.
 *
 * A figure is poisson.pass.xMEMBERS: of so many members at once on a host.
 */
#include "lib/domain/poisson/speed.h"

#include "lib/domain/base/agree.h"
#include "lib/domain/base/cache.h"
#include "lib/domain/base/clock.h"
#include "lib/domain/base/error.h"
#include "lib/domain/grid/grid.h"
#include "lib/domain/place/place.h"
#include "lib/domain/poisson/level.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TRIAL_N 96 /* points along an axis of what is measured: three arrays of 7 MB */
#define TRIALS 4

static double trial(struct level *level, double *const arrays[3])
{
    struct domain_least least = {0};
    while (domain_least_lacks(&least, TRIALS)) {
        double begin = domain_processor_s();
        kernel_residual(&level->kernel, &level->inner, arrays[0], arrays[1], arrays[2]);
        domain_least_add(&least, domain_processor_s() - begin);
    }
    return least.s / (double)grid_box_count(&level->inner);
}

/* Others wait in the broadcast while rank 0 works. */
static int measure_both(covey_team_t *team, struct level *level, double *const arrays[3],
                        double times[2])
{
    int error = covey_barrier(team);
    if (error < 0)
        return error;
    times[0] = trial(level, arrays);
    error = covey_barrier(team);
    if (error == 0 && covey_team_rank(team) == 0)
        times[1] = covey_team_size(team) == 1 ? times[0] : trial(level, arrays);
    if (error == 0)
        error = covey_bcast(team, 0, COVEY_DOUBLE, &times[1], 1);
    return error;
}

/* What is passed over: a cube, and the three arrays of a residual. */
struct cube {
    struct level level;
    double *arrays[3];
};

static void cube_free(struct cube *cube)
{
    for (int i = 0; i < 3; i++)
        free(cube->arrays[i]);
    level_free(&cube->level);
}

/* What was made of it is freed in any case. */
static int cube_make(struct cube *cube)
{
    const int periodic = COVEY_BORDER_PERIODIC, parts[GRID_AXES] = {1, 1, 1};
    const int32_t host = 0;
    const struct split_members one = {.count = 1, .hosts = &host};
    struct equation equation = {.dims = 3};
    struct grid_split split;
    *cube = (struct cube){.arrays = {NULL, NULL, NULL}};
    for (int d = 0; d < GRID_AXES; d++) {
        equation.n[d] = TRIAL_N;
        equation.h[d] = 1;
        equation.low[d] = equation.high[d] = periodic;
    }
    int failed = split_make(&split, equation.n, 1, &one, parts);
    if (level_make(&cube->level, NULL, &equation, &split, 0) < 0)
        failed = -1;
    for (int i = 0; failed == 0 && i < 3; i++) {
        cube->arrays[i] = level_field(&cube->level);
        failed = cube->arrays[i] == NULL ? -1 : 0;
        if (failed == 0)
            kernel_set(&cube->level.kernel, i, cube->arrays[i]);
    }
    return failed == 0 ? 0 : domain_fail(COVEY_ENOMEM, "poisson: no memory to measure its speed");
}

static int measure(covey_team_t *team, double times[2])
{
    struct cube cube;
    int error = domain_agree(team, cube_make(&cube), "poisson");
    if (error == 0)
        error = measure_both(team, &cube.level, cube.arrays, times);
    cube_free(&cube);
    return error;
}

int speed_measure_alone(double *seconds)
{
    struct cube cube;
    int error = cube_make(&cube);
    if (error == 0)
        *seconds = trial(&cube.level, cube.arrays);
    cube_free(&cube);
    return error;
}

static double recall(int together, char name[DOMAIN_FIGURE_NAME])
{
    snprintf(name, DOMAIN_FIGURE_NAME, "poisson.pass.x%d", together);
    return domain_cache_figure(name);
}

static int together_of(const struct covey_domain_place *place)
{
    double on_host = ceil((double)place->network.members / place->network.hosts);
    return (int)fmax(1, fmin(on_host, place->processors));
}

void speed_at(const struct covey_domain_place *place, double all_s, double alone_s,
              struct speed *speed)
{
    const struct covey_domain_place rest = domain_place_at_rest(place);
    *speed = (struct speed){.alpha_s = place->network.alpha_s,
                            .beta_s = place->network.beta_s,
                            .sweep_s = all_s * domain_slower(place),
                            .alone_s = alone_s * domain_slower_root(place),
                            .members = place->network.members,
                            .hosts = place->network.hosts,
                            .one_beta_s = place->network.one_beta_s,
                            .wait_s = domain_wait_s(place),
                            .even_s = all_s * domain_slower_even(place),
                            .slabs = SLABS_OPEN};
    if (rest.network.members > 0)
        speed->rest = (struct speed_rest){.alpha_s = rest.network.alpha_s,
                                          .beta_s = rest.network.beta_s,
                                          .sweep_s = all_s * domain_slower(&rest),
                                          .members = rest.network.members,
                                          .hosts = rest.network.hosts};
}

int speed_learn_passes(covey_team_t *team, const struct covey_domain_place *place,
                       struct speed *speed)
{
    char names[2][DOMAIN_FIGURE_NAME];
    double times[2] = {recall(together_of(place), names[0]), recall(1, names[1])}, most[2];
    int32_t mine = times[0] > 0 && (times[1] > 0 || covey_team_rank(team) > 0), all = 0;
    int error = covey_allreduce(team, COVEY_OP_MIN, COVEY_INT32, &mine, &all, 1);
    if (error == 0 && !all) {
        error = measure(team, times);
        for (int i = 0; error == 0 && i < 2; i++)
            domain_cache_set(names[i], times[i]);
    }
    if (error == 0)
        error = covey_allreduce(team, COVEY_OP_MAX, COVEY_DOUBLE, times, most, 2);
    if (error < 0)
        return domain_fail_of(error, "poisson: measuring its speed");
    speed_at(place, most[0], most[1], speed);
    return 0;
}
