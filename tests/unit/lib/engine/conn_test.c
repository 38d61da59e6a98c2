/* links: tests/unit/lib/engine/one_peer.c libcovey-sources */
/*
 * The last bytes of a task that ends: what it wrote to a link is read to its end, whatever happens
 * first - a write to it that fails, the news of its end, or its first look at the stream. And the
 * first of one that opens a link while this one goes to sleep. The link is a stub that gives
 * some messages, more than is read at once of those that nobody receives, in two halves; the rest
 * is the library.
 */
#include <CUnit/CUnit.h>
#include <string.h>

#include "lib/engine/arrival.h"
#include "lib/engine/conn.h"
#include "lib/engine/peer.h"
#include "lib/link/link.h"
#include "lib/msg/message.h"
#include "tests/unit/lib/engine/one_peer.h"
#include "tests/unit/runner.h"

#define BODY_BYTES 60000
#define MESSAGES 5
#define OTHER_TID 0x80003u

/* ---- a link that was written to and closed --------------------------------------------------- */

enum { MESSAGE_BYTES = FRAME_HEADER_BYTES + FRAME_MESSAGE_BYTES + ITEM_HEADER_BYTES + BODY_BYTES };

struct stub {
    struct link base;
    uint8_t bytes[MESSAGES * MESSAGE_BYTES];
    size_t at, here; /* bytes given, and those that came so far */
    bool proved;     /* the handshake was looked at */
    bool silent;     /* nothing of the other end came yet */
};

static ssize_t stub_send(struct link *link, const struct iovec *iov, int count)
{
    (void)link, (void)iov, (void)count;
    return LINK_CLOSED;
}

static ssize_t stub_recv(struct link *link, void *bytes, size_t size)
{
    struct stub *s = (struct stub *)link;
    size_t left = s->here - s->at;
    if (left == 0)
        return s->at == sizeof s->bytes ? LINK_CLOSED : 0;
    size = size < left ? size : left;
    memcpy(bytes, s->bytes + s->at, size);
    s->at += size;
    return (ssize_t)size;
}

static int stub_ready(struct link *link)
{
    struct stub *s = (struct stub *)link;
    s->proved = true;
    return !s->silent;
}

static const struct link_ops stub_ops = {.name = "stub",
                                         .send = stub_send,
                                         .recv = stub_recv,
                                         .arm = one_peer_no_arm,
                                         .fd = one_peer_no_fd,
                                         .ready = stub_ready,
                                         .free = one_peer_no_free};

/* Messages of one array of BODY_BYTES bytes each; the first has that number. */
static void stub_fill(struct stub *s, uint64_t first)
{
    struct frame frame = {.length = MESSAGE_BYTES - FRAME_HEADER_BYTES,
                          .kind = FRAME_DATA,
                          .flags = FRAME_FIRST | FRAME_LAST,
                          .source = OTHER_TID,
                          .destination = 0x40001};
    struct message_header header = {
        .size = ITEM_HEADER_BYTES + BODY_BYTES, .tag = 5, .representation = REPRESENTATION_LITTLE};
    for (uint64_t i = 0; i < MESSAGES; i++) {
        uint8_t *at = s->bytes + i * MESSAGE_BYTES;
        header.sequence = first + i;
        frame_encode(&frame, at);
        message_header_encode(&header, at += FRAME_HEADER_BYTES);
        item_header_encode(at += FRAME_MESSAGE_BYTES, COVEY_UINT8, BODY_BYTES);
        memset(at + ITEM_HEADER_BYTES, 'x', BODY_BYTES);
    }
}

/* ---- a task with one peer -------------------------------------------------------------------- */

struct task {
    struct one_peer one;
    struct stub stub;
};

static void begin_at(struct task *t, uint64_t first, bool ready)
{
    *t = (struct task){.stub = {.base = {.ops = &stub_ops}}};
    stub_fill(&t->stub, first);
    one_peer_begin(&t->one, 0x40001, OTHER_TID, &t->stub.base, COVEY_ROUTE_TCP);
    if (ready)
        conn_ready_now(t->one.conn);
}

static void begin(struct task *t, bool ready)
{
    begin_at(t, 0, ready);
}

static void end(struct task *t)
{
    one_peer_end(&t->one);
}

static bool has_messages(const struct task *t)
{
    int count = 0;
    for (const struct arrival *a = t->one.vm->inbox.unexpected; a != NULL; a = a->next)
        count += a->complete && a->info.tag == 5;
    return count == MESSAGES && !t->one.peer->in.cut;
}

/* As often as a task looks that does nothing else. */
static void read_on(const struct task *t)
{
    for (int i = 0; i < MESSAGES; i++)
        conn_read(t->one.vm, t->one.conn);
}

static void ends(struct task *t)
{
    const struct control_gone gone = {.tid = OTHER_TID, .kind = COVEY_EXIT_STATUS};
    peer_on_gone(t->one.vm, &gone);
}

