/*
 * plain.c - short arrays between two tasks of one host, where nothing is in their way.
 *
 * Most short messages go by a ring that takes them whole while nothing else waits for it, and are
 * received by a call that is there already, or comes before any other message. Such a message needs
 * no request, which would be queued and leave the queue at once, and no arrival, which would be
 * matched at once. What is asked here is whether all is so; what then remains of outgo.c, conn.c,
 * arrival.c and match.c is done in a row. Where anything is different, nothing is done: the long
 * way knows all cases, and finds everything as it was.
 *
 * What is in the ring the other task may change at any time: the header is copied before it is
 * looked at.
 */
#include "lib/engine/plain.h"
#include "lib/engine/arrival.h"
#include "lib/engine/brief.h"
#include "lib/engine/conn.h"
#include "lib/engine/credit.h"
#include "lib/engine/loss.h"
#include "lib/engine/match.h"
#include "lib/engine/order.h"
#include "lib/engine/outgo.h"
#include "lib/engine/peer.h"
#include "lib/engine/route.h"
#include "lib/link/link.h"
#include "lib/member/routes.h"
#include "lib/member/vm.h"
#include "lib/msg/message.h"

#include <assert.h>
#include <string.h>

/* ---- sending --------------------------------------------------------------------------------- */

/* The ring that took the last message to the peer, if it takes the next one and nothing waits. */
static struct conn *plain_carrier(struct covey *vm, const struct peer *peer)
{
    struct conn *conn = peer->out.carrier;
    if (conn == NULL || !routes[conn->route].ring || conn->closed || conn->out.mute ||
        conn->out.req != NULL || conn->out.head_sent < conn->out.head_size ||
        conn->out.body_left > 0)
        return NULL;
    const struct route_state *state = &peer->routes[conn->route];
    int wanted = route_wanted(vm, peer);
    if (state->conn != conn || state->opening == OPENING_FAILED ||
        (wanted != COVEY_ROUTE_AUTO && wanted != conn->route))
        return NULL;
    bool waits = peer->out.sends != NULL || peer->out.syncs != NULL || peer->in.grant_due;
    bool ends = peer->gone || peer->leaving || peer->broken_at_us != 0 || vm->home.lost != 0;
    return waits || ends || !order_may_leave_home(vm) ? NULL : conn;
}

bool plain_send(struct covey *vm, const struct plain_send *what)
{
    static const uint8_t zeros[8];
    size_t width = covey_type_size(what->type);
    struct peer *peer = peer_find(vm, what->tid);
    struct conn *conn = peer == NULL ? NULL : plain_carrier(vm, peer);
    if (conn == NULL || width == 0 || what->count > PLAIN_BYTES_MAX / width || what->tag < 0 ||
        what->tag > COVEY_TAG_MAX || (what->base == NULL && what->count > 0))
        return false;
    size_t bytes = what->count * width;
    size_t size = (size_t)item_bytes(what->type, what->count) - ITEM_HEADER_BYTES;
    uint64_t cost = FRAME_MESSAGE_BYTES + ITEM_HEADER_BYTES + size;
    if (peer->out.credit_bytes < peer->out.sent_bytes + cost ||
        !link_shm_fits(conn->link, BRIEF_STAMPED_BYTES + size))
        return false;

    uint8_t head[BRIEF_STAMPED_BYTES];
    const struct brief brief = {.type = (uint8_t)what->type,
                                .representation = representation_native(),
                                .padding = (uint8_t)(size - bytes),
                                .size = (uint16_t)size,
                                .sequence = (uint32_t)peer->out.sequence,
                                .tag = what->tag,
                                .context = what->context};
    brief_encode(&brief, head);
    brief_stamp_put(head, order_stamp_now(vm));
    union {
        const void *from;
        void *base;
    } array = {.from = what->base}, padding = {.from = zeros};
    const struct iovec iov[] = {
        {head, sizeof head}, {array.base, bytes}, {padding.base, size - bytes}};
    loss_note(conn, peer->out.sequence++);
    peer->out.sent_bytes += cost;
    outgo_count(peer, ITEM_HEADER_BYTES + size);
    vm->links.written_bytes += sizeof head + size;
    ssize_t sent = conn->link->ops->send(conn->link, iov, 3);
    assert(sent == (ssize_t)(sizeof head + size));
    return true;
}

