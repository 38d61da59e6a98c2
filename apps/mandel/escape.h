/*
 * escape.h - the calculation of the Mandelbrot set: how soon each point of a picture escapes.
 */
#ifndef MANDEL_ESCAPE_H
#define MANDEL_ESCAPE_H

#include <stdint.h>

#define ESCAPE_ITERATIONS_MAX 65535 /* counts travel as 16 bits */
#define ESCAPE_SIZE_MAX 32768       /* pixels a side */

/* What is to be seen. All doubles are finite; zoom > 0; the rest at least 1. */
struct escape_view {
    double centre_re;
    double centre_im;
    double zoom; /* 1: the picture's shorter side is 3 units of the plane */
    int32_t width;
    int32_t height;
    int32_t iterations;
};

/* For the pixels of one row (0: the top), the number of iterations after which each escapes, or
 * view->iterations where it does not by then. The same view gives the same counts on any host
 * with IEEE doubles. */
void escape_row(const struct escape_view *view, int row, uint16_t *counts);

#endif
