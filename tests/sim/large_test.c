/* links: proto/wire/host.c proto/wire/contention_config.c tests/sim/vm_sim.c tests/sim/deadlines.c tests/sim/network.c proto/session/fault.c tests/sim/nonce_watch.c proto/node/node.c proto/node/node_calls.c proto/node/node_roll.c proto/node/node_council.c proto/member/council.c proto/raft/raft*.c proto/node/reception.c proto/node/node_medium.c proto/wire/ether.c proto/node/node_stat.c proto/member/member.c proto/member/registry.c proto/member/departure.c proto/member/replica.c proto/member/detector.c proto/member/roll.c proto/member/election.c proto/member/table.c proto/session/session.c proto/session/session_path.c proto/session/admission.c proto/session/negotiation.c proto/auth/handshake.c proto/wire/datagram.c proto/window/inbox.c proto/window/outbox.c proto/auth/auth.c cipher/cipher_*.c proto/wire/address.c proto/wire/control.c proto/contention/contention.c proto/wire/cursor.c proto/wire/frame.c proto/window/window*.c */
/*
 * large_test.c - VMs of many hosts: all join (SOAK=1: 1500 of them), and many die at once. What a
 * death costs one host must not grow with their number: sessions are counted.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/vm_sim.h"
#include "tests/unit/runner.h"

#define SECOND VM_SIM_SECOND
#define FAIL_TIMEOUT (5 * SECOND)
#define AT_ONCE 64 /* so many are launched together, as daemon/launch/launch.c does */

/* `hosts` join at once, of those for which there is room. */
static struct vm_sim *create(uint32_t hosts, uint32_t room, const char *lines)
{
    struct vm_sim_config config = {
        .network = {.seed = 1, .ports = room, .delay_us = 200, .jitter_us = 50},
        .fail_timeout_us = FAIL_TIMEOUT,
        .join_timeout_us = 20 * SECOND,
        .trace = getenv("TRACE") != NULL};
    struct vm_sim *sim = vm_sim_create(&config);

    if (lines != NULL)
        vm_sim_count_lines(sim, lines);
    vm_sim_bootstrap(sim, 0);
    for (uint32_t host = 1; host < hosts; host++) {
        vm_sim_launch(sim, host);
        if (host % AT_ONCE == 0)
            vm_sim_run(sim, SECOND / 50);
    }
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, 2 * SECOND));
    return sim;
}

static uint64_t sum(struct vm_sim *sim, uint32_t hosts, const char *name)
{
    uint64_t all = 0;

    for (uint32_t host = 0; host < hosts; host++)
        if (vm_sim_on(sim, host))
            all += vm_sim_stat(vm_sim_on(sim, host), name);
    return all;
}

static void finish(struct vm_sim *sim)
{
    if (vm_sim_failure(sim))
        printf("%s\n", vm_sim_failure(sim));
    CU_ASSERT_PTR_NULL(vm_sim_failure(sim));
    vm_sim_destroy(sim);
}

/* Each host that is launched joins, however many there are already. */
static void hosts_join_in_parts(void)
{
    const uint32_t hosts = getenv("SOAK") ? 1500 : 400;
    struct vm_sim *sim = create(hosts, hosts, NULL);

    CU_ASSERT_EQUAL(vm_sim_running(sim), hosts);
    CU_ASSERT_EQUAL(sum(sim, hosts, "member.hosts_gone"), 0);
    /* each host is told of each other, once as it joins, in a row of some 50 bytes */
    double bytes = (double)sum(sim, hosts, "udp.bytes_sent") / hosts;
    printf("%.1f kB a host ", bytes / 1000);
    CU_ASSERT(bytes < 90.0 * hosts + 5000);
    finish(sim);
}

/* Hosts that come one by one are let in together: the more there are, the more at once. */
static void hosts_join_one_by_one(void)
{
    const uint32_t hosts = 400;
    struct vm_sim *sim = create(1, hosts, NULL);

    for (uint32_t host = 1; host < hosts; host++) {
        vm_sim_launch(sim, host);
        vm_sim_run(sim, SECOND / 500);
    }
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, SECOND));
    CU_ASSERT_EQUAL(vm_sim_running(sim), hosts);
    double frames = (double)sum(sim, hosts, "session.frames_sent") / hosts;
    printf("%.1f frames a host ", frames);
    CU_ASSERT(frames < 200);
    /* the coordinator counts all hosts a few times a batch, not for each acknowledgement */
    struct life *coordinator = vm_sim_coordinator(sim);
    uint64_t counts = vm_sim_stat(coordinator, "member.batch_counts");
    printf("%llu counts ", (unsigned long long)counts);
    CU_ASSERT(counts < 300);
    /* and it looks at all of them at fixed times, not whenever one is to be pinged */
    uint64_t rounds = vm_sim_stat(coordinator, "member.watch_rounds");
    uint64_t looks = vm_sim_stat(coordinator, "session.looks");
    vm_sim_run(sim, 10 * SECOND);
    rounds = vm_sim_stat(coordinator, "member.watch_rounds") - rounds;
    looks = vm_sim_stat(coordinator, "session.looks") - looks;
    printf("%llu rounds ", (unsigned long long)rounds);
    CU_ASSERT(rounds < 1100);
    /* of its sessions it looks at those that are pinged or answer, and sometimes at all */
    printf("%.1f looks a host and second ", (double)looks / hosts / 10);
    CU_ASSERT(looks < 10 * 50 * (uint64_t)hosts);
    finish(sim);
}

/* The coordinator, all voters and many more: the rest founds a new generation and finds out who is
 * dead. Who looks for the coordinator asks a few others, not too often, and few claim at a time:
 * each stranger that is spoken to costs two hosts a handshake. */
