/*
 * What a task casts comes in CAST frames, one after another; each becomes one message of the engine
 * (proto/cast/cast.h), with the task's tid in place of the order:
 *   message = source=u32 MCAST                     ; see control.h
 * All frames of a task's message name the same receivers, so they take one channel and arrive in
 * order; and as survivors of a sending host stop at the same frame, its last message has its last
 * frame everywhere or nowhere. Each frame becomes a CAST_DATA frame to every receiver here.
 *
 * Receivers on the sender's own host get theirs from its daemon, too, when the engine has taken the
 * frame: if the daemon dies, they are no survivors. So what a task that is killed had begun goes to
 * nobody.
 *
 * Fragments go to a MAC of the VM's own that is a multicast address: one frame for all hosts with
 * which there is a session over raw Ethernet. Each other host gets its own, by its UDP path: so it
 * is where there are no raw frames, and until the sessions are open that are asked for then.
 *
 * Order with other news: that a host is gone is told to tasks when the flush is over, and that a
 * task has ended when its casts are everywhere. Until then nobody here is answered that a task of
 * that host is gone, either.
 */
#include "daemon/post/casting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/link/ether.h"
#include "daemon/link/fanout.h"
#include "daemon/link/media.h"
#include "daemon/link/segment.h"
#include "daemon/post/backlog.h"
#include "daemon/post/post.h"
#include "daemon/post/reply.h"
#include "daemon/post/watch.h"
#include "proto/auth/auth.h"
#include "proto/cast/cast.h"

#define QUEUE_BYTES_MAX ((size_t)1024 * 1024)
#define UDP_HEADERS 48 /* of IPv6 and UDP: a host may be reached so from one moment to the next */
#define SOURCE_BYTES 4
#define BUSY_US 1000 /* until a cast is tried again for which there was no channel */
#define SEQUENCE_BYTES 8
#define FLUSHES_MAX                                                                                \
    12 /* survivors may die one after another, each found out in the fail timeout                  \
        */

/* A host of whose end tasks are told later. */
struct late_host {
    struct late_host *next;
    struct host host;
    struct host_room room;
    uint64_t deadline_us;
};

struct late_frame {
    struct late_frame *next;
    uint64_t mark;
    struct frame frame;
    uint8_t payload[];
};

/* A cast that waits for a channel: casts to too many sets of hosts are under way, or memory is
 * exhausted. */
struct late_cast {
    struct late_cast *next;
    struct host_set hosts;
    size_t size;
    uint8_t message[];
};

struct casting {
    struct cast *engine;
    struct address group;
    struct fanout *fanout;
    struct host_set by_udp; /* to which raw Ethernet is to be tried */
    struct late_host *hosts;
    struct late_frame *frames, **frames_end;
    struct late_cast *casts, **casts_end;
    uint64_t casts_count;
};

/* ---- what the engine asks for ---- */

static void on_unicast(void *context, uint32_t host, const uint8_t *bytes, size_t size)
{
    struct daemon *d = context;
    const struct address *ether = node_ether_path(d->node, host);
    const struct address *path = ether != NULL ? ether : node_path(d->node, host);
    if (path != NULL)
        media_send(d, path, bytes, size);
}

static void on_multicast(void *context, const struct host_set *to, const uint8_t *bytes,
                         size_t size)
{
    struct daemon *d = context;
    struct host_set by_udp = *to;
    bool by_ether = false;
    for (uint32_t host = 0; (host = host_set_next(to, host)) != 0;) {
        if (node_ether_path(d->node, host) == NULL)
            continue;
        by_ether = true;
        host_set_remove(&by_udp, host);
    }
    if (by_ether)
        media_send(d, &d->own.casting->group, bytes, size);
    if (host_set_empty(&by_udp))
        return;
    d->own.casting->by_udp = by_udp;
    fanout_add(d->own.casting->fanout, d, &by_udp, bytes, size);
}

/* What the own segment carries, since what each host's session has found out by probing is little
 * where few frames go. */
