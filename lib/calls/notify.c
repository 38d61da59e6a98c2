/*
 * notify.c - messages that the library itself makes: notices of ended tasks and of hosts, and
 * pieces of output of tasks that this one started.
 */
#include "lib/calls/notify.h"
#include "lib/drive/call.h"
#include "lib/engine/arrival.h"
#include "lib/engine/peer.h"
#include "lib/member/home.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/msg/message.h"

#include <stdlib.h>

/* Asked for by covey_notify(). */
struct notify {
    struct notify *next;
    int event, tag;
    uint32_t tid;
};

void notify_deliver(struct covey *vm, struct covey_msg *packed, uint32_t source, int tag)
{
    if (packed == NULL)
        return;
    packed->info = (struct covey_info){(covey_tid_t)source, tag, packed->size};
    arrival_deliver(vm, 0, &packed);
    if (packed == NULL)
        return;
    covey_msg_free(packed);
    home_lost(vm, COVEY_ENOMEM, "memory is exhausted: a notice could not be taken");
}

static void deliver_notice(struct covey *vm, int tag, const struct covey_notice *n)
{
    const int32_t fields[5] = {n->event, n->tid, n->host, n->exit_kind, n->value};
    struct covey_msg *msg = covey_msg_new();
    if (msg != NULL && covey_pack_int32(msg, fields, 5, 1) == COVEY_OK)
        notify_deliver(vm, msg, (uint32_t)n->tid, tag);
    else
        covey_msg_free(msg);
}

static void deliver_exit(struct covey *vm, int tag, const struct peer *peer)
{
    struct covey_notice n = {.event = COVEY_NOTIFY_TASK_EXIT,
                             .tid = (covey_tid_t)peer->tid,
                             .host = (int32_t)tid_host(peer->tid),
                             .exit_kind = peer->exit.kind,
                             .value = peer->exit.value};
    deliver_notice(vm, tag, &n);
}

void notify_task_exit(struct covey *vm, struct peer *peer)
{
    for (struct notify **at = &notices_of(vm)->first; *at != NULL;) {
        struct notify *n = *at;
        if (n->event != COVEY_NOTIFY_TASK_EXIT || n->tid != peer->tid) {
            at = &n->next;
            continue;
        }
        deliver_exit(vm, n->tag, peer);
        *at = n->next;
        free(n);
    }
}

void notify_host(struct covey *vm, const struct control_host_event *event)
{
    int what = event->event == NODE_HOST_GONE    ? COVEY_NOTIFY_HOST_GONE
               : event->event == NODE_HOST_ADDED ? COVEY_NOTIFY_HOST_ADDED
                                                 : 0;
    for (struct notify *n = notices_of(vm)->first; n != NULL && what != 0; n = n->next) {
        struct covey_notice notice = {.event = what, .host = (int32_t)event->host.index};
        if (n->event == what)
            deliver_notice(vm, n->tag, &notice);
    }
}

static void deliver_ends(struct covey *vm, int tag)
{
    uint64_t now_us = clock_us(), end_us = vm->self.ends_us;
    uint64_t left_s = end_us > now_us ? (end_us - now_us) / 1000000 : 0;
    const struct covey_notice n = {.event = COVEY_NOTIFY_HOST_ENDS,
                                   .host = (int32_t)vm->self.host,
                                   .value = end_us == 0          ? -1
                                            : left_s < INT32_MAX ? (int32_t)left_s
                                                                 : INT32_MAX};
    deliver_notice(vm, tag, &n);
}

/* How long this task's host still has. Bags look at it in the check that follows. */
void notify_on_ends(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct cursor c = cursor_reader(payload, frame->length);
    uint64_t left_us = cursor_get_u64(&c), now_us = clock_us();
    if (!cursor_done(&c) || frame->source != tid_make(vm->self.host, 0))
        return;
    vm->self.ends_us = left_us < UINT64_MAX - now_us ? now_us + left_us : 0;
    for (struct notify *n = notices_of(vm)->first; n != NULL; n = n->next)
        if (n->event == COVEY_NOTIFY_HOST_ENDS)
            deliver_ends(vm, n->tag);
    wait_check_at(vm, now_us);
    wait_changed(vm);
}

