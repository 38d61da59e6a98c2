/* links: proto/wire/control.c proto/contention/contention.c proto/wire/contention_config.c proto/wire/address.c lib/engine/match.c lib/engine/arrival.c lib/msg/message.c lib/msg/spare.c lib/msg/pack.c lib/msg/unpack.c lib/msg/error.c proto/wire/frame.c proto/wire/cursor.c tests/sim/network.c proto/session/fault.c lib/member/trace.c lib/link/trace_ring.c lib/link/shared_memory.c proto/trace/trace_pack.c */
/*
 * match_test.c - messages that arrive in frames, and which receive takes which of them.
 *
 * A task without daemon, links and threads: frames are handed to arrival.c as a route would, and
 * receives to match.c as a call would. What those two ask of the rest of the library is below.
 */
#include "lib/collective/collective.h"
#include "lib/engine/arrival.h"
#include "lib/engine/conn.h"
#include "lib/engine/credit.h"
#include "lib/engine/match.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/engine/turn.h"
#include "lib/member/home.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/error.h"
#include "lib/msg/message.h"
#include "tests/sim/network.h"
#include "tests/unit/memory.h"
#include "tests/unit/runner.h"

#include <CUnit/CUnit.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- allocations that fail when asked ---- */

static struct {
    size_t largest; /* larger ones fail; 0: none does */
} memory;

static bool memory_fails(size_t size)
{
    return memory.largest > 0 && size > memory.largest;
}

/* ---- the rest of the library ---- */

void wait_changed(struct covey *vm)
{
    vm->wait.calls++;
}

void home_output_taken(struct covey *vm, struct covey_msg *msg)
{
    (void)vm;
    (void)msg;
}

void credit_update(struct covey *vm, struct peer *peer)
{
    (void)vm;
    (void)peer;
}

void turn_begin(struct covey *vm, struct arrival *a, uint64_t sequence)
{
    (void)vm;
    (void)a;
    (void)sequence;
}

void turn_moved(struct covey *vm, struct arrival *a)
{
    (void)vm;
    (void)a;
}

void turn_end(struct covey *vm, struct arrival *a)
{
    (void)vm;
    (void)a;
}

void credit_reopen(struct covey *vm)
{
    (void)vm;
}

struct peer *peer_find(struct covey *vm, uint32_t tid)
{
    for (struct peer *peer = vm->known.peers[0]; peer != NULL; peer = peer->next) {
        if (peer->tid == tid)
            return peer;
    }
    return NULL;
}

struct peer *peer_get(struct covey *vm, uint32_t tid)
{
    return peer_find(vm, tid);
}

void home_lost(struct covey *vm, int error, const char *why)
{
    (void)why;
    vm->home.lost = error;
}

int peer_error(const struct peer *peer)
{
    return error_set(COVEY_ENOTASK, "the task t%x has ended", peer->tid);
}

static bool is_dead(const struct covey *vm, uint32_t context)
{
    (void)vm;
    return context == 77;
}

static int collectives_told;

static void pass_over(struct covey *vm, const struct arrival *arrival)
{
    collectives_told++;
    (void)vm;
    (void)arrival;
}

static const struct context_owner contexts = {.is_dead = is_dead, .on_arrival = pass_over};

/* ---- a task with three peers ---- */

enum { PEERS = 3, FIRST_TID = 0x40001 };

struct fixture {
    struct covey vm;
    struct task_page page;
    struct peer peers[PEERS];
};

static void setup(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    f->vm.self.page = &f->page;
    f->vm.inbox.contexts = &contexts;
    for (int i = 0; i < PEERS; i++) {
        f->peers[i].tid = FIRST_TID + (uint32_t)i;
        f->peers[i].next = f->vm.known.peers[0];
        f->vm.known.peers[0] = &f->peers[i];
    }
}

static void teardown(struct fixture *f)
{
    for (int i = 0; i < PEERS; i++)
        arrival_drop(&f->vm, &f->peers[i].in.inlet);
    while (f->vm.inbox.unexpected != NULL)
        match_free(&f->vm, f->vm.inbox.unexpected);
    CU_ASSERT_EQUAL(f->vm.inbox.unexpected_bytes, 0);
    CU_ASSERT_PTR_NULL(f->vm.inbox.posted);
}

/* A message that is on its way in frames. */
struct sending {
    struct peer *peer;
    struct inlet *inlet;
    struct message_header header;
    uint8_t packed[4096];
    size_t sent;
};

static struct sending sending_of(struct fixture *f, int peer, int tag, const covey_msg_t *msg)
{
    struct peer *p = &f->peers[peer];
    struct sending s = {.peer = p,
                        .inlet = &p->in.inlet,
                        .header = {.sequence = p->out.sequence++,
                                   .size = msg->size,
                                   .tag = tag,
                                   .representation = msg->representation}};
    CU_ASSERT_EQUAL_FATAL(message_copy(msg, 0, s.packed, sizeof s.packed), msg->size);
    return s;
}

/* An array of int32 counting up from `first`. */
static struct sending sending_numbers(struct fixture *f, int peer, int tag, int32_t first,
                                      size_t count)
{
    int32_t numbers[100];
    covey_msg_t *msg = covey_msg_new();
    for (size_t i = 0; i < count; i++)
        numbers[i] = first + (int32_t)i;
    covey_pack_int32(msg, numbers, count, 1);
    struct sending s = sending_of(f, peer, tag, msg);
    covey_msg_free(msg);
    return s;
}

/* Sends up to `size` bytes of the message as one frame; true while some are left. */
static bool send_frame(struct fixture *f, struct sending *s, size_t size)
{
    uint8_t payload[FRAME_MESSAGE_BYTES + sizeof s->packed];
    size_t head = 0, left = (size_t)s->header.size - s->sent;
    struct frame frame = {.kind = FRAME_DATA, .source = s->peer->tid};
    if (s->sent == 0) {
        message_header_encode(&s->header, payload);
        head = FRAME_MESSAGE_BYTES;
        frame.flags = FRAME_FIRST;
    }
    size = size < left ? size : left;
    memcpy(payload + head, s->packed + s->sent, size);
    s->sent += size;
    frame.length = (uint32_t)(head + size);
    frame.flags |= s->sent == s->header.size ? FRAME_LAST : 0;
    arrival_on_frame(&f->vm, s->peer, s->inlet, &frame, payload);
    return s->sent < s->header.size;
}

static void send_all(struct fixture *f, struct sending *s, size_t size)
{
    while (send_frame(f, s, size))
        ;
}

static void send_numbers(struct fixture *f, int peer, int tag, int32_t first, size_t count)
{
    struct sending s = sending_numbers(f, peer, tag, first, count);
    send_all(f, &s, sizeof s.packed);
}

/* ---- receives ---- */

/* peer < 0: any task. */
static struct covey_req receive(struct fixture *f, int peer, int tag)
{
    return (struct covey_req){.vm = &f->vm,
                              .kind = REQ_RECEIVE,
                              .tag = tag,
                              .receive.source =
                                  peer < 0 ? (uint32_t)COVEY_ANY_TASK : f->peers[peer].tid};
}

