/*
 * request.c - questions to daemons: each has a number that its reply repeats. A reply may take
 * several frames. When the host asked is gone, or the own daemon, the question ends with an error.
 */
#include "lib/drive/request.h"
#include "lib/drive/wait.h"
#include "lib/member/home.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "proto/wire/list.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void request_free(struct covey *vm, struct request *r)
{
    UNLINK(vm->requests.first, r, next);
    free(r->content);
    free(r);
}

static struct request *request_find(struct covey *vm, uint32_t number)
{
    struct request *r = vm->requests.first;
    while (r != NULL && r->number != number)
        r = r->next;
    return r;
}

/* NOLINTNEXTLINE(readability-function-size): as request_begin() */
struct request *request_begin_fd(struct covey *vm, uint8_t kind, uint32_t host, const void *body,
                                 size_t size, int fd)
{
    uint8_t payload[FRAME_PAYLOAD_MAX];
    struct cursor c = cursor_writer(payload, sizeof payload);
    struct request *r = calloc(1, sizeof *r);
    if (r == NULL) {
        error_code(COVEY_ENOMEM);
        return NULL;
    }
    /* Numbers count up and wrap: one that still waits for its reply is passed over, and 0 is none.
     */
    do
        vm->requests.number++;
    while (vm->requests.number == 0 || request_find(vm, vm->requests.number) != NULL);
    r->number = vm->requests.number;
    r->host = host;
    cursor_put_u32(&c, r->number);
    cursor_put_bytes(&c, body, size);
    uint32_t to = host == 0 || host == vm->self.host ? 0 : tid_make(host, 0);
    if (!cursor_ok(&c)) {
        error_set(COVEY_EINVAL, "the request is larger than %d bytes", FRAME_PAYLOAD_MAX);
        free(r);
        return NULL;
    }
    r->next = vm->requests.first;
    vm->requests.first = r;
    struct frame frame = home_frame(vm, kind, to, (size_t)(c.at - payload));
    if (home_send_frame(vm, &frame, payload, &fd, fd >= 0) == COVEY_OK)
        return r;
    request_free(vm, r);
    return NULL;
}

struct request *request_begin(struct covey *vm, uint8_t kind, uint32_t host, const void *body,
                              size_t size)
{
    return request_begin_fd(vm, kind, host, body, size, -1);
}

int request_refused(const struct covey *vm)
{
    return vm->home.lost != 0 ? error_set(vm->home.lost, "%s", vm->home.lost_text) : COVEY_ENOMEM;
}

void request_forget(struct covey *vm, struct request **r)
{
    if (*r != NULL)
        request_free(vm, *r);
    *r = NULL;
}

static bool request_done(void *context)
{
    return ((struct request *)context)->done;
}

int request_status(const struct request *r)
{
    char text[CONTROL_REASON_MAX + 1];
    if (r->status >= 0)
        return COVEY_OK;
    struct cursor c = cursor_reader(r->content, r->size);
    cursor_get_text(&c, text, sizeof text);
    if (r->size > 0 && cursor_ok(&c) && text[0] != '\0')
        return error_set(r->status, "%s", text);
    return error_code(r->status);
}

int request_end(struct covey *vm, struct request **r, uint64_t deadline_us, uint8_t **content,
                size_t *content_size)
{
    struct request *request = *r;
    assert(request != NULL);
    *r = NULL;
    int error = wait_until(vm, request_done, request, deadline_us);
    if (error == COVEY_ETIMEOUT)
        error_set(error, "the daemon did not answer in time");
    if (error == COVEY_OK)
        error = request_status(request);
    if (error == COVEY_OK && content != NULL) {
        *content = request->content;
        *content_size = request->size;
        request->content = NULL;
    }
    request_free(vm, request);
    return error;
}

struct growth {
    const struct request *request;
    size_t seen;
};

static bool has_grown(void *context)
{
    const struct growth *g = context;
    return g->request->done || g->request->size > g->seen;
}

int request_end_idle(struct covey *vm, struct request **r, uint64_t idle_us, uint8_t **content,
                     size_t *content_size)
{
    struct growth g = {.request = *r};
    int error = COVEY_OK;
    while (error == COVEY_OK && !(*r)->done) {
        g.seen = (*r)->size;
        error = wait_until(vm, has_grown, &g, clock_us() + idle_us);
    }
    return request_end(vm, r, clock_us(), content, content_size);
}

/* NOLINTNEXTLINE(readability-function-size): request_begin() and request_end() in one */
int request_call(struct covey *vm, uint8_t kind, uint32_t host, const void *body, size_t size,
                 uint64_t deadline_us, uint8_t **content, size_t *content_size)
{
    struct request *r = request_begin(vm, kind, host, body, size);
    if (r == NULL)
        return vm->home.lost != 0 ? vm->home.lost : COVEY_EINVAL;
    return request_end(vm, &r, deadline_us, content, content_size);
}

static bool content_add(struct request *r, const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return true;
    uint8_t *content = realloc(r->content, r->size + size);
    if (content == NULL)
        return false;
    memcpy(content + r->size, bytes, size);
    r->content = content;
    r->size += size;
    return true;
}

void request_on_reply(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct control_reply reply;
    struct cursor c = cursor_reader(payload, frame->length);
    control_get_reply(&c, &reply);
    struct request *r = cursor_ok(&c) ? request_find(vm, reply.request) : NULL;
    if (r == NULL || r->done)
        return; /* nobody waits any more */
    r->status = reply.status;
    if (!content_add(r, c.at, cursor_left(&c))) {
        r->status = COVEY_ENOMEM;
        r->size = 0;
    }
    r->done = (frame->flags & FRAME_LAST) != 0 || r->status < 0;
    if (!r->done)
        return;
    wait_changed(vm);
    vm->wait.due |= r->due;
}

void request_host_failed(struct covey *vm, struct request *r)
{
    if (r->done)
        return;
    r->status = COVEY_EHOSTFAIL;
    r->size = 0;
    r->done = true;
    vm->wait.due |= r->due;
}

void request_on_host_event(struct covey *vm, const struct control_host_event *event)
{
    uint32_t host = event->host.index;
    if (event->event != NODE_HOST_GONE)
        return;
    for (struct request *r = vm->requests.first; r != NULL; r = r->next) {
        if (r->host == host)
            request_host_failed(vm, r);
    }
    wait_changed(vm);
}
