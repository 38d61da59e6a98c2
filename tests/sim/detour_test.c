/* links: tests/sim/network.c proto/session/fault.c proto/session/detour.c proto/wire/cursor.c proto/window/window*.c */
/*
 * detour_test.c - two windows whose packets leave a segment that carries nothing, and come back
 * (proto/session/detour.h), in virtual time: whatever is cut, for how long and in which direction,
 * every byte arrives once and in order, in bounded time, and what works again is used again.
 */
#include <CUnit/CUnit.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/session/detour.h"
#include "proto/window/window.h"
#include "tests/sim/network.h"
#include "tests/unit/runner.h"

#define SECOND 1000000u
#define AFTER_US (2 * SECOND)
#define BUFFER_BYTES (64 * 1024)
#define CAPACITY 1400
#define SEEDS 300
#define SEEDS_SOAK 20000

enum kind { DATA, PING, PONG };

/* Ports 0 and 1 are the ends on the segment, 2 and 3 the same two on the detour. */
struct end {
    struct window *window;
    struct detour detour;
    uint64_t number, wanted, written, read;
    uint64_t seen[4096]; /* numbers that came, for the replay check of a session */
    uint64_t changes, far_packets;
    bool pong_due;
};

struct world {
    struct network *network;
    uint64_t random;
    struct end end[2];
    bool good;
};

struct packet {
    uint64_t number;
    uint8_t kind;
    uint8_t payload[CAPACITY];
};
#define PACKET_HEAD offsetof(struct packet, payload)

static uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)(offset * 2654435761u >> 11);
}

static void create(struct world *w, uint64_t seed, uint32_t loss_ppm)
{
    const struct network_config network = {.seed = seed,
                                           .ports = 4,
                                           .loss_ppm = loss_ppm,
                                           .duplicate_ppm = loss_ppm,
                                           .reorder_ppm = loss_ppm,
                                           .reorder_us = 2000,
                                           .delay_us = 100,
                                           .jitter_us = 300};
    const struct window_config config = {.packet_bytes_min = 600,
                                         .packet_bytes_max = CAPACITY,
                                         .send_buffer_bytes = BUFFER_BYTES,
                                         .receive_buffer_bytes = BUFFER_BYTES};
    *w = (struct world){.network = network_create(&network), .random = seed, .good = true};
    CU_ASSERT_PTR_NOT_NULL_FATAL(w->network);
    for (int i = 0; i < 2; i++) {
        w->end[i].window = window_create(&config);
        CU_ASSERT_PTR_NOT_NULL_FATAL(w->end[i].window);
        detour_init(&w->end[i].detour, AFTER_US);
        w->end[i].number = 1;
    }
}

static void destroy(struct world *w)
{
    network_destroy(w->network);
    for (int i = 0; i < 2; i++)
        window_destroy(w->end[i].window);
}

static void changed(struct end *e, bool changes)
{
    if (!changes)
        return;
    e->changes++;
    window_path_changed(e->window);
}

/* ---- an end, as link_ether.c is one ---- */

static void put(struct world *w, uint32_t i, bool far, struct packet *p, size_t size)
{
    uint32_t base = far ? 2 : 0;
    w->end[i].far_packets += far;
    network_send(w->network, base + i, base + 1 - i, p, PACKET_HEAD + size);
}

static void put_control(struct world *w, uint32_t i, enum kind kind)
{
    struct packet p = {.kind = (uint8_t)kind};
    put(w, i, false, &p, 0);
}

static void fill(struct end *e)
{
    uint8_t bytes[512];
    while (e->written < e->wanted) {
        size_t size =
            e->wanted - e->written < sizeof bytes ? (size_t)(e->wanted - e->written) : sizeof bytes;
        for (size_t i = 0; i < size; i++)
            bytes[i] = byte_at(e->written + i);
        size_t taken = window_write(e->window, bytes, size);
        e->written += taken;
        if (taken < size)
            return;
    }
}

static void drain(struct world *w, struct end *e)
{
    const uint8_t *there;
    size_t size;
    while ((size = window_readable(e->window, &there)) > 0) {
        for (size_t i = 0; i < size; i++)
            w->good = w->good && there[i] == byte_at(e->read + i);
        e->read += size;
        window_consume(e->window, size);
    }
}