static void first_of_many_die(void)
{
    const uint32_t hosts = 400, dead = 80;
    struct vm_sim *sim = create(hosts, hosts, NULL);
    uint64_t opened, probes, bytes = 0;

    vm_sim_run(sim, 2 * SECOND);
    for (uint32_t host = dead; host < hosts; host++)
        bytes += vm_sim_stat(vm_sim_on(sim, host), "udp.bytes_sent");
    opened = sum(sim, hosts, "session.opened");
    probes = sum(sim, hosts, "member.probes_sent");
    for (uint32_t host = 0; host < dead; host++)
        vm_sim_crash(sim, host);
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, FAIL_TIMEOUT + 3 * SECOND));
    opened = sum(sim, hosts, "session.opened") - opened;
    probes = sum(sim, hosts, "member.probes_sent") - probes;
    printf("%.1f s, %.1f sessions and %.1f probes a host ", (double)vm_sim_now(sim) / SECOND,
           (double)opened / (hosts - dead), (double)probes / (hosts - dead));
    bytes = sum(sim, hosts, "udp.bytes_sent") - bytes;
    printf("%.1f kB a host ", (double)bytes / 1000 / (hosts - dead));
    /* who coordinates next does not send the table to all, which has 17 kB */
    CU_ASSERT(bytes < 25000 * (uint64_t)(hosts - dead));
    CU_ASSERT(opened < 4 * (uint64_t)(hosts - dead));
    CU_ASSERT(probes < 20 * (uint64_t)(hosts - dead));
    CU_ASSERT(sum(sim, hosts, "member.rolls") < 10);
    vm_sim_check_converged(sim);
    vm_sim_check_council(sim);
    finish(sim);
}

/* The coordinator dies with one voter and many others: who is elected has called the roll before,
 * and so knows at once who is dead. They are gone together. */
static void first_dies_with_many(void)
{
    const uint32_t hosts = 300, dead = 60;
    struct vm_sim *sim = create(hosts, hosts, NULL);

    vm_sim_run(sim, 2 * SECOND);
    for (uint32_t host = 0; host <= dead; host++)
        if (host == 0 || host > 3)
            vm_sim_crash(sim, host);
    vm_sim_count_lines(sim, "calls the roll");
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, FAIL_TIMEOUT + 3 * SECOND));
    CU_ASSERT(vm_sim_counted(sim) > 0 && vm_sim_counted(sim) < 5);
    CU_ASSERT_EQUAL(vm_sim_coordinator(sim)->generation, 1);
    vm_sim_check_converged(sim);
    vm_sim_check_council(sim);
    finish(sim);
}

/* Each host writes of others what happens to them, but not a line for each of hundreds: on one
 * machine that would be the square of their number. */
static void logs_are_short(void)
{
    const uint32_t hosts = 300, dead = 80;
    struct vm_sim *sim = create(hosts, hosts, "");

    vm_sim_run(sim, 3 * SECOND);
    printf("%.1f lines a host ", (double)vm_sim_counted(sim) / hosts);
    CU_ASSERT(vm_sim_counted(sim) < 60 * (uint64_t)hosts);
    vm_sim_count_lines(sim, " gone");
    for (uint32_t host = hosts - dead; host < hosts; host++)
        vm_sim_crash(sim, host);
    vm_sim_run(sim, FAIL_TIMEOUT + SECOND);
    CU_ASSERT(vm_sim_counted(sim) > 0 && vm_sim_counted(sim) < 40 * (uint64_t)(hosts - dead));
    vm_sim_count_lines(sim, "more changes of hosts; 220 are up");
    vm_sim_run(sim, 3 * SECOND);
    CU_ASSERT_EQUAL(vm_sim_counted(sim), hosts - dead);
    finish(sim);
}

/* Who asks hundreds at once shakes hands with some of them at a time, and with each of them once. A
 * dead one holds up nobody. */
static void one_asks_all(void)
{
    const uint32_t hosts = 400, dead = 100, asker = 200;
    struct vm_sim *sim = create(hosts, hosts, NULL);

    vm_sim_run(sim, 3 * SECOND);
    for (uint32_t host = hosts - dead; host < hosts; host++)
        vm_sim_crash(sim, host);
    struct life *life = vm_sim_on(sim, asker);
    uint64_t before = vm_sim_stat(life, "session.hellos_sent");

    for (uint32_t host = 1; host < hosts; host++)
        if (host != asker)
            CU_ASSERT_EQUAL(vm_sim_send(sim, life, host + 1, 100), 0);
    vm_sim_run(sim, 100); /* before an answer comes */
    CU_ASSERT_EQUAL(vm_sim_stat(life, "session.hellos_sent") - before, 64);
    vm_sim_run(sim, SECOND);
    for (uint32_t host = 1; host < hosts - dead; host++)
        if (host != asker)
            CU_ASSERT_EQUAL(vm_sim_received(vm_sim_on(sim, host), asker + 1, MEDIUM_IP), 1);
    uint64_t sent = vm_sim_stat(life, "session.hellos_sent") - before;

    printf("%llu handshakes begun ", (unsigned long long)sent);
    CU_ASSERT(sent >= hosts - 2 && sent < hosts + 8 * dead);
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, FAIL_TIMEOUT + 3 * SECOND));
    finish(sim);
}

static const struct test_case CASES[] = {
    {"logs are short", logs_are_short},
    {"hundreds of hosts join", hosts_join_in_parts},
    {"hosts join one by one", hosts_join_one_by_one},
    {"the first of many die", first_of_many_die},
    {"the first dies with many", first_dies_with_many},
    {"one asks all", one_asks_all},
};

int main(void)
{
    return covey_test_main("large", CASES, sizeof CASES / sizeof CASES[0]);
}
