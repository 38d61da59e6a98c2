/*
 * sniffer.c - the eyes of `covey sniff`: which captured packets are Covey's, and what they say.
 *
 *   sniff_packet.c  the layers below: which lane, from where to where
 *   sniffer.c       datagrams, on either lane, and the pieces of windows in them
 *   sniff_window.c  which window's stream the pieces belong to
 *   sniff_flow.c    TCP streams between tasks
 *   sniff_stream.c  bytes in order, and the frames in them
 *   sniff_note.c    what a frame says beyond its header
 *   sniff_hosts.c   who is who
 *
 * Daemons choose their ports, so a datagram is known by its own form: magic, version, a kind that
 * there is, the size of that kind. Nothing is authentic to somebody without keys: a line shows what
 * was on the wire, whoever put it there.
 *
 * Whether a VM encrypts is not on the wire either. A payload that is none of a window's speaks for
 * it, one that is speaks against, and the majority of a VM's payloads decides.
 *
 * All memory is bounded whatever comes: the tables of hosts, streams and VMs forget what was not
 * heard for longest, or take no more.
 */
#include "tools/wire/sniffer.h"

#include <stdlib.h>
#include <string.h>

#include "proto/member/table.h"
#include "proto/wire/control.h"
#include "proto/wire/datagram.h"
#include "proto/wire/ether.h"
#include "tools/wire/sniff_flow.h"
#include "tools/wire/sniff_hosts.h"
#include "tools/wire/sniff_note.h"
#include "tools/wire/sniff_stream.h"
#include "tools/wire/sniff_window.h"

#define VMS_MAX 32

struct verdict {
    uint32_t vm;
    uint64_t clear, refused; /* payloads that were those of a window, and that were not */
};

struct sniffer {
    uint16_t ether_type;
    sniffer_report *report;
    void *context;
    struct sniff_hosts *hosts;
    struct sniff_flows *flows;
    struct verdict verdicts[VMS_MAX];
    size_t verdict_count;
    struct sniff_windows *windows;
    struct sighting sighting; /* the one being made */
    struct sniff_frame *frames;
    size_t frame_capacity;
    uint8_t whole[DATAGRAM_BYTES_MAX]; /* what was captured, and zeros for what was not */
};

/* ---- frames and records, told by streams ---- */

static struct sniff_frame *next_frame(struct sniffer *s)
{
    size_t capacity = s->frame_capacity == 0 ? 64 : 2 * s->frame_capacity;
    if (s->sighting.frame_count == s->frame_capacity) {
        struct sniff_frame *frames = reallocarray(s->frames, capacity, sizeof *frames);
        if (frames == NULL)
            return NULL;
        s->frames = frames;
        s->frame_capacity = capacity;
    }
    return &s->frames[s->sighting.frame_count++];
}

static void on_sniffed_frame(void *context, const struct frame *frame, const uint8_t *payload,
                             size_t size)
{
    struct sniffer *s = context;
    struct sniff_frame *f = next_frame(s);
    if (frame->kind == FRAME_TABLE) {
        struct cursor c = cursor_reader(payload, size);
        struct table_head head;
        struct host_room room = {0};
        struct host host = host_in(&room);
        uint8_t flags;
        table_get_head(&c, &head);
        for (unsigned i = 0; i < head.count && cursor_ok(&c); i++) {
            bool described = table_get_row(&c, &host, &room, &flags);
            if (described && cursor_ok(&c))
                sniff_hosts_learn_row(s->hosts, s->sighting.head.vm, &host);
        }
    }
    if (frame->kind == FRAME_JOIN && s->sighting.from_host != 0) {
        struct cursor c = cursor_reader(payload, size);
        struct host_room room;
        struct host host;
        control_get_host(&c, &host, &room);
        if (cursor_done(&c)) {
            host.index = s->sighting.from_host;
            sniff_hosts_learn_row(s->hosts, s->sighting.head.vm, &host);
        }
    }
    if (f == NULL)
        return;
    f->frame = *frame;
    sniff_note(f, payload, size);
}

static void on_sniffed_record(void *context, size_t bytes)
{
    struct sniffer *s = context;
    (void)bytes;
    s->sighting.record_count++;
}