static void transmit(struct world *w, uint32_t i, uint64_t now_us)
{
    struct end *e = &w->end[i];
    struct packet p = {.kind = DATA};
    size_t size;
    bool any = false;
    while ((size = window_next(e->window, e->number, p.payload, CAPACITY, now_us)) > 0) {
        p.number = e->number++;
        put(w, i, e->detour.taken, &p, size);
        any = true;
    }
    if (e->detour.taken && detour_asks(&e->detour, any, now_us))
        put_control(w, i, PING);
}

static void advance(struct world *w, uint32_t i, uint64_t now_us)
{
    struct end *e = &w->end[i];
    fill(e);
    drain(w, e);
    changed(e, detour_step(&e->detour, window_unacknowledged(e->window) > 0, now_us));
    if (detour_asks(&e->detour, false, now_us))
        put_control(w, i, PING);
    if (e->pong_due)
        put_control(w, i, PONG);
    e->pong_due = false;
    if (window_deadline(e->window) <= now_us)
        window_on_timer(e->window, now_us);
    transmit(w, i, now_us);
}

static void on_packet(struct world *w, const struct network_datagram *d, uint64_t now_us)
{
    struct end *e = &w->end[d->to % 2];
    bool far = d->to >= 2;
    struct packet p;
    memcpy(&p, d->bytes, d->size);
    if (p.kind == DATA && e->seen[p.number % 4096] == p.number)
        return;
    e->pong_due |= p.kind == PING;
    if (p.kind == PONG)
        changed(e, detour_on_answer(&e->detour, now_us));
    if (p.kind != DATA)
        return;
    uint64_t before = window_acknowledged(e->window);
    e->seen[p.number % 4096] = p.number;
    CU_ASSERT_PTR_NULL(
        window_on_packet(e->window, p.number, p.payload, d->size - PACKET_HEAD, now_us));
    if (window_acknowledged(e->window) != before)
        detour_on_proof(&e->detour);
    changed(e, far && detour_on_met(&e->detour, now_us));
}

/* ---- time ---- */

static uint64_t next_event(const struct world *w)
{
    uint64_t next = network_next(w->network);
    for (int i = 0; i < 2; i++) {
        uint64_t window = window_deadline(w->end[i].window);
        uint64_t detour = detour_deadline(&w->end[i].detour);
        next = window < next ? window : next;
        next = detour < next ? detour : next;
    }
    return next;
}

static void run(struct world *w, uint64_t for_us)
{
    uint64_t end_us = network_now(w->network) + for_us;
    struct network_datagram *d;
    for (;;) {
        for (uint32_t i = 0; i < 2; i++)
            advance(w, i, network_now(w->network));
        uint64_t next = next_event(w);
        if (next > end_us)
            break;
        if (next > network_now(w->network))
            network_advance(w->network, next);
        while ((d = network_take(w->network)) != NULL) {
            on_packet(w, d, network_now(w->network));
            free(d);
        }
    }
    network_advance(w->network, end_us);
}

static bool all_arrived(const struct world *w)
{
    return w->good && w->end[0].read == w->end[1].wanted && w->end[1].read == w->end[0].wanted;
}

static bool both(const struct world *w, bool taken)
{
    return w->end[0].detour.taken == taken && w->end[1].detour.taken == taken;
}

static void cut(struct world *w, bool there, bool back)
{
    network_cut_one_way(w->network, 0, 1, there);
    network_cut_one_way(w->network, 1, 0, back);
}

/* ---- stories ---- */

static void a_segment_that_works_is_not_left(void)
{
    struct world w;
    create(&w, 1, 0);
    for (int i = 0; i < 100; i++) {
        w.end[0].wanted += 5000;
        run(&w, SECOND);
    }
    CU_ASSERT(all_arrived(&w));
    CU_ASSERT_EQUAL(w.end[0].changes + w.end[1].changes, 0);
    CU_ASSERT_EQUAL(w.end[0].far_packets + w.end[1].far_packets, 0);
    destroy(&w);
}

/* The other end does not read, so it owes nothing: it answers when it is asked. */
static void a_receiver_that_is_full_is_not_silent(void)
{
    struct world w;
    create(&w, 2, 0);
    struct detour *d = &w.end[0].detour;
    for (uint64_t now = 0; now < 60 * (uint64_t)SECOND; now += 1000) {
        CU_ASSERT_FALSE(detour_step(d, true, now));
        if (detour_asks(d, false, now))
            CU_ASSERT_FALSE(detour_on_answer(d, now));
    }
    CU_ASSERT_FALSE(d->taken);
    destroy(&w);
}

