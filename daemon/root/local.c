/*
 * Callers: the Unix socket on which processes call, and how they become tasks. A process that
 * connects is a caller until its first frame, which must be ENROL: then its stream becomes that of
 * a task. Only processes of our own user are listened to; a caller that does not enrol within
 * CALLER_US is disconnected, and the one that has waited longest when there is no room for another:
 * so those that say nothing keep nobody out.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/daemon.h"
#include "daemon/link/segment.h"
#include "daemon/post/intake.h"
#include "daemon/spawn/tasker.h"
#include "daemon/table/connection.h"
#include "daemon/table/ending.h"
#include "lib/covey.h"
#include "lib/link/stream.h"
#include "lib/link/task_page.h"
#include "proto/wire/list.h"

#define CALLER_US 10000000u
#define CALLERS_MAX 1024
#define ACCEPTS_MAX 64 /* a time, so that others are heard too */
#define ACCEPT_AGAIN_US 100000u
#define ENROLLED_BYTES 512

enum { CALLER_ENROLLED = 1, CALLER_REFUSED = 2 };

struct caller {
    struct caller *next, *previous;
    struct daemon *daemon;
    struct stream *stream;
    struct loop_fd *watch;
    struct loop_timer *timer;
    struct control_enrol enrol;
    struct task_page *page; /* came with ENROL, or NULL */
    pid_t pid;
    bool in_reserve; /* there are no descriptors for it: it is only told so */
};

struct local {
    struct daemon *daemon;
    struct loop_fd *watch;
    struct loop_timer *again;    /* descriptors are exhausted: try later */
    bool short_of_files;         /* and that was logged */
    struct caller *first, *last; /* the latest, the oldest */
    unsigned count;
};

static void caller_destroy(struct caller *caller)
{
    struct local *local = caller->daemon->own.local;
    UNLINK_BOTH(local->first, local->last, caller, next, previous);
    local->count--;
    loop_fd_remove(&caller->watch);
    loop_timer_remove(&caller->timer);
    stream_destroy(caller->stream);
    task_page_close(caller->page);
    free(caller);
}

/* ---- enrolment ---- */

/* Answers a caller that does not become a task. */
static void caller_refuse(struct caller *caller, int32_t error, const char *text)
{
    uint8_t bytes[8 + 2 + CONTROL_REASON_MAX];
    struct daemon *d = caller->daemon;
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    struct control_reply reply = {.request = caller->enrol.request, .status = error};
    control_put_reply(&c, &reply);
    cursor_put_text(&c, text);
    struct frame frame = {.length = (uint32_t)(c.at - bytes),
                          .kind = FRAME_REPLY,
                          .flags = FRAME_LAST,
                          .source = daemon_tid(d)};
    d->counters.callers_refused++;
    log_refused(&d->log, loop_now_us(), "process %d may not enrol: %s", (int)caller->pid, text);
    if (stream_put(caller->stream, &frame, bytes, NULL, 0) == 0)
        stream_flush(caller->stream);
}

/* The ledger travels with it. */
static void enrolled_reply(struct task *task, uint32_t request, int ledger_fd)
{
    struct daemon *d = task->daemon;
    struct control_enrolled e = {.tid = task->tid,
                                 .parent = task->parent,
                                 .sink = task->sink,
                                 .print = task->print,
                                 .host = daemon_host(d),
                                 .coordinator = node_coordinator(d->node),
                                 .route = task->route,
                                 .contention = d->conf.contention,
                                 .direct = d->conf.ether.direct && segment_link(d) != NULL};
    memcpy(e.host_name, d->self.name, sizeof e.host_name);
    memcpy(e.vm, d->node_config.vm, sizeof e.vm);
    uint8_t bytes[8 + ENROLLED_BYTES];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    control_put_reply(&c, &(struct control_reply){.request = request});
    control_put_enrolled(&c, &e);
    struct frame frame = {.length = (uint32_t)(c.at - bytes),
                          .kind = FRAME_REPLY,
                          .flags = FRAME_LAST,
                          .source = daemon_tid(d),
                          .destination = task->tid};
    connection_put(task, &frame, bytes, &ledger_fd, 1);
}

/* The task that the caller becomes: the one that was spawned under its cookie, or a new one. */
static struct task *caller_task(struct caller *caller)
{
    struct daemon *d = caller->daemon;
    const struct control_enrol *enrol = &caller->enrol;
    struct task *task = task_find_cookie(d->tasks, enrol->cookie);
    if (task == NULL) {
        task = task_create(d);
        if (task == NULL)
            return NULL;
        task->pid = caller->pid;
    }
    tasker_on_enrol(task, caller->pid);
    task->role = enrol->role;
    if (enrol->command[0] != '\0')
        memcpy(task->command, enrol->command, sizeof task->command);
    return task;
}