/* ---- receiving ------------------------------------------------------------------------------- */

bool plain_may_take(const struct plain_receive *what)
{
    const struct covey *vm = what->vm;
    bool others_wait = vm->inbox.posted != NULL || vm->inbox.partial != NULL ||
                       vm->wait.threads > 0 || vm->wait.poller == POLLER_TASK;
    bool others_due = vm->wait.due != 0 || vm->out.sending != NULL || vm->order.parked > 0 ||
                      vm->order.due || vm->home.kept || vm->home.lost != 0 ||
                      vm->memory.starved > 0;
    size_t width = covey_type_size(what->type);
    return !others_wait && !others_due && vm->links.looked_count > 0 && width > 0 &&
           (what->base != NULL || what->capacity == 0) &&
           match_find(vm, (uint32_t)what->tid, what->tag, what->context) == NULL;
}

/* The first ring that has something to be read, *there bytes at least. */
static struct conn *find_waiting(const struct covey *vm, size_t *there)
{
    for (struct conn *conn = vm->links.conns; conn != NULL; conn = conn->next) {
        if (!conn->closed && conn->ready && routes[conn->route].ring &&
            (*there = link_shm_waiting(conn->link, 1)) > 0)
            return conn;
    }
    return NULL;
}

/* Whether so many bytes are there, of which `there` have been seen. */
static bool are_there(const struct conn *conn, size_t there, size_t size)
{
    return there >= size || link_shm_waiting(conn->link, size) >= size;
}

/* Whether what begins in that ring is the next message of its sender. */
static bool is_between_messages(const struct conn *conn)
{
    const struct peer *peer = conn->peer;
    return conn->in.head_used == 0 && conn->inlet.current == NULL && !conn->inlet.waiting &&
           conn->inlet.first == NULL && peer->in.open == NULL && !peer->in.cut && !peer->gone &&
           !peer->leaving && peer->broken_at_us == 0 && conn->ordered;
}

static bool is_wanted(const struct plain_receive *what, uint32_t source, const struct brief *brief)
{
    return (what->tid == COVEY_ANY_TASK || (uint32_t)what->tid == source) &&
           (what->tag == COVEY_ANY_TAG || what->tag == brief->tag) &&
           brief->context == what->context && brief->type == what->type &&
           what->count <= what->capacity && brief->size <= PLAIN_BYTES_MAX + 8 &&
           brief->representation == representation_native();
}

int plain_take(void *context)
{
    struct plain_receive *what = context;
    struct covey *vm = what->vm;
    uint8_t head[BRIEF_STAMPED_BYTES];
    struct brief brief;
    uint64_t stamp;
    size_t there;
    struct conn *conn = find_waiting(vm, &there);
    if (conn == NULL)
        return 0;
    if (!is_between_messages(conn) || !are_there(conn, there, sizeof head))
        return -1;
    struct peer *peer = conn->peer;
    link_shm_peek(conn->link, 0, head, sizeof head);
    if (!brief_is_stamped(head) || brief_look(head, &brief, &stamp, &what->count) != NULL ||
        !is_wanted(what, peer->tid, &brief) || !are_there(conn, there, sizeof head + brief.size) ||
        brief_sequence(&brief, peer->in.sequence) != peer->in.sequence ||
        !order_admits_alone(vm, conn, stamp))
        return -1;

    uint64_t size = ITEM_HEADER_BYTES + (uint64_t)brief.size;
    size_t bytes = (size_t)brief.size - brief.padding;
    if (bytes > 0)
        link_shm_peek(conn->link, sizeof head, what->base, bytes);
    link_shm_skip(conn->link, sizeof head + brief.size);
    what->info = (struct covey_info){(covey_tid_t)peer->tid, brief.tag, size};
    peer->in.sequence++;
    peer->in.received_bytes += FRAME_MESSAGE_BYTES + size;
    vm->inbox.arrivals++;
    vm->inbox.arrived_bytes += size;
    vm->inbox.arriving = 0;
    arrival_release(vm, peer);
    credit_update(vm, peer);
    return 1;
}
