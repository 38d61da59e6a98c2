/*
 * The tasker of a host: a task that starts the others in the daemon's place - under a debugger, in
 * a sandbox, on the nodes of an allocation. For each task that is to be started it gets an ORDER,
 * and the spawner its tid at once. The order has the cookie by which the process becomes that task:
 *
 *   ORDERED -ORDER_TOLD started, or it enrols-> STARTED -its process ends-> (1 s) -> ended
 *       \_________________\____________________________ORDER_TOLD ended____________/
 *
 * The order is kept until it is known that the task was started. When the tasker leaves or dies
 * before that, the daemon starts the task itself, under a new cookie: a process that the tasker had
 * started without a word is not the task then. Tasks that were started stay.
 */
#include "daemon/spawn/tasker.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/post/reply.h"
#include "daemon/spawn/exit.h"
#include "daemon/spawn/spawn.h"
#include "daemon/table/connection.h"
#include "lib/covey.h"

#define ORDER_STARTED 0 /* in the place of an exit kind */

struct handed {
    uint32_t tasker;  /* 0: given back, to be started again */
    uint8_t *request; /* what asked for it; NULL: it was started */
    size_t size;
    int process; /* of the started task, as a descriptor; -1: not known */
    struct loop_fd *watch;
};

struct tasker {
    uint32_t tid;    /* the task that starts the others; 0: the daemon */
    bool given_back; /* a tasker did, and not all of it is started */
};

/* ---- the process ----------------------------------------------------------------------------- */

static void on_process_end(void *context, int events)
{
    struct task *task = context;
    (void)events;
    loop_fd_remove(&task->handed->watch);
    exit_handed(task);
}

/* Where it cannot be watched, its stream alone tells its end. */
static void process_watch(struct task *task, pid_t pid)
{
    struct handed *h = task->handed;
    task->pid = pid;
    free(h->request);
    h->request = NULL;
    if (h->process >= 0 || pid <= 0)
        return;
    h->process = (int)syscall(SYS_pidfd_open, pid, 0);
    if (h->process >= 0)
        h->watch = loop_fd_add(task->daemon->loop, h->process, LOOP_READ, on_process_end, task);
}

void tasker_on_enrol(struct task *task, pid_t pid)
{
    if (task->handed != NULL)
        process_watch(task, pid);
}

static void tasker_forget(struct task *task)
{
    struct handed *h = task->handed;
    if (h == NULL)
        return;
    loop_fd_remove(&h->watch);
    if (h->process >= 0)
        close(h->process);
    free(h->request);
    free(h);
    task->handed = NULL;
}

/* ---- handing over ---------------------------------------------------------------------------- */

static bool order_send(struct task *tasker, uint32_t tid, const char *path,
                       const struct tasker_order *order)
{
    uint8_t bytes[FRAME_PAYLOAD_MAX];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    cursor_put_u32(&c, tid);
    cursor_put_text(&c, path);
    control_put_spawn(&c, order->head, (const char *const *)order->argv->items,
                      (const char *const *)order->env->items);
    struct frame frame = {.length = (uint32_t)(c.at - bytes),
                          .kind = FRAME_ORDER,
                          .source = daemon_tid(tasker->daemon),
                          .destination = tasker->tid};
    return cursor_ok(&c) && connection_put(tasker, &frame, bytes, NULL, 0);
}

static struct handed *handed_create(uint32_t tasker, const struct tasker_order *order)
{
    struct handed *h = calloc(1, sizeof *h);
    uint8_t *request = malloc(order->size);
    if (h == NULL || request == NULL) {
        free(request);
        free(h);
        return NULL;
    }
    memcpy(request, order->request, order->size);
    *h = (struct handed){.tasker = tasker, .request = request, .size = order->size, .process = -1};
    return h;
}

/* What is too long for an order, or finds no memory, the daemon starts as it otherwise does. */
int tasker_hand(struct task *task, const struct tasker_order *order, struct failure *why)
{
    char path[PATH_MAX];
    struct daemon *d = task->daemon;
    struct task *tasker = d->own.tasker->tid == 0 ? NULL : task_find(d->tasks, d->own.tasker->tid);
    if (tasker == NULL || tasker->way.stream == NULL)
        return 0;
    int error = process_find(order->argv->items[0], path, why);
    if (error != 0)
        return error;
    assert(task->handed == NULL);
    task->handed = handed_create(d->own.tasker->tid, order);
    if (task->handed != NULL && order_send(tasker, task->tid, path, order))
        return 1;
    tasker_forget(task);
    return 0;
}

