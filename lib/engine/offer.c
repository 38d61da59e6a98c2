/*
 * offer.c - one copy for a long message between two tasks of one host. Its first frame, OFFER, has
 * the headers and says where the rest lies in the sender's memory, and the receiver reads it from
 * there when a receive has taken the message: into the program's array where that is one of an
 * array. Until then the message waits without memory or credit. peek.h has the word by which both
 * ends agree what becomes of it, so the receiver answers by no frame.
 *
 * Nobody waits for a receiver that is not there: the sender takes back what was not answered in
 * time, without the receiver's help, and sends the rest by the ring; so it does what the receiver
 * could not read. A task that waits itself with sends under way reads what it is offered into
 * memory of its own, as far as it may keep that, so two tasks that send each other both finish at
 * once. Where an offer was taken back, the next ones go by the ring, more of them each time.
 *
 * Which way is the faster one the receiver measures (faster.c), of messages that it waits for.
 *
 * On a link one message is under way in each direction, so one is offered. Hostile ends: what a
 * sender offers is read from no memory but what it named; lengths are those of the message's
 * header; what a receiver says of an offer ends that send at most.
 */
#include "lib/engine/offer.h"
#include "lib/engine/arrival.h"
#include "lib/engine/conn.h"
#include "lib/engine/credit.h"
#include "lib/engine/loss.h"
#include "lib/engine/outgo.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/link/link.h"
#include "lib/link/peek.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"

#include <assert.h>

#define OFFER_BYTES_MIN 16384    /* of a message: what is shorter the ring carries as fast */
#define SLICE_BYTES (256 * 1024) /* read until others are looked at, */
#define SLICE_US 200             /* which takes no longer where the other end runs */
#define TAKEN_US 20              /* in which a receiver that waits begins to read */
#define ANSWER_US 200            /* in which an offer is taken, while this task waits, */
#define ANSWER_COMPUTING_US 5000 /* or computes */
#define SKIP_MAX 15              /* messages that go by the ring after those taken back */

void offer_open(struct conn *conn, struct peek *peek)
{
    conn->peek = peek;
    conn->timed.advice = FASTER_UNKNOWN;
    peek_advise(peek, conn->timed.advice);
    peek_try(peek);
}

/* ---- the sender ------------------------------------------------------------------------------ */

/* What follows the first item's header, if it lies in few pieces. */
static bool offer_describe(const struct covey_msg *msg, struct control_offer *what)
{
    struct iovec iov[OFFER_PIECES_MAX];
    uint64_t left = msg->size - ITEM_HEADER_BYTES;
    if (left > SIZE_MAX)
        return false;
    what->count = message_gather(msg, ITEM_HEADER_BYTES, (size_t)left, iov, OFFER_PIECES_MAX);
    for (int i = 0; i < what->count; i++) {
        what->pieces[i] =
            (struct offer_piece){(uint64_t)(uintptr_t)iov[i].iov_base, iov[i].iov_len};
        left -= iov[i].iov_len;
    }
    return left == 0;
}

static void ask_again_in_time(struct conn *conn)
{
    bool waits = conn->vm->wait.threads > 0;
    uint64_t due_us = conn->offer.since_us + (waits ? ANSWER_US : ANSWER_COMPUTING_US);
    if (conn->offer.due_us != 0 && conn->offer.due_us <= due_us)
        return;
    conn->offer.due_us = due_us;
    wait_check_at(conn->vm, due_us);
}

/* Whether the receiver takes messages of that size faster so. */
static bool is_advised(const struct conn *conn, uint64_t bytes)
{
    return conn->vm->links.peeking == PEEKING_ALWAYS ||
           (peek_advised(conn->peek) >> faster_class(bytes) & 1) == 0;
}

