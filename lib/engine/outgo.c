/*
 * outgo.c - sends under way. Each peer has a queue; its first send is cut into data frames that go
 * out as its carrier (a link, or the stream to the daemon) takes them and the peer's credit lasts.
 * The route is chosen when a send starts and kept until it is out.
 */
#include "lib/engine/outgo.h"
#include "lib/engine/bulk.h"
#include "lib/engine/conn.h"
#include "lib/engine/offer.h"
#include "lib/engine/order.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/engine/route.h"
#include "lib/link/stream.h"
#include "lib/member/home.h"
#include "lib/member/trace.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/error.h"
#include "lib/msg/message.h"
#include "proto/wire/list.h"

#include <assert.h>
#include <stdlib.h>

#define FRAME_LEAST_BYTES 4096u /* waits for more credit rather than send smaller pieces */

/* Of a schedule: hand-overs go between them. */
#define FRAME_PACED_BYTES 8192u

/* What a message counts as traffic besides its bytes: a talk of small messages is worth a stream,
 * too, since each of them would pass two daemons. Some sixteen of them take these as long as to
 * make a stream. */
#define TRAFFIC_MESSAGE_BYTES 16384u

static void sending_add(struct covey *vm, struct peer *peer)
{
    if (peer->out.sending)
        return;
    peer->out.sending = true;
    peer->out.sending_prev = NULL;
    peer->out.sending_next = vm->out.sending;
    if (vm->out.sending != NULL)
        vm->out.sending->out.sending_prev = peer;
    vm->out.sending = peer;
}

static void sending_remove(struct covey *vm, struct peer *peer)
{
    if (!peer->out.sending)
        return;
    peer->out.sending = false;
    *(peer->out.sending_prev != NULL ? &peer->out.sending_prev->out.sending_next
                                     : &vm->out.sending) = peer->out.sending_next;
    if (peer->out.sending_next != NULL)
        peer->out.sending_next->out.sending_prev = peer->out.sending_prev;
}

static void dequeue(struct covey *vm, struct peer *peer, struct covey_req *req)
{
    assert(req->queued && req->peer == peer);
    UNLINK_BOTH(peer->out.sends, peer->out.sends_last, req, next, prev);
    req->queued = false;
    if (req->send.announced)
        order_announced(req);
    bulk_settle(vm, peer);
    if (peer->out.sends == NULL && !peer->in.grant_due && peer->out.syncs == NULL)
        sending_remove(vm, peer);
}

void outgo_count(struct covey *vm, struct peer *peer, uint64_t size)
{
    task_count_sent(vm->self.page, peer->tid, size);
    peer->out.traffic_bytes += size + TRAFFIC_MESSAGE_BYTES;
}

void outgo_queue(struct covey *vm, struct peer *peer, struct covey_req *req)
{
    assert(!req->queued && !req->done);
    req->peer = peer;
    if (req->call == NULL)
        req->begun = trace_begin(vm);
    req->queued = true;
    LINK_AFTER(peer->out.sends_last, peer->out.sends, peer->out.sends_last, req, next, prev);
    outgo_count(vm, peer, req->send.msg->size);
    sending_add(vm, peer);
    outgo_pump(vm, peer);
}

/* The link for what is no message: that of the send under way, or any; NULL: the daemon. */
static struct conn *any_conn(const struct peer *peer)
{
    struct conn *conn = peer->out.carrier;
    for (int r = 0; conn == NULL && peer->routes != NULL && r < ROUTES; r++)
        conn = peer->routes[r].conn;
    return conn;
}

/* A frame that is no part of a message; the one under way on the link must be out. False: there is
 * no memory for it, and it is due again when the daemon takes more. */
static bool put_control(struct covey *vm, struct peer *peer, struct conn *conn, struct frame *frame,
                        const uint8_t *payload)
{
    if (conn != NULL) {
        conn_put_control(conn, frame->kind, payload, frame->length);
        return true;
    }
    frame->flags |= peer->in.by_ether ? FRAME_ETHER : 0;
    if (home_send_frame(vm, frame, payload, NULL, 0) == COVEY_OK)
        return true;
    vm->home.full = true;
    home_flush(vm);
    return false;
}

/* Where the link has much to send before, a message of the same schedule, a hand-over does not wait
 * until that has left, which may be a phase later: the way by the daemons is longer, but free. */
