/*
 * window_sim.c - drives windows over the simulated network: each step delivers what is due, lets
 * the programs at both ends write and read, fires timers and sends what may be sent; then time
 * jumps to the next event.
 */
#include "tests/sim/window_sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN_BYTES 65521u /* a prime: no packet or buffer size divides it */
#define PATTERN_SPARE 32768u
#define SIM_LEND_BYTES 40000u   /* written, then as many lent */
#define HEADER_BYTES 12         /* receiver's index u32, number u64 */
#define STILL_STEPS_MAX 1000000 /* events at one moment */

static uint8_t pattern[PATTERN_BYTES + PATTERN_SPARE];

static void pattern_make(void)
{
    uint64_t state = 1;
    for (size_t i = 0; i < PATTERN_BYTES; i++)
        pattern[i] = (uint8_t)random_next(&state);
    memcpy(pattern + PATTERN_BYTES, pattern, PATTERN_SPARE - 1);
}

/* What end `i` writes at this offset; *run: how many bytes lie there contiguously. */
static const uint8_t *pattern_at(uint32_t i, uint64_t offset, size_t *run)
{
    *run = PATTERN_SPARE - 1;
    return pattern + (offset + i * 7919u) % PATTERN_BYTES;
}

static void fail(struct sim *s, const char *what)
{
    if (s->failure == NULL)
        s->failure = what;
}

static void trace(const struct sim *s, uint32_t end, const char *what, uint64_t a, uint64_t b)
{
    if (s->trace)
        printf("%10" PRIu64 " us  end %u  %-10s %" PRIu64 " %" PRIu64 "\n", network_now(s->network),
               end, what, a, b);
}

static bool add_pair(struct sim *s, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t index = s->count++;
        struct sim_end *e = &s->ends[index];
        e->window = window_create(&s->config.window);
        e->port = i == 0 ? a : b;
        e->peer_port = i == 0 ? b : a;
        e->peer = index ^ 1;
        e->number = 1;
        e->to_write = i == 1 && s->config.one_way ? 0 : s->config.write_bytes;
        if (e->window == NULL)
            return false;
    }
    return true;
}

struct sim *sim_create(const struct sim_config *config, bool trace_it)
{
    struct sim *s = calloc(1, sizeof *s);
    uint32_t ports = config->network.ports;
    if (s == NULL)
        return NULL;
    s->config = *config;
    s->trace = trace_it;
    s->random = config->network.seed;
    s->network = network_create(&config->network);
    s->ends = calloc((size_t)ports * (ports - 1), sizeof *s->ends);
    s->inboxes = calloc(ports, sizeof *s->inboxes);
    bool ok = s->network != NULL && s->ends != NULL && s->inboxes != NULL;
    for (uint32_t a = 0; ok && a < ports; a++)
        for (uint32_t b = a + 1; ok && b < ports; b++)
            ok = add_pair(s, a, b);
    pattern_make();
    if (!ok) {
        sim_destroy(s);
        return NULL;
    }
    return s;
}

static void inboxes_destroy(struct sim *s)
{
    for (uint32_t port = 0; s->inboxes != NULL && port < s->config.network.ports; port++) {
        struct sim_inbox *inbox = &s->inboxes[port];
        for (size_t i = 0; i < inbox->count; i++)
            free(inbox->at[i]);
        free(inbox->at);
    }
    free(s->inboxes);
}

void sim_destroy(struct sim *s)
{
    if (s == NULL)
        return;
    for (uint32_t i = 0; i < s->count; i++)
        window_destroy(s->ends[i].window);
    free(s->ends);
    inboxes_destroy(s);
    network_destroy(s->network);
    free(s);
}

/* When the host at this port runs: now, or when its quota begins again. Hosts are not in step. */
static uint64_t host_runs_us(const struct sim *s, uint32_t port)
{
    uint64_t now = network_now(s->network);
    uint64_t period = s->config.run_us + s->config.freeze_us;
    if (s->config.freeze_us == 0)
        return now;
    uint64_t phase = (now + port * 3331u) % period;
    return phase < s->config.run_us ? now : now + period - phase;
}