static void caller_refuse_descriptors(struct caller *caller)
{
    const struct daemon *d = caller->daemon;
    char text[CONTROL_REASON_MAX + 1];
    snprintf(text, sizeof text, "the daemon of host %s has no descriptors left (its limit is %d)",
             d->self.name, d->files.limit);
    caller_refuse(caller, COVEY_ERESOURCE, text);
}

/* Says why the caller becomes no task. */
static void caller_explain(struct caller *caller)
{
    struct daemon *d = caller->daemon;
    if (ending_under_way(d))
        caller_refuse(caller, COVEY_EHALT, "this host is leaving the VM");
    else if (!d->joined)
        caller_refuse(caller, COVEY_EHALT, "this host has not joined the VM yet");
    else if (caller->in_reserve)
        caller_refuse_descriptors(caller);
    else if (d->tasks->count >= d->conf.tasks_max)
        caller_refuse(caller, COVEY_ERESOURCE, "this host has too many tasks");
    else
        caller_refuse(caller, COVEY_ENOMEM, "the daemon's memory is exhausted");
}

static void caller_becomes_task(struct caller *caller)
{
    struct daemon *d = caller->daemon;
    bool welcome = d->joined && !ending_under_way(d) && !caller->in_reserve;
    struct task *task = welcome ? caller_task(caller) : NULL;
    if (task == NULL) {
        caller_explain(caller);
        caller_destroy(caller);
        return;
    }
    uint32_t request = caller->enrol.request;
    int ledger_fd;
    loop_fd_remove(&caller->watch);
    int error = intake_attach(task, caller->stream, &ledger_fd);
    if (error != 0) {
        if (error == -EMFILE)
            caller_refuse_descriptors(caller);
        else
            caller_refuse(caller, COVEY_ENOMEM, "the daemon's memory is exhausted");
        if (task->cookie == 0)
            task_destroy(task);
        caller_destroy(caller);
        return;
    }
    caller->stream = NULL;
    task_page_close(task->way.page);
    task->way.page = caller->page;
    caller->page = NULL;
    caller_destroy(caller);
    log_line(&d->log, LOG_DEBUG, "t%x enrolled: pid %d: %s", task->tid, (int)task->pid,
             task->command);
    enrolled_reply(task, request, ledger_fd);
    close(ledger_fd);
    parts_task_enrolled(d, task);
    intake_welcome(task);
    intake_read(task);
}

static const char *enrol_refused(struct caller *caller, const struct frame *frame,
                                 const uint8_t *payload)
{
    struct cursor c = cursor_reader(payload, frame->length);
    if (frame->kind != FRAME_ENROL || frame->source != 0)
        return "its first frame is not ENROL";
    control_get_enrol(&c, &caller->enrol);
    if (!cursor_ok(&c))
        return "its ENROL cannot be read";
    return NULL;
}

static int on_first_frame(void *context, const struct frame *frame, const uint8_t *payload,
                          int *fds, int nfds)
{
    struct caller *caller = context;
    if (nfds > 0 && caller->page == NULL)
        caller->page = task_page_open(fds[0]);
    for (int i = 0; i < nfds; i++)
        close(fds[i]);
    const char *refused = enrol_refused(caller, frame, payload);
    if (refused != NULL) {
        caller_refuse(caller, COVEY_EPROTO, refused);
        return CALLER_REFUSED;
    }
    if (caller->enrol.version == WIRE_VERSION)
        return CALLER_ENROLLED;
    char text[CONTROL_REASON_MAX + 1];
    snprintf(text, sizeof text, "the task speaks version %u, this daemon version %d",
             caller->enrol.version, WIRE_VERSION);
    caller_refuse(caller, COVEY_EVERSION, text);
    return CALLER_REFUSED;
}

static void on_caller_frame(void *context, int events)
{
    (void)events;
    struct caller *caller = context;
    int result = stream_read(caller->stream, on_first_frame, caller);
    if (result == CALLER_ENROLLED) {
        caller_becomes_task(caller);
        return;
    }
    if (result == STREAM_BROKEN) {
        /* What it sent is no frame: there is nothing that could be answered. */
        struct daemon *d = caller->daemon;
        d->counters.callers_refused++;
        log_refused(&d->log, loop_now_us(), "process %d does not speak the protocol: %s",
                    (int)caller->pid, stream_error(caller->stream));
    }
    if (result != 0)
        caller_destroy(caller);
}

