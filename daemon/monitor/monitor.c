/*
 * The monitor: how busy this host is.
 *
 *   procfs.c   texts of the kernel -> numbers; pure
 *   sample.c   one look: files of /proc and of the control group; two looks -> figures
 *   monitor.c  when to look; who asks
 *   gauge.c    speeds, which a program of its own measures: covey-measure
 *
 * When to look. Two looks are kept, and rates are of the time between them. Whoever asks gets a
 * fresh look, unless the last one is younger than LOOK_US: so it costs the same however many ask.
 * And the daemon looks by itself once a period, when it is awake anyway (heartbeats wake a daemon
 * twice a second): so that the first who asks learns about the last seconds, and not about the time
 * since somebody asked before. A daemon that sleeps is left asleep. Virtual hosts are many on one
 * machine, which need not be looked at by each of them so often.
 *
 * What a task does that was just started the figures do not show, or not wholly: it was there for a
 * part of their time. `tasks_young` is the sum of what lacks; placement adds it to the demand.
 *
 * What tasks used that have ended since is in the figures, and is taken off: what all children of
 * this daemon used between the looks, less what those did that live. A child that ended counts with
 * all children that it has waited for, from its end on and not before.
 */
#include "daemon/monitor/monitor.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "daemon/monitor/gauge.h"
#include "daemon/monitor/ps.h"
#include "daemon/monitor/sample.h"
#include "daemon/monitor/term.h"
#include "daemon/post/reply.h"
#include "daemon/table/task.h"

#define LOOK_US 500000u
#define LOOK_FIRST_US 50000u /* while there is only one look, and so no rate */
#define LOCAL_PERIODS 6

struct monitor {
    struct sample_source source;
    uint64_t machine;
    struct sample base, last;
    uint64_t base_used_us, last_used_us; /* of processors, by all children ever, until these */
};

static int monitor_create(struct daemon *d, struct failure *why)
{
    struct monitor *m = d->own.monitor;
    if (sample_source_init(&m->source, d->conf.monitor.procfs, d->node_config.self.cores) != 0)
        return failure_memory(why);
    m->machine = sample_machine(&m->source);
    sample_take(&m->source, loop_now_us(), &m->last);
    m->base = m->last;
    return 0;
}

static void monitor_destroy(struct daemon *d)
{
    sample_source_fini(&d->own.monitor->source);
}

