/*
 * web_matrix.c - the cells lie in any order, and a table of all pairs of rows says where.
 */
#include "tools/web/web_matrix.h"

#include <stdbool.h>

void web_matrix_look(struct web_matrix *matrix)
{
    for (int i = 0; i < matrix->count; i++)
        matrix->cells[i].now = 0;
}

static void cell_remove(struct web_matrix *matrix, int i)
{
    struct web_cell *cell = &matrix->cells[i], *last = &matrix->cells[--matrix->count];
    matrix->at[cell->from][cell->to] = 0;
    if (cell == last)
        return;
    *cell = *last;
    matrix->at[cell->from][cell->to] = (uint16_t)(i + 1);
}

/* Makes room for a cell that gets so many bytes. */
static bool find_room(struct web_matrix *matrix, uint64_t bytes)
{
    int least = 0;
    if (matrix->count < WEB_MATRIX_CELLS)
        return true;
    for (int i = 1; i < matrix->count; i++)
        if (matrix->cells[i].all < matrix->cells[least].all)
            least = i;
    if (matrix->cells[least].all >= bytes)
        return false;
    matrix->left_out += matrix->cells[least].all;
    cell_remove(matrix, least);
    return true;
}

void web_matrix_add(struct web_matrix *matrix, int from, int to, uint64_t bytes)
{
    if (bytes == 0)
        return;
    if (matrix->at[from][to] == 0) {
        if (!find_room(matrix, bytes)) {
            matrix->left_out += bytes;
            return;
        }
        matrix->cells[matrix->count++] = (struct web_cell){(uint8_t)from, (uint8_t)to, 0, 0};
        matrix->at[from][to] = (uint16_t)matrix->count;
    }
    struct web_cell *cell = &matrix->cells[matrix->at[from][to] - 1];
    cell->now += bytes;
    cell->all += bytes;
}

void web_matrix_forget(struct web_matrix *matrix, int row)
{
    for (int i = matrix->count - 1; i >= 0; i--)
        if (matrix->cells[i].from == row || matrix->cells[i].to == row)
            cell_remove(matrix, i);
}
