/*
 * library.c - Poisson's equation as `covey predict` sees it: zeros at the borders of a cube, to a
 * residual of 1e-8, with the usual options.
 */
#include "lib/domain/base/library.h"

#include "lib/domain/base/error.h"
#include "lib/domain/base/sizes.h"
#include "lib/domain/grid/grid.h"
#include "lib/domain/poisson/poisson.h"
#include "lib/domain/poisson/speed.h"

#include <math.h>

#define SIZES "points along each side, NxN or NxNxN, such as 128x128x128"
#define TOLERANCE 1e-8
#define POINTS_MOST ((int64_t)1 << 40)
#define DEGREE 4

static int read_equation(const char *size, struct equation *e)
{
    int64_t n[GRID_AXES], points = 1;
    int dims = domain_sizes_read(size, SIZES, GRID_AXES, n);
    if (dims < 0)
        return dims;
    if (dims < 2)
        return domain_fail(COVEY_EINVAL, "a size of '%s': it must be %s", size, SIZES);
    *e = (struct equation){.dims = dims};
    for (int d = 0; d < GRID_AXES; d++) {
        e->n[d] = 1;
        e->h[d] = 1;
        e->low[d] = e->high[d] = COVEY_BORDER_PERIODIC;
    }
    for (int d = 0; d < dims; d++) {
        int axis = grid_axis(dims, d);
        if (n[d] > POINTS_MOST / points)
            return domain_fail(COVEY_EINVAL, "a size of '%s': a grid has at most 2^40 points",
                               size);
        points *= n[d];
        e->n[axis] = n[d];
        e->h[axis] = 1 / (double)(n[d] + 1);
        e->low[axis] = e->high[axis] = COVEY_BORDER_VALUE;
    }
    return 0;
}

static int predict(const char *size, const struct covey_domain_place *place,
                   const struct domain_figures *figures, struct domain_algorithm *rows)
{
    struct settings settings = {.degree = DEGREE, .sweeps = 1, .agglomerate = 1};
    struct equation equation;
    double pass_s = domain_figure(figures, "poisson.pass.x1");
    struct speed speed;
    speed_at(place, pass_s, pass_s, &speed);
    int error = read_equation(size, &equation);
    if (error < 0)
        return error;
    if (pass_s <= 0)
        return domain_fail(COVEY_ENOHOST, "how fast this machine passes a grid was not measured");
    int inner = guess_alone(&settings, &equation, &speed, direct_refusal() == NULL);
    for (int m = 0; m < METHODS; m++) {
        int is_fft = m == METHOD_FFT || (m == METHOD_LOCAL && inner == METHOD_FFT);
        settings.method = m;
        rows[m] = (struct domain_algorithm){
            .name = poisson_names[m],
            .refusal = is_fft ? direct_refusal() : NULL,
            .seconds = guess_s(&settings, inner, &equation, &speed, TOLERANCE)};
    }
    return METHODS;
}

static int measure(struct domain_figures *figures)
{
    double seconds;
    int error = speed_measure_alone(&seconds);
    return error < 0 ? error : domain_figure_set(figures, "poisson.pass.x1", seconds);
}

extern const struct domain_library domain_library_poisson;
const struct domain_library domain_library_poisson = {.name = "poisson",
                                                      .sizes = SIZES,
                                                      .usual = "128x128x128",
                                                      .predict = predict,
                                                      .measure = measure};