static uint64_t time_us(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

/* ---- what tasks use ---- */

/* A child of this daemon that runs; others may be anybody's by now. */
static bool is_own(const struct task *task)
{
    return task->cookie != 0 && task->handed == NULL && task->pid > 0 && !task->end.reaped;
}

/* Of processors, until now. */
static uint64_t task_used_us(const struct task *task)
{
    struct timespec t;
    clockid_t clock;
    if (clock_getcpuclockid(task->pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return task->times.last_us;
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void look_at_tasks(struct monitor *m, const struct tasks *tasks)
{
    struct rusage all;
    getrusage(RUSAGE_CHILDREN, &all); /* all that have ended */
    m->base_used_us = m->last_used_us;
    m->last_used_us = time_us(all.ru_utime) + time_us(all.ru_stime);
    for (struct task *task = tasks->first; task != NULL; task = task->next) {
        task->times.base_us = task->times.last_us;
        if (!is_own(task))
            continue;
        task->times.last_us = task_used_us(task);
        m->last_used_us += task->times.last_us;
    }
}

/* What those used between the looks that have ended by now. */
static uint64_t ended_us(const struct monitor *m, const struct tasks *tasks)
{
    uint64_t living_us = 0, all_us = m->last_used_us - m->base_used_us;
    for (const struct task *task = tasks->first; task != NULL; task = task->next)
        if (is_own(task))
            living_us += task->times.last_us - task->times.base_us;
    return m->last_used_us > m->base_used_us && all_us > living_us ? all_us - living_us : 0;
}

/* ---- when ---- */

static void monitor_sample(struct daemon *d, uint64_t now_us, uint64_t interval_us)
{
    struct monitor *m = d->own.monitor;
    if (now_us < m->last.at_us + interval_us)
        return;
    m->base = m->last;
    sample_take(&m->source, now_us, &m->last);
    look_at_tasks(m, d->tasks);
}

/* Nobody is woken for it: it looks if it is time and the daemon is awake. */
static void monitor_round_end(struct daemon *d)
{
    monitor_sample(d, loop_now_us(),
                   d->conf.monitor.period_us * (d->options->local ? LOCAL_PERIODS : 1));
}

/* ---- what ---- */

/* What share of the figures' time the task was not there. */
static double task_youth(const struct monitor *m, const struct task *task)
{
    if (task->cookie == 0 || task->end.reaped || task->times.started_us <= m->base.at_us)
        return 0;
    if (task->times.started_us >= m->last.at_us)
        return 1;
    return (double)(task->times.started_us - m->base.at_us) /
           (double)(m->last.at_us - m->base.at_us);
}

void monitor_look(struct daemon *d, uint64_t now_us, struct figures *figures)
{
    struct monitor *m = d->own.monitor;
    double *v = figures->values;
    monitor_sample(d, now_us, m->base.at_us == m->last.at_us ? LOOK_FIRST_US : LOOK_US);
    figures_init(figures);
    figures->machine = m->machine;
    struct sample last = m->last;
    last.ended_us = ended_us(m, d->tasks);
    sample_figures(&m->source, &m->base, &last, figures);
    gauge_figures(d->own.gauge, now_us, figures);
    term_figures(d, now_us, figures);
    v[FIGURE_age_s] = (double)(now_us - m->last.at_us) / 1e6;
    v[FIGURE_tasks] = v[FIGURE_tasks_young] = 0;
    for (const struct task *task = d->tasks->first; task != NULL; task = task->next) {
        v[FIGURE_tasks] += ps_hides(task) ? 0 : 1;
        v[FIGURE_tasks_young] += task_youth(m, task);
    }
}

void monitor_answer(struct daemon *d, uint32_t to, uint32_t request)
{
    struct figures figures;
    struct reply reply;
    struct timespec t;
    struct tm local;
    monitor_look(d, loop_now_us(), &figures);
    clock_gettime(CLOCK_REALTIME, &t);
    localtime_r(&t.tv_sec, &local);
    figures.values[FIGURE_clock_s] = (double)t.tv_sec + (double)t.tv_nsec / 1e9;
    figures.values[FIGURE_local_clock_s] = figures.values[FIGURE_clock_s] + (double)local.tm_gmtoff;
    reply_begin(&reply, d, to, request);
    struct cursor c = reply_room(&reply, FIGURES_BYTES_MAX);
    figures_put(&c, &figures);
    reply_add(&reply, &c);
    reply_send(&reply, 0);
}

static const char *monitor_on_host_stat(struct daemon *d, uint32_t source, struct cursor *payload)
{
    uint32_t request = cursor_get_u32(payload);
    if (!cursor_done(payload))
        return "bad payload";
    monitor_answer(d, source, request);
    return NULL;
}

/* Of the machine since it started; what a kernel does not count is 0. */
static const char *monitor_stat(const struct daemon *d, size_t i, uint64_t *value)
{
    const struct sample *last = &d->own.monitor->last;
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {{"host.pages_swapped_in", last->paging.swapped_in},
                {"host.pages_swapped_out", last->paging.swapped_out},
                {"host.major_faults", last->paging.faults}};
    if (i >= sizeof rows / sizeof rows[0])
        return NULL;
    *value = rows[i].value;
    return rows[i].name;
}

const struct part monitor_part = {
    .name = "monitor",
    .kinds = (const struct part_kind[]){{FRAME_HOST_STAT, monitor_on_host_stat, true}, {0}},
    .state_bytes = sizeof(struct monitor),
    .create = monitor_create,
    .destroy = monitor_destroy,
    .stat = monitor_stat,
    .round_end = monitor_round_end};