static struct covey_req receive_array(struct fixture *f, int peer, int tag, int type, void *base,
                                      size_t capacity)
{
    struct covey_req req = receive(f, peer, tag);
    req.receive.into_array = true;
    req.receive.type = type;
    req.receive.base = base;
    req.receive.capacity = capacity;
    return req;
}

/* The first number of the message that the receive got, which is freed; -1: it got none. */
static int32_t first_number(struct covey_req *req)
{
    int32_t number = -1;
    if (!req->done || req->error != COVEY_OK || req->owned == NULL)
        return -1;
    covey_unpack_int32(req->owned, &number, 1, 1);
    covey_msg_free(req->owned);
    req->owned = NULL;
    return number;
}

/* Posts a receive that is to be served at once. */
static int32_t receive_now(struct fixture *f, int peer, int tag)
{
    struct covey_req req = receive(f, peer, tag);
    match_post(&f->vm, &req);
    int32_t number = first_number(&req);
    match_cancel(&f->vm, &req);
    return number;
}

static bool numbers_are(const int32_t *numbers, int32_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] != first + (int32_t)i)
            return false;
    }
    return true;
}

/* ---- order and selection --------------------------------------------------------------------- */

static void a_receive_takes_the_oldest_message_that_fits(void)
{
    struct fixture f;
    setup(&f);
    send_numbers(&f, 0, 1, 10, 1);
    send_numbers(&f, 1, 1, 20, 1);
    send_numbers(&f, 0, 2, 30, 1);
    send_numbers(&f, 2, 2, 40, 1);
    send_numbers(&f, 0, 1, 50, 1);
    CU_ASSERT_EQUAL(receive_now(&f, 0, 2), 30);
    CU_ASSERT_EQUAL(receive_now(&f, -1, 2), 40);
    CU_ASSERT_EQUAL(receive_now(&f, 1, 2), -1);
    CU_ASSERT_EQUAL(receive_now(&f, 2, COVEY_ANY_TAG), -1);
    CU_ASSERT_EQUAL(receive_now(&f, -1, COVEY_ANY_TAG), 10);
    CU_ASSERT_EQUAL(receive_now(&f, 0, COVEY_ANY_TAG), 50);
    CU_ASSERT_EQUAL(receive_now(&f, -1, 1), 20);
    CU_ASSERT_EQUAL(receive_now(&f, -1, COVEY_ANY_TAG), -1);
    teardown(&f);
}

static void a_message_takes_the_oldest_receive_that_it_fits(void)
{
    struct fixture f;
    setup(&f);
    struct covey_req first = receive(&f, 0, 2), second = receive(&f, -1, 1);
    struct covey_req third = receive(&f, 1, COVEY_ANY_TAG), fourth = receive(&f, -1, COVEY_ANY_TAG);
    match_post(&f.vm, &first);
    match_post(&f.vm, &second);
    match_post(&f.vm, &third);
    match_post(&f.vm, &fourth);
    send_numbers(&f, 1, 1, 10, 1);
    send_numbers(&f, 1, 1, 20, 1);
    send_numbers(&f, 2, 7, 30, 1);
    send_numbers(&f, 0, 2, 40, 1);
    CU_ASSERT_EQUAL(first_number(&second), 10);
    CU_ASSERT_EQUAL(first_number(&third), 20);
    CU_ASSERT_EQUAL(first_number(&fourth), 30);
    CU_ASSERT_EQUAL(first_number(&first), 40);
    CU_ASSERT(first.info.source == FIRST_TID && first.info.tag == 2);
    teardown(&f);
}

/* Behind what the last receive took nothing more is read for the moment: the task goes on. */
static void what_ends_the_last_receive_is_told(void)
{
    struct fixture f;
    setup(&f);
    struct covey_req first = receive(&f, 0, 1), second = receive(&f, 0, 1);
    match_post(&f.vm, &first);
    match_post(&f.vm, &second);
    send_numbers(&f, 0, 1, 10, 1);
    CU_ASSERT_EQUAL(f.vm.inbox.awaited_taken, 0);
    send_numbers(&f, 0, 2, 20, 1);
    CU_ASSERT_EQUAL(f.vm.inbox.awaited_taken, 0);
    send_numbers(&f, 0, 1, 30, 1);
    CU_ASSERT_EQUAL(f.vm.inbox.awaited_taken, 1);
    CU_ASSERT_EQUAL(first_number(&first), 10);
    CU_ASSERT_EQUAL(first_number(&second), 30);
    CU_ASSERT_EQUAL(receive_now(&f, 0, 2), 20);
    teardown(&f);
}

/* One of three senders stands still: the others' messages are not kept waiting. */
static void a_receive_from_any_task_prefers_what_is_complete(void)
{
    struct fixture f;
    setup(&f);
    struct sending slow = sending_numbers(&f, 0, 1, 10, 50);
    send_frame(&f, &slow, 40);
    send_numbers(&f, 1, 1, 20, 1);
    CU_ASSERT_EQUAL(receive_now(&f, -1, 1), 20);
    struct covey_req waits = receive(&f, -1, 1), next = receive(&f, -1, COVEY_ANY_TAG);
    match_post(&f.vm, &waits); /* has the beginning of what is slow */
    match_post(&f.vm, &next);
    send_numbers(&f, 2, 2, 30, 1);
    CU_ASSERT(!waits.done);
    CU_ASSERT_EQUAL(first_number(&next), 30);
    send_numbers(&f, 2, 1, 40, 1);
    CU_ASSERT_EQUAL(first_number(&waits), 40);
    struct covey_req last = receive(&f, -1, 1);
    match_post(&f.vm, &last);
    CU_ASSERT_PTR_EQUAL(f.vm.inbox.partial, &last);
    send_all(&f, &slow, 40);
    CU_ASSERT_EQUAL(first_number(&last), 10);
    CU_ASSERT_PTR_NULL(f.vm.inbox.partial);
    teardown(&f);
}

/* What members of a team send by rank is for receives as what tasks send by tid is, in a context of
 * its own, and no collective's, whatever its tag. */
static void messages_by_rank_are_those_of_programs(void)
{
    struct fixture f;
    setup(&f);
    const uint32_t context = 5 | CONTEXT_TALK;
    struct sending slow = sending_numbers(&f, 0, 15, 10, 50);
    struct sending quick = sending_numbers(&f, 1, 15, 20, 1);
    struct sending step = sending_numbers(&f, 2, 15, 30, 1);
    slow.header.context = quick.header.context = context;
    step.header.context = 5;
    collectives_told = 0;
    struct covey_req any = receive(&f, -1, COVEY_ANY_TAG), other = any;
    any.context = context;
    other.context = 6 | CONTEXT_TALK;
    match_post(&f.vm, &other);
    send_frame(&f, &slow, 40);
    match_post(&f.vm, &any); /* has the beginning of what is slow */
    send_all(&f, &quick, sizeof quick.packed);
    CU_ASSERT_EQUAL(first_number(&any), 20);
    send_all(&f, &slow, 40);
    CU_ASSERT_EQUAL(collectives_told, 0);
    send_all(&f, &step, sizeof step.packed);
    CU_ASSERT_EQUAL(collectives_told, 1);
    CU_ASSERT_EQUAL(receive_now(&f, -1, COVEY_ANY_TAG), -1);
    CU_ASSERT_PTR_NOT_NULL(match_find(&f.vm, FIRST_TID, 15, context));
    CU_ASSERT_FALSE(other.done);
    match_cancel(&f.vm, &other);
    teardown(&f);
}

