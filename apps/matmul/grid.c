/*
 * grid.c - places a q x q grid of tasks on hosts: rectangles of the grid lie on one host where
 * they fit, for messages within a host cost least. It is pure computation and is tested without
 * tasks.
 */
#include "apps/matmul/grid.h"

#include "apps/block.h"

#include <stdbool.h>

int grid_default(int hosts)
{
    int q = 1;
    while (q * q < hosts)
        q++;
    for (int larger = q; larger * larger <= 4 * hosts && larger <= GRID_Q_MAX; larger++)
        if (larger * larger % hosts == 0)
            return larger;
    return q * q == hosts ? q : q - 1;
}

/* The number of rows of hosts for rectangles that cover the grid, or 0 when there is none. With r
 * rows and c columns of hosts a host receives (r + c - 2) / (r c) of a matrix. Among equals the
 * wider rectangle is better: B never comes back to a host it was on. */
static int host_rows(int q, int hosts)
{
    int best = 0;
    for (int rows = 1; rows <= hosts && rows <= q; rows++) {
        if (hosts % rows != 0 || q % rows != 0 || q % (hosts / rows) != 0)
            continue;
        if (best == 0 || rows + hosts / rows <= best + hosts / best)
            best = rows;
    }
    return best;
}

void grid_place(int q, int hosts, int *host_of)
{
    int rows = host_rows(q, hosts);
    int columns = rows > 0 ? hosts / rows : 0, in_order = 0;
    for (int rank = 0; rank < q * q; rank++) {
        while (block_first(q * q, hosts, in_order + 1) <= rank)
            in_order++;
        host_of[rank] =
            rows > 0 ? rank / q / (q / rows) * columns + rank % q / (q / columns) : in_order;
    }
}

static bool is_placed(const int *order, int placed, int column)
{
    for (int i = 0; i < placed; i++)
        if (order[i] == column)
            return true;
    return false;
}

void grid_chain(const int *row_hosts, int q, int root, int *order)
{
    int placed = 0;
    for (int i = 0; i < q; i++) {
        int leader = (root + i) % q;
        if (is_placed(order, placed, leader))
            continue;
        for (int j = i; j < q; j++) {
            int column = (root + j) % q;
            if (row_hosts[column] == row_hosts[leader])
                order[placed++] = column;
        }
    }
}
