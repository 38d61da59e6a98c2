/*
 * lanes.c - how datagrams leave and come, whatever the lane. What is sent is gathered during a
 * round of the loop and leaves at its end; the kind of an address says which lane is meant.
 */
#include "daemon/link/lanes.h"

#include <stdlib.h>

#include "daemon/link/segment.h"
#include "proto/session/fault_line.h"

#define GATHER_MISSING_BYTES 8192 /* this much of a frame must be missing for reads to be rarer */
#define GATHER_US_MAX 1500
#define GATHER_US_MIN 100    /* a shorter wait is no saving */
#define GATHER_BYTES 16384.0 /* so much should have come when the socket is read again */

/* ---- out ---- */

static void lane_send(struct daemon *d, const struct address *to, const uint8_t *bytes, size_t size)
{
    if (node_lane_of(to) == LANE_ETHER)
        segment_send(d, to, bytes, size);
    else
        udp_send(d->lanes->udp, to, bytes, size);
}

void lanes_send(struct daemon *d, const struct address *to, const uint8_t *bytes, size_t size)
{
    if (d->lanes->faults != NULL)
        fault_line_put(d->lanes->faults, to, bytes, size, loop_now_us());
    else
        lane_send(d, to, bytes, size);
}

uint8_t *lanes_room(struct daemon *d, const struct address *to)
{
    const struct lanes *l = d->lanes;
    return l->faults != NULL || node_lane_of(to) == LANE_ETHER ? NULL : udp_room(l->udp, to);
}

static void on_fault_out(void *context, const struct address *to, const uint8_t *bytes, size_t size)
{
    lane_send(context, to, bytes, size);
}

uint64_t lanes_flush(struct daemon *d)
{
    struct lanes *l = d->lanes;
    uint64_t next_us = l->faults == NULL ? UINT64_MAX : fault_line_step(l->faults, loop_now_us());
    bool full = udp_flush(l->udp);
    segment_flush(d);
    loop_fd_set(l->udp_watch, (l->read_at_us == 0 ? LOOP_READ : 0) | (full ? LOOP_WRITE : 0));
    return l->read_at_us != 0 && l->read_at_us < next_us ? l->read_at_us : next_us;
}

/* ---- in ---- */

/* How long the rest of a large frame may be left in the socket. */
static uint64_t gather_us(const struct lanes *l)
{
    if (l->receive_rate <= 0)
        return 0;
    double wait_us = GATHER_BYTES / l->receive_rate;
    if (wait_us < GATHER_US_MIN)
        return 0;
    return wait_us < GATHER_US_MAX ? (uint64_t)wait_us : GATHER_US_MAX;
}

/* In the middle of a large frame, waking up for each datagram of it costs more than the datagram:
 * the socket then is left alone for a moment, and what has come is read in one go. On a fast path
 * the moment would be what limits it: there it is short, or none. */
static void udp_read(struct daemon *d)
{
    struct lanes *l = d->lanes;
    uint64_t now_us = loop_now_us();
    size_t bytes = udp_receive(l->udp, l->on_datagram, d);
    if (l->read_us != 0 && bytes > 0) { /* from one read in the middle of it to the next */
        double rate = (double)bytes / (double)(now_us - l->read_us + 1);
        l->receive_rate = l->receive_rate > 0 ? (l->receive_rate + rate) / 2 : rate;
    }
    bool middle = bytes > 0 && node_missing(d->node) >= GATHER_MISSING_BYTES;
    uint64_t wait_us = middle && !d->options->local ? gather_us(l) : 0;
    l->read_at_us = wait_us > 0 ? now_us + wait_us : 0;
    l->read_us = middle ? now_us : 0;
}

static void on_udp(void *context, int events)
{
    struct daemon *d = context;
    if (events & LOOP_READ)
        udp_read(d);
    /* writable: lanes_flush() sends */
}

void lanes_look(struct daemon *d)
{
    if (d->lanes->read_at_us != 0 && loop_now_us() >= d->lanes->read_at_us)
        udp_read(d);
}

/* ---- begin and end ---- */

static int faults_open(struct daemon *d, struct failure *why)
{
    char text[FAULT_TEXT_MAX];
    if (!fault_any(&d->conf.fault))
        return 0;
    fault_print(&d->conf.fault, text);
    log_line(&d->log, LOG_INFO, "faults of what is sent: %s", text);
    d->lanes->faults = fault_line_create(&d->conf.fault, on_fault_out, d);
    return d->lanes->faults == NULL ? failure_memory(why) : 0;
}

int lanes_open(struct daemon *d, udp_datagram_fn *fn, struct failure *why)
{
    struct udp_config udp = {.local = d->options->local,
                             .bind = d->conf.bind,
                             .port_first = d->conf.port.first,
                             .port_last = d->conf.port.last};
    d->lanes = calloc(1, sizeof *d->lanes);
    if (d->lanes == NULL)
        return failure_memory(why);
    d->lanes->on_datagram = fn;
    d->lanes->udp = udp_create(&udp, why);
    return d->lanes->udp == NULL ? -1 : faults_open(d, why);
}

int lanes_watch(struct daemon *d, struct failure *why)
{
    struct lanes *l = d->lanes;
    l->udp_watch = loop_fd_add(d->loop, udp_fd(l->udp), LOOP_READ, on_udp, d);
    return l->udp_watch == NULL ? failure_memory(why) : 0;
}

void lanes_close(struct daemon *d)
{
    struct lanes *l = d->lanes;
    if (l == NULL)
        return;
    loop_fd_remove(&l->udp_watch);
    fault_line_destroy(l->faults);
    segment_close(d);
    udp_destroy(l->udp);
    free(l);
    d->lanes = NULL;
}
