/*
 * Output. Each pipe has a buffer, there only while something is in it; whole lines leave it as
 * OUTPUT frames. A line longer than the buffer leaves in pieces; a last line without a newline
 * leaves as it is when the pipe ends. At most OUTPUT_UNACKED_MAX bytes a task are under way, less
 * where there are many tasks, then its pipes are not read until the sink has taken some, and the
 * task itself waits in write(). Behind the last of it goes ENDED, which says how the task ended.
 */
#include "daemon/spawn/output.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/spawn/exit.h"
#include "lib/covey.h"

#define OUTPUT_HEAD_BYTES 8
#define OUTPUT_BYTES_MAX (FRAME_PAYLOAD_MAX - OUTPUT_HEAD_BYTES)
#define OUTPUT_HOST_BYTES ((size_t)16 * 1024 * 1024)
#define WINDOW_BYTES_MIN 4096
#define PIPE_BYTES 65536
#define UNACKED_LIMIT (OUTPUT_UNACKED_MAX + 2 * PIPE_BYTES)
#define DRAIN_BYTES_MAX (2 * 1024 * 1024) /* more than a pipe holds */

/* How much of a task's output may be under way: all tasks of the host share OUTPUT_HOST_BYTES,
 * which the sink may have to keep while it cannot write. */
static size_t output_window(const struct task *task)
{
    size_t share = OUTPUT_HOST_BYTES / task->daemon->tasks->count;
    if (share > OUTPUT_UNACKED_MAX)
        return OUTPUT_UNACKED_MAX;
    return share > WINDOW_BYTES_MIN ? share : WINDOW_BYTES_MIN;
}

/* Sends the whole lines in the buffer, or all of it: at the end, and when a line fills it. */
static void output_pass(struct output *o, bool all)
{
    const uint8_t *newline = o->used == 0 ? NULL : memrchr(o->bytes, '\n', o->used);
    size_t size = newline == NULL ? 0 : (size_t)(newline - o->bytes) + 1;
    if (all || (size == 0 && o->used == OUTPUT_BYTES_MAX))
        size = o->used;
    struct task *task = o->task;
    uint8_t payload[FRAME_PAYLOAD_MAX];
    if (size != 0 && task->sink != 0) {
        struct cursor c = cursor_writer(payload, sizeof payload);
        control_put_output(&c, &(struct control_output){
                                   .tid = task->tid, .stream = o->number, .print = task->print});
        cursor_put_bytes(&c, o->bytes, size);
        task->output_unacked += (uint32_t)size;
        post_send_payload(task->daemon, FRAME_OUTPUT, task->sink, payload, &c);
    }
    assert(size <= o->used);
    o->used -= size;
    if (o->used > 0)
        memmove(o->bytes, o->bytes + size, o->used);
    if (o->used == 0) {
        free(o->bytes);
        o->bytes = NULL;
    }
}

static void output_end(struct output *o)
{
    output_pass(o, true);
    loop_fd_remove(&o->watch);
    if (o->fd >= 0)
        close(o->fd);
    o->fd = -1;
}

/* Reads once. Returns the bytes read, 0 when nothing is there; at the end the pipe is closed. */
static size_t output_read(struct output *o)
{
    if (o->bytes == NULL)
        o->bytes = malloc(OUTPUT_BYTES_MAX);
    if (o->bytes == NULL)
        return 0; /* later */
    size_t room = OUTPUT_BYTES_MAX - o->used, window = output_window(o->task);
    size_t way = o->task->output_unacked, left = way < window ? window - way : WINDOW_BYTES_MIN;
    ssize_t n = read(o->fd, o->bytes + o->used, room < left ? room : left);
    bool empty = n < 0 && (errno == EAGAIN || errno == EINTR);
    if (n <= 0 && !empty)
        output_end(o);
    else if (empty)
        output_pass(o, false); /* frees a buffer that stayed empty */
    if (n <= 0)
        return 0;
    o->used += (size_t)n;
    output_pass(o, false);
    return (size_t)n;
}

static void output_watch(struct task *task)
{
    bool full = task->sink != 0 && task->output_unacked >= output_window(task);
    for (int i = 0; i < 2; i++)
        if (task->output[i].watch != NULL)
            loop_fd_set(task->output[i].watch, full ? 0 : LOOP_READ);
}

static void on_pipe_readable(void *context, int events)
{
    (void)events;
    struct output *o = context;
    struct task *task = o->task;
    output_read(o);
    output_watch(task);
    exit_check(task);
}

void output_start(struct task *task, int out, int err)
{
    const int fds[2] = {out, err};
    for (int i = 0; i < 2; i++) {
        struct output *o = &task->output[i];
        o->fd = fds[i];
        o->watch = loop_fd_add(task->daemon->loop, o->fd, LOOP_READ, on_pipe_readable, o);
        if (o->watch == NULL)
            output_end(o);
    }
}

void output_drain(struct task *task)
{
    for (int i = 0; i < 2; i++) {
        struct output *o = &task->output[i];
        size_t total = 0, n = 1;
        for (; o->fd >= 0 && n > 0 && total < DRAIN_BYTES_MAX; total += n)
            n = output_read(o);
    }
}

void output_catch_up(struct task *task)
{
    for (int i = 0; i < 2; i++) {
        struct output *o = &task->output[i];
        size_t total = 0, n = 1;
        for (; o->fd >= 0 && n > 0 && total < PIPE_BYTES; total += n)
            n = task->output_unacked < UNACKED_LIMIT ? output_read(o) : 0;
    }
    output_watch(task);
}

void output_close(struct task *task)
{
    for (int i = 0; i < 2; i++)
        output_end(&task->output[i]);
}

/* Whether it ended by what it was sent to end it. */
static bool ended_as_asked(const struct task *task)
{
    return task->end.dismissed && (task->end.kind != COVEY_EXIT_SIGNAL ||
                                   task->end.value == SIGTERM || task->end.value == SIGKILL);
}

void output_tell_end(const struct task *task)
{
    uint8_t payload[sizeof(struct control_ended) + 4];
    struct control_ended ended = {.tid = task->tid,
                                  .parent = task->parent,
                                  .kind = task->end.kind,
                                  .asked = ended_as_asked(task),
                                  .print = task->print,
                                  .value = task->end.value};
    if (task->sink == 0)
        return;
    snprintf(ended.host, sizeof ended.host, "%s", task->daemon->self.name);
    memcpy(ended.command, task->command, sizeof ended.command);
    struct cursor c = cursor_writer(payload, sizeof payload);
    control_put_ended(&c, &ended);
    post_send_payload(task->daemon, FRAME_ENDED, task->sink, payload, &c);
}

void output_discard(struct task *task)
{
    task->sink = 0;
    output_watch(task);
}

static const char *output_on_ack(struct daemon *d, uint32_t source, struct cursor *payload)
{
    struct control_output ack;
    control_get_output_ack(payload, &ack);
    if (!cursor_done(payload))
        return "bad payload";
    struct task *task = task_find(d->tasks, ack.tid);
    if (task == NULL || task->sink != source)
        return NULL; /* it has ended meanwhile */
    if (ack.bytes > task->output_unacked)
        return "acknowledges more output than was sent";
    task->output_unacked -= ack.bytes;
    output_watch(task);
    return NULL;
}

const struct part output_part = {
    .name = "output",
    .kinds = (const struct part_kind[]){{FRAME_OUTPUT_ACK, output_on_ack, false}, {0}}};
