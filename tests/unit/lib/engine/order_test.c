/* links: tests/unit/lib/engine/one_peer.c libcovey-sources */
/*
 * order_test.c - messages of one host begin in the order of their stamps: in whichever rings they
 * lie, when one is announced before it comes, when the daemon has something that was not read yet,
 * when a ring is left before its end, and when what is waited for does not come. Two rings are
 * real; a test writes into their far ends.
 */
#include <CUnit/CUnit.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/calls/recv.h"
#include "lib/calls/way.h"
#include "lib/drive/wait.h"
#include "lib/engine/arrival.h"
#include "lib/engine/conn.h"
#include "lib/engine/order.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/link/ledger.h"
#include "lib/link/link.h"
#include "lib/link/stream.h"
#include "lib/member/home.h"
#include "lib/member/vm.h"
#include "lib/msg/message.h"
#include "tests/unit/lib/engine/one_peer.h"
#include "tests/unit/runner.h"

#define OWN_TID 0x40001u
#define FIRST_TID 0x40002u /* their rings are looked at in the other order */
#define SECOND_TID 0x40003u
#define BODY_BYTES 32
#define LONG_FRAMES 4 /* of 60000 bytes: more than is read at once of what no receive waits for */
#define LONG_FRAME_BYTES 60000

/* The far end of a ring to the task, and what its owner has sent. */
struct far {
    struct link *link;
    uint32_t tid;
    uint64_t sequence;
};

struct world {
    struct one_peer one; /* the task, with the first one */
    struct ledger *ledger;
    struct stream *daemon; /* the far end of its stream */
    struct far first, second;
};

static struct link *ring_make(struct far *far, uint32_t tid)
{
    int memory;
    const char *why;
    *far = (struct far){.link = link_shm_open(&memory), .tid = tid};
    CU_ASSERT_PTR_NOT_NULL_FATAL(far->link);
    CU_ASSERT_FATAL(link_shm_connect(far->link, eventfd(0, EFD_NONBLOCK)));
    struct link *near = link_shm_accept(memory, eventfd(0, EFD_NONBLOCK), &why);
    CU_ASSERT_PTR_NOT_NULL_FATAL(near);
    close(memory);
    return near;
}

static void begin(struct world *h)
{
    int fd;
    struct link *near = ring_make(&h->first, FIRST_TID);
    one_peer_begin(&h->one, OWN_TID, FIRST_TID, near, COVEY_ROUTE_SHM);
    struct covey *vm = h->one.vm;
    vm->self.host = tid_host(OWN_TID);
    h->ledger = ledger_create(&fd);
    vm->home.ledger = ledger_open(fd);
    CU_ASSERT_PTR_NOT_NULL_FATAL(vm->home.ledger);
    close(fd);
    int ends[2];
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    stream_destroy(vm->home.daemon);
    vm->home.lost = 0; /* there was no daemon until now */
    vm->home.daemon = stream_create(ends[0]);
    h->daemon = stream_create(ends[1]);
    conn_ready_now(h->one.conn);
    near = ring_make(&h->second, SECOND_TID);
    conn_ready_now(conn_create(vm, near, peer_get(vm, SECOND_TID), COVEY_ROUTE_SHM));
}

static void end(struct world *h)
{
    for (struct conn *conn = h->one.vm->links.conns; conn != NULL; conn = conn->next)
        conn_close(h->one.vm, conn, false);
    ledger_close(h->one.vm->home.ledger);
    ledger_close(h->ledger);
    stream_destroy(h->daemon);
    h->first.link->ops->free(h->first.link);
    h->second.link->ops->free(h->second.link);
    one_peer_end(&h->one);
}

/* A message as it goes over a ring. */
struct bytes {
    uint8_t bytes[FRAME_HEADER_BYTES + FRAME_MESSAGE_BYTES + ITEM_HEADER_BYTES + BODY_BYTES];
    struct frame frame;
};

