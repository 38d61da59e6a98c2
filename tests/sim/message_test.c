/* links: proto/wire/host.c proto/wire/contention_config.c tests/sim/vm_sim.c tests/sim/deadlines.c tests/sim/network.c proto/session/fault.c tests/sim/nonce_watch.c proto/node/node.c proto/node/node_calls.c proto/node/node_roll.c proto/node/node_council.c proto/member/council.c proto/raft/raft*.c proto/node/reception.c proto/node/node_medium.c proto/wire/ether.c proto/node/node_stat.c proto/member/member.c proto/member/registry.c proto/member/departure.c proto/member/replica.c proto/member/detector.c proto/member/roll.c proto/member/election.c proto/member/table.c proto/session/session.c proto/session/session_path.c proto/session/admission.c proto/session/negotiation.c proto/auth/handshake.c proto/wire/datagram.c proto/window/inbox.c proto/window/outbox.c proto/auth/auth.c cipher/cipher_*.c proto/wire/address.c proto/wire/control.c proto/contention/contention.c proto/wire/cursor.c proto/wire/frame.c proto/window/window*.c */
/*
 * message_test.c - messages without end over a network that loses, doubles, reorders and corrupts:
 * vm_sim.c checks that every one arrives once, in order and unchanged. 10^7 of them in large
 * datagrams and 10^6 in small ones; SOAK=1: 10 times more; MESSAGES=N: any other number of each.
 */
#include <CUnit/CUnit.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/sim/vm_sim.h"
#include "tests/unit/runner.h"

#define HOSTS 3
#define QUEUE_BYTES (128u << 10)
#define ROUND_US 2000
#define PATIENCE_US (60ull * VM_SIM_SECOND)

static uint64_t messages_wanted(uint64_t ordinary)
{
    const char *number = getenv("MESSAGES"), *soak = getenv("SOAK");

    if (number)
        return strtoull(number, NULL, 10);
    return soak && strcmp(soak, "1") == 0 ? 10 * ordinary : ordinary;
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Mostly small ones, now and then one of many datagrams. */
static uint32_t any_size(struct vm_sim *sim)
{
    uint64_t *random = vm_sim_random(sim);

    return (uint32_t)(4 + random_below(random, random_below(random, 1000) == 0 ? 60000 : 60));
}

static uint64_t fill(struct vm_sim *sim, uint32_t from, uint32_t to, uint64_t most)
{
    struct life *life = vm_sim_life(sim, from);
    uint64_t sent = 0;

    while (from != to && sent < most && node_queued(life->node, to) < QUEUE_BYTES) {
        CU_ASSERT_EQUAL(vm_sim_send(sim, life, to, any_size(sim)), 0);
        sent++;
    }
    return sent;
}

/* A path that carries datagrams of so many bytes; 0: of any size. */
static struct vm_sim *create_up(size_t datagram_bytes)
{
    struct vm_sim_config config = {.network = {.seed = 1,
                                               .ports = HOSTS,
                                               .delay_us = 100,
                                               .jitter_us = 20,
                                               .datagram_bytes = datagram_bytes},
                                   .fail_timeout_us = 5 * VM_SIM_SECOND,
                                   .join_timeout_us = 20 * VM_SIM_SECOND};
    struct vm_sim *sim = vm_sim_create(&config);

    vm_sim_bootstrap(sim, 0);
    for (uint32_t host = 1; host < HOSTS; host++)
        vm_sim_launch(sim, host);
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, VM_SIM_SECOND));
    config.network.loss_ppm = 50000;
    config.network.duplicate_ppm = 10000;
    config.network.reorder_ppm = 50000;
    config.network.reorder_us = 1000;
    config.network.corrupt_ppm = 1000;
    network_configure(vm_sim_network(sim), &config.network);
    return sim;
}

static uint64_t sum(struct vm_sim *sim, const char *name)
{
    uint64_t value = 0;

    for (uint32_t i = 1; i <= HOSTS; i++)
        value += vm_sim_stat(vm_sim_life(sim, i), name);
    return value;
}

static void tell(struct vm_sim *sim, uint64_t messages, double took)
{
    struct network_stats n;

    network_stats(vm_sim_network(sim), &n);
    printf("\n  %" PRIu64 " messages in %.1f s (%.0f a second): %" PRIu64 " datagrams, %" PRIu64
           " lost, %" PRIu64 " doubled, %" PRIu64 " reordered, %" PRIu64 " corrupted\n",
           messages, took, (double)messages / took, n.sent, n.lost, n.duplicated, n.reordered,
           n.corrupted);
    if (n.sent < 50000)
        return; /* too few for shares */
    CU_ASSERT(n.lost > n.sent / 25 && n.duplicated > n.sent / 125 && n.reordered > n.sent / 25);
    /* who corrupts must not be believed: mostly the MAC tells, of the rest a field before it */
    CU_ASSERT(n.corrupted > 0 && sum(sim, "udp.refused_mac") > n.corrupted * 8 / 10);
}

static void run(uint64_t wanted, size_t datagram_bytes)
{
    struct vm_sim *sim = create_up(datagram_bytes);
    uint64_t sent = 0;
    double began = seconds();

    while (sent < wanted && !vm_sim_failure(sim)) {
        for (uint32_t pair = 0; pair < HOSTS * HOSTS; pair++)
            sent += fill(sim, 1 + pair / HOSTS, 1 + pair % HOSTS, wanted - sent);
        vm_sim_run(sim, ROUND_US);
    }
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, PATIENCE_US));
    vm_sim_check_converged(sim); /* every frame that was sent was received */
    tell(sim, sent, seconds() - began);
    if (vm_sim_failure(sim))
        printf("%s\n", vm_sim_failure(sim));
    CU_ASSERT_PTR_NULL(vm_sim_failure(sim));
    vm_sim_destroy(sim);
}

static void large_datagrams(void)
{
    run(messages_wanted(10000000), 0);
}

static void small_datagrams(void)
{
    run(messages_wanted(1000000), 1300);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"messages in large datagrams", large_datagrams},
        {"messages in small datagrams", small_datagrams},
    };

    return covey_test_main("messages under faults", cases, sizeof cases / sizeof cases[0]);
}
