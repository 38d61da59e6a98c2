/*
 * guess.c - the model of the choice. A pass is what a sweep over all points takes, and its time is
 * measured; how many passes an iteration is worth was counted by the arrays that its loops read and
 * write, and compared with runs. Iterations follow from the eigenvalues, which are known for boxes;
 * what multigrid leaves of an error in a cycle was measured.
 */
#include "lib/domain/poisson/guess.h"

#include <math.h>

#define LEFT_MG 0.2     /* of the residual by a V cycle with one sweep before and after */
#define LEFT_MG_CG 0.09 /* the same with conjugate gradients */
#define CG_BEST 0.75    /* of the bound of conjugate gradients is what they need */
#define FFT_PASSES 0.9  /* an operation count of log2 n a point, in passes */

/* Passes of an iteration beside cycles; exchanges; sums of all members. */
static const struct {
    double passes, exchanges, sums;
} costs[METHODS] = {
    [METHOD_JACOBI] = {2.2, 1, 0.2},    [METHOD_SOR] = {2.4, 2, 0.2},
    [METHOD_CHEBYSHEV] = {2.4, 1, 0.2}, [METHOD_CG] = {6, 1, 3},
    [METHOD_PIPECG] = {11, 1, 0.5},     [METHOD_MG] = {2.5, 1, 1},
    [METHOD_MG_CG] = {5.3, 1, 3},       [METHOD_FFT] = {6.5, 1, 1},
};

/* ---- Iterations ------------------------------------------------------------------------------ */

double guess_iterations(const struct settings *settings, const struct equation *equation,
                        double tolerance)
{
    double low = equation_low(equation);
    double digits = -log(tolerance), root = sqrt(2 / fmin(low, 1));
    double degree = settings->pc == PC_CHEBYSHEV ? settings->degree : 1, left;
    switch (settings->method) {
    case METHOD_JACOBI:
        left = (2 - fmin(low, 1.99)) / (2 + low);
        return digits / -log(left) + 1;
    case METHOD_SOR:
        left = fmax(equation_sor_omega(equation) - 1, 0.1);
        return 1.3 * digits / -log(left) + 4;
    case METHOD_CHEBYSHEV:
        return (digits + log(2)) * root / 2 + 1;
    case METHOD_CG:
    case METHOD_PIPECG:
        return fmin(CG_BEST * (digits + log(2)) * root / 2 / degree + 1, equation_points(equation));
    case METHOD_MG:
        return ceil(digits / -log(LEFT_MG) / (1 + 0.4 * (settings->sweeps - 1)));
    case METHOD_MG_CG:
        return ceil(digits / -log(LEFT_MG_CG) / (1 + 0.4 * (settings->sweeps - 1)));
    default:
        return 1;
    }
}

/* ---- Seconds --------------------------------------------------------------------------------- */

static double pass_s(const struct speed *speed, double points, int members)
{
    return members == 1 ? points * speed->alone_s : points / members * speed->sweep_s;
}

/* A cycle: sweeps of all levels and what goes between them. */
static double cycle_s(const struct settings *settings, const struct equation *equation,
                      const struct speed *speed, int members)
{
    struct equation level = *equation, coarser;
    double seconds = 0, visits = 1;
    while (coarsen_equation(&level, &coarser)) {
        double points = equation_points(&level), passes = 6.6 * settings->sweeps + 3;
        int fewer = settings->agglomerate
                        ? coarsen_members(speed, &coarser, members, settings->sweeps)
                        : members;
        seconds += visits * (passes * pass_s(speed, points, members) +
                             4 * settings->sweeps * coarsen_exchange_s(speed, &level, members));
        if (members > 1)
            seconds += visits * 2 *
                       (speed->alpha_s + speed->wait_s +
                        8 * equation_points(&coarser) / fewer / 4 * speed->beta_s);
        level = coarser;
        members = fewer;
        visits += settings->is_f ? 1 : 0;
    }
    return seconds;
}

/* Points go from the grid to slabs and back unless it is divided into these, and between slabs of
 * two axes and back. */
static double transform_s(const struct equation *equation, const struct speed *speed, int members)
{
    double points = equation_points(equation), each = points / members;
    double pass = members == 1 ? pass_s(speed, points, 1) : each * speed->even_s;
    double moved = each * (members - 1) / members * 8 * speed->beta_s;
    double move = (members - 1) * speed->alpha_s + moved + speed->wait_s;
    return FFT_PASSES * log2(points + 1) * pass +
           (members == 1 ? 0 : (speed->slabs != SLABS_NONE ? 2 : 4) * move);
}

