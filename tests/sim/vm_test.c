/* links: proto/wire/host.c proto/wire/contention_config.c tests/sim/vm_sim.c tests/sim/deadlines.c tests/sim/network.c proto/session/fault.c tests/sim/nonce_watch.c proto/node/node.c proto/node/node_calls.c proto/node/node_roll.c proto/node/node_council.c proto/member/council.c proto/raft/raft*.c proto/node/reception.c proto/node/node_medium.c proto/wire/ether.c proto/node/node_stat.c proto/member/member.c proto/member/registry.c proto/member/departure.c proto/member/replica.c proto/member/detector.c proto/member/roll.c proto/member/election.c proto/member/table.c proto/session/session.c proto/session/session_path.c proto/session/admission.c proto/session/negotiation.c proto/auth/handshake.c proto/wire/datagram.c proto/window/inbox.c proto/window/outbox.c proto/auth/auth.c cipher/cipher_*.c proto/wire/address.c proto/wire/control.c proto/contention/contention.c proto/wire/cursor.c proto/wire/frame.c proto/window/window*.c */
/*
 * vm_test.c - whole VMs in the simulator (vm_sim.h): some stories that assert what must happen, and
 * thousands of seeds of random weather after which everything must agree again.
 *
 *   vm_test                          all of it (SOAK=1: 10,000 seeds of the weather and the tales)
 *   vm_test --tale N [--trace]       one seed of the tales
 *   vm_test --seed N [--trace]       one seed of the weather, with every line of every node
 *
 * slow: thousands of seeds of whole VMs; make quick leaves it out.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/vm_sim.h"
#include "tests/unit/runner.h"

#define SECOND VM_SIM_SECOND
#define SEEDS 4000
#define TALES 200
#define SEEDS_SOAK 10000

static struct vm_sim *create(uint64_t seed, uint32_t hosts)
{
    struct vm_sim_config config = {
        .network = {.seed = seed, .ports = hosts, .delay_us = 200, .jitter_us = 50},
        .fail_timeout_us = 5 * SECOND,
        .join_timeout_us = 20 * SECOND,
        .encrypt = seed % 2 == 0,
        .ether = seed % 5 != 0,
        .trace = getenv("TRACE") != NULL};

    return vm_sim_create(&config);
}

static void finish(struct vm_sim *sim)
{
    if (vm_sim_failure(sim))
        printf("%s\n", vm_sim_failure(sim));
    CU_ASSERT_PTR_NULL(vm_sim_failure(sim));
    vm_sim_destroy(sim);
}

/* A VM of that many hosts, all up: host i has index i + 1 in the order of launching. */
static struct vm_sim *create_up(uint64_t seed, uint32_t hosts)
{
    struct vm_sim *sim = create(seed, hosts);

    vm_sim_bootstrap(sim, 0);
    for (uint32_t host = 1; host < hosts; host++)
        vm_sim_launch(sim, host);
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, SECOND));
    return sim;
}

static void send_between_all(struct vm_sim *sim, uint32_t frames)
{
    for (uint32_t i = 1; i <= VM_SIM_INDEX_MAX; i++)
        for (uint32_t j = 1; j <= VM_SIM_INDEX_MAX; j++) {
            struct life *from = vm_sim_life(sim, i), *to = vm_sim_life(sim, j);

            bool both = i != j && from && to && from->running && to->running;

            for (uint32_t k = 0; both && k < frames; k++)
                CU_ASSERT_EQUAL(vm_sim_send(sim, from, j, 4 + k * 3000), 0);
        }
}

/* ---- stories ---- */

static void good_day(void)
{
    struct vm_sim *sim = create_up(1, 8);

    send_between_all(sim, 20);
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, 10 * SECOND));
    CU_ASSERT_EQUAL(node_remove(vm_sim_on(sim, 0)->node, 3, vm_sim_now(sim)), 0);
    vm_sim_touch(vm_sim_on(sim, 0));
    vm_sim_run(sim, SECOND);
    CU_ASSERT_EQUAL(vm_sim_life(sim, 3)->ended, NODE_END_REMOVED);
    vm_sim_check_converged(sim);
    node_shutdown(vm_sim_on(sim, 0)->node, vm_sim_now(sim));
    vm_sim_touch(vm_sim_on(sim, 0));
    vm_sim_run(sim, SECOND);
    CU_ASSERT_EQUAL(vm_sim_running(sim), 0);
    CU_ASSERT_EQUAL(vm_sim_life(sim, 8)->ended, NODE_END_SHUTDOWN);
    finish(sim);
}

/* A host that dies is gone for all within the fail timeout and a little more, not before. */
static void death_is_noticed(void)
{
    struct vm_sim *sim = create_up(2, 5);

    vm_sim_crash(sim, 3);
    vm_sim_run(sim, 4 * SECOND);
    CU_ASSERT_EQUAL(vm_sim_life(sim, 1)->gone, 0);
    vm_sim_run(sim, 2 * SECOND);
    CU_ASSERT_EQUAL(vm_sim_life(sim, 1)->gone, 1);
    CU_ASSERT_EQUAL(vm_sim_life(sim, 2)->gone, 1);
    CU_ASSERT_EQUAL(vm_sim_send(sim, vm_sim_life(sim, 2), 4, 100), -EHOSTUNREACH);
    vm_sim_check_converged(sim);
    CU_ASSERT(vm_sim_launch(sim, 3));
    vm_sim_run(sim, SECOND);
    vm_sim_check_converged(sim);
    CU_ASSERT_PTR_NOT_NULL(vm_sim_on(sim, 3));
    finish(sim);
}