/* Otherwise the second one would be received before the first. */
static void a_message_is_not_overtaken_by_those_of_its_sender(void)
{
    struct fixture f;
    setup(&f);
    struct inlet other = {.current = NULL};
    struct sending first = sending_numbers(&f, 0, 1, 10, 50);
    struct sending second = sending_numbers(&f, 0, 1, 20, 50);
    struct covey_req any = receive(&f, -1, 1), named = receive(&f, 0, 1);
    match_post(&f.vm, &any);
    match_post(&f.vm, &named);
    second.inlet = &other; /* on another route */
    send_frame(&f, &first, 40);
    send_frame(&f, &second, 40);
    send_numbers(&f, 1, 1, 30, 1);
    CU_ASSERT(!any.done && !named.done);
    send_all(&f, &second, 40);
    CU_ASSERT(!any.done && !named.done);
    send_all(&f, &first, 40);
    CU_ASSERT_EQUAL(first_number(&any), 10);
    CU_ASSERT_EQUAL(first_number(&named), 20);
    CU_ASSERT_EQUAL(receive_now(&f, 1, 1), 30);
    arrival_drop(&f.vm, &other);
    teardown(&f);
}

static void contexts_do_not_meet(void)
{
    struct fixture f;
    setup(&f);
    struct sending s = sending_numbers(&f, 0, 1, 10, 1);
    s.header.context = 5;
    send_all(&f, &s, sizeof s.packed);
    CU_ASSERT_EQUAL(receive_now(&f, -1, COVEY_ANY_TAG), -1);
    CU_ASSERT_PTR_NULL(match_find(&f.vm, (uint32_t)COVEY_ANY_TASK, COVEY_ANY_TAG, 0));
    struct covey_req req = receive(&f, 0, 1);
    req.context = 5;
    match_post(&f.vm, &req);
    CU_ASSERT_EQUAL(first_number(&req), 10);
    teardown(&f);
}

static void a_message_of_a_dead_context_is_for_nobody(void)
{
    struct fixture f;
    setup(&f);
    struct sending s = sending_numbers(&f, 0, 1, 10, 1);
    s.header.context = 77;
    send_all(&f, &s, sizeof s.packed);
    CU_ASSERT_PTR_NULL(f.vm.inbox.unexpected);
    send_numbers(&f, 0, 1, 20, 1);
    CU_ASSERT_EQUAL(receive_now(&f, 0, 1), 20);
    teardown(&f);
}

static void what_is_purged_leaves_the_rest(void)
{
    struct fixture f;
    setup(&f);
    struct sending half = sending_numbers(&f, 0, 1, 10, 4);
    half.header.context = 5;
    send_frame(&f, &half, 24);
    struct sending whole = sending_numbers(&f, 1, 1, 30, 1);
    whole.header.context = 5;
    send_all(&f, &whole, sizeof whole.packed);
    send_numbers(&f, 1, 1, 40, 1);
    const struct arrival_filter which = {.context = 5};
    arrival_purge(&f.vm, &which);
    send_all(&f, &half, sizeof half.packed);
    send_numbers(&f, 0, 1, 20, 1);
    CU_ASSERT_EQUAL(receive_now(&f, 1, 1), 40);
    CU_ASSERT_EQUAL(receive_now(&f, 0, 1), 20);
    CU_ASSERT_PTR_NULL(f.vm.inbox.unexpected);
    teardown(&f);
}

static void a_probe_leaves_the_message(void)
{
    struct fixture f;
    setup(&f);
    struct covey_req before = receive(&f, -1, 3), after = receive(&f, 0, COVEY_ANY_TAG);
    before.receive.probe = after.receive.probe = true;
    match_post(&f.vm, &before);
    CU_ASSERT_FALSE(before.done);
    send_numbers(&f, 0, 3, 10, 4);
    CU_ASSERT(before.done && before.info.tag == 3 && before.info.bytes == 32);
    match_post(&f.vm, &after);
    CU_ASSERT(after.done && after.info.source == FIRST_TID && after.owned == NULL);
    CU_ASSERT_PTR_NOT_NULL(match_find(&f.vm, FIRST_TID, 3, 0));
    CU_ASSERT_EQUAL(receive_now(&f, 0, 3), 10);
    teardown(&f);
}

/* ---- the descriptor -------------------------------------------------------------------------- */

static bool readable(struct fixture *f)
{
    struct pollfd fd = {.fd = f->vm.inbox.ready_fd, .events = POLLIN};
    return poll(&fd, 1, 0) == 1;
}

