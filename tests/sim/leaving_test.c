/* links: proto/wire/host.c proto/wire/contention_config.c tests/sim/vm_sim.c tests/sim/deadlines.c tests/sim/network.c proto/session/fault.c tests/sim/nonce_watch.c proto/node/node.c proto/node/node_calls.c proto/node/node_roll.c proto/node/node_council.c proto/member/council.c proto/raft/raft*.c proto/node/reception.c proto/node/node_medium.c proto/wire/ether.c proto/node/node_stat.c proto/member/member.c proto/member/registry.c proto/member/departure.c proto/member/replica.c proto/member/detector.c proto/member/roll.c proto/member/election.c proto/member/table.c proto/session/session.c proto/session/session_path.c proto/session/admission.c proto/session/negotiation.c proto/auth/handshake.c proto/wire/datagram.c proto/window/inbox.c proto/window/outbox.c proto/auth/auth.c cipher/cipher_*.c proto/wire/address.c proto/wire/control.c proto/contention/contention.c proto/wire/cursor.c proto/wire/frame.c proto/window/window*.c */
/*
 * leaving_test.c - hosts leave or are removed while others are dead and nobody knows that yet. Who
 * goes must not take along the majority of the voters, or the half of the hosts, that the rest
 * needs to find out: after each story those that were left alone are one VM with all that was
 * agreed.
 *
 *   leaving_test                         all of it (SOAK=1: 20,000 seeds)
 *   leaving_test --seed N [--trace]      one seed of the random departures
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/vm_sim.h"
#include "tests/unit/runner.h"

#define SECOND VM_SIM_SECOND
#define FAIL_TIMEOUT (5 * SECOND)
#define HOSTS_MAX 14
#define COMMANDS 20
#define SEEDS 600
#define SEEDS_SOAK 20000

enum fate { STAYS, DIES, IS_REMOVED, LEAVES };

struct story {
    uint32_t hosts;
    enum fate fates[HOSTS_MAX]; /* of host i, whose index is i + 1; host 0 coordinates */
    uint64_t rest_us;           /* from the deaths to the departures */
    uint64_t pause_us;          /* from one departure to the next */
};

static struct vm_sim *create_up(uint64_t seed, uint32_t hosts, bool trace)
{
    struct vm_sim_config config = {
        .network = {.seed = seed, .ports = hosts, .delay_us = 200, .jitter_us = 50},
        .fail_timeout_us = FAIL_TIMEOUT,
        .join_timeout_us = 20 * SECOND,
        .trace = trace};
    struct vm_sim *sim = vm_sim_create(&config);

    vm_sim_bootstrap(sim, 0);
    for (uint32_t host = 1; host < hosts; host++)
        vm_sim_launch(sim, host);
    vm_sim_run(sim, 3 * SECOND);
    for (int i = 0; i < COMMANDS; i++)
        vm_sim_propose(sim, vm_sim_leader(sim));
    vm_sim_run(sim, SECOND / 2);
    return sim;
}

static void depart(struct vm_sim *sim, uint32_t host, enum fate fate)
{
    struct life *life = vm_sim_on(sim, host), *coordinator = vm_sim_coordinator(sim);

    if (!life)
        return;
    if (fate == LEAVES) {
        vm_sim_leave(sim, life);
    } else if (coordinator) {
        node_remove(coordinator->node, life->index, vm_sim_now(sim));
        vm_sim_touch(coordinator);
    }
}

static void tell(struct vm_sim *sim, const struct story *story)
{
    for (uint32_t host = 0; host < story->hosts; host++)
        if (story->fates[host] == DIES)
            vm_sim_crash(sim, host);
    vm_sim_run(sim, story->rest_us);
    for (uint32_t host = 0; host < story->hosts; host++) {
        if (story->fates[host] == IS_REMOVED || story->fates[host] == LEAVES) {
            depart(sim, host, story->fates[host]);
            vm_sim_run(sim, story->pause_us);
        }
    }
}

/* Who stays runs, who goes is gone, and nothing that was agreed is lost. */
static void check_end(struct vm_sim *sim, const struct story *story)
{
    struct life *leader;

    for (uint32_t host = 0; host < story->hosts; host++) {
        bool runs = vm_sim_on(sim, host) != NULL;

        if (story->fates[host] == STAYS && !runs)
            vm_sim_fail(sim, "host %u ended (%d) though it was to stay", host + 1,
                        vm_sim_life(sim, host + 1)->ended);
        if (story->fates[host] != STAYS && runs)
            vm_sim_fail(sim, "host %u has not gone", host + 1);
    }
    if (vm_sim_failure(sim))
        return;
    vm_sim_check_converged(sim);
    leader = vm_sim_leader(sim);
    if (!leader || node_generation(leader->node) != 1 || leader->state.commands != COMMANDS)
        vm_sim_fail(sim, "what was agreed is lost");
}

