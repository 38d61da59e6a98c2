/*
 * worker.c - the task's side of a run: it joins, takes its job, does the timed part and reports
 * its figures. The phases are those of crew.h; a program fills in what it does in each.
 */
#include "apps/worker.h"

#include "apps/figures.h"

#include <err.h>
#include <stdlib.h>
#include <sys/resource.h>

#define PROGRESS_S 0.2
#define NICENESS                                                                                   \
    5 /* a kernel steps back behind the transfers of its host, which it runs beside                \
       */
#define TASKS_LIMIT 1000000 /* more than this is a broken job */

double worker_compute_begin(void)
{
    return figures_clock();
}

void worker_compute_end(struct worker *worker, double begin)
{
    worker->computation_s += figures_clock() - begin;
}

int worker_send_solution(struct worker *worker, const struct crew_solution *solution)
{
    int error = covey_send_array(worker->vm, worker->parent, CREW_RESULT, COVEY_DOUBLE,
                                 solution->figures, CREW_FIGURES);
    if (error >= 0)
        error = covey_send_array(worker->vm, worker->parent, CREW_RESULT, COVEY_BYTES,
                                 solution->algorithm, sizeof solution->algorithm);
    if (error >= 0)
        error = covey_send_array(worker->vm, worker->parent, CREW_RESULT, COVEY_BYTES,
                                 solution->table, sizeof solution->table);
    return error;
}

void worker_progress(struct worker *worker, double fraction)
{
    double now = figures_clock();
    if (!worker->progress || now - worker->progress_s < PROGRESS_S)
        return;
    worker->progress_s = now;
    covey_send_array(worker->vm, worker->parent, CREW_PROGRESS, COVEY_DOUBLE, &fraction, 1);
}

static int worker_join(struct worker *worker)
{
    worker->doing = "joining the virtual machine";
    int error = covey_join(&worker->vm, NULL);
    if (error < 0)
        return error;
    worker->parent = covey_parent(worker->vm);
    setpriority(PRIO_PROCESS, 0, NICENESS); /* of this thread, not the library's */
    worker->doing = "looking for the program that started it (--worker is not for users)";
    return worker->parent == COVEY_NO_PARENT ? COVEY_EINVAL : 0;
}

static int take_head(struct worker *worker, covey_msg_t *job)
{
    int32_t head[4];
    int error = covey_unpack_int32(job, head, 4, 1);
    if (error < 0)
        return error;
    if (head[1] < 1 || head[1] > TASKS_LIMIT || head[0] < 0 || head[0] >= head[1])
        return COVEY_EPROTO;
    worker->rank = head[0];
    worker->count = head[1];
    worker->sequential = head[2] != 0;
    worker->progress = head[3] != 0;
    worker->tids = calloc((size_t)worker->count, sizeof *worker->tids);
    if (worker->tids == NULL)
        return COVEY_ENOMEM;
    return covey_unpack_int32(job, worker->tids, (size_t)worker->count, 1);
}

static int take_job(const struct worker_program *program, void *state, struct worker *worker)
{
    worker->doing = "waiting for its job";
    covey_msg_t *job = NULL;
    int error = covey_recv(worker->vm, worker->parent, CREW_JOB, COVEY_FOREVER, &job);
    if (error < 0)
        return error;
    worker->doing = "reading its job";
    error = take_head(worker, job);
    if (error >= 0) {
        worker->doing = "preparing its data";
        error = program->prepare(state, worker, job);
    }
    covey_msg_free(job);
    return error;
}

/* ---- The timed part ---------------------------------------------------------------------- */

/* The routes that were in use between this task and those it exchanged messages with: a bit each.
 * The coordinator counts only where there is nobody else. */
static uint32_t routes_used(const struct worker *worker)
{
    uint32_t routes = 0;
    for (int i = 0; i < worker->count; i++) {
        int route = i == worker->rank ? 0 : covey_route(worker->vm, worker->tids[i]);
        if (route > 0 && route < 32)
            routes |= UINT32_C(1) << route;
    }
    int parent = covey_route(worker->vm, worker->parent);
    if (routes == 0 && parent > 0 && parent < 32)
        routes = UINT32_C(1) << parent;
    return routes;
}

