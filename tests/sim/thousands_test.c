/* links: proto/wire/host.c proto/wire/contention_config.c tests/sim/vm_sim.c tests/sim/deadlines.c tests/sim/network.c proto/session/fault.c tests/sim/nonce_watch.c proto/node/node.c proto/node/node_calls.c proto/node/node_roll.c proto/node/node_council.c proto/member/council.c proto/raft/raft*.c proto/node/reception.c proto/node/node_medium.c proto/wire/ether.c proto/node/node_stat.c proto/member/member.c proto/member/registry.c proto/member/departure.c proto/member/replica.c proto/member/detector.c proto/member/roll.c proto/member/election.c proto/member/table.c proto/session/session.c proto/session/session_path.c proto/session/admission.c proto/session/negotiation.c proto/auth/handshake.c proto/wire/datagram.c proto/window/inbox.c proto/window/outbox.c proto/auth/auth.c cipher/cipher_*.c proto/wire/address.c proto/wire/control.c proto/contention/contention.c proto/wire/cursor.c proto/wire/frame.c proto/window/window*.c */
/*
 * thousands_test.c - what a VM promises whatever its size, told of one with as many hosts as there
 * are indices for. Each seed is a VM of its own, and lives through all of this:
 *
 *   join     all are up within 10 s of the first invitation
 *   idle     a host sends and gets at most 2 kB/s, the coordinator 250 kB/s (looked at last)
 *   blink    a third is cut off for less than the fail timeout, perhaps with the coordinator:
 *            nobody is gone, and the table does not change for each that was suspected
 *   head     the coordinator dies
 *   many     400 die at once with the coordinator, gone in one change; 400 without it, in few
 *   cut      a third is cut off for longer, and comes back: it is gone in few changes, all others
 *            go on
 *
 *   thousands_test                             some small VMs (SOAK=1: 1000 of 4094 hosts, each of
 *                                              a minute or two and 10 GB; timeout: 1000)
 *   HOSTS=n SEEDS=n SEED=first thousands_test  others
 *   TRACE=1 SEED=n SEEDS=1 thousands_test      one, line by line
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/vm_sim.h"
#include "tests/unit/runner.h"

#define SECOND VM_SIM_SECOND
#define MS (SECOND / 1000)
#define FAIL_TIMEOUT (5 * SECOND)
#define AT_ONCE 64 /* so many are launched together, as daemon/launch/launch.c does */
#define LAUNCH_US (20 * MS)
#define LOSS_PPM 200 /* of every third VM */

#define HOSTS_SMALL 150
#define HOSTS_ALL (HOST_INDEX_MAX - 1) /* an index is left */
#define SEEDS_SMALL 6
#define SEEDS_SOAK 1000

#define JOIN_US_MAX (10 * SECOND)
#define AGREE_US_MAX (FAIL_TIMEOUT + 3 * SECOND)
#define IDLE_US (12 * SECOND) /* a whole number of heartbeats, of hundreds of hosts and of 4094 */
#define HOST_BYTES_MAX 2000
#define COORDINATOR_BYTES_MAX 250000
#define DEAD_PART 10
#define VOTERS_DIE_MAX 2 /* of five */
#define BLINK_CHANGES_MAX 60
#define CUT_CHANGES_MAX 3

struct story {
    struct vm_sim *sim;
    uint32_t hosts;
    uint64_t began_us;
    double host_bytes, coordinator_bytes; /* a second, of the idle */
};

/* The worst of all seeds. */
struct record {
    double join_s, host_bytes, coordinator_bytes, blink_changes, head_s, headless_s, many_s, cut_s;
    uint32_t headless_changes, many_changes, cut_changes;
};

