/*
 * home.c - the stream to the daemon of this host: what comes is dispatched by kind to the file of
 * its subject. When the daemon is lost everything that waits ends with an error.
 */
#include "lib/engine/home.h"
#include "lib/agree/service.h"
#include "lib/bag/bag.h"
#include "lib/calls/cast.h"
#include "lib/calls/notify.h"
#include "lib/collective/paced.h"
#include "lib/engine/arrival.h"
#include "lib/engine/bulk.h"
#include "lib/engine/direct.h"
#include "lib/engine/loss.h"
#include "lib/engine/match.h"
#include "lib/engine/order.h"
#include "lib/engine/outgo.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/engine/request.h"
#include "lib/engine/route.h"
#include "lib/engine/vm.h"
#include "lib/engine/watch.h"
#include "lib/link/ledger.h"
#include "lib/link/link.h"
#include "lib/link/stream.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/spawn/siblings.h"
#include "lib/spawn/tasker.h"

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
    for (int i = 0; i < PEER_BUCKETS; i++) {
        for (struct peer *peer = vm->known.peers[i]; peer != NULL; peer = peer->next)
            outgo_fail(vm, peer, error, why);
    }
    while (vm->inbox.posted != NULL) {
        struct covey_req *req = vm->inbox.posted;
        match_cancel(vm, req);
        req_finish(req, error, why);
    }
    match_ready_lost(vm);
    wait_changed(vm);
}

void home_flush(struct covey *vm)
{
    if (vm->home.lost != 0)
        return;
    vm->home.due = false;
    int left = stream_flush(vm->home.daemon);
    if (left == STREAM_CLOSED) {
        home_lost(vm, COVEY_EDAEMON, "the daemon of this host ended");
        return;
    }
    /* the queue may be empty again before the send that found it full is told */
    bool wanted = left != 0 || vm->home.full;
    watch_change(vm, &vm->home.watch, EPOLLIN | (wanted ? EPOLLOUT : 0));
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

static void on_data(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct peer *peer = peer_get(vm, frame->source);
    bool ether = (frame->flags & FRAME_ETHER) != 0;
    if (peer != NULL) {
        peer->in.by_ether = ether;
        arrival_on_frame(vm, peer, ether ? &peer->in.ether_inlet : &peer->in.inlet, frame, payload);
    } else {
        home_lost(vm, COVEY_ENOMEM, "memory is exhausted: a message could not be taken");
    }
}

static void on_credit(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct peer *peer = peer_find(vm, frame->source);
    struct cursor c = cursor_reader(payload, frame->length);
    if (peer != NULL)
        outgo_on_credit(vm, peer, &c);
}

static void on_lost(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct peer *peer = peer_find(vm, frame->source);
    struct cursor c = cursor_reader(payload, frame->length);
    if (peer != NULL)
        loss_on_lost(vm, peer, &c);
}

static void on_gone(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct control_gone gone;
    struct cursor c = cursor_reader(payload, frame->length);
    control_get_gone(&c, &gone);
    if (cursor_ok(&c))
        peer_on_gone(vm, &gone);
}

static void on_host_event(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct control_host_event event;
    struct cursor c = cursor_reader(payload, frame->length);
    control_get_host_event(&c, &event);
    if (!cursor_ok(&c))
        return;
    vm->self.coordinator = event.coordinator;
    uint32_t index = event.host.index;
    if (event.event == NODE_HOST_GONE) {
        vm->known.host_gone[index / 8] |= (uint8_t)(1u << index % 8);
        peer_host_gone(vm, index);
        request_fail_host(vm, index);
        bag_host_gone(vm, index);
    } else if (event.event == NODE_HOST_ADDED) {
        vm->known.host_gone[index / 8] &= (uint8_t) ~(1u << index % 8);
    }
    notify_host(vm, &event);
}

typedef void (*frame_handler)(struct covey *vm, const struct frame *frame, const uint8_t *payload);

/* By kind; descriptors that come with these are of no use. A kind that is missing is one that no
 * task gets: a newer daemon's, and no harm. */
static const frame_handler handlers[] = {
    [FRAME_DATA] = on_data,
    [FRAME_CREDIT] = on_credit,
    [FRAME_LINK_LOST] = on_lost,
    [FRAME_SYNC] = paced_on_sync,
    [FRAME_DETOUR] = direct_on_detour,
    [FRAME_REPLY] = request_on_reply,
    [FRAME_BULK_ANSWER] = bulk_on_answer,
    [FRAME_GONE] = on_gone,
    [FRAME_OUTPUT] = notify_output,
    [FRAME_ENDED] = notify_ended,
    [FRAME_HOST_EVENT] = on_host_event,
    [FRAME_NOTICE] = service_on_notice,
    [FRAME_ORDER] = tasker_on_order,
    [FRAME_FAMILY] = siblings_on_family,
    [FRAME_CAST_DATA] = caster_on_data,
    [FRAME_BAG_ANSWER] = bag_on_answer,
};

/* What other tasks send right behind the answer to ENROL waits until this one knows who it is. */
#define STOP_UNTIL_ENROLLED 1

static int on_frame(void *context, const struct frame *frame, const uint8_t *payload, int *fds,
                    int nfds)
{
    struct covey *vm = context;
    if (frame->kind == FRAME_DATA && !order_admits_home(vm, frame, payload))
        return STREAM_KEEP;
    size_t count = sizeof handlers / sizeof handlers[0];
    if (frame->kind >= FRAME_LINK_OPEN && frame->kind <= FRAME_LINK_REFUSE) {
        route_on_link_frame(vm, frame, payload, fds, nfds);
        return 0;
    }
    if (vm->home.ledger == NULL && frame->kind == FRAME_REPLY && nfds == 1)
        vm->home.ledger = ledger_open(fds[0]);
    if (frame->kind < count && handlers[frame->kind] != NULL)
        handlers[frame->kind](vm, frame, payload);
    for (int i = 0; i < nfds; i++)
        close(fds[i]);
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
    if (vm->home.lost == 0 && vm->out.sending != NULL)
        outgo_pump_all(vm);
}
