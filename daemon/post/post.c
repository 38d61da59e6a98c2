/*
 * The post. Every frame has one source and one destination tid; a tid's host part says which daemon
 * knows it, local part 0 is that daemon itself.
 *
 *   local task --+                 +-- this daemon: the part that takes its kind (dispatch.c)
 *   other host --+-- checks -------+-- a task here: its stream (introduction.c adds to LINK frames)
 *   this daemon--+                 +-- another host: node_send()
 *
 * Checks: a source must be who the frame came from, and its kind must be one that such a source
 * may send to such a destination. A frame that nobody can take is answered (GONE, or a REPLY with
 * the error), never dropped in silence; answers themselves are not answered.
 */
#include "daemon/post/post.h"

#include <stdlib.h>

#include "daemon/post/backlog.h"
#include "daemon/post/casting.h"
#include "daemon/post/introduction.h"
#include "daemon/post/reply.h"
#include "daemon/post/watch.h"
#include "daemon/table/budget.h"
#include "daemon/table/connection.h"
#include "lib/covey.h"

/* ---- this daemon's own ---- */

/* Kinds whose payload begins with a request number that a REPLY repeats. */
static bool is_request(const struct daemon *d, const struct frame *frame)
{
    return d->takers[frame->kind].request;
}

static void answer_error(struct daemon *d, const struct frame *frame, const uint8_t *payload,
                         int32_t error, const char *text)
{
    struct cursor c = cursor_reader(payload, frame->length);
    uint32_t request = cursor_get_u32(&c);
    if (is_request(d, frame) && cursor_ok(&c))
        reply_error(d, frame->source, request, error, "%s", text);
}

static void post_here(struct daemon *d, const struct frame *frame, const uint8_t *payload)
{
    const struct daemon_taker *taker = &d->takers[frame->kind];
    struct cursor c = cursor_reader(payload, frame->length);
    const char *refused = "not for a daemon";
    if (taker->handle != NULL) {
        part_want(d, taker->part);
        refused = taker->handle(d, frame->source, &c);
    }
    if (refused == NULL)
        return;
    d->counters.frames_refused++;
    log_refused(&d->log, loop_now_us(), "%s of t%x refused: %s", frame_kind_name(frame->kind),
                frame->source, refused);
    answer_error(d, frame, payload, COVEY_EPROTO, refused);
}

/* ---- what cannot be delivered ---- */

/* Who sent these kinds waits for the other task; it learns that there is none. */
static bool wants_gone(uint8_t kind)
{
    return kind == FRAME_DATA || kind == FRAME_CAST_DATA || kind == FRAME_CREDIT ||
           kind == FRAME_SYNC || kind == FRAME_FAMILY || kind == FRAME_LINK_OPEN ||
           kind == FRAME_LINK_ACCEPT || kind == FRAME_OUTPUT || kind == FRAME_WATCH;
}

static void no_host(struct daemon *d, const struct frame *frame, const uint8_t *payload)
{
    d->counters.frames_undeliverable++;
    uint32_t tid = frame->destination;
    if (frame->kind == FRAME_WATCH) {
        struct cursor c = cursor_reader(payload, frame->length);
        tid = cursor_get_u32(&c);
    }
    if (wants_gone(frame->kind)) {
        /* else it learns so with the end of the host, behind what that had cast */
        if (!casting_is_late(d, tid_host(tid)))
            watch_send_gone(d, frame->source,
                            &(struct control_gone){.tid = tid, .kind = COVEY_EXIT_HOST});
    } else if (tid_host(frame->source) != 0)
        answer_error(d, frame, payload, COVEY_EHOSTFAIL, "that host is not in the VM, or is gone");
}

/* ---- requests to daemons of other hosts ---- */

void post_host_gone(struct daemon *d, uint32_t host)
{
    for (struct task *task = d->tasks->first; task != NULL; task = task->next)
        if (task->way.asked != NULL)
            task->way.asked[host] = 0; /* none of them is answered */
}

/* ---- the three ways ---- */

/* A team's memory; where its descriptors do not fit the frame goes without them, and the team does
 * without the memory. */
static bool segment_put(struct task *task, const struct frame *frame, const uint8_t *payload,
                        const int *fds, int nfds)
{
    bool fit = nfds == 2 && !connection_fds_full(task);
    if (fit && connection_put(task, frame, payload, fds, nfds))
        return true;
    return (!fit || !task->way.broken) && connection_put(task, frame, payload, NULL, 0);
}