/* ---- accepting ---- */

static void on_caller_late(void *context)
{
    struct caller *caller = context;
    struct daemon *d = caller->daemon;
    d->counters.callers_refused++;
    log_refused(&d->log, loop_now_us(), "process %d connected and did not enrol in time",
                (int)caller->pid);
    caller_destroy(caller);
}

/* What the oldest has said by now counts. */
static void oldest_end(struct local *local)
{
    struct caller *oldest = local->last;
    on_caller_frame(oldest, LOOP_READ);
    if (local->last != oldest)
        return;
    struct daemon *d = local->daemon;
    d->counters.callers_refused++;
    log_refused(&d->log, loop_now_us(), "process %d did not enrol before there were too many",
                (int)oldest->pid);
    caller_destroy(oldest);
}

/* Ends the oldest if there is no room for the one that came; returns its descriptor, which is a
 * lower one if that was the reason. */
static int room_make(struct local *local, int fd)
{
    bool files = files_short(&local->daemon->files, fd);
    if (local->last == NULL || (local->count < CALLERS_MAX && !files))
        return fd;
    oldest_end(local);
    int lower = files ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (lower < 0)
        return fd;
    close(fd);
    return lower;
}

static void caller_create(struct local *local, int fd, pid_t pid)
{
    struct daemon *d = local->daemon;
    struct caller *caller = calloc(1, sizeof *caller);
    struct stream *stream = caller == NULL ? NULL : stream_create(fd);
    if (stream == NULL) {
        close(fd);
        free(caller);
        return;
    }
    *caller = (struct caller){
        .daemon = d, .stream = stream, .pid = pid, .in_reserve = files_short(&d->files, fd)};
    LINK_AFTER(NULL, local->first, local->last, caller, next, previous);
    local->count++;
    caller->watch = loop_fd_add(d->loop, fd, LOOP_READ, on_caller_frame, caller);
    caller->timer = loop_timer_add(d->loop, on_caller_late, caller);
    if (caller->watch == NULL || caller->timer == NULL)
        caller_destroy(caller);
    else
        loop_timer_start(caller->timer, CALLER_US);
}

static void local_admit(struct local *local, int fd)
{
    struct daemon *d = local->daemon;
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    int error = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
    if (error == 0 && peer.uid == geteuid()) {
        caller_create(local, room_make(local, fd), peer.pid);
        return;
    }
    d->counters.callers_refused++;
    log_refused(&d->log, loop_now_us(), "process %d of user %u not admitted", (int)peer.pid,
                (unsigned)peer.uid);
    close(fd);
}

static void on_again(void *context)
{
    struct local *local = context;
    loop_fd_set(local->watch, LOOP_READ);
}

/* Without descriptors accept() would fail again and again: one is freed, or there is a pause. */
static void no_descriptors(struct local *local)
{
    int error = errno;
    if (local->last != NULL) {
        oldest_end(local);
        return;
    }
    if (!local->short_of_files)
        log_line(&local->daemon->log, LOG_ERROR, "cannot accept tasks for now: %s",
                 strerror(error));
    local->short_of_files = true;
    loop_fd_set(local->watch, 0);
    loop_timer_start(local->again, ACCEPT_AGAIN_US);
}

static void on_listener(void *context, int events)
{
    (void)events;
    struct local *local = context;
    int listener = local->daemon->runtime.listener;
    bool any = false;
    for (int i = 0; i < ACCEPTS_MAX; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            local->short_of_files = false;
            any = true;
            local_admit(local, fd);
            continue;
        }
        if (errno == EINTR || errno == ECONNABORTED)
            continue;
        if (errno != EAGAIN && !any) /* without descriptors also where nobody is left */
            no_descriptors(local);
        return;
    }
}

static int local_create(struct daemon *d, struct failure *why)
{
    struct local *local = d->own.local;
    local->daemon = d;
    local->again = loop_timer_add(d->loop, on_again, local);
    local->watch = loop_fd_add(d->loop, d->runtime.listener, LOOP_READ, on_listener, local);
    return local->again == NULL || local->watch == NULL ? failure_memory(why) : 0;
}

/* Disconnects those that have not enrolled and accepts no more. */
static void local_destroy(struct daemon *d)
{
    struct local *local = d->own.local;
    while (local->first != NULL)
        caller_destroy(local->first);
    loop_fd_remove(&local->watch);
    loop_timer_remove(&local->again);
}

const struct part local_part = {.name = "local",
                                .state_bytes = sizeof(struct local),
                                .create = local_create,
                                .destroy = local_destroy};
