/* links: proto/wire/host.c proto/wire/contention_config.c tests/sim/vm_sim.c tests/sim/deadlines.c tests/sim/network.c proto/session/fault.c tests/sim/nonce_watch.c proto/node/node.c proto/node/node_calls.c proto/node/node_roll.c proto/node/node_council.c proto/member/council.c proto/raft/raft*.c proto/node/reception.c proto/node/node_medium.c proto/wire/ether.c proto/node/node_stat.c proto/member/member.c proto/member/registry.c proto/member/departure.c proto/member/replica.c proto/member/detector.c proto/member/roll.c proto/member/election.c proto/member/table.c proto/session/session.c proto/session/session_path.c proto/session/admission.c proto/session/negotiation.c proto/auth/handshake.c proto/wire/datagram.c proto/window/inbox.c proto/window/outbox.c proto/auth/auth.c cipher/cipher_*.c proto/wire/address.c proto/wire/control.c proto/contention/contention.c proto/wire/cursor.c proto/wire/frame.c proto/window/window*.c */
/*
 * media_test.c - the two media of a node, IP and raw Ethernet: each keeps its frames in order under
 * faults, what was recorded on one means nothing on the other, raw Ethernet that is cut takes
 * nothing else with it, and what must come behind its frames does. What is agreed travels on raw
 * Ethernet, and goes on whatever happens to the segment.
 */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "proto/node/node_state.h"
#include "tests/sim/vm_sim.h"
#include "tests/unit/runner.h"

#define SECOND VM_SIM_SECOND
#define FRAMES 200
#define SEEDS 100
#define RECORD_MAX 4096

static struct vm_sim *create(uint64_t seed, uint32_t hosts, bool ether)
{
    struct vm_sim_config config = {.network = {.seed = seed, .ports = hosts, .delay_us = 200},
                                   .fail_timeout_us = 5 * SECOND,
                                   .join_timeout_us = 20 * SECOND,
                                   .encrypt = seed % 2 == 0,
                                   .ether = ether,
                                   .trace = getenv("TRACE") != NULL};

    return vm_sim_create(&config);
}

static void start(struct vm_sim *sim, uint32_t hosts)
{
    vm_sim_bootstrap(sim, 0);
    for (uint32_t host = 1; host < hosts; host++)
        vm_sim_launch(sim, host);
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, SECOND));
}

static struct vm_sim *create_up(uint64_t seed, uint32_t hosts, bool ether)
{
    struct vm_sim *sim = create(seed, hosts, ether);

    start(sim, hosts);
    return sim;
}

static void finish(struct vm_sim *sim)
{
    if (vm_sim_failure(sim))
        printf("%s\n", vm_sim_failure(sim));
    CU_ASSERT_PTR_NULL(vm_sim_failure(sim));
    vm_sim_destroy(sim);
}

static void make_bad(struct vm_sim *sim, uint64_t seed)
{
    struct network_config bad = {.seed = seed,
                                 .loss_ppm = 50000,
                                 .duplicate_ppm = 10000,
                                 .reorder_ppm = 50000,
                                 .corrupt_ppm = 5000,
                                 .delay_us = 100,
                                 .reorder_us = 1000};

    network_configure(vm_sim_network(sim), &bad);
}

/* Before any session on it there is none, but both ends can have one. */
static void frames_take_the_medium_that_they_name(void)
{
    struct vm_sim *sim = create_up(1, 2, true);
    struct life *from = vm_sim_life(sim, 1), *to = vm_sim_life(sim, 2);

    CU_ASSERT_EQUAL(node_ether_state(from->node, 2), NODE_ETHER_CLOSED);
    CU_ASSERT_EQUAL(vm_sim_stat(from, "ether.datagrams_sent"), 0);
    vm_sim_send_over(from, 2, 60000, MEDIUM_ETHER);
    vm_sim_send_over(from, 2, 60000, MEDIUM_IP);
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, SECOND));
    CU_ASSERT_EQUAL(node_ether_state(from->node, 2), NODE_ETHER_OPEN);
    CU_ASSERT_EQUAL(vm_sim_received(to, 1, MEDIUM_ETHER), 1);
    CU_ASSERT_EQUAL(vm_sim_received(to, 1, MEDIUM_IP), 1);
    CU_ASSERT(vm_sim_stat(from, "ether.bytes_sent") > 60000);
    CU_ASSERT(vm_sim_stat(from, "ether.bytes_sent") < 72000);
    finish(sim);
}

