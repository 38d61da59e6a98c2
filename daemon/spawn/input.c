/*
 * Input. A task that was spawned with one reads its standard input from a pipe. Its parent sends
 * INPUT, one at a time: what the pipe does not take is kept, and the answer waits until the task
 * has read that far. So the parent is held back, and no more is kept than a frame.
 */
#include "daemon/spawn/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/post/reply.h"
#include "lib/covey.h"

struct input {
    int fd; /* -1: it has ended */
    struct loop_fd *watch;
    uint8_t *bytes; /* that wait, NULL: none */
    size_t size, written;
    uint32_t request; /* who waits for that */
};

static void bytes_drop(struct input *in)
{
    free(in->bytes);
    in->bytes = NULL;
}

void input_end(struct task *task)
{
    struct input *in = task->input;
    if (in == NULL || in->fd < 0)
        return;
    if (in->bytes != NULL)
        reply_error(task->daemon, task->parent, in->request, COVEY_ENOTASK,
                    "task t%x reads no more", task->tid);
    bytes_drop(in);
    loop_fd_remove(&in->watch);
    close(in->fd);
    in->fd = -1;
}

/* Who waits for the task to read is told that it has ended. */
static void input_task_free(struct task *task)
{
    input_end(task);
    free(task->input);
    task->input = NULL;
}

/* Writes what the pipe takes. */
static void input_write(struct task *task)
{
    struct input *in = task->input;
    while (in->written < in->size) {
        ssize_t n = write(in->fd, in->bytes + in->written, in->size - in->written);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            loop_fd_set(in->watch, LOOP_WRITE);
            return;
        }
        if (n < 0) {
            input_end(task);
            return;
        }
        in->written += (size_t)n;
    }
    loop_fd_set(in->watch, 0);
    bytes_drop(in);
    reply_done(task->daemon, task->parent, in->request);
}

static void on_pipe_writable(void *context, int events)
{
    struct task *task = context;
    (void)events;
    if (task->input->bytes != NULL)
        input_write(task);
    else
        loop_fd_set(task->input->watch, 0);
}

int input_start(struct task *task, int fd)
{
    struct input *in = calloc(1, sizeof *in);
    if (in != NULL)
        in->watch = loop_fd_add(task->daemon->loop, fd, 0, on_pipe_writable, task);
    if (in == NULL || in->watch == NULL) {
        free(in);
        return -ENOMEM;
    }
    in->fd = fd;
    task->input = in;
    return 0;
}

/* Takes the bytes; false: no memory. */
static bool input_take(struct input *in, uint32_t request, const struct cursor *payload)
{
    in->size = cursor_left(payload);
    in->written = 0;
    in->request = request;
    in->bytes = malloc(in->size);
    if (in->bytes != NULL)
        memcpy(in->bytes, payload->at, in->size);
    return in->bytes != NULL;
}

static const char *input_on_input(struct daemon *d, uint32_t source, struct cursor *payload)
{
    uint32_t request = cursor_get_u32(payload), tid = cursor_get_u32(payload);
    if (!cursor_ok(payload))
        return "bad payload";
    struct task *task = task_find(d->tasks, tid);
    struct input *in = task == NULL ? NULL : task->input;
    if (task == NULL) {
        reply_error(d, source, request, COVEY_ENOTASK, "host %s has no task t%x", d->self.name,
                    tid);
    } else if (in == NULL || task->parent != source || in->bytes != NULL) {
        reply_error(d, source, request, COVEY_EINVAL, "task t%x takes no input of t%x", tid,
                    source);
    } else if (in->fd < 0) {
        reply_error(d, source, request, COVEY_ENOTASK, "task t%x reads no more", tid);
    } else if (cursor_left(payload) == 0) {
        input_end(task);
        reply_done(d, source, request);
    } else if (input_take(in, request, payload)) {
        input_write(task);
    } else {
        reply_error(d, source, request, COVEY_ENOMEM, "host %s has no memory left", d->self.name);
    }
    return NULL;
}

const struct part input_part = {
    .name = "input",
    .kinds = (const struct part_kind[]){{FRAME_INPUT, input_on_input, true}, {0}},
    .task_free = input_task_free};