static int timed(const struct worker_program *program, void *state, struct worker *worker)
{
    struct covey_timing before;
    struct covey_timing after;
    double begin = figures_clock();
    double processor_begin = figures_processor();
    covey_timing(worker->vm, &before);
    int error =
        worker->sequential ? program->run_alone(state, worker) : program->run(state, worker);
    if (error < 0)
        return error;
    covey_timing(worker->vm, &after);
    struct figures figures = {.elapsed_s = figures_clock() - begin,
                              .computation_s = worker->computation_s,
                              .communication_s = after.communication_s - before.communication_s,
                              .idle_s = after.idle_s - before.idle_s,
                              .processor_s = figures_processor() - processor_begin};
    uint32_t routes = routes_used(worker);
    worker->doing = "reporting its figures";
    covey_msg_t *msg = covey_msg_new();
    error = msg == NULL ? COVEY_ENOMEM : figures_pack(msg, &figures);
    if (error >= 0)
        error = covey_pack_uint32(msg, &routes, 1, 1);
    if (error >= 0)
        error = covey_send(worker->vm, worker->parent, CREW_DONE, msg);
    covey_msg_free(msg);
    return error;
}

/* ---- The whole life ---------------------------------------------------------------------- */

static int worker_serve(const struct worker_program *program, void *state, struct worker *worker)
{
    for (;;) {
        worker->doing = "waiting for its release";
        covey_msg_t *msg = NULL;
        struct covey_info info;
        int error = covey_recv(worker->vm, worker->parent, COVEY_ANY_TAG, COVEY_FOREVER, &msg);
        if (error < 0)
            return error;
        covey_msg_info(msg, &info);
        covey_msg_free(msg);
        if (info.tag == CREW_STOP)
            return 0;
        worker->doing = "sending its result";
        error = info.tag == CREW_COLLECT ? program->send_result(state, worker) : COVEY_EPROTO;
        if (error < 0)
            return error;
    }
}

static int live(const struct worker_program *program, void *state, struct worker *worker)
{
    int error = worker_join(worker);
    if (error >= 0)
        error = take_job(program, state, worker);
    if (error >= 0)
        error = covey_send_array(worker->vm, worker->parent, CREW_READY, COVEY_INT32, NULL, 0);
    if (error < 0)
        return error;
    worker->doing = "waiting for the start";
    covey_msg_t *msg = NULL;
    error = covey_recv(worker->vm, worker->parent, CREW_GO, COVEY_FOREVER, &msg);
    covey_msg_free(msg);
    if (error >= 0)
        error = timed(program, state, worker);
    return error < 0 ? error : worker_serve(program, state, worker);
}

static bool is_bereft(int error)
{
    return error == COVEY_ENOTASK || error == COVEY_EHOSTFAIL || error == COVEY_EHALT ||
           error == COVEY_EDAEMON;
}

/* The library's own words, unless the error may have been made here. */
static const char *error_cause(const struct worker *worker, int error)
{
    if (worker->cause != NULL)
        return worker->cause;
    bool made_here = error == COVEY_ENOMEM || error == COVEY_EPROTO || error == COVEY_EINVAL;
    const char *text = made_here ? "" : covey_error_text();
    return text[0] != '\0' ? text : covey_strerror(error);
}

static int exit_status(const struct worker *worker, int error)
{
    if (error >= 0)
        return EXIT_SUCCESS;
    if (worker->vm != NULL && is_bereft(error))
        return CREW_STATUS_BEREFT; /* silent: the coordinator reports who went first */
    warnx("task %d on %s failed while %s: %s", worker->rank + 1,
          worker->vm != NULL ? covey_myhost(worker->vm) : "this host", worker->doing,
          error_cause(worker, error));
    return EXIT_FAILURE;
}

int worker_run(const struct worker_program *program, void *state)
{
    struct worker worker = {0};
    int error = live(program, state, &worker);
    int status = exit_status(&worker, error);
    program->finish(state);
    free(worker.tids);
    covey_leave(&worker.vm);
    return status;
}