static void end_write(struct sim *s, uint32_t i)
{
    struct sim_end *e = &s->ends[i];
    if ((e->written / SIM_LEND_BYTES) % 4 == 0)
        window_keep(e->window);
    uint64_t now = network_now(s->network);
    while (e->written < e->to_write && now >= e->write_us) {
        size_t run, taken;
        const uint8_t *bytes = pattern_at(i, e->written, &run);
        uint64_t left = e->to_write - e->written;
        if (s->config.write_chunk != 0)
            left = left < s->config.write_chunk
                       ? left
                       : 1 + random_below(&s->random, s->config.write_chunk);
        if (left < run)
            run = (size_t)left;
        bool lend = (e->written / SIM_LEND_BYTES) % 2 == 1;
        taken = (lend ? window_lend : window_write)(e->window, bytes, run);
        e->written += taken;
        if (s->config.write_pause_us != 0)
            e->write_us = now + random_below(&s->random, s->config.write_pause_us);
        if (taken == 0)
            return;
        trace(s, i, "write", e->written, taken);
    }
}

static bool end_compare(uint32_t writer, uint64_t offset, const uint8_t *bytes, size_t size)
{
    while (size != 0) {
        size_t run;
        const uint8_t *expected = pattern_at(writer, offset, &run);
        if (run > size)
            run = size;
        if (memcmp(expected, bytes, run) != 0)
            return false;
        bytes += run;
        offset += run;
        size -= run;
    }
    return true;
}

static void end_read(struct sim *s, uint32_t i)
{
    struct sim_end *e = &s->ends[i];
    const struct sim_end *writer = &s->ends[e->peer];
    uint64_t now = network_now(s->network);
    const uint8_t *bytes;
    size_t size;
    while (now >= e->read_us && (size = window_readable(e->window, &bytes)) != 0) {
        if (s->config.read_pause_us != 0) {
            size = 1 + (size_t)random_below(&s->random, size);
            e->read_us = now + random_below(&s->random, s->config.read_pause_us);
        }
        if (e->read + size > writer->written)
            fail(s, "more bytes came out than were written");
        else if (!end_compare(e->peer, e->read, bytes, size))
            fail(s, "other bytes came out than were written");
        window_consume(e->window, size);
        e->read += size;
        trace(s, i, "read", e->read, size);
        if (e->read == writer->to_write)
            e->finished_us = now;
    }
}

static void put_header(uint8_t *at, uint32_t peer, uint64_t number)
{
    memcpy(at, &peer, sizeof peer);
    memcpy(at + sizeof peer, &number, sizeof number);
}

static void end_send(struct sim *s, uint32_t i)
{
    static uint8_t datagram[HEADER_BYTES + WINDOW_PACKET_BYTES_MAX];
    struct sim_end *e = &s->ends[i];
    uint64_t now = network_now(s->network);
    size_t size;
    window_on_timer(e->window, now);
    while ((size = window_next(e->window, e->number, datagram + HEADER_BYTES,
                               s->config.window.packet_bytes_max, now)) != 0) {
        trace(s, i, "send", e->number, size);
        put_header(datagram, e->peer, e->number);
        network_send(s->network, e->port, e->peer_port, datagram, HEADER_BYTES + size);
        e->number += 1 + (s->config.gaps ? random_below(&s->random, 16) / 12 : 0);
        s->steps++;
    }
    if (window_deadline(e->window) <= now)
        fail(s, "a deadline that has passed although there is nothing to do");
}

static void receive(struct sim *s, struct network_datagram *d)
{
    uint32_t to;
    uint64_t number;
    memcpy(&to, d->bytes, sizeof to);
    memcpy(&number, d->bytes + sizeof to, sizeof number);
    trace(s, to, "receive", number, d->size - HEADER_BYTES);
    const char *refusal = window_on_packet(s->ends[to].window, number, d->bytes + HEADER_BYTES,
                                           d->size - HEADER_BYTES, network_now(s->network));
    if (refusal != NULL)
        fail(s, refusal);
    s->ends[to].due_us = 0;
    free(d);
}

