/*
 * term.c - the time of this host: the end of the job of a batch engine, which COVEY_UNTIL tells the
 * daemon as seconds since 1970, and what `covey drain` says. Tasks here are told how much of it is
 * left (HOST_ENDS), when they enrol and when that changes; bags hear it from the tasks that use
 * them.
 *
 * A host that is drained, or whose tasks' time is over, gets no new task unless it is named: that
 * is a figure of its own (withheld), as is what its owner says.
 *
 * Who ends the job does not wait: the tasks' time is over a while before, so that what is left can
 * be kept. A drain says when the tasks' time is over, and nothing is ended by this daemon.
 */
#include "daemon/monitor/term.h"

#include <stdlib.h>
#include <time.h>

#include "daemon/post/reply.h"
#include "daemon/table/connection.h"
#include "lib/covey.h"

#define RESERVE_US UINT64_C(30000000) /* at most, and ... */
#define RESERVE_SHARE 10              /* ... this part of all that is left at the beginning */
#define SECOND_US UINT64_C(1000000)
#define NONE UINT64_MAX
#define DRAINED 1 /* of FIGURE_withheld */
#define BY_OWNER 2

struct term {
    uint64_t job_us;       /* the job ends */
    uint64_t job_tasks_us; /* and its tasks' time */
    uint64_t drain_us;     /* as covey drain says */
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int term_create(struct daemon *d, struct failure *why)
{
    struct term *t = d->own.term;
    const char *text = getenv("COVEY_UNTIL");
    char *end = NULL;
    *t = (struct term){NONE, NONE, NONE};
    if (text == NULL || *text == '\0')
        return 0;
    unsigned long long until = strtoull(text, &end, 10);
    if (*end != '\0' || *text < '0' || *text > '9' || until > UINT32_MAX * 4ULL)
        return failure_set(why, "COVEY_UNTIL is %.40s: no number of seconds since 1970", text);
    uint64_t now = (uint64_t)time(NULL);
    uint64_t left_us = until > now ? (until - now) * SECOND_US : 0;
    t->job_us = loop_now_us() + left_us;
    t->job_tasks_us = t->job_us - least(RESERVE_US, left_us / RESERVE_SHARE);
    return 0;
}

static void tell(const struct daemon *d, struct task *task, uint64_t now_us)
{
    const struct term *t = d->own.term;
    uint64_t end_us = least(t->job_tasks_us, t->drain_us);
    uint64_t left_us = end_us == NONE ? NONE : end_us > now_us ? end_us - now_us : 0;
    uint8_t bytes[8];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    cursor_put_u64(&c, left_us);
    const struct frame frame = {.length = sizeof bytes,
                                .kind = FRAME_HOST_ENDS,
                                .source = daemon_tid(d),
                                .destination = task->tid};
    if (task->way.stream != NULL)
        connection_put(task, &frame, bytes, NULL, 0);
}

static void term_enrolled(struct task *task)
{
    const struct term *t = task->daemon->own.term;
    if (least(t->job_us, t->drain_us) != NONE)
        tell(task->daemon, task, loop_now_us());
}

void term_figures(const struct daemon *d, uint64_t now_us, struct figures *figures)
{
    const struct term *t = d->own.term;
    bool over = t->drain_us != NONE || now_us >= t->job_tasks_us;
    figures->values[FIGURE_withheld] = d->conf.withhold || d->options->withhold ? BY_OWNER
                                       : over                                   ? DRAINED
                                                                                : 0;
    uint64_t end_us = least(t->job_us, t->drain_us);
    if (end_us != NONE)
        figures->values[FIGURE_ends_in_s] =
            end_us > now_us ? (double)(end_us - now_us) / (double)SECOND_US : 0;
}

static const char *term_on_drain(struct daemon *d, uint32_t source, struct cursor *payload)
{
    uint32_t request = cursor_get_u32(payload);
    uint64_t in_us = cursor_get_u64(payload), now_us = loop_now_us();
    if (!cursor_done(payload))
        return "bad payload";
    d->own.term->drain_us = in_us < NONE - now_us ? now_us + in_us : NONE;
    for (struct task *task = d->tasks->first; task != NULL; task = task->next)
        if (task->enrolled)
            tell(d, task, now_us);
    if (in_us == NONE)
        log_line(&d->log, LOG_INFO, "this host is drained no more");
    else
        log_line(&d->log, LOG_INFO, "this host is drained: its time is over in %llu s",
                 (unsigned long long)(in_us / SECOND_US));
    reply_done(d, source, request);
    return NULL;
}

const struct part term_part = {
    .name = "term",
    .kinds = (const struct part_kind[]){{FRAME_DRAIN, term_on_drain, true}, {0}},
    .state_bytes = sizeof(struct term),
    .create = term_create,
    .task_enrolled = term_enrolled};