static bool put_sync(struct covey *vm, struct peer *peer)
{
    uint8_t payload[CONTROL_SYNC_BYTES];
    struct cursor c = cursor_writer(payload, sizeof payload);
    struct frame frame = home_frame(vm, FRAME_SYNC, peer->tid, sizeof payload);
    struct conn *conn = any_conn(peer);
    if (conn != NULL && conn_lags(conn))
        conn = NULL;
    struct sync *sync = peer->out.syncs;
    control_put_sync(&c, &sync->what);
    peer->out.syncs = sync->next; /* as with credit */
    peer->out.syncs_sent++;
    if (conn != NULL)
        conn->out.handed_over = true;
    if (put_control(vm, peer, conn, &frame, payload)) {
        free(sync);
        return true;
    }
    peer->out.syncs_sent--;
    if (peer->out.syncs == NULL)
        peer->out.syncs_last = sync;
    sync->next = peer->out.syncs;
    peer->out.syncs = sync;
    return false;
}

int outgo_sync(struct covey *vm, struct peer *peer, const struct control_sync *what)
{
    if (peer->gone || peer->leaving)
        return COVEY_OK;
    struct sync *sync = malloc(sizeof *sync);
    if (sync == NULL)
        return error_code(COVEY_ENOMEM);
    *sync = (struct sync){.what = *what};
    LINK_LAST(peer->out.syncs, peer->out.syncs_last, sync, next);
    sending_add(vm, peer);
    outgo_pump(vm, peer);
    return COVEY_OK;
}

/* Starts the first send: its route, then its place in the order of messages. */
static bool outgo_start(struct covey *vm, struct peer *peer, struct covey_req *req)
{
    struct conn *conn = NULL;
    if (req->send.started)
        return true;
    int go = route_choose(vm, peer, req, &conn);
    /* An opening that fails at once lets all sends go on: what could move has moved. */
    if (go == 0 || peer->out.sends != req || req->send.started)
        return false;
    if (go < 0) {
        dequeue(vm, peer, req);
        req_finish(req, go, req->text);
        return true;
    }
    if (!bulk_may_send(vm, peer, req))
        return false;
    req->send.started = true;
    req->send.sequence = peer->out.sequence++;
    if (req->send.stamp == 0) /* of a multicast it stands already */
        req->send.stamp = order_stamp(vm, peer);
    bool changes = conn != NULL && conn != peer->out.carrier;
    peer->out.carrier = conn;
    peer->out.carrier_flags = route_flags(vm, peer);
    return !changes || conn_flush(conn); /* credit, which takes any link, may be under way there */
}

/* Bytes of message for the next frame; false: no credit. */
static bool frame_size(const struct peer *peer, const struct covey_req *req, size_t *size)
{
    uint64_t left = req->send.msg->size - req->send.offset;
    uint64_t head = req->send.offset == 0 ? FRAME_MESSAGE_BYTES : 0;
    uint64_t least = left < FRAME_LEAST_BYTES ? left : FRAME_LEAST_BYTES;
    uint64_t credit = peer->out.credit_bytes - peer->out.sent_bytes;
    if (peer->out.credit_bytes < peer->out.sent_bytes || credit < head + least)
        return false;
    uint64_t longest = req_is_paced(req) ? FRAME_PACED_BYTES : FRAME_PAYLOAD_MAX;
    uint64_t most = credit < longest ? credit : longest;
    *size = (size_t)(left < most - head ? left : most - head);
    return true;
}

struct message_header outgo_header(const struct covey_req *req)
{
    return (struct message_header){.sequence = req->send.sequence,
                                   .size = req->send.msg->size,
                                   .tag = req->tag,
                                   .context = req->context,
                                   .stamp = req->send.stamp,
                                   .representation = req->send.msg->representation};
}

/* Whether a data frame may be put into the queue to the daemon. A large one is written from where
 * the message lies, if nothing is left before it: it waits for that, unless others put theirs
 * meanwhile. */
static bool home_takes(struct covey *vm, struct peer *peer, size_t size)
{
    bool direct = size >= STREAM_LARGE_BYTES;
    if (direct && stream_queued(vm->home.daemon) > 0)
        home_flush(vm);
    uint64_t put = stream_put_bytes(vm->home.daemon);
    bool waits = direct && stream_queued(vm->home.daemon) > 0 &&
                 (peer->out.home_put == 0 || peer->out.home_put == put);
    waits = waits || stream_queued(vm->home.daemon) >= DAEMON_QUEUE_BYTES;
    peer->out.home_put = waits ? put : 0;
    vm->home.full = vm->home.full || waits; /* until room is told */
    return !waits && vm->home.lost == 0;
}

