/* links: proto/wire/host.c proto/wire/contention_config.c proto/member/member.c proto/member/registry.c proto/member/departure.c proto/member/replica.c proto/member/detector.c proto/member/roll.c proto/member/election.c proto/member/table.c proto/wire/control.c proto/contention/contention.c proto/wire/address.c proto/wire/cursor.c */
/*
 * member_test.c - one member engine alone: what it asks for, what it refuses. (Whole VMs: see
 * tests/sim/vm_test.c.)
 */
#include "proto/member/member.h"

#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/control.h"
#include "proto/wire/datagram.h"
#include "tests/unit/memory.h"
#include "tests/unit/runner.h"

#define FAIL_TIMEOUT_US 5000000u
#define SENT_MAX 64

/* What the engine asked of its owner. */
struct witness {
    struct {
        uint32_t host;
        uint8_t kind;
        uint8_t payload[2048];
        size_t size;
    } sent[SENT_MAX];
    size_t sent_count;
    struct member *member;
    bool needed; /* the host that wants to leave */
    bool slow;   /* the log agrees to nothing by itself: change[] is what was proposed last */
    uint8_t change[4096];
    size_t change_size;
    unsigned pings, probes, rolls, reopened, closed, joined, proposed;
    uint64_t founded;
    int ended;
    int last_event;
    uint32_t last_event_host;
    char line[320];
};

static void on_send(void *context, uint32_t host, uint8_t kind, const uint8_t *payload, size_t size,
                    uint64_t now_us)
{
    struct witness *w = context;

    (void)now_us;
    if (w->sent_count == SENT_MAX || size > sizeof w->sent[0].payload)
        return;
    w->sent[w->sent_count].host = host;
    w->sent[w->sent_count].kind = kind;
    w->sent[w->sent_count].size = size;
    if (size > 0)
        memcpy(w->sent[w->sent_count].payload, payload, size);
    w->sent_count++;
}

static void on_ping(void *context, uint32_t host, uint8_t kind, uint32_t target, uint64_t now_us)
{
    struct witness *w = context;

    (void)host, (void)target, (void)now_us;
    w->pings += kind == DATAGRAM_PING;
    w->probes += kind == DATAGRAM_PROBE;
}

static void on_reopen(void *context, uint32_t host, uint64_t now_us)
{
    struct witness *w = context;

    (void)host, (void)now_us;
    w->reopened++;
}

static void on_roll(void *context, uint32_t host, uint32_t number)
{
    struct witness *w = context;

    (void)host, (void)number;
    w->rolls++;
}

static int64_t on_propose(void *context, const uint8_t *bytes, size_t size, uint64_t now_us)
{
    struct witness *w = context;

    CU_ASSERT_FATAL(size <= sizeof w->change);
    memcpy(w->change, bytes, size);
    w->change_size = size;
    w->proposed++;
    if (!w->slow)
        member_on_change(w->member, bytes, size, now_us);
    return 1;
}

static void on_found(void *context, uint64_t generation, uint64_t now_us)
{
    struct witness *w = context;

    w->founded = generation;
    member_lead(w->member, epoch_make(generation, 1), now_us);
}

static void on_close(void *context, uint32_t host, uint64_t now_us)
{
    struct witness *w = context;

    (void)host, (void)now_us;
    w->closed++;
}

static size_t on_queued(void *context, uint32_t host)
{
    (void)context, (void)host;
    return 0;
}

static bool on_needed(void *context)
{
    return ((struct witness *)context)->needed;
}

static bool on_spares(void *context, uint32_t host)
{
    (void)host;
    return !((struct witness *)context)->needed;
}

static void on_host(void *context, const struct host *host, int event)
{
    struct witness *w = context;

    w->last_event = event;
    w->last_event_host = host->index;
}

static void on_joined(void *context)
{
    struct witness *w = context;

    w->joined++;
}

static void on_ended(void *context, int why, const char *text)
{
    struct witness *w = context;

    (void)text;
    w->ended = why;
}

static void on_log(void *context, const char *line)
{
    struct witness *w = context;

    snprintf(w->line, sizeof w->line, "%s", line);
}

static struct counters counters;

static bool no_memory;

static bool memory_fails(size_t size)
{
    (void)size;
    return no_memory;
}

static struct host host_of(uint32_t index, const char *name)
{
    struct host host = {.name = name, .arch = "", .index = index, .state = HOST_UP};

    host.id[0] = (uint8_t)index;
    return host;
}