/* `more` bytes of its body follow in other frames. */
static struct bytes message(struct far *far, int tag, uint64_t stamp, size_t more)
{
    struct bytes b = {.frame = {.length = sizeof b.bytes - FRAME_HEADER_BYTES,
                                .kind = FRAME_DATA,
                                .flags = FRAME_FIRST | (more == 0 ? FRAME_LAST : 0),
                                .source = far->tid,
                                .destination = OWN_TID}};
    const struct message_header header = {.sequence = far->sequence++,
                                          .size = ITEM_HEADER_BYTES + BODY_BYTES + more,
                                          .tag = tag,
                                          .representation = representation_native(),
                                          .stamp = stamp};
    frame_encode(&b.frame, b.bytes);
    message_header_encode(&header, b.bytes + FRAME_HEADER_BYTES);
    item_header_encode(b.bytes + FRAME_HEADER_BYTES + FRAME_MESSAGE_BYTES, COVEY_UINT8,
                       BODY_BYTES + more);
    return b;
}

static void put_bytes(struct far *far, const void *bytes, size_t size)
{
    const struct iovec iov = {(void *)bytes, size};
    CU_ASSERT_EQUAL(far->link->ops->send(far->link, &iov, 1), (ssize_t)size);
}

static void put(struct far *far, int tag, uint64_t stamp)
{
    struct bytes b = message(far, tag, stamp, 0);
    put_bytes(far, b.bytes, sizeof b.bytes);
}

static void put_long(struct far *far, int tag, uint64_t stamp)
{
    static const uint8_t part[LONG_FRAME_BYTES];
    struct bytes b = message(far, tag, stamp, LONG_FRAMES * sizeof part);
    put_bytes(far, b.bytes, sizeof b.bytes);
    b.frame.length = sizeof part;
    for (int i = 1; i <= LONG_FRAMES; i++) {
        b.frame.flags = i == LONG_FRAMES ? FRAME_LAST : 0;
        frame_encode(&b.frame, b.bytes);
        put_bytes(far, b.bytes, FRAME_HEADER_BYTES);
        put_bytes(far, part, sizeof part);
    }
}

/* The daemon has it, and has not written it yet. */
static void put_home(struct world *h, struct far *far, int tag, uint64_t stamp)
{
    struct bytes b = message(far, tag, stamp, 0);
    CU_ASSERT_EQUAL(stream_put(h->daemon, &b.frame, b.bytes + FRAME_HEADER_BYTES, NULL, 0), 0);
    ledger_set_queued(h->ledger, stream_put_bytes(h->daemon));
}

/* Whether the messages that have begun have these tags, 0 at their end, in this order. */
static bool began(const struct world *h, const int *tags)
{
    const struct arrival *a = h->one.vm->inbox.unexpected;
    for (; a != NULL && *tags == a->info.tag; a = a->next)
        tags++;
    return a == NULL && *tags == 0;
}
#define BEGAN(h, ...) CU_ASSERT(began((h), (const int[]){__VA_ARGS__, 0}))

static void stamps_tell_the_order_whatever_the_rings(void)
{
    struct world h;
    begin(&h);
    put(&h.second, 3, 30);
    put(&h.second, 4, 40);
    put(&h.second, 7, 70);
    put(&h.first, 1, 10);
    put(&h.first, 2, 20);
    put(&h.first, 5, 50);
    put(&h.first, 6, 60);
    wait_poll(h.one.vm);
    BEGAN(&h, 1, 2, 3, 4, 5, 6, 7);
    end(&h);
}

static void what_is_announced_is_waited_for(void)
{
    struct world h;
    begin(&h);
    link_shm_announce(h.first.link, 10);
    put(&h.second, 1, 5);
    put(&h.second, 3, 20);
    wait_poll(h.one.vm);
    BEGAN(&h, 1);
    put(&h.first, 2, 11);
    link_shm_announce(h.first.link, 0);
    wait_poll(h.one.vm);
    BEGAN(&h, 1, 2, 3);
    end(&h);
}

static void what_was_announced_and_does_not_come_is_forgone(void)
{
    struct world h;
    begin(&h);
    link_shm_announce(h.first.link, 10);
    put(&h.second, 1, 20);
    wait_poll(h.one.vm);
    CU_ASSERT_PTR_NULL(h.one.vm->inbox.unexpected);
    while (h.one.vm->inbox.unexpected == NULL)
        wait_poll(h.one.vm);
    put(&h.second, 2, 30); /* is not waited with again */
    wait_poll(h.one.vm);
    BEGAN(&h, 1, 2);
    end(&h);
}