static bool run(uint64_t seed, const struct story *story, bool trace)
{
    struct vm_sim *sim = create_up(seed, story->hosts, trace);
    bool ok;

    tell(sim, story);
    vm_sim_run(sim, 7 * FAIL_TIMEOUT);
    if (!vm_sim_failure(sim))
        check_end(sim, story);
    ok = !vm_sim_failure(sim);
    if (!ok)
        printf("seed %llu: %s\n", (unsigned long long)seed, vm_sim_failure(sim));
    vm_sim_destroy(sim);
    return ok;
}

/* The same at some moments between two heartbeats. */
static void run_often(struct story story)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        story.rest_us = seed * 40000;
        CU_ASSERT(run(seed, &story, getenv("TRACE") != NULL));
    }
    story.rest_us = 0;
    CU_ASSERT(run(21, &story, getenv("TRACE") != NULL));
}

static void one_of_three_is_removed(void)
{
    run_often((struct story){.hosts = 3, .fates = {STAYS, IS_REMOVED, DIES}});
    run_often((struct story){.hosts = 3, .fates = {STAYS, DIES, IS_REMOVED}});
}

static void one_of_three_leaves(void)
{
    run_often((struct story){.hosts = 3, .fates = {STAYS, LEAVES, DIES}});
    run_often((struct story){.hosts = 3, .fates = {STAYS, DIES, LEAVES}});
}

static void coordinator_leaves_beside_a_dead_host(void)
{
    run_often((struct story){.hosts = 3, .fates = {LEAVES, STAYS, DIES}});
    run_often((struct story){.hosts = 3, .fates = {LEAVES, DIES, STAYS}});
}

/* The coordinator is the dead one: only who leads after it can let the other go. */
static void host_leaves_a_dead_coordinator(void)
{
    run_often((struct story){.hosts = 3, .fates = {DIES, LEAVES, STAYS}});
    run_often((struct story){.hosts = 3, .fates = {DIES, STAYS, LEAVES}});
}

static void two_of_five_are_dead(void)
{
    run_often((struct story){.hosts = 5, .fates = {STAYS, IS_REMOVED, STAYS, DIES, DIES}});
    run_often((struct story){.hosts = 5, .fates = {STAYS, IS_REMOVED, IS_REMOVED, DIES, DIES}});
    run_often((struct story){.hosts = 5, .fates = {LEAVES, LEAVES, STAYS, DIES, DIES}});
    run_often((struct story){.hosts = 5, .fates = {DIES, LEAVES, LEAVES, DIES, STAYS}});
}

/* Half of the hosts are dead, none of them a voter: one more that goes leaves less than half. */
static void host_without_a_vote_is_removed(void)
{
    struct story story = {.hosts = 12};

    story.fates[5] = IS_REMOVED;
    for (uint32_t host = 6; host < 12; host++)
        story.fates[host] = DIES;
    run_often(story);
    story.fates[4] = story.fates[5] = LEAVES;
    story.fates[3] = IS_REMOVED;
    run_often(story);
}

/* ---- how long it takes ---- */

static size_t gone_within(struct vm_sim *sim, uint32_t hosts, uint64_t time_us)
{
    vm_sim_run(sim, time_us);
    if (getenv("TRACE"))
        printf("running %zu of %u fail %s\n", vm_sim_running(sim), hosts, vm_sim_failure(sim));
    return hosts - vm_sim_running(sim);
}

/* Where nobody is dead nobody waits. */
static void departures_are_quick(void)
{
    struct vm_sim *sim = create_up(1, 9, getenv("TRACE") != NULL);

    for (uint32_t host = 1; host < 7; host++)
        depart(sim, host, host % 2 ? IS_REMOVED : LEAVES);
    CU_ASSERT_EQUAL(gone_within(sim, 9, SECOND / 2), 6);
    depart(sim, 0, LEAVES);
    CU_ASSERT_EQUAL(gone_within(sim, 9, SECOND / 2), 7);
    vm_sim_run(sim, SECOND);
    vm_sim_check_converged(sim);
    CU_ASSERT_PTR_NULL(vm_sim_failure(sim));
    vm_sim_destroy(sim);
}

/* The power of a whole room: every daemon is told to end. None waits for another. */
static void all_leave_at_once(void)
{
    for (uint32_t hosts = 2; hosts <= HOSTS_MAX; hosts++) {
        struct vm_sim *sim = create_up(hosts, hosts, getenv("TRACE") != NULL);

        for (uint32_t host = 0; host < hosts; host++)
            depart(sim, hosts % 2 ? host : hosts - 1 - host, LEAVES);
        CU_ASSERT_EQUAL(gone_within(sim, hosts, FAIL_TIMEOUT), hosts);
        CU_ASSERT_PTR_NULL(vm_sim_failure(sim));
        vm_sim_destroy(sim);
    }
}