static struct member *create(struct witness *w, uint32_t index)
{
    struct member_owner owner = {.context = w,
                                 .send = on_send,
                                 .ping = on_ping,
                                 .reopen = on_reopen,
                                 .roll = on_roll,
                                 .propose = on_propose,
                                 .found = on_found,
                                 .close = on_close,
                                 .queued = on_queued,
                                 .needed = on_needed,
                                 .spares = on_spares,
                                 .host = on_host,
                                 .joined = on_joined,
                                 .ended = on_ended,
                                 .log = on_log};
    struct member_config config = {.self = host_of(index, "self"),
                                   .fail_timeout_us = FAIL_TIMEOUT_US,
                                   .join_timeout_us = 20000000,
                                   .counters = &counters};

    memset(w, 0, sizeof *w);
    return w->member = member_create(&config, &owner);
}

/* The first host of a VM, which leads the log. */
static struct member *create_first(struct witness *w)
{
    struct member *m = create(w, 0);

    member_bootstrap(m, 0);
    member_lead(m, epoch_make(1, 2), 0);
    member_step(m, 0);
    return m;
}

/* The first frame of a kind to a host, or NULL. */
static size_t find_sent(const struct witness *w, uint32_t host, uint8_t kind)
{
    size_t i = 0;

    while (i < w->sent_count && (w->sent[i].host != host || w->sent[i].kind != kind))
        i++;
    return i;
}

static void give_ack_of(struct member *m, uint32_t host, bool missing, uint64_t now_us)
{
    uint8_t ack[17];
    struct cursor c = cursor_writer(ack, sizeof ack);

    cursor_put_u64(&c, member_table(m)->epoch);
    cursor_put_u64(&c, member_table(m)->version);
    cursor_put_u8(&c, missing);
    member_on_frame(m, host, FRAME_TABLE_ACK, ack, sizeof ack, now_us);
    member_step(m, now_us);
}

static void give_ack(struct member *m, uint32_t host, uint64_t now_us)
{
    give_ack_of(m, host, false, now_us);
}

/* Lets a host join at a coordinator; its index. */
static uint32_t let_join(struct member *m, const char *name, uint64_t now_us)
{
    uint64_t incarnation;
    int index = member_invite(m, name, &incarnation, now_us);
    struct host host = host_of((uint32_t)index, name);
    uint8_t payload[512];
    struct cursor c = cursor_writer(payload, sizeof payload);

    CU_ASSERT_FATAL(index > 0);
    control_put_host(&c, &host);
    member_bind(m, host.index, host.id);
    member_on_heard(m, host.index, now_us);
    member_on_frame(m, host.index, FRAME_JOIN, payload, (size_t)(c.at - payload), now_us);
    member_step(m, now_us);
    return host.index;
}

static void bootstrap_is_up_at_once(void)
{
    struct witness w;
    struct member *m = create(&w, 0);

    CU_ASSERT_FALSE(member_is_up(m));
    member_bootstrap(m, 0);
    CU_ASSERT(member_is_up(m));
    CU_ASSERT_EQUAL(w.joined, 1);
    CU_ASSERT_EQUAL(member_self(m), 1);
    CU_ASSERT_EQUAL(member_table(m)->coordinator, 1);
    CU_ASSERT_FALSE(member_in_office(m));
    member_lead(m, epoch_make(1, 2), 0);
    member_step(m, 0);
    CU_ASSERT(member_in_office(m));
    CU_ASSERT_EQUAL(member_table(m)->epoch, epoch_make(1, 2));
    /* alone, it has nothing to do */
    member_step(m, 0);
    CU_ASSERT(member_holds_office(m));
    CU_ASSERT_EQUAL(member_step(m, 1), UINT64_MAX);
    member_destroy(m);
}

static void invitations(void)
{
    struct witness w;
    struct member *m = create(&w, 0);
    uint64_t first = 0, second = 0;

    CU_ASSERT_EQUAL(member_invite(m, "b", &first, 0), -EPERM);
    member_bootstrap(m, 0);
    CU_ASSERT_EQUAL(member_invite(m, "b", &first, 0), 2);
    CU_ASSERT_EQUAL(member_invite(m, "b", &second, 0), -EEXIST);
    CU_ASSERT_EQUAL(member_invite(m, "self", &second, 0), -EEXIST);
    member_uninvite(m, 2, 0);
    CU_ASSERT_EQUAL(member_invite(m, "b", &second, 0), 3);
    CU_ASSERT(second > first);
    CU_ASSERT_EQUAL(w.sent_count, 0);
    member_destroy(m);
}

