/* links: proto/wire/host.c proto/wire/contention_config.c proto/member/council.c proto/raft/raft*.c proto/member/table.c proto/wire/control.c proto/contention/contention.c proto/wire/address.c proto/wire/cursor.c */
/*
 * council_test.c - one council alone: what it takes part in, whom it chooses. (Whole VMs: see
 * tests/sim/vm_test.c.)
 */
#include "proto/member/council.h"

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
    unsigned resets, applied, changes;
    uint64_t epoch;
    size_t voters; /* as the owner was told */
    char line[256];
};

static void on_send(void *context, uint32_t host, const uint8_t *payload, size_t size,
                    uint64_t now_us)
{
    struct witness *w = context;

    (void)payload, (void)size, (void)now_us;
    w->sent[host]++;
}

static void on_apply(void *context, enum council_kind kind, uint64_t index, const uint8_t *bytes,
                     size_t size)
{
    struct witness *w = context;

    (void)index, (void)bytes, (void)size;
    w->applied += kind == COUNCIL_COMMAND;
    w->changes += kind == COUNCIL_CHANGE;
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

/* As membership does it: whoever leads coordinates. */
static void on_leads(void *context, uint64_t epoch)
{
    struct witness *w = context;

    w->epoch = epoch;
    if (epoch != 0)
        w->table.epoch = epoch;
}

static void on_leaves(void *context, uint32_t host, uint64_t now_us)
{
    struct witness *w = context;

    table_row(&w->table, host)->leaves_us = now_us;
}

static void on_voters(void *context, const uint32_t *hosts, size_t count)
{
    struct witness *w = context;

    (void)hosts;
    w->voters = count;
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
    struct council_owner owner = {w,        on_send,  on_apply,  on_save,   on_load,
                                  on_reset, on_leads, on_voters, on_leaves, on_log};

    memset(w, 0, sizeof *w);
    w->table.epoch = epoch_make(1, 0);
    w->table.promised = 1;
    for (uint32_t i = 1; i <= hosts; i++) {
        char name[16];
        struct host host = {.name = name,
                            .arch = "",
                            .index = i,
                            .state = HOST_UP,
                            .incarnation = i,
                            .id = {(uint8_t)i}};

        snprintf(name, sizeof name, "h%u", i);
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

static void malformed_frames_have_no_effect(void)
{
    static const uint8_t UNKNOWN[12] = {[7] = 9, [8] = 4}, HUGE_NUMBER[12] = {[3] = 9, [8] = 1};
    struct witness w;

    set_up(&w, 4, 4);
    council_on_frame(w.council, 2, UNKNOWN, sizeof UNKNOWN, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(w.line, "malformed"));
    w.line[0] = '\0';
    council_on_frame(w.council, 2, HUGE_NUMBER, sizeof HUGE_NUMBER, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(w.line, "malformed"));
    council_on_frame(w.council, 2, UNKNOWN, 3, 1);
    CU_ASSERT_EQUAL(council_generation(w.council), 0);
    CU_ASSERT_EQUAL(w.resets + w.epoch, 0);
    tear_down(&w);
}

/* A member of a generation leaves it when the table, or a promise, is of another; what it kept is
 * void. */
static void generations(void)
{
    struct witness w;
    const uint8_t x = 'x';

    set_up(&w, 1, 1);
    CU_ASSERT_EQUAL(council_found(w.council, 1, 1), 0);
    council_step(w.council, false, 1);
    CU_ASSERT(council_leads(w.council));
    CU_ASSERT_EQUAL(epoch_generation(w.epoch), 1);
    CU_ASSERT_EQUAL(w.resets, 1);
    CU_ASSERT(council_propose(w.council, COUNCIL_COMMAND, &x, 1, 1) > 0);
    CU_ASSERT(council_propose(w.council, COUNCIL_CHANGE, &x, 1, 1) > 0);
    council_step(w.council, false, 1);
    CU_ASSERT_EQUAL(w.applied, 1);
    CU_ASSERT_EQUAL(w.changes, 1);
    w.table.promised = 2;
    council_step(w.council, false, 2);
    CU_ASSERT(!council_leads(w.council));
    CU_ASSERT_EQUAL(w.epoch, 0);
    CU_ASSERT(council_propose(w.council, COUNCIL_COMMAND, &x, 1, 2) < 0);
    CU_ASSERT_EQUAL(council_found(w.council, 2, 2), 0);
    CU_ASSERT_EQUAL(w.resets, 2);
    tear_down(&w);
}

/* An odd number of those that have been up for the longest, once the leader is in office. */
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
        table_set_coordinator(&w.table, 0);
        council_found(w.council, 1, now_us);
        for (; now_us < 10; now_us++)
            council_step(w.council, false, now_us);
        CU_ASSERT_EQUAL(raft_configuration(council_raft(w.council))->count, 1);
        CU_ASSERT_EQUAL(w.voters, 0);
        table_set_coordinator(&w.table, 1);
        for (; now_us < 20; now_us++)
            council_step(w.council, false, now_us);
        CU_ASSERT_EQUAL(raft_configuration(council_raft(w.council))->count, CASES[i].members);
        for (uint32_t host = 2; host <= CASES[i].hosts; host++)
            CU_ASSERT_EQUAL(w.sent[host] > 0, host <= CASES[i].members);
        tear_down(&w);
    }
}

static const struct test_case CASES[] = {
    {"malformed frames have no effect", malformed_frames_have_no_effect},
    {"generations", generations},
    {"voters are chosen", voters_are_chosen},
};

int main(void)
{
    return covey_test_main("council", CASES, sizeof CASES / sizeof CASES[0]);
}