static void give_line(struct sniffer *s)
{
    struct sighting *g = &s->sighting;
    g->frames = s->frames;
    if (g->what == SNIFF_DATAGRAM) {
        g->from_name = sniff_hosts_name(s->hosts, g->head.vm, g->from_host);
        g->to_name = sniff_hosts_name(s->hosts, g->head.vm, g->to_host);
    }
    s->report(s->context, g);
}

/* ---- what a datagram says ---- */

static struct verdict *verdict_of(struct sniffer *s, uint32_t vm)
{
    for (size_t i = 0; i < s->verdict_count; i++)
        if (s->verdicts[i].vm == vm)
            return &s->verdicts[i];
    if (s->verdict_count == VMS_MAX)
        s->verdict_count--;
    struct verdict *v = &s->verdicts[s->verdict_count++];
    *v = (struct verdict){.vm = vm};
    return v;
}

static bool is_encrypted(struct sniffer *s, bool good, bool counts)
{
    struct verdict *v = verdict_of(s, s->sighting.head.vm);
    v->clear += good && counts;
    v->refused += !good && counts;
    return v->refused > v->clear;
}

static void read_data(struct sniffer *s, const struct datagram *d, const uint8_t *captured_end)
{
    struct sighting *g = &s->sighting;
    struct wire_packet *p = &g->pieces;
    const char *refusal = wire_decode(p, d->payload, d->payload_bytes);
    bool says = refusal != NULL || p->ack || p->limit || p->ping || p->stream;
    g->encrypted = is_encrypted(s, refusal == NULL, says && g->captured == g->size);
    if (g->encrypted)
        return;
    g->refusal = refusal;
    g->has_pieces = refusal == NULL;
    if (g->has_pieces && p->stream) {
        const struct sniff_stream_owner owner = {s, on_sniffed_frame, on_sniffed_record};
        struct sniff_stream *stream = sniff_windows_stream(s->windows, g, d->session);
        size_t there = p->bytes < captured_end ? (size_t)(captured_end - p->bytes) : 0;
        if (stream == NULL || there == 0)
            return;
        if (there > p->length)
            there = p->length;
        sniff_stream_feed(stream, &owner, p->offset, p->bytes, there);
        if (stream->ends.are_tids)
            g->from_task = stream->ends.from;
        g->lost = stream->broken;
        stream->broken = false;
    }
}

/* Who talks to whom: see session ids in datagram.h. */
static void read_hosts(struct sniffer *s, const struct datagram *d)
{
    struct sighting *g = &s->sighting;
    g->to_task = g->channel;
    if (g->channel != 0)
        return; /* a session between tasks has no host in its number */
    if (d->kind == DATAGRAM_HELLO || d->kind == DATAGRAM_ROLL || d->kind == DATAGRAM_CONFIRM) {
        g->from_host = d->hello.from;
        g->to_host = d->hello.to;
        if (d->hello.from <= HOST_INDEX_MAX &&
            sniff_hosts_learn_id(s->hosts, g->head.vm, d->hello.from, d->hello.from_id))
            sniff_windows_forget(s->windows, g->head.vm, d->hello.from);
        return;
    }
    g->from_host = d->kind == DATAGRAM_HERE ? d->host : session_id_peer(d->session);
    if (d->kind == DATAGRAM_WELCOME)
        g->to_host = session_id_peer(d->responder_session);
    else if (d->kind != DATAGRAM_CAST)
        g->to_host = sniff_hosts_index(s->hosts, g->head.vm, &g->to);
}

/* What was captured of a datagram, with zeros for the rest. */
static const uint8_t *whole_of(struct sniffer *s, const uint8_t *bytes, size_t captured,
                               size_t size)
{
    if (captured >= size)
        return bytes;
    memcpy(s->whole, bytes, captured);
    memset(s->whole + captured, 0, size - captured);
    return s->whole;
}

