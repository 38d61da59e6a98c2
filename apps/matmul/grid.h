/*
 * grid.h - a grid of q x q tasks and the hosts it lies on. Ranks count along the rows.
 */
#ifndef MATMUL_GRID_H
#define MATMUL_GRID_H

#define GRID_Q_MAX 256

/* The grid for a number of hosts when none was asked for: the smallest whose tasks divide evenly
 * over them without being more than four a host; otherwise the largest with at most one a host. */
int grid_default(int hosts);

/* Puts the q x q tasks on hosts: host_of[rank] is 0 .. hosts - 1. Where the numbers allow it each
 * host gets one rectangle of the grid, as near to a square as can be (then the least crosses
 * between hosts); otherwise ranks in order, as evenly as possible. */
void grid_place(int q, int hosts, int *host_of);

/* The order in which a row hands on a block that is multicast from column `root`: order[0] is the
 * root, each column passes to the next in the order. Columns on one host follow each other, so
 * that the block enters each host once. row_hosts[column] names the host of each column, by any
 * number. */
void grid_chain(const int *row_hosts, int q, int root, int *order);

#endif
