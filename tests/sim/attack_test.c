/* links: proto/wire/host.c proto/wire/contention_config.c tests/sim/vm_sim.c tests/sim/deadlines.c tests/sim/network.c proto/session/fault.c tests/sim/nonce_watch.c proto/node/node.c proto/node/node_calls.c proto/node/node_roll.c proto/node/node_council.c proto/member/council.c proto/raft/raft*.c proto/node/reception.c proto/node/node_medium.c proto/wire/ether.c proto/node/node_stat.c proto/member/member.c proto/member/registry.c proto/member/departure.c proto/member/replica.c proto/member/detector.c proto/member/roll.c proto/member/election.c proto/member/table.c proto/session/session.c proto/session/session_path.c proto/session/admission.c proto/session/negotiation.c proto/auth/handshake.c proto/wire/datagram.c proto/window/inbox.c proto/window/outbox.c proto/auth/auth.c cipher/cipher_*.c proto/wire/address.c proto/wire/control.c proto/contention/contention.c proto/wire/cursor.c proto/wire/frame.c proto/window/window*.c */
/*
 * attack_test.c - what someone on the network who does not know the VM's key can do: nothing but
 * cost a MAC a datagram. And what an honest host may do: change its address, be unable to be
 * dialled. All of it in a VM that encrypts, and in one that does not.
 */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "proto/node/node_state.h"
#include "proto/wire/datagram.h"
#include "tests/sim/nonce_watch.h"
#include "tests/sim/vm_sim.h"
#include "tests/unit/runner.h"

#define SECOND VM_SIM_SECOND
#define RECORD_MAX 4096

/* Everything that was sent while it was attached. */
struct recording {
    struct {
        uint32_t from, to;
        uint8_t *bytes;
        size_t size;
    } datagrams[RECORD_MAX];
    size_t count;
};

static void record(void *context, uint32_t from, uint32_t to, const uint8_t *bytes, size_t size)
{
    struct recording *r = context;

    if (r->count == RECORD_MAX)
        return;
    r->datagrams[r->count].from = from;
    r->datagrams[r->count].to = to;
    r->datagrams[r->count].size = size;
    r->datagrams[r->count].bytes = malloc(size);
    if (!r->datagrams[r->count].bytes)
        abort();
    memcpy(r->datagrams[r->count++].bytes, bytes, size);
}

static void recording_clear(struct recording *r)
{
    while (r->count > 0)
        free(r->datagrams[--r->count].bytes);
    free(r);
}

/* A VM of `up` hosts on a network of that and one more port, the attacker's. */
static struct vm_sim *create_up(uint32_t up, bool encrypt, struct recording *r)
{
    struct vm_sim_config config = {.network = {.seed = 42, .ports = up + 1, .delay_us = 200},
                                   .fail_timeout_us = 5 * SECOND,
                                   .join_timeout_us = 20 * SECOND,
                                   .encrypt = encrypt,
                                   .mute = true,
                                   .trace = getenv("TRACE") != NULL};
    struct vm_sim *sim = vm_sim_create(&config);

    vm_sim_set_tap(sim, record, r);
    vm_sim_bootstrap(sim, 0);
    for (uint32_t host = 1; host < up; host++)
        vm_sim_launch(sim, host);
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, SECOND));
    for (uint32_t i = 1; i <= up; i++)
        for (uint32_t j = 1; j <= up; j++)
            if (i != j)
                vm_sim_send(sim, vm_sim_life(sim, i), j, 3000);
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, SECOND));
    vm_sim_set_tap(sim, NULL, NULL);
    return sim;
}

static void finish(struct vm_sim *sim, struct recording *r)
{
    vm_sim_check_converged(sim);
    CU_ASSERT_PTR_NULL(vm_sim_failure(sim));
    vm_sim_destroy(sim);
    recording_clear(r);
}

static uint64_t sum(struct vm_sim *sim, const char *name)
{
    uint64_t all = 0;

    for (uint32_t i = 1; i <= VM_SIM_INDEX_MAX; i++)
        if (vm_sim_life(sim, i) && vm_sim_life(sim, i)->running)
            all += vm_sim_stat(vm_sim_life(sim, i), name);
    return all;
}

