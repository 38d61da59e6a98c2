/*
 * fft_library.c - transforms as `covey predict` sees them: complex, forward, in natural order, of
 * arrays that are divided.
 */
#include "lib/domain/base/error.h"
#include "lib/domain/base/library.h"
#include "lib/domain/base/sizes.h"
#include "lib/domain/fourier/fft_cost.h"
#include "lib/domain/fourier/fft_options.h"

#define SIZES "N, NxN or NxNxN, such as 256x256x256"
#define ELEMENTS_MOST ((int64_t)1 << 40)

struct fft_grid fft_grid_usual(const struct covey_domain_network *network)
{
    int size = network->members, columns = size / network->hosts;
    if (columns < 2 || columns == size || size % columns != 0)
        for (columns = 1; columns * columns < size || size % columns != 0; columns++)
            continue;
    return (struct fft_grid){.rows = size / columns, .columns = columns};
}

static int predict(const char *size, const struct covey_domain_place *place,
                   const struct domain_figures *figures, struct domain_algorithm *rows)
{
    struct fft_problem problem = {.n = {1, 1, 1}};
    struct fft_ends ends = {.transposed = 0};
    struct fft_grid grid = fft_grid_usual(&place->network);
    struct fft_speed speed;
    struct fft_path path;
    int dims = domain_sizes_read(size, SIZES, FFT_AXES, problem.n);
    if (dims < 0)
        return dims;
    problem.dims = dims;
    if (problem.n[0] > ELEMENTS_MOST / problem.n[1] ||
        problem.n[0] * problem.n[1] > ELEMENTS_MOST / problem.n[2])
        return domain_fail(COVEY_EINVAL, "a size of '%s': an array has at most 2^40 numbers", size);
    if (!fft_speed_of_figures(figures, fft_speed_together(place), &speed))
        return domain_fail(COVEY_ENOHOST, "how fast this machine transforms was not measured");
    for (int a = 0; a < FFT_ALGORITHMS; a++) {
        rows[a] = (struct domain_algorithm){.name = fft_algorithm_names[a],
                                            .refusal = fft_path_refusal(a, &problem)};
        if (rows[a].refusal != NULL)
            continue;
        fft_path_make(a, &problem, &ends, &grid, &path);
        rows[a].seconds = fft_cost(&path, place, &speed);
    }
    return FFT_ALGORITHMS;
}

extern const struct domain_library domain_library_fft;
const struct domain_library domain_library_fft = {.name = "fft",
                                                  .sizes = SIZES,
                                                  .usual = "256x256x256",
                                                  .predict = predict,
                                                  .measure = fft_speed_measure_figures};
