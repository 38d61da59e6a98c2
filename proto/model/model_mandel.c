/*
 * model_mandel.c - the Mandelbrot set from a task queue, as mandel of apps/ does it (sections 2.3
 * and 3.3 of Schmidt & Sunderam): a master hands out strips of rows, smaller and smaller ones, and
 * each worker has the next one while it draws. A worker packs the pixels of a strip, the master
 * unpacks them.
 *
 * What a row costs is counted at every eighth pixel of every eighth row: no picture is like
 * another.
 */
#include <math.h>
#include <stdlib.h>

#include "proto/model/model.h"

enum { STRIDE = 8, QUEUED = 2, SHARES = 8, ROWS_MIN = 2, ROWS_MAX = 32 };

#define SHORT_SIDE 3.0 /* units of the plane, at zoom 1 */
#define PIXEL 2.0      /* bytes */
#define HEAD 16.0      /* bytes of a request, and of an answer beside its pixels */

struct strip {
    double iterations, bytes;
};

struct worker {
    double part;                /* of its host that it gets, 1: all that one alone gets */
    double step_s;              /* of an iteration, at that part */
    struct strip queue[QUEUED]; /* the one that it draws, and the next */
    double arrives_s[QUEUED];   /* when it had them */
    int queued;
    double ends_s; /* of the first */
    double computation_s, communication_s;
};

struct drawing {
    const struct model_machine *machine;
    const struct model_view *view;
    const double *rows; /* iterations of each */
    struct worker *workers;
    int tasks, strip, next;
    double link_s; /* when the master's link has taken in all so far */
    double last_s; /* when the last strip was in */
};

/* ---- What a picture costs ---------------------------------------------------------------- */

static int iterations_at(double re, double im, int most)
{
    double x = 0, y = 0;
    int count = 0;
    while (count < most && x * x + y * y <= 4) {
        double next = x * x - y * y + re;
        y = 2 * x * y + im;
        x = next;
        count++;
    }
    return count;
}

/* Of a row, from some of its pixels. */
static double iterations_of_row(const struct model_view *v, int row)
{
    int side = v->width < v->height ? v->width : v->height, looked = 0;
    double size = SHORT_SIDE / (v->zoom * side), sum = 0;
    double im = v->centre_im + (v->height / 2.0 - row - 0.5) * size;
    for (int i = v->width < STRIDE ? 0 : STRIDE / 2; i < v->width; i += STRIDE, looked++)
        sum += iterations_at(v->centre_re + (i + 0.5 - v->width / 2.0) * size, im, v->iterations);
    return sum / looked * v->width;
}

double *model_mandel_rows(const struct model_view *view)
{
    double *rows = calloc((size_t)view->height, sizeof *rows);
    for (int row = 0; rows != NULL && row < view->height; row++) {
        bool looked_at = row % STRIDE == 0;
        int middle = row + STRIDE / 2 < view->height ? row + STRIDE / 2 : row;
        rows[row] = looked_at ? iterations_of_row(view, middle) : rows[row - 1];
    }
    return rows;
}

/* ---- The queue ------------------------------------------------------------------------------ */

/* As the program's: a part of what is left, within bounds. */
static int rows_of_next(const struct drawing *d)
{
    int left = d->view->height - d->next;
    int rows = d->strip > 0 ? d->strip : left / (SHARES * d->tasks);
    if (d->strip == 0 && rows > ROWS_MAX)
        rows = ROWS_MAX;
    if (d->strip == 0 && rows < ROWS_MIN)
        rows = ROWS_MIN;
    return rows < left ? rows : left;
}

static const struct model_line *line_of(const struct drawing *d, int worker)
{
    bool at_master = worker % d->machine->host_count == 0;
    return at_master ? &d->machine->inside : &d->machine->between;
}

/* When the first in the queue is drawn and packed, which begins at `now_s` or once it is there. */
static void begin_strip(const struct drawing *d, struct worker *w, double now_s)
{
    int host = (int)(w - d->workers) % d->machine->host_count;
    double start_s = w->arrives_s[0] > now_s ? w->arrives_s[0] : now_s;
    double takes_s = w->queue[0].iterations * w->step_s;
    double packs_s = model_packing_s(d->machine, host, MODEL_PACKING_INT16, MODEL_PACKING_PACK,
                                     w->queue[0].bytes - HEAD) /
                     w->part;
    w->ends_s = start_s + takes_s + packs_s;
    w->computation_s += takes_s;
    w->communication_s += packs_s;
}