static void replay_all(struct vm_sim *sim, const struct recording *r, uint32_t from)
{
    for (size_t i = 0; i < r->count; i++)
        vm_sim_inject(sim, from, r->datagrams[i].to, r->datagrams[i].bytes, r->datagrams[i].size);
}

/* A recording of the session that is open changes nothing: no frame twice, no path moved. */
static void replay_of_this_session(bool encrypt)
{
    struct recording *r = calloc(1, sizeof *r);
    struct vm_sim *sim = create_up(3, encrypt, r);
    uint64_t opened = sum(sim, "session.opened"), moved = sum(sim, "session.paths_changed");
    uint64_t frames = sum(sim, "session.frames_received");

    CU_ASSERT(r->count > 20);
    replay_all(sim, r, 3);
    vm_sim_run(sim, SECOND);
    replay_all(sim, r, 3);
    vm_sim_run(sim, 10 * SECOND);
    CU_ASSERT_EQUAL(sum(sim, "session.opened"), opened);
    CU_ASSERT_EQUAL(sum(sim, "session.paths_changed"), moved);
    CU_ASSERT_EQUAL(sum(sim, "session.frames_received"), frames);
    CU_ASSERT(sum(sim, "udp.refused_replay") > 0);
    finish(sim, r);
}

/* Nor does one of an earlier incarnation, at the hosts that took part in it and at the new one. */
static void replay_of_an_earlier_incarnation(bool encrypt)
{
    struct recording *r = calloc(1, sizeof *r);
    struct vm_sim *sim = create_up(3, encrypt, r);
    uint64_t opened;

    vm_sim_crash(sim, 2);
    vm_sim_run(sim, 6 * SECOND);
    CU_ASSERT(vm_sim_launch(sim, 2));
    vm_sim_run(sim, SECOND);
    vm_sim_check_converged(sim);
    opened = sum(sim, "session.opened");
    replay_all(sim, r, 2);
    vm_sim_run(sim, 10 * SECOND);
    CU_ASSERT_EQUAL(sum(sim, "session.opened"), opened);
    CU_ASSERT_EQUAL(sum(sim, "session.open"), 4);
    finish(sim, r);
}

/* Bits of genuine datagrams are turned, beginnings and ends cut. */
static void mutations(bool encrypt)
{
    struct recording *r = calloc(1, sizeof *r);
    struct vm_sim *sim = create_up(3, encrypt, r);
    uint64_t opened = sum(sim, "session.opened"), frames = sum(sim, "session.frames_received");

    for (size_t i = 0; i < 20000; i++) {
        size_t which = (size_t)random_below(vm_sim_random(sim), r->count);
        size_t size = r->datagrams[which].size;
        uint8_t *bytes = malloc(size);

        if (!bytes)
            abort();
        memcpy(bytes, r->datagrams[which].bytes, size);
        bytes[random_below(vm_sim_random(sim), size)] ^=
            (uint8_t)(1 << random_below(vm_sim_random(sim), 8));
        if (i % 4 == 0)
            size = (size_t)random_below(vm_sim_random(sim), size);
        vm_sim_inject(sim, 3, r->datagrams[which].to, bytes, size);
        free(bytes);
    }
    vm_sim_run(sim, 10 * SECOND);
    CU_ASSERT_EQUAL(sum(sim, "session.opened"), opened);
    CU_ASSERT_EQUAL(sum(sim, "session.frames_received"), frames);
    CU_ASSERT_EQUAL(sum(sim, "session.open"), 6);
    CU_ASSERT(sum(sim, "udp.refused_mac") > 0);
    finish(sim, r);
}

/* HELLOs by the thousand, genuine ones replayed and forged ones, make no node allocate anything,
 * and get answers that are shorter than they are. */
