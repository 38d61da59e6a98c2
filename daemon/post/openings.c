/*
 * openings.c - whether two hosts are on one Ethernet segment shows only when their sessions open,
 * or do not: a LINK_OPEN waits for that, at most OPENING_US. Then it goes on, or its opener is told
 * why the route cannot work.
 */
#include "daemon/post/openings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/link/ether.h"
#include "daemon/link/segment.h"
#include "daemon/post/introduction.h"
#include "daemon/post/post.h"

#define OPENING_US 3000000u
#define OPENINGS_MAX 4096
#define OPEN_BYTES_MAX 64

/* A LINK_OPEN that waits for a session. */
struct opening {
    struct opening *next;
    uint64_t deadline_us;
    struct frame frame;
    uint8_t payload[OPEN_BYTES_MAX];
};

struct openings {
    struct opening *first; /* the latest */
    unsigned count;
    struct failure told; /* the last refusal */
};

static void openings_destroy(struct daemon *d)
{
    struct openings *all = d->own.openings;
    for (struct opening *o; (o = all->first) != NULL; free(o))
        all->first = o->next;
}

static const char *host_name(const struct daemon *d, uint32_t index)
{
    const struct host *host = node_host(d->node, index);
    return host == NULL ? "?" : host->name;
}

static bool opening_add(struct daemon *d, const struct frame *open, const uint8_t *payload)
{
    struct openings *all = d->own.openings;
    bool fits = open->length <= OPEN_BYTES_MAX && all->count < OPENINGS_MAX;
    struct opening *o = fits ? malloc(sizeof *o) : NULL;
    if (o == NULL)
        return false;
    *o = (struct opening){
        .next = all->first, .deadline_us = loop_now_us() + OPENING_US, .frame = *open};
    memcpy(o->payload, payload, open->length);
    all->first = o;
    all->count++;
    part_want(d, PART_openings);
    return true;
}

const char *openings_depart(struct daemon *d, const struct frame *open, const uint8_t *payload,
                            bool *waits)
{
    struct failure *told = &d->own.openings->told;
    uint32_t host = tid_host(open->destination);
    *waits = false;
    if (host == daemon_host(d))
        return "the two tasks are on one host, to which no frame comes back: shm or tcp fits";
    if (segment_link(d) == NULL)
        return segment_missing(d);
    if (node_host(d->node, host) == NULL)
        return NULL; /* who sends it on says that it is gone */
    enum node_ether state = node_ether_state(d->node, host);
    if (state == NODE_ETHER_NONE) {
        failure_set(told, "host %s has no raw Ethernet: the log of its coveyd says why",
                    host_name(d, host));
        return told->text;
    }
    if (state == NODE_ETHER_OPEN)
        return NULL;
    node_open_ether(d->node, host, loop_now_us());
    *waits = opening_add(d, open, payload);
    return *waits ? NULL : "too many links are being opened";
}

static void opening_give_up(struct daemon *d, const struct opening *o)
{
    struct failure why;
    const struct ether_link *link = segment_link(d);
    failure_set(&why,
                "host %s does not answer on %s: it is on another segment, or uses another "
                "EtherType than 0x%04x",
                host_name(d, tid_host(o->frame.destination)), ether_nic(link)->name,
                ether_type(link));
    introduction_refuse(d, &o->frame, o->payload, why.text);
}

/* Whether it is decided. */
static bool opening_decide(struct daemon *d, const struct opening *o, uint64_t now_us)
{
    enum node_ether state = node_ether_state(d->node, tid_host(o->frame.destination));
    if (state == NODE_ETHER_OPEN || state == NODE_ETHER_NONE)
        post_send(d, &o->frame, o->payload); /* to one that is gone: its opener hears so */
    else if (now_us >= o->deadline_us)
        opening_give_up(d, o);
    else
        return false;
    return true;
}

/* Nobody tells that a session has opened: while a LINK_OPEN waits each round looks. */
static uint64_t openings_settle(struct daemon *d, uint64_t now_us)
{
    struct openings *all = d->own.openings;
    uint64_t next_us = UINT64_MAX;
    for (struct opening **at = &all->first; *at != NULL;) {
        struct opening *o = *at;
        if (!opening_decide(d, o, now_us)) {
            next_us = o->deadline_us < next_us ? o->deadline_us : next_us;
            at = &o->next;
            continue;
        }
        *at = o->next;
        assert(all->count > 0);
        all->count--;
        free(o);
    }
    if (all->first != NULL)
        part_want(d, PART_openings);
    return next_us;
}

const struct part openings_part = {.name = "openings",
                                   .state_bytes = sizeof(struct openings),
                                   .destroy = openings_destroy,
                                   .settle = openings_settle};