static void post_to_task(struct daemon *d, const struct frame *frame, const uint8_t *payload,
                         const int *fds, int nfds)
{
    struct task *task = task_find(d->tasks, frame->destination);
    bool taken = task != NULL;
    if (taken && (frame->kind == FRAME_LINK_OPEN || frame->kind == FRAME_LINK_ACCEPT))
        taken = introduction_deliver(d, task, frame, payload, fds, nfds);
    else if (taken && frame->kind == FRAME_SEGMENT)
        taken = segment_put(task, frame, payload, fds, nfds);
    else if (taken)
        taken = connection_put(task, frame, payload, fds, nfds);
    if (taken)
        return;
    d->counters.frames_undeliverable++;
    if (wants_gone(frame->kind))
        watch_answer(d, frame->source, frame->destination);
}

/* The memory of a large frame that came from a task of this host, which then is the caller's; NULL:
 * the payload is lent. */
static uint8_t *payload_take(const struct daemon *d, const struct frame *frame,
                             const uint8_t *payload)
{
    const struct task *from =
        frame->length < STREAM_LARGE_BYTES ? NULL : task_find(d->tasks, frame->source);
    return from == NULL || from->way.stream == NULL ? NULL : stream_take(from->way.stream, payload);
}

static void post_to_host(struct daemon *d, const struct frame *frame, const uint8_t *payload)
{
    struct frame f = *frame;
    f.flags &= FRAME_FLAGS_CARRIED; /* descriptors do not travel between hosts */
    uint32_t host = tid_host(frame->destination);
    if (frame->kind == FRAME_GONE && casting_keeps(d, &f, payload))
        return;
    /* who hears of a task's end has got everything that it sent, by whichever medium */
    uint8_t *own = payload_take(d, frame, payload);
    int error = frame->kind == FRAME_GONE
                    ? node_send_behind(d->node, host, &f, payload, loop_now_us())
                    : node_send_own(d->node, host, &f, payload, own);
    d->counters.frames_detoured += frame->kind == FRAME_DETOUR && error == 0;
    if (error != 0) {
        no_host(d, frame, payload);
        free(own);
        return;
    }
    d->counters.frames_to_hosts++;
    if (is_request(d, frame)) {
        uint32_t tid = frame->source;
        struct task *task = task_find(d->tasks, tid);
        if (task != NULL && task->way.asked == NULL)
            task->way.asked = calloc(HOST_INDEX_MAX + 1, sizeof *task->way.asked);
        if (task != NULL && task->way.asked != NULL && task->way.asked[host] < UINT8_MAX)
            task->way.asked[host]++;
    }
}

static void post_any(struct daemon *d, const struct frame *frame, const uint8_t *payload,
                     const int *fds, int nfds)
{
    uint32_t to = frame->destination;
    if (to != 0 && tid_host(to) != daemon_host(d))
        post_to_host(d, frame, payload);
    else if (tid_local(to) == 0)
        post_here(d, frame, payload);
    else
        post_to_task(d, frame, payload, fds, nfds);
}

void post_send(struct daemon *d, const struct frame *frame, const uint8_t *payload)
{
    post_any(d, frame, payload, NULL, 0);
}

void post_send_payload(struct daemon *d, uint8_t kind, uint32_t to, const uint8_t *bytes,
                       const struct cursor *c)
{
    struct frame frame = {.length = (uint32_t)(c->at - bytes),
                          .kind = kind,
                          .source = daemon_tid(d),
                          .destination = to};
    if (cursor_ok(c))
        post_send(d, &frame, bytes);
}

/* ---- checks ---- */

/* Whether such a source may send that kind to such a destination. */
static const char *party_refused(const struct frame *frame)
{
    bool from_task = tid_local(frame->source) != 0, to_task = tid_local(frame->destination) != 0;
    bool ok = false;
    switch (frame_kind_party(frame->kind)) {
    case TASK_TO_TASK:
        ok = from_task && to_task;
        break;
    case TASK_TO_DAEMON:
        ok = from_task && !to_task;
        break;
    case DAEMON_TO_TASK:
        ok = !from_task && to_task;
        break;
    case DAEMON_TO_DAEMON:
        ok = !from_task && !to_task;
        break;
    case ANY_TO_TASK:
        ok = to_task || (frame->kind == FRAME_GONE && !from_task);
        break;
    case ANY_TO_DAEMON:
        ok = !to_task;
        break;
    default:
        break;
    }
    if (from_task && (frame->kind == FRAME_REPLY || frame->kind == FRAME_GONE))
        ok = false; /* only daemons answer and report */
    return ok ? NULL : "not from this kind of sender to that kind of receiver";
}

/* A message that its receiver could not begin to read is its sender's fault, and ends it here. */
static const char *message_refused(const struct frame *frame, const uint8_t *payload)
{
    struct message_header unused;
    bool begins = frame->kind == FRAME_DATA && (frame->flags & FRAME_FIRST) != 0;
    return begins ? message_header_decode(payload, frame->length, &unused) : NULL;
}