static void read_datagram(struct sniffer *s, const uint8_t *bytes, size_t captured, size_t size)
{
    struct sighting *g = &s->sighting;
    struct cursor c = cursor_reader(bytes, captured);
    struct datagram d = {0};
    g->size = size;
    g->captured = captured;
    cursor_get_u16(&c);
    g->head.version = cursor_get_u8(&c);
    cursor_get_u8(&c);
    g->head.vm = cursor_get_u32(&c);
    bytes = whole_of(s, bytes, captured, size);
    enum datagram_refusal refusal =
        cursor_ok(&c) ? datagram_decode(bytes, size, g->head.vm, &d) : DATAGRAM_SHORT;
    if (refusal == DATAGRAM_GOOD) {
        g->head.kind = d.kind;
        read_hosts(s, &d);
        if (g->channel == 0) {
            sniff_hosts_learn(s->hosts, g->head.vm, g->from_host, &g->from);
            /* these go to every address that the host may have */
            if (d.kind != DATAGRAM_HELLO && d.kind != DATAGRAM_ROLL)
                sniff_hosts_learn(s->hosts, g->head.vm, g->to_host, &g->to);
        }
        g->head.has_number = datagram_is_sealed(d.kind);
        g->head.number = d.number & ~DATAGRAM_CONTROL_NUMBER;
        g->head.reason = d.kind == DATAGRAM_REFUSE ? d.reason : 0;
        if (d.kind == DATAGRAM_DATA) {
            read_data(s, &d, bytes + captured);
        } else if (d.kind == DATAGRAM_CAST) {
            /* A fragment says whose it is even where it is encrypted: cast_wire.h. */
            struct cursor fragment = cursor_reader(d.payload, d.payload_bytes);
            g->head.has_cast = true;
            g->head.cast = d.session >> 12;
            g->encrypted = is_encrypted(s, true, false);
            g->head.cast_flags = g->encrypted ? 0 : cursor_get_u8(&fragment);
        } else if (datagram_has_target(d.kind)) {
            datagram_set_body(&d, d.payload);
            g->encrypted = is_encrypted(s, d.target <= HOST_INDEX_MAX, d.target > HOST_INDEX_MAX);
            g->head.has_target = !g->encrypted;
            g->head.target = d.target;
        }
    } else {
        static const char *const texts[] = {
            [DATAGRAM_SHORT] = "cut short",       [DATAGRAM_FOREIGN] = "not a datagram of Covey",
            [DATAGRAM_VERSION] = "other version", [DATAGRAM_VM] = "of another VM",
            [DATAGRAM_KIND] = "unknown kind",     [DATAGRAM_SIZE] = "wrong size for its kind"};
        g->refusal = texts[refusal];
    }
    give_line(s);
}

/* ---- lanes ---- */

/* What is before a datagram that takes the detour; 0: it takes none. */
static size_t detour_bytes(const uint8_t *bytes, size_t size)
{
    struct cursor c = cursor_reader(bytes, size);
    bool is_one = cursor_get_u16(&c) == DETOUR_MAGIC && cursor_get_u16(&c) == 0 && cursor_ok(&c);
    return is_one ? DETOUR_BYTES : 0;
}

static bool has_magic(const uint8_t *bytes, size_t size)
{
    size_t detour = detour_bytes(bytes, size);
    struct cursor c = cursor_reader(bytes + detour, size - detour);
    return cursor_get_u16(&c) == DATAGRAM_MAGIC && cursor_ok(&c);
}

/* Whether a datagram begins at `at` that is of the same version and VM as the first. */
static bool is_another(const uint8_t *bytes, size_t size, size_t at)
{
    const uint8_t *first = bytes + detour_bytes(bytes, size);
    const uint8_t *other = bytes + at + detour_bytes(bytes + at, size - at);
    if ((size_t)(bytes + size - other) < DATAGRAM_HEAD_BYTES)
        return false;
    return memcmp(other, first, 3) == 0 && memcmp(other + 4, first + 4, 4) == 0;
}

/* Whether one begins at every multiple of `part`. */
static bool is_cut_by(const uint8_t *bytes, size_t size, size_t part)
{
    for (size_t at = part; at + DATAGRAM_HEAD_BYTES <= size; at += part)
        if (!is_another(bytes, size, at))
            return false;
    return true;
}

/* Datagrams that the kernel was given at once (UDP_SEGMENT) are captured before they are cut: all
 * but the last have one size, which the heads betray. */
static size_t part_bytes(const uint8_t *bytes, size_t captured)
{
    for (size_t part = DATAGRAM_OVERHEAD_BYTES; part + DATAGRAM_HEAD_BYTES <= captured; part++)
        if (is_another(bytes, captured, part) && is_cut_by(bytes, captured, part))
            return part;
    return SIZE_MAX;
}