bool offer_put(struct conn *conn, struct covey_req *req)
{
    uint8_t payload[OFFER_BYTES_MAX];
    struct control_offer what;
    if (conn->peek == NULL || req->send.offset != 0 || req->send.msg->size < OFFER_BYTES_MIN ||
        req_is_paced(req) || conn->offer.refused || !peek_may_offer(conn->peek) ||
        !is_advised(conn, req->send.msg->size))
        return false;
    if (conn->offer.skip > 0) {
        conn->offer.skip--;
        return false;
    }
    if (!offer_describe(req->send.msg, &what))
        return false;
    assert(conn->offer.req == NULL);
    what.number = peek_offer(conn->peek);
    struct message_header header = outgo_header(req);
    message_header_encode(&header, payload);
    message_copy(req->send.msg, 0, payload + FRAME_MESSAGE_BYTES, ITEM_HEADER_BYTES);
    struct cursor c = cursor_writer(payload + OFFER_HEAD_BYTES, sizeof payload - OFFER_HEAD_BYTES);
    control_put_offer(&c, &what);
    req->send.offset = ITEM_HEADER_BYTES;
    conn->offer.req = req;
    conn->offer.copied = 0;
    conn->offer.moved_us = 0;
    conn->offer.since_us = clock_us();
    conn->offer.due_us = 0;
    loss_note(conn, req->send.sequence);
    ask_again_in_time(conn);
    conn_put_control(conn, FRAME_OFFER, payload, (size_t)(c.at - payload));
    return true;
}

/* The rest goes by the ring. */
static void go_by_ring(struct conn *conn, uint64_t copied)
{
    conn->offer.req->send.offset = ITEM_HEADER_BYTES + copied;
    conn->offer.req = NULL;
}

static void was_read(struct conn *conn)
{
    struct covey_req *req = conn->offer.req;
    conn->offer.req = NULL;
    conn->offer.doubt = 0;
    conn->vm->wait.doubt = 0; /* that the wait was long does not mean that spinning is of no use */
    req->send.offset = req->send.msg->size;
    outgo_sent(conn->vm, req);
}

/* The other end reads: that moves the link as bytes do that a link takes, so that nobody goes to
 * sleep meanwhile; but it may have been stopped. */
static void see_progress(struct conn *conn, uint64_t copied)
{
    uint64_t now_us = clock_us();
    if (conn->offer.moved_us == 0 || copied > conn->offer.copied)
        conn->offer.moved_us = now_us;
    conn->offer.copied = copied;
    if (now_us - conn->offer.moved_us < SLICE_US)
        conn->vm->links.written_bytes++;
}

static void look_at_own(struct conn *conn)
{
    uint64_t copied, most = conn->offer.req->send.msg->size - ITEM_HEADER_BYTES;
    enum peek_state state = peek_look(conn->peek, &copied);
    if (state == PEEK_NONE || state == PEEK_BACK || copied > most ||
        (state == PEEK_REFUSED && copied == most)) {
        conn->link->error = "the other task damaged the state of a message";
        conn_close(conn->vm, conn, true);
        return;
    }
    if (state == PEEK_OFFERED) {
        ask_again_in_time(conn);
        return;
    }
    see_progress(conn, copied);
    if (state == PEEK_DONE) {
        was_read(conn);
    } else if (state == PEEK_REFUSED) {
        conn->offer.refused = true;
        go_by_ring(conn, copied);
    }
}

void offer_check(struct conn *conn, uint64_t now_us)
{
    if (conn->closed || conn->offer.req == NULL || conn->offer.due_us == 0)
        return;
    if (now_us < conn->offer.due_us) {
        wait_check_at(conn->vm, conn->offer.due_us);
        return;
    }
    conn->offer.due_us = 0;
    if (!peek_take_back(conn->peek))
        return;
    conn->offer.doubt = conn->offer.doubt * 2 + 1;
    if (conn->offer.doubt > SKIP_MAX)
        conn->offer.doubt = SKIP_MAX;
    conn->offer.skip = conn->offer.doubt;
    go_by_ring(conn, 0);
    outgo_pump(conn->vm, conn->peer);
}

bool offer_end(struct conn *conn)
{
    uint64_t copied;
    if (conn->offer.req == NULL)
        return false;
    if (peek_look(conn->peek, &copied) == PEEK_DONE) {
        was_read(conn);
        return false;
    }
    peek_revoke(conn->peek);
    conn->offer.req = NULL;
    return true;
}

/* ---- the receiver ---------------------------------------------------------------------------- */

/* Whether the message here is to be read now: into memory of its own only while the task waits to
 * send, for else it may come to receive it. */