static bool is_forgotten(struct vm_sim *sim, uint32_t at, uint32_t index)
{
    const struct host *host = node_host(vm_sim_life(sim, at)->node, index);

    return host != NULL && host->state == HOST_DOWN && host->forgotten;
}

/* A host that is gone is forgotten by all, and by one that joins afterwards. */
static void gone_is_forgotten(void)
{
    struct vm_sim *sim = create_up(2, 5);

    vm_sim_crash(sim, 2); /* whose index is 3 */
    vm_sim_crash(sim, 4);
    vm_sim_run(sim, 8 * SECOND);
    CU_ASSERT(!is_forgotten(sim, 1, 3) && !is_forgotten(sim, 4, 3));
    CU_ASSERT_EQUAL(node_remove(vm_sim_life(sim, 1)->node, 3, vm_sim_now(sim)), 0);
    vm_sim_touch(vm_sim_life(sim, 1));
    vm_sim_run(sim, SECOND);
    CU_ASSERT(is_forgotten(sim, 1, 3) && is_forgotten(sim, 2, 3) && is_forgotten(sim, 4, 3));
    CU_ASSERT(!is_forgotten(sim, 1, 5));
    CU_ASSERT(vm_sim_launch(sim, 4));
    vm_sim_run(sim, SECOND);
    CU_ASSERT_FATAL(vm_sim_on(sim, 4) != NULL);
    CU_ASSERT(is_forgotten(sim, node_self(vm_sim_on(sim, 4)->node)->index, 3));
    CU_ASSERT_EQUAL(node_remove(vm_sim_life(sim, 1)->node, 77, vm_sim_now(sim)), -ENOENT);
    vm_sim_check_converged(sim);
    finish(sim);
}

static void coordinator_dies(void)
{
    struct vm_sim *sim = create_up(3, 5);

    vm_sim_run(sim, SECOND);
    vm_sim_crash(sim, 0);
    vm_sim_run(sim, 7 * SECOND);
    CU_ASSERT_EQUAL(vm_sim_running(sim), 4);
    CU_ASSERT(node_coordinator(vm_sim_on(sim, 4)->node) > 1);
    vm_sim_check_converged(sim);
    CU_ASSERT(vm_sim_launch(sim, 0));
    vm_sim_run(sim, SECOND);
    send_between_all(sim, 1);
    vm_sim_run(sim, SECOND);
    vm_sim_check_converged(sim);
    finish(sim);
}

static void coordinator_leaves(void)
{
    struct vm_sim *sim = create_up(4, 2);

    node_leave(vm_sim_on(sim, 0)->node, vm_sim_now(sim));
    vm_sim_touch(vm_sim_on(sim, 0));
    vm_sim_run(sim, SECOND);
    CU_ASSERT_EQUAL(node_unsent(vm_sim_life(sim, 1)->node), 0);
    CU_ASSERT_EQUAL(vm_sim_life(sim, 1)->ended, 0);
    vm_sim_crash(sim, 0);
    vm_sim_run(sim, SECOND);
    CU_ASSERT_EQUAL(node_coordinator(vm_sim_on(sim, 1)->node), 2);
    vm_sim_check_converged(sim);
    finish(sim);
}

/* ---- cuts, stops and deaths against the fail timeout ---- */

static uint32_t gone_seen(struct vm_sim *sim)
{
    uint32_t gone = 0;

    for (uint32_t i = 1; vm_sim_life(sim, i); i++)
        gone += vm_sim_life(sim, i)->gone;
    return gone;
}

/* Cut off for less than the timeout, whoever it is: nobody is gone and nothing is lost. */
static void short_cuts_lose_nothing(void)
{
    for (uint32_t host = 0; host < 5; host++) {
        struct vm_sim *sim = create_up(20 + host, 5);

        for (int i = 0; i < 20; i++) {
            vm_sim_run(sim, random_below(vm_sim_random(sim), SECOND));
            send_between_all(sim, 3);
            network_isolate(vm_sim_network(sim), host, true);
            vm_sim_run(sim, SECOND + random_below(vm_sim_random(sim), 4 * SECOND - 10000));
            send_between_all(sim, 3);
            network_isolate(vm_sim_network(sim), host, false);
            vm_sim_run(sim, 2 * SECOND);
            CU_ASSERT_EQUAL(gone_seen(sim), 0);
            vm_sim_check_converged(sim);
        }
        finish(sim);
    }
}