static void inbox_add(struct sim_inbox *inbox, struct network_datagram *d)
{
    if (inbox->count == inbox->capacity) {
        inbox->capacity = inbox->capacity == 0 ? 64 : 2 * inbox->capacity;
        inbox->at = realloc(inbox->at, inbox->capacity * sizeof *inbox->at);
        if (inbox->at == NULL)
            abort();
    }
    inbox->at[inbox->count++] = d;
}

/* Hands what is due to the hosts that run; returns when a host that does not has some waiting. */
static uint64_t deliver(struct sim *s)
{
    struct network_datagram *d;
    uint64_t waiting_us = UINT64_MAX;
    while ((d = network_take(s->network)) != NULL)
        inbox_add(&s->inboxes[d->to], d);
    for (uint32_t port = 0; port < s->config.network.ports; port++) {
        struct sim_inbox *inbox = &s->inboxes[port];
        uint64_t runs_us = host_runs_us(s, port);
        if (inbox->count != 0 && runs_us > network_now(s->network)) {
            waiting_us = runs_us < waiting_us ? runs_us : waiting_us;
            continue;
        }
        for (size_t i = 0; i < inbox->count; i++)
            receive(s, inbox->at[i]);
        inbox->count = 0;
    }
    return waiting_us;
}

static void check(struct sim *s, uint32_t i)
{
    const struct sim_end *e = &s->ends[i];
    uint64_t read = s->ends[e->peer].read;
    if (window_unacknowledged(e->window) > s->config.window.send_buffer_bytes)
        fail(s, "the send buffer is larger than allowed");
    if (e->written - read >
        s->config.window.send_buffer_bytes + s->config.window.receive_buffer_bytes)
        fail(s, "more is under way than both buffers hold");
    if (e->written - window_unacknowledged(e->window) >
        read + s->config.window.receive_buffer_bytes)
        fail(s, "the receive buffer is larger than allowed");
}

static uint64_t end_deadline(const struct sim *s, uint32_t i)
{
    const struct sim_end *e = &s->ends[i];
    const uint8_t *bytes;
    uint64_t t = window_deadline(e->window);
    if (e->written < e->to_write && window_writable(e->window) != 0 && e->write_us < t)
        t = e->write_us;
    if (window_readable(e->window, &bytes) != 0 && e->read_us < t)
        t = e->read_us;
    return t;
}

bool sim_complete(const struct sim *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const struct sim_end *e = &s->ends[i];
        if (e->read < s->ends[e->peer].to_write || window_unacknowledged(e->window) != 0)
            return false;
    }
    return true;
}

static void act(struct sim *s, uint32_t i)
{
    struct sim_end *e = &s->ends[i];
    uint64_t runs_us = host_runs_us(s, e->port);
    if (runs_us > network_now(s->network)) {
        e->due_us = runs_us;
        return;
    }
    end_read(s, i);
    end_write(s, i);
    end_send(s, i);
    check(s, i);
    e->due_us = end_deadline(s, i);
}

/* One step at the present time; returns when the next event is. */
static uint64_t step(struct sim *s)
{
    uint64_t now = network_now(s->network);
    uint64_t next = deliver(s);
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->ends[i].due_us <= now)
            act(s, i);
        if (s->ends[i].due_us < next)
            next = s->ends[i].due_us;
    }
    return network_next(s->network) < next ? network_next(s->network) : next;
}

bool sim_run(struct sim *s, uint64_t until_us)
{
    uint64_t still = 0;
    while (s->failure == NULL) {
        uint64_t now = network_now(s->network);
        uint64_t next = step(s);
        if (next > until_us)
            break;
        still = next > now ? 0 : still + 1;
        if (still > STILL_STEPS_MAX)
            fail(s, "time stands still");
        network_advance(s->network, next);
    }
    s->quiet = network_next(s->network) == UINT64_MAX;
    for (uint32_t i = 0; i < s->count; i++)
        s->quiet = s->quiet && s->ends[i].due_us == UINT64_MAX;
    if (!s->quiet && s->failure == NULL)
        network_advance(s->network, until_us);
    return s->failure == NULL && sim_complete(s);
}
