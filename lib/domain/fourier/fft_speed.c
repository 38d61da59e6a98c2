/*
 * fft_speed.c - how fast FFTW transforms and copies here, as seconds of the processor: what others
 * run there is told by the monitor, and is not to count twice. The least of some runs counts.
 *
 * One plan is made, of rows that fit in a cache; the large array is many of these, one after the
 * other. A figure is fft.EFFORT.WORK.ARRAY.xMEMBERS.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/domain/base/cache.h"
#include "lib/domain/base/clock.h"
#include "lib/domain/base/error.h"
#include "lib/domain/base/planner.h"
#include "lib/domain/fourier/fft_cost.h"
#include "lib/domain/fourier/fft_kernel.h"
#include "lib/domain/place/place.h"

enum { ROWS = 512, LENGTH = 256, RUNS = 5, CHUNKS = 4, FIGURES = FFT_WORKS * FFT_ARRAYS };

/* ---- One member ------------------------------------------------------------------------------ */

/* The least time of a plan on a chunk, of so many chunks that follow one another; 0: no plan. */
static double least_s(fftw_plan plan, int chunks, fftw_complex *in, fftw_complex *out)
{
    struct domain_least least = {0};
    while (plan != NULL && domain_least_lacks(&least, RUNS)) {
        double begin = domain_processor_s();
        for (int k = 0; k < chunks; k++)
            fftw_execute_dft(plan, in + k * ROWS * LENGTH, out + k * ROWS * LENGTH);
        domain_least_add(&least, domain_processor_s() - begin);
    }
    return least.s / chunks;
}

static fftw_plan plan_work(int work, fftw_complex *in, fftw_complex *out, unsigned effort)
{
    int n[] = {LENGTH}, step = work == FFT_FLOP ? 1 : ROWS, next = work == FFT_FLOP ? LENGTH : 1;
    fftw_iodim turn[] = {{ROWS, LENGTH, 1}, {LENGTH, 1, ROWS}};
    if (work == FFT_COPY)
        return fftw_plan_guru_dft(0, NULL, 2, turn, in, out, FFTW_FORWARD, FFTW_ESTIMATE);
    return fftw_plan_many_dft(1, n, ROWS, in, NULL, step, next, out, NULL, step, next, FFTW_FORWARD,
                              effort);
}

