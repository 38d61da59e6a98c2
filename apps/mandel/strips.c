/*
 * strips.c - deals out the rows of a picture in strips that get smaller towards the end, so that
 * no worker is left with a large strip when the others have finished.
 */
#include "apps/mandel/strips.h"

#define SHARES 8    /* a strip is this part of a worker's share of what is left */
#define ROWS_MIN 2  /* a single row may be over before the next strip comes */
#define ROWS_MAX 32 /* rows differ much in cost: a strip must not weigh too much either */

int strips_take(struct strips *strips, int *first)
{
    int left = strips->height - strips->next;
    if (left <= 0)
        return 0;
    int rows = strips->fixed > 0 ? strips->fixed : left / (SHARES * strips->workers);
    if (strips->fixed == 0 && rows > ROWS_MAX)
        rows = ROWS_MAX;
    if (strips->fixed == 0 && rows < ROWS_MIN)
        rows = ROWS_MIN;
    if (rows > left)
        rows = left;
    *first = strips->next;
    strips->next += rows;
    return rows;
}