static void without_ether_they_take_ip(void)
{
    struct vm_sim *sim = create_up(2, 2, false);
    struct life *from = vm_sim_life(sim, 1);

    CU_ASSERT_EQUAL(node_ether_state(from->node, 2), NODE_ETHER_NONE);
    vm_sim_send_over(from, 2, 5000, MEDIUM_ETHER);
    node_open_ether(from->node, 2, vm_sim_now(sim));
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, SECOND));
    CU_ASSERT_EQUAL(vm_sim_received(vm_sim_life(sim, 2), 1, MEDIUM_IP), 1);
    finish(sim);
}

/* A session can be opened, or found impossible, before anything is sent. */
static void opening(void)
{
    struct vm_sim *sim = create_up(3, 3, true);
    struct life *from = vm_sim_life(sim, 1);

    node_open_ether(from->node, 2, vm_sim_now(sim));
    vm_sim_touch(from);
    vm_sim_run(sim, SECOND / 10);
    CU_ASSERT_EQUAL(node_ether_state(from->node, 2), NODE_ETHER_OPEN);
    vm_sim_cut_ether(sim, true);
    node_open_ether(from->node, 3, vm_sim_now(sim));
    vm_sim_touch(from);
    vm_sim_run(sim, SECOND / 10);
    CU_ASSERT_EQUAL(node_ether_state(from->node, 3), NODE_ETHER_OPENING);
    vm_sim_run(sim, 20 * SECOND);
    CU_ASSERT_EQUAL(node_ether_state(from->node, 3), NODE_ETHER_CLOSED);
    finish(sim);
}

/* Raw Ethernet that carries nothing takes no host with it. Its frames go over IP when a tenth of
 * the fail timeout has passed, and over raw Ethernet once it carries them again. */
static void a_cut_of_ether_alone(void)
{
    struct vm_sim *sim = create_up(4, 3, true);
    struct life *from = vm_sim_life(sim, 1), *to = vm_sim_life(sim, 2);

    vm_sim_send_over(from, 2, 5000, MEDIUM_ETHER);
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, SECOND));
    vm_sim_cut_ether(sim, true);
    vm_sim_count_lines(sim, "host 2 does not answer over raw Ethernet");
    vm_sim_send_over(from, 2, 5000, MEDIUM_ETHER);
    vm_sim_run(sim, SECOND / 3);
    CU_ASSERT_EQUAL(vm_sim_received(to, 1, MEDIUM_ETHER), 1);
    vm_sim_run(sim, SECOND / 2);
    CU_ASSERT_EQUAL(vm_sim_received(to, 1, MEDIUM_ETHER), 2);
    CU_ASSERT_NOT_EQUAL(node_ether_state(from->node, 2), NODE_ETHER_OPEN);
    CU_ASSERT_PTR_NULL(node_ether_path(from->node, 2));
    for (int i = 0; i < 60; i++) {
        vm_sim_send_over(from, 2, 5000, MEDIUM_IP);
        vm_sim_send_over(from, 2, 20000, MEDIUM_ETHER);
        vm_sim_run(sim, SECOND);
    }
    CU_ASSERT_EQUAL(vm_sim_running(sim), 3);
    CU_ASSERT_EQUAL(from->gone + from->suspected, 0);
    CU_ASSERT_EQUAL(vm_sim_received(to, 1, MEDIUM_IP), 60);
    CU_ASSERT_EQUAL(vm_sim_received(to, 1, MEDIUM_ETHER), 62);
    CU_ASSERT(vm_sim_counted(sim) >= 4 && vm_sim_counted(sim) <= 8);
    vm_sim_cut_ether(sim, false);
    for (int i = 0; i < 10; i++) {
        vm_sim_send_over(from, 2, 5000, MEDIUM_ETHER);
        vm_sim_run(sim, SECOND);
    }
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, 5 * SECOND));
    CU_ASSERT_EQUAL(node_ether_state(from->node, 2), NODE_ETHER_OPEN);
    finish(sim);
}