static void hello_flood(bool encrypt)
{
    struct recording *r = calloc(1, sizeof *r);
    struct vm_sim *sim = create_up(3, encrypt, r);
    struct life *victim = vm_sim_life(sim, 1);
    uint64_t sent = vm_sim_stat(victim, "udp.bytes_sent");
    uint64_t received = vm_sim_stat(victim, "udp.bytes_received");

    for (size_t i = 0; i < r->count; i++)
        if (r->datagrams[i].bytes[3] == DATAGRAM_HELLO && r->datagrams[i].to == 0)
            for (int k = 0; k < 1000; k++) {
                uint8_t bytes[HELLO_BYTES];

                memcpy(bytes, r->datagrams[i].bytes, sizeof bytes);
                vm_sim_inject(sim, 3, 0, bytes, sizeof bytes);
                bytes[DATAGRAM_HEAD_BYTES + 3] = (uint8_t)k; /* from another host */
                vm_sim_inject(sim, 3, 0, bytes, sizeof bytes);
            }
    CU_ASSERT_EQUAL(vm_sim_stat(victim, "session.open"), 2);
    CU_ASSERT(vm_sim_stat(victim, "udp.refused_mac") >= 1000);
    CU_ASSERT(vm_sim_stat(victim, "session.hellos_answered") >= 1000);
    CU_ASSERT(vm_sim_stat(victim, "udp.bytes_sent") - sent <
              vm_sim_stat(victim, "udp.bytes_received") - received);
    vm_sim_run(sim, SECOND);
    finish(sim, r);
}

/* Another version is refused by name, in one line however many come. */
static void other_version(bool encrypt)
{
    struct recording *r = calloc(1, sizeof *r);
    struct vm_sim *sim = create_up(2, encrypt, r);

    char line[80];

    snprintf(line, sizeof line, "10.0.0.0:2: it speaks version 2, this is version %u",
             (unsigned)WIRE_VERSION);
    vm_sim_count_lines(sim, line);
    r->datagrams[0].bytes[2] = 2;
    for (int i = 0; i < 1000; i++)
        vm_sim_inject(sim, 2, 0, r->datagrams[0].bytes, r->datagrams[0].size);
    CU_ASSERT_EQUAL(vm_sim_counted(sim), 1);
    CU_ASSERT_EQUAL(vm_sim_stat(vm_sim_life(sim, 1), "udp.refused_version"), 1000);
    finish(sim, r);
}

/* Another VM's datagrams are told apart before anything is computed. */
static void other_vm(bool encrypt)
{
    struct recording *r = calloc(1, sizeof *r);
    struct vm_sim *sim = create_up(2, encrypt, r);

    r->datagrams[0].bytes[4] ^= 1;
    vm_sim_inject(sim, 2, 0, r->datagrams[0].bytes, r->datagrams[0].size);
    CU_ASSERT_EQUAL(vm_sim_stat(vm_sim_life(sim, 1), "udp.refused_vm"), 1);
    finish(sim, r);
}

/* Every datagram is shown back to its sender, as if it came from the receiver. */
static void reflection(bool encrypt)
{
    struct recording *r = calloc(1, sizeof *r);
    struct vm_sim *sim = create_up(3, encrypt, r);
    uint64_t opened = sum(sim, "session.opened"), frames = sum(sim, "session.frames_received");

    for (size_t i = 0; i < r->count; i++)
        vm_sim_inject(sim, r->datagrams[i].to, r->datagrams[i].from, r->datagrams[i].bytes,
                      r->datagrams[i].size);
    vm_sim_run(sim, 10 * SECOND);
    CU_ASSERT_EQUAL(sum(sim, "session.opened"), opened);
    CU_ASSERT_EQUAL(sum(sim, "session.frames_received"), frames);
    CU_ASSERT_EQUAL(sum(sim, "session.open"), 6);
    finish(sim, r);
}

