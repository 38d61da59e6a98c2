/*
 * stream.h - the two streams of panels through a task of pipe-multiply-roll.
 *
 * A task computes its block C(i,j) as a sum over `length` pairs of panels, in the same sequence
 * for all tasks of the grid: step k = 0 .. q-1 takes the inner block c = (i + k) mod q, which is
 * cut into `panels` panels. The panels of A(i,c) come along the row from its owner, task (i,c);
 * those of B(c,j) roll up the column, each task handing on to the one above it what it had itself a
 * step before. So each of the two matrices is a stream of parcels: every one is in place at the
 * start or comes from one neighbour, is used once in a multiplication, and goes on to one neighbour
 * at most. Sent in panels, the transfers go on while the task multiplies. Panels of A are waited
 * for as soon as they are sent, those of B only a step later: so B goes little by little, lest it
 * takes the links from A when all begin.
 *
 * Buffers. Parcels that come from a neighbour live in a ring of `depth` panels: parcel t is put
 * where parcel t - depth was, once that was multiplied and handed on. The ring of B has room for
 * a step more than the window, for B starts in place. Every wait is for a parcel of a lower or
 * the same number at a neighbour (or for the row before the column), so the grid cannot lock up
 * whatever the window.
 *
 * stream_plan() is pure: it can be tested without any task.
 */
#ifndef MATMUL_STREAM_H
#define MATMUL_STREAM_H

#include "covey.h"

#include <stdbool.h>
#include <stdint.h>

struct parcel {
    int source;  /* rank it comes from, -1: in place from the start */
    int target;  /* rank it goes on to, -1: none */
    size_t rows; /* shape of the panel, by rows without gaps */
    size_t columns;
    double *data;
    covey_req_t *in;
    covey_req_t *out;
    bool posted;  /* a receive has been started, or it was in place */
    bool arrived; /* may be read */
    bool passed;  /* a send has been started, or it goes nowhere */
};

struct stream {
    struct parcel *parcels; /* `length` of them, in sequence */
    int length;
    int depth;  /* parcels in the ring */
    int window; /* how far ahead of its multiplication a parcel is handed on */
    int tag;    /* parcel t comes with tag + t */
    int hop;    /* what is parcel t here is parcel t + hop at its target */
    int next_post;
    int next_pass;
    double *ring;
    size_t slot_elements;
};

/* The place of a task in the multiplication. */
struct stream_place {
    int64_t n;
    int q;
    int row;
    int column;
    int panels;           /* of each inner block */
    int window;           /* panels of lookahead, > 0 */
    const int *row_hosts; /* q numbers that tell hosts of this row apart */
};

/* Panels for each inner block: about `width` wide, at least one element each. */
int stream_panels(int64_t n, int q, int width);

/* The inner block that sequence number t is about, and its panel of that block: the rows of B (and
 * columns of A) from *first on, *size of them. */
void stream_inner(const struct stream_place *place, int t, int64_t *first, int64_t *size);

/* Plan the two streams of a task: sources, targets and shapes, no memory for data yet. Return 0
 * or COVEY_ENOMEM; freed by stream_free() in any case. */
int stream_plan_a(const struct stream_place *place, struct stream *stream);
int stream_plan_b(const struct stream_place *place, struct stream *stream);

/* Gives the stream its ring; `own` are the parcels in place at the start in a row (used for A; NULL
 * puts them into the ring, as for B). Returns 0 or COVEY_ENOMEM. */
int stream_allocate(struct stream *stream, double *own);

/* Posts receives and hands on what has arrived, as far as that goes at sequence number `now`
 * without waiting. Returns 0 or an error. */
int stream_pump(struct stream *stream, covey_t *vm, const covey_tid_t *tids, int now);

/* Whether parcel `now` may be multiplied. */
bool stream_ready(const struct stream *stream, int now);

/* Requests that a waiting task has to watch at sequence number `now`: at most 2 (some may be NULL)
 * are added to reqs, of which there are *n. */
void stream_watch(const struct stream *stream, int now, covey_req_t **reqs, size_t *n);

/* Waits until everything handed on has left. */
int stream_drain(struct stream *stream);

/* Gives up requests and frees. Fine on a stream that is all zero. */
void stream_free(struct stream *stream);

#endif