/* The segment comes and goes, and no frame is lost, doubled or out of order (vm_sim.c checks it).
 */
static void a_segment_that_comes_and_goes(void)
{
    for (uint64_t seed = 1; seed <= SEEDS / 10; seed++) {
        struct vm_sim *sim = create_up(seed, 3, true);

        make_bad(sim, seed);
        for (int i = 0; i < 60; i++) {
            for (uint32_t a = 1; a <= 3; a++)
                vm_sim_send_over(vm_sim_life(sim, a), a % 3 + 1, 30000, MEDIUM_ETHER);
            vm_sim_cut_ether(sim, i / 10 % 2 == 1);
            vm_sim_run(sim, SECOND);
        }
        vm_sim_cut_ether(sim, false);
        CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, 60 * SECOND));
        CU_ASSERT_EQUAL(vm_sim_running(sim), 3);
        finish(sim);
    }
}

static bool all_behind(struct vm_sim *sim)
{
    return vm_sim_life(sim, 2)->behind == FRAMES / 10 && vm_sim_is_converged(sim);
}

/* Each tenth frame is followed by one over IP that may not overtake it (vm_sim.c checks that). */
static void behind(uint64_t seed)
{
    struct vm_sim *sim = create_up(seed, 2, true);
    struct life *from = vm_sim_life(sim, 1);

    make_bad(sim, seed);
    for (uint32_t i = 0; i < FRAMES; i++) {
        vm_sim_send(sim, from, 2, 4 + (uint32_t)random_below(vm_sim_random(sim), 20000));
        if (i % 10 == 9)
            CU_ASSERT_EQUAL(vm_sim_send_behind(from, 2), 0);
        vm_sim_run(sim, random_below(vm_sim_random(sim), 3000));
    }
    CU_ASSERT(vm_sim_run_until(sim, all_behind, 60 * SECOND));
    finish(sim);
}

static void what_must_come_behind_does(void)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        behind(seed);
}

/* The media have other keys: the same datagram, authentic on one, is nothing on the other. */
struct recording {
    struct {
        uint32_t from, to;
        size_t size;
        uint8_t bytes[9000];
    } datagrams[RECORD_MAX];
    size_t count;
};

static void record(void *context, uint32_t from, uint32_t to, const uint8_t *bytes, size_t size)
{
    struct recording *r = context;

    if (r->count == RECORD_MAX || size > sizeof r->datagrams[0].bytes)
        return;
    r->datagrams[r->count].from = from;
    r->datagrams[r->count].to = to;
    r->datagrams[r->count].size = size;
    memcpy(r->datagrams[r->count++].bytes, bytes, size);
}

static uint64_t refused(const struct life *life)
{
    return vm_sim_stat(life, "ether.refused_mac") + vm_sim_stat(life, "ether.refused_session") +
           vm_sim_stat(life, "ether.refused_replay");
}

/* All of it, from the first HELLO on. */
static void recordings_do_not_cross(void)
{
    struct vm_sim *sim = create(6, 2, true);
    struct recording *r = calloc(1, sizeof *r);
    size_t to_victim = 0;

    vm_sim_set_tap(sim, record, r);
    start(sim, 2);
    struct life *victim = vm_sim_life(sim, 1);
    for (int i = 0; i < 50; i++)
        vm_sim_send_over(vm_sim_life(sim, 2), 1, 5000, MEDIUM_IP);
    vm_sim_send_over(vm_sim_life(sim, 2), 1, 5000, MEDIUM_ETHER);
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, SECOND));
    vm_sim_set_tap(sim, NULL, NULL);
    uint64_t before = refused(victim), opened = vm_sim_stat(victim, "session.opened");
    uint64_t sent = vm_sim_stat(victim, "ether.datagrams_sent");
    for (size_t i = 0; i < r->count; i++) {
        to_victim += r->datagrams[i].to == 0;
        vm_sim_inject_ether(sim, r->datagrams[i].from, r->datagrams[i].to, r->datagrams[i].bytes,
                            r->datagrams[i].size);
    }
    CU_ASSERT(to_victim > 30);
    CU_ASSERT_EQUAL(refused(victim) - before, to_victim);
    CU_ASSERT_EQUAL(vm_sim_stat(victim, "session.opened"), opened);
    CU_ASSERT_EQUAL(vm_sim_stat(victim, "ether.datagrams_sent"), sent);
    vm_sim_check_converged(sim);
    free(r);
    finish(sim);
}