/* The head of one datagram, the body of another, the tag of either. */
static size_t splice(const struct recording *r, size_t a, size_t b, bool own_tag, uint8_t *bytes)
{
    size_t size = r->datagrams[b].size;

    if (size < DATAGRAM_OVERHEAD_BYTES || r->datagrams[a].size < DATAGRAM_OVERHEAD_BYTES)
        return 0;
    memcpy(bytes, r->datagrams[b].bytes, size);
    memcpy(bytes, r->datagrams[a].bytes, DATAGRAM_SEALED_BYTES);
    if (own_tag)
        memcpy(bytes + size - AUTH_TAG_BYTES,
               r->datagrams[a].bytes + r->datagrams[a].size - AUTH_TAG_BYTES, AUTH_TAG_BYTES);
    return size;
}

static void splicing(bool encrypt)
{
    struct recording *r = calloc(1, sizeof *r);
    struct vm_sim *sim = create_up(3, encrypt, r);
    uint64_t opened = sum(sim, "session.opened"), frames = sum(sim, "session.frames_received");
    uint8_t *bytes = malloc(DATAGRAM_BYTES_MAX);

    if (!bytes)
        abort();
    for (size_t i = 0; i < 20000; i++) {
        size_t a = (size_t)random_below(vm_sim_random(sim), r->count);
        size_t b = (size_t)random_below(vm_sim_random(sim), r->count);
        size_t size = a == b ? 0 : splice(r, a, b, i % 2 == 0, bytes);

        /* a number not seen yet, else it ends as a replay */
        if (size > 0 && i % 3 == 0)
            bytes[DATAGRAM_SEALED_BYTES - 2] ^= 0x40;
        if (size > 0)
            vm_sim_inject(sim, r->datagrams[a].from, r->datagrams[a].to, bytes, size);
    }
    free(bytes);
    vm_sim_run(sim, 10 * SECOND);
    CU_ASSERT_EQUAL(sum(sim, "session.opened"), opened);
    CU_ASSERT_EQUAL(sum(sim, "session.frames_received"), frames);
    CU_ASSERT(sum(sim, "udp.refused_mac") > 0);
    CU_ASSERT(sum(sim, "udp.refused_replay") > 0);
    finish(sim, r);
}

/* Hosts' names stand in every table that is sent: an onlooker finds them unless it is encrypted. */
static void onlooker(bool encrypt)
{
    struct recording *r = calloc(1, sizeof *r);
    struct vm_sim *sim = create_up(3, encrypt, r);
    size_t found = 0;

    for (size_t i = 0; i < r->count; i++)
        found += memmem(r->datagrams[i].bytes, r->datagrams[i].size, "\0\3sim", 5) != NULL;
    CU_ASSERT_EQUAL(found > 0, !encrypt);
    CU_ASSERT_EQUAL(vm_sim_stat(vm_sim_life(sim, 1), "session.encrypted"), encrypt);
    finish(sim, r);
}

/* No nonce is used twice, whatever happens to sessions: crashes, new keys, loss. */
static void nonces(bool encrypt)
{
    struct recording *r = calloc(1, sizeof *r);
    struct vm_sim *sim = create_up(4, encrypt, r);

    for (int round = 0; round < 10; round++) {
        uint32_t host = 1 + (uint32_t)round % 3;

        network_isolate(vm_sim_network(sim), host, true);
        vm_sim_run(sim, 2 * SECOND); /* not yet gone: hands are shaken again */
        vm_sim_heal(sim);
        vm_sim_run(sim, 2 * SECOND);
        vm_sim_crash(sim, host);
        vm_sim_run(sim, 7 * SECOND);
        CU_ASSERT(vm_sim_launch(sim, host));
        vm_sim_run(sim, SECOND);
    }
    CU_ASSERT(nonce_watch_seen() > 1000);
    CU_ASSERT_EQUAL(nonce_watch_repeats(), 0);
    finish(sim, r);
}

/* What went to one port. */
struct hits {
    uint32_t port;
    uint64_t bytes;
};

static void count_hits(void *context, uint32_t from, uint32_t to, const uint8_t *bytes, size_t size)
{
    struct hits *hits = context;

    (void)from, (void)bytes;
    hits->bytes += to == hits->port ? size : 0;
}

