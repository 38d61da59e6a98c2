/*
 * web_matrix.h - how many bytes the tasks of each host have sent to those of each other: in the
 * last look, and since the first one. A cell is of two rows of hosts; there are so many cells at
 * most, and what has none is counted. Pure.
 */
#ifndef COVEY_TOOLS_WEB_MATRIX_H
#define COVEY_TOOLS_WEB_MATRIX_H

#include <stdint.h>

#define WEB_MATRIX_HOSTS 256
#define WEB_MATRIX_CELLS 512

struct web_cell {
    uint8_t from, to;
    uint64_t now, all; /* bytes */
};

struct web_matrix {
    int count;
    uint64_t left_out; /* bytes, of all looks */
    struct web_cell cells[WEB_MATRIX_CELLS];
    uint16_t at[WEB_MATRIX_HOSTS][WEB_MATRIX_HOSTS]; /* a cell's place and 1; 0: there is none */
};

/* A look begins: nothing is of now. */
void web_matrix_look(struct web_matrix *matrix);

/* The cell that has had least makes room for one that gets more. */
void web_matrix_add(struct web_matrix *matrix, int from, int to, uint64_t bytes);

/* The row is another host's from now on. */
void web_matrix_forget(struct web_matrix *matrix, int row);

#endif