/* Whichever direction is dead, and whoever has something to say. */
static void one_death(bool there, bool back, uint64_t from_0, uint64_t from_1)
{
    struct world w;
    create(&w, 3, 0);
    w.end[0].wanted = w.end[1].wanted = 10000;
    run(&w, SECOND);
    CU_ASSERT(all_arrived(&w) && both(&w, false));
    cut(&w, there, back);
    w.end[0].wanted += from_0;
    w.end[1].wanted += from_1;
    run(&w, AFTER_US + SECOND);
    CU_ASSERT(all_arrived(&w) && both(&w, true));
    for (int i = 0; i < 20; i++) { /* it is quick there, and does not flap */
        w.end[0].wanted += from_0;
        w.end[1].wanted += from_1;
        run(&w, SECOND / 10);
        CU_ASSERT(all_arrived(&w) && both(&w, true));
    }
    CU_ASSERT_EQUAL(w.end[0].changes + w.end[1].changes, 2);
    cut(&w, false, false);
    for (int i = 0; i < 20; i++) {
        w.end[0].wanted += 100;
        w.end[1].wanted += 100;
        run(&w, SECOND / 10);
        CU_ASSERT(all_arrived(&w));
    }
    CU_ASSERT(both(&w, false));
    CU_ASSERT_EQUAL(w.end[0].changes + w.end[1].changes, 4);
    destroy(&w);
}

static void whatever_direction_dies(void)
{
    for (int dead = 1; dead < 4; dead++) {
        one_death(dead & 1, dead & 2, 200000, 0);
        one_death(dead & 1, dead & 2, 0, 200000);
        one_death(dead & 1, dead & 2, 200000, 100);
        one_death(dead & 1, dead & 2, 100, 200000);
    }
}

/* An end without a detour waits, and goes on. */
static void without_a_detour(void)
{
    struct world w;
    create(&w, 4, 0);
    detour_init(&w.end[0].detour, 0);
    detour_init(&w.end[1].detour, 0);
    cut(&w, true, true);
    w.end[0].wanted = 100000;
    run(&w, 60 * SECOND);
    CU_ASSERT_EQUAL(w.end[1].read, 0);
    cut(&w, false, false);
    run(&w, 5 * SECOND);
    CU_ASSERT(all_arrived(&w));
    CU_ASSERT_EQUAL(w.end[0].far_packets, 0);
    destroy(&w);
}

/* Cuts at random, on a bad network; in the end all is there. */
static void one_seed(uint64_t seed)
{
    struct world w;
    create(&w, seed, seed % 3 == 0 ? 0 : (uint32_t)(seed % 3) * 30000);
    for (int step = 0; step < 12; step++) {
        uint64_t dead = random_below(&w.random, 6); /* half of the time nothing is */
        cut(&w, dead == 1 || dead == 3, dead == 2 || dead == 3);
        w.end[0].wanted += random_below(&w.random, 60000);
        w.end[1].wanted += random_below(&w.random, 3) * random_below(&w.random, 60000);
        run(&w, random_below(&w.random, 2 * AFTER_US));
    }
    cut(&w, seed % 2 == 0, seed % 5 == 0);
    run(&w, 4 * AFTER_US + 20 * SECOND);
    if (!all_arrived(&w))
        printf("seed %llu\n", (unsigned long long)seed);
    CU_ASSERT(all_arrived(&w));
    destroy(&w);
}

static void whatever_is_cut(void)
{
    const char *soak = getenv("SOAK");
    uint64_t seeds = soak != NULL && strcmp(soak, "1") == 0 ? SEEDS_SOAK : SEEDS;
    for (uint64_t seed = 1; seed <= seeds; seed++)
        one_seed(seed);
}

static const struct test_case CASES[] = {
    {"a segment that works is not left", a_segment_that_works_is_not_left},
    {"a receiver that is full is not silent", a_receiver_that_is_full_is_not_silent},
    {"whatever direction dies", whatever_direction_dies},
    {"without a detour", without_a_detour},
    {"whatever is cut", whatever_is_cut},
};

int main(void)
{
    return covey_test_main("detour", CASES, sizeof CASES / sizeof CASES[0]);
}
