/*
 * Watching. Each task of this host has a list of tids, of tasks and daemons, that get GONE when it
 * ends: who spawned it from its begin, so that no end is missed, others when they ask. A daemon
 * watches the tasks that matter to its own: the parent of a tethered task, the sink of a task's
 * output, and while it coordinates who adds hosts. For tasks of its own host it needs no watch.
 * What an end means here, the parts know (part.h): watch_announce() and watch_on_gone() tell them.
 */
#include "daemon/post/watch.h"

#include <stdlib.h>

#include "daemon/table/connection.h"
#include "lib/covey.h"
#include "proto/wire/grow.h"

#define GONE_BYTES 12
#define WATCHERS_FIRST 8
#define HOST_EVENT_BYTES 1024

void watch_send_gone(struct daemon *d, uint32_t to, const struct control_gone *gone)
{
    uint8_t bytes[GONE_BYTES];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    control_put_gone(&c, gone);
    post_send_payload(d, FRAME_GONE, to, bytes, &c);
}

int watch_for(struct task *task, uint32_t watcher)
{
    for (size_t i = 0; i < task->watchers.count; i++)
        if (task->watchers.tids[i] == watcher)
            return 0;
    if (!GROW(task->watchers.tids, task->watchers.capacity, task->watchers.count + 1,
              WATCHERS_FIRST))
        return -1;
    task->watchers.tids[task->watchers.count++] = watcher;
    return 0;
}

/* A child whose stream has ended but not yet its process tells its end itself, with the status. One
 * that has left may go on for long, and has ended for all but who gets its output: that is not
 * over. */
static bool ends_soon(struct daemon *d, uint32_t tid, uint32_t watcher)
{
    struct task *task = task_find(d->tasks, tid);
    bool ended = task == NULL || (task->end.left && task->sink != watcher);
    return !ended && watch_for(task, watcher) == 0;
}

void watch_answer(struct daemon *d, uint32_t to, uint32_t tid)
{
    if (ends_soon(d, tid, to))
        return;
    const struct tasks_past *past = task_past(d->tasks, tid);
    struct control_gone gone = {.tid = tid, .kind = COVEY_EXIT_UNKNOWN};
    if (past != NULL) {
        gone.kind = past->kind;
        gone.value = past->value;
    }
    watch_send_gone(d, to, &gone);
}

static const char *watch_on_watch(struct daemon *d, uint32_t source, struct cursor *payload)
{
    uint32_t tid = cursor_get_u32(payload);
    if (!cursor_done(payload))
        return "bad payload";
    if (tid_host(tid) != daemon_host(d) || tid_local(tid) == 0)
        return "not a task of this host";
    struct task *task = task_find(d->tasks, tid);
    if (task == NULL)
        watch_answer(d, source, tid);
    else if (watch_for(task, source) != 0)
        return "memory is exhausted";
    return NULL;
}

void watch_start(struct daemon *d, uint32_t tid)
{
    uint8_t bytes[4];
    if (tid == 0 || tid_host(tid) == daemon_host(d))
        return;
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    cursor_put_u32(&c, tid);
    post_send_payload(d, FRAME_WATCH, tid_make(tid_host(tid), 0), bytes, &c);
}

/* ---- consequences ---- */

static void watcher_forget(struct task *task, uint32_t watcher)
{
    for (size_t i = 0; i < task->watchers.count; i++)
        if (task->watchers.tids[i] == watcher)
            task->watchers.tids[i--] = task->watchers.tids[--task->watchers.count];
}

static const char *watch_on_gone(struct daemon *d, uint32_t source, struct cursor *payload)
{
    struct control_gone gone;
    control_get_gone(payload, &gone);
    if (!cursor_done(payload))
        return "bad payload";
    if (tid_host(source) != tid_host(gone.tid) && source != daemon_tid(d))
        return "not a task of the host that says so";
    parts_task_gone(d, &gone, NULL);
    return NULL;
}

void watch_announce(struct task *task)
{
    struct daemon *d = task->daemon;
    struct control_gone gone = {.tid = task->tid, .kind = task->end.kind, .value = task->end.value};
    for (size_t i = 0; i < task->watchers.count; i++)
        watch_send_gone(d, task->watchers.tids[i], &gone);
    for (struct task *other = d->tasks->first; other != NULL; other = other->next)
        watcher_forget(other, task->tid);
    parts_task_gone(d, &gone, task);
}

/* ---- hosts ---- */

void watch_host_event(struct daemon *d, const struct host *host, int event)
{
    uint8_t bytes[HOST_EVENT_BYTES];
    struct cursor c = cursor_writer(bytes, sizeof bytes);

    if (d->tasks->first == NULL) { /* as on most hosts when hundreds die at once */
        parts_host_event(d, host, event);
        return;
    }
    control_put_host_event(
        &c, &(struct control_host_event){
                .event = (uint8_t)event, .coordinator = node_coordinator(d->node), .host = *host});
    struct frame frame = {
        .length = (uint32_t)(c.at - bytes), .kind = FRAME_HOST_EVENT, .source = daemon_tid(d)};
    for (struct task *task = d->tasks->first; task != NULL && cursor_ok(&c); task = task->next) {
        frame.destination = task->tid;
        if (task->way.stream != NULL)
            connection_put(task, &frame, bytes, NULL, 0);
    }
    parts_host_event(d, host, event);
}

static void watch_forget_host(struct daemon *d, const struct host *host, int event)
{
    if (event != NODE_HOST_GONE)
        return;
    post_host_gone(d, host->index);
    for (struct task *task = d->tasks->first; task != NULL; task = task->next)
        for (size_t i = 0; i < task->watchers.count; i++)
            if (tid_host(task->watchers.tids[i]) == host->index)
                task->watchers.tids[i--] = task->watchers.tids[--task->watchers.count];
}

const struct part watch_part = {.name = "watch",
                                .kinds =
                                    (const struct part_kind[]){{FRAME_WATCH, watch_on_watch, false},
                                                               {FRAME_GONE, watch_on_gone, false},
                                                               {0}},
                                .host_event = watch_forget_host};
