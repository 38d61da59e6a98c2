/*
 * kernel.c - times the Mandelbrot iteration on this host, on rows spread over a whole picture:
 * points near the set and far from it cost different times.
 */
#include "apps/mandel/kernel.h"

#include "apps/kernel.h"
#include "apps/mandel/escape.h"

#include <stddef.h>

#define WIDTH 256
#define STEP 8 /* rows between those that are drawn */

static const struct escape_view view = {-0.65, 0, 1, WIDTH, WIDTH * 3 / 4, 2000};

/* Some rows from top to bottom: points near the set and far from it. */
static double iterations_of_rows(void)
{
    uint16_t counts[WIDTH];
    double iterations = 0;
    for (int row = 0; row < view.height; row += STEP) {
        escape_row(&view, row, counts);
        for (int i = 0; i < WIDTH; i++)
            iterations += counts[i];
    }
    return iterations;
}

static void kernel_draw(void *context)
{
    *(double *)context = iterations_of_rows();
}

int escape_kernel(void)
{
    struct kernel kernel;
    double drawn = 0;
    kernel_begin(&kernel);
    kernel_time("mandel", 0, iterations_of_rows(), NULL, kernel_draw, &drawn);
    return kernel_end(&kernel);
}