/* Cut off for longer: it is gone for all others, ends by itself, and comes back as a new one. */
static void long_cuts_end_a_host(void)
{
    for (uint32_t host = 0; host < 5; host++) {
        struct vm_sim *sim = create_up(30 + host, 5);

        vm_sim_run(sim, SECOND);
        network_isolate(vm_sim_network(sim), host, true);
        vm_sim_run(sim, 6 * SECOND);
        for (uint32_t i = 1; i <= 5; i++)
            CU_ASSERT(i == host + 1 || vm_sim_life(sim, i)->gone == 1);
        vm_sim_run(sim, 5 * SECOND);
        CU_ASSERT_EQUAL(vm_sim_life(sim, host + 1)->ended, NODE_END_CUT_OFF);
        vm_sim_check_converged(sim);
        network_isolate(vm_sim_network(sim), host, false);
        CU_ASSERT(vm_sim_launch(sim, host));
        vm_sim_run(sim, SECOND);
        send_between_all(sim, 1);
        vm_sim_run(sim, SECOND);
        vm_sim_check_converged(sim);
        CU_ASSERT_EQUAL(vm_sim_running(sim), 5);
        finish(sim);
    }
}

static bool one_is_gone_for_all(struct vm_sim *sim)
{
    for (uint32_t i = 1; vm_sim_life(sim, i); i++)
        if (vm_sim_life(sim, i)->running && vm_sim_life(sim, i)->gone == 0)
            return false;
    return true;
}

static void die_once(uint64_t seed, uint64_t timeout_us)
{
    struct vm_sim_config config = {
        .network = {.seed = seed, .ports = 5, .delay_us = 200, .jitter_us = 50, .loss_ppm = 10000},
        .fail_timeout_us = timeout_us,
        .join_timeout_us = 20 * SECOND};
    struct vm_sim *sim = vm_sim_create(&config);
    uint64_t died_us;

    vm_sim_bootstrap(sim, 0);
    for (uint32_t host = 1; host < 5; host++)
        vm_sim_launch(sim, host);
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, 5 * SECOND));
    vm_sim_run(sim, random_below(vm_sim_random(sim), 2 * timeout_us));
    CU_ASSERT_EQUAL(gone_seen(sim), 0);
    died_us = vm_sim_now(sim);
    vm_sim_crash(sim, (uint32_t)random_below(vm_sim_random(sim), 5));
    CU_ASSERT(vm_sim_run_until(sim, one_is_gone_for_all, timeout_us + SECOND));
    if (!one_is_gone_for_all(sim))
        printf("seed %llu: not reported within %.1f s and 1 s\n", (unsigned long long)seed,
               (double)timeout_us / 1e6);
    /* a few lost heartbeats cost a bit of it */
    CU_ASSERT(vm_sim_now(sim) >= died_us + timeout_us * 95 / 100);
    finish(sim);
}

/* Whoever dies is gone for all within the timeout and a second, and not before the timeout. */
static void deaths_are_reported_in_time(void)
{
    static const uint64_t TIMEOUTS[] = {SECOND / 2, 2 * SECOND, 5 * SECOND, 30 * SECOND};

    for (uint64_t seed = 1; seed <= 400; seed++)
        die_once(seed, TIMEOUTS[seed % 4]);
}

/* Processes that stand still for half the timeout, the coordinator and several at once too. */
static void short_stops_kill_nobody(void)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct vm_sim *sim = create_up(1000 + seed, 5);
        struct network_config bad = {.loss_ppm = 20000, .delay_us = 300, .jitter_us = 300};

        network_configure(vm_sim_network(sim), &bad);
        for (int i = 0; i < 20; i++) {
            uint64_t who = 1 + random_below(vm_sim_random(sim), 31);

            for (uint32_t host = 0; host < 5; host++)
                if (who >> host & 1)
                    vm_sim_stop(sim, host, 5 * SECOND / 2);
            vm_sim_run(sim, 5 * SECOND / 2 + random_below(vm_sim_random(sim), 4 * SECOND));
        }
        vm_sim_run(sim, 4 * SECOND);
        CU_ASSERT_EQUAL(gone_seen(sim), 0);
        CU_ASSERT_EQUAL(vm_sim_running(sim), 5);
        vm_sim_check_converged(sim);
        finish(sim);
    }
}

/* Of two hosts the second cannot tell the death of the first from a cut, and ends. */
static void first_of_two_dies(void)
{
    struct vm_sim *sim = create_up(40, 2);

    vm_sim_crash(sim, 0);
    vm_sim_run(sim, 10 * SECOND);
    CU_ASSERT_EQUAL(vm_sim_life(sim, 2)->ended, NODE_END_CUT_OFF);
    finish(sim);
}

/* Of two hosts the first goes on alone, the second does not. */
static void two_hosts_cut(void)
{
    struct vm_sim *sim = create_up(5, 2);

    network_cut(vm_sim_network(sim), 0, 1, true);
    vm_sim_run(sim, 10 * SECOND);
    CU_ASSERT_PTR_NOT_NULL(vm_sim_on(sim, 0));
    CU_ASSERT_EQUAL(vm_sim_life(sim, 2)->ended, NODE_END_CUT_OFF);
    vm_sim_check_converged(sim);
    finish(sim);
}

static void minority_with_coordinator_ends(void)
{
    struct vm_sim *sim = create_up(6, 5);

    for (uint32_t a = 0; a < 2; a++)
        for (uint32_t b = 2; b < 5; b++)
            network_cut(vm_sim_network(sim), a, b, true);
    vm_sim_run(sim, 20 * SECOND);
    CU_ASSERT_EQUAL(vm_sim_life(sim, 1)->ended, NODE_END_CUT_OFF);
    CU_ASSERT_EQUAL(vm_sim_life(sim, 2)->ended, NODE_END_CUT_OFF);
    CU_ASSERT_EQUAL(vm_sim_running(sim), 3);
    vm_sim_check_converged(sim);
    finish(sim);
}