static size_t ether_bytes(const struct daemon *d)
{
    const struct ether_link *link = segment_link(d);
    return link == NULL ? CAST_DATAGRAM_BYTES_MIN : ether_datagram_bytes(link) - UDP_HEADERS;
}

static size_t on_datagram_bytes(void *context, const struct host_set *to)
{
    const struct daemon *d = context;
    size_t least = CAST_DATAGRAM_BYTES_MAX;
    for (uint32_t host = 0; (host = host_set_next(to, host)) != 0;) {
        bool by_ether = node_ether_path(d->node, host) != NULL;
        size_t size = by_ether ? ether_bytes(d) : node_datagram_bytes(d->node, host);
        least = size < least ? size : least;
    }
    return least;
}

static void on_control(void *context, uint32_t host, const uint8_t *payload, size_t size)
{
    struct daemon *d = context;
    struct frame frame = {.length = (uint32_t)size,
                          .kind = FRAME_CAST_CONTROL,
                          .source = daemon_tid(d),
                          .destination = tid_make(host, 0)};
    node_send(d->node, host, &frame, payload, loop_now_us());
}

static void cast_spread(struct daemon *d, uint32_t source, const struct control_mcast *m,
                        const struct cursor *data)
{
    uint8_t payload[SEQUENCE_BYTES + FRAME_PAYLOAD_MAX];
    size_t size = cursor_left(data);
    struct frame frame = {.length = (uint32_t)(SEQUENCE_BYTES + size),
                          .kind = FRAME_CAST_DATA,
                          .flags = m->flags,
                          .source = source};
    memcpy(payload + SEQUENCE_BYTES, data->at, size);
    for (uint16_t i = 0; i < m->count; i++) {
        struct cursor c = cursor_writer(payload, sizeof payload);
        if (tid_host(m->receivers[i].tid) != daemon_host(d))
            continue;
        struct task *to = task_find(d->tasks, m->receivers[i].tid);
        cursor_put_u64(&c, m->receivers[i].sequence);
        if ((m->flags & FRAME_FIRST) != 0)
            cursor_put_u64(&c, m->receivers[i].sequence); /* in the message header, too */
        frame.destination = m->receivers[i].tid;
        d->counters.frames_spread++;
        if (to == NULL || backlog_admit(to, &frame))
            post_send(d, &frame, payload);
    }
}

static bool on_deliver(void *context, const struct cast_message *message)
{
    struct daemon *d = context;
    struct control_mcast m;
    struct cursor c = cursor_reader(message->bytes, message->size);
    uint32_t source = cursor_get_u32(&c);
    control_get_mcast(&c, &m);
    bool first = (m.flags & FRAME_FIRST) != 0;
    if (!cursor_ok(&c) || tid_host(source) != message->sender ||
        (first && cursor_left(&c) < FRAME_MESSAGE_BYTES) ||
        cursor_left(&c) + SEQUENCE_BYTES > FRAME_PAYLOAD_MAX)
        d->counters.frames_refused++;
    else
        cast_spread(d, source, &m, &c);
    return true;
}

/* ---- life ---- */

static struct cast *engine_create(struct daemon *d)
{
    const struct cast_owner owner = {.context = d,
                                     .multicast = on_multicast,
                                     .unicast = on_unicast,
                                     .datagram_bytes = on_datagram_bytes,
                                     .control = on_control,
                                     .deliver = on_deliver};
    struct cast_config config = {.encrypt = d->node_config.encrypt,
                                 .self = *node_self(d->node),
                                 .seed = d->node_config.seed};
    memcpy(config.vm, d->node_config.vm, sizeof config.vm);
    memcpy(config.key, d->node_config.key, sizeof config.key);
    struct cast *engine = cast_create(&config, &owner);
    explicit_bzero(&config, sizeof config);
    return engine;
}

