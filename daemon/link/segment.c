/*
 * Raw Ethernet needs a capability, an interface and a common segment, and each may be missing. What
 * can be known when the daemon starts is decided then, and kept as one line of text for whoever
 * asks for the route. Whether two hosts are on one segment shows only when their sessions open, or
 * do not: a LINK_OPEN waits for that, at most OPENING_US.
 *
 * Owners: struct segment owns the link, its watches and the frames that wait. The daemon's struct
 * owns the segment, which is there also when there is no link.
 */
#include "daemon/link/segment.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/privilege.h"
#include "daemon/link/ether.h"
#include "daemon/post/casting.h"
#include "daemon/post/link.h"
#include "daemon/post/route.h"
#include "proto/wire/ether.h"

#define OPENING_US 3000000u
#define OPENINGS_MAX 4096
#define OPEN_BYTES_MAX 64
#define DATAGRAM_BYTES_SAFE 1200 /* where the MTU of another host is smaller */

/* A LINK_OPEN that waits for a session. */
struct opening {
    struct opening *next;
    uint64_t deadline_us;
    struct frame frame;
    uint8_t payload[OPEN_BYTES_MAX];
};

struct segment {
    struct ether_link *link; /* NULL: *why */
    struct loop_fd *watch, *writable;
    struct failure why;
    struct failure told; /* the last refusal */
    struct opening *openings;
    unsigned opening_count;
};

struct ether_link *segment_link(const struct daemon *d)
{
    return d->segment->link;
}

/* ---- the link ---- */

static void on_datagram(void *context, const struct address *from, const uint8_t *bytes,
                        size_t size)
{
    struct daemon *d = context;
    if (!casting_on_datagram(d, bytes, size))
        node_on_datagram(d->node, from, bytes, size, loop_now_us());
}

static void on_readable(void *context, int events)
{
    struct daemon *d = context;
    (void)events;
    ether_receive(d->segment->link, on_datagram, d);
}

static void on_writable(void *context, int events)
{
    (void)context, (void)events; /* settle() sends */
}

static int link_open(struct daemon *d, struct nic *nic, struct failure *why)
{
    const struct conf_ether *conf = &d->conf.ether;
    struct segment *s = d->segment;
    if (conf->enabled == CONF_NO)
        return failure_set(why, "covey.conf of %s says enabled = no", d->name);
    if (d->options->local)
        return failure_set(why, "the hosts of a --local VM are one machine: there is no Ethernet "
                                "between them");
    if (!privilege_has_raw())
        return failure_set(why,
                           "coveyd of %s has no CAP_NET_RAW; before it starts, as root: "
                           "setcap cap_net_raw+ep %s",
                           d->name, d->program);
    if (nic_find(nic, conf->interface, &d->node_config.self.addresses[0], why) != 0)
        return -1;
    if (nic->mtu < DATAGRAM_BYTES_SAFE + ETHER_HEADER_BYTES)
        return failure_set(why, "interface %s has an MTU of %zu, too small", nic->name, nic->mtu);
    s->link = ether_open(nic, conf->type, why);
    return s->link == NULL ? -1 : 0;
}

/* The MAC takes the place of the last address when there are as many as a host can have. */
static void self_add(struct daemon *d)
{
    struct host *self = &d->node_config.self;
    if (self->address_count == HOST_ADDRESSES_MAX)
        self->address_count--;
    self->addresses[self->address_count++] = ether_nic(d->segment->link)->mac;
    d->node_config.ether_bytes_min = DATAGRAM_BYTES_SAFE;
    d->node_config.ether_bytes_max = ether_datagram_bytes(d->segment->link);
}

static int link_watch(struct daemon *d, struct failure *why)
{
    struct segment *s = d->segment;
    s->watch = loop_fd_add(d->loop, ether_fd(s->link), LOOP_READ, on_readable, d);
    s->writable = loop_fd_add(d->loop, ether_send_fd(s->link), 0, on_writable, d);
    return s->watch == NULL || s->writable == NULL ? failure_set(why, "memory is exhausted") : 0;
}

static void log_link(struct daemon *d, const struct nic *nic)
{
    const struct segment *s = d->segment;
    char mac[ADDRESS_TEXT_BYTES];
    if (s->link == NULL) {
        log_line(&d->log, LOG_INFO, "no route ether: %s", s->why.text);
        return;
    }
    address_text(&nic->mac, mac);
    log_line(&d->log, LOG_INFO, "route ether: interface %s, address %s, MTU %zu, EtherType 0x%04x",
             nic->name, mac, nic->mtu, ether_type(s->link));
}