static bool is_wanted(const struct conn *conn)
{
    struct covey *vm = conn->vm;
    const struct arrival *a = conn->inlet.current;
    return a->lost || a->bound != NULL || conn->inlet.offered.taken ||
           (vm->wait.threads > 0 && vm->out.sending != NULL && credit_has_room(vm, a->info.bytes));
}

static void give_up(struct conn *conn, const char *why)
{
    conn->link->error = why;
    conn_close(conn->vm, conn, true);
}

void offer_begun(struct conn *conn)
{
    const struct arrival *a = conn->inlet.current;
    conn->timed.since_ns = 0;
    if (a == NULL || a->bound == NULL || a->info.bytes < OFFER_BYTES_MIN)
        return;
    conn->timed.since_ns = clock_ns();
    conn->timed.bytes = a->info.bytes;
    conn->timed.once = conn->inlet.offered.here;
}

void offer_arrived(struct conn *conn)
{
    if (conn->inlet.current != NULL)
        return;
    int class = faster_class(conn->timed.bytes);
    uint64_t ns = clock_ns() - conn->timed.since_ns;
    bool once = faster_note(&conn->timed.faster, conn->timed.bytes, conn->timed.once, ns);
    uint32_t advice = (conn->timed.advice & ~(1u << class)) | (once ? 0 : 1u << class);
    conn->timed.since_ns = 0;
    if (advice == conn->timed.advice)
        return;
    conn->timed.advice = advice;
    peek_advise(conn->peek, advice);
}

/* Reads on; the message is complete with its last slice. */
static void read_slice(struct conn *conn)
{
    struct inlet *inlet = &conn->inlet;
    struct offered *offered = &inlet->offered;
    size_t size = SIZE_MAX;
    uint64_t left = inlet->current->info.bytes - inlet->current->received;
    uint8_t *to = arrival_room(inlet, &size);
    if (to != NULL && size > SLICE_BYTES)
        size = SLICE_BYTES;
    if (to != NULL && !peek_read(conn->peek, &offered->what, offered->copied, to, size)) {
        offered->here = false;
        conn->timed.since_ns = 0;
        peek_refuse(conn->peek, offered->what.number);
        link_shm_nudge(conn->link);
        return;
    }
    bool last = size == left;
    peek_copied(conn->peek, offered->copied + size);
    if (last) {
        offered->here = false;
        if (!peek_done(conn->peek, offered->what.number)) {
            give_up(conn, "the other task took back a message that was being read");
            return;
        }
        link_shm_nudge(conn->link);
    }
    arrival_read(conn->vm, inlet, size);
    if (last && conn->timed.since_ns != 0)
        offer_arrived(conn);
}

static void look_at_other(struct conn *conn)
{
    struct offered *offered = &conn->inlet.offered;
    if (!offered->taken) {
        offered->taken = conn->peek != NULL && peek_take(conn->peek, offered->what.number);
        if (!offered->taken) {
            conn->timed.since_ns = 0;
            arrival_resume(&conn->inlet); /* taken back: it comes by the ring */
            return;
        }
        arrival_accept(&conn->inlet);
    }
    read_slice(conn);
}

const char *offer_resumed(struct conn *conn)
{
    const struct offered *offered = &conn->inlet.offered;
    if (offered->here && offered->taken)
        return "data of a message that is being read";
    if (offered->here)
        conn->timed.since_ns = 0;
    arrival_resume(&conn->inlet);
    return NULL;
}

/* ---- both ------------------------------------------------------------------------------------ */

void offer_poll(struct conn *conn)
{
    if (conn->offer.req != NULL && !conn->closed)
        look_at_own(conn);
    if (conn->inlet.offered.here && !conn->closed && is_wanted(conn))
        look_at_other(conn);
}

bool offer_due(const struct conn *conn)
{
    uint64_t copied;
    if (conn->inlet.offered.here && is_wanted(conn))
        return true;
    if (conn->offer.req == NULL)
        return false;
    enum peek_state state = peek_look(conn->peek, &copied);
    if (state == PEEK_OFFERED)
        return clock_us() - conn->offer.since_us < TAKEN_US;
    return state != PEEK_TAKEN || conn->offer.moved_us == 0 ||
           clock_us() - conn->offer.moved_us < SLICE_US;
}