static void indices_run_out(void)
{
    struct witness w;
    struct member *m = create_first(&w);
    uint64_t incarnation;
    char name[16];
    int index = 0;

    for (unsigned i = 2; i <= HOST_INDEX_MAX; i++) {
        snprintf(name, sizeof name, "h%u", i);
        index = member_invite(m, name, &incarnation, 0);
    }
    CU_ASSERT_EQUAL(index, (int)HOST_INDEX_MAX);
    CU_ASSERT_EQUAL(member_invite(m, "one more", &incarnation, 0), -ENOSPC);
    member_uninvite(m, 7, 0);
    CU_ASSERT_EQUAL(member_invite(m, "one more", &incarnation, 0), 7);
    member_destroy(m);
}

/* The third host is up only when one of the two others knows of it. */
static void joining_needs_a_quorum(void)
{
    struct witness w;
    struct member *m = create_first(&w);
    uint32_t b, c;

    b = let_join(m, "b", 10);
    CU_ASSERT_EQUAL(table_row(member_table(m), b)->host.state, HOST_UP);
    give_ack(m, b, 20);
    c = let_join(m, "c", 30);
    CU_ASSERT_EQUAL(table_row(member_table(m), c)->host.state, HOST_JOINING);
    CU_ASSERT(find_sent(&w, b, FRAME_TABLE) < w.sent_count);
    CU_ASSERT(find_sent(&w, c, FRAME_TABLE) < w.sent_count);
    give_ack(m, b, 40);
    CU_ASSERT_EQUAL(table_row(member_table(m), c)->host.state, HOST_UP);
    CU_ASSERT_EQUAL(w.last_event, NODE_HOST_ADDED);
    CU_ASSERT_EQUAL(w.last_event_host, c);
    member_destroy(m);
}

/* Who has not what a change is based on says so, perhaps of several changes, and is sent the full
 * table once. */
static void full_table_on_demand(void)
{
    struct witness w;
    struct member *m = create_first(&w);
    uint32_t b = let_join(m, "b", 10);

    give_ack(m, b, 20);
    w.sent_count = 0;
    give_ack_of(m, b, true, 30);
    CU_ASSERT_EQUAL(w.sent_count, 1);
    CU_ASSERT_FATAL(find_sent(&w, b, FRAME_TABLE) < w.sent_count);
    CU_ASSERT(w.sent[0].payload[0] & TABLE_FULL);
    give_ack_of(m, b, true, 40);
    CU_ASSERT_EQUAL(w.sent_count, 1);
    member_destroy(m);
}

/* Rows of the gone go when another daemon is up under the name; not before, nor while something is
 * still to be said of them. */
static void rows_of_the_gone_go(void)
{
    struct table t = {.next_index = 9};
    struct host host = host_of(1, "h");

    host.state = HOST_DOWN;
    table_add(&t, &host)->dirty = true;
    host = host_of(2, "h");
    host.incarnation = 7;
    table_add(&t, &host);
    table_row(&t, 1)->host.incarnation = 3;
    table_tidy(&t);
    CU_ASSERT_EQUAL(t.count, 2);
    table_rise(&t, table_row(&t, 2));
    table_tidy(&t);
    CU_ASSERT_EQUAL(t.count, 2);
    table_row(&t, 1)->dirty = false;
    table_tidy(&t);
    CU_ASSERT_EQUAL(t.count, 1);
    table_clear(&t);
}

/* A row keeps what it was told, whoever's it was, and if it was its own. */
static void rows_keep_what_they_say(void)
{
    struct table t = {.next_index = 9};
    struct host_room room = {.name = "anne", .arch = "x", .addresses = {{ADDRESS_ETHER, 6, {2}}}};
    const struct address address = room.addresses[0];
    struct host host = host_in(&room), other = host_of(2, "bert");

    host.index = 1;
    host.state = HOST_UP;
    host.address_count = 1;
    struct row *row = table_add(&t, &host);
    CU_ASSERT_PTR_NOT_NULL_FATAL(row);
    memset(&room, 0, sizeof room);
    for (uint32_t cores = 0; cores < 2; cores++) {
        CU_ASSERT_EQUAL(row->host.cores, cores);
        CU_ASSERT_STRING_EQUAL(row->host.name, "anne");
        CU_ASSERT_STRING_EQUAL(row->host.arch, "x");
        CU_ASSERT(address_equal(&row->host.addresses[0], &address));
        host = row->host;
        host.cores++;
        CU_ASSERT(table_describe(row, &host));
    }
    CU_ASSERT(table_describe(row, &row->host));
    if (MEMORY_CAN_FAIL) {
        no_memory = true;
        CU_ASSERT_PTR_NULL(table_add(&t, &other));
        CU_ASSERT_FALSE(table_describe(row, &other));
        no_memory = false;
        CU_ASSERT_EQUAL(t.count, 1);
    }
    CU_ASSERT_STRING_EQUAL(row->host.name, "anne");
    CU_ASSERT_EQUAL(row->host.cores, 2);
    host_keep(&host, &room, &row->host);
    host_keep(&host, &room, &host); /* where it lies already */
    other.index = 1;
    CU_ASSERT(table_describe(row, &other));
    CU_ASSERT_STRING_EQUAL(row->host.name, "bert");
    CU_ASSERT_EQUAL(row->host.address_count, 0);
    CU_ASSERT_STRING_EQUAL(host.name, "anne");
    CU_ASSERT(address_equal(&host.addresses[0], &address));
    table_clear(&t);
}

