/*
 * web_told.h - what one viewer of the live page was told of the board, and what it is told next, as
 * Server-Sent Events; and how many bytes a second that may be. Pure: no socket and no clock.
 *
 * An event is "event: NAME", "data: JSON", and an empty line:
 *
 *   hello     {vm, period, samples, hosts, tasks, count}  first; the sizes of the board
 *   rows      [{i, ...}]                                  rows that are new or changed; those of
 *                                                         hosts below `hosts`, then those of tasks
 *   samples   {first, n, hosts, tasks, all, h, t}         n samples from `first` on: bytes in
 *                                                         base64, of so many rows each, by sample
 *   figures   {tasks, f}                                  of tasks now: so many rows, in base64
 *   now       {hosts, tasks, hostsLeftOut, tasksLeftOut, trouble}
 *   bags      {leftOut, rows: [[name, holder, closed, put, done, ready, leased, aside, rate]]}
 *   held      {leftOut, rows: [[kind, name, holder, waiting]]}
 *   waits     {all, unknown, leftOut, first, forFirst,
 *             rows: [[tid, host, program, what, seconds]]}
 *                                                         first: such a row, too, or null
 *   flights   {pairs, messages, bytes, leftOut, rows: [[from, to, messages, bytes]]}
 *   matrix    {cells, c, leftOut}                       who sends to whom by hosts: in base64 four
 *                                                         bytes a cell: the rows of both, bytes
 *                                                         a second now and bytes since the first
 *                                                         look; leftOut: bytes that have no cell
 *   lines     {leftOut, rows: [[host, text]]}
 *   network   {leftOut, nodes: [[name, isSwitch]], links: [[a, b, bits a second]]}
 *
 * Rows go before the samples that need them; the newest sample before those of the past, which go
 * from the newest to the oldest; all else once a look.
 */
#ifndef COVEY_TOOLS_WEB_TOLD_H
#define COVEY_TOOLS_WEB_TOLD_H

#include "tools/web/web_board.h"

struct web_told {
    bool hello;
    bool rows[BOARD_ROWS]; /* to be told */
    uint64_t next;    /* the sample that is told next, of those that came since the beginning */
    uint64_t past;    /* samples before this one are to be told yet, if they are kept */
    uint64_t lines;   /* the line that is told next */
    uint64_t network; /* the version */
    bool now, figures, bags, held, waits, flights, matrix; /* to be told */
    int bags_before, held_before, flights_before;          /* rows that were told last */
};

/* The viewer has come; and a look was taken by the board. */
void web_told_begin(struct web_told *told, const struct board *board);
void web_told_look(struct web_told *told, const struct board *board);

/* The next event, which the caller frees, and its size; NULL: there is nothing to be told. */
char *web_told_next(struct web_told *told, const struct board *board, size_t *size);

/* Bytes that may be sent: so many a second, and WEB_BURST_BYTES at once. An event may go when there
 * is any left, and what it is larger is owed. */
#define WEB_BURST_BYTES 16384
struct web_budget {
    int64_t bytes_per_s, left, at_ms;
};
void web_budget_begin(struct web_budget *budget, int64_t bytes_per_s, int64_t now_ms);
void web_budget_spend(struct web_budget *budget, size_t bytes);

/* How long it takes until there is something left, 0: there is, in ms. */
int web_budget_wait(struct web_budget *budget, int64_t now_ms);

#endif