/* Hosts that join on the coordinator's side of a cut do not make it the larger side: they never
 * come up, and the two hosts of three that are left on the other side go on. */
static void joiners_do_not_outvote(void)
{
    struct vm_sim *sim = create(12, 8);

    vm_sim_bootstrap(sim, 0);
    vm_sim_launch(sim, 1);
    vm_sim_launch(sim, 2);
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, SECOND));
    for (uint32_t host = 3; host < 8; host++) {
        network_cut(vm_sim_network(sim), host, 1, true);
        network_cut(vm_sim_network(sim), host, 2, true);
    }
    network_cut(vm_sim_network(sim), 0, 1, true);
    network_cut(vm_sim_network(sim), 0, 2, true);
    for (uint32_t host = 3; host < 8; host++)
        CU_ASSERT(vm_sim_launch(sim, host));
    vm_sim_run(sim, 30 * SECOND);
    CU_ASSERT_EQUAL(vm_sim_life(sim, 1)->ended, NODE_END_CUT_OFF);
    CU_ASSERT_EQUAL(vm_sim_life(sim, 5)->ended, NODE_END_JOIN_FAILED);
    CU_ASSERT_EQUAL(vm_sim_running(sim), 2);
    vm_sim_check_converged(sim);
    finish(sim);
}

/* A process that stood still blames nobody, and ends when it was declared gone meanwhile. */
static void stopped_process(void)
{
    struct vm_sim *sim = create_up(7, 4);

    vm_sim_stop(sim, 2, 3 * SECOND);
    vm_sim_run(sim, 10 * SECOND);
    CU_ASSERT_EQUAL(vm_sim_running(sim), 4);
    vm_sim_check_converged(sim);
    vm_sim_stop(sim, 2, 60 * SECOND);
    vm_sim_run(sim, 70 * SECOND);
    CU_ASSERT_EQUAL(vm_sim_life(sim, 3)->ended, NODE_END_CUT_OFF);
    CU_ASSERT_EQUAL(vm_sim_running(sim), 3);
    vm_sim_check_converged(sim);
    vm_sim_stop(sim, 0, 4 * SECOND);
    vm_sim_run(sim, 20 * SECOND);
    vm_sim_check_converged(sim);
    finish(sim);
}

/* The coordinator cannot reach a host that others hear: nobody is declared gone for a while. */
static void others_hear_it(void)
{
    struct vm_sim *sim = create_up(8, 5);

    network_cut(vm_sim_network(sim), 0, 3, true);
    vm_sim_run(sim, 9 * SECOND);
    CU_ASSERT_EQUAL(vm_sim_running(sim), 5);
    CU_ASSERT_EQUAL(vm_sim_life(sim, 1)->gone, 0);
    network_cut(vm_sim_network(sim), 0, 3, false);
    vm_sim_run(sim, 3 * SECOND);
    vm_sim_check_converged(sim);
    finish(sim);
}

static void join_storm(uint32_t hosts, uint32_t loss_ppm)
{
    struct vm_sim *sim = create(9, hosts);
    struct network_config bad = {.loss_ppm = loss_ppm, .delay_us = 300, .jitter_us = 300};

    network_configure(vm_sim_network(sim), &bad);
    vm_sim_bootstrap(sim, 0);
    for (uint32_t host = 1; host < hosts; host++)
        CU_ASSERT(vm_sim_launch(sim, host));
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, 20 * SECOND));
    printf("%u hosts in %.3f s ", hosts, (double)vm_sim_now(sim) / 1e6);
    finish(sim);
}

static void join_storm_100(void)
{
    join_storm(100, 20000);
}

static void join_storm_300(void)
{
    join_storm(300, 0);
}

/* The coordinator dies while hosts join: those that were up go on with a successor, and so do those
 * whose joining had been published. */
static void coordinator_dies_in_a_join_storm(void)
{
    for (uint64_t when = 0; when < 3000; when += 100) {
        struct vm_sim *sim = create(10 + when, 40);

        vm_sim_bootstrap(sim, 0);
        for (uint32_t host = 1; host < 10; host++)
            CU_ASSERT(vm_sim_launch(sim, host));
        CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, SECOND));
        for (uint32_t host = 10; host < 40; host++)
            CU_ASSERT(vm_sim_launch(sim, host));
        vm_sim_run(sim, when);
        vm_sim_crash(sim, 0);
        vm_sim_run(sim, 30 * SECOND);
        CU_ASSERT(vm_sim_running(sim) >= 9);
        CU_ASSERT_PTR_NOT_NULL(vm_sim_coordinator(sim));
        vm_sim_check_converged(sim);
        finish(sim);
    }
}

