/*
 * The gauge: how fast a core of this host is. covey-measure finds out, a program of its own,
 * because it takes some 30 ms of a core, for which the daemon cannot wait; all who ask meanwhile
 * get what it prints. The figures are kept until somebody asks again. When the daemon has just
 * joined nobody has asked, and what else runs goes first: hosts of one machine that start together
 * would take a second of it from those that have not joined yet.
 */
#include "daemon/monitor/gauge.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/monitor/monitor.h"
#include "daemon/post/reply.h"
#include "daemon/process/helper.h"
#include "daemon/process/process.h"
#include "lib/covey.h"

#define WAITING_MAX 64
#define LINE_BYTES 128

/* See tools/probe/covey_measure.c, which prints it. */
struct measure {
    double integer_per_s, float_per_s, pack_bytes_per_s;
};

struct waiting {
    uint32_t to, request;
};

struct gauge {
    struct daemon *daemon;
    pid_t pid; /* that measures, 0: none */
    int fd;    /* what it prints */
    struct loop_child *child;
    char line[LINE_BYTES];
    size_t used;
    struct measure measured;
    uint64_t at_us; /* 0: never */
    struct waiting waiting[WAITING_MAX];
    size_t waiting_count;
};

static int gauge_create(struct daemon *d, struct failure *why)
{
    (void)why;
    *d->own.gauge = (struct gauge){.daemon = d, .fd = -1};
    return 0;
}

static void gauge_destroy(struct daemon *d)
{
    struct gauge *g = d->own.gauge;
    loop_child_remove(&g->child);
    if (g->pid > 0)
        kill(g->pid, SIGKILL);
    if (g->fd >= 0)
        close(g->fd);
}

void gauge_figures(const struct gauge *g, uint64_t now_us, struct figures *figures)
{
    double *v = figures->values;
    if (g->at_us == 0)
        return;
    v[FIGURE_integer_per_s] = g->measured.integer_per_s;
    v[FIGURE_float_per_s] = g->measured.float_per_s;
    v[FIGURE_pack_bytes_per_s] = g->measured.pack_bytes_per_s;
    v[FIGURE_measured_age_s] = (double)(now_us - g->at_us) / 1e6;
}

/* ---- the process that measures ---- */

static void answer_all(struct gauge *g, bool good)
{
    struct daemon *d = g->daemon;
    for (size_t i = 0; i < g->waiting_count; i++) {
        const struct waiting *w = &g->waiting[i];
        if (good)
            monitor_answer(d, w->to, w->request);
        else
            reply_error(d, w->to, w->request, COVEY_ERESOURCE, "host %s cannot measure its speed",
                        d->self.name);
    }
    g->waiting_count = 0;
}

static bool is_rate(double value)
{
    return isfinite(value) && value >= 0;
}

static bool measure_parse(const char *line, struct measure *m)
{
    struct measure read;
    if (sscanf(line, "integer %lf float %lf pack %lf", &read.integer_per_s, &read.float_per_s,
               &read.pack_bytes_per_s) != 3 ||
        !is_rate(read.integer_per_s) || !is_rate(read.float_per_s) ||
        !is_rate(read.pack_bytes_per_s))
        return false;
    *m = read;
    return true;
}

static void on_measured(void *context, int status)
{
    struct gauge *g = context;
    ssize_t n = read(g->fd, g->line, sizeof g->line - 1); /* one line, written at once */
    g->line[n > 0 ? n : 0] = '\0';
    bool good = status == 0 && measure_parse(g->line, &g->measured);
    close(g->fd);
    g->fd = -1;
    g->pid = 0;
    g->child = NULL;
    if (good)
        g->at_us = loop_now_us();
    else
        log_line(&g->daemon->log, LOG_ERROR, "the speed of this host could not be measured");
    answer_all(g, good);
    loop_wake(g->daemon->loop);
}

static pid_t start_measuring(struct gauge *g, bool yields, int out)
{
    struct failure why;
    char path[HELPER_PATH_BYTES];
    char *argv[] = {path, yields ? "--yield" : NULL, NULL};
    struct process process = {.program = path,
                              .argv = argv,
                              .env = environ,
                              .tethered = true,
                              .in = -1,
                              .out = out,
                              .err = out};
    pid_t pid = helper_find("covey-measure", path, &why) == 0 ? process_start(&process, &why) : -1;
    if (pid <= 0)
        log_line(&g->daemon->log, LOG_ERROR, "the speed of this host is not measured: %s",
                 why.text);
    return pid;
}

/* Measures, unless it is being done. */
static void gauge_start(struct daemon *d, bool yields)
{
    struct gauge *g = d->own.gauge;
    int ends[2];
    if (g->pid > 0)
        return;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        answer_all(g, false);
        return;
    }
    pid_t pid = start_measuring(g, yields, ends[1]);
    close(ends[1]);
    g->child = pid > 0 ? loop_child_add(d->loop, pid, on_measured, g) : NULL;
    if (g->child != NULL) {
        g->pid = pid;
        g->fd = ends[0];
        fcntl(g->fd, F_SETFL, O_NONBLOCK);
        return;
    }
    close(ends[0]);
    answer_all(g, false);
}

static const char *gauge_on_measure(struct daemon *d, uint32_t source, struct cursor *payload)
{
    uint32_t request = cursor_get_u32(payload);
    struct gauge *g = d->own.gauge;
    if (!cursor_done(payload))
        return "bad payload";
    if (g->waiting_count == WAITING_MAX) {
        reply_error(d, source, request, COVEY_ERESOURCE, "too many ask host %s to measure",
                    d->self.name);
        return NULL;
    }
    g->waiting[g->waiting_count++] = (struct waiting){.to = source, .request = request};
    gauge_start(d, false);
    return NULL;
}

static void gauge_joined(struct daemon *d)
{
    if (!d->options->local)
        gauge_start(d, true);
}

const struct part gauge_part = {
    .name = "gauge",
    .kinds = (const struct part_kind[]){{FRAME_MEASURE, gauge_on_measure, true}, {0}},
    .state_bytes = sizeof(struct gauge),
    .create = gauge_create,
    .destroy = gauge_destroy,
    .joined = gauge_joined};