static void a_descriptor_is_readable_while_a_message_waits(void)
{
    struct fixture f;
    setup(&f);
    send_numbers(&f, 0, 3, 10, 4);
    CU_ASSERT_FATAL(match_ready_fd(&f.vm) >= 0);
    CU_ASSERT(readable(&f)); /* one that waited already counts */
    send_numbers(&f, 1, 4, 20, 4);
    CU_ASSERT_EQUAL(receive_now(&f, 0, 3), 10);
    CU_ASSERT(readable(&f));
    CU_ASSERT_EQUAL(receive_now(&f, 1, 4), 20);
    CU_ASSERT_FALSE(readable(&f));
    struct covey_req req = receive(&f, 0, 5);
    match_post(&f.vm, &req);
    send_numbers(&f, 0, 5, 30, 4);
    CU_ASSERT(req.done && !readable(&f)); /* it did not wait */
    covey_msg_free(req.owned);
    struct sending s = sending_numbers(&f, 0, 6, 40, 20);
    send_frame(&f, &s, 40);
    CU_ASSERT(readable(&f)); /* a part: the rest may come only when it is received */
    send_all(&f, &s, 16);
    CU_ASSERT_EQUAL(receive_now(&f, 0, 6), 40);
    CU_ASSERT_FALSE(readable(&f));
    match_home_lost(&f.vm, COVEY_EDAEMON, "lost");
    CU_ASSERT(readable(&f));
    close(f.vm.inbox.ready_fd);
    teardown(&f);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static void an_array_goes_straight_to_its_place(void)
{
    for (size_t piece = 16; piece < 80; piece++) {
        struct fixture f;
        int32_t numbers[12];
        setup(&f);
        struct covey_req req = receive_array(&f, 0, 1, COVEY_INT32, numbers, 11);
        numbers[11] = -7;
        match_post(&f.vm, &req);
        struct sending s = sending_numbers(&f, 0, 1, 100, 11); /* 44 bytes and 4 of padding */
        send_all(&f, &s, piece);
        CU_ASSERT(req.done && req.error == COVEY_OK && req.owned == NULL &&
                  req.receive.count == 11);
        CU_ASSERT(numbers_are(numbers, 100, 11) && numbers[11] == -7);
        teardown(&f);
    }
}

/* The receive is posted after so many frames of the message have come. */
static void an_array_may_be_asked_for_in_the_middle(void)
{
    for (int frames = 1; frames < 6; frames++) {
        struct fixture f;
        int32_t numbers[11] = {0};
        setup(&f);
        struct sending s = sending_numbers(&f, 0, 1, 100, 11);
        bool more = true;
        for (int i = 0; i < frames && more; i++)
            more = send_frame(&f, &s, 16);
        struct covey_req req = receive_array(&f, -1, COVEY_ANY_TAG, COVEY_INT32, numbers, 100);
        match_post(&f.vm, &req);
        CU_ASSERT_EQUAL(req.done, !more);
        if (more)
            send_all(&f, &s, 16);
        CU_ASSERT(req.done && req.error == COVEY_OK && req.receive.count == 11);
        CU_ASSERT(numbers_are(numbers, 100, 11));
        teardown(&f);
    }
}

static void an_array_that_does_not_fit_leaves_the_message(void)
{
    struct fixture f;
    int32_t numbers[2];
    setup(&f);
    struct covey_req type = receive_array(&f, 0, 1, COVEY_FLOAT, numbers, 2);
    struct covey_req room = receive_array(&f, 0, 1, COVEY_INT32, numbers, 2);
    struct covey_req whole = receive(&f, 0, 1);
    match_post(&f.vm, &type);
    match_post(&f.vm, &room);
    match_post(&f.vm, &whole);
    send_numbers(&f, 0, 1, 10, 3);
    CU_ASSERT(type.done && type.error == COVEY_ETYPE);
    CU_ASSERT_STRING_EQUAL(type.text, "receive: wanted float, the message has 3 int32");
    CU_ASSERT(room.done && room.error == COVEY_ETRUNC);
    CU_ASSERT_STRING_EQUAL(room.text, "receive: the message has 3 elements, the array room for 2");
    CU_ASSERT_EQUAL(first_number(&whole), 10);
    send_numbers(&f, 0, 1, 20, 3); /* the same with the message there first */
    type.done = room.done = false;
    match_post(&f.vm, &type);
    match_post(&f.vm, &room);
    CU_ASSERT(type.error == COVEY_ETYPE && room.error == COVEY_ETRUNC);
    CU_ASSERT_EQUAL(receive_now(&f, 0, 1), 20);
    teardown(&f);
}

static void what_is_not_one_array_is_told(void)
{
    struct fixture f;
    int32_t numbers[4] = {1, 2, 3, 4};
    setup(&f);
    for (int items = 0; items < 3; items += 2) {
        covey_msg_t *msg = covey_msg_new();
        for (int i = 0; i < items; i++)
            covey_pack_int32(msg, numbers, 2, 1);
        struct sending s = sending_of(&f, 0, 1, msg);
        send_all(&f, &s, sizeof s.packed);
        covey_msg_free(msg);
        struct covey_req req = receive_array(&f, 0, 1, COVEY_INT32, numbers, 4);
        match_post(&f.vm, &req);
        CU_ASSERT_EQUAL(req.error, COVEY_ETYPE);
        CU_ASSERT_STRING_EQUAL(req.text, "receive: the message is not one array of int32");
        struct covey_req whole = receive(&f, 0, 1);
        match_post(&f.vm, &whole);
        CU_ASSERT(whole.done && whole.error == COVEY_OK);
        covey_msg_free(whole.owned);
    }
    teardown(&f);
}

static void an_array_of_another_byte_order_is_turned(void)
{
    struct fixture f;
    const int32_t packed[] = {0x01020304, 0x05060708};
    int32_t numbers[2] = {0};
    setup(&f);
    covey_msg_t *msg = covey_msg_new();
    covey_pack_int32(msg, packed, 2, 1);
    msg->representation = REPRESENTATION_LITTLE + REPRESENTATION_BIG - representation_native();
    for (int posted_first = 0; posted_first < 2; posted_first++) {
        struct sending s = sending_of(&f, 0, 1, msg);
        struct covey_req req = receive_array(&f, 0, 1, COVEY_INT32, numbers, 2);
        if (posted_first)
            match_post(&f.vm, &req);
        send_all(&f, &s, 20);
        if (!posted_first)
            match_post(&f.vm, &req);
        CU_ASSERT(req.done && req.error == COVEY_OK);
        CU_ASSERT(numbers[0] == 0x04030201 && numbers[1] == 0x08070605);
    }
    covey_msg_free(msg);
    teardown(&f);
}

/* ---- receives that are given up, senders that die -------------------------------------------- */

static void a_cancelled_receive_gives_its_message_back(void)
{
    for (int array = 0; array < 2; array++) {
        struct fixture f;
        int32_t numbers[20] = {0};
        setup(&f);
        struct covey_req req =
            array ? receive_array(&f, 0, 1, COVEY_INT32, numbers, 20) : receive(&f, 0, 1);
        struct sending s = sending_numbers(&f, 0, 1, 10, 20);
        match_post(&f.vm, &req);
        send_frame(&f, &s, 40);
        send_frame(&f, &s, 9);
        CU_ASSERT_EQUAL(f.vm.inbox.unexpected_bytes, 0);
        CU_ASSERT(match_cancel(&f.vm, &req));
        CU_ASSERT_EQUAL(f.vm.inbox.unexpected_bytes, 49);
        struct covey_req again = receive(&f, 0, 1);
        if (array)
            match_post(&f.vm, &again);
        send_all(&f, &s, 16);
        if (!array)
            match_post(&f.vm, &again);
        CU_ASSERT_PTR_NOT_NULL_FATAL(again.owned);
        CU_ASSERT_EQUAL(covey_unpack_int32(again.owned, numbers, 20, 1), COVEY_OK);
        CU_ASSERT(numbers_are(numbers, 10, 20));
        covey_msg_free(again.owned);
        CU_ASSERT_FALSE(match_cancel(&f.vm, &again)); /* it is done */
        teardown(&f);
    }
}

/* Two receives wait for the same message; the one that has it is cancelled. */
static void a_cancelled_receive_gives_its_message_to_another(void)
{
    for (int arrays = 0; arrays < 4; arrays++) {
        struct fixture f;
        int32_t first[20] = {0}, second[20] = {0};
        setup(&f);
        struct covey_req a =
            (arrays & 1) ? receive_array(&f, 0, 1, COVEY_INT32, first, 20) : receive(&f, 0, 1);
        struct covey_req b =
            (arrays & 2) ? receive_array(&f, -1, 1, COVEY_INT32, second, 20) : receive(&f, -1, 1);
        struct sending s = sending_numbers(&f, 0, 1, 10, 20);
        match_post(&f.vm, &a);
        match_post(&f.vm, &b);
        send_frame(&f, &s, 50);
        CU_ASSERT(match_cancel(&f.vm, &a));
        CU_ASSERT_PTR_NOT_NULL(b.receive.arrival);
        send_all(&f, &s, 16);
        CU_ASSERT(b.done && b.error == COVEY_OK);
        if (b.owned != NULL)
            covey_unpack_int32(b.owned, second, 20, 1);
        CU_ASSERT(numbers_are(second, 10, 20));
        covey_msg_free(b.owned);
        teardown(&f);
    }
}

static void a_message_put_back_keeps_its_place(void)
{
    struct fixture f;
    setup(&f);
    struct covey_req req = receive(&f, 0, 1);
    match_post(&f.vm, &req);
    struct sending s = sending_numbers(&f, 0, 1, 10, 5);
    send_frame(&f, &s, 20);
    send_numbers(&f, 1, 1, 20, 5);
    CU_ASSERT(match_cancel(&f.vm, &req));
    send_all(&f, &s, 20);
    CU_ASSERT_EQUAL(receive_now(&f, -1, 1), 10);
    CU_ASSERT_EQUAL(receive_now(&f, -1, 1), 20);
    teardown(&f);
}

static void a_receive_whose_sender_died_takes_another_message(void)
{
    struct fixture f;
    int32_t numbers[20] = {0}, others[20] = {0};
    setup(&f);
    struct covey_req req = receive_array(&f, -1, 1, COVEY_INT32, numbers, 20);
    struct covey_req later = receive_array(&f, -1, 1, COVEY_INT32, others, 20);
    match_post(&f.vm, &req);
    struct sending s = sending_numbers(&f, 0, 1, 10, 20);
    send_frame(&f, &s, 50);
    arrival_drop(&f.vm, &f.peers[0].in.inlet); /* nothing waits: it goes on waiting, as the first */
    CU_ASSERT_FALSE(req.done);
    match_post(&f.vm, &later);
    send_numbers(&f, 1, 1, 30, 20);
    CU_ASSERT(req.done && numbers_are(numbers, 30, 20) && !later.done);
    s = sending_numbers(&f, 2, 1, 40, 20);
    send_frame(&f, &s, 50);
    send_numbers(&f, 1, 1, 50, 20); /* unexpected, until the sender of the other dies */
    CU_ASSERT_FALSE(later.done);
    arrival_drop(&f.vm, &f.peers[2].in.inlet);
    CU_ASSERT(later.done && numbers_are(others, 50, 20));
    teardown(&f);
}

static void an_unexpected_message_dies_with_its_sender(void)
{
    struct fixture f;
    setup(&f);
    struct sending s = sending_numbers(&f, 0, 1, 10, 20);
    send_frame(&f, &s, 50);
    CU_ASSERT_EQUAL(f.vm.inbox.unexpected_bytes, 50);
    arrival_drop(&f.vm, &f.peers[0].in.inlet);
    CU_ASSERT_EQUAL(f.vm.inbox.unexpected_bytes, 0);
    CU_ASSERT_EQUAL(receive_now(&f, -1, COVEY_ANY_TAG), -1);
    teardown(&f);
}

static void receives_that_name_a_dead_sender_fail(void)
{
    struct fixture f;
    setup(&f);
    struct covey_req named = receive(&f, 0, 1), any = receive(&f, -1, 1), other = receive(&f, 1, 1);
    match_post(&f.vm, &named);
    match_post(&f.vm, &any);
    match_post(&f.vm, &other);
    send_numbers(&f, 0, 2, 10, 1);
    f.peers[0].gone = true;
    match_fail_source(&f.vm, &f.peers[0]);
    CU_ASSERT(named.done && named.error == COVEY_ENOTASK && !any.done && !other.done);
    CU_ASSERT_PTR_NOT_NULL(strstr(named.text, "t40001"));
    CU_ASSERT_EQUAL(receive_now(&f, 0, 2), 10); /* what it had sent is still there */
    struct covey_req late = receive(&f, 0, 2);
    match_post(&f.vm, &late);
    CU_ASSERT(late.done && late.error == COVEY_ENOTASK);
    match_cancel(&f.vm, &any);
    match_cancel(&f.vm, &other);
    teardown(&f);
}

/* ---- frames that a peer gets wrong ----------------------------------------------------------- */

static const char *begin(struct fixture *f, const struct message_header *header, size_t data)
{
    uint8_t preface[FRAME_MESSAGE_BYTES + ITEM_HEADER_BYTES] = {0};
    message_header_encode(header, preface);
    return arrival_begin(&f->vm, &f->peers[0], &f->peers[0].in.inlet, preface,
                         FRAME_MESSAGE_BYTES + data);
}

static void refused(const char *why, const char *text)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(why);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, text));
}