/* ---- what is agreed ---- */

#define VOTERS 5
#define FAIL_US (5 * SECOND)
#define SOON_US (FAIL_US / 10 + SECOND / 5) /* the segment is given up, and hands are shaken */

static struct vm_sim *create_voters(uint64_t seed)
{
    struct vm_sim_config config = {.network = {.seed = seed, .ports = VOTERS, .delay_us = 200},
                                   .fail_timeout_us = FAIL_US,
                                   .join_timeout_us = 20 * SECOND,
                                   .encrypt = seed % 2 == 0,
                                   .ether = true,
                                   .services = true,
                                   .trace = getenv("TRACE") != NULL};

    return vm_sim_create(&config);
}

static struct vm_sim *create_agreeing(uint64_t seed)
{
    struct vm_sim *sim = create_voters(seed);

    start(sim, VOTERS);
    return sim;
}

/* Frames of the agreement by a medium, of all that run. */
static uint64_t carried(struct vm_sim *sim, const char *medium)
{
    char name[32];
    uint64_t sum = 0;

    snprintf(name, sizeof name, "%s.service_frames", medium);
    for (uint32_t host = 0; host < VOTERS; host++)
        sum += vm_sim_on(sim, host) ? vm_sim_stat(vm_sim_on(sim, host), name) : 0;
    return sum;
}

static uint64_t suspicions(struct vm_sim *sim)
{
    uint64_t sum = 0;

    for (uint32_t host = 0; host < VOTERS; host++)
        sum += vm_sim_on(sim, host) ? vm_sim_on(sim, host)->suspected : 0;
    return sum;
}

/* One command after another for that long; the longest time that one took to be agreed on. */
static uint64_t agree(struct vm_sim *sim, uint64_t duration_us)
{
    uint64_t end_us = vm_sim_now(sim) + duration_us, longest_us = 0;
    struct life *leader = vm_sim_leader(sim);

    CU_ASSERT_PTR_NOT_NULL_FATAL(leader);
    while (vm_sim_now(sim) < end_us && !vm_sim_failure(sim)) {
        uint64_t began_us = vm_sim_now(sim), commands = leader->state.commands;

        CU_ASSERT_FATAL(vm_sim_propose(sim, leader) > 0);
        while (leader->state.commands == commands && vm_sim_now(sim) < began_us + FAIL_US)
            vm_sim_run(sim, SECOND / 1000);
        if (vm_sim_now(sim) - began_us > longest_us)
            longest_us = vm_sim_now(sim) - began_us;
        vm_sim_run(sim, SECOND / 10);
    }
    CU_ASSERT_PTR_EQUAL(vm_sim_leader(sim), leader);
    return longest_us;
}

/* Commands for ten fail timeouts with that segment: nobody notices but by a pause. */
static void agree_without_loss(struct vm_sim *sim)
{
    uint64_t doubts = suspicions(sim), term;
    const struct life *leader = vm_sim_leader(sim);

    CU_ASSERT_PTR_NOT_NULL_FATAL(leader);
    term = raft_term(council_raft(leader->node->council));
    CU_ASSERT(agree(sim, 10 * FAIL_US) < SOON_US);
    CU_ASSERT_EQUAL(raft_term(council_raft(leader->node->council)), term);
    CU_ASSERT_EQUAL(suspicions(sim), doubts);
    CU_ASSERT_EQUAL(vm_sim_running(sim), VOTERS);
}

/* All of it, once the sessions are there. */
static void what_is_agreed_travels_on_the_segment(void)
{
    struct vm_sim *sim = create_agreeing(11);

    vm_sim_run(sim, 2 * SECOND);
    uint64_t before_ip = carried(sim, "udp"), before = carried(sim, "ether");
    CU_ASSERT(agree(sim, 5 * SECOND) < SECOND / 100);
    CU_ASSERT_EQUAL(carried(sim, "udp"), before_ip);
    CU_ASSERT(carried(sim, "ether") > before + 200);
    vm_sim_check_council(sim);
    finish(sim);
}