/* It begins when this host has joined; before that nothing has an effect. */
static void casting_joined(struct daemon *d)
{
    struct casting *c = calloc(1, sizeof *c);
    if (c == NULL)
        return;
    c->fanout = fanout_create();
    c->engine = c->fanout == NULL ? NULL : engine_create(d);
    if (c->engine == NULL) {
        fanout_destroy(c->fanout);
        free(c);
        return;
    }
    c->frames_end = &c->frames;
    c->casts_end = &c->casts;
    /* Locally administered, for a group, and the VM's own. */
    uint8_t key[AUTH_KEY_BYTES];
    struct address group = {.family = ADDRESS_ETHER};
    auth_derive(key, d->node_config.key, "covey cast address", d->node_config.vm,
                strlen(d->node_config.vm));
    memcpy(group.bytes, key, 6);
    group.bytes[0] = 0x03;
    c->group = group;
    if (segment_link(d) != NULL && ether_join(segment_link(d), &c->group, true) != 0)
        log_line(&d->log, LOG_ERROR, "cannot receive what is cast over raw Ethernet");
    d->own.casting = c;
    const struct host *host;
    for (size_t i = 0; (host = node_host_at(d->node, i)) != NULL; i++) {
        if (host->state == HOST_UP || host->state == HOST_SUSPECT)
            cast_host_up(c->engine, host, loop_now_us());
    }
}

static void casting_destroy(struct daemon *d)
{
    struct casting *c = d->own.casting;
    if (c == NULL)
        return;
    for (struct late_host *h; (h = c->hosts) != NULL; free(h))
        c->hosts = h->next;
    for (struct late_frame *f; (f = c->frames) != NULL; free(f))
        c->frames = f->next;
    for (struct late_cast *l; (l = c->casts) != NULL; free(l))
        c->casts = l->next;
    cast_destroy(c->engine);
    fanout_destroy(c->fanout);
    free(c);
    d->own.casting = NULL;
}

/* ---- what comes in ---- */

bool casting_on_datagram(struct daemon *d, const uint8_t *bytes, size_t size)
{
    if (!cast_is_datagram(bytes, size))
        return false;
    if (d->own.casting != NULL)
        cast_on_datagram(d->own.casting->engine, bytes, size, loop_now_us());
    part_want(d, PART_casting);
    return true;
}

static const char *casting_on_control(struct daemon *d, uint32_t source, struct cursor *payload)
{
    if (d->own.casting == NULL)
        return "this host has not joined";
    return cast_on_control(d->own.casting->engine, tid_host(source), payload->at,
                           cursor_left(payload), loop_now_us());
}

/* The other hosts of the receivers; NULL, or why they are refused. */
static const char *hosts_of(const struct daemon *d, const struct control_mcast *m, bool total,
                            struct host_set *hosts)
{
    memset(hosts, 0, sizeof *hosts);
    for (uint16_t i = 0; i < m->count; i++) {
        uint32_t tid = m->receivers[i].tid;
        if (tid_local(tid) == 0 || tid_host(tid) == 0)
            return "a receiver is no task";
        if (total != ((m->receivers[i].sequence & CONTROL_TOTAL) != 0))
            return "a sequence number of the other order";
        host_set_add(hosts, tid_host(tid));
    }
    host_set_remove(hosts, daemon_host(d));
    return NULL;
}

static int keep_cast(struct casting *c, const struct host_set *hosts, const uint8_t *message,
                     size_t size)
{
    struct late_cast *late = malloc(sizeof *late + size);
    if (late == NULL)
        return -ENOMEM;
    *late = (struct late_cast){.hosts = *hosts, .size = size};
    memcpy(late->message, message, size);
    *c->casts_end = late;
    c->casts_end = &late->next;
    c->casts_count++;
    return 0;
}

/* What was taken of a task is not dropped because there is no channel or memory for it now. */
static bool cast_must_wait(int error)
{
    return error == -EBUSY || error == -ENOMEM;
}

/* In the order in which they came: frames of one message must not overtake each other. */
static int cast_or_keep(struct casting *c, const struct host_set *hosts, const uint8_t *message,
                        size_t size)
{
    if (host_set_empty(hosts))
        return 0;
    int error =
        c->casts != NULL ? -EBUSY : cast_send(c->engine, hosts, message, size, loop_now_us());
    return cast_must_wait(error) ? keep_cast(c, hosts, message, size) : error;
}

/* `message` begins with the source in the place of the order; what is left of `data` is that of the
 * data frames. */