static void first_frames_are_checked(void)
{
    struct fixture f;
    const struct message_header good = {.size = 100, .representation = REPRESENTATION_LITTLE};
    struct message_header header = good;
    setup(&f);
    header.sequence = 1;
    refused(begin(&f, &header, 16), "out of sequence");
    header = good;
    header.size = 7;
    refused(begin(&f, &header, 8), "more data");
    refused(begin(&f, &good, 15), "first item");
    refused(begin(&f, &good, 0), "first item");
    header = good;
    header.representation = 3;
    CU_ASSERT_PTR_NOT_NULL(begin(&f, &header, 16));
    CU_ASSERT_EQUAL(f.peers[0].in.sequence, 0);
    CU_ASSERT_PTR_NULL(begin(&f, &good, 16));
    header = good;
    header.sequence = 1;
    refused(begin(&f, &header, 16), "before the one before it ended");
    teardown(&f);
}

static void data_without_a_message_are_dropped(void)
{
    struct fixture f;
    uint8_t bytes[64] = {0};
    size_t size = 10;
    setup(&f);
    CU_ASSERT_PTR_NULL(arrival_target(&f.peers[0].in.inlet, &size));
    const struct frame frame = {.kind = FRAME_DATA, .length = sizeof bytes};
    arrival_on_frame(&f.vm, &f.peers[0], &f.peers[0].in.inlet, &frame, bytes);
    const struct frame first = {.kind = FRAME_DATA, .length = 20, .flags = FRAME_FIRST};
    arrival_on_frame(&f.vm, &f.peers[0], &f.peers[0].in.inlet, &first, bytes);
    CU_ASSERT_PTR_NULL(f.vm.inbox.unexpected);
    /* more data than the message has: the rest is nobody's */
    struct sending s = sending_numbers(&f, 0, 1, 10, 2);
    send_all(&f, &s, sizeof s.packed);
    arrival_on_frame(&f.vm, &f.peers[0], &f.peers[0].in.inlet, &frame, bytes);
    CU_ASSERT_EQUAL(receive_now(&f, 0, 1), 10);
    f.peers[0].gone = true;
    send_numbers(&f, 0, 1, 20, 2);
    CU_ASSERT_EQUAL(receive_now(&f, -1, 1), -1);
    teardown(&f);
}

/* Messages of one sender over two routes: the one that overtakes is held back. */
static void messages_come_in_sequence_over_all_routes(void)
{
    struct fixture f;
    setup(&f);
    struct conn conn = {.vm = &f.vm, .peer = &f.peers[0]};
    f.vm.links.conns = &conn;
    struct sending s[4];
    for (int i = 0; i < 4; i++) {
        s[i] = sending_numbers(&f, 0, 1, 10 * i, 20);
        s[i].inlet = i % 2 == 0 ? &f.peers[0].in.inlet : &conn.inlet;
    }
    send_all(&f, &s[1], 30); /* overtakes */
    send_frame(&f, &s[3], 30);
    CU_ASSERT_PTR_NULL(f.vm.inbox.unexpected);
    send_frame(&f, &s[0], 50); /* it begins: the second may begin too */
    CU_ASSERT_PTR_NOT_NULL(f.vm.inbox.unexpected);
    send_all(&f, &s[0], 30);
    send_all(&f, &s[2], 30);
    send_all(&f, &s[3], 30);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(receive_now(&f, 0, 1), 10 * i);
    send_frame(
        &f,
        &(struct sending){
            .peer = &f.peers[0], /* far ahead: held, then dropped */
            .inlet = &conn.inlet,
            .header = {.sequence = 99, .size = 100, .representation = REPRESENTATION_LITTLE}},
        100);
    CU_ASSERT_PTR_NOT_NULL(conn.inlet.first);
    arrival_drop(&f.vm, &conn.inlet);
    CU_ASSERT_PTR_NULL(conn.inlet.first);
    teardown(&f);
}

