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
#include "lib/member/trace.h"
#include "lib/member/vm.h"
#include "lib/msg/message.h"
#include "proto/wire/cursor.h"

#include <assert.h>
#include <string.h>

/* In a trace it is the record of its call, too. */
static void plain_record(struct trace *t, const struct trace_what *what, uint32_t context)
{
    struct trace_what whole = *what;
    whole.begun = t->begun;
    if (context != 0 && !context_is_talk(context))
        whole.kind = what->kind == TRACE_SEND ? TRACE_INNER_SEND : TRACE_INNER_RECEIVE;
    trace_put(t, &whole);
}

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

/* So many bytes as words. They are put together in registers: what is stored byte by byte comes
 * back late as a word. */
static void words_put(uint64_t *words, const uint8_t *from, size_t bytes)
{
    for (; bytes >= sizeof *words; bytes -= sizeof *words, from += sizeof *words)
        memcpy(words++, from, sizeof *words);
    if (bytes == 0)
        return;
    uint64_t last = 0;
    for (size_t i = 0; i < bytes; i++)
        last |= (uint64_t)from[i] << (56 - 8 * i);
    *words = cursor_word(last);
}

static void words_get(const uint64_t *words, uint8_t *to, size_t bytes)
{
    for (; bytes >= sizeof *words; bytes -= sizeof *words, to += sizeof *words)
        memcpy(to, words++, sizeof *words);
    if (bytes == 0)
        return;
    uint64_t last = cursor_word(*words);
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(last >> (56 - 8 * i));
}

/* The header and the array, and so many zeros; false: there is no room in the ring. */
static bool put_pieces(struct link *link, uint64_t *head, const struct plain_send *what,
                       size_t bytes, size_t padding)
{
    static const uint8_t zeros[8];
    union {
        const void *from;
        void *base;
    } array = {.from = what->base}, behind = {.from = zeros};
    const struct iovec iov[] = {
        {head, BRIEF_STAMPED_BYTES}, {array.base, bytes}, {behind.base, padding}};
    if (!link_shm_fits(link, BRIEF_STAMPED_BYTES + bytes + padding))
        return false;
    ssize_t sent = link->ops->send(link, iov, 3);
    assert(sent == (ssize_t)(BRIEF_STAMPED_BYTES + bytes + padding));
    return true;
}