static int cast_fifo(struct daemon *d, const struct control_mcast *m, const struct host_set *hosts,
                     const struct cursor *message, const struct cursor *data)
{
    struct cursor c = *message;
    int error = cast_or_keep(d->own.casting, hosts, message->at, cursor_left(message));
    if (error == 0)
        cast_spread(d, cursor_get_u32(&c), m, data);
    return error;
}

const char *casting_on_cast(struct daemon *d, uint32_t source, struct cursor *payload)
{
    struct control_mcast m;
    struct host_set hosts;
    const struct cursor message = *payload; /* the order makes room for the source */
    uint32_t order = cursor_get_u32(payload);
    control_get_mcast(payload, &m);
    if (!cursor_ok(payload) || (order != 0 && order != (uint32_t)CAST_TOTAL << 24))
        return "bad payload";
    if (tid_host(source) != daemon_host(d) || d->own.casting == NULL)
        return "not from a task of this host";
    if ((m.flags & FRAME_FIRST) != 0 && cursor_left(payload) < FRAME_MESSAGE_BYTES)
        return "no message header";
    if (cursor_left(&message) > CAST_MESSAGE_MAX)
        return "too long to be cast";
    const char *refused = hosts_of(d, &m, order != 0, &hosts);
    if (refused != NULL)
        return refused;
    struct cursor head = cursor_writer(message.at, SOURCE_BYTES);
    cursor_put_u32(&head, source);
    int error = order != 0 ? cast_send_total(d->own.casting->engine, message.at,
                                             cursor_left(&message), loop_now_us())
                           : cast_fifo(d, &m, &hosts, &message, payload);
    return error == 0 ? NULL : "it cannot be cast";
}

/* ---- the way ---- */

static bool ether_reaches(struct daemon *d, uint32_t host)
{
    if (segment_link(d) == NULL)
        return false;
    enum node_ether state = node_ether_state(d->node, host);
    if (state == NODE_ETHER_CLOSED)
        node_open_ether(d->node, host, loop_now_us());
    return state == NODE_ETHER_OPEN;
}

static const char *casting_on_way(struct daemon *d, uint32_t source, struct cursor *payload)
{
    uint32_t request = cursor_get_u32(payload);
    uint16_t count = cursor_get_u16(payload);
    bool all = d->own.casting != NULL;
    for (; count > 0 && cursor_ok(payload); count--)
        all = ether_reaches(d, cursor_get_u16(payload)) && all;
    if (!cursor_done(payload))
        return "bad payload";
    struct reply reply;
    reply_begin(&reply, d, source, request);
    struct cursor c = reply_room(&reply, 1);
    cursor_put_u8(&c, all);
    reply_add(&reply, &c);
    reply_send(&reply, 0);
    return NULL;
}

/* ---- what has to wait ---- */

/* Whether so much waits to be cast that tasks must not add to it. */
static bool casting_full(const struct daemon *d)
{
    const struct casting *c = d->own.casting;
    return c != NULL && (c->casts != NULL || cast_queued(c->engine) > QUEUE_BYTES_MAX);
}

/* Whether all that was cast here in the order of its senders is where it goes. */
static bool casting_passed(const struct daemon *d)
{
    const struct casting *c = d->own.casting;
    return c == NULL ||
           (c->frames == NULL && c->casts == NULL && cast_passed(c->engine, cast_mark(c->engine)));
}

bool casting_keeps(struct daemon *d, const struct frame *frame, const uint8_t *payload)
{
    struct casting *c = d->own.casting;
    if (casting_passed(d))
        return false;
    struct late_frame *late = malloc(sizeof *late + frame->length);
    if (late == NULL)
        return false;
    *late = (struct late_frame){.mark = cast_mark(c->engine) + c->casts_count, .frame = *frame};
    memcpy(late->payload, payload, frame->length);
    *c->frames_end = late;
    c->frames_end = &late->next;
    part_want(d, PART_casting);
    return true;
}