/* ---- one sender's messages over several routes, one of which breaks -------------------------- */

/* Peer 0 with two links besides the daemon's stream. */
struct routes {
    struct fixture f;
    struct conn conns[2];
};

static void setup_routes(struct routes *r)
{
    setup(&r->f);
    for (int i = 0; i < 2; i++)
        r->conns[i] =
            (struct conn){.vm = &r->f.vm, .peer = &r->f.peers[0], .next = r->f.vm.links.conns};
    r->conns[1].next = &r->conns[0];
    r->f.vm.links.conns = &r->conns[1];
}

static void teardown_routes(struct routes *r)
{
    for (int i = 0; i < 2; i++)
        arrival_drop(&r->f.vm, &r->conns[i].inlet);
    teardown(&r->f);
    CU_ASSERT_PTR_NULL(r->f.peers[0].in.open);
}

/* The next message of peer 0, twenty numbers; route < 0: through the daemon. */
static struct sending sending_over(struct routes *r, int route, int tag, int32_t first)
{
    struct sending s = sending_numbers(&r->f, 0, tag, first, 20);
    if (route >= 0)
        s.inlet = &r->conns[route].inlet;
    return s;
}

static void a_message_is_complete_after_those_before_it(void)
{
    for (int array = 0; array < 2; array++) {
        struct routes r;
        int32_t numbers[20] = {0};
        setup_routes(&r);
        struct covey_req before = receive(&r.f, -1, 1);
        struct covey_req after =
            array ? receive_array(&r.f, -1, 2, COVEY_INT32, numbers, 20) : receive(&r.f, -1, 2);
        match_post(&r.f.vm, &after);
        struct sending first = sending_over(&r, 0, 1, 10), second = sending_over(&r, -1, 2, 30);
        struct sending third = sending_over(&r, 1, 3, 50);
        send_frame(&r.f, &first, 50);
        send_all(&r.f, &second, 30);
        send_frame(&r.f, &third, 50);
        CU_ASSERT_FALSE(after.done);
        CU_ASSERT(match_cancel(&r.f.vm, &after)); /* whole, it waits again for a receive */
        match_post(&r.f.vm, &after);
        match_post(&r.f.vm, &before);
        CU_ASSERT(!before.done && !after.done);
        send_numbers(&r.f, 1, 4, 70, 1); /* other senders go their own way */
        CU_ASSERT_EQUAL(receive_now(&r.f, 1, 4), 70);
        send_all(&r.f, &first, 16);
        CU_ASSERT_EQUAL(first_number(&before), 10);
        CU_ASSERT(after.done && after.error == COVEY_OK);
        CU_ASSERT_EQUAL(array ? numbers[0] : first_number(&after), 30);
        CU_ASSERT_EQUAL(receive_now(&r.f, 0, 3), -1);
        send_all(&r.f, &third, 50);
        CU_ASSERT_EQUAL(receive_now(&r.f, 0, 3), 50);
        teardown_routes(&r);
    }
}

/* The sender dies: what it sent before the lost message stays, what it sent after it goes. */
static void a_lost_message_takes_the_later_ones_with_it(void)
{
    struct routes r;
    setup_routes(&r);
    struct sending first = sending_over(&r, -1, 1, 10), lost = sending_over(&r, 0, 2, 30);
    struct sending whole = sending_over(&r, -1, 3, 50), begun = sending_over(&r, 1, 4, 70);
    send_all(&r.f, &first, 50);
    send_frame(&r.f, &lost, 50);
    send_all(&r.f, &whole, 50);
    send_frame(&r.f, &begun, 50);
    struct covey_req named = receive(&r.f, 0, 3);
    match_post(&r.f.vm, &named);
    CU_ASSERT_FALSE(named.done);
    arrival_drop(&r.f.vm, &r.conns[0].inlet);
    CU_ASSERT(!named.done && named.receive.arrival == NULL);
    send_all(&r.f, &begun, 10); /* its route is read on */
    struct sending late = sending_over(&r, 1, 3, 90);
    send_all(&r.f, &late, 50);
    late = sending_over(&r, 1, 3, 110);
    send_frame(&r.f, &late, 50); /* and lost in its turn */
    arrival_drop(&r.f.vm, &r.conns[1].inlet);
    CU_ASSERT_FALSE(named.done);
    CU_ASSERT_EQUAL(r.f.vm.inbox.unexpected_bytes, first.header.size);
    r.f.peers[0].gone = true;
    match_fail_source(&r.f.vm, &r.f.peers[0]);
    CU_ASSERT(named.done && named.error == COVEY_ENOTASK);
    CU_ASSERT_EQUAL(receive_now(&r.f, 0, COVEY_ANY_TAG), 10);
    CU_ASSERT_EQUAL(receive_now(&r.f, -1, COVEY_ANY_TAG), -1);
    teardown_routes(&r);
}

/* What was cast others got, too: it comes without what was sent before and is lost. */
static void what_was_cast_outlives_a_lost_message(void)
{
    struct routes r;
    setup_routes(&r);
    r.conns[1].inlet.cast = true;
    struct sending lost = sending_over(&r, 0, 1, 10), cast = sending_over(&r, 1, 1, 30);
    struct sending ordinary = sending_over(&r, -1, 1, 50);
    struct sending later = sending_over(&r, 1, 1, 70), last = sending_over(&r, -1, 1, 90);
    struct covey_req any = receive(&r.f, -1, COVEY_ANY_TAG);
    match_post(&r.f.vm, &any);
    send_frame(&r.f, &lost, 50);
    send_all(&r.f, &cast, 50);
    send_all(&r.f, &ordinary, 50);
    send_frame(&r.f, &later, 50);
    CU_ASSERT_FALSE(any.done);
    arrival_drop(&r.f.vm, &r.conns[0].inlet);
    CU_ASSERT_EQUAL(first_number(&any), 30); /* the receive of what is lost takes it */
    send_all(&r.f, &later, 50);
    send_all(&r.f, &last, 50);
    CU_ASSERT_EQUAL(receive_now(&r.f, -1, COVEY_ANY_TAG), 70);
    CU_ASSERT_EQUAL(receive_now(&r.f, -1, COVEY_ANY_TAG), -1);
    CU_ASSERT_EQUAL(r.f.vm.inbox.unexpected_bytes, 0);
    teardown_routes(&r);
}