bool plain_send(struct covey *vm, const struct plain_send *what)
{
    size_t width = covey_type_size(what->type);
    struct peer *peer = peer_find(vm, what->tid);
    struct conn *conn = peer == NULL ? NULL : plain_carrier(vm, peer);
    if (conn == NULL || width == 0 || what->count > PLAIN_BYTES_MAX || what->tag < 0 ||
        what->tag > COVEY_TAG_MAX || (what->base == NULL && what->count > 0))
        return false;
    size_t bytes = what->count * width, size = (bytes + 7) & ~(size_t)7;
    uint64_t cost = FRAME_MESSAGE_BYTES + ITEM_HEADER_BYTES + size;
    if (bytes > PLAIN_BYTES_MAX || peer->out.credit_bytes < peer->out.sent_bytes + cost)
        return false;

    uint64_t words[LINK_SHM_WORDS];
    const struct brief brief = {.type = (uint8_t)what->type,
                                .representation = representation_native(),
                                .padding = (uint8_t)(size - bytes),
                                .size = (uint16_t)size,
                                .sequence = (uint32_t)peer->out.sequence,
                                .tag = what->tag,
                                .context = what->context};
    bool sent;
    brief_to_words(&brief, order_stamp_now(vm), words);
    if (BRIEF_STAMPED_BYTES + size <= sizeof words) {
        words_put(words + BRIEF_STAMPED_WORDS, what->base, bytes);
        sent = link_shm_put_words(conn->link, words, BRIEF_STAMPED_WORDS + size / sizeof *words);
    } else {
        sent = put_pieces(conn->link, words, what, bytes, size - bytes);
    }
    if (!sent)
        return false;
    loss_note(conn, peer->out.sequence++);
    peer->out.sent_bytes += cost;
    outgo_count(vm, peer, ITEM_HEADER_BYTES + size);
    vm->links.written_bytes += BRIEF_STAMPED_BYTES + size;
    if (vm->trace != NULL)
        plain_record(vm->trace,
                     &(struct trace_what){.kind = TRACE_SEND,
                                          .name = TRACE_NAME_SEND,
                                          .bytes = ITEM_HEADER_BYTES + size,
                                          .sequence = peer->out.sequence - 1,
                                          .peer = peer->tid,
                                          .tag = what->tag,
                                          .brief = true},
                     what->context);
    return true;
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* Whether a ring may bring it. A frame of raw Ethernet, which comes in memory as well, does not
 * come this way, and must not wait while rings are looked at. */
static bool may_come_by_ring(const struct plain_receive *what)
{
    const struct covey *vm = what->vm;
    unsigned rings = 0;
    for (const struct conn *conn = vm->links.conns; conn != NULL; conn = conn->next) {
        if (conn->closed || !routes[conn->route].ring)
            continue;
        if (conn->peer->tid == (uint32_t)what->tid)
            return true;
        rings++;
    }
    return what->tid == COVEY_ANY_TASK && rings == vm->links.looked_count;
}

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
           may_come_by_ring(what) && (what->base != NULL || what->capacity == 0) &&
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

/* The header, as words of this task; of a note all of the message is there, at *noted. */
static bool read_head(const struct conn *conn, size_t there, uint64_t head[BRIEF_STAMPED_WORDS],
                      const uint64_t **noted, size_t *noted_size)
{
    *noted = link_shm_noted(conn->link, noted_size);
    if (*noted != NULL && *noted_size >= BRIEF_STAMPED_BYTES) {
        for (int i = 0; i < BRIEF_STAMPED_WORDS; i++)
            head[i] = (*noted)[i];
        return true;
    }
    *noted_size = 0;
    if (!are_there(conn, there, BRIEF_STAMPED_BYTES))
        return false;
    link_shm_peek(conn->link, 0, head, BRIEF_STAMPED_BYTES);
    return true;
}

int plain_take(void *context)
{
    struct plain_receive *what = context;
    struct covey *vm = what->vm;
    uint64_t head[BRIEF_STAMPED_WORDS], stamp;
    const uint64_t *noted;
    struct brief brief;
    size_t there, noted_size;
    struct conn *conn = find_waiting(vm, &there);
    if (conn == NULL)
        return 0;
    if (!is_between_messages(conn) || !read_head(conn, there, head, &noted, &noted_size))
        return -1;
    struct peer *peer = conn->peer;
    if (brief_look(head, &brief, &stamp, &what->count) != NULL ||
        !is_wanted(what, peer->tid, &brief) ||
        !are_there(conn, there, BRIEF_STAMPED_BYTES + brief.size) ||
        brief_sequence(&brief, peer->in.sequence) != peer->in.sequence ||
        !order_admits_alone(vm, conn, stamp))
        return -1;

    uint64_t size = ITEM_HEADER_BYTES + (uint64_t)brief.size;
    size_t bytes = (size_t)brief.size - brief.padding;
    if (noted_size == BRIEF_STAMPED_BYTES + (size_t)brief.size)
        words_get(noted + BRIEF_STAMPED_WORDS, what->base, bytes);
    else if (bytes > 0)
        link_shm_peek(conn->link, BRIEF_STAMPED_BYTES, what->base, bytes);
    link_shm_skip(conn->link, BRIEF_STAMPED_BYTES + brief.size);
    what->info = (struct covey_info){(covey_tid_t)peer->tid, brief.tag, size};
    peer->in.sequence++;
    peer->in.received_bytes += FRAME_MESSAGE_BYTES + size;
    vm->inbox.arrivals++;
    vm->inbox.arrived_bytes += size;
    vm->inbox.arriving = 0;
    task_count_received(vm->self.page, size);
    if (vm->trace != NULL)
        plain_record(vm->trace,
                     &(struct trace_what){.kind = TRACE_RECEIVE,
                                          .name = TRACE_NAME_RECEIVE,
                                          .bytes = size,
                                          .sequence = peer->in.sequence - 1,
                                          .peer = peer->tid,
                                          .tag = brief.tag},
                     what->context);
    arrival_release(vm, peer);
    credit_update(vm, peer);
    return 1;
}
