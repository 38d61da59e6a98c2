/*
 * Raw Ethernet needs a capability, an interface and a common segment, and each may be missing. What
 * can be known when the daemon starts is decided then, and kept as one line of text for whoever
 * asks for the route. Whether two hosts are on one segment shows only when their sessions open, or
 * do not: see daemon/post/openings.c.
 *
 * The sockets come from coveyd's own capability or, without it, from covey-raw. A setting `direct`
 * that is not root's asks covey-raw in any case: whom root lets execute that may have such sockets,
 * and whom he lets use coveyd need not. It stays for as long as tasks may ask for some.
 *
 * Owners: struct segment owns the link, its watches, and where sockets come from. The daemon's
 * media own the segment, which is there also when there is no link.
 */
#include "daemon/link/segment.h"

#include <stdlib.h>

#include "daemon/link/ether.h"
#include "daemon/link/media.h"
#include "daemon/link/privilege.h"
#include "daemon/link/raw_source.h"
#include "proto/wire/ether.h"

#define DATAGRAM_BYTES_SAFE 1200 /* where the MTU of another host is smaller */

struct segment {
    struct ether_link *link; /* NULL: *why */
    struct loop_fd *watch;
    struct raw_source *raw;   /* NULL: not needed any more */
    struct loop_child *child; /* covey-raw; NULL: there is none */
    bool own;                 /* sockets come from our own privilege */
    bool refused;             /* covey.conf wants for tasks what its user may not have */
    struct failure why;
};

struct ether_link *segment_link(const struct daemon *d)
{
    return d->media->segment->link;
}

const char *segment_missing(const struct daemon *d)
{
    return d->media->segment->why.text;
}

/* ---- the link ---- */

static void on_ether(void *context, int events)
{
    struct daemon *d = context;
    if (events & LOOP_READ)
        ether_receive(d->media->segment->link, d->media->on_datagram, d);
    /* writable: segment_flush() sends */
}

static void on_covey_raw_end(void *context, int status)
{
    struct daemon *d = context;
    struct segment *s = d->media->segment;
    (void)status;
    s->child = NULL;
    if (s->raw != NULL && s->link != NULL)
        log_line(&d->log, LOG_INFO, "covey-raw has ended: no task gets a packet socket any more");
}

/* The daemon's socket, or -1 and *why. */
static int raw_open(struct daemon *d, const struct nic *nic, struct failure *why)
{
    const struct conf_ether *conf = &d->conf.ether;
    struct segment *s = d->media->segment;
    struct failure cause;
    bool capable = privilege_has_raw();
    int fd = -1;
    s->own = capable && (!conf->direct || conf->direct_is_roots);
    s->raw = raw_source_open(nic, conf->type, s->own, &cause);
    if (s->raw != NULL && raw_source_child(s->raw) > 0)
        s->child = loop_child_add(d->loop, raw_source_child(s->raw), on_covey_raw_end, d);
    if (s->raw != NULL)
        fd = raw_source_get(s->raw, ETHER_CHANNEL_DAEMON, 0, &cause);
    if (fd >= 0)
        return fd;
    if (s->own)
        return failure_set(why, "%s: %s", nic->name, cause.text);
    s->refused = capable;
    if (capable)
        return failure_set(why,
                           "direct = yes counts only in /etc/covey.conf, where root owns it and "
                           "nobody else can write it, or with covey-raw: %s",
                           cause.text);
    return failure_set(why, "coveyd of %s has no CAP_NET_RAW, and %s", d->self.name, cause.text);
}