/* Many hosts, many deaths at once, much traffic, a bad network. */
static void large_vm(void)
{
    struct vm_sim *sim = create_up(11, 200);
    struct network_config bad = {
        .loss_ppm = 20000, .reorder_ppm = 20000, .reorder_us = 2000, .delay_us = 1000};

    network_configure(vm_sim_network(sim), &bad);
    for (uint32_t host = 0; host < 60; host++)
        vm_sim_crash(sim, host);
    for (uint32_t i = 61; i < 190; i++)
        for (uint32_t k = 1; k <= 5; k++)
            CU_ASSERT_EQUAL(vm_sim_send(sim, vm_sim_life(sim, i), i + k, 5000), 0);
    vm_sim_run(sim, 20 * SECOND);
    CU_ASSERT_EQUAL(vm_sim_running(sim), 140);
    vm_sim_check_converged(sim);
    for (uint32_t host = 0; host < 60; host++)
        CU_ASSERT(vm_sim_launch(sim, host));
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, 10 * SECOND));
    finish(sim);
}

/* ---- what the VM agrees on ---- */

static void agree_on_some(struct vm_sim *sim, int commands)
{
    for (int i = 0; i < commands; i++)
        CU_ASSERT(vm_sim_leader(sim) && vm_sim_propose(sim, vm_sim_leader(sim)) > 0);
}

static uint64_t commands_of_leader(struct vm_sim *sim)
{
    return vm_sim_leader(sim) ? vm_sim_leader(sim)->state.commands : 0;
}

static uint64_t generation_of_leader(struct vm_sim *sim)
{
    return vm_sim_leader(sim) ? node_generation(vm_sim_leader(sim)->node) : 0;
}

/* Kill any host, the first included, at any time: what was agreed is there, within a fail timeout a
 * leader takes commands, and no generation is lost. */
static void state_survives_any_death(void)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct vm_sim *sim = create_up(2000 + seed, 5);
        uint64_t before;

        vm_sim_run(sim, 2 * SECOND);
        agree_on_some(sim, 50);
        vm_sim_run(sim, random_below(vm_sim_random(sim), SECOND));
        before = commands_of_leader(sim);
        vm_sim_crash(sim, (uint32_t)(seed % 5));
        vm_sim_run(sim, 5 * SECOND);
        CU_ASSERT(commands_of_leader(sim) >= before);
        agree_on_some(sim, 1);
        vm_sim_run(sim, 15 * SECOND);
        vm_sim_check_council(sim);
        CU_ASSERT_EQUAL(generation_of_leader(sim), 1);
        finish(sim);
    }
}

/* One after the other: as long as each is declared gone, or replaced, before the next dies, two
 * hosts are left in the end and know all. */
static void voters_are_replaced(void)
{
    struct vm_sim *sim = create_up(50, 10);
    uint64_t commands = 0;

    for (uint32_t host = 0; host < 8; host++) {
        vm_sim_run(sim, 2 * SECOND);
        agree_on_some(sim, 10);
        commands += 10;
        vm_sim_run(sim, SECOND);
        vm_sim_crash(sim, host);
        vm_sim_run(sim, 20 * SECOND);
        CU_ASSERT_EQUAL(commands_of_leader(sim), commands);
    }
    vm_sim_check_council(sim);
    finish(sim);
}

/* Who leaves in order hands over, even when only two were there, or when no more may vote. */
static void leaving_hands_over(void)
{
    for (uint32_t hosts = 2; hosts <= 8; hosts++) {
        struct vm_sim *sim = create_up(60 + hosts, hosts);

        vm_sim_run(sim, 2 * SECOND);
        agree_on_some(sim, 30);
        vm_sim_run(sim, SECOND);
        for (uint32_t host = 0; host + 1 < hosts; host++) {
            vm_sim_leave(sim, vm_sim_on(sim, host));
            vm_sim_run(sim, 5 * SECOND);
            CU_ASSERT_EQUAL(commands_of_leader(sim), 30);
        }
        vm_sim_run(sim, 15 * SECOND);
        vm_sim_check_council(sim);
        CU_ASSERT_EQUAL(vm_sim_running(sim), 1);
        finish(sim);
    }
}

/* Most of the voters die at once: what they agreed on is lost, and said to be; the VM goes on. */
static void most_voters_die(void)
{
    struct vm_sim *sim = create_up(70, 12);

    vm_sim_run(sim, 2 * SECOND);
    agree_on_some(sim, 30);
    vm_sim_run(sim, SECOND);
    for (uint32_t host = 0; host < 3; host++)
        vm_sim_crash(sim, host);
    vm_sim_run(sim, 45 * SECOND);
    vm_sim_check_council(sim);
    CU_ASSERT(generation_of_leader(sim) > 1);
    CU_ASSERT_EQUAL(vm_sim_running(sim), 9);
    finish(sim);
}

/* Three of the five voters are on the smaller side of a cut: it ends, the larger side goes on and
 * says what is lost, and who was cut off joins again. */
static void cut_with_few_voters(void)
{
    struct vm_sim *sim = create_up(80, 12);

    vm_sim_run(sim, 2 * SECOND);
    agree_on_some(sim, 30);
    vm_sim_count_lines(sim, "what was agreed is lost");
    for (uint32_t a = 0; a < 3; a++)
        for (uint32_t b = 3; b < 12; b++)
            network_cut(vm_sim_network(sim), a, b, true);
    vm_sim_run(sim, 30 * SECOND);
    for (uint32_t index = 1; index <= 3; index++)
        CU_ASSERT_EQUAL(vm_sim_life(sim, index)->ended, NODE_END_CUT_OFF);
    CU_ASSERT_EQUAL(vm_sim_running(sim), 9);
    CU_ASSERT_EQUAL(vm_sim_counted(sim), 1);
    vm_sim_check_converged(sim);
    vm_sim_check_council(sim);
    vm_sim_heal(sim);
    for (uint32_t host = 0; host < 3; host++)
        CU_ASSERT(vm_sim_launch(sim, host));
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, 5 * SECOND));
    vm_sim_check_council(sim);
    finish(sim);
}

