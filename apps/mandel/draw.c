/*
 * draw.c - the worker of mandel: it is given strips of rows, draws them, and sends the counts
 * back. What comes in a message is checked before it is used as an index. One worker serves both
 * forms, strips by message and items of a bag.
 */
#include "apps/mandel/draw.h"

#include "apps/agenda.h"
#include "apps/worker.h"

#include <stdlib.h>
#include <string.h>

#define SENDS 2 /* strips that may be on their way back while the next is drawn */

struct draw {
    struct escape_view view;
    bool bag;
    struct worker *worker;
    void *drawn; /* of a bag: the strip at hand */
    covey_req_t *sends[SENDS];
    uint16_t *whole; /* alone: all counts */
};

int draw_pack(covey_msg_t *msg, const void *context)
{
    const struct draw_job *job = context;
    const struct escape_view *view = &job->view;
    const double place[] = {view->centre_re, view->centre_im, view->zoom};
    const int32_t size[] = {view->width, view->height, view->iterations};
    int error = covey_pack_double(msg, place, 3, 1);
    if (error >= 0)
        error = covey_pack_int32(msg, size, 3, 1);
    return error < 0 ? error : covey_pack_int32(msg, &job->bag, 1, 1);
}

static bool is_within(int32_t value, int32_t max)
{
    return value >= 1 && value <= max;
}

static int draw_unpack(covey_msg_t *msg, struct escape_view *view, bool *bag)
{
    double place[3];
    int32_t size[3], shared = 0;
    int error = covey_unpack_double(msg, place, 3, 1);
    if (error >= 0)
        error = covey_unpack_int32(msg, size, 3, 1);
    if (error >= 0)
        error = covey_unpack_int32(msg, &shared, 1, 1);
    if (error < 0)
        return error;
    *bag = shared != 0;
    *view = (struct escape_view){place[0], place[1], place[2], size[0], size[1], size[2]};
    bool sane = is_within(view->width, ESCAPE_SIZE_MAX) &&
                is_within(view->height, ESCAPE_SIZE_MAX) &&
                is_within(view->iterations, ESCAPE_ITERATIONS_MAX);
    return sane ? 0 : COVEY_EPROTO;
}

static size_t pixels(const struct draw *draw, int rows)
{
    return (size_t)rows * (size_t)draw->view.width;
}

static int draw_prepare(void *state, struct worker *worker, covey_msg_t *msg)
{
    struct draw *draw = state;
    int error = draw_unpack(msg, &draw->view, &draw->bag);
    draw->worker = worker;
    if (error >= 0 && draw->bag && !worker->sequential)
        error = agenda_attach(worker);
    if (error < 0 || !worker->sequential)
        return error;
    draw->whole = calloc(pixels(draw, draw->view.height), sizeof *draw->whole);
    return draw->whole == NULL ? COVEY_ENOMEM : 0;
}

static void draw_rows(const struct draw *draw, struct worker *worker, const int32_t *strip,
                      uint16_t *counts)
{
    double begin = worker_compute_begin();
    for (int i = 0; i < strip[1]; i++)
        escape_row(&draw->view, strip[0] + i, counts + pixels(draw, i));
    worker_compute_end(worker, begin);
}

/* ---- One of several ---------------------------------------------------------------------- */

static bool is_strip(const struct draw *draw, const int32_t *strip)
{
    return strip[0] >= 0 && strip[1] >= 0 && strip[0] <= draw->view.height &&
           strip[1] <= draw->view.height - strip[0];
}

static int next_strip(const struct draw *draw, struct worker *worker, int32_t *strip)
{
    covey_msg_t *msg = NULL;
    worker->doing = "waiting for a strip";
    int error = covey_recv(worker->vm, worker->parent, DRAW_TAG_STRIP, COVEY_FOREVER, &msg);
    if (error < 0)
        return error;
    error = covey_unpack_int32(msg, strip, 2, 1);
    covey_msg_free(msg);
    if (error < 0)
        return error;
    return is_strip(draw, strip) ? 0 : COVEY_EPROTO;
}