int segment_open(struct daemon *d, struct failure *why)
{
    struct nic nic;
    d->segment = calloc(1, sizeof *d->segment);
    if (d->segment == NULL)
        return failure_set(why, "memory is exhausted");
    struct segment *s = d->segment;
    int error = link_open(d, &nic, &s->why);
    privilege_lower_raw(!d->conf.ether.direct || s->link == NULL);
    log_link(d, &nic);
    if (error == 0) {
        self_add(d);
        return link_watch(d, why);
    }
    bool wanted = d->conf.ether.enabled == CONF_YES && !d->options->local;
    return wanted ? failure_set(why, "no raw Ethernet: %s", s->why.text) : 0;
}

void segment_close(struct daemon *d)
{
    struct segment *s = d->segment;
    if (s == NULL)
        return;
    while (s->openings != NULL) {
        struct opening *o = s->openings;
        s->openings = o->next;
        free(o);
    }
    loop_fd_remove(&s->watch);
    loop_fd_remove(&s->writable);
    ether_close(s->link);
    free(s);
    d->segment = NULL;
}

void segment_send(struct daemon *d, const struct address *to, const uint8_t *bytes, size_t size)
{
    if (d->segment->link != NULL)
        ether_send(d->segment->link, to, bytes, size);
}

void segment_flush(struct daemon *d)
{
    struct segment *s = d->segment;
    if (s->link != NULL)
        loop_fd_set(s->writable, ether_flush(s->link) ? LOOP_WRITE : 0);
}

/* ---- LINK_OPENs that wait ---- */

static const char *host_name(const struct daemon *d, uint32_t index)
{
    const struct host *host = node_host(d->node, index);
    return host == NULL ? "?" : host->name;
}

static int hold(struct daemon *d, const struct frame *open, const uint8_t *payload)
{
    struct segment *s = d->segment;
    struct opening *o = NULL;
    if (open->length <= OPEN_BYTES_MAX && s->opening_count < OPENINGS_MAX)
        o = malloc(sizeof *o);
    if (o == NULL)
        return -1;
    *o = (struct opening){
        .next = s->openings, .deadline_us = loop_now_us() + OPENING_US, .frame = *open};
    memcpy(o->payload, payload, open->length);
    s->openings = o;
    s->opening_count++;
    return 0;
}

const char *segment_depart(struct daemon *d, const struct frame *open, const uint8_t *payload,
                           bool *waits)
{
    struct segment *s = d->segment;
    uint32_t host = tid_host(open->destination);
    *waits = false;
    if (host == daemon_host(d))
        return "the two tasks are on one host, to which no frame comes back: shm or tcp fits";
    if (s->link == NULL)
        return s->why.text;
    if (node_host(d->node, host) == NULL)
        return NULL; /* who sends it on says that it is gone */
    enum node_ether state = node_ether_state(d->node, host);
    if (state == NODE_ETHER_NONE) {
        failure_set(&s->told, "host %s has no raw Ethernet: the log of its coveyd says why",
                    host_name(d, host));
        return s->told.text;
    }
    if (state == NODE_ETHER_OPEN)
        return NULL;
    node_open_ether(d->node, host, loop_now_us());
    *waits = hold(d, open, payload) == 0;
    return *waits ? NULL : "too many links are being opened";
}

static void give_up(struct daemon *d, const struct opening *o)
{
    struct failure why;
    failure_set(&why,
                "host %s does not answer on %s: it is on another segment, or uses another "
                "EtherType than 0x%04x",
                host_name(d, tid_host(o->frame.destination)), ether_nic(d->segment->link)->name,
                ether_type(d->segment->link));
    link_refuse(d, &o->frame, o->payload, why.text);
}

/* Whether it is decided. */
static bool decide(struct daemon *d, const struct opening *o, uint64_t now_us)
{
    enum node_ether state = node_ether_state(d->node, tid_host(o->frame.destination));
    if (state == NODE_ETHER_OPEN || state == NODE_ETHER_NONE)
        route_send(d, &o->frame, o->payload); /* to one that is gone: its opener hears so */
    else if (now_us >= o->deadline_us)
        give_up(d, o);
    else
        return false;
    return true;
}

uint64_t segment_settle(struct daemon *d, uint64_t now_us)
{
    struct segment *s = d->segment;
    uint64_t next_us = UINT64_MAX;
    for (struct opening **at = &s->openings; *at != NULL;) {
        struct opening *o = *at;
        if (!decide(d, o, now_us)) {
            next_us = o->deadline_us < next_us ? o->deadline_us : next_us;
            at = &o->next;
            continue;
        }
        *at = o->next;
        s->opening_count--;
        free(o);
    }
    return next_us;
}