/* Leaves at 0 what cannot be measured. */
static void measure(unsigned effort, double unit[FFT_WORKS][FFT_ARRAYS])
{
    size_t chunk = ROWS * LENGTH * sizeof(fftw_complex);
    fftw_complex *in = fftw_malloc(CHUNKS * chunk), *out = fftw_malloc(CHUNKS * chunk);
    double units[FFT_WORKS] = {5.0 * ROWS * LENGTH * log2(LENGTH),
                               5.0 * ROWS * LENGTH * log2(LENGTH), (double)chunk};
    if (in != NULL && out != NULL) {
        memset(in, 0, CHUNKS * chunk);
        memset(out, 0, CHUNKS * chunk);
        for (int work = 0; work < FFT_WORKS; work++) {
            domain_planner_lock();
            fftw_plan plan = plan_work(work, in, out, effort);
            domain_planner_unlock();
            unit[work][0] = least_s(plan, 1, in, out) / units[work];
            unit[work][1] = least_s(plan, CHUNKS, in, out) / units[work];
            domain_planner_lock();
            fftw_destroy_plan(plan);
            domain_planner_unlock();
        }
    }
    fftw_free(in);
    fftw_free(out);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static void figure_name(unsigned effort, int i, int together, char name[DOMAIN_FIGURE_NAME])
{
    static const char *const works[FFT_WORKS] = {"flop", "stride", "copy"};
    static const char *const arrays[FFT_ARRAYS] = {"small", "large"};
    const char *word = effort & FFTW_ESTIMATE  ? "estimate"
                       : effort & FFTW_PATIENT ? "patient"
                                               : "measure";
    snprintf(name, DOMAIN_FIGURE_NAME, "fft.%s.%s.%s.x%d", word, works[i / FFT_ARRAYS],
             arrays[i % FFT_ARRAYS], together);
}

/* Whether this machine knows them all. */
static int recall(unsigned effort, int together, double unit[FFT_WORKS][FFT_ARRAYS])
{
    char name[DOMAIN_FIGURE_NAME];
    int known = 0;
    for (int i = 0; i < FIGURES; i++) {
        figure_name(effort, i, together, name);
        unit[i / FFT_ARRAYS][i % FFT_ARRAYS] = domain_cache_figure(name);
        known += unit[i / FFT_ARRAYS][i % FFT_ARRAYS] > 0;
    }
    return known == FIGURES;
}

static void keep(unsigned effort, int together, double unit[FFT_WORKS][FFT_ARRAYS])
{
    char name[DOMAIN_FIGURE_NAME];
    for (int i = 0; i < FIGURES; i++) {
        figure_name(effort, i, together, name);
        if (unit[i / FFT_ARRAYS][i % FFT_ARRAYS] > 0)
            domain_cache_set(name, unit[i / FFT_ARRAYS][i % FFT_ARRAYS]);
    }
}

/* ---- All members ----------------------------------------------------------------------------- */

int fft_speed_together(const struct covey_domain_place *place)
{
    double on_host = ceil((double)place->network.members / place->network.hosts);
    return (int)fmax(1, fmin(on_host, place->processors));
}

/* Members measure if one of them does not know; where only rank 0 does, the others wait. */
static int learn(covey_team_t *team, unsigned effort, int together, int is_all,
                 double unit[FFT_WORKS][FFT_ARRAYS])
{
    double mine[FFT_WORKS][FFT_ARRAYS] = {{0}};
    int is_here = is_all || covey_team_rank(team) == 0;
    int32_t lacks = is_here && !recall(effort, together, mine), any = 0;
    int error = covey_allreduce(team, COVEY_OP_MAX, COVEY_INT32, &lacks, &any, 1);
    if (error == 0 && any && is_here) {
        measure(effort, mine);
        keep(effort, together, mine);
    }
    if (error == 0)
        error = covey_allreduce(team, COVEY_OP_MAX, COVEY_DOUBLE, mine, unit, FIGURES);
    return error < 0 ? domain_fail_of(error, "the speed of transforms") : 0;
}

int fft_speed_agree(covey_team_t *team, unsigned effort, const struct covey_domain_place *place,
                    struct fft_speed *speed)
{
    int error = learn(team, effort, fft_speed_together(place), 1, speed->all);
    return error < 0 ? error : learn(team, effort, 1, 0, speed->alone);
}

/* ---- Without a team -------------------------------------------------------------------------- */

int fft_speed_of_figures(const struct domain_figures *figures, int together,
                         struct fft_speed *speed)
{
    char name[DOMAIN_FIGURE_NAME];
    int known = 0;
    for (int i = 0; i < FIGURES; i++) {
        double *all = &speed->all[i / FFT_ARRAYS][i % FFT_ARRAYS];
        double *alone = &speed->alone[i / FFT_ARRAYS][i % FFT_ARRAYS];
        figure_name(FFTW_MEASURE, i, together, name);
        *all = domain_figure(figures, name);
        figure_name(FFTW_MEASURE, i, 1, name);
        *alone = domain_figure(figures, name);
        *all = *all > 0 ? *all : *alone;
        *alone = *alone > 0 ? *alone : *all;
        known += *all > 0;
    }
    return known == FIGURES;
}

int fft_speed_measure_figures(struct domain_figures *figures)
{
    double unit[FFT_WORKS][FFT_ARRAYS] = {{0}};
    char name[DOMAIN_FIGURE_NAME];
    int error = 0;
    measure(FFTW_MEASURE, unit);
    for (int i = 0; error == 0 && i < FIGURES; i++) {
        double value = unit[i / FFT_ARRAYS][i % FFT_ARRAYS];
        figure_name(FFTW_MEASURE, i, 1, name);
        error = value > 0 ? domain_figure_set(figures, name, value)
                          : domain_fail(COVEY_ENOMEM, "no memory to measure transforms");
    }
    return error;
}