/* One data frame into the queue to the daemon. */
static bool put_home(struct covey *vm, struct peer *peer, struct covey_req *req, size_t size)
{
    uint8_t head[FRAME_MESSAGE_BYTES], copy[FRAME_PAYLOAD_MAX];
    struct iovec pieces[STREAM_PIECES_MAX] = {{head, 0}};
    if (!home_takes(vm, peer, size))
        return false;
    struct frame frame = {.kind = FRAME_DATA,
                          .flags = peer->out.carrier_flags,
                          .source = vm->self.tid,
                          .destination = peer->tid};
    if (req->send.offset == 0) {
        struct message_header header = outgo_header(req);
        message_header_encode(&header, head);
        frame.flags |= FRAME_FIRST;
        pieces[0].iov_len = sizeof head;
    }
    int count = 1 + message_gather(req->send.msg, req->send.offset, size, pieces + 1,
                                   STREAM_PIECES_MAX - 1);
    for (int i = 0; i < count; i++)
        frame.length += (uint32_t)pieces[i].iov_len;
    if (frame.length < pieces[0].iov_len + size) { /* it lies in more pieces */
        message_copy(req->send.msg, req->send.offset, copy, size);
        pieces[1] = (struct iovec){copy, size};
        count = 2;
        frame.length = (uint32_t)(pieces[0].iov_len + size);
    }
    if (req->send.offset + size == req->send.msg->size)
        frame.flags |= FRAME_LAST;
    if (stream_put_pieces(vm->home.daemon, &frame, pieces, count) != 0)
        return false;
    order_note_home(vm, peer);
    bulk_sent(vm, peer, req, size);
    peer->out.sent_bytes += frame.length;
    assert(peer->out.sent_bytes <= peer->out.credit_bytes);
    req->send.offset += size;
    return true;
}

/* For a trace: by what the send is held back, enum trace_held; 0: by nothing any more. */
static void outgo_record(struct covey *vm, struct covey_req *req, int by)
{
    if (by == 0 && req->send.held_at != 0)
        trace_put(vm->trace, &(struct trace_what){.kind = TRACE_HELD,
                                                  .begun = req->send.held_at,
                                                  .bytes = req->send.msg->size,
                                                  .sequence = (uint64_t)req->send.held_by,
                                                  .peer = req->peer->tid,
                                                  .tag = req->tag});
    if (by == 0)
        req->send.held_at = 0;
    else if (req->send.held_at == 0)
        req->send.held_at = trace_now(vm->trace);
    req->send.held_by = by;
}

/* Moves the peer's first send on by a frame; false: nothing can move now. */
static bool step(struct covey *vm, struct peer *peer)
{
    size_t size;
    if (peer->out.syncs != NULL)
        return put_sync(vm, peer);
    if (peer->in.grant_due) {
        uint8_t payload[16];
        struct cursor c = cursor_writer(payload, sizeof payload);
        struct conn *conn = any_conn(peer);
        if (conn != NULL && !conn_flush(conn))
            return false;
        cursor_put_u64(&c, peer->in.granted_bytes);
        if (peer->bulk.turn_granted > 0)
            cursor_put_u64(&c, peer->bulk.turn_granted);
        struct frame frame = home_frame(vm, FRAME_CREDIT, peer->tid, (size_t)(c.at - payload));
        peer->in.grant_due = false; /* a link that fails on the way looks at what is due */
        peer->in.grant_due = !put_control(vm, peer, any_conn(peer), &frame, payload);
        return !peer->in.grant_due;
    }
    if (peer->out.carrier != NULL && !conn_flush(peer->out.carrier))
        return false;
    struct covey_req *req = peer->out.sends; /* the flush may have completed one */
    if (req != NULL && req->send.caster != NULL)
        return req->send.cast_ops->step(vm, req->send.caster);
    if (req == NULL || !outgo_start(vm, peer, req))
        return false;
    if (peer->out.sends != req)
        return true; /* refused by its route */
    if (peer->out.carrier != NULL && peer->out.carrier->offer.req != NULL)
        return false;
    bool credit = frame_size(peer, req, &size);
    bool goes = credit && bulk_in_turn(vm, peer, req, &size) && bulk_may_send(vm, peer, req);
    task_page_hold(vm->self.page, peer->tid,
                   goes     ? 0
                   : credit ? TRACE_HELD_TURN
                            : TRACE_HELD_CREDIT);
    if (vm->trace != NULL)
        outgo_record(vm, req, goes ? 0 : credit ? TRACE_HELD_TURN : TRACE_HELD_CREDIT);
    if (!goes)
        return false;
    if (peer->out.carrier != NULL && offer_put(peer->out.carrier, req)) {
        peer->out.sent_bytes += OFFER_HEAD_BYTES;
        return true;
    }
    if (peer->out.carrier != NULL) {
        bulk_sent(vm, peer, req, size);
        peer->out.sent_bytes += size + (req->send.offset == 0 ? FRAME_MESSAGE_BYTES : 0);
        assert(peer->out.sent_bytes <= peer->out.credit_bytes);
        conn_put_data(peer->out.carrier, req, size);
        return true;
    }
    if (!put_home(vm, peer, req, size))
        return false;
    if (req->send.offset == req->send.msg->size) {
        dequeue(vm, peer, req);
        req_finish(req, COVEY_OK, NULL);
    }
    return true;
}