/* What is in a row of the table is read back, whatever form it was written in. */
static void rows_come_back(void)
{
    struct table t = {.epoch = 1, .version = 1, .next_index = 9};
    uint8_t bytes[4096];
    struct table_head head;
    struct host_room room = {0};
    struct host read = host_in(&room);
    uint8_t flags;
    size_t at = 0;

    for (uint32_t i = 1; i <= 4; i++) {
        struct host host = host_of(i, "h");
        host.cores = i / 3; /* two and two are of one kind */
        host.memory_bytes = 77;
        table_add(&t, &host)->flags = ROW_VOTER;
    }
    size_t size = table_encode(&t, &at, bytes, sizeof bytes);
    struct cursor c = cursor_reader(bytes, size);
    CU_ASSERT(table_is_well_formed(bytes, size, &head));
    table_get_head(&c, &head);
    for (uint32_t i = 1; i <= 4; i++) {
        const struct host *host = &table_row(&t, i)->host;
        CU_ASSERT(table_get_row(&c, &read, &room, &flags));
        CU_ASSERT_EQUAL(flags, ROW_VOTER);
        CU_ASSERT(read.index == i && read.state == HOST_UP && read.cores == i / 3);
        CU_ASSERT(read.memory_bytes == 77 && read.address_count == host->address_count);
        CU_ASSERT(memcmp(read.id, host->id, HOST_ID_BYTES) == 0);
        CU_ASSERT_STRING_EQUAL(read.name, host->name);
        CU_ASSERT_STRING_EQUAL(read.arch, host->arch);
    }
    CU_ASSERT(cursor_done(&c));
    table_row(&t, 3)->dirty = true;
    table_row(&t, 3)->wanted = HOST_SUSPECT;
    at = 0;
    size_t change = table_encode_change(&t, 2, 1, &at, bytes, sizeof bytes);
    CU_ASSERT(change < 64); /* head and index */
    CU_ASSERT(table_is_well_formed(bytes, change, &head));
    CU_ASSERT(head.base_epoch == 1 && head.base == 1 && head.epoch == 2 && head.version == 2);
    bytes[0] |= TABLE_FULL; /* which has no brief rows */
    CU_ASSERT_FALSE(table_is_well_formed(bytes, change, &head));
    table_clear(&t);
}

static void joins_that_are_refused(void)
{
    struct witness w;
    struct member *m = create_first(&w);
    struct host host = host_of(2, "other");
    uint64_t incarnation;
    uint8_t payload[512];
    struct cursor c = cursor_writer(payload, sizeof payload);

    member_invite(m, "b", &incarnation, 0);
    control_put_host(&c, &host);
    member_bind(m, 2, host.id);
    member_on_frame(m, 2, FRAME_JOIN, payload, (size_t)(c.at - payload), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(w.line, "invited under another name"));
    member_on_frame(m, 2, FRAME_JOIN, payload, 7, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(w.line, "malformed"));
    CU_ASSERT_EQUAL(table_row(member_table(m), 2)->host.state, HOST_JOINING);
    if (MEMORY_CAN_FAIL) {
        host.name = "b";
        c = cursor_writer(payload, sizeof payload);
        control_put_host(&c, &host);
        no_memory = true;
        member_on_frame(m, 2, FRAME_JOIN, payload, (size_t)(c.at - payload), 0);
        no_memory = false;
        CU_ASSERT_PTR_NOT_NULL(strstr(w.line, "no memory"));
        CU_ASSERT(table_row(member_table(m), 2)->invited);
    }
    member_destroy(m);
}