static const char *task_frame_refused(const struct task *task, const struct frame *frame,
                                      const uint8_t *payload, int nfds)
{
    /* memory that is shared and a doorbell, or a doorbell */
    bool two = frame->kind == FRAME_LINK_OPEN || frame->kind == FRAME_SEGMENT;
    int fds_most = two ? 2 : frame->kind == FRAME_LINK_ACCEPT ? 1 : 0;
    if (nfds > fds_most)
        return "it brings descriptors that are of no use";
    if (nfds == STREAM_FDS_LOST && frame->kind != FRAME_LINK_OPEN && frame->kind != FRAME_SEGMENT)
        return "there was no room for its descriptors";
    if (frame->source != task->tid)
        return "its source is not the task that sent it";
    if (frame->kind == FRAME_ENROL)
        return "this connection has enrolled already";
    const char *refused = party_refused(frame);
    return refused != NULL ? refused : message_refused(frame, payload);
}

/* A misbehaving task must not make the daemon grow: it waits while the queue it feeds is long, or
 * its own, which its requests feed. */
static void task_hold_back(struct task *task, const struct frame *frame, int nfds)
{
    struct daemon *d = task->daemon;
    uint32_t to = frame->destination, host = tid_host(to);
    size_t most = budget_queue_max(d);
    const struct task *receiver = task_find(d->tasks, to);
    if (connection_queued(task) > most)
        connection_hold(task, BLOCKED_BY_TASK, task->tid);
    else if (tid_local(to) == 0 && (parts_full(d)))
        connection_hold(task, BLOCKED_BY_HOST, daemon_host(d));
    else if (host != daemon_host(d) && to != 0) {
        if (node_queued(d->node, host) > most)
            connection_hold(task, BLOCKED_BY_HOST, host);
        else if (task->way.asked != NULL && task->way.asked[host] >= CONNECTION_ASKED_MAX)
            connection_hold(task, BLOCKED_BY_ANSWERS, host);
    } else if (receiver != NULL && connection_queued(receiver) > most) {
        connection_hold(task, BLOCKED_BY_TASK, to);
    } else if (receiver != NULL && nfds > 0 && frame->kind == FRAME_LINK_ACCEPT &&
               connection_fds_full(receiver)) {
        connection_hold(task, BLOCKED_BY_FDS, to);
    }
}

bool post_from_task(struct task *task, const struct frame *frame, const uint8_t *payload,
                    const int *fds, int nfds)
{
    struct daemon *d = task->daemon;
    const char *refused = task_frame_refused(task, frame, payload, nfds);
    if (refused != NULL) {
        d->counters.frames_refused++;
        log_refused(&d->log, loop_now_us(), "%s of t%x to t%x refused: %s",
                    frame_kind_name(frame->kind), frame->source, frame->destination, refused);
        return false;
    }
    if (frame->kind != FRAME_LINK_OPEN || introduction_depart(task, frame, payload, nfds))
        post_any(d, frame, payload, fds, nfds);
    task_hold_back(task, frame, nfds);
    return true;
}

#define DETOUR_QUEUE_MAX ((size_t)16 * CREDIT_INITIAL_BYTES)

/* The way back is full of answers: what is asked beyond them is not done. Who sent an ASK asks
 * again. */
static bool asks_too_much(const struct daemon *d, uint32_t host, const struct frame *frame)
{
    return (is_request(d, frame) || frame->kind == FRAME_ASK) &&
           node_queued(d->node, host) > CONNECTION_QUEUE_MAX;
}

void post_from_host(struct daemon *d, uint32_t host, const struct frame *frame,
                    const uint8_t *payload)
{
    const char *refused = party_refused(frame);
    if (tid_host(frame->source) != host)
        refused = "its source is of another host";
    else if (tid_host(frame->destination) != daemon_host(d))
        refused = "its destination is of another host";
    d->counters.frames_from_hosts++;
    if (refused == NULL) {
        struct task *to = task_find(d->tasks, frame->destination);
        /* the queue of a task that reads nothing for long is not for what is sent again and again:
         * that may be lost, as on the segment */
        if (to != NULL && frame->kind == FRAME_DETOUR && connection_queued(to) > DETOUR_QUEUE_MAX)
            return;
        if (to != NULL) {
            bool last = frame->kind == FRAME_REPLY && (frame->flags & FRAME_LAST) != 0;
            if (last && to->way.asked != NULL && to->way.asked[host] > 0)
                to->way.asked[host]--;
        }
        if (asks_too_much(d, host, frame))
            answer_error(d, frame, payload, COVEY_ERESOURCE, "too many answers wait for that host");
        else if (to == NULL || tid_local(frame->source) == 0 || backlog_admit(to, frame))
            post_any(d, frame, payload, NULL, 0);
        else
            d->counters.frames_undeliverable++;
        return;
    }
    d->counters.frames_refused++;
    log_refused(&d->log, loop_now_us(), "%s of t%x from host %u refused: %s",
                frame_kind_name(frame->kind), frame->source, host, refused);
}