void outgo_pump(struct covey *vm, struct peer *peer)
{
    if (peer->gone || peer->leaving || peer->broken_at_us != 0 || vm->home.lost != 0)
        return;
    while (step(vm, peer))
        ;
    if (peer->out.carrier != NULL)
        conn_push(peer->out.carrier);
    if (stream_queued(vm->home.daemon) > 0)
        home_flush(vm);
    if (peer->in.grant_due || peer->out.syncs != NULL)
        sending_add(vm, peer);
    else if (peer->out.sends == NULL)
        sending_remove(vm, peer);
}

/* What waits for the stream of the daemon, among others. */
void outgo_pump_all(struct covey *vm)
{
    for (struct peer *peer = vm->out.sending, *next; peer != NULL; peer = next) {
        next = peer->out.sending_next;
        outgo_pump(vm, peer);
    }
}

void outgo_sent(struct covey *vm, struct covey_req *req)
{
    dequeue(vm, req->peer, req);
    req_finish(req, COVEY_OK, NULL);
}

void outgo_drop_syncs(struct peer *peer)
{
    while (peer->out.syncs != NULL) {
        struct sync *sync = peer->out.syncs;
        peer->out.syncs = sync->next;
        free(sync);
    }
}

void outgo_fail(struct covey *vm, struct peer *peer, int error, const char *why)
{
    for (struct conn *conn = vm->links.conns; conn != NULL; conn = conn->next) {
        if (conn->peer == peer)
            conn_abandon(conn);
    }
    peer->out.carrier = NULL;
    peer->in.grant_due = false;
    outgo_drop_syncs(peer);
    while (peer->out.sends != NULL) {
        struct covey_req *req = peer->out.sends;
        dequeue(vm, peer, req);
        if (req->send.caster != NULL)
            req->send.cast_ops->leave(vm, req);
        req_finish(req, error, why);
    }
    bulk_drop(vm, peer);
    sending_remove(vm, peer);
}

bool outgo_cancel(struct covey *vm, struct covey_req *req)
{
    if (!req->queued || req->send.started)
        return false;
    dequeue(vm, req->peer, req);
    if (req->send.caster != NULL)
        req->send.cast_ops->leave(vm, req);
    req_finish(req, COVEY_ECANCELED, covey_strerror(COVEY_ECANCELED));
    return true;
}

void outgo_on_credit(struct covey *vm, struct peer *peer, struct cursor *payload)
{
    uint64_t limit = cursor_get_u64(payload), turn = 0;
    if (cursor_left(payload) >= sizeof turn)
        turn = cursor_get_u64(payload);
    bool more = limit > peer->out.credit_bytes || turn > peer->bulk.turn_before;
    if (!cursor_ok(payload) || !more)
        return; /* an older grant that took the slower way */
    if (limit > peer->out.credit_bytes)
        peer->out.credit_bytes = limit;
    if (turn > peer->bulk.turn_before)
        peer->bulk.turn_before = turn;
    outgo_pump(vm, peer);
    wait_changed(vm); /* a cast in total order waits for credit alone */
}

void outgo_on_credit_frame(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct peer *peer = peer_find(vm, frame->source);
    struct cursor c = cursor_reader(payload, frame->length);
    if (peer != NULL)
        outgo_on_credit(vm, peer, &c);
}