/* The first voters, each when the one before it was declared gone: nothing is lost. */
static void all_voters_but_one_die(void)
{
    struct vm_sim *sim = create_up(81, 8);

    vm_sim_run(sim, 2 * SECOND);
    agree_on_some(sim, 30);
    vm_sim_run(sim, SECOND);
    for (uint32_t host = 0; host < 4; host++) {
        vm_sim_crash(sim, host);
        vm_sim_run(sim, 12 * SECOND);
    }
    CU_ASSERT_EQUAL(commands_of_leader(sim), 30);
    CU_ASSERT_EQUAL(generation_of_leader(sim), 1);
    vm_sim_check_converged(sim);
    vm_sim_check_council(sim);
    finish(sim);
}

/* ---- weather ---- */

struct weather {
    struct vm_sim *sim;
    uint64_t *random;
    uint32_t hosts;
    bool moved;
    bool rough;          /* cuts, crashes and stops, not just a bad network */
    uint32_t departures; /* hosts that left or were removed */
};

static uint32_t any_host(struct weather *w)
{
    return (uint32_t)random_below(w->random, w->hosts);
}

static void send_some(struct weather *w)
{
    struct life *from = vm_sim_on(w->sim, any_host(w)), *to = vm_sim_on(w->sim, any_host(w));
    uint64_t frames = 1 + random_below(w->random, 20);

    if (!from || !to || from == to || !from->joined)
        return;
    for (uint64_t i = 0; i < frames; i++)
        vm_sim_send(w->sim, from, to->index,
                    (uint32_t)(4 + random_below(w->random, i == 0 ? 65000 : 2000)));
}

static void leave_or_remove(struct weather *w)
{
    struct life *life = vm_sim_on(w->sim, any_host(w));
    struct life *coordinator = vm_sim_coordinator(w->sim);

    if (!life || !life->joined || !coordinator || vm_sim_running(w->sim) < 3)
        return;
    w->departures++;
    if (life != coordinator && random_chance(w->random, NETWORK_MILLION / 2)) {
        node_remove(coordinator->node, life->index, vm_sim_now(w->sim));
        vm_sim_touch(coordinator);
    } else {
        vm_sim_leave(w->sim, life);
    }
}

static void rough_action(struct weather *w)
{
    uint32_t a = any_host(w), b = any_host(w);

    switch (random_below(w->random, 7)) {
    case 0:
        vm_sim_crash(w->sim, a);
        break;
    case 1:
        if (a != b)
            network_cut(vm_sim_network(w->sim), a, b, true);
        break;
    case 2:
        network_isolate(vm_sim_network(w->sim), a, true);
        break;
    case 3:
        vm_sim_heal(w->sim);
        break;
    case 4:
        vm_sim_stop(w->sim, a, random_below(w->random, 12 * SECOND));
        break;
    case 5: /* two hosts that cannot be dialled cannot meet */
        if (!w->moved)
            vm_sim_move(w->sim, a);
        w->moved = true;
        break;
    default:
        if (a != b)
            network_cut_one_way(vm_sim_network(w->sim), a, b, true);
        break;
    }
}

static void act(struct weather *w)
{
    uint64_t what = random_below(w->random, 10);

    for (uint64_t i = random_below(w->random, 4); i > 0 && vm_sim_leader(w->sim); i--)
        vm_sim_propose(w->sim, vm_sim_leader(w->sim));
    if (what < 5)
        send_some(w);
    else if (what < 7)
        vm_sim_launch(w->sim, any_host(w));
    else if (what == 7)
        leave_or_remove(w);
    else if (w->rough)
        rough_action(w);
}

static void check_nobody_was_wronged(struct weather *w)
{
    for (uint32_t i = 1; i <= VM_SIM_INDEX_MAX; i++) {
        struct life *life = vm_sim_life(w->sim, i);

        if (life && (life->ended == NODE_END_CUT_OFF || life->gone > w->departures))
            vm_sim_fail(w->sim, "host %u ended (%d) though nothing failed", i, life->ended);
    }
}

static struct network_config random_network(uint64_t *random, uint32_t hosts, uint64_t seed)
{
    static const uint32_t LOSS[] = {0, 10000, 50000, 150000};

    return (struct network_config){.seed = seed,
                                   .ports = hosts,
                                   .loss_ppm = LOSS[random_below(random, 4)],
                                   .duplicate_ppm = (uint32_t)random_below(random, 50000),
                                   .reorder_ppm = (uint32_t)random_below(random, 100000),
                                   .corrupt_ppm = (uint32_t)random_below(random, 10000),
                                   .delay_us = 50 + random_below(random, 20000),
                                   .jitter_us = random_below(random, 5000),
                                   .reorder_us = random_below(random, 30000)};
}