static int finish_send(covey_req_t **send)
{
    if (*send == NULL)
        return 0;
    int error = covey_wait(*send, COVEY_FOREVER);
    covey_req_free(send);
    return error;
}

static int draw_strip(struct draw *draw, struct worker *worker, const int32_t *strip,
                      covey_msg_t *msg)
{
    uint16_t *counts = calloc(pixels(draw, strip[1]), sizeof *counts);
    if (counts == NULL)
        return COVEY_ENOMEM;
    draw_rows(draw, worker, strip, counts);
    int error = covey_pack_int32(msg, strip, 2, 1);
    if (error >= 0)
        error = covey_pack_uint16(msg, counts, pixels(draw, strip[1]), 1);
    free(counts);
    return error;
}

static int return_strip(struct draw *draw, struct worker *worker, const int32_t *strip,
                        covey_req_t **send)
{
    worker->doing = "sending a strip";
    int error = finish_send(send);
    if (error < 0)
        return error;
    covey_msg_t *msg = covey_msg_new();
    if (msg == NULL)
        return COVEY_ENOMEM;
    error = draw_strip(draw, worker, strip, msg);
    if (error >= 0)
        error = covey_isend(worker->vm, worker->parent, DRAW_TAG_DRAWN, &msg, send);
    covey_msg_free(msg);
    return error;
}

/* An item of a bag: a strip; its result: the strip and its counts. */
static int draw_item(void *context, const struct covey_bag_item *item, const void **result,
                     size_t *size)
{
    struct draw *draw = context;
    int32_t strip[2];
    if (item->size != sizeof strip)
        return COVEY_EPROTO;
    memcpy(strip, item->bytes, sizeof strip);
    if (!is_strip(draw, strip))
        return COVEY_EPROTO;
    *size = sizeof strip + pixels(draw, strip[1]) * sizeof(uint16_t);
    free(draw->drawn);
    draw->drawn = calloc(1, *size);
    if (draw->drawn == NULL)
        return COVEY_ENOMEM;
    memcpy(draw->drawn, strip, sizeof strip);
    draw_rows(draw, draw->worker, strip, (uint16_t *)((int32_t *)draw->drawn + 2));
    *result = draw->drawn;
    return 0;
}

static int draw_run(void *state, struct worker *worker)
{
    struct draw *draw = state;
    if (draw->bag)
        return agenda_run(worker, draw_item, draw);
    for (int turn = 0;; turn = (turn + 1) % SENDS) {
        int32_t strip[2];
        int error = next_strip(draw, worker, strip);
        if (error < 0)
            return error;
        if (strip[1] == 0) {
            for (int i = 0; i < SENDS && error >= 0; i++)
                error = finish_send(&draw->sends[i]);
            return error < 0 ? error : 0;
        }
        error = return_strip(draw, worker, strip, &draw->sends[turn]);
        if (error < 0)
            return error;
    }
}

/* ---- Alone ------------------------------------------------------------------------------- */

static int draw_run_alone(void *state, struct worker *worker)
{
    struct draw *draw = state;
    for (int32_t row = 0; row < draw->view.height; row++) {
        const int32_t strip[] = {row, 1};
        draw_rows(draw, worker, strip, draw->whole + pixels(draw, row));
        worker_progress(worker, (row + 1.0) / draw->view.height);
    }
    return 0;
}

static int draw_send_result(void *state, struct worker *worker)
{
    struct draw *draw = state;
    return covey_send_array(worker->vm, worker->parent, CREW_RESULT, COVEY_UINT16, draw->whole,
                            draw->whole != NULL ? pixels(draw, draw->view.height) : 0);
}

static void draw_finish(void *state)
{
    struct draw *draw = state;
    for (int i = 0; i < SENDS; i++)
        covey_req_free(&draw->sends[i]);
    free(draw->whole);
    free(draw->drawn);
}

int draw_worker(void)
{
    static const struct worker_program program = {.prepare = draw_prepare,
                                                  .run = draw_run,
                                                  .run_alone = draw_run_alone,
                                                  .send_result = draw_send_result,
                                                  .finish = draw_finish};
    struct draw state = {0};
    return worker_run(&program, &state);
}