/* Hosts on different segments agree over IP, and ask seldom and in silence for another way. */
static void without_a_segment_it_takes_ip(void)
{
    struct vm_sim *sim = create_voters(12);

    vm_sim_cut_ether(sim, true);
    vm_sim_count_lines(sim, "does not answer over raw Ethernet");
    start(sim, VOTERS);
    CU_ASSERT(agree(sim, 24 * FAIL_US) < SECOND / 100);
    CU_ASSERT_EQUAL(carried(sim, "ether"), 0);
    CU_ASSERT(carried(sim, "udp") > 500);
    CU_ASSERT_EQUAL(vm_sim_counted(sim), 0);
    for (uint32_t host = 0; host < VOTERS; host++) /* eight attempts to each, three times at most */
        CU_ASSERT(vm_sim_stat(vm_sim_on(sim, host), "ether.datagrams_sent") <= 3 * 8 * VOTERS);
    finish(sim);
}

static void the_segment_dies_and_lives_again(void)
{
    struct vm_sim *sim = create_agreeing(13);

    agree(sim, SECOND);
    vm_sim_cut_ether(sim, true);
    agree_without_loss(sim);
    uint64_t dead = carried(sim, "ether");
    agree_without_loss(sim);
    CU_ASSERT_EQUAL(carried(sim, "ether"), dead);
    vm_sim_cut_ether(sim, false);
    agree_without_loss(sim);
    uint64_t before_ip = carried(sim, "udp");
    agree_without_loss(sim);
    CU_ASSERT_EQUAL(carried(sim, "udp"), before_ip);
    CU_ASSERT(carried(sim, "ether") > dead);
    vm_sim_check_council(sim);
    finish(sim);
}

static void cut_ways(struct vm_sim *sim, bool (*dead)(uint32_t from, uint32_t to), bool cut)
{
    for (uint32_t from = 0; from < VOTERS; from++)
        for (uint32_t to = 0; to < VOTERS; to++)
            if (from != to && dead(from, to))
                vm_sim_cut_way(sim, MEDIUM_ETHER, from, to, cut);
}

static bool two_halves(uint32_t from, uint32_t to)
{
    return (from < VOTERS / 2) != (to < VOTERS / 2);
}

static bool from_the_first(uint32_t from, uint32_t to)
{
    return from == 0 && to != 0;
}

static bool to_the_first(uint32_t from, uint32_t to)
{
    return from != 0 && to == 0;
}

/* IP goes on: no leader changes, nobody is suspected. */
static void a_segment_in_parts(void)
{
    static bool (*const DEAD[])(uint32_t, uint32_t) = {two_halves, from_the_first, to_the_first};

    for (size_t i = 0; i < sizeof DEAD / sizeof DEAD[0]; i++) {
        struct vm_sim *sim = create_agreeing(20 + i);

        agree(sim, SECOND);
        cut_ways(sim, DEAD[i], true);
        agree_without_loss(sim);
        cut_ways(sim, DEAD[i], false);
        agree_without_loss(sim);
        uint64_t before_ip = carried(sim, "udp");
        agree_without_loss(sim);
        CU_ASSERT_EQUAL(carried(sim, "udp"), before_ip);
        finish(sim);
    }
}

/* Nobody can dial a host whose address changed: it dials. */
static void a_host_that_moved_loses_the_segment(void)
{
    struct vm_sim *sim = create_agreeing(15);
    const struct life *moved = vm_sim_on(sim, 3);

    agree(sim, SECOND);
    vm_sim_move(sim, 3);
    vm_sim_run(sim, 2 * FAIL_US);
    vm_sim_cut_ether(sim, true);
    agree_without_loss(sim);
    vm_sim_run(sim, SECOND);
    CU_ASSERT_EQUAL(moved->state.commands, vm_sim_leader(sim)->state.commands);
    finish(sim);
}

/* The leader dies, and at any moment of the election so does the segment, in whole or in part: all
 * that was agreed stays so (vm_sim.c checks it), and one of the others leads. */