static double method_s(const struct settings *settings, const struct equation *equation,
                       const struct speed *speed, double tolerance)
{
    int method = settings->method, members = speed->members;
    double points = equation_points(equation);
    double reduce = members == 1 ? 0 : ceil(log2(members)) * speed->alpha_s + speed->wait_s;
    double passes = costs[method].passes, exchanges = costs[method].exchanges;
    if ((method == METHOD_CG || method == METHOD_PIPECG) && settings->pc == PC_CHEBYSHEV) {
        passes += 2 * (settings->degree - 1);
        exchanges += settings->degree - 1;
    }
    double iteration = passes * pass_s(speed, points, members) +
                       exchanges * coarsen_exchange_s(speed, equation, members) +
                       costs[method].sums * reduce;
    if (method == METHOD_MG || method == METHOD_MG_CG)
        iteration += cycle_s(settings, equation, speed, members);
    if (method == METHOD_FFT)
        iteration += transform_s(equation, speed, members);
    return guess_iterations(settings, equation, tolerance) * iteration;
}

/* ---- Slabs ----------------------------------------------------------------------------------- */

/* What the members with slabs are to each other; of slabs that an earlier plan gave those that were
 * at rest then, nothing may be known now. */
static struct speed among(const struct speed *speed, int slabs)
{
    struct speed used = *speed;
    used.slabs = slabs;
    used.sweep_s = speed->even_s;
    if (slabs == SLABS_REST && speed->rest.members > 0) {
        used.alpha_s = speed->rest.alpha_s;
        used.beta_s = speed->rest.beta_s;
        used.sweep_s = used.even_s = speed->rest.sweep_s;
        used.members = speed->rest.members;
        used.hosts = speed->rest.hosts;
        used.wait_s = 0;
    }
    return used;
}

static double slabs_s(const struct settings *settings, const struct equation *equation,
                      const struct speed *speed, int slabs)
{
    const struct speed used = among(speed, slabs);
    double waits_s = slabs == SLABS_REST ? speed->wait_s : 0; /* until all agreed */
    return method_s(settings, equation, &used, 1) + waits_s;
}

int guess_slabs(const struct settings *settings, const struct equation *equation,
                const struct speed *speed)
{
    struct settings direct = *settings;
    direct.method = METHOD_FFT;
    if (speed->slabs != SLABS_OPEN)
        return speed->slabs;
    return speed->rest.members > 0 && slabs_s(&direct, equation, speed, SLABS_REST) <
                                          slabs_s(&direct, equation, speed, SLABS_EVEN)
               ? SLABS_REST
               : SLABS_EVEN;
}

/* ---- Of all methods -------------------------------------------------------------------------- */

double guess_s(const struct settings *settings, int inner, const struct equation *equation,
               const struct speed *speed, double tolerance)
{
    struct settings used = *settings;
    struct speed alone = *speed;
    if (settings->method == METHOD_FFT && speed->slabs != SLABS_NONE && speed->members > 1)
        return slabs_s(settings, equation, speed, guess_slabs(settings, equation, speed));
    if (settings->method != METHOD_LOCAL)
        return method_s(settings, equation, speed, tolerance);
    used.method = inner;
    alone.members = 1;
    double others = speed->members - 1, bytes = 8 * equation_points(equation);
    double beta_s = speed->one_beta_s > 0 ? speed->one_beta_s : speed->beta_s;
    return method_s(&used, equation, &alone, tolerance) +
           2 * (others * speed->alpha_s + others / speed->members * bytes * beta_s + speed->wait_s);
}

int guess_alone(const struct settings *settings, const struct equation *equation,
                const struct speed *speed, int has_fft)
{
    struct settings local = *settings;
    int best = METHOD_JACOBI;
    double least = INFINITY;
    local.method = METHOD_LOCAL;
    for (int m = METHOD_LOCAL + 1; m < METHODS; m++) {
        double seconds = guess_s(&local, m, equation, speed, 1e-8);
        if (seconds >= least || (m == METHOD_FFT && !has_fft))
            continue;
        best = m;
        least = seconds;
    }
    return best;
}