/* One seed: random actions in a bad network, then quiet; returns the failure or NULL. */
static bool run_weather(uint64_t seed, bool trace)
{
    uint64_t random = seed;
    struct weather w = {.hosts = 2 + (uint32_t)random_below(&random, 7)};
    struct vm_sim_config config = {.network = random_network(&random, w.hosts, seed),
                                   .fail_timeout_us = 5 * SECOND,
                                   .join_timeout_us = 20 * SECOND,
                                   .encrypt = seed % 2 == 0,
                                   .ether = seed % 5 != 0,
                                   .services = seed % 4 != 0,
                                   .trace = trace};
    bool ok;

    w.sim = vm_sim_create(&config);
    w.random = &random;
    w.rough = seed % 3 != 0;
    vm_sim_bootstrap(w.sim, 0);
    for (uint32_t host = 1; host < w.hosts; host++)
        vm_sim_launch(w.sim, host);
    for (int i = 0; i < 40 && !vm_sim_failure(w.sim); i++) {
        vm_sim_run(w.sim, random_below(&random, i % 8 == 0 ? 4 * SECOND : SECOND / 2));
        act(&w);
    }
    vm_sim_heal(w.sim);
    config.network.loss_ppm = 0;
    network_configure(vm_sim_network(w.sim), &config.network);
    vm_sim_run(w.sim, 45 * SECOND);
    if (!w.rough)
        check_nobody_was_wronged(&w);
    if (!vm_sim_failure(w.sim))
        vm_sim_check_converged(w.sim);
    vm_sim_check_council(w.sim);
    ok = !vm_sim_failure(w.sim);
    if (!ok)
        printf("seed %llu: %s (replay: vm_test --seed %llu --trace)\n", (unsigned long long)seed,
               vm_sim_failure(w.sim), (unsigned long long)seed);
    vm_sim_destroy(w.sim);
    return ok;
}

static void run_seeds(bool (*run)(uint64_t seed, bool trace), uint64_t usual)
{
    const char *count = getenv("SEEDS"), *first = getenv("FIRST_SEED");
    uint64_t seeds = count ? strtoull(count, NULL, 10) : getenv("SOAK") ? SEEDS_SOAK : usual;
    uint64_t from = first ? strtoull(first, NULL, 10) : 1;
    uint64_t failed = 0;

    for (uint64_t seed = from; seed < from + seeds && failed < 5; seed++)
        failed += !run(seed, false);
    CU_ASSERT_EQUAL(failed, 0);
}

static void weather(void)
{
    run_seeds(run_weather, SEEDS);
}

/* ---- tales: how a VM may lose its leader, its voters or half of its hosts, at any moment ---- */

struct tale {
    struct vm_sim *sim;
    uint64_t *random;
    uint32_t hosts, up; /* those from `up` on join while it happens */
};

static bool is_voter_on(struct tale *t, uint32_t host)
{
    struct life *life = vm_sim_on(t->sim, host);

    return life && vm_sim_votes(t->sim, life);
}

static void pause(struct tale *t, uint64_t most_us)
{
    vm_sim_run(t->sim, random_below(t->random, most_us));
}

static void crash_leader(struct tale *t)
{
    struct life *leader = vm_sim_leader(t->sim);

    if (leader)
        vm_sim_crash(t->sim, leader->host);
}

/* The hosts of which sides[] says so are cut off from the others. */
static void cut_between(struct tale *t, const bool *sides)
{
    for (uint32_t a = 0; a < t->hosts; a++)
        for (uint32_t b = 0; b < t->hosts; b++)
            if (sides[a] && !sides[b])
                network_cut(vm_sim_network(t->sim), a, b, true);
}

static void launch_all(struct tale *t)
{
    for (uint32_t host = 0; host < t->hosts; host++)
        if (!vm_sim_on(t->sim, host))
            vm_sim_launch(t->sim, host);
}

/* The leader is killed in the middle of a join, perhaps its successor, too. */
static void leader_dies_in_a_join(struct tale *t)
{
    launch_all(t);
    pause(t, SECOND / 50);
    crash_leader(t);
    pause(t, 12 * SECOND);
    launch_all(t);
    pause(t, SECOND / 50);
    if (vm_sim_running(t->sim) > 4)
        crash_leader(t);
}

/* On one side are most of the hosts, on the other most of the voters; hosts join on both sides of
 * the cut, leaders change the table, and it heals at any time. */
static void hosts_and_voters_are_parted(struct tale *t)
{
    bool sides[16] = {false};
    uint32_t voters = 0;

    for (uint32_t host = 0; host < t->up; host++)
        voters += sides[host] = voters < 3 && is_voter_on(t, host);
    for (uint32_t host = t->up; host < t->hosts; host++)
        sides[host] = random_below(t->random, 2) == 1;
    cut_between(t, sides);
    launch_all(t);
    pause(t, 30 * SECOND);
    launch_all(t);
    vm_sim_heal(t->sim);
}

/* Any cut, and any other while the first is there. */
static void cuts_everywhere(struct tale *t)
{
    for (int i = 0; i < 4; i++) {
        bool sides[16];

        for (uint32_t host = 0; host < t->hosts; host++)
            sides[host] = random_below(t->random, 3) == 0;
        cut_between(t, sides);
        launch_all(t);
        pause(t, 12 * SECOND);
        if (random_below(t->random, 2) == 1)
            vm_sim_heal(t->sim);
        launch_all(t);
        pause(t, 3 * SECOND);
    }
    vm_sim_heal(t->sim);
}