/* A host falls silent: pings, suspicion, probes through others, gone, with nothing heard. */
static void silence(void)
{
    struct witness w;
    struct member *m = create_first(&w);
    uint64_t now = 0;
    uint32_t b, c;

    b = let_join(m, "b", 0);
    give_ack(m, b, 0);
    c = let_join(m, "c", 0);
    give_ack(m, b, 0);
    for (; now < FAIL_TIMEOUT_US / 2 + 600000; now += 100000) {
        member_on_heard(m, b, now);
        member_step(m, now);
    }
    CU_ASSERT_EQUAL(w.last_event, NODE_HOST_SUSPECT);
    CU_ASSERT_EQUAL(w.last_event_host, c);
    CU_ASSERT(w.pings > 5);
    CU_ASSERT(w.probes > 0);
    CU_ASSERT(w.reopened > 0);
    for (; now < FAIL_TIMEOUT_US + 1000000; now += 100000) {
        member_on_heard(m, b, now);
        member_step(m, now);
        give_ack(m, b, now);
    }
    CU_ASSERT_EQUAL(w.last_event, NODE_HOST_GONE);
    CU_ASSERT_EQUAL(w.last_event_host, c);
    CU_ASSERT_EQUAL(w.closed, 1);
    member_destroy(m);
}

/* The same silence, but it was this process that stood still. */
static void own_slowness(void)
{
    struct witness w;
    struct member *m = create_first(&w);
    uint32_t b;

    b = let_join(m, "b", 0);
    give_ack(m, b, 0);
    member_on_heard(m, b, 100);
    member_on_late(m, 60000000);
    member_step(m, 60000000);
    CU_ASSERT_EQUAL(table_row(member_table(m), b)->host.state, HOST_UP);
    member_destroy(m);
}

/* ---- a member ---- */

/* A full table of a coordinator 1, this host 2 and `others` more. */
static size_t make_table(uint8_t *bytes, size_t capacity, uint64_t version, uint32_t others)
{
    struct table t = {.epoch = epoch_make(1, 2), .version = version, .next_index = 10};
    size_t at = 0, size;

    for (uint32_t i = 1; i <= 2 + others; i++) {
        char name[16];
        struct host host;

        snprintf(name, sizeof name, "h%u", i);
        host = host_of(i, name);
        table_add(&t, &host);
    }
    table_set_coordinator(&t, 1);
    size = table_encode(&t, &at, bytes, capacity);
    table_clear(&t);
    return size;
}

static struct member *create_joined(struct witness *w, uint32_t others)
{
    struct member *m = create(w, 2);
    struct host coordinator = host_of(1, "h1");
    uint8_t bytes[8192];
    size_t size = make_table(bytes, sizeof bytes, 5, others);

    member_join(m, &coordinator, 0);
    CU_ASSERT_EQUAL(find_sent(w, 1, FRAME_JOIN), 0);
    CU_ASSERT_EQUAL(w->joined, 0);
    member_on_heard(m, 1, 0);
    member_on_frame(m, 1, FRAME_TABLE, bytes, size, 0);
    CU_ASSERT_EQUAL(w->joined, 1);
    return m;
}

static void table_is_acknowledged(void)
{
    struct witness w;
    struct member *m = create_joined(&w, 1);
    struct cursor c;
    size_t i = find_sent(&w, 1, FRAME_TABLE_ACK);

    CU_ASSERT_FATAL(i < w.sent_count);
    c = cursor_reader(w.sent[i].payload, w.sent[i].size);
    CU_ASSERT_EQUAL(cursor_get_u64(&c), epoch_make(1, 2));
    CU_ASSERT_EQUAL(cursor_get_u64(&c), 5);
    CU_ASSERT_EQUAL(cursor_get_u8(&c), 0);
    CU_ASSERT(cursor_done(&c));
    CU_ASSERT_EQUAL(w.last_event_host, 3);
    member_destroy(m);
}

static void tables_that_are_refused(void)
{
    struct witness w;
    struct member *m = create_joined(&w, 1);
    uint8_t bytes[8192];
    size_t size = make_table(bytes, sizeof bytes, 4, 4);

    member_on_frame(m, 1, FRAME_TABLE, bytes, size, 0);
    CU_ASSERT_PTR_NULL(table_row(member_table(m), 6)); /* an older version */
    size = make_table(bytes, sizeof bytes, 6, 4);
    member_on_frame(m, 1, FRAME_TABLE, bytes, size - 1, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(w.line, "malformed"));
    bytes[0] &= (uint8_t)~TABLE_FULL; /* a change, of version 0 */
    member_on_frame(m, 1, FRAME_TABLE, bytes, size, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(w.line, "version that is not here"));
    CU_ASSERT_EQUAL(w.sent[w.sent_count - 1].kind, FRAME_TABLE_ACK); /* which says so */
    CU_ASSERT_EQUAL(w.sent[w.sent_count - 1].payload[16], 1);
    bytes[39] = 3; /* a coordinator who is not the sender */
    member_on_frame(m, 1, FRAME_TABLE, bytes, size, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(w.line, "does not coordinate"));
    CU_ASSERT_EQUAL(member_table(m)->version, 5);
    member_destroy(m);
}

