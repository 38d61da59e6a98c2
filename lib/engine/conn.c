/*
 * conn.c - a link in use: frames are written to it and read from it in whatever pieces it takes and
 * gives. The body of a message is read straight to where it belongs; frames that came before their
 * turn, and credit, are read whole first.
 */
#include "lib/engine/conn.h"
#include "lib/engine/brief.h"
#include "lib/engine/loss.h"
#include "lib/engine/offer.h"
#include "lib/engine/order.h"
#include "lib/engine/outgo.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/engine/rest.h"
#include "lib/engine/route.h"
#include "lib/link/barrier.h"
#include "lib/member/home.h"
#include "lib/member/part.h"
#include "lib/member/spread.h"
#include "lib/member/vm.h"
#include "lib/msg/clock.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define GATHER_MAX 8
#define UNASKED_BYTES ((size_t)128 * 1024)
#define ROW_BYTES 256  /* frames up to that are short; longer ones gain nothing in one packet */
#define ROW_SENDS 8    /* of them, until the next ones are held for more */
#define LAG_BYTES 4096 /* behind more of them something comes late */

static void conn_watch(struct conn *conn)
{
    bool write_wanted;
    if (conn->link->ops->fd(conn->link, &write_wanted) >= 0)
        watch_change(conn->vm, &conn->watch,
                     (conn->rest_until_us == 0 ? EPOLLIN : 0) | (write_wanted ? EPOLLOUT : 0));
}

void conn_settle(struct conn *conn)
{
    int ready = conn->link->ops->ready(conn->link);
    if (ready < 0)
        conn_close(conn->vm, conn, true);
    else if (ready > 0)
        conn_ready_now(conn);
    else
        conn_watch(conn);
}

static bool conn_rest_now(struct conn *conn)
{
    bool may =
        routes[conn->route].stream && !conn->closed && conn->rest_until_us == 0 && !conn->in.paused;
    return may && conn_rest(conn, arrival_rest_us(&conn->inlet));
}

static void conn_on_ready(struct covey *vm, struct watch *watch, uint32_t events)
{
    struct conn *conn = (struct conn *)watch;
    if (conn->closed)
        return;
    if (!conn->ready) {
        conn_settle(conn);
        return;
    }
    if ((events & ~(uint32_t)EPOLLOUT) != 0)
        conn_read(vm, conn);
    if (conn_rest_now(conn))
        conn_watch(conn);
    if (conn->out.leaving != NULL && !conn->closed && link_tcp_left(conn->link)) {
        conn->out.leaving->owner->on_mark(conn->out.leaving);
        conn->out.leaving = NULL;
    }
    if (!conn->closed && conn->peer != NULL) {
        conn_flush(conn);
        outgo_pump(vm, conn->peer);
    }
}

struct conn *conn_create(struct covey *vm, struct link *link, struct peer *peer, int route)
{
    struct conn *conn = calloc(1, sizeof *conn);
    if (conn == NULL)
        return NULL;
    bool write_wanted;
    int fd = link->ops->fd(link, &write_wanted);
    conn->watch = (struct watch){
        .ready = conn_on_ready, .fd = fd, .events = EPOLLIN | (write_wanted ? EPOLLOUT : 0)};
    if (fd >= 0 && watch_add(vm, &conn->watch) != COVEY_OK) {
        free(conn);
        return NULL;
    }
    conn->vm = vm;
    conn->link = link;
    conn->peer = peer;
    conn->route = route;
    conn->ops = vm->links.ops[route];
    conn->next = vm->links.conns;
    vm->links.conns = conn;
    vm->links.looked_count += fd < 0;
    spread_beside((int)vm->links.looked_count + 1);
    vm->links.stepped_count += link->ops->step != NULL;
    return conn;
}

void conn_ready_now(struct conn *conn)
{
    struct peer *peer = conn->peer;
    conn->ready = true;
    conn->ordered = peer != NULL && tid_host(peer->tid) == conn->vm->self.host;
    conn_watch(conn);
    if (peer == NULL || peer->routes == NULL)
        return;
    struct route_state *state = &peer->routes[conn->route];
    if (state->conn == NULL)
        state->conn = conn;
    if (state->pending == conn || state->pending == NULL) {
        state->pending = NULL; /* both ends may open at once: an own opening goes on */
        state->opening = OPENING_NONE;
        state->broken = state->failed = 0;
    }
    conn_read(conn->vm, conn);
    if (!conn->closed)
        outgo_pump(conn->vm, peer);
}