/* Datagrams taken off the wire are sent on in the name of somebody who has nothing to do with it:
 * he gets little more than was sent so, and the VM goes on. */
static void sent_on_from_elsewhere(bool encrypt)
{
    struct recording *r = calloc(1, sizeof *r), *taken = calloc(1, sizeof *taken);
    struct vm_sim *sim = create_up(3, encrypt, r);
    struct hits hits = {.port = 3};
    uint64_t moved = sum(sim, "session.paths_changed"), sent = 0;

    vm_sim_set_tap(sim, record, taken);
    network_cut_one_way(vm_sim_network(sim), 1, 0, true);
    vm_sim_send(sim, vm_sim_life(sim, 2), 1, 500);
    vm_sim_run(sim, SECOND / 100);
    vm_sim_set_tap(sim, count_hits, &hits);
    network_cut_one_way(vm_sim_network(sim), 1, 0, false);
    for (size_t i = 0; i < taken->count; i++) {
        if (taken->datagrams[i].from != 1 || taken->datagrams[i].to != 0)
            continue;
        vm_sim_inject(sim, 3, 0, taken->datagrams[i].bytes, taken->datagrams[i].size);
        sent += taken->datagrams[i].size;
    }
    for (int i = 0; i < 15; i++)
        vm_sim_send(sim, vm_sim_life(sim, 1), 2, 60000);
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, 10 * SECOND));
    vm_sim_run(sim, SECOND);
    CU_ASSERT(hits.bytes > 0 && hits.bytes <= 3 * sent);
    CU_ASSERT_EQUAL(sum(sim, "session.paths_changed"), moved);
    recording_clear(taken);
    finish(sim, r);
}

/* ROLL and HERE alone */
static void record_rolls(void *context, uint32_t from, uint32_t to, const uint8_t *bytes,
                         size_t size)
{
    if (size > 3 && (bytes[3] == DATAGRAM_ROLL || bytes[3] == DATAGRAM_HERE))
        record(context, from, to, bytes, size);
}

/* Who replays what an earlier roll call sent, and sends it with wrong bits, meanwhile: the dead do
 * not live by it, and it draws no more bytes than it has. */
static void roll_call_attacked(bool encrypt)
{
    const uint32_t hosts = 16;
    struct recording *r = calloc(1, sizeof *r), *rolls = calloc(1, sizeof *rolls);
    struct vm_sim *sim = create_up(hosts, encrypt, r);
    uint64_t opened, refused;

    vm_sim_set_tap(sim, record_rolls, rolls);
    vm_sim_crash(sim, 0);
    vm_sim_crash(sim, 1);
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, 8 * SECOND));
    CU_ASSERT(rolls->count >= hosts);
    vm_sim_set_tap(sim, NULL, NULL);

    for (uint32_t host = 2; host < 8; host++)
        vm_sim_crash(sim, host);
    opened = sum(sim, "session.opened");
    refused = sum(sim, "udp.refused_mac");
    for (int tenth = 0; tenth < 70; tenth++) {
        for (size_t i = 0; i < rolls->count; i++) {
            uint8_t bytes[HELLO_BYTES];
            size_t size = rolls->datagrams[i].size;

            memcpy(bytes, rolls->datagrams[i].bytes, size);
            vm_sim_inject(sim, hosts, rolls->datagrams[i].to, bytes, size);
            bytes[random_below(vm_sim_random(sim), size)] ^= 1;
            vm_sim_inject(sim, hosts, rolls->datagrams[i].to, bytes, size);
        }
        vm_sim_run(sim, SECOND / 10);
    }
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, SECOND));
    CU_ASSERT_EQUAL(vm_sim_running(sim), 8);
    CU_ASSERT(sum(sim, "udp.refused_mac") > refused);
    CU_ASSERT(sum(sim, "session.opened") - opened < 8 * 8);
    recording_clear(rolls);
    finish(sim, r);
}

/* ---- honest hosts ---- */