static void join_times_out(void)
{
    struct witness w;
    struct member *m = create(&w, 2);
    struct host coordinator = host_of(1, "h1");

    member_join(m, &coordinator, 0);
    CU_ASSERT_EQUAL(member_step(m, 0), 20000000);
    member_step(m, 20000000);
    CU_ASSERT_EQUAL(w.ended, NODE_END_JOIN_FAILED);
    CU_ASSERT_EQUAL(member_step(m, 20000001), UINT64_MAX);
    member_destroy(m);
}

static void refusal_by_the_coordinator_counts(void)
{
    struct witness w;
    struct member *m = create_joined(&w, 1);

    member_on_refused(m, 3, REASON_GONE, 0);
    CU_ASSERT_EQUAL(w.ended, 0);
    member_on_refused(m, 1, REASON_GONE, 0);
    CU_ASSERT_EQUAL(w.ended, NODE_END_CUT_OFF);
    member_destroy(m);
}

/* A member that hears its coordinator's heartbeats is woken by its own timer not more often than by
 * them, and asks nothing. */
static void idle_member(void)
{
    struct witness w;
    struct member *m = create_joined(&w, 3);
    unsigned woken = 0;

    for (uint64_t now = 0; now < 12 * (uint64_t)FAIL_TIMEOUT_US; now += FAIL_TIMEOUT_US / 10) {
        member_on_heard(m, 1, now);
        woken += member_step(m, now) < now + FAIL_TIMEOUT_US / 10;
    }
    CU_ASSERT(woken <= 12 * 10);
    CU_ASSERT_EQUAL(w.pings, 0);
    member_destroy(m);
}

/* ---- the log ---- */

/* Nothing is in the table, and nobody is told of it, before the log has it. */
static void nothing_before_it_is_agreed(void)
{
    struct witness w;
    struct member *m = create_first(&w);
    uint64_t version = member_table(m)->version;
    uint32_t b;

    w.slow = true;
    b = let_join(m, "b", 10);
    CU_ASSERT_EQUAL(member_table(m)->version, version);
    CU_ASSERT_EQUAL(find_sent(&w, b, FRAME_TABLE), w.sent_count);
    w.proposed = 0;
    member_step(m, 20); /* one change at a time */
    CU_ASSERT_EQUAL(w.proposed, 0);
    member_on_change(m, w.change, w.change_size, 30);
    CU_ASSERT_EQUAL(member_table(m)->version, version + 1);
    CU_ASSERT(find_sent(&w, b, FRAME_TABLE) < w.sent_count);
    CU_ASSERT_EQUAL(table_row(member_table(m), b)->host.state, HOST_JOINING);
    member_destroy(m);
}

/* Who does not lead the log any more tells everyone, and its proposals are not its own any more. */
static void deposed(void)
{
    struct witness w;
    struct member *m = create_first(&w);
    uint32_t b = let_join(m, "b", 10), c;

    give_ack(m, b, 20);
    w.slow = true;
    c = let_join(m, "c", 30);
    member_depose(m, 40);
    CU_ASSERT_EQUAL(member_table(m)->coordinator, 0);
    CU_ASSERT(find_sent(&w, b, FRAME_RESIGN) < w.sent_count);
    CU_ASSERT_EQUAL(find_sent(&w, c, FRAME_TABLE), w.sent_count);
    /* it was in the log of whoever leads now: it counts, and who resigned does not coordinate */
    member_on_change(m, w.change, w.change_size, 50);
    CU_ASSERT_EQUAL(table_row(member_table(m), c)->host.state, HOST_JOINING);
    CU_ASSERT(row_is_agreed(table_row(member_table(m), c)));
    CU_ASSERT_EQUAL(member_table(m)->coordinator, 0);
    CU_ASSERT_EQUAL(find_sent(&w, c, FRAME_TABLE), w.sent_count);
    member_destroy(m);
}

