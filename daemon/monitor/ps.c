/*
 * ps.c - the part of the tasks of this host as others see them: listing them, and signals to them.
 */
#include "daemon/monitor/ps.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "daemon/post/reply.h"
#include "daemon/spawn/exit.h"
#include "daemon/spawn/output.h"
#include "lib/covey.h"

#define ROW_BYTES (4 + 4 + 4 + 4 + 1 + 2 + CONTROL_COMMAND_MAX)

bool ps_hides(const struct task *task)
{
    return task->role == COVEY_ROLE_CONSOLE && task->cookie == 0;
}

static const char *ps_on_tasks(struct daemon *d, uint32_t source, struct cursor *payload)
{
    uint32_t request = cursor_get_u32(payload);
    if (!cursor_done(payload))
        return "bad payload";
    for (struct task *task = d->tasks->first; task != NULL; task = task->next)
        if (task->sink == source && !task->end.reaped)
            output_catch_up(task); /* what it has written comes before the answer */
    struct reply reply;
    reply_begin(&reply, d, source, request);
    const struct task *last = d->tasks->first;
    while (last != NULL && last->next != NULL)
        last = last->next;
    for (; last != NULL; last = last->previous) /* the table lists the newest first */
        if (!ps_hides(last)) {
            struct control_task row = {.tid = last->tid,
                                       .parent = last->parent,
                                       .sink = last->sink,
                                       .pid = last->pid,
                                       .state = task_state(last)};
            memcpy(row.command, last->command, sizeof row.command);
            struct cursor c = reply_room(&reply, ROW_BYTES);
            control_put_task(&c, &row);
            reply_add(&reply, &c);
        }
    reply_send(&reply, 0);
    return NULL;
}

static void signal_send(struct daemon *d, uint32_t source, const struct control_signal *s,
                        struct task *task)
{
    int error = 0;
    if (s->signal == 0 && source == task->parent)
        exit_dismiss(task);
    else if (s->signal == 0)
        exit_end(task);
    else
        error = exit_signal(task, s->signal);
    if (error == 0)
        reply_done(d, source, s->request);
    else
        reply_error(d, source, s->request, error == -ESRCH ? COVEY_ENOTASK : COVEY_EDENIED,
                    "signal %d to t%x: %s", s->signal, s->tid, strerror(-error));
}

static const char *ps_on_signal(struct daemon *d, uint32_t source, struct cursor *payload)
{
    struct control_signal s;
    control_get_signal(payload, &s);
    if (!cursor_done(payload))
        return "bad payload";
    struct task *task = task_find(d->tasks, s.tid);
    if (s.signal < 0 || s.signal > SIGRTMAX)
        reply_error(d, source, s.request, COVEY_EINVAL, "there is no signal %d", s.signal);
    else if (task == NULL)
        reply_error(d, source, s.request, COVEY_ENOTASK, "host %s has no task t%x", d->self.name,
                    s.tid);
    else
        signal_send(d, source, &s, task);
    return NULL;
}

const struct part ps_part = {.name = "ps",
                             .kinds = (const struct part_kind[]){{FRAME_TASKS, ps_on_tasks, true},
                                                                 {FRAME_SIGNAL, ps_on_signal, true},
                                                                 {0}}};
