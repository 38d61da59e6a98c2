/* links: proto/member.c proto/registry.c proto/replica.c proto/detector.c proto/election.c proto/table.c proto/control.c proto/address.c proto/cursor.c */
/*
 * member_test.c - one member engine alone: what it asks for, what it refuses. (Whole VMs: see
 * tests/sim/vm_test.c.)
 */
#include "proto/member.h"

#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "proto/control.h"
#include "proto/datagram.h"
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
    unsigned pings, probes, reopened, closed, joined;
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

static struct host host_of(uint32_t index, const char *name)
{
    struct host host = {.index = index, .state = HOST_UP};

    snprintf(host.name, sizeof host.name, "%s", name);
    host.id[0] = (uint8_t)index;
    return host;
}

static struct member *create(struct witness *w, uint32_t index)
{
    struct member_owner owner = {.context = w,
                                 .send = on_send,
                                 .ping = on_ping,
                                 .reopen = on_reopen,
                                 .close = on_close,
                                 .queued = on_queued,
                                 .host = on_host,
                                 .joined = on_joined,
                                 .ended = on_ended,
                                 .log = on_log};
    struct member_config config = {.self = host_of(index, "self"),
                                   .fail_timeout_us = FAIL_TIMEOUT_US,
                                   .join_timeout_us = 20000000,
                                   .counters = &counters};

    memset(w, 0, sizeof *w);
    return member_create(&config, &owner);
}

/* The first frame of a kind to a host, or NULL. */
static size_t find_sent(const struct witness *w, uint32_t host, uint8_t kind)
{
    size_t i = 0;

    while (i < w->sent_count && (w->sent[i].host != host || w->sent[i].kind != kind))
        i++;
    return i;
}

static void give_ack(struct member *m, uint32_t host, uint64_t now_us)
{
    uint8_t ack[16];
    struct cursor c = cursor_writer(ack, sizeof ack);

    cursor_put_u64(&c, member_table(m)->epoch);
    cursor_put_u64(&c, member_table(m)->version);
    member_on_frame(m, host, FRAME_TABLE_ACK, ack, sizeof ack, now_us);
    member_step(m, now_us);
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
    /* alone, it has nothing to do */
    member_step(m, 0);
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
    struct member *m = create(&w, 0);
    uint64_t incarnation;
    char name[16];
    int index = 0;

    member_bootstrap(m, 0);
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
    struct member *m = create(&w, 0);
    uint32_t b, c;

    member_bootstrap(m, 0);
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

static void joins_that_are_refused(void)
{
    struct witness w;
    struct member *m = create(&w, 0);
    struct host host = host_of(2, "other");
    uint64_t incarnation;
    uint8_t payload[512];
    struct cursor c = cursor_writer(payload, sizeof payload);

    member_bootstrap(m, 0);
    member_invite(m, "b", &incarnation, 0);
    control_put_host(&c, &host);
    member_bind(m, 2, host.id);
    member_on_frame(m, 2, FRAME_JOIN, payload, (size_t)(c.at - payload), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(w.line, "invited under another name"));
    member_on_frame(m, 2, FRAME_JOIN, payload, 7, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(w.line, "malformed"));
    CU_ASSERT_EQUAL(table_row(member_table(m), 2)->host.state, HOST_JOINING);
    member_destroy(m);
}

/* A host falls silent: pings, suspicion, probes through others, gone, with nothing heard. */
static void silence(void)
{
    struct witness w;
    struct member *m = create(&w, 0);
    uint64_t now = 0;
    uint32_t b, c;

    member_bootstrap(m, 0);
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
    struct member *m = create(&w, 0);
    uint32_t b;

    member_bootstrap(m, 0);
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
    struct table t = {.epoch = 1, .version = version, .next_index = 10};
    size_t at = 0, size;

    for (uint32_t i = 1; i <= 2 + others; i++) {
        char name[16];
        struct host host;

        snprintf(name, sizeof name, "h%u", i);
        host = host_of(i, name);
        table_add(&t, &host);
    }
    table_set_coordinator(&t, 1);
    size = table_encode(&t, TABLE_FULL, 0, &at, bytes, capacity);
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
    CU_ASSERT_EQUAL(cursor_get_u64(&c), 1);
    CU_ASSERT_EQUAL(cursor_get_u64(&c), 5);
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
    bytes[31] = 3; /* a coordinator who is not the sender */
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

/* One vote an epoch, none while the coordinator is heard, none for an older table. */
static void grants(void)
{
    struct witness w;
    struct member *m = create_joined(&w, 3);
    uint8_t claim[24] = {[7] = 2, [15] = 1, [23] = 5};
    size_t i;

    member_on_heard(m, 1, 100);
    member_on_frame(m, 3, FRAME_CLAIM, claim, sizeof claim, 200);
    i = find_sent(&w, 3, FRAME_CLAIM_REPLY);
    CU_ASSERT_FATAL(i < w.sent_count);
    CU_ASSERT_EQUAL(w.sent[i].payload[8], 0);
    member_on_frame(m, 3, FRAME_CLAIM, claim, sizeof claim, FAIL_TIMEOUT_US);
    CU_ASSERT_EQUAL(w.sent[w.sent_count - 1].payload[8], 1);
    member_on_frame(m, 4, FRAME_CLAIM, claim, sizeof claim, FAIL_TIMEOUT_US);
    CU_ASSERT_EQUAL(w.sent[w.sent_count - 1].host, 4);
    CU_ASSERT_EQUAL(w.sent[w.sent_count - 1].payload[8], 0);
    claim[7] = 3;
    claim[23] = 4;
    member_on_frame(m, 5, FRAME_CLAIM, claim, sizeof claim, FAIL_TIMEOUT_US);
    CU_ASSERT_EQUAL(w.sent[w.sent_count - 1].payload[8], 0);
    CU_ASSERT(find_sent(&w, 5, FRAME_TABLE) < w.sent_count); /* the newer one */
    member_destroy(m);
}

static const struct test_case CASES[] = {
    {"bootstrap is up at once", bootstrap_is_up_at_once},
    {"invitations", invitations},
    {"indices run out", indices_run_out},
    {"joining needs a quorum", joining_needs_a_quorum},
    {"joins that are refused", joins_that_are_refused},
    {"silence", silence},
    {"own slowness", own_slowness},
    {"table is acknowledged", table_is_acknowledged},
    {"tables that are refused", tables_that_are_refused},
    {"join times out", join_times_out},
    {"refusal by the coordinator counts", refusal_by_the_coordinator_counts},
    {"idle member", idle_member},
    {"grants", grants},
};

int main(void)
{
    return covey_test_main("member", CASES, sizeof CASES / sizeof CASES[0]);
}