/* Who leads the log takes no office before half of the hosts are heard. */
static void office_needs_half_of_the_hosts(void)
{
    struct witness w;
    struct member *m = create_joined(&w, 3);

    member_lead(m, epoch_make(1, 3), 100);
    member_step(m, 100);
    CU_ASSERT(w.pings >= 4);
    CU_ASSERT_EQUAL(w.proposed, 0);
    member_on_heard(m, 3, 110);
    member_step(m, 110);
    CU_ASSERT_FALSE(member_in_office(m));
    member_on_heard(m, 4, 120);
    member_step(m, 120);
    CU_ASSERT(member_in_office(m));
    CU_ASSERT_EQUAL(member_table(m)->coordinator, 2);
    CU_ASSERT(find_sent(&w, 5, FRAME_TABLE) < w.sent_count);
    member_destroy(m);
}

static void resignation(void)
{
    struct witness w;
    struct member *m = create_joined(&w, 1);
    uint8_t payload[8] = {[3] = 1, [7] = 2};

    member_on_frame(m, 3, FRAME_RESIGN, payload, sizeof payload, 10);
    CU_ASSERT_EQUAL(member_table(m)->coordinator, 1); /* it is not he who coordinates */
    member_on_frame(m, 1, FRAME_RESIGN, payload, 7, 10);
    CU_ASSERT_PTR_NOT_NULL(strstr(w.line, "malformed"));
    member_on_frame(m, 1, FRAME_RESIGN, payload, sizeof payload, 10);
    CU_ASSERT_EQUAL(member_table(m)->coordinator, 0);
    member_destroy(m);
}

/* The table travels in snapshots, whole or not at all. */
static void snapshots(void)
{
    struct witness w, x;
    struct member *m = create_joined(&w, 1), *other;
    uint8_t *bytes, table[8192];
    size_t size, length = make_table(table, sizeof table, 6, 4);

    other = create_joined(&x, 1);
    member_on_frame(other, 1, FRAME_TABLE, table, length, 10);
    CU_ASSERT_FATAL(table_save(member_table(other), &bytes, &size));
    CU_ASSERT_FALSE(member_on_snapshot(m, bytes, size - 1, 20));
    CU_ASSERT_EQUAL(member_table(m)->version, 5);
    CU_ASSERT(member_on_snapshot(m, bytes, size, 20));
    CU_ASSERT_EQUAL(member_table(m)->version, 6);
    CU_ASSERT_PTR_NOT_NULL(table_row(member_table(m), 6));
    free(bytes);
    member_destroy(other);
    member_destroy(m);
}

/* ---- when the voters cannot elect ---- */

static void claim_by(struct member *m, uint32_t host, uint8_t generation, uint8_t version,
                     bool binding, uint64_t now_us)
{
    uint8_t claim[28] = {[7] = generation, [11] = 1, [15] = 2, [23] = version, [24] = binding};

    member_on_frame(m, host, FRAME_CLAIM, claim, sizeof claim, now_us);
}

static bool granted_last(const struct witness *w, uint32_t host)
{
    CU_ASSERT_EQUAL(w->sent[w->sent_count - 1].kind, FRAME_CLAIM_REPLY);
    CU_ASSERT_EQUAL(w->sent[w->sent_count - 1].host, host);
    return w->sent[w->sent_count - 1].payload[17];
}

/* One promise a generation, none while the coordinator is heard, none for an older table; who only
 * asks is promised nothing. */
static void promises(void)
{
    struct witness w;
    struct member *m = create_joined(&w, 3);
    uint8_t table[8192];
    size_t size = make_table(table, sizeof table, 6, 3);

    member_on_heard(m, 1, 100);
    claim_by(m, 3, 2, 5, true, 200);
    CU_ASSERT_FALSE(granted_last(&w, 3));
    claim_by(m, 3, 2, 4, true, FAIL_TIMEOUT_US);
    CU_ASSERT_FALSE(granted_last(&w, 3));
    CU_ASSERT(find_sent(&w, 3, FRAME_TABLE) < w.sent_count); /* the newer one */
    claim_by(m, 3, 2, 5, false, FAIL_TIMEOUT_US);
    CU_ASSERT(granted_last(&w, 3));
    CU_ASSERT_EQUAL(member_table(m)->coordinator, 1);
    claim_by(m, 4, 2, 5, true, FAIL_TIMEOUT_US);
    CU_ASSERT(granted_last(&w, 4));
    claim_by(m, 3, 2, 5, true, FAIL_TIMEOUT_US);
    CU_ASSERT_FALSE(granted_last(&w, 3));
    /* and then nothing that the coordinator of before says counts */
    CU_ASSERT_EQUAL(member_table(m)->coordinator, 0);
    member_on_frame(m, 1, FRAME_TABLE, table, size, FAIL_TIMEOUT_US);
    CU_ASSERT_EQUAL(member_table(m)->version, 5);
    member_destroy(m);
}