/* All voters but one, one after the other, as fast as may be. */
static void voters_die(struct tale *t)
{
    uint64_t each_us = random_below(t->random, 2) == 1 ? 15 * SECOND : 4 * SECOND;
    uint32_t victims[16], count = 0;

    for (uint32_t host = 0; host < t->up; host++)
        if (is_voter_on(t, host))
            victims[count++] = host;
    for (uint32_t i = 0; i + 1 < count; i++) {
        vm_sim_crash(t->sim, victims[i]);
        vm_sim_run(t->sim, each_us / 2);
        pause(t, each_us);
    }
}

/* The leader is cut off or stands still, again and again, and comes back in time or too late. */
static void leaders_are_lost_and_found(struct tale *t)
{
    for (int i = 0; i < 5; i++) {
        struct life *leader = vm_sim_leader(t->sim);

        launch_all(t);
        pause(t, SECOND / 20);
        if (leader && random_below(t->random, 2) == 1)
            network_isolate(vm_sim_network(t->sim), leader->host, true);
        else if (leader)
            vm_sim_stop(t->sim, leader->host, random_below(t->random, 10 * SECOND));
        pause(t, 10 * SECOND);
        vm_sim_heal(t->sim);
        pause(t, 4 * SECOND);
    }
}

static void (*const TALE[])(struct tale *t) = {leader_dies_in_a_join, hosts_and_voters_are_parted,
                                               cuts_everywhere, voters_die,
                                               leaders_are_lost_and_found};

static bool run_tale(uint64_t seed, bool trace)
{
    uint64_t random = seed;
    struct tale t = {.random = &random, .up = 5 + (uint32_t)random_below(&random, 6)};
    struct vm_sim_config config = {
        .fail_timeout_us = 5 * SECOND, .join_timeout_us = 20 * SECOND, .trace = trace};
    bool ok;

    t.hosts = t.up + 1 + (uint32_t)random_below(&random, 4);
    config.network = random_network(&random, t.hosts, seed);
    if (config.network.loss_ppm > 50000)
        config.network.loss_ppm = 0;
    t.sim = vm_sim_create(&config);
    vm_sim_bootstrap(t.sim, 0);
    for (uint32_t host = 1; host < t.up; host++)
        vm_sim_launch(t.sim, host);
    vm_sim_run(t.sim, 4 * SECOND);
    TALE[seed % (sizeof TALE / sizeof TALE[0])](&t);
    config.network.loss_ppm = 0;
    network_configure(vm_sim_network(t.sim), &config.network);
    vm_sim_run(t.sim, 45 * SECOND);
    launch_all(&t); /* whoever was cut off comes back */
    vm_sim_run(t.sim, 25 * SECOND);
    if (!vm_sim_failure(t.sim))
        vm_sim_check_converged(t.sim);
    vm_sim_check_council(t.sim);
    ok = !vm_sim_failure(t.sim);
    if (!ok)
        printf("tale %llu: %s (replay: vm_test --tale %llu --trace)\n", (unsigned long long)seed,
               vm_sim_failure(t.sim), (unsigned long long)seed);
    vm_sim_destroy(t.sim);
    return ok;
}

static void tales(void)
{
    run_seeds(run_tale, TALES);
}

static const struct test_case CASES[] = {
    {"good day", good_day},
    {"death is noticed", death_is_noticed},
    {"gone is forgotten", gone_is_forgotten},
    {"coordinator dies", coordinator_dies},
    {"coordinator leaves", coordinator_leaves},
    {"short cuts lose nothing", short_cuts_lose_nothing},
    {"long cuts end a host", long_cuts_end_a_host},
    {"deaths are reported in time", deaths_are_reported_in_time},
    {"short stops kill nobody", short_stops_kill_nobody},
    {"first of two dies", first_of_two_dies},
    {"two hosts cut", two_hosts_cut},
    {"minority with coordinator ends", minority_with_coordinator_ends},
    {"joiners do not outvote", joiners_do_not_outvote},
    {"stopped process", stopped_process},
    {"others hear it", others_hear_it},
    {"join storm of 100", join_storm_100},
    {"join storm of 300", join_storm_300},
    {"coordinator dies in a join storm", coordinator_dies_in_a_join_storm},
    {"large vm", large_vm},
    {"state survives any death", state_survives_any_death},
    {"voters are replaced", voters_are_replaced},
    {"leaving hands over", leaving_hands_over},
    {"most voters die", most_voters_die},
    {"cut with most hosts and few voters", cut_with_few_voters},
    {"all voters but one die", all_voters_but_one_die},
    {"tales", tales},
    {"weather", weather},
};

int main(int argc, char **argv)
{
    if (argc >= 3 && strcmp(argv[1], "--tale") == 0)
        return run_tale(strtoull(argv[2], NULL, 10), argc > 3 && strcmp(argv[3], "--trace") == 0)
                   ? 0
                   : 1;
    if (argc >= 3 && strcmp(argv[1], "--seed") == 0)
        return run_weather(strtoull(argv[2], NULL, 10), argc > 3 && strcmp(argv[3], "--trace") == 0)
                   ? 0
                   : 1;
    return covey_test_main("vm", CASES, sizeof CASES / sizeof CASES[0]);
}
