/*
 * home.c - the stream to the daemon of this host: what comes is dispatched by kind to the file of
 * its subject. When the daemon is lost everything that waits ends with an error.
 */
#include "lib/member/home.h"
#include "lib/link/ledger.h"
#include "lib/link/stream.h"
#include "lib/member/part.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/msg/message.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

void home_lost(struct covey *vm, int error, const char *why)
{
    if (vm->home.lost != 0)
        return;
    vm->home.lost = error;
    snprintf(vm->home.lost_text, sizeof vm->home.lost_text, "%s", why);
    watch_remove(vm, &vm->home.watch);
    parts_home_lost(vm, error, why);
    wait_changed(vm);
}

void home_flush(struct covey *vm)
{
    if (vm->home.lost != 0)
        return;
    vm->home.due = vm->home.later = false;
    int left = stream_flush(vm->home.daemon);
    if (left == STREAM_CLOSED) {
        home_lost(vm, COVEY_EDAEMON, "the daemon of this host ended");
        return;
    }
    if (left == STREAM_LATER) {
        vm->home.later = true;
        wait_check_at(vm, clock_us() + STREAM_LATER_US);
        watch_change(vm, &vm->home.watch, EPOLLIN);
        return;
    }
    /* the queue may be empty again before the send that found it full is told */
    bool wanted = left != 0 || vm->home.full;
    watch_change(vm, &vm->home.watch, EPOLLIN | (wanted ? EPOLLOUT : 0));
}

void home_check(struct covey *vm)
{
    if (vm->home.later)
        home_flush(vm);
}

struct frame home_frame(const struct covey *vm, uint8_t kind, uint32_t destination, size_t size)
{
    return (struct frame){.length = (uint32_t)size,
                          .kind = kind,
                          .flags = FRAME_FIRST | FRAME_LAST,
                          .source = vm->self.tid,
                          .destination = destination};
}

int home_send_frame(struct covey *vm, const struct frame *frame, const uint8_t *payload,
                    const int *fds, int nfds)
{
    if (vm->home.lost != 0)
        return error_set(vm->home.lost, "%s", vm->home.lost_text);
    int error = stream_put(vm->home.daemon, frame, payload, fds, nfds);
    if (error == -EMFILE)
        return error_set(COVEY_ERESOURCE, "out of descriptors");
    if (error != 0)
        return error_code(COVEY_ENOMEM);
    home_flush(vm);
    return COVEY_OK;
}

int home_send(struct covey *vm, uint8_t kind, uint32_t destination, const uint8_t *payload,
              size_t size)
{
    struct frame frame = home_frame(vm, kind, destination, size);
    return home_send_frame(vm, &frame, payload, NULL, 0);
}

/* ---- what comes ------------------------------------------------------------------------------ */

/* What other tasks send right behind the answer to ENROL waits until this one knows who it is. */
#define STOP_UNTIL_ENROLLED 1

static int on_frame(void *context, const struct frame *frame, const uint8_t *payload, int *fds,
                    int nfds)
{
    struct covey *vm = context;
    const struct part_handler *handler = parts_handler(vm, frame->kind);
    if (handler != NULL && handler->admits != NULL && !handler->admits(vm, frame, payload))
        return STREAM_KEEP;
    if (vm->home.ledger == NULL && frame->kind == FRAME_REPLY && nfds == 1)
        vm->home.ledger = ledger_open(fds[0]);
    if (handler != NULL && handler->on_frame_fds != NULL) {
        handler->on_frame_fds(vm, frame, payload, fds, nfds);
        return 0;
    }
    if (handler != NULL)
        handler->on_frame(vm, frame, payload);
    for (int i = 0; i < nfds; i++)
        close(fds[i]); /* they are of no use */
    return frame->kind == FRAME_REPLY && vm->self.tid == 0 ? STOP_UNTIL_ENROLLED : 0;
}

void home_read(struct covey *vm)
{
    if (vm->home.lost != 0 || vm->home.reading)
        return;
    vm->home.reading = true;
    int result = stream_read(vm->home.daemon, on_frame, vm);
    vm->home.reading = false;
    vm->home.kept = result == STREAM_KEEP;
    if (result == STREAM_CLOSED)
        home_lost(vm, COVEY_EDAEMON, "the daemon of this host ended");
    else if (result == STREAM_BROKEN)
        home_lost(vm, COVEY_EPROTO, stream_error(vm->home.daemon));
}

void home_ready(struct covey *vm, struct watch *watch, uint32_t events)
{
    (void)watch;
    if ((events & EPOLLOUT) != 0) {
        vm->home.full = false;
        home_flush(vm);
        wait_changed(vm);
    }
    home_read(vm);
    if (vm->home.lost == 0)
        parts_home_ready(vm);
}

void home_output_taken(struct covey *vm, struct covey_msg *msg)
{
    uint8_t payload[16];
    struct cursor c = cursor_writer(payload, sizeof payload);
    struct control_output o = {.tid = (uint32_t)msg->info.source, .bytes = msg->output_bytes};
    if (msg->output_bytes == 0)
        return;
    msg->output_bytes = 0;
    control_put_output_ack(&c, &o);
    home_send(vm, FRAME_OUTPUT_ACK, tid_make(tid_host(o.tid), 0), payload,
              (size_t)(c.at - payload));
}

void home_on_host_event(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct control_host_event event;
    struct cursor c = cursor_reader(payload, frame->length);
    control_get_host_event(&c, &event);
    if (!cursor_ok(&c))
        return;
    vm->self.coordinator = event.coordinator;
    parts_host_event(vm, &event);
}
