/*
 * strips.h - the rows of a picture, handed out in strips.
 *
 * Strips grow smaller as the work runs out (guided self-scheduling): few messages at the start,
 * small differences between the workers at the end.
 */
#ifndef MANDEL_STRIPS_H
#define MANDEL_STRIPS_H

struct strips {
    int height;
    int next; /* first row that is not handed out */
    int workers;
    int fixed; /* rows of every strip, or 0: by what is left */
};

/* Takes the next strip: sets *first and returns its rows, 0 when all are handed out. */
int strips_take(struct strips *strips, int *first);

#endif