/* ---- writing --------------------------------------------------------------------------------- */

static size_t conn_vector(const struct conn *conn, struct iovec *iov)
{
    int count = 0;
    if (conn->out.head_sent < conn->out.head_size) {
        union {
            const uint8_t *from;
            void *base;
        } u = {.from = conn->out.head + conn->out.head_sent};
        iov[count++] = (struct iovec){u.base, conn->out.head_size - conn->out.head_sent};
    }
    if (conn->out.body_left > 0)
        count += message_gather(conn->out.req->send.msg, conn->out.req->send.offset,
                                conn->out.body_left, iov + count, GATHER_MAX - count);
    return (size_t)count;
}

static void conn_wrote(struct conn *conn, size_t size)
{
    conn->vm->links.written_bytes += size;
    conn->vm->links.leaving_bytes += routes[conn->route].stream ? size : 0;
    size_t head = conn->out.head_size - conn->out.head_sent;
    if (head > size)
        head = size;
    conn->out.head_sent += head;
    size -= head;
    assert(size <= conn->out.body_left);
    conn->out.body_left -= size;
    if (size > 0)
        conn->out.req->send.offset += size;
}

bool conn_flush(struct conn *conn)
{
    struct iovec iov[GATHER_MAX];
    if (conn->closed || conn->out.mute)
        return false;
    if (conn->out.body_left > 0 && conn->out.req == NULL)
        return false; /* the send failed in the middle of a frame: nothing may follow */
    while (conn->out.head_sent < conn->out.head_size || conn->out.body_left > 0) {
        size_t count = conn_vector(conn, iov);
        ssize_t n = conn->link->ops->send(conn->link, iov, (int)count);
        if (n < 0) {
            /* It takes no more bytes. Where its other end was closed, what that had sent before is
             * still read, whole messages perhaps, and reading them comes to the end by itself. */
            conn->out.mute = true;
            if (n != LINK_CLOSED)
                conn_close(conn->vm, conn, true);
            return false;
        }
        if (n == 0) {
            conn_watch(conn);
            return false;
        }
        conn_wrote(conn, (size_t)n);
    }
    conn_watch(conn);
    struct covey_req *req = conn->out.req;
    conn->out.req = NULL;
    if (req != NULL && req->send.offset == req->send.msg->size)
        outgo_sent(conn->vm, req);
    return true;
}

bool conn_left(struct conn *conn, struct covey_req *req)
{
    if (!routes[conn->route].stream || conn->closed || link_tcp_left(conn->link))
        return true;
    if (conn->out.leaving != NULL) /* of another exchange; what follows it has waited long enough */
        conn->out.leaving->owner->on_mark(conn->out.leaving);
    conn->out.leaving = req;
    conn_watch(conn);
    return false;
}

void conn_left_no_more(struct covey *vm, const struct covey_req *req)
{
    for (struct conn *conn = vm->links.conns; conn != NULL; conn = conn->next) {
        if (conn->out.leaving == req)
            conn->out.leaving = NULL;
    }
}

bool conn_lags(const struct conn *conn)
{
    return conn->closed || conn->out.head_sent < conn->out.head_size || conn->out.body_left > 0 ||
           (routes[conn->route].stream && link_tcp_unsent(conn->link) > LAG_BYTES);
}

static void conn_put_head(struct conn *conn, const struct frame *frame)
{
    assert(conn->out.head_sent == conn->out.head_size && conn->out.body_left == 0);
    frame_encode(frame, conn->out.head);
    conn->out.head_size = FRAME_HEADER_BYTES;
    conn->out.head_sent = 0;
}

static void set_held(struct conn *conn, bool held)
{
    assert(conn->vm->links.held_count >= conn->out.held);
    conn->vm->links.held_count += (unsigned)held - conn->out.held;
    conn->out.held = held;
}

/* Whether a message, the frame of which is all of it, is one of many short ones to another host. On
 * one host it must lie where its receiver finds it before the next is sent to anybody (order.c). */