/* A message before the lost one is still on its way, and arrives. */
static void what_was_sent_before_a_lost_message_arrives(void)
{
    struct routes r;
    setup_routes(&r);
    struct covey_req any = receive(&r.f, -1, COVEY_ANY_TAG);
    match_post(&r.f.vm, &any);
    struct sending first = sending_over(&r, -1, 1, 10), lost = sending_over(&r, 0, 2, 30);
    struct sending whole = sending_over(&r, 1, 3, 50);
    sending_over(&r, 0, 4, 70); /* never comes */
    struct sending early = sending_over(&r, 1, 5, 90);
    send_frame(&r.f, &first, 50);
    send_frame(&r.f, &lost, 50);
    send_all(&r.f, &whole, 50);
    send_all(&r.f, &early, 50); /* before its turn */
    arrival_drop(&r.f.vm, &r.conns[0].inlet);
    CU_ASSERT_FALSE(any.done);
    send_all(&r.f, &first, 16);
    CU_ASSERT_EQUAL(first_number(&any), 10);
    CU_ASSERT_EQUAL(receive_now(&r.f, -1, COVEY_ANY_TAG), -1);
    CU_ASSERT_EQUAL(r.f.vm.inbox.unexpected_bytes, 0);
    teardown_routes(&r);
}

/* Blocking receives of any task, one within the other (a handler's, say), that do not change for
 * another message: they get other messages, in the order in which they were posted. */
static void receives_of_lost_messages_take_others_in_order(void)
{
    for (int waiting = 0; waiting < 4; waiting++) {
        struct routes r;
        int32_t numbers[3][20];
        setup_routes(&r);
        struct covey_req reqs[3];
        struct sending s[3];
        for (int i = 0; i < 3; i++) {
            reqs[i] = receive_array(&r.f, -1, 1, COVEY_INT32, numbers[i], 20);
            match_post(&r.f.vm, &reqs[i]);
            s[i] = sending_over(&r, i - 1, 1, 10 * i);
        }
        send_frame(&r.f, &s[0], 50);
        send_all(&r.f, &s[1], 50);
        send_all(&r.f, &s[2], 50);
        for (int i = 0; i < waiting; i++)
            send_numbers(&r.f, 1, 1, 100 + i, 20);
        CU_ASSERT(!reqs[0].done && !reqs[1].done && !reqs[2].done);
        arrival_drop(&r.f.vm, &r.f.peers[0].in.inlet);
        for (int i = 0; i < 3; i++)
            CU_ASSERT_EQUAL(reqs[i].done, i < waiting);
        for (int i = waiting; i < 3; i++)
            send_numbers(&r.f, 1, 1, 100 + i, 20);
        for (int i = 0; i < 3; i++)
            CU_ASSERT(reqs[i].done && numbers_are(numbers[i], 100 + i, 20));
        teardown_routes(&r);
    }
}

/* The task of a broken link lives on: nobody waits for what will not be given out. */
static void receives_that_name_a_cut_sender_fail(void)
{
    struct routes r;
    setup_routes(&r);
    struct sending lost = sending_over(&r, 0, 1, 10);
    send_frame(&r.f, &lost, 50);
    r.f.peers[0].broken_at_us = 1;
    arrival_drop(&r.f.vm, &r.conns[0].inlet);
    struct covey_req early = receive(&r.f, 0, 1), late = receive(&r.f, 0, 1);
    match_post(&r.f.vm, &early);
    CU_ASSERT_FALSE(early.done); /* the news of its end may be on their way */
    r.f.peers[0].broken_at_us = 0;
    match_fail_source(&r.f.vm, &r.f.peers[0]);
    match_post(&r.f.vm, &late);
    CU_ASSERT(early.done && early.error != COVEY_OK && late.done && late.error != COVEY_OK);
    teardown_routes(&r);
}

