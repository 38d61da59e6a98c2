/*
 * media.c - how datagrams leave and come, whatever the medium. What is sent is gathered during a
 * round of the loop and leaves at its end; the kind of an address says which medium is meant.
 */
#include "daemon/link/media.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/link/segment.h"
#include "proto/session/fault_line.h"
#include "proto/session/slow.h"
#include "proto/wire/datagram.h"
#include "proto/wire/grow.h"

#define GATHER_MISSING_BYTES 8192 /* this much of a frame must be missing for reads to be rarer */
#define GATHER_US_MAX 1500
#define GATHER_US_MIN 100    /* a shorter wait is no saving */
#define GATHER_BYTES 16384.0 /* so much should have come when the socket is read again */

/* ---- out ---- */

static void medium_send(struct daemon *d, const struct address *to, const uint8_t *bytes,
                        size_t size)
{
    if (node_medium_of(to) == MEDIUM_ETHER)
        segment_send(d, to, bytes, size);
    else
        udp_send(d->media->udp, to, bytes, size);
}

/* ---- a slow network of virtual hosts: see slow.h ---- */

struct media_lane {
    struct address to;
    struct slow_lane lane;
};

static const char *name_at(const struct daemon *d, const struct address *address)
{
    const struct host *host;
    for (size_t i = 0; d->node != NULL && (host = node_host_at(d->node, i)) != NULL; i++) {
        const struct address *path = node_path(d->node, host->index);
        if (path != NULL && address_equal(path, address))
            return host->name;
        for (int k = 0; k < host->address_count; k++)
            if (address_equal(&host->addresses[k], address))
                return host->name;
    }
    return NULL;
}

/* NULL: no host that is known has the address. */
static struct slow_lane *lane_to(struct daemon *d, const struct address *to)
{
    struct media *m = d->media;
    for (size_t i = 0; i < m->lane_count; i++)
        if (address_equal(&m->lanes[i].to, to))
            return &m->lanes[i].lane;
    const char *name = name_at(d, to);
    if (name == NULL || !GROW(m->lanes, m->lane_room, m->lane_count + 1, 16))
        return NULL;
    struct media_lane *new = &m->lanes[m->lane_count++];
    new->to = *to;
    slow_lane_init(&new->lane, &d->conf.slow, d->self.name, name);
    return &new->lane;
}

/* What asks whether a host is there does not stand in line behind a message of a minute. */
static uint64_t slowed_us(struct daemon *d, const struct address *to, const uint8_t *bytes,
                          size_t size)
{
    uint8_t kind = size >= DATAGRAM_HEAD_BYTES ? bytes[3] : 0;
    struct slow_lane *lane = d->conf.slow.count == 0 ? NULL : lane_to(d, to);
    bool queued = kind == DATAGRAM_DATA || kind == DATAGRAM_CAST;
    return lane == NULL ? 0 : slow_lane_send(lane, size, queued, loop_now_us());
}

void media_send(struct daemon *d, const struct address *to, const uint8_t *bytes, size_t size)
{
    if (d->media->faults != NULL)
        fault_line_put(d->media->faults, to, bytes, size, slowed_us(d, to, bytes, size),
                       loop_now_us());
    else
        medium_send(d, to, bytes, size);
}

uint8_t *media_room(struct daemon *d, const struct address *to)
{
    struct media *m = d->media;
    if (m->faults != NULL)
        return NULL;
    return node_medium_of(to) == MEDIUM_ETHER ? segment_room(d) : udp_room(m->udp, to);
}

static void on_fault_out(void *context, const struct address *to, const uint8_t *bytes, size_t size)
{
    medium_send(context, to, bytes, size);
}

uint64_t media_flush(struct daemon *d)
{
    struct media *m = d->media;
    uint64_t next_us = m->faults == NULL ? UINT64_MAX : fault_line_step(m->faults, loop_now_us());
    bool full = udp_flush(m->udp);
    segment_flush(d);
    loop_fd_set(m->udp_watch, (m->read_at_us == 0 ? LOOP_READ : 0) | (full ? LOOP_WRITE : 0));
    return m->read_at_us != 0 && m->read_at_us < next_us ? m->read_at_us : next_us;
}

/* ---- in ---- */

/* How long the rest of a large frame may be left in the socket. */
static uint64_t gather_us(const struct media *m)
{
    if (m->receive_rate <= 0)
        return 0;
    double wait_us = GATHER_BYTES / m->receive_rate;
    if (wait_us < GATHER_US_MIN)
        return 0;
    return wait_us < GATHER_US_MAX ? (uint64_t)wait_us : GATHER_US_MAX;
}

/* In the middle of a large frame, waking up for each datagram of it costs more than the datagram:
 * the socket then is left alone for a moment, and what has come is read in one go. On a fast path
 * the moment would be what limits it: there it is short, or none. */
static void udp_read(struct daemon *d)
{
    struct media *m = d->media;
    uint64_t now_us = loop_now_us();
    size_t bytes = udp_receive(m->udp, m->on_datagram, d);
    if (m->read_us != 0 && bytes > 0) { /* from one read in the middle of it to the next */
        double rate = (double)bytes / (double)(now_us - m->read_us + 1);
        m->receive_rate = m->receive_rate > 0 ? (m->receive_rate + rate) / 2 : rate;
    }
    bool middle = bytes > 0 && node_missing(d->node) >= GATHER_MISSING_BYTES;
    uint64_t wait_us = middle && !d->options->local ? gather_us(m) : 0;
    m->read_at_us = wait_us > 0 ? now_us + wait_us : 0;
    m->read_us = middle ? now_us : 0;
}

static void on_udp(void *context, int events)
{
    struct daemon *d = context;
    if (events & LOOP_READ)
        udp_read(d);
    /* writable: media_flush() sends */
}

void media_look(struct daemon *d)
{
    if (d->media->read_at_us != 0 && loop_now_us() >= d->media->read_at_us)
        udp_read(d);
}

/* ---- begin and end ---- */

static int faults_open(struct daemon *d, struct failure *why)
{
    char text[FAULT_TEXT_MAX];
    if (!fault_any(&d->conf.fault) && !slow_any_link(&d->conf.slow))
        return 0;
    fault_print(&d->conf.fault, text);
    if (fault_any(&d->conf.fault))
        log_line(&d->log, LOG_INFO, "faults of what is sent: %s", text);
    d->media->faults = fault_line_create(&d->conf.fault, on_fault_out, d);
    return d->media->faults == NULL ? failure_memory(why) : 0;
}

int media_open(struct daemon *d, udp_datagram_fn *fn, struct failure *why)
{
    struct udp_config udp = {.local = d->options->local,
                             .bind = d->conf.bind,
                             .port_first = d->conf.port.first,
                             .port_last = d->conf.port.last};
    d->media = calloc(1, sizeof *d->media);
    if (d->media == NULL)
        return failure_memory(why);
    d->media->on_datagram = fn;
    d->media->udp = udp_create(&udp, why);
    return d->media->udp == NULL ? -1 : faults_open(d, why);
}

int media_watch(struct daemon *d, struct failure *why)
{
    struct media *m = d->media;
    m->udp_watch = loop_fd_add(d->loop, udp_fd(m->udp), LOOP_READ, on_udp, d);
    return m->udp_watch == NULL ? failure_memory(why) : 0;
}

void media_close(struct daemon *d)
{
    struct media *m = d->media;
    if (m == NULL)
        return;
    loop_fd_remove(&m->udp_watch);
    fault_line_destroy(m->faults);
    free(m->lanes);
    segment_close(d);
    udp_destroy(m->udp);
    free(m);
    d->media = NULL;
}