static bool is_in_a_row(struct conn *conn)
{
    uint64_t polls = conn->vm->wait.polls;
    bool may = routes[conn->route].stream && !conn->ordered;
    if (!may || conn->out.head_size + conn->out.body_left > ROW_BYTES ||
        conn->out.row_polls != polls)
        conn->out.row = 0;
    conn->out.row_polls = polls;
    return may && ++conn->out.row > ROW_SENDS;
}

void conn_put_control(struct conn *conn, uint8_t kind, const uint8_t *payload, size_t size)
{
    struct frame frame = {.length = (uint32_t)size,
                          .kind = kind,
                          .flags = kind == FRAME_OFFER ? FRAME_FIRST : 0,
                          .source = conn->vm->self.tid,
                          .destination = conn->peer->tid};
    assert(size <= OFFER_BYTES_MAX);
    conn_put_head(conn, &frame);
    set_held(conn, false);
    conn->link->more = false;
    memcpy(conn->out.head + FRAME_HEADER_BYTES, payload, size);
    conn->out.head_size += size;
    conn_flush(conn);
}

/* The header of a data frame, of its message too where it is the first. */
static void conn_put_data_head(struct conn *conn, const struct covey_req *req, size_t size)
{
    struct frame frame = {.length = (uint32_t)size,
                          .kind = FRAME_DATA,
                          .source = conn->vm->self.tid,
                          .destination = conn->peer->tid};
    bool first = req->send.offset == 0;
    if (first) {
        frame.flags |= FRAME_FIRST;
        frame.length += FRAME_MESSAGE_BYTES;
    }
    if (req->send.offset + size == req->send.msg->size)
        frame.flags |= FRAME_LAST;
    conn_put_head(conn, &frame);
    if (!first)
        return;
    struct message_header header = outgo_header(req);
    message_header_encode(&header, conn->out.head + FRAME_HEADER_BYTES);
    conn->out.head_size += FRAME_MESSAGE_BYTES;
}

void conn_put_data(struct conn *conn, struct covey_req *req, size_t size)
{
    bool first = req->send.offset == 0;
    assert(conn->out.head_sent == conn->out.head_size && conn->out.body_left == 0);
    assert(conn->out.req == NULL && size <= req->send.msg->size - req->send.offset);
    if (first && req_is_paced(req) && routes[conn->route].stream)
        link_tcp_pace(conn->link, req->owner->rate(req));
    if (first)
        loss_note(conn, req->send.sequence);
    size_t brief = first && size == req->send.msg->size ? brief_put(conn, req) : 0;
    if (brief > 0) {
        conn->out.head_size = brief;
        conn->out.head_sent = 0;
        req->send.offset = ITEM_HEADER_BYTES;
        size -= ITEM_HEADER_BYTES;
    } else {
        conn_put_data_head(conn, req, size);
    }
    conn->out.body_left = size;
    conn->out.req = req;
    bool rest = req->send.offset + size < req->send.msg->size;
    set_held(conn, first && !rest && is_in_a_row(conn));
    conn->link->more = rest || conn->out.held;
    conn_flush(conn);
}

void conn_abandon(struct conn *conn)
{
    conn->out.req = NULL;
    offer_end(conn);
    if (conn->link->ops->keep != NULL)
        conn->link->ops->keep(conn->link);
}

void conn_push(struct conn *conn)
{
    bool full = conn->out.head_sent < conn->out.head_size || conn->out.body_left > 0;
    if (full || conn->closed || conn->out.held || !conn->link->more)
        return;
    conn->link->more = false;
    conn->link->ops->send(conn->link, NULL, 0); /* an error comes again */
}