static void begin_packet(struct sniffer *s, const struct sniff_capture *capture,
                         const struct sniff_packet *p)
{
    memset(&s->sighting, 0, sizeof s->sighting);
    s->sighting.time_us = capture->time_us;
    s->sighting.lane = p->lane;
    s->sighting.from = p->from;
    s->sighting.to = p->to;
}

static void read_udp(struct sniffer *s, const struct sniff_capture *capture,
                     const struct sniff_packet *p)
{
    size_t size = p->size < DATAGRAM_BYTES_MAX ? p->size : DATAGRAM_BYTES_MAX;
    size_t captured = p->captured < size ? p->captured : size;
    if (!has_magic(p->payload, captured))
        return;
    size_t part = part_bytes(p->payload, captured);
    for (size_t at = 0; at < captured; at += part) {
        size_t left = captured - at, whole = size - at;
        begin_packet(s, capture, p);
        const uint8_t *bytes = p->payload + at;
        size_t got = left < part ? left : part;
        size_t detour = detour_bytes(bytes, got);
        s->sighting.detour = detour > 0;
        read_datagram(s, bytes + detour, got - detour, (whole < part ? whole : part) - detour);
        if (part == SIZE_MAX)
            return;
    }
}

/* The head of a frame that was not captured whole; false: nor was its head, or it is no good. */
static bool read_cut_ether(const struct sniff_packet *p, struct ether *ether)
{
    struct cursor c = cursor_reader(p->payload, p->captured);
    cursor_get_u16(&c);
    ether->size = cursor_get_u16(&c);
    ether->channel = cursor_get_u32(&c);
    ether->datagram = c.at;
    return cursor_ok(&c) && cursor_left(&c) < ether->size;
}

static void read_ether(struct sniffer *s, const struct sniff_capture *capture,
                       const struct sniff_packet *p)
{
    struct cursor c = cursor_reader(p->payload, p->captured);
    struct ether ether = {0};
    const char *refusal = ether_get(&c, &ether);
    size_t captured;
    begin_packet(s, capture, p);
    if (refusal != NULL && p->captured == p->size) {
        s->sighting.size = s->sighting.captured = p->size;
        s->sighting.refusal = refusal;
        give_line(s);
        return;
    }
    if (refusal != NULL && !read_cut_ether(p, &ether))
        return;
    captured = p->captured - ETHER_HEADER_BYTES;
    s->sighting.channel = ether.channel;
    read_datagram(s, ether.datagram, captured < ether.size ? captured : ether.size, ether.size);
}

void sniffer_packet(struct sniffer *s, const struct sniff_capture *capture)
{
    struct sniff_packet packet;
    if (!sniff_packet_read(&packet, capture, s->ether_type))
        return;
    if (packet.lane == SNIFF_UDP) {
        read_udp(s, capture, &packet);
    } else if (packet.lane == SNIFF_ETHER) {
        read_ether(s, capture, &packet);
    } else {
        const struct sniff_stream_owner owner = {s, on_sniffed_frame, on_sniffed_record};
        begin_packet(s, capture, &packet);
        s->sighting.size = packet.size;
        s->sighting.captured = packet.captured;
        if (sniff_flows_segment(s->flows, &packet, &owner, &s->sighting))
            give_line(s);
    }
}

/* ---- creation ---- */

struct sniffer *sniffer_create(uint16_t ether_type, sniffer_report *report, void *context)
{
    struct sniffer *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->ether_type = ether_type;
    s->report = report;
    s->context = context;
    s->hosts = sniff_hosts_create();
    s->flows = sniff_flows_create();
    s->windows = sniff_windows_create();
    if (s->hosts != NULL && s->flows != NULL && s->windows != NULL)
        return s;
    sniffer_destroy(s);
    return NULL;
}

void sniffer_destroy(struct sniffer *s)
{
    if (s == NULL)
        return;
    sniff_windows_destroy(s->windows);
    sniff_hosts_destroy(s->hosts);
    sniff_flows_destroy(s->flows);
    free(s->frames);
    free(s);
}

void sniffer_know(struct sniffer *s, const struct address *address, uint32_t index,
                  const char *name)
{
    sniff_hosts_know(s->hosts, address, index, name);
}

bool sniffer_knows(const struct sniffer *s, const char *host)
{
    return sniff_hosts_has(s->hosts, host);
}