static void rows_give(struct drawing *d, int worker, double now_s)
{
    struct worker *w = &d->workers[worker];
    double takes_s = model_line_time(line_of(d, worker), HEAD);
    if (d->next >= d->view->height)
        return;
    int rows = rows_of_next(d);
    struct strip strip = {.bytes = HEAD + PIXEL * rows * d->view->width};
    for (int i = 0; i < rows; i++)
        strip.iterations += d->rows[d->next++];
    w->queue[w->queued] = strip;
    w->arrives_s[w->queued] = now_s + takes_s;
    w->communication_s += takes_s;
    if (w->queued++ == 0)
        begin_strip(d, w, now_s);
}

/* The strip goes back over the master's link, which takes in one byte at a time, and the next one
 * comes. */
static void finish_strip(struct drawing *d, int worker)
{
    struct worker *w = &d->workers[worker];
    const struct model_line *line = line_of(d, worker);
    double now_s = w->ends_s, bytes_s = line->beta_s * w->queue[0].bytes;
    double in_s = now_s + bytes_s;
    if (line == &d->machine->between) {
        in_s = (d->link_s > now_s ? d->link_s : now_s) + bytes_s;
        d->link_s = in_s;
    }
    in_s += line->alpha_s;
    double bytes = w->queue[0].bytes - HEAD;
    in_s +=
        model_packing_s(d->machine, 0, MODEL_PACKING_INT16, MODEL_PACKING_UNPACK, bytes) +
        model_convert_s(d->machine, worker % d->machine->host_count, 0, MODEL_PACKING_INT16, bytes);
    d->last_s = in_s > d->last_s ? in_s : d->last_s;
    w->communication_s += model_line_time(line, w->queue[0].bytes);
    w->queue[0] = w->queue[1];
    w->arrives_s[0] = w->arrives_s[1];
    if (--w->queued > 0)
        begin_strip(d, w, now_s);
    rows_give(d, worker, in_s);
}

static int first_to_end(const struct drawing *d)
{
    int first = -1;
    for (int i = 0; i < d->tasks; i++) {
        const struct worker *w = &d->workers[i];
        if (w->queued > 0 && (first < 0 || w->ends_s < d->workers[first].ends_s))
            first = i;
    }
    return first;
}

static void rows_draw(struct drawing *d)
{
    for (int i = 0; i < QUEUED * d->tasks; i++)
        rows_give(d, i % d->tasks, 0);
    for (int worker; (worker = first_to_end(d)) >= 0;)
        finish_strip(d, worker);
}

/* ---- The whole ------------------------------------------------------------------------------ */

/* What a worker gets of a processor: those on one host share its processors, with what others have
 * there, and where all hosts are one machine, all do. */
static double part_of(const struct drawing *d, int worker)
{
    const struct model_machine *m = d->machine;
    const struct model_host *host = &m->hosts[worker % m->host_count];
    int on_host = (d->tasks - worker % m->host_count - 1) / m->host_count + 1;
    double part = fmin(1, host->processors / (on_host + host->demand)), most = 0;
    for (int i = 0; i < m->host_count; i++)
        most = fmax(most, m->hosts[i].demand);
    return m->together > 0 ? fmin(part, m->together / (d->tasks + most)) : part;
}

static bool set_speeds(struct drawing *d)
{
    for (int i = 0; i < d->tasks; i++) {
        struct worker *w = &d->workers[i];
        const struct model_host *host = &d->machine->hosts[i % d->machine->host_count];
        w->part = part_of(d, i);
        if (!(host->iteration_s > 0) || !(w->part > 0))
            return false;
        w->step_s = host->iteration_s / w->part;
    }
    return true;
}

static void sum_up(const struct drawing *d, struct model_time *time)
{
    double communication_s = 0;
    *time = (struct model_time){.tasks = d->tasks, .total_s = d->last_s};
    for (int i = 0; i < d->tasks; i++) {
        time->computation_s += d->workers[i].computation_s / d->tasks;
        communication_s += d->workers[i].communication_s / d->tasks;
    }
    double rest_s = time->total_s - time->computation_s;
    time->communication_s = communication_s < rest_s ? communication_s : rest_s;
    time->idle_s = rest_s - time->communication_s;
}

int model_mandel(const struct model_machine *machine, const struct model_view *view,
                 const double *rows, int tasks, int strip, struct model_time *time)
{
    struct drawing d = {
        .machine = machine, .view = view, .rows = rows, .tasks = tasks, .strip = strip};
    d.workers = calloc((size_t)tasks, sizeof *d.workers);
    bool good = d.workers != NULL && set_speeds(&d);
    if (good) {
        rows_draw(&d);
        sum_up(&d, time);
    }
    free(d.workers);
    return good ? 0 : -1;
}