void conn_push_held(struct covey *vm)
{
    struct conn *conn = vm->links.held_count == 0 ? NULL : vm->links.conns;
    for (; conn != NULL; conn = conn->next) {
        if (conn->out.held) {
            set_held(conn, false);
            conn_push(conn);
        }
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads up to *size bytes to `to`; 0 or the number read; on an end the connection is closed. */
static size_t conn_take(struct conn *conn, void *to, size_t size)
{
    ssize_t n = conn->link->ops->recv(conn->link, to, size);
    if (n >= 0)
        return (size_t)n;
    bool in_frame = conn->in.head_used > 0 || conn->inlet.current != NULL;
    conn_close(conn->vm, conn, n == LINK_BROKEN || in_frame || conn->out.mute);
    return 0;
}

static void conn_protocol_error(struct conn *conn, const char *why)
{
    conn->link->error = why;
    conn_close(conn->vm, conn, true);
}

/* Fills bytes[*used..size); true when it is full. */
static bool conn_fill(struct conn *conn, uint8_t *bytes, size_t size, size_t *used)
{
    while (*used < size) {
        size_t n = conn_take(conn, bytes + *used, size - *used);
        if (n == 0)
            return false;
        *used += n;
    }
    return true;
}

/* A frame that belongs on a direct link; the refusal or NULL. */
static const char *take_head(struct conn *conn)
{
    struct frame *frame = &conn->in.frame;
    bool may = routes[conn->route].stream || routes[conn->route].ring;
    if (may && conn->peer != NULL && brief_is(conn->in.head))
        return brief_take(conn);
    const char *refused = frame_decode(conn->in.head, frame);
    if (refused == NULL && frame->kind != FRAME_DATA && frame->kind != FRAME_CREDIT &&
        frame->kind != FRAME_SYNC && !(frame->kind == FRAME_OFFER && routes[conn->route].ring))
        refused = "a frame that does not belong on a direct link";
    if (refused == NULL && (conn->peer == NULL || frame->source != conn->peer->tid))
        refused = "a frame of another task";
    bool first = refused == NULL && frame->kind == FRAME_DATA && (frame->flags & FRAME_FIRST) != 0;
    conn->in.preface_size = first ? arrival_preface_bytes(frame) : 0;
    conn->in.preface_used = 0;
    if (refused == NULL && frame->kind == FRAME_OFFER) {
        conn->in.preface_size = frame->length;
        if (frame->length < OFFER_HEAD_BYTES || frame->length > OFFER_BYTES_MAX)
            refused = "an offer of a wrong size";
    }
    return refused;
}

static bool read_head(struct conn *conn)
{
    if (!conn_fill(conn, conn->in.head, FRAME_HEADER_BYTES, &conn->in.head_used) ||
        !conn_fill(conn, conn->in.head, brief_head_bytes(conn), &conn->in.head_used))
        return false;
    const char *refused = take_head(conn);
    if (refused != NULL) {
        conn_protocol_error(conn, refused);
        return false;
    }
    conn->in.taken = true;
    conn->in.routed = false;
    return true;
}

static bool is_of_message(const struct frame *frame)
{
    return frame->kind == FRAME_DATA || frame->kind == FRAME_OFFER;
}

/* Head and preface are here: to its message, or held. */
static bool route_frame(struct conn *conn)
{
    struct frame *frame = &conn->in.frame;
    size_t preface = conn->in.preface_size;
    assert(preface <= frame->length && conn->in.preface_used == preface && conn->in.held == NULL);
    conn->in.routed = true;
    conn->in.body_left = frame->length - preface;
    if (!is_of_message(frame) ||
        arrival_must_hold(conn->peer, &conn->inlet, frame, conn->in.preface)) {
        conn->in.held = malloc(sizeof *conn->in.held + frame->length);
        if (conn->in.held == NULL) {
            conn_protocol_error(conn, "out of memory");
            return false;
        }
        conn->in.held->frame = *frame;
        memcpy(conn->in.held->payload, conn->in.preface, preface);
        conn->in.held_used = preface;
        return true;
    }
    const char *refused = NULL;
    if (frame->kind == FRAME_OFFER)
        refused = arrival_offer(conn->vm, conn->peer, &conn->inlet, conn->in.preface, preface);
    else if (preface > 0)
        refused = arrival_begin(conn->vm, conn->peer, &conn->inlet, conn->in.preface, preface);
    else if (conn->inlet.current == NULL)
        refused = "data that belong to no message";
    else
        refused = offer_resumed(conn);
    if (preface > 0 && routes[conn->route].stream && arrival_is_exchanged(&conn->inlet))
        link_tcp_expect_bulk(conn->link);
    if (refused != NULL)
        conn_protocol_error(conn, refused);
    else if (preface > 0 && conn->peek != NULL)
        offer_begun(conn);
    return refused == NULL;
}

static void held_done(struct conn *conn)
{
    struct held *held = conn->in.held;
    conn->in.held = NULL;
    if (is_of_message(&held->frame) && conn->inlet.waiting) {
        arrival_hold(&conn->inlet, held);
        return;
    }
    if (is_of_message(&held->frame)) { /* its turn came while it was being read */
        arrival_on_frame(conn->vm, conn->peer, &conn->inlet, &held->frame, held->payload);
        free(held);
        return;
    }
    if (held->frame.kind == FRAME_SYNC) {
        parts_handler(conn->vm, FRAME_SYNC)->on_frame(conn->vm, &held->frame, held->payload);
        free(held);
        return;
    }
    struct cursor c = cursor_reader(held->payload, held->frame.length);
    outgo_on_credit(conn->vm, conn->peer, &c);
    free(held);
}

/* Whether what comes next goes to memory of its own, not yet touched, for no receive has taken the
 * message yet. */
static bool is_unasked(const struct conn *conn)
{
    const struct arrival *a = conn->inlet.current;
    return a != NULL && a->bound == NULL && !a->lost;
}

/* *unasked: so much may yet be read of messages that no receive has taken. */
static bool read_body(struct conn *conn, size_t *unasked)
{
    if (conn->in.held != NULL) {
        if (!conn_fill(conn, conn->in.held->payload, conn->in.frame.length, &conn->in.held_used))
            return false;
        held_done(conn);
        return !conn->closed;
    }
    while (conn->in.body_left > 0) {
        bool counts = is_unasked(conn);
        size_t size = conn->in.body_left;
        if (counts && size > *unasked)
            size = *unasked;
        if (size == 0)
            return false;
        uint8_t *to = arrival_target(&conn->inlet, &size);
        if (to == NULL) {
            conn_protocol_error(conn, "more data than the message announced");
            return false;
        }
        size_t n = conn_take(conn, to, size);
        if (n == 0)
            return false;
        conn->in.body_left -= n;
        *unasked -= counts ? n : 0;
        arrival_received(conn->vm, conn->peer, &conn->inlet, n);
    }
    return true;
}

/* A large message that the task waited for is here, or all that it waits for: it goes on before
 * more is read, for what comes to a posted receive is copied once, and what comes before it twice,
 * into memory not yet touched; and short messages that wait in the ring are taken from there
 * (plain.c). Not where the program waits for the descriptor that tells of messages. The link of a
 * task that ended is closed after this look; and what the daemon has next may begin only when all
 * that was sent before it has (order.c). */
static bool task_may_go_on(const struct conn *conn, uint64_t awaited_taken)
{
    const struct covey *vm = conn->vm;
    return vm->wait.poller == POLLER_TASK && vm->inbox.awaited_taken != awaited_taken &&
           !conn->peer->leaving && vm->order.home_limit == 0 && !vm->inbox.ready_on;
}

/* Rings do not count: they are looked at whenever anything is. */
static void set_paused(struct conn *conn, bool paused)
{
    unsigned *count = &conn->vm->links.paused_count;
    bool counts = conn->watch.fd >= 0 && !conn->closed;
    assert(!counts || *count >= conn->in.paused);
    *count += counts ? (unsigned)paused - conn->in.paused : 0;
    conn->in.paused = paused;
}

/* Of messages that no receive has taken some is read, until the task, which may be about to receive
 * them, has had another look at what it waits for. All is read of a task that ended, for this is
 * the last look, and of what was sent before that which the daemon has next. */
void conn_read(struct covey *vm, struct conn *conn)
{
    bool leaving = conn->peer != NULL && conn->peer->leaving;
    size_t unasked = leaving || vm->order.home_limit != 0 ? SIZE_MAX : UNASKED_BYTES;
    uint64_t awaited_taken = vm->inbox.awaited_taken;
    bool goes_on = false;
    while (!conn->closed && !(goes_on = task_may_go_on(conn, awaited_taken))) {
        if (!conn->in.taken && !read_head(conn))
            break;
        if (!conn->in.routed) {
            if (!conn_fill(conn, conn->in.preface, conn->in.preface_size, &conn->in.preface_used))
                break;
            if (!order_admits(vm, conn) || !route_frame(conn))
                break;
        }
        if (!read_body(conn, &unasked))
            break;
        conn->in.head_used = 0;
        conn->in.taken = false;
        if (conn->timed.since_ns != 0)
            offer_arrived(conn);
        arrival_release(vm, conn->peer);
    }
    set_paused(conn, goes_on || unasked == 0);
}

bool conn_read_paused(struct covey *vm)
{
    bool any = false;
    if (vm->links.paused_count == 0)
        return false;
    for (struct conn *conn = vm->links.conns; conn != NULL; conn = conn->next) {
        /* One that rests was read on behalf of another one (order.c), and is when its rest ends. */
        if (conn->in.paused && conn->watch.fd >= 0 && conn->rest_until_us == 0) {
            conn_on_ready(vm, &conn->watch, EPOLLIN);
            any = true;
        }
    }
    return any;
}

bool conn_read_awaited(struct covey *vm)
{
    const struct covey_req *req = vm->inbox.posted;
    uint32_t source = req == NULL ? (uint32_t)COVEY_ANY_TASK : req->receive.source;
    const struct peer *peer = source == (uint32_t)COVEY_ANY_TASK ? NULL : peer_find(vm, source);
    if (peer == NULL || peer->routes == NULL)
        return false;
    struct conn *conn = peer->routes[COVEY_ROUTE_TCP].conn;
    if (conn == NULL || conn->closed || !conn->ready || conn->rest_until_us != 0)
        return false;
    conn_on_ready(vm, &conn->watch, EPOLLIN);
    return true;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static uint64_t moved_bytes(const struct conn *conn)
{
    const struct peer *peer = conn->peer;
    return peer->in.received_bytes + conn->vm->inbox.arrived_bytes + peer->out.credit_bytes +
           conn->vm->links.written_bytes;
}

bool conn_poll_all(struct covey *vm)
{
    bool moved = false;
    if (vm->links.looked_count == 0)
        return false;
    for (struct conn *conn = vm->links.conns; conn != NULL; conn = conn->next) {
        if (conn->watch.fd >= 0 || conn->closed)
            continue;
        if (!conn->ready) {
            conn_settle(conn);
            continue;
        }
        uint64_t before = moved_bytes(conn);
        conn_read(vm, conn);
        offer_poll(conn);
        if (!conn->closed && (conn->out.head_sent < conn->out.head_size || conn->peer->out.sending))
            outgo_pump(vm, conn->peer);
        moved = moved || before != moved_bytes(conn) || conn->closed;
    }
    return moved;
}

uint64_t conn_step_all(struct covey *vm)
{
    uint64_t due_us = UINT64_MAX;
    uint64_t now_us = vm->links.stepped_count == 0 ? 0 : clock_us();
    for (struct conn *conn = vm->links.stepped_count == 0 ? NULL : vm->links.conns; conn != NULL;
         conn = conn->next) {
        if (conn->closed || conn->link->ops->step == NULL)
            continue;
        uint64_t at_us = conn->link->ops->step(conn->link, now_us);
        due_us = at_us < due_us ? at_us : due_us;
    }
    if (vm->home.due)
        home_flush(vm);
    return due_us;
}

void conn_wake_rested(struct covey *vm)
{
    uint64_t now_us = vm->links.resting == NULL ? 0 : clock_us();
    for (struct conn *conn; (conn = conn_rested(vm, now_us)) != NULL;) {
        conn_rest_end(conn);
        conn_read(vm, conn);
        if (!conn->closed && !conn_rest_now(conn))
            conn_watch(conn);
    }
}

bool conn_waiting(const struct covey *vm, size_t least)
{
    for (const struct conn *conn = vm->links.stepped_count == 0 ? NULL : vm->links.conns;
         conn != NULL; conn = conn->next) {
        if (!conn->closed && conn->ops->waiting != NULL && conn->ops->waiting(conn->link) >= least)
            return true;
    }
    return false;
}

/* What opens a link without a descriptor may have come since it was looked at, together with what
 * came for others, and nothing would wake whoever sleeps now. */
static bool is_settled(const struct conn *conn)
{
    return conn->watch.fd < 0 && conn->link->ops->ready(conn->link) != 0;
}

/* A parked message needs no other of its ring. */
static bool is_armed(const struct conn *conn)
{
    return conn->ready && !conn->closed && !conn->order.parked;
}

/* Asks for the doorbell of all links in memory. One barrier does for all; false: it was refused. */
static bool ask_all(struct covey *vm)
{
    bool barrier = false;
    for (struct conn *conn = vm->links.conns; conn != NULL; conn = conn->next) {
        if (is_armed(conn) && routes[conn->route].ring)
            barrier = link_shm_ask(conn->link) || barrier;
    }
    return !barrier || barrier_all();
}

bool conn_arm_all(struct covey *vm)
{
    bool ready = vm->order.due, barrier = ask_all(vm);
    for (struct conn *conn = vm->links.conns; conn != NULL; conn = conn->next) {
        if (!conn->closed && !conn->ready)
            ready = is_settled(conn) || ready;
        else if (is_armed(conn) && routes[conn->route].ring)
            ready = link_shm_look(conn->link, barrier) || ready;
        else if (is_armed(conn))
            ready = conn->link->ops->arm(conn->link) || ready;
        ready = (is_armed(conn) && offer_due(conn)) || ready;
    }
    return ready;
}

void conn_awake(struct covey *vm)
{
    for (struct conn *conn = vm->links.conns; conn != NULL; conn = conn->next) {
        if (!conn->closed && routes[conn->route].ring)
            link_shm_awake(conn->link);
    }
}

static void conn_forget(struct conn *conn)
{
    struct peer *peer = conn->peer;
    if (peer == NULL || peer->routes == NULL)
        return;
    struct route_state *state = &peer->routes[conn->route];
    if (state->conn == conn)
        state->conn = NULL;
    if (state->pending == conn) {
        state->pending = NULL;
        if (!conn->ready)
            route_broke(conn->vm, peer, conn->route, link_error(conn->link));
    }
}

/* A stream may bring what was sent last, and end, before what was sent first has come by the
 * daemons: its messages wait here for their turn. */
static bool outlives(const struct conn *conn)
{
    return routes[conn->route].stream && conn->inlet.waiting && !conn->peer->gone;
}

void conn_close(struct covey *vm, struct conn *conn, bool broken)
{
    if (conn->closed)
        return;
    struct peer *peer = conn->peer;
    set_paused(conn, false);
    set_held(conn, false);
    conn->closed = true;
    conn_rest_end(conn);
    order_forget(conn);
    assert(vm->links.looked_count >= (conn->watch.fd < 0));
    assert(vm->links.stepped_count >= (conn->link->ops->step != NULL));
    vm->links.looked_count -= conn->watch.fd < 0;
    vm->links.stepped_count -= conn->link->ops->step != NULL;
    watch_remove(vm, &conn->watch);
    if (conn->out.leaving != NULL)
        conn->out.leaving->owner->on_mark(conn->out.leaving);
    conn->out.leaving = NULL;
    if (!outlives(conn))
        arrival_drop(vm, &conn->inlet);
    free(conn->in.held);
    conn->in.held = NULL;
    broken = offer_end(conn) || broken;
    if (peer != NULL && peer->out.carrier == conn) {
        peer->out.carrier = NULL;
        broken = broken || conn->out.req != NULL;
    }
    conn_abandon(conn);
    if (peer != NULL && conn->ready && broken && !peer->leaving && !peer->gone)
        peer_link_broke(vm, peer, link_error(conn->link));
    loss_on_close(vm, conn, broken);
    conn_forget(conn);
    if (peer != NULL && peer->leaving)
        wait_check_at(vm, 1); /* settled from the poll loop, not from inside a read */
}

void conn_drop(struct covey *vm, struct conn *conn)
{
    conn_close(vm, conn, false);
    arrival_drop(vm, &conn->inlet);
}

void conn_drop_all(struct covey *vm)
{
    for (struct conn *conn = vm->links.conns; conn != NULL; conn = conn->next)
        conn_drop(vm, conn);
}

void conn_bury(struct covey *vm)
{
    for (struct conn **at = &vm->links.conns; *at != NULL;) {
        struct conn *conn = *at;
        if (!conn->closed || conn->inlet.waiting) {
            at = &conn->next;
            continue;
        }
        *at = conn->next;
        arrival_drop(vm, &conn->inlet); /* of a message that it had only in part */
        conn->link->ops->free(conn->link);
        free(conn);
    }
}