static int link_open(struct daemon *d, struct nic *nic, struct failure *why)
{
    const struct conf_ether *conf = &d->conf.ether;
    struct segment *s = d->media->segment;
    if (conf->enabled == CONF_NO)
        return failure_set(why, "covey.conf of %s says enabled = no", d->self.name);
    if (d->options->local)
        return failure_set(why, "the hosts of a --local VM are one machine: there is no Ethernet "
                                "between them");
    if (nic_find(nic, conf->interface, &d->node_config.self.addresses[0], why) != 0)
        return -1;
    if (nic->mtu < DATAGRAM_BYTES_SAFE + ETHER_HEADER_BYTES)
        return failure_set(why, "interface %s has an MTU of %zu, too small", nic->name, nic->mtu);
    int fd = raw_open(d, nic, why);
    if (fd >= 0)
        s->link = ether_open(nic, conf->type, fd, why);
    return s->link == NULL ? -1 : 0;
}

static int link_watch(struct daemon *d, struct failure *why)
{
    struct segment *s = d->media->segment;
    s->watch = loop_fd_add(d->loop, ether_fd(s->link), LOOP_READ, on_ether, d);
    return s->watch == NULL ? failure_memory(why) : 0;
}

static void log_link(struct daemon *d, const struct nic *nic)
{
    const struct segment *s = d->media->segment;
    char mac[ADDRESS_TEXT_BYTES];
    if (s->link == NULL) {
        log_line(&d->log, LOG_INFO, "no route ether: %s", s->why.text);
        return;
    }
    address_text(&nic->mac, mac);
    log_line(&d->log, LOG_INFO,
             "route ether: interface %s, address %s, MTU %zu, EtherType 0x%04x%s", nic->name, mac,
             nic->mtu, ether_type(s->link), s->child != NULL ? ", by covey-raw" : "");
}

int segment_open(struct daemon *d, struct failure *why)
{
    struct nic nic;
    d->media->segment = calloc(1, sizeof *d->media->segment);
    if (d->media->segment == NULL)
        return failure_memory(why);
    struct segment *s = d->media->segment;
    int error = link_open(d, &nic, &s->why);
    log_link(d, &nic);
    if (!d->conf.ether.direct || s->link == NULL) {
        raw_source_close(s->raw);
        s->raw = NULL;
    }
    privilege_lower_raw(s->raw == NULL || !s->own);
    if (error == 0) {
        /* The MAC takes the place of the last address when there are as many as a host can have. */
        struct host *self = &d->node_config.self;
        if (self->address_count == HOST_ADDRESSES_MAX)
            self->address_count--;
        d->self.room.addresses[self->address_count++] = ether_nic(d->media->segment->link)->mac;
        d->node_config.ether_bytes_min = DATAGRAM_BYTES_SAFE;
        d->node_config.ether_bytes_max = ether_datagram_bytes(d->media->segment->link);
        d->node_config.ether_services = d->conf.ether.services;
        return link_watch(d, why);
    }
    bool wanted = d->conf.ether.enabled == CONF_YES && !d->options->local;
    if (s->refused)
        return failure_set(why, "%s", s->why.text);
    return wanted ? failure_set(why, "no raw Ethernet: %s", s->why.text) : 0;
}

void segment_close(struct daemon *d)
{
    struct segment *s = d->media->segment;
    if (s == NULL)
        return;
    loop_fd_remove(&s->watch);
    ether_close(s->link);
    raw_source_close(s->raw);
    loop_child_remove(&s->child);
    free(s);
    d->media->segment = NULL;
}

int segment_socket(struct daemon *d, uint32_t channel, struct failure *why)
{
    struct segment *s = d->media->segment;
    if (s->raw == NULL)
        return failure_set(why, "covey.conf says direct = no");
    return raw_source_get(s->raw, channel, node_vm(d->node), why);
}

void segment_send(struct daemon *d, const struct address *to, const uint8_t *bytes, size_t size)
{
    if (d->media->segment->link != NULL)
        ether_send(d->media->segment->link, to, bytes, size);
}

uint8_t *segment_room(struct daemon *d)
{
    struct ether_link *link = d->media->segment->link;
    return link == NULL ? NULL : ether_room(link);
}

void segment_flush(struct daemon *d)
{
    struct segment *s = d->media->segment;
    if (s->link != NULL)
        loop_fd_set(s->watch, LOOP_READ | (ether_flush(s->link) ? LOOP_WRITE : 0));
}