static uint64_t option(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void at_least(double *most, double value)
{
    *most = value > *most ? value : *most;
}

static void begin(struct story *s)
{
    s->began_us = vm_sim_now(s->sim);
}

static double seconds(const struct story *s)
{
    return (double)(vm_sim_now(s->sim) - s->began_us) / SECOND;
}

/* Until all are as they must be after quiet; what is asked often costs much. */
static bool await_quiet(struct story *s, const char *what, uint64_t limit_us)
{
    while (!vm_sim_failure(s->sim)) {
        if (vm_sim_is_converged(s->sim))
            return true;
        if (vm_sim_now(s->sim) - s->began_us >= limit_us) {
            vm_sim_check_converged(s->sim);
            break;
        }
        vm_sim_run(s->sim, 10 * MS);
    }
    printf("%s, after %.2f s: ", what, seconds(s));
    return false;
}

static bool promise(struct story *s, bool kept, const char *what, double value)
{
    if (!kept)
        vm_sim_fail(s->sim, "%s: %.2f", what, value);
    return !vm_sim_failure(s->sim);
}

/* The hosts that run, shuffled. */
static uint32_t *shuffle(struct story *s)
{
    uint32_t *hosts = calloc(s->hosts, sizeof *hosts), count = 0;

    if (!hosts)
        abort();
    for (uint32_t host = 0; host < s->hosts; host++) {
        uint32_t at = (uint32_t)random_below(vm_sim_random(s->sim), count + 1);

        if (!vm_sim_on(s->sim, host))
            continue;
        hosts[count++] = hosts[at];
        hosts[at] = host;
    }
    return hosts;
}

/* In how many moments any host heard of others gone, at most. */
static uint32_t most_gone_changes(struct story *s)
{
    uint32_t most = 0;

    for (uint32_t host = 0; host < s->hosts; host++) {
        struct life *life = vm_sim_on(s->sim, host);

        if (life && life->gone_changes > most)
            most = life->gone_changes;
    }
    return most;
}

static void forget_gone(struct story *s)
{
    for (uint32_t host = 0; host < s->hosts; host++)
        if (vm_sim_on(s->sim, host))
            vm_sim_on(s->sim, host)->gone = vm_sim_on(s->sim, host)->gone_changes = 0;
}

static bool all_join(struct story *s, struct record *r)
{
    begin(s);
    for (uint32_t host = 1; host < s->hosts; host++) {
        if (!vm_sim_launch(s->sim, host))
            return promise(s, false, "a host is not invited", host);
        if (host % AT_ONCE == 0)
            vm_sim_run(s->sim, LAUNCH_US);
    }
    if (!await_quiet(s, "join", JOIN_US_MAX))
        return false;
    at_least(&r->join_s, seconds(s));
    return promise(s, vm_sim_running(s->sim) == s->hosts, "hosts", (double)vm_sim_running(s->sim));
}

static uint64_t bytes_of(const struct life *life)
{
    return vm_sim_stat(life, "udp.bytes_sent") + vm_sim_stat(life, "udp.bytes_received");
}

static bool is_idle(struct story *s, struct record *r)
{
    uint64_t *before = calloc(s->hosts, sizeof *before);
    const struct life *coordinator = vm_sim_coordinator(s->sim);

    if (!before)
        abort();
    vm_sim_run(s->sim, 2 * SECOND);
    for (uint32_t host = 0; host < s->hosts; host++)
        before[host] = bytes_of(vm_sim_on(s->sim, host));
    vm_sim_run(s->sim, IDLE_US);
    for (uint32_t host = 0; host < s->hosts && !vm_sim_failure(s->sim); host++) {
        const struct life *life = vm_sim_on(s->sim, host);
        double bytes = (double)(bytes_of(life) - before[host]) * SECOND / IDLE_US;

        at_least(life == coordinator ? &s->coordinator_bytes : &s->host_bytes, bytes);
    }
    free(before);
    at_least(&r->host_bytes, s->host_bytes);
    at_least(&r->coordinator_bytes, s->coordinator_bytes);
    return !vm_sim_failure(s->sim);
}

static void cut_off(struct story *s, const uint32_t *hosts, uint32_t part, uint32_t count)
{
    for (uint32_t i = 0; i < part; i++)
        for (uint32_t k = part; k < count; k++)
            network_cut(vm_sim_network(s->sim), hosts[i], hosts[k], true);
}

static bool third_blinks(struct story *s, struct record *r)
{
    uint64_t version = vm_sim_coordinator(s->sim)->seen_version;
    uint32_t count = (uint32_t)vm_sim_running(s->sim), *hosts = shuffle(s);

    forget_gone(s);
    begin(s);
    cut_off(s, hosts, count / 3, count);
    free(hosts);
    vm_sim_run(s->sim,
               FAIL_TIMEOUT / 10 + random_below(vm_sim_random(s->sim), FAIL_TIMEOUT * 8 / 10));
    vm_sim_heal(s->sim);
    vm_sim_run(s->sim, 2 * SECOND);
    if (!await_quiet(s, "a third cut off for a moment", 3 * FAIL_TIMEOUT))
        return false;
    double changes = (double)(vm_sim_coordinator(s->sim)->seen_version - version);

    at_least(&r->blink_changes, changes);
    return promise(s, changes <= BLINK_CHANGES_MAX, "changes", changes) &&
           promise(s, vm_sim_running(s->sim) == count, "hosts lost by a short cut",
                   (double)(count - vm_sim_running(s->sim)));
}

static bool head_dies(struct story *s, struct record *r)
{
    begin(s);
    forget_gone(s);
    vm_sim_crash(s->sim, vm_sim_coordinator(s->sim)->host);
    if (!await_quiet(s, "the coordinator died", AGREE_US_MAX))
        return false;
    at_least(&r->head_s, seconds(s));
    return promise(s, most_gone_changes(s) == 1, "changes", most_gone_changes(s));
}

/* With the coordinator all are gone in one change: who comes after it called the roll of all. Most
 * of the five voters live: how long it takes without them is a story of its own (vm_test.c). */
static bool many_die(struct story *s, bool with_head, double *most_s, uint32_t *most_changes)
{
    uint32_t count = (uint32_t)vm_sim_running(s->sim), *hosts = shuffle(s);
    uint32_t dead = count > 3000 ? 400 : count / DEAD_PART, died = with_head;
    uint32_t head = vm_sim_coordinator(s->sim)->host, voters = with_head;
    uint32_t kept = 0;

    begin(s);
    forget_gone(s);
    /* who dies is chosen before the leader does, who knows the voters */
    for (uint32_t i = 0; died < dead; i++) {
        bool votes = vm_sim_votes(s->sim, vm_sim_on(s->sim, hosts[i]));

        if (hosts[i] == head || (votes && voters == VOTERS_DIE_MAX))
            continue;
        voters += votes;
        died++;
        hosts[kept++] = hosts[i];
    }
    if (with_head)
        vm_sim_crash(s->sim, head);
    for (uint32_t i = 0; i < kept; i++)
        vm_sim_crash(s->sim, hosts[i]);
    free(hosts);
    if (!await_quiet(s, "many died", AGREE_US_MAX))
        return false;
    at_least(most_s, seconds(s));
    if (most_gone_changes(s) > *most_changes)
        *most_changes = most_gone_changes(s);
    return promise(s, most_gone_changes(s) <= (with_head ? 1 : CUT_CHANGES_MAX), "changes",
                   most_gone_changes(s)) &&
           promise(s, vm_sim_running(s->sim) == count - dead, "hosts",
                   (double)vm_sim_running(s->sim));
}

static bool third_is_lost(struct story *s, struct record *r)
{
    uint32_t count = (uint32_t)vm_sim_running(s->sim), *hosts = shuffle(s), left;

    begin(s);
    forget_gone(s);
    cut_off(s, hosts, count / 3, count);
    vm_sim_run(s->sim, 2 * FAIL_TIMEOUT + random_below(vm_sim_random(s->sim), FAIL_TIMEOUT));
    vm_sim_heal(s->sim);
    bool quiet = await_quiet(s, "a third cut off", 6 * FAIL_TIMEOUT);

    left = (uint32_t)vm_sim_running(s->sim);
    for (uint32_t i = count / 3; i < count && quiet; i++)
        if (!vm_sim_on(s->sim, hosts[i]))
            vm_sim_fail(s->sim, "host %u is lost, which was on the larger side", hosts[i]);
    free(hosts);
    if (!quiet)
        return false;
    at_least(&r->cut_s, seconds(s));
    if (most_gone_changes(s) > r->cut_changes)
        r->cut_changes = most_gone_changes(s);
    return promise(s, left == count - count / 3, "hosts", left) &&
           promise(s, most_gone_changes(s) <= CUT_CHANGES_MAX, "changes", most_gone_changes(s));
}

static void live(struct story *s, struct record *r)
{
    vm_sim_bootstrap(s->sim, 0);
    if (!all_join(s, r) || !is_idle(s, r) || !third_blinks(s, r) || !head_dies(s, r) ||
        !many_die(s, true, &r->headless_s, &r->headless_changes) ||
        !many_die(s, false, &r->many_s, &r->many_changes) || !third_is_lost(s, r))
        return;
    vm_sim_check_council(s->sim);
    promise(s, s->host_bytes <= HOST_BYTES_MAX, "bytes a second of an idle host", s->host_bytes);
    promise(s, s->coordinator_bytes <= COORDINATOR_BYTES_MAX,
            "bytes a second of an idle coordinator", s->coordinator_bytes);
}

static void whatever_the_size(void)
{
    bool soak = getenv("SOAK") != NULL;
    uint32_t hosts = (uint32_t)option("HOSTS", soak ? HOSTS_ALL : HOSTS_SMALL);
    uint64_t first = option("SEED", 1), seeds = option("SEEDS", soak ? SEEDS_SOAK : SEEDS_SMALL);
    struct record r = {0};

    for (uint64_t seed = first; seed < first + seeds; seed++) {
        struct vm_sim_config config = {.network = {.seed = seed,
                                                   .ports = hosts,
                                                   .loss_ppm = seed % 3 == 0 ? LOSS_PPM : 0,
                                                   .delay_us = 50 + seed % 16 * 30,
                                                   .jitter_us = 50},
                                       .fail_timeout_us = FAIL_TIMEOUT,
                                       .join_timeout_us = 20 * SECOND,
                                       .trace = getenv("TRACE") != NULL};
        struct story s = {.sim = vm_sim_create(&config), .hosts = hosts};

        live(&s, &r);
        if (vm_sim_failure(s.sim))
            printf("%s (SEED=%llu HOSTS=%u)\n", vm_sim_failure(s.sim), (unsigned long long)seed,
                   hosts);
        fflush(stdout); /* what comes after it may take hours */
        CU_ASSERT_PTR_NULL(vm_sim_failure(s.sim));
        vm_sim_destroy(s.sim);
    }
    printf("%llu VMs of %u hosts: joined in %.2f s; idle %.0f B/s, the coordinator %.0f; a short "
           "cut %.0f changes; it died %.2f s, with many %.2f s and %u changes, many %.2f s and %u, "
           "a third %.2f s and %u ",
           (unsigned long long)seeds, hosts, r.join_s, r.host_bytes, r.coordinator_bytes,
           r.blink_changes, r.head_s, r.headless_s, r.headless_changes, r.many_s, r.many_changes,
           r.cut_s, r.cut_changes);
}

static const struct test_case CASES[] = {{"whatever the size", whatever_the_size}};

int main(void)
{
    return covey_test_main("thousands", CASES, sizeof CASES / sizeof CASES[0]);
}
