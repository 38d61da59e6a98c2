/*
 * task.c - the table of the tasks of this host, by local number. It owns the task's own memory;
 * what a part has of a task that part frees (parts_task_free()).
 */
#include "daemon/table/task.h"

#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/base/daemon.h"
#include "daemon/table/connection.h"
#include "lib/covey.h"
#include "lib/link/ledger.h"
#include "lib/link/stream.h"
#include "lib/link/task_page.h"
#include "proto/wire/list.h"

#define TASKS_CROWD 64

int tasks_create(struct daemon *d)
{
    d->tasks = calloc(1, sizeof *d->tasks);
    if (d->tasks != NULL)
        d->tasks->by_local = calloc(TID_LOCAL_MAX + 1, sizeof *d->tasks->by_local);
    if (d->tasks != NULL)
        d->tasks->later = loop_timer_add(d->loop, connection_mark_all, d);
    return d->tasks == NULL || d->tasks->by_local == NULL || d->tasks->later == NULL ? -ENOMEM : 0;
}

void tasks_destroy(struct daemon *d)
{
    if (d->tasks == NULL)
        return;
    while (d->tasks->first != NULL)
        task_destroy(d->tasks->first);
    loop_timer_remove(&d->tasks->later);
    free(d->tasks->by_local);
    free(d->tasks);
    d->tasks = NULL;
}

/* Numbers count up and wrap; a number that ended lately is not soon met again. 0 is the daemon. */
static uint32_t local_next(struct tasks *tasks)
{
    assert(tasks->count < TASK_LOCAL_MAX);
    do {
        tasks->last_local = tasks->last_local == TASK_LOCAL_MAX ? 1 : tasks->last_local + 1;
    } while (tasks->by_local[tasks->last_local] != NULL);
    return tasks->last_local;
}

struct task *task_create(struct daemon *d)
{
    struct tasks *tasks = d->tasks;
    struct task *task = tasks->count < d->conf.tasks_max ? calloc(1, sizeof *task) : NULL;
    if (task == NULL)
        return NULL;
    task->daemon = d;
    task->tid = tid_make(daemon_host(d), local_next(tasks));
    task->way.pending_end = &task->way.pending;
    task->end.kind = COVEY_EXIT_UNKNOWN;
    for (int i = 0; i < 2; i++)
        task->output[i] = (struct output){.task = task, .fd = -1, .number = (uint8_t)(i + 1)};
    task->next = tasks->first;
    if (task->next != NULL)
        task->next->previous = task;
    tasks->first = task;
    tasks->by_local[tid_local(task->tid)] = task;
    tasks->count++;
    if (tasks->count > tasks->peak)
        tasks->peak = tasks->count;
    return task;
}

static void unlink_task(struct tasks *tasks, struct task *task)
{
    assert(tasks->by_local[tid_local(task->tid)] == task && tasks->count > 0);
    assert(tasks->fds >= task->way.counted_fds);
    assert(task->daemon->budget.tasks >= task->way.counted_bytes);
    *(task->previous == NULL ? &tasks->first : &task->previous->next) = task->next;
    if (task->next != NULL)
        task->next->previous = task->previous;
    tasks->by_local[tid_local(task->tid)] = NULL;
    tasks->count--;
    tasks->fds -= task->way.counted_fds;
    task->daemon->budget.tasks -= task->way.counted_bytes;
    if (task->way.dirty)
        UNLINK(tasks->first_dirty, task, way.next_dirty);
}

void task_destroy(struct task *task)
{
    struct tasks *tasks = task->daemon->tasks;
    tasks->past[tid_local(task->tid) % TASKS_REMEMBERED] =
        (struct tasks_past){.tid = task->tid, .kind = task->end.kind, .value = task->end.value};
    unlink_task(tasks, task);
    loop_fd_remove(&task->way.watch);
    stream_destroy(task->way.stream);
    ledger_close(task->way.ledger);
    task_page_close(task->way.page);
    struct pending *pending = task->way.pending;
    while (pending != NULL) {
        struct pending *next = pending->next;
        files_close(pending->fds, pending->nfds);
        free(pending);
        pending = next;
    }
    for (int i = 0; i < 2; i++) {
        loop_fd_remove(&task->output[i].watch);
        if (task->output[i].fd >= 0)
            close(task->output[i].fd);
        free(task->output[i].bytes);
    }
    parts_task_free(task->daemon, task);
    free(task->watchers.tids);
    free(task->way.backlogs.items);
    free(task->way.asked);
    loop_child_remove(&task->end.child);
    loop_timer_remove(&task->end.linger);
    loop_timer_remove(&task->end.kill);
    free(task);
    /* After a crowd the allocator holds what its buffers took, in pieces: the system gets it back.
     */
    if (tasks->peak < TASKS_CROWD || tasks->count > tasks->peak / 4)
        return;
    tasks->peak = tasks->count;
    malloc_trim(0);
}

struct task *task_find(const struct tasks *tasks, uint32_t tid)
{
    struct task *task = tasks->by_local[tid_local(tid)];
    return task != NULL && task->tid == tid ? task : NULL;
}

struct task *task_find_cookie(const struct tasks *tasks, uint64_t cookie)
{
    for (struct task *task = tasks->first; task != NULL && cookie != 0; task = task->next)
        if (task->cookie == cookie && !task->enrolled)
            return task;
    return NULL;
}

const struct tasks_past *task_past(const struct tasks *tasks, uint32_t tid)
{
    const struct tasks_past *past = &tasks->past[tid_local(tid) % TASKS_REMEMBERED];
    return past->tid == tid && tid != 0 ? past : NULL;
}

/* A task in the table has executed its program, which need not enrol: it runs. */
uint8_t task_state(const struct task *task)
{
    return task->end.killed || task->end.reaped ? COVEY_TASK_ENDING : COVEY_TASK_RUNNING;
}