/* Who waits for leave to go does not hold up a halt. */
static void halt_ends_who_leaves(void)
{
    struct vm_sim *sim = create_up(1, 5, getenv("TRACE") != NULL);
    struct life *coordinator = vm_sim_on(sim, 0);

    vm_sim_crash(sim, 3);
    vm_sim_crash(sim, 4);
    depart(sim, 1, IS_REMOVED);
    depart(sim, 2, LEAVES);
    vm_sim_run(sim, SECOND);
    CU_ASSERT_EQUAL(vm_sim_running(sim), 3);
    node_shutdown(coordinator->node, vm_sim_now(sim));
    vm_sim_touch(coordinator);
    CU_ASSERT_EQUAL(gone_within(sim, 5, 2 * FAIL_TIMEOUT), 5);
    CU_ASSERT_PTR_NULL(vm_sim_failure(sim));
    vm_sim_destroy(sim);
}

/* With the majority gone nobody can give leave: a host that is told to end does so all the same. */
static void nobody_waits_for_ever(void)
{
    struct vm_sim *sim = create_up(1, 3, getenv("TRACE") != NULL);

    vm_sim_crash(sim, 0);
    vm_sim_crash(sim, 2);
    depart(sim, 1, LEAVES);
    CU_ASSERT_EQUAL(gone_within(sim, 3, 4 * FAIL_TIMEOUT), 3);
    CU_ASSERT_PTR_NULL(vm_sim_failure(sim));
    vm_sim_destroy(sim);
}

/* ---- at random ---- */

static uint64_t below(uint64_t *random, uint64_t limit)
{
    return random_below(random, limit);
}

/* So many die that the VM bears it, no more than half of the hosts and a minority of the voters,
 * which are the first ones; then any may go, but one. */
static bool run_seed(uint64_t seed, bool trace)
{
    uint64_t random = seed;
    struct story story = {.hosts = 3 + (uint32_t)below(&random, HOSTS_MAX - 2)};
    uint32_t voters = story.hosts < 5 ? 3 : 5, spared = (uint32_t)below(&random, story.hosts);
    uint32_t most = (uint32_t)below(&random, story.hosts / 2 + 1), dead = 0, dead_voters = 0;

    for (uint32_t i = 0; i < 2 * story.hosts && dead < most; i++) {
        uint32_t host = (uint32_t)below(&random, story.hosts);

        if (host == spared || story.fates[host] == DIES ||
            (host < voters && dead_voters == voters / 2))
            continue;
        story.fates[host] = DIES;
        dead++;
        dead_voters += host < voters;
    }
    for (uint32_t host = 0; host < story.hosts; host++)
        if (host != spared && story.fates[host] == STAYS && below(&random, 2) == 0)
            story.fates[host] = host == 0 || below(&random, 2) == 0 ? LEAVES : IS_REMOVED;
    if (story.fates[0] != STAYS) /* nobody may be there to remove others meanwhile */
        for (uint32_t host = 1; host < story.hosts; host++)
            if (story.fates[host] == IS_REMOVED)
                story.fates[host] = LEAVES;
    story.rest_us = below(&random, 2) == 0 ? 0 : below(&random, 2 * FAIL_TIMEOUT);
    story.pause_us = below(&random, 2) == 0 ? 0 : below(&random, SECOND / 5);
    return run(seed, &story, trace);
}

static void at_random(void)
{
    const char *count = getenv("SEEDS");
    uint64_t seeds = count ? strtoull(count, NULL, 10) : getenv("SOAK") ? SEEDS_SOAK : SEEDS;
    uint64_t failed = 0;

    for (uint64_t seed = 1; seed <= seeds && failed < 5; seed++)
        failed += !run_seed(seed, false);
    CU_ASSERT_EQUAL(failed, 0);
}

static const struct test_case CASES[] = {
    {"one of three is removed while another is dead", one_of_three_is_removed},
    {"one of three leaves while another is dead", one_of_three_leaves},
    {"the coordinator leaves beside a dead host", coordinator_leaves_beside_a_dead_host},
    {"a host leaves a dead coordinator", host_leaves_a_dead_coordinator},
    {"two of five are dead", two_of_five_are_dead},
    {"a host without a vote is removed", host_without_a_vote_is_removed},
    {"departures are quick where nobody is dead", departures_are_quick},
    {"all leave at once", all_leave_at_once},
    {"halt ends who leaves", halt_ends_who_leaves},
    {"nobody waits for ever", nobody_waits_for_ever},
    {"departures at random", at_random},
};

int main(int argc, char **argv)
{
    if (argc >= 3 && strcmp(argv[1], "--seed") == 0)
        return run_seed(strtoull(argv[2], NULL, 10), argc > 3) ? 0 : 1;
    return covey_test_main("leaving", CASES, sizeof CASES / sizeof CASES[0]);
}