static void a_write_that_fails_loses_nothing_that_was_sent(void)
{
    struct task t;
    const uint8_t credit[8] = {0};
    begin(&t, true);
    t.stub.here = sizeof t.stub.bytes / 2;
    read_on(&t);
    conn_put_control(t.one.conn, FRAME_CREDIT, credit, sizeof credit);
    CU_ASSERT(!conn_flush(t.one.conn));
    t.stub.here = sizeof t.stub.bytes;
    read_on(&t);
    CU_ASSERT(t.one.conn->closed);
    CU_ASSERT(has_messages(&t));
    end(&t);
}

static void what_it_sent_is_read_before_its_end_is_believed(void)
{
    struct task t;
    begin(&t, true);
    t.stub.here = sizeof t.stub.bytes;
    ends(&t);
    CU_ASSERT(t.one.peer->gone);
    CU_ASSERT(has_messages(&t));
    end(&t);
}

/* The opener sends right behind its proof, which its end may overtake. */
static void also_what_it_sent_before_its_proof_was_looked_at(void)
{
    struct task t;
    begin(&t, false);
    t.stub.here = sizeof t.stub.bytes;
    ends(&t);
    CU_ASSERT(t.stub.proved);
    CU_ASSERT(t.one.peer->gone);
    CU_ASSERT(has_messages(&t));
    end(&t);
}

static void what_is_not_whole_is_lost(void)
{
    struct task t;
    begin(&t, true);
    t.stub.here = MESSAGE_BYTES - 1;
    ends(&t);
    CU_ASSERT(t.one.peer->gone);
    CU_ASSERT_PTR_NULL(t.one.vm->inbox.unexpected);
    end(&t);
}

/* A message with the number 0, by the daemon, which is slower than a stream. */
static void brings_the_first(struct task *t)
{
    uint8_t payload[FRAME_MESSAGE_BYTES + ITEM_HEADER_BYTES];
    const struct frame frame = {.length = sizeof payload,
                                .kind = FRAME_DATA,
                                .flags = FRAME_FIRST | FRAME_LAST,
                                .source = OTHER_TID,
                                .destination = 0x40001};
    const struct message_header header = {
        .size = ITEM_HEADER_BYTES, .tag = 6, .representation = REPRESENTATION_LITTLE};
    message_header_encode(&header, payload);
    item_header_encode(payload + FRAME_MESSAGE_BYTES, COVEY_UINT8, 0);
    arrival_on_frame(t->one.vm, t->one.peer, &t->one.peer->in.inlet, &frame, payload);
}

/* The first message takes the daemons' way, the others a stream that is made meanwhile, at the end
 * of which the first one is still under way. */
static void what_came_before_its_turn_outlives_its_stream(void)
{
    struct task t;
    begin_at(&t, 1, true);
    t.stub.here = sizeof t.stub.bytes;
    read_on(&t);
    CU_ASSERT(t.one.conn->closed);
    conn_bury(t.one.vm);
    CU_ASSERT_PTR_NULL(t.one.vm->inbox.unexpected);
    brings_the_first(&t);
    ends(&t);
    CU_ASSERT(t.one.peer->gone);
    CU_ASSERT(has_messages(&t));
    conn_bury(t.one.vm);
    CU_ASSERT_PTR_NULL(t.one.vm->links.conns);
    end(&t);
}

static void nothing_is_given_out_behind_what_never_came(void)
{
    struct task t;
    begin_at(&t, 1, true);
    t.stub.here = sizeof t.stub.bytes;
    read_on(&t);
    conn_bury(t.one.vm);
    ends(&t);
    CU_ASSERT(t.one.peer->gone);
    CU_ASSERT_PTR_NULL(t.one.vm->inbox.unexpected);
    conn_bury(t.one.vm);
    CU_ASSERT_PTR_NULL(t.one.vm->links.conns);
    end(&t);
}

/* The answer of the other end is taken in with what comes for other links, between the last look at
 * this one and sleep: whoever is about to sleep must look again. */
static void nobody_sleeps_while_a_link_has_become_ready(void)
{
    struct task t;
    begin(&t, false);
    t.stub.silent = true;
    CU_ASSERT(!conn_arm_all(t.one.vm));
    t.stub.silent = false;
    CU_ASSERT(conn_arm_all(t.one.vm));
    CU_ASSERT(!t.one.conn->ready);
    conn_poll_all(t.one.vm);
    CU_ASSERT(t.one.conn->ready);
    CU_ASSERT(!conn_arm_all(t.one.vm));
    end(&t);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"a write that fails loses nothing that was sent",
         a_write_that_fails_loses_nothing_that_was_sent},
        {"what it sent is read before its end is believed",
         what_it_sent_is_read_before_its_end_is_believed},
        {"also what it sent before its proof was looked at",
         also_what_it_sent_before_its_proof_was_looked_at},
        {"what came before its turn outlives its stream",
         what_came_before_its_turn_outlives_its_stream},
        {"nothing is given out behind what never came",
         nothing_is_given_out_behind_what_never_came},
        {"what is not whole is lost", what_is_not_whole_is_lost},
        {"nobody sleeps while a link has become ready",
         nobody_sleeps_while_a_link_has_become_ready},
    };
    return covey_test_main("conn", cases, sizeof cases / sizeof cases[0]);
}