void notify_output(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct control_output o;
    struct cursor c = cursor_reader(payload, frame->length);
    control_get_output(&c, &o);
    struct covey_msg *msg = cursor_ok(&c) ? covey_msg_new() : NULL;
    int32_t stream = o.stream;
    if (msg == NULL || covey_pack_int32(msg, &stream, 1, 1) != COVEY_OK ||
        covey_pack_bytes(msg, c.at, o.bytes) != COVEY_OK) {
        covey_msg_free(msg);
        return;
    }
    msg->output_bytes = o.bytes;
    notify_deliver(vm, msg, o.tid, COVEY_TAG_OUTPUT);
}

static void deliver_end(struct covey *vm, int tag, const struct control_ended *e)
{
    const int32_t fields[7] = {
        COVEY_NOTIFY_OUTPUT_END, (int32_t)e->tid, (int32_t)tid_host(e->tid), e->kind, e->value,
        (int32_t)e->parent,      e->asked};
    struct covey_msg *msg = covey_msg_new();
    if (msg != NULL && covey_pack_int32(msg, fields, 5, 1) == COVEY_OK &&
        covey_pack_int32(msg, fields + 5, 2, 1) == COVEY_OK &&
        covey_pack_string(msg, e->host) == COVEY_OK &&
        covey_pack_string(msg, e->command) == COVEY_OK)
        notify_deliver(vm, msg, e->tid, tag);
    else
        covey_msg_free(msg);
}

/* A task has ended whose output comes here. */
void notify_ended(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct control_ended e;
    struct cursor c = cursor_reader(payload, frame->length);
    control_get_ended(&c, &e);
    for (struct notify *n = notices_of(vm)->first; n != NULL && cursor_ok(&c); n = n->next)
        if (n->event == COVEY_NOTIFY_OUTPUT_END)
            deliver_end(vm, n->tag, &e);
}

void notify_free_all(struct covey *vm)
{
    while (notices_of(vm)->first != NULL) {
        struct notify *n = notices_of(vm)->first;
        notices_of(vm)->first = n->next;
        free(n);
    }
}

static int notify_add(struct covey *vm, int event, int tag, uint32_t tid)
{
    struct notify *n = calloc(1, sizeof *n);
    if (n == NULL)
        return error_code(COVEY_ENOMEM);
    *n = (struct notify){.next = notices_of(vm)->first, .event = event, .tag = tag, .tid = tid};
    notices_of(vm)->first = n;
    return COVEY_OK;
}

static bool notify_has(const struct covey *vm, int event, int tag)
{
    const struct notify *n = notices_of(vm)->first;
    while (n != NULL && (n->event != event || n->tag != tag))
        n = n->next;
    return n != NULL;
}

static int notify_one_task(struct covey *vm, int tag, covey_tid_t tid)
{
    if (tid <= 0 || tid_local((uint32_t)tid) == 0)
        return error_set(COVEY_EINVAL, "notify: bad tid %d", (int)tid);
    struct peer *peer = peer_get(vm, (uint32_t)tid);
    if (peer == NULL)
        return COVEY_ENOMEM;
    if (!peer->gone)
        return notify_add(vm, COVEY_NOTIFY_TASK_EXIT, tag, peer->tid);
    deliver_exit(vm, tag, peer);
    return COVEY_OK;
}

int covey_notify(covey_t *vm, int event, int tag, const covey_tid_t *tids, size_t n)
{
    if (vm == NULL || event < COVEY_NOTIFY_TASK_EXIT || event > COVEY_NOTIFY_HOST_ENDS || tag < 0 ||
        tag > COVEY_TAG_MAX)
        return error_set(COVEY_EINVAL, "notify: unknown event %d or bad tag %d", event, tag);
    if (event == COVEY_NOTIFY_TASK_EXIT && n > 0 && tids == NULL)
        return error_set(COVEY_EINVAL, "notify: no tids");
    struct call call = call_begin(vm);
    int error = vm->home.lost == 0 ? COVEY_OK : error_set(vm->home.lost, "%s", vm->home.lost_text);
    bool again = event == COVEY_NOTIFY_OUTPUT_END && notify_has(vm, event, tag);
    if (event != COVEY_NOTIFY_TASK_EXIT && error == COVEY_OK && !again)
        error = notify_add(vm, event, tag, 0);
    if (event == COVEY_NOTIFY_HOST_ENDS && error == COVEY_OK && vm->self.ends_us != 0)
        deliver_ends(vm, tag);
    for (size_t i = 0; event == COVEY_NOTIFY_TASK_EXIT && i < n && error == COVEY_OK; i++)
        error = notify_one_task(vm, tag, tids[i]);
    return call_end(vm, &call, error);
}