static void reply_to(struct member *m, uint32_t host, uint8_t generation, bool binding,
                     bool granted, uint64_t now_us)
{
    uint8_t reply[20] = {[7] = generation, [15] = 1, [16] = binding, [17] = granted};

    member_on_frame(m, host, FRAME_CLAIM_REPLY, reply, sizeof reply, now_us);
}

/* More than half of the hosts, asked twice; before that all have time to answer. */
static void founding(void)
{
    struct witness w;
    struct member *m = create_joined(&w, 3);
    uint64_t now = FAIL_TIMEOUT_US * 13 / 10;

    member_step(m, now);
    CU_ASSERT(find_sent(&w, 3, FRAME_CLAIM) < w.sent_count);
    CU_ASSERT_EQUAL(find_sent(&w, 1, FRAME_CLAIM), w.sent_count);
    reply_to(m, 3, 2, false, true, now);
    reply_to(m, 4, 2, false, true, now);
    CU_ASSERT_EQUAL(member_table(m)->promised, 1);
    now += FAIL_TIMEOUT_US / 8;
    member_step(m, now);
    CU_ASSERT_EQUAL(member_table(m)->promised, 2);
    CU_ASSERT_EQUAL(w.founded, 0);
    reply_to(m, 3, 2, true, true, now);
    reply_to(m, 5, 2, false, true, now); /* to the first question */
    CU_ASSERT_EQUAL(w.founded, 0);
    reply_to(m, 4, 2, true, true, now);
    CU_ASSERT_EQUAL(w.founded, 2);
    member_on_heard(m, 3, now + 1);
    member_on_heard(m, 4, now + 1);
    member_step(m, now + 1);
    CU_ASSERT(member_in_office(m));
    CU_ASSERT_EQUAL(member_table(m)->epoch, epoch_make(2, 1));
    member_destroy(m);
}

/* While most of the voters are among those that would help, they are left the time to elect. */
static void voters_go_first(void)
{
    struct witness w;
    struct member *m = create_joined(&w, 3);
    uint64_t now = FAIL_TIMEOUT_US * 13 / 10;

    for (uint32_t host = 3; host <= 5; host++)
        table_row(member_table(m), host)->flags |= ROW_VOTER;
    member_step(m, now);
    reply_to(m, 3, 2, false, true, now);
    reply_to(m, 4, 2, false, true, now);
    member_step(m, now + FAIL_TIMEOUT_US / 8);
    CU_ASSERT_EQUAL(member_table(m)->promised, 1);
    now = FAIL_TIMEOUT_US * 17 / 10;
    member_step(m, now - FAIL_TIMEOUT_US / 10); /* that claim has come to nothing */
    member_step(m, now);
    reply_to(m, 3, 2, false, true, now);
    reply_to(m, 4, 2, false, true, now);
    member_step(m, now + FAIL_TIMEOUT_US / 8);
    CU_ASSERT_EQUAL(member_table(m)->promised, 2);
    member_destroy(m);
}

static const struct test_case CASES[] = {
    {"bootstrap is up at once", bootstrap_is_up_at_once},
    {"invitations", invitations},
    {"indices run out", indices_run_out},
    {"rows come back", rows_come_back},
    {"rows keep what they say", rows_keep_what_they_say},
    {"rows of the gone go", rows_of_the_gone_go},
    {"full table on demand", full_table_on_demand},
    {"joining needs a quorum", joining_needs_a_quorum},
    {"joins that are refused", joins_that_are_refused},
    {"silence", silence},
    {"own slowness", own_slowness},
    {"table is acknowledged", table_is_acknowledged},
    {"tables that are refused", tables_that_are_refused},
    {"join times out", join_times_out},
    {"refusal by the coordinator counts", refusal_by_the_coordinator_counts},
    {"idle member", idle_member},
    {"nothing before it is agreed", nothing_before_it_is_agreed},
    {"deposed", deposed},
    {"office needs half of the hosts", office_needs_half_of_the_hosts},
    {"resignation", resignation},
    {"snapshots", snapshots},
    {"promises", promises},
    {"founding", founding},
    {"voters go first", voters_go_first},
};

int main(void)
{
    return covey_test_main("member", CASES, sizeof CASES / sizeof CASES[0]);
}
