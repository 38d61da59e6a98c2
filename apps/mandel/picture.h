/*
 * picture.h - iteration counts as a PNG picture.
 */
#ifndef MANDEL_PICTURE_H
#define MANDEL_PICTURE_H

#include "apps/mandel/escape.h"

#include <stdio.h>

struct picture_colour {
    unsigned char red;
    unsigned char green;
    unsigned char blue;
};

/* The colour of a count: black for points that do not escape, otherwise a cycle of hues. */
struct picture_colour picture_colour(int count, int iterations);

/* Writes the picture of view->height rows of view->width counts. Returns 0, or -1 after saying
 * what is wrong. */
int picture_write(FILE *stream, const struct escape_view *view, const uint16_t *counts);

#endif