static void a_message_made_here_is_delivered(void)
{
    struct fixture f;
    const int32_t number = 42;
    setup(&f);
    struct covey_req req = receive(&f, -1, 5);
    for (int posted_first = 0; posted_first < 2; posted_first++) {
        covey_msg_t *msg = message_receive(24, representation_native());
        item_header_encode(message_bytes(msg), COVEY_INT32, 1);
        memcpy(message_bytes(msg) + ITEM_HEADER_BYTES, &number, sizeof number);
        msg->info = (struct covey_info){.tag = 5};
        req = receive(&f, -1, 5);
        if (posted_first)
            match_post(&f.vm, &req);
        arrival_deliver(&f.vm, 0, &msg);
        CU_ASSERT_PTR_NULL(msg);
        if (!posted_first)
            match_post(&f.vm, &req);
        CU_ASSERT_EQUAL(first_number(&req), 42);
    }
    teardown(&f);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* There is no memory for the message: its receive says so, and the next one is whole. */
static void a_message_without_memory_ends_its_receive(void)
{
    if (!MEMORY_CAN_FAIL) {
        covey_test_skip("a sanitizer owns malloc in this build");
        return;
    }
    for (int way = 0; way < 4; way++) {
        struct fixture f;
        int32_t numbers[100];
        setup(&f);
        struct covey_req req =
            way < 2 ? receive(&f, 0, 1) : receive_array(&f, 0, 1, COVEY_INT32, numbers, 100);
        struct sending s = sending_numbers(&f, 0, 1, 10, 100);
        if (way == 1)
            match_post(&f.vm, &req);
        memory.largest = 300;
        send_frame(&f, &s, 100);
        if (way == 3)
            match_post(&f.vm, &req);
        send_all(&f, &s, 100);
        memory.largest = 0;
        if (way % 2 == 0)
            match_post(&f.vm, &req);
        CU_ASSERT(req.done && req.error == COVEY_ENOMEM);
        send_numbers(&f, 0, 1, 30, 100);
        CU_ASSERT_EQUAL(receive_now(&f, 0, 1), 30);
        teardown(&f);
    }
}

/* A receive into an array is cancelled and nothing can keep what had come. */
static void a_message_that_cannot_be_put_back_ends_the_next_receive(void)
{
    if (!MEMORY_CAN_FAIL) {
        covey_test_skip("a sanitizer owns malloc in this build");
        return;
    }
    struct fixture f;
    int32_t first[100], second[100];
    setup(&f);
    struct covey_req a = receive_array(&f, 0, 1, COVEY_INT32, first, 100);
    struct covey_req b = receive_array(&f, 0, 1, COVEY_INT32, second, 100);
    struct sending s = sending_numbers(&f, 0, 1, 10, 100);
    match_post(&f.vm, &a);
    match_post(&f.vm, &b);
    send_frame(&f, &s, 200);
    memory.largest = 300;
    CU_ASSERT(match_cancel(&f.vm, &a));
    memory.largest = 0;
    send_all(&f, &s, 100);
    CU_ASSERT(b.done && b.error == COVEY_ENOMEM);
    teardown(&f);
}

/* ---- anything at random ---------------------------------------------------------------------- */

enum { REQS = 6, TAGS = 2 };

struct slot {
    struct covey_req req;
    bool used;
    int32_t array[100];
};

struct chaos {
    struct fixture f;
    struct slot slots[REQS];
    struct sending sending[PEERS];
    int32_t next[PEERS];           /* number of the next message of a peer */
    int32_t received[PEERS][TAGS]; /* the last one taken */
    int32_t outstanding;
    uint64_t random;
};

/* A message carries its number, as often as chance says. */
static void chaos_send(struct chaos *c, int peer)
{
    struct sending *s = &c->sending[peer];
    if (s->sent == s->header.size) {
        int32_t numbers[100];
        size_t count = 1 + (size_t)random_below(&c->random, 100);
        covey_msg_t *msg = covey_msg_new();
        c->next[peer]++;
        c->outstanding++;
        for (size_t i = 0; i < count; i++)
            numbers[i] = c->next[peer];
        covey_pack_int32(msg, numbers, count, 1);
        *s = sending_of(&c->f, peer, (int)random_below(&c->random, TAGS), msg);
        covey_msg_free(msg);
    }
    send_frame(&c->f, s, 16 + (size_t)random_below(&c->random, 200));
}

/* Looks at what a receive got, which is free then. */
static void chaos_finish(struct chaos *c, struct slot *slot)
{
    struct covey_req *req = &slot->req;
    size_t count = req->receive.count;
    CU_ASSERT_EQUAL(req->error, COVEY_OK);
    if (req->owned != NULL) {
        int type;
        covey_peek(req->owned, &type, &count);
        CU_ASSERT_EQUAL(covey_unpack_int32(req->owned, slot->array, count, 1), COVEY_OK);
        covey_msg_free(req->owned);
    }
    for (size_t k = 1; k < count; k++)
        CU_ASSERT_EQUAL(slot->array[k], slot->array[0]);
    int32_t *last = &c->received[req->info.source - FIRST_TID][req->info.tag];
    CU_ASSERT(slot->array[0] > *last); /* in order, and none twice */
    *last = slot->array[0];
    c->outstanding--;
    slot->used = false;
}

static void chaos_post(struct chaos *c, struct slot *slot)
{
    int peer = (int)random_below(&c->random, PEERS + 1) - 1;
    int tag = (int)random_below(&c->random, TAGS + 1) - 1;
    slot->req = random_below(&c->random, 2) == 0
                    ? receive(&c->f, peer, tag)
                    : receive_array(&c->f, peer, tag, COVEY_INT32, slot->array, 100);
    slot->used = true;
    match_post(&c->f.vm, &slot->req);
}

static void chaos_cancel(struct chaos *c, struct slot *slot)
{
    if (slot->used && match_cancel(&c->f.vm, &slot->req))
        slot->used = false;
}

/* Nobody waits for a message that is there. */
static void chaos_check(const struct chaos *c)
{
    uint64_t bytes = 0;
    for (const struct covey_req *req = c->f.vm.inbox.posted; req != NULL; req = req->next)
        CU_ASSERT_PTR_NULL(match_find(&c->f.vm, req->receive.source, req->tag, req->context));
    for (const struct arrival *a = c->f.vm.inbox.unexpected; a != NULL; a = a->next) {
        CU_ASSERT(a->next == NULL || a->next->number > a->number);
        bytes += a->received;
    }
    CU_ASSERT_EQUAL(c->f.vm.inbox.unexpected_bytes, bytes);
}

static void chaos_step(struct chaos *c)
{
    struct slot *slot = &c->slots[random_below(&c->random, REQS)];
    uint64_t what = random_below(&c->random, 10);
    if (what < 6)
        chaos_send(c, (int)random_below(&c->random, PEERS));
    else if (what == 6)
        chaos_cancel(c, slot);
    else if (!slot->used)
        chaos_post(c, slot);
    for (int k = 0; k < REQS; k++) {
        if (c->slots[k].used && c->slots[k].req.done)
            chaos_finish(c, &c->slots[k]);
    }
    chaos_check(c);
}

static void everything_at_random_arrives_once_and_in_order(void)
{
    static struct chaos c;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        memset(&c, 0, sizeof c);
        setup(&c.f);
        c.random = seed;
        for (int step = 0; step < 2000; step++)
            chaos_step(&c);
        for (int i = 0; i < REQS; i++)
            chaos_cancel(&c, &c.slots[i]);
        for (int peer = 0; peer < PEERS; peer++)
            send_all(&c.f, &c.sending[peer], 100);
        while (c.f.vm.inbox.unexpected != NULL) {
            c.slots[0].req = receive(&c.f, -1, COVEY_ANY_TAG);
            c.slots[0].used = true;
            match_post(&c.f.vm, &c.slots[0].req);
            chaos_finish(&c, &c.slots[0]);
        }
        CU_ASSERT_EQUAL(c.outstanding, 0);
        teardown(&c.f);
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        {"what ends the last receive is told", what_ends_the_last_receive_is_told},
        {"a receive takes the oldest message that fits",
         a_receive_takes_the_oldest_message_that_fits},
        {"a message takes the oldest receive that it fits",
         a_message_takes_the_oldest_receive_that_it_fits},
        {"a receive from any task prefers what is complete",
         a_receive_from_any_task_prefers_what_is_complete},
        {"a message is not overtaken by those of its sender",
         a_message_is_not_overtaken_by_those_of_its_sender},
        {"messages by rank are those of programs", messages_by_rank_are_those_of_programs},
        {"contexts do not meet", contexts_do_not_meet},
        {"a message of a dead context is for nobody", a_message_of_a_dead_context_is_for_nobody},
        {"what is purged leaves the rest", what_is_purged_leaves_the_rest},
        {"a probe leaves the message", a_probe_leaves_the_message},
        {"a descriptor is readable while a message waits",
         a_descriptor_is_readable_while_a_message_waits},
        {"an array goes straight to its place", an_array_goes_straight_to_its_place},
        {"an array may be asked for in the middle", an_array_may_be_asked_for_in_the_middle},
        {"an array that does not fit leaves the message",
         an_array_that_does_not_fit_leaves_the_message},
        {"what is not one array is told", what_is_not_one_array_is_told},
        {"an array of another byte order is turned", an_array_of_another_byte_order_is_turned},
        {"a cancelled receive gives its message back", a_cancelled_receive_gives_its_message_back},
        {"a cancelled receive gives its message to another",
         a_cancelled_receive_gives_its_message_to_another},
        {"a message put back keeps its place", a_message_put_back_keeps_its_place},
        {"a receive whose sender died takes another message",
         a_receive_whose_sender_died_takes_another_message},
        {"an unexpected message dies with its sender", an_unexpected_message_dies_with_its_sender},
        {"receives that name a dead sender fail", receives_that_name_a_dead_sender_fail},
        {"first frames are checked", first_frames_are_checked},
        {"data without a message are dropped", data_without_a_message_are_dropped},
        {"messages come in sequence over all routes", messages_come_in_sequence_over_all_routes},
        {"a message is complete after those before it",
         a_message_is_complete_after_those_before_it},
        {"a lost message takes the later ones with it",
         a_lost_message_takes_the_later_ones_with_it},
        {"what was cast outlives a lost message", what_was_cast_outlives_a_lost_message},
        {"what was sent before a lost message arrives",
         what_was_sent_before_a_lost_message_arrives},
        {"receives of lost messages take others in order",
         receives_of_lost_messages_take_others_in_order},
        {"receives that name a cut sender fail", receives_that_name_a_cut_sender_fail},
        {"a message made here is delivered", a_message_made_here_is_delivered},
        {"a message without memory ends its receive", a_message_without_memory_ends_its_receive},
        {"a message that cannot be put back ends the next receive",
         a_message_that_cannot_be_put_back_ends_the_next_receive},
        {"everything at random arrives once and in order",
         everything_at_random_arrives_once_and_in_order},
    };
    return covey_test_main("match", cases, sizeof cases / sizeof cases[0]);
}