static void the_segment_dies_in_an_election(void)
{
    for (uint64_t seed = 1; seed <= SEEDS / 2; seed++) {
        struct vm_sim *sim = create_agreeing(seed);
        uint32_t leader;

        make_bad(sim, seed);
        agree(sim, SECOND);
        leader = vm_sim_leader(sim)->host;
        vm_sim_crash(sim, leader);
        vm_sim_run(sim, random_below(vm_sim_random(sim), 2 * FAIL_US));
        if (seed % 3 == 0)
            cut_ways(sim, two_halves, true);
        else
            vm_sim_cut_ether(sim, true);
        vm_sim_run(sim, 4 * FAIL_US);
        CU_ASSERT_EQUAL(vm_sim_running(sim), VOTERS - 1);
        vm_sim_check_converged(sim);
        vm_sim_check_council(sim);
        finish(sim);
    }
}

/* The segment lives, and IP dies between the leader and another voter: their agreement goes on, and
 * membership decides by IP as ever, with the help of others that hear both. */
static void ip_alone_dies_between_two(void)
{
    struct vm_sim *sim = create_agreeing(14);
    struct life *leader;

    agree(sim, SECOND);
    leader = vm_sim_leader(sim);
    for (int i = 0; i < 2; i++)
        vm_sim_cut_way(sim, MEDIUM_IP, i ? leader->host : (leader->host + 1) % VOTERS,
                       i ? (leader->host + 1) % VOTERS : leader->host, true);
    CU_ASSERT(agree(sim, 10 * FAIL_US) < SECOND / 10);
    vm_sim_check_converged(sim);
    finish(sim);
}

/* Ways of both media come and go, on a bad network. */
static void any_way_comes_and_goes(void)
{
    for (uint64_t seed = 1; seed <= SEEDS / 2; seed++) {
        struct vm_sim *sim = create_agreeing(seed);
        uint64_t *random = vm_sim_random(sim);

        make_bad(sim, seed);
        for (int i = 0; i < 60; i++) {
            uint32_t from = (uint32_t)random_below(random, VOTERS);
            uint32_t to = (uint32_t)random_below(random, VOTERS);
            enum node_medium medium = random_below(random, 4) == 0 ? MEDIUM_IP : MEDIUM_ETHER;

            vm_sim_cut_way(sim, medium, from, to, random_below(random, 2) == 1);
            if (vm_sim_leader(sim))
                vm_sim_propose(sim, vm_sim_leader(sim));
            vm_sim_run(sim, random_below(random, SECOND));
        }
        for (uint32_t from = 0; from < VOTERS; from++)
            for (uint32_t to = 0; to < VOTERS; to++)
                for (int medium = 0; medium < MEDIA; medium++)
                    vm_sim_cut_way(sim, (enum node_medium)medium, from, to, false);
        vm_sim_run(sim, 6 * FAIL_US);
        vm_sim_check_converged(sim);
        vm_sim_check_council(sim);
        finish(sim);
    }
}

static const struct test_case CASES[] = {
    {"frames take the medium that they name", frames_take_the_medium_that_they_name},
    {"without raw Ethernet they take IP", without_ether_they_take_ip},
    {"opening", opening},
    {"a cut of raw Ethernet alone", a_cut_of_ether_alone},
    {"a segment that comes and goes", a_segment_that_comes_and_goes},
    {"what must come behind does", what_must_come_behind_does},
    {"recordings do not cross", recordings_do_not_cross},
    {"what is agreed travels on the segment", what_is_agreed_travels_on_the_segment},
    {"without a segment it takes IP", without_a_segment_it_takes_ip},
    {"the segment dies and lives again", the_segment_dies_and_lives_again},
    {"a segment in parts", a_segment_in_parts},
    {"a host that moved loses the segment", a_host_that_moved_loses_the_segment},
    {"the segment dies in an election", the_segment_dies_in_an_election},
    {"IP alone dies between two", ip_alone_dies_between_two},
    {"any way comes and goes", any_way_comes_and_goes},
};

int main(void)
{
    return covey_test_main("media", CASES, sizeof CASES / sizeof CASES[0]);
}
