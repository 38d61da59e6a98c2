/*
 * escape.c - the innermost loop of mandel: how many steps z := z^2 + c takes until |z| > 2. It
 * stands alone so that the program and its calibration run the same code.
 */
#include "apps/mandel/escape.h"

#define SHORT_SIDE 3.0

/* z := z^2 + c until |z| > 2. */
static int escape_count(double re, double im, int iterations)
{
    double x = 0;
    double y = 0;
    double x2 = 0;
    double y2 = 0;
    int count = 0;
    while (count < iterations && x2 + y2 <= 4) {
        y = 2 * x * y + im;
        x = x2 - y2 + re;
        x2 = x * x;
        y2 = y * y;
        count++;
    }
    return count;
}

void escape_row(const struct escape_view *view, int row, uint16_t *counts)
{
    int side = view->width < view->height ? view->width : view->height;
    double size = SHORT_SIDE / (view->zoom * side);
    double im = view->centre_im + (view->height / 2.0 - row - 0.5) * size;
    for (int i = 0; i < view->width; i++) {
        double re = view->centre_re + (i + 0.5 - view->width / 2.0) * size;
        counts[i] = (uint16_t)escape_count(re, im, view->iterations);
    }
}