static void what_the_daemon_has_is_waited_for(void)
{
    struct world h;
    begin(&h);
    put_home(&h, &h.first, 2, 20);
    put_home(&h, &h.first, 4, 40);
    put(&h.second, 1, 10);
    put(&h.second, 3, 30);
    wait_poll(h.one.vm);
    CU_ASSERT_PTR_NULL(h.one.vm->inbox.unexpected);
    CU_ASSERT_EQUAL(stream_flush(h.daemon), 0);
    wait_poll(h.one.vm);
    BEGAN(&h, 1, 2, 3, 4);
    end(&h);
}

/* A ring is left when what the task waited for has come: what is behind that in it was sent before
 * what the daemon has, all the same. */
static void a_ring_that_is_left_early_is_before_the_daemon(void)
{
    struct world h;
    struct covey_req req;
    begin(&h);
    const struct way any = {.vm = h.one.vm, .tid = COVEY_ANY_TASK, .tag = COVEY_ANY_TAG};
    CU_ASSERT_EQUAL_FATAL(receive_init(&req, &any), COVEY_OK);
    receive_start(h.one.vm, &req);
    put(&h.first, 1, 10);
    put(&h.first, 2, 20);
    put_home(&h, &h.second, 3, 30);
    CU_ASSERT_EQUAL(stream_flush(h.daemon), 0);
    wait_poll(h.one.vm);
    CU_ASSERT(req.done);
    CU_ASSERT_EQUAL(req.info.tag, 1);
    covey_msg_free(req.owned);
    wait_poll(h.one.vm);
    BEGAN(&h, 2, 3);
    end(&h);
}

/* Of a long message that no receive waits for some is read at once: what is behind it was sent
 * before what the daemon has, too. */
static void what_is_behind_a_long_message_is_before_the_daemon(void)
{
    struct world h;
    begin(&h);
    put_long(&h.first, 1, 10);
    put(&h.first, 2, 20);
    put_home(&h, &h.second, 3, 30);
    CU_ASSERT_EQUAL(stream_flush(h.daemon), 0);
    wait_poll(h.one.vm);
    BEGAN(&h, 1, 2, 3);
    end(&h);
}

static void what_a_daemon_does_not_write_is_forgone(void)
{
    struct world h;
    begin(&h);
    put_home(&h, &h.first, 9, 10);
    put(&h.second, 1, 20);
    while (h.one.vm->inbox.unexpected == NULL)
        wait_poll(h.one.vm);
    put(&h.second, 2, 30);
    wait_poll(h.one.vm);
    BEGAN(&h, 1, 2);
    CU_ASSERT_EQUAL(h.one.vm->order.parked, 0);
    end(&h);
}

/* Until the daemon has passed on what was queued to it, and then its stamps count. */
static void a_task_leaves_the_daemon_when_that_is_done(void)
{
    struct world h;
    begin(&h);
    struct covey *vm = h.one.vm;
    CU_ASSERT(order_may_leave_home(vm));
    home_send(vm, FRAME_DATA, FIRST_TID, (const uint8_t *)"", 0);
    order_note_home(vm, h.one.peer);
    CU_ASSERT_FALSE(order_may_leave_home(vm));
    ledger_set_taken(h.ledger, stream_put_bytes(vm->home.daemon) - 1, 76);
    CU_ASSERT_FALSE(order_may_leave_home(vm));
    ledger_set_taken(h.ledger, stream_put_bytes(vm->home.daemon), 77);
    CU_ASSERT(order_may_leave_home(vm));
    CU_ASSERT_EQUAL(order_stamp(vm, h.one.peer), 78);
    end(&h);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"stamps tell the order, whatever the rings", stamps_tell_the_order_whatever_the_rings},
        {"what is announced is waited for", what_is_announced_is_waited_for},
        {"what was announced and does not come is forgone",
         what_was_announced_and_does_not_come_is_forgone},
        {"what the daemon has is waited for", what_the_daemon_has_is_waited_for},
        {"a ring that is left early is before the daemon",
         a_ring_that_is_left_early_is_before_the_daemon},
        {"what is behind a long message is before the daemon",
         what_is_behind_a_long_message_is_before_the_daemon},
        {"what a daemon does not write is forgone", what_a_daemon_does_not_write_is_forgone},
        {"a task leaves the daemon when that is done", a_task_leaves_the_daemon_when_that_is_done},
    };
    return covey_test_main("order", cases, sizeof cases / sizeof cases[0]);
}