/* The source address of a host changes: the path follows, nothing is lost. */
static void path_follows(bool encrypt)
{
    struct recording *r = calloc(1, sizeof *r);
    struct vm_sim *sim = create_up(3, encrypt, r);

    vm_sim_move(sim, 2);
    for (int i = 0; i < 10; i++) {
        vm_sim_send(sim, vm_sim_life(sim, 3), 1, 2000);
        vm_sim_send(sim, vm_sim_life(sim, 3), 2, 2000);
        vm_sim_send(sim, vm_sim_life(sim, 1), 3, 2000);
        vm_sim_run(sim, SECOND / 10);
    }
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, 5 * SECOND));
    CU_ASSERT_EQUAL(vm_sim_life(sim, 1)->suspected, 0);
    CU_ASSERT(vm_sim_stat(vm_sim_life(sim, 1), "session.paths_changed") > 0);
    finish(sim, r);
}

/* A host whose advertised address reaches nobody joins and talks: others have it call them. */
static void dials_out_only(bool encrypt)
{
    struct recording *r = calloc(1, sizeof *r);
    struct vm_sim *sim = create_up(3, encrypt, r);

    vm_sim_crash(sim, 2);
    vm_sim_run(sim, 6 * SECOND);
    vm_sim_move(sim, 2);
    CU_ASSERT(vm_sim_launch(sim, 2));
    vm_sim_run(sim, SECOND);
    CU_ASSERT_EQUAL(vm_sim_send(sim, vm_sim_life(sim, 2), 4, 1000), 0);
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, 3 * SECOND));
    CU_ASSERT_EQUAL(vm_sim_received(vm_sim_life(sim, 4), 2, MEDIUM_IP), 1);
    finish(sim, r);
}

/* A living host that answers no roll call, for none reaches it, is in the table after it: it calls
 * whoever coordinates now in time. */
static void dials_out_only_when_many_die(bool encrypt)
{
    const uint32_t hosts = 12, mute = 9;
    struct recording *r = calloc(1, sizeof *r);
    struct vm_sim *sim = create_up(hosts, encrypt, r);
    struct life *life;

    vm_sim_crash(sim, mute);
    vm_sim_run(sim, 6 * SECOND);
    vm_sim_move(sim, mute);
    CU_ASSERT(vm_sim_launch(sim, mute));
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, SECOND));
    life = vm_sim_on(sim, mute);
    for (uint32_t host = 0; host < 4; host++)
        vm_sim_crash(sim, host);
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, 8 * SECOND));
    vm_sim_run(sim, 6 * SECOND);
    CU_ASSERT_EQUAL(vm_sim_running(sim), hosts - 4);
    CU_ASSERT_PTR_EQUAL(vm_sim_on(sim, mute), life);
    CU_ASSERT(life->running);
    finish(sim, r);
}

#define CASES_OF(X)                                                                                \
    X(replay_of_this_session)                                                                      \
    X(replay_of_an_earlier_incarnation)                                                            \
    X(mutations)                                                                                   \
    X(reflection)                                                                                  \
    X(splicing)                                                                                    \
    X(onlooker)                                                                                    \
    X(nonces)                                                                                      \
    X(roll_call_attacked)                                                                          \
    X(hello_flood)                                                                                 \
    X(other_version)                                                                               \
    X(other_vm)                                                                                    \
    X(sent_on_from_elsewhere)                                                                      \
    X(path_follows)                                                                                \
    X(dials_out_only)                                                                              \
    X(dials_out_only_when_many_die)

#define BOTH(name)                                                                                 \
    static void name##_in_the_clear(void)                                                          \
    {                                                                                              \
        name(false);                                                                               \
    }                                                                                              \
    static void name##_encrypted(void)                                                             \
    {                                                                                              \
        name(true);                                                                                \
    }
CASES_OF(BOTH)

static const struct test_case CASES[] = {
#define ROWS(name) {#name, name##_in_the_clear}, {#name ", encrypted", name##_encrypted},
    CASES_OF(ROWS)
#undef ROWS
};

int main(void)
{
    return covey_test_main("attack", CASES, sizeof CASES / sizeof CASES[0]);
}