static void frames_settle(struct daemon *d)
{
    struct casting *c = d->own.casting;
    while (c->frames != NULL && c->casts == NULL && cast_passed(c->engine, c->frames->mark)) {
        struct late_frame *late = c->frames;
        c->frames = late->next;
        if (c->frames == NULL)
            c->frames_end = &c->frames;
        node_send_behind(d->node, tid_host(late->frame.destination), &late->frame, late->payload,
                         loop_now_us());
        free(late);
    }
}

bool casting_host_event(struct daemon *d, const struct host *host, int event)
{
    struct casting *c = d->own.casting;
    if (c == NULL)
        return true;
    part_want(d, PART_casting);
    if (event == NODE_HOST_ADDED)
        cast_host_up(c->engine, host, loop_now_us());
    if (event != NODE_HOST_GONE)
        return true;
    cast_host_gone(c->engine, host->index, loop_now_us());
    cast_step(c->engine, loop_now_us());
    struct late_host *late = cast_settled(c->engine, host->index) ? NULL : malloc(sizeof *late);
    if (late == NULL)
        return true;
    late->next = c->hosts;
    late->deadline_us = loop_now_us() + FLUSHES_MAX * d->conf.fail_timeout_us;
    host_keep(&late->host, &late->room, host);
    c->hosts = late;
    return false;
}

bool casting_is_late(const struct daemon *d, uint32_t host)
{
    const struct late_host *late = d->own.casting == NULL ? NULL : d->own.casting->hosts;
    while (late != NULL && late->host.index != host)
        late = late->next;
    return late != NULL;
}

static void hosts_settle_late(struct daemon *d, uint64_t now_us)
{
    struct late_host **at = &d->own.casting->hosts;
    while (*at != NULL) {
        struct late_host *late = *at;
        bool settled = cast_settled(d->own.casting->engine, late->host.index);
        if (!settled && now_us < late->deadline_us) {
            at = &late->next;
            continue;
        }
        if (!settled)
            log_line(&d->log, LOG_ERROR, "what host %s had cast last is still not agreed on",
                     late->host.name);
        *at = late->next;
        watch_host_event(d, &late->host, NODE_HOST_GONE);
        free(late);
    }
}

static uint64_t casting_settle(struct daemon *d, uint64_t now_us)
{
    if (d->own.casting == NULL)
        return UINT64_MAX;
    struct casting *c = d->own.casting;
    struct late_cast *late;
    while ((late = c->casts) != NULL &&
           !cast_must_wait(cast_send(c->engine, &late->hosts, late->message, late->size, now_us))) {
        c->casts = late->next;
        if (c->casts == NULL)
            c->casts_end = &c->casts;
        c->casts_count--;
        free(late);
    }
    uint64_t next_us = cast_step(d->own.casting->engine, now_us);
    fanout_flush(d->own.casting->fanout, d);
    /* Hosts that a datagram went to each for itself: later ones may go as one frame. */
    struct host_set *by_udp = &d->own.casting->by_udp;
    for (uint32_t host = 0; (host = host_set_next(by_udp, host)) != 0;) {
        ether_reaches(d, host);
        host_set_remove(by_udp, host);
    }
    frames_settle(d);
    if (d->own.casting->casts != NULL && now_us + BUSY_US < next_us)
        next_us = now_us + BUSY_US;
    hosts_settle_late(d, now_us);
    for (const struct late_host *h = d->own.casting->hosts; h != NULL; h = h->next)
        next_us = h->deadline_us < next_us ? h->deadline_us : next_us;
    return next_us;
}

static const char *casting_stat(const struct daemon *d, size_t i, uint64_t *value)
{
    return d->own.casting == NULL ? NULL : cast_stat(d->own.casting->engine, i, value);
}

const struct part casting_part = {
    .name = "casting",
    .kinds = (const struct part_kind[]){{FRAME_CAST, casting_on_cast, false},
                                        {FRAME_CAST_CONTROL, casting_on_control, false},
                                        {FRAME_CAST_WAY, casting_on_way, true},
                                        {0}},
    .destroy = casting_destroy,
    .joined = casting_joined,
    .settle = casting_settle,
    .full = casting_full,
    .passed = casting_passed,
    .stat = casting_stat};
