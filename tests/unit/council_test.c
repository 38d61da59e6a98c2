/* links: proto/council.c proto/raft*.c proto/table.c proto/control.c proto/address.c proto/cursor.c */
/*
 * council_test.c - one council alone: whom it believes, whom it chooses. (Whole VMs: see
 * tests/sim/vm_test.c.)
 */
#include "proto/council.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/runner.h"

enum { FAIL_TIMEOUT_US = 5000000 };

struct witness {
    struct table table;
    struct council *council;
    unsigned sent[16]; /* frames to each host */
    unsigned resets, leaders, applied;
    uint32_t leader;
    char line[256];
};

static void on_send(void *context, uint32_t host, const uint8_t *payload, size_t size,
                    uint64_t now_us)
{
    struct witness *w = context;

    (void)payload, (void)size, (void)now_us;
    w->sent[host]++;
}

static void on_apply(void *context, uint64_t index, const uint8_t *bytes, size_t size)
{
    struct witness *w = context;

    (void)index, (void)bytes, (void)size;
    w->applied++;
}

static bool on_save(void *context, uint8_t **bytes, size_t *size)
{
    (void)context, (void)bytes, (void)size;
    return false;
}

static bool on_load(void *context, const uint8_t *bytes, size_t size)
{
    (void)context, (void)bytes, (void)size;
    return false;
}

static void on_reset(void *context)
{
    struct witness *w = context;

    w->resets++;
}

static void on_leader(void *context, uint32_t leader, uint64_t generation)
{
    struct witness *w = context;

    (void)generation;
    w->leaders++;
    w->leader = leader;
}

static void on_log(void *context, const char *line)
{
    struct witness *w = context;

    snprintf(w->line, sizeof w->line, "%s", line);
}

/* Host `self` in a VM of that many hosts, all up, of which the first coordinates. */
static void set_up(struct witness *w, uint32_t self, uint32_t hosts)
{
    struct council_config config = {.table = &w->table, .fail_timeout_us = FAIL_TIMEOUT_US};
    struct council_owner owner = {w,       on_send,  on_apply,  on_save,
                                  on_load, on_reset, on_leader, on_log};

    memset(w, 0, sizeof *w);
    w->table.epoch = 1;
    for (uint32_t i = 1; i <= hosts; i++) {
        struct host host = {.index = i, .state = HOST_UP, .incarnation = i, .id = {(uint8_t)i}};

        snprintf(host.name, sizeof host.name, "h%u", i);
        table_add(&w->table, &host);
    }
    table_set_coordinator(&w->table, 1);
    config.id[0] = (uint8_t)self;
    w->council = council_create(&config, &owner);
    council_join(w->council, self);
}

static void tear_down(struct witness *w)
{
    council_destroy(w->council);
    table_clear(&w->table);
}

static void announce(struct witness *w, uint64_t generation, uint64_t term, uint32_t leader)
{
    uint8_t bytes[64];
    struct cursor c = cursor_writer(bytes, sizeof bytes);

    cursor_put_u64(&c, generation);
    cursor_put_u32(&c, (uint32_t)COUNCIL_ANNOUNCE << 24);
    cursor_put_u64(&c, term);
    cursor_put_u32(&c, leader);
    cursor_put_u8(&c, 1);
    cursor_put_u32(&c, leader);
    council_on_frame(w->council, leader, bytes, (size_t)(c.at - bytes), 1);
}

/* The latest generation and term count; a leader that is gone is none. */
static void announcements(void)
{
    struct witness w;

    set_up(&w, 4, 4);
    CU_ASSERT_EQUAL(council_leader(w.council), 0);
    announce(&w, 100, 5, 2);
    CU_ASSERT_EQUAL(council_leader(w.council), 2);
    announce(&w, 100, 4, 3);
    CU_ASSERT_EQUAL(council_leader(w.council), 2);
    announce(&w, 99, 9, 3);
    CU_ASSERT_EQUAL(council_leader(w.council), 2);
    CU_ASSERT_EQUAL(w.leaders, 1);
    announce(&w, 100, 6, 3);
    CU_ASSERT_EQUAL(council_leader(w.council), 3);
    announce(&w, 101, 1, 1);
    CU_ASSERT_EQUAL(council_leader(w.council), 1);
    CU_ASSERT_EQUAL(council_generation(w.council), 101);
    table_row(&w.table, 1)->host.state = HOST_DOWN;
    CU_ASSERT_EQUAL(council_leader(w.council), 0);
    tear_down(&w);
}

static void malformed_frames_have_no_effect(void)
{
    static const uint8_t UNKNOWN[12] = {[7] = 9, [8] = 4}, SHORT[12] = {[7] = 9, [8] = 2};
    struct witness w;

    set_up(&w, 4, 4);
    council_on_frame(w.council, 2, UNKNOWN, sizeof UNKNOWN, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(w.line, "malformed"));
    w.line[0] = '\0';
    council_on_frame(w.council, 2, SHORT, sizeof SHORT, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(w.line, "malformed"));
    council_on_frame(w.council, 2, SHORT, 3, 1);
    CU_ASSERT_EQUAL(council_generation(w.council), 0);
    CU_ASSERT_EQUAL(w.resets + w.leaders, 0);
    tear_down(&w);
}

/* A member of a generation leaves it when it hears of another, and what it kept is void. */
static void generations(void)
{
    struct witness w;

    set_up(&w, 1, 1);
    CU_ASSERT_EQUAL(council_found(w.council, 1), 0);
    council_step(w.council, false, 1);
    CU_ASSERT(council_leads(w.council));
    CU_ASSERT_EQUAL(w.leader, 1);
    CU_ASSERT_EQUAL(w.resets, 1);
    CU_ASSERT(council_propose(w.council, (const uint8_t *)"x", 1, 1) > 0);
    council_step(w.council, false, 1);
    CU_ASSERT_EQUAL(w.applied, 1);
    announce(&w, council_generation(w.council) + 1, 1, 1);
    CU_ASSERT(!council_leads(w.council));
    CU_ASSERT(council_propose(w.council, (const uint8_t *)"x", 1, 1) < 0);
    CU_ASSERT_EQUAL(council_found(w.council, 2), 0);
    CU_ASSERT_EQUAL(w.resets, 2);
    tear_down(&w);
}

/* An odd number of those that have been up for the longest; all hosts hear who leads. */
static void voters_are_chosen(void)
{
    static const struct {
        uint32_t hosts;
        uint8_t members;
    } CASES[] = {{1, 1}, {2, 1}, {3, 3}, {4, 3}, {5, 5}, {9, 5}};

    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct witness w;
        uint64_t now_us = 1;

        set_up(&w, 1, CASES[i].hosts);
        council_found(w.council, now_us);
        for (; now_us < 20; now_us++)
            council_step(w.council, false, now_us);
        CU_ASSERT_EQUAL(raft_configuration(council_raft(w.council))->count, CASES[i].members);
        for (uint32_t host = 2; host <= CASES[i].hosts; host++) {
            CU_ASSERT(w.sent[host] > 0);
            CU_ASSERT(host <= CASES[i].members || w.sent[host] == 1);
        }
        tear_down(&w);
    }
}

static const struct test_case CASES[] = {
    {"announcements", announcements},
    {"malformed frames have no effect", malformed_frames_have_no_effect},
    {"generations", generations},
    {"voters are chosen", voters_are_chosen},
};

int main(void)
{
    return covey_test_main("council", CASES, sizeof CASES / sizeof CASES[0]);
}