/* ---- taking over and giving back ------------------------------------------------------------- */

static bool is_unstarted(const struct task *task)
{
    return task->handed != NULL && task->handed->request != NULL && !task->end.killed;
}

/* The task is no tasker any more: what it has not started is the daemon's again. */
static void tasker_give_back(struct daemon *d, uint32_t tid)
{
    if (d->own.tasker->tid != tid || tid == 0)
        return;
    d->own.tasker->tid = 0;
    for (struct task *task = d->tasks->first; task != NULL; task = task->next) {
        if (is_unstarted(task)) {
            task->handed->tasker = 0;
            d->own.tasker->given_back = true;
        }
    }
    if (d->own.tasker->given_back) {
        part_want(d, PART_tasker);
        loop_wake(d->loop);
    }
}

static void tasker_task_gone(struct daemon *d, const struct control_gone *gone,
                             const struct task *own)
{
    (void)own;
    tasker_give_back(d, gone->tid);
}

static bool tasker_task_closed(struct task *task)
{
    if (task->cookie == 0)
        return false;
    tasker_give_back(task->daemon, task->tid);
    if (task->handed != NULL && task->handed->watch == NULL)
        exit_handed(task);
    return true;
}

/* Starts more of what was given back. */
static uint64_t tasker_settle(struct daemon *d, uint64_t now_us)
{
    uint64_t end_us = now_us + SPAWN_ROUND_US;
    if (!d->own.tasker->given_back)
        return UINT64_MAX;
    d->own.tasker->given_back = false;
    for (struct task *task = d->tasks->first; task != NULL && !d->own.tasker->given_back;
         task = task->next) {
        if (is_unstarted(task) && task->handed->tasker == 0) {
            struct failure why = {""};
            struct handed *h = task->handed;
            uint8_t *request = h->request;
            size_t size = h->size;
            h->request = NULL;
            tasker_forget(task);
            if (spawn_again(task, request, size, &why) != 0) {
                log_line(&task->daemon->log, LOG_ERROR, "t%x: its tasker is gone: %s", task->tid,
                         why.text);
                exit_unstarted(task);
            }
            free(request);
        }
        d->own.tasker->given_back = loop_now_us() >= end_us;
    }
    if (d->own.tasker->given_back) {
        part_want(d, PART_tasker);
        loop_wake(d->loop);
    }
    return UINT64_MAX;
}

static const char *tasker_on_tasker(struct daemon *d, uint32_t source, struct cursor *payload)
{
    uint32_t request = cursor_get_u32(payload);
    uint8_t on = cursor_get_u8(payload);
    if (!cursor_done(payload) || on > 1)
        return "bad payload";
    if (on == 1) {
        if (tid_host(source) != daemon_host(d) || task_find(d->tasks, source) == NULL) {
            reply_error(d, source, request, COVEY_EDENIED, "the tasker of host %s is a task there",
                        d->self.name);
        } else if (d->own.tasker->tid != 0 && d->own.tasker->tid != source) {
            reply_error(d, source, request, COVEY_EEXIST, "host %s has a tasker already: t%x",
                        d->self.name, d->own.tasker->tid);
        } else {
            d->own.tasker->tid = source;
            reply_done(d, source, request);
        }
        return NULL;
    }
    tasker_give_back(d, source);
    reply_done(d, source, request);
    return NULL;
}

/* ---- what is told ---------------------------------------------------------------------------- */

/* A task that has ended meanwhile, or that the daemon has started itself, is the teller's no more.
 */
static const char *tasker_on_told(struct daemon *d, uint32_t source, struct cursor *payload)
{
    struct control_gone told;
    control_get_gone(payload, &told);
    if (!cursor_done(payload) || told.kind > COVEY_EXIT_UNKNOWN || told.kind == COVEY_EXIT_HOST)
        return "bad payload";
    struct task *task = task_find(d->tasks, told.tid);
    if (task == NULL || task->handed == NULL || task->handed->tasker != source)
        return NULL;
    if (told.kind == ORDER_STARTED)
        process_watch(task, told.value);
    else
        exit_told(task, told.kind, told.value);
    return NULL;
}

const struct part tasker_part = {
    .name = "tasker",
    .kinds = (const struct part_kind[]){{FRAME_TASKER, tasker_on_tasker, true},
                                        {FRAME_ORDER_TOLD, tasker_on_told, false},
                                        {0}},
    .state_bytes = sizeof(struct tasker),
    .settle = tasker_settle,
    .task_gone = tasker_task_gone,
    .task_closed = tasker_task_closed,
    .task_free = tasker_forget};
