/* links: proto/wire/host.c proto/wire/contention_config.c tools/wire/sniffer.c tools/wire/sniff_packet.c tools/wire/sniff_stream.c tools/wire/sniff_flow.c tools/wire/sniff_hosts.c tools/wire/sniff_window.c tools/wire/sniff_note.c tools/wire/sniff_filter.c tools/wire/sniff_text.c tools/wire/sniff_json.c daemon/base/failure.c proto/wire/address.c proto/auth/auth.c cipher/cipher*.c proto/wire/command.c proto/wire/control.c proto/contention/contention.c proto/wire/cursor.c proto/wire/datagram.c proto/wire/ether.c proto/wire/frame.c proto/raft/raft_wire.c proto/auth/record.c proto/auth/stream_auth.c proto/member/table.c proto/window/window_wire.c */
/*
 * sniff_test.c - what covey sniff makes of packets: every link type, hosts and their names, streams
 * with holes and doubles, datagrams cut by the kernel, encryption, TCP streams, filters and lines.
 */
#include <CUnit/CUnit.h>
#include <string.h>

#include "proto/auth/record.h"
#include "proto/wire/control.h"
#include "proto/wire/datagram.h"
#include "proto/wire/ether.h"
#include "tests/unit/runner.h"
#include "tools/wire/sniff_filter.h"
#include "tools/wire/sniff_print.h"

#define VM 0x12345678
#define SEEN_MAX 64
#define ETHERNET 1
#define RAW_IP 101

/* What was reported, kept beyond the report. */
struct seen {
    struct sighting g;
    struct sniff_frame frames[8];
    char from_name[64];
    char line[1024];
};

static struct seen seen[SEEN_MAX];
static size_t seen_count;
static struct sniffer *sniffer;

static void on_sighting(void *context, const struct sighting *g)
{
    struct seen *s = &seen[seen_count];
    FILE *out;

    (void)context;
    if (seen_count == SEEN_MAX)
        return;
    seen_count++;
    s->g = *g;
    for (size_t i = 0; i < g->frame_count && i < 8; i++)
        s->frames[i] = g->frames[i];
    snprintf(s->from_name, sizeof s->from_name, "%s", g->from_name ? g->from_name : "");
    memset(s->line, 0, sizeof s->line);
    out = fmemopen(s->line, sizeof s->line - 1, "w");
    sniff_print_text(out, g);
    fclose(out);
}

static void begin(void)
{
    sniffer = sniffer_create(ETHER_TYPE_DEFAULT, on_sighting, NULL);
    seen_count = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(sniffer);
}

static void end(void)
{
    sniffer_destroy(sniffer);
}

/* ---- making packets ---- */

struct bytes {
    uint8_t at[70000];
    struct cursor c;
};

static void bytes_begin(struct bytes *b)
{
    b->c = cursor_writer(b->at, sizeof b->at);
}

static size_t bytes_size(const struct bytes *b)
{
    CU_ASSERT(cursor_ok(&b->c));
    return (size_t)(b->c.at - b->at);
}

static void put_ip4(struct cursor *c, uint8_t protocol, unsigned from, unsigned to, size_t size)
{
    cursor_put_u8(c, 0x45);
    cursor_put_u8(c, 0);
    cursor_put_u16(c, (uint16_t)(20 + size));
    cursor_put_u32(c, 0);
    cursor_put_u8(c, 64);
    cursor_put_u8(c, protocol);
    cursor_put_u16(c, 0);
    cursor_put_u32(c, 0x0a000000 + from);
    cursor_put_u32(c, 0x0a000000 + to);
}

/* Host n has the address 10.0.0.n and port 7000 + n. */
static void put_udp(struct cursor *c, unsigned from, unsigned to, size_t size)
{
    cursor_put_u16(c, (uint16_t)(7000 + from));
    cursor_put_u16(c, (uint16_t)(7000 + to));
    cursor_put_u16(c, (uint16_t)(8 + size));
    cursor_put_u16(c, 0);
}

static void capture_part(const uint8_t *bytes, size_t captured, size_t size, int link)
{
    struct sniff_capture capture = {
        .time_us = 1000000, .link = link, .bytes = bytes, .captured = captured, .size = size};

    sniffer_packet(sniffer, &capture);
}

static void send_udp(unsigned from, unsigned to, const uint8_t *datagram, size_t size)
{
    static struct bytes b;

    bytes_begin(&b);
    put_ip4(&b.c, 17, from, to, 8 + size);
    put_udp(&b.c, from, to, size);
    cursor_put_bytes(&b.c, datagram, size);
    capture_part(b.at, bytes_size(&b), bytes_size(&b), RAW_IP);
}

static size_t make_sealed(uint8_t *bytes, uint8_t kind, unsigned from, uint64_t number,
                          const uint8_t *payload, size_t size)
{
    static const uint8_t tag[AUTH_TAG_BYTES] = {7};
    struct cursor c = cursor_writer(bytes, DATAGRAM_BYTES_MAX);

    datagram_put_sealed(&c, kind, VM, session_id_make(from, 5), number);
    cursor_put_bytes(&c, payload, size);
    cursor_put_bytes(&c, tag, sizeof tag);
    return (size_t)(c.at - bytes);
}

/* A packet of a window with bytes of its stream. */
static void send_stream(unsigned from, unsigned to, uint64_t offset, const uint8_t *bytes,
                        size_t size)
{
    static uint8_t payload[DATAGRAM_BYTES_MAX], datagram[DATAGRAM_BYTES_MAX];
    struct cursor c = cursor_writer(payload, sizeof payload);

    wire_put_stream(&c, offset, size);
    cursor_put_bytes(&c, bytes, size);
    size = make_sealed(datagram, DATAGRAM_DATA, from, offset, payload, (size_t)(c.at - payload));
    send_udp(from, to, datagram, size);
}

static size_t make_ping(uint8_t *bytes)
{
    return make_sealed(bytes, DATAGRAM_PING, 1, DATAGRAM_CONTROL_NUMBER | 3, NULL, 0);
}

static size_t put_frame(uint8_t *bytes, uint8_t kind, uint8_t flags, uint32_t length)
{
    struct frame frame = {.length = length,
                          .kind = kind,
                          .flags = flags,
                          .source = tid_make(1, 1),
                          .destination = tid_make(2, 1)};

    frame_encode(&frame, bytes);
    memset(bytes + FRAME_HEADER_BYTES, 0xee, length);
    return FRAME_HEADER_BYTES + length;
}

/* A message in one frame. */
static size_t put_message(uint8_t *bytes, int32_t tag, uint32_t size)
{
    struct message_header header = {
        .size = size, .tag = tag, .representation = REPRESENTATION_LITTLE};
    size_t total =
        put_frame(bytes, FRAME_DATA, FRAME_FIRST | FRAME_LAST, FRAME_MESSAGE_BYTES + size);

    message_header_encode(&header, bytes + FRAME_HEADER_BYTES);
    return total;
}

/* ---- links ---- */

static bool is_ping(const struct seen *s)
{
    return s->g.head.kind == DATAGRAM_PING && s->g.head.number == 3 && s->g.from_host == 1 &&
           s->g.head.vm == VM && s->g.size == DATAGRAM_OVERHEAD_BYTES;
}

static void expect_ping(struct bytes *b, int link, enum sniff_lane lane)
{
    size_t size = bytes_size(b);

    seen_count = 0;
    capture_part(b->at, size, size, link);
    CU_ASSERT_EQUAL_FATAL(seen_count, 1);
    CU_ASSERT(is_ping(&seen[0]));
    CU_ASSERT_EQUAL(seen[0].g.lane, lane);
    for (size_t cut = 0; cut < size; cut++) /* and cut anywhere, it is shown cut or not at all */
        capture_part(b->at, cut, size, link);
    for (size_t i = 1; i < seen_count; i++)
        CU_ASSERT(seen[i].g.captured < seen[i].g.size);
}

static void put_udp_ping(struct cursor *c)
{
    uint8_t ping[64];
    size_t size = make_ping(ping);

    put_ip4(c, 17, 1, 2, 8 + size);
    put_udp(c, 1, 2, size);
    cursor_put_bytes(c, ping, size);
}

static void put_macs(struct cursor *c)
{
    static const uint8_t macs[12] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1};

    cursor_put_bytes(c, macs, sizeof macs);
}

static void ethernet_and_vlan(void)
{
    static const uint16_t tags[2] = {0x88a8, 0x8100};
    static struct bytes b;

    begin();
    for (size_t n = 0; n <= 2; n++) {
        bytes_begin(&b);
        put_macs(&b.c);
        for (size_t i = 2 - n; i < 2; i++) {
            cursor_put_u16(&b.c, tags[i]);
            cursor_put_u16(&b.c, 5);
        }
        cursor_put_u16(&b.c, 0x0800);
        put_udp_ping(&b.c);
        cursor_put_u64(&b.c, 0); /* padding */
        seen_count = 0;
        capture_part(b.at, bytes_size(&b), bytes_size(&b), ETHERNET);
        CU_ASSERT_EQUAL_FATAL(seen_count, 1);
        CU_ASSERT(is_ping(&seen[0]));
    }
    end();
}

static void frames_of_ethernet(void)
{
    static struct bytes b;
    uint8_t ping[64];
    struct ether ether = {.size = (uint16_t)make_ping(ping)};

    begin();
    bytes_begin(&b);
    put_macs(&b.c);
    cursor_put_u16(&b.c, ETHER_TYPE_DEFAULT);
    ether_put(&b.c, &ether);
    cursor_put_bytes(&b.c, ping, ether.size);
    expect_ping(&b, ETHERNET, SNIFF_ETHER);
    CU_ASSERT(strstr(seen[0].line, "02:00:00:00:00:01 > 02:00:00:00:00:02") != NULL);
    b.at[ETHER_LINK_BYTES + 1] = 9; /* reserved */
    seen_count = 0;
    capture_part(b.at, bytes_size(&b), bytes_size(&b), ETHERNET);
    CU_ASSERT_EQUAL_FATAL(seen_count, 1);
    CU_ASSERT_PTR_NOT_NULL(seen[0].g.refusal);
    end();
}

static void cooked_forms(void)
{
    static struct bytes b;

    begin();
    bytes_begin(&b);
    cursor_put_u32(&b.c, 1);
    cursor_put_u16(&b.c, 6);
    cursor_put_u64(&b.c, UINT64_C(0x0200000000010000));
    cursor_put_u16(&b.c, 0x0800);
    put_udp_ping(&b.c);
    expect_ping(&b, 113, SNIFF_UDP);
    bytes_begin(&b);
    cursor_put_u16(&b.c, 0x0800);
    cursor_put_u16(&b.c, 0);
    cursor_put_u32(&b.c, 3);
    cursor_put_u16(&b.c, 1);
    cursor_put_u8(&b.c, 0);
    cursor_put_u8(&b.c, 6);
    cursor_put_u64(&b.c, UINT64_C(0x0200000000010000));
    put_udp_ping(&b.c);
    expect_ping(&b, 276, SNIFF_UDP);
    end();
}

static void loopback_and_raw(void)
{
    static struct bytes b;

    begin();
    bytes_begin(&b);
    cursor_put_u32(&b.c, 2);
    put_udp_ping(&b.c);
    expect_ping(&b, 0, SNIFF_UDP);
    expect_ping(&b, 108, SNIFF_UDP);
    bytes_begin(&b);
    put_udp_ping(&b.c);
    expect_ping(&b, RAW_IP, SNIFF_UDP);
    expect_ping(&b, 12, SNIFF_UDP);
    CU_ASSERT(strstr(seen[0].line, " udp 10.0.0.1:7001 > 10.0.0.2:7002 (1)>?") != NULL);
    CU_ASSERT(sniff_packet_can(RAW_IP) && !sniff_packet_can(105));
    end();
}

static bool passes(int (*add)(struct sniff_filter *, const char *, struct failure *),
                   const char *text)
{
    struct sniff_filter filter = {.host_count = 0};
    struct failure why;

    CU_ASSERT_EQUAL(add(&filter, text, &why), 0);
    seen[0].g.frames = seen[0].frames;
    return sniff_filter_passes(&filter, &seen[0].g);
}

static void ip6_with_extensions(void)
{
    static struct bytes b;
    uint8_t ping[64];
    size_t size = make_ping(ping);

    begin();
    bytes_begin(&b);
    cursor_put_u32(&b.c, 0x60000000);
    cursor_put_u16(&b.c, (uint16_t)(16 + 8 + size));
    cursor_put_u8(&b.c, 60); /* destination options, then a fragment that is the whole */
    cursor_put_u8(&b.c, 64);
    for (int i = 0; i < 2; i++) {
        cursor_put_u64(&b.c, UINT64_C(0xfd77) << 48);
        cursor_put_u64(&b.c, (uint64_t)i + 1);
    }
    cursor_put_u8(&b.c, 44);
    cursor_put_u8(&b.c, 0);
    cursor_put_u16(&b.c, 0);
    cursor_put_u32(&b.c, 0);
    cursor_put_u8(&b.c, 17);
    cursor_put_u8(&b.c, 0);
    cursor_put_u16(&b.c, 0);
    cursor_put_u32(&b.c, 99);
    put_udp(&b.c, 1, 2, size);
    cursor_put_bytes(&b.c, ping, size);
    expect_ping(&b, RAW_IP, SNIFF_UDP);
    CU_ASSERT(strstr(seen[0].line, "[fd77::1]:7001 > [fd77::2]:7002") != NULL);
    CU_ASSERT(passes(sniff_filter_add_host, "fd77::1"));
    CU_ASSERT(passes(sniff_filter_add_host, "[fd77::2]:7002"));
    CU_ASSERT(!passes(sniff_filter_add_host, "fd77::3"));
    end();
}

/* A datagram that is shorter than the packet says so itself. */
static void udp_shorter_than_ip(void)
{
    static struct bytes b;
    uint8_t ping[64];
    size_t size = make_ping(ping);

    begin();
    bytes_begin(&b);
    put_ip4(&b.c, 17, 1, 2, 8 + size + 4);
    put_udp(&b.c, 1, 2, size);
    cursor_put_bytes(&b.c, ping, size);
    cursor_put_u32(&b.c, 0);
    capture_part(b.at, bytes_size(&b), bytes_size(&b), RAW_IP);
    CU_ASSERT(seen_count == 1 && is_ping(&seen[0]));
    end();
}

static void later_fragments_are_passed_over(void)
{
    static struct bytes b;

    begin();
    bytes_begin(&b);
    put_udp_ping(&b.c);
    b.at[7] = 1; /* fragment offset */
    capture_part(b.at, bytes_size(&b), bytes_size(&b), RAW_IP);
    CU_ASSERT_EQUAL(seen_count, 0);
    end();
}

static void what_the_kernel_cuts(void)
{
    static uint8_t many[4096];
    uint8_t payload[100] = {0};
    size_t size = 0;

    begin();
    for (unsigned i = 0; i < 4; i++) /* the last is shorter */
        size += make_sealed(many + size, DATAGRAM_DATA, 1, i, payload, i < 3 ? 100 : 10);
    send_udp(1, 2, many, size);
    CU_ASSERT_EQUAL_FATAL(seen_count, 4);
    for (unsigned i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(seen[i].g.head.number, i);
    CU_ASSERT_EQUAL(seen[3].g.size, DATAGRAM_OVERHEAD_BYTES + 10);
    end();
}

/* ---- what takes the detour of raw Ethernet ---- */

static size_t put_detour(uint8_t *bytes)
{
    struct cursor c = cursor_writer(bytes, DETOUR_BYTES);

    cursor_put_u16(&c, DETOUR_MAGIC);
    cursor_put_u16(&c, 0);
    return DETOUR_BYTES;
}

static void datagrams_that_take_the_detour(void)
{
    static struct bytes b;
    uint8_t ping[64];
    size_t size = put_detour(ping) + make_ping(ping + DETOUR_BYTES);

    begin();
    bytes_begin(&b);
    put_ip4(&b.c, 17, 1, 2, 8 + size);
    put_udp(&b.c, 1, 2, size);
    cursor_put_bytes(&b.c, ping, size);
    expect_ping(&b, RAW_IP, SNIFF_UDP);
    CU_ASSERT(seen[0].g.detour);
    CU_ASSERT_PTR_NOT_NULL(strstr(seen[0].line, "ping #3 36 bytes detour"));
    seen_count = 0;
    ping[3] = 1; /* not ours: passed over */
    send_udp(1, 2, ping, size);
    put_detour(ping);
    put_detour(ping + DETOUR_BYTES);
    send_udp(1, 2, ping, size);
    CU_ASSERT_EQUAL(seen_count, 0);
    end();
}

/* The kernel was given them at once with others. */
static void detours_that_the_kernel_cuts(void)
{
    static uint8_t many[4096];
    uint8_t payload[104] = {0};
    size_t size = 0;

    begin();
    for (unsigned i = 0; i < 6; i++) {
        bool detour = i % 3 != 0;
        size_t part = detour ? 100 : 104;

        size += detour ? put_detour(many + size) : 0;
        size += make_sealed(many + size, DATAGRAM_DATA, 1, i, payload, i < 5 ? part : 10);
    }
    for (unsigned first = 0; first < 2; first++) { /* the first is one or is none */
        size_t skip = first * (DATAGRAM_OVERHEAD_BYTES + 104);

        seen_count = 0;
        send_udp(1, 2, many + skip, size - skip);
        CU_ASSERT_EQUAL_FATAL(seen_count, 6 - first);
        for (unsigned i = 0; i < seen_count; i++) {
            CU_ASSERT_EQUAL(seen[i].g.head.number, i + first);
            CU_ASSERT_EQUAL(seen[i].g.detour, (i + first) % 3 != 0);
        }
    }
    CU_ASSERT_EQUAL(seen[4].g.size, DATAGRAM_OVERHEAD_BYTES + 10);
    end();
}

static void send_ether(uint8_t from, uint8_t to, const uint8_t *datagram, size_t size)
{
    static struct bytes b;
    struct ether ether = {.size = (uint16_t)size};
    const uint8_t macs[12] = {2, 0, 0, 0, 0, to, 2, 0, 0, 0, 0, from};

    bytes_begin(&b);
    cursor_put_bytes(&b.c, macs, sizeof macs);
    cursor_put_u16(&b.c, ETHER_TYPE_DEFAULT);
    ether_put(&b.c, &ether);
    cursor_put_bytes(&b.c, datagram, size);
    capture_part(b.at, bytes_size(&b), bytes_size(&b), ETHERNET);
}

/* A frame that begins over raw Ethernet and ends on the detour is one frame. */
static void a_stream_that_takes_the_detour(void)
{
    static uint8_t stream[1000], payload[1000], datagram[1200];
    size_t at = put_message(stream, 1, 100) - 50, end_at = put_message(stream + at + 50, 2, 100);

    begin();
    for (unsigned from = 1; from <= 2; from++) { /* who is who */
        size_t size = make_sealed(datagram, DATAGRAM_PING, from, DATAGRAM_CONTROL_NUMBER, NULL, 0);
        send_ether((uint8_t)from, (uint8_t)(3 - from), datagram, size);
        send_udp(from, 3 - from, datagram, size);
    }
    for (unsigned i = 0; i < 2; i++) {
        size_t offset = i * at, bytes = i == 0 ? at : 50 + end_at;
        struct cursor c = cursor_writer(payload, sizeof payload);
        wire_put_stream(&c, offset, bytes);
        cursor_put_bytes(&c, stream + offset, bytes);
        size_t head = i == 0 ? 0 : put_detour(datagram);
        size_t size = head + make_sealed(datagram + head, DATAGRAM_DATA, 1, i, payload,
                                         (size_t)(c.at - payload));
        if (i == 0)
            send_ether(1, 2, datagram, size);
        else
            send_udp(1, 2, datagram, size);
    }
    CU_ASSERT_EQUAL_FATAL(seen_count, 6);
    CU_ASSERT(seen[4].g.frame_count == 1 && seen[4].frames[0].message.tag == 1);
    CU_ASSERT(seen[5].g.frame_count == 1 && seen[5].frames[0].message.tag == 2);
    CU_ASSERT(!seen[5].g.lost && seen[5].g.detour);
    end();
}

/* What tasks would have sent straight. */
static void detour_frames(void)
{
    uint8_t frame[200];
    size_t size = put_frame(frame, FRAME_DETOUR, 0, 60);
    struct cursor c = cursor_writer(frame + FRAME_HEADER_BYTES, 12);

    begin();
    cursor_put_u32(&c, 0xabc);
    cursor_put_u64(&c, 77);
    send_stream(1, 2, 0, frame, size);
    CU_ASSERT_EQUAL_FATAL(seen[0].g.frame_count, 1);
    CU_ASSERT_STRING_EQUAL(seen[0].frames[0].note, "#77 of session abc");
    end();
}

static void foreign_datagrams(void)
{
    uint8_t ping[64];
    size_t size = make_ping(ping);

    begin();
    ping[0] = 0; /* not ours: passed over */
    send_udp(1, 2, ping, size);
    CU_ASSERT_EQUAL(seen_count, 0);
    make_ping(ping);
    ping[2]++; /* another version, an unknown kind, a wrong size: shown as such */
    send_udp(1, 2, ping, size);
    make_ping(ping);
    ping[3] = 99;
    send_udp(1, 2, ping, size);
    make_ping(ping);
    send_udp(1, 2, ping, size + 1);
    CU_ASSERT_EQUAL_FATAL(seen_count, 3);
    for (size_t i = 0; i < 3; i++)
        CU_ASSERT_PTR_NOT_NULL(seen[i].g.refusal);
    end();
}

/* ---- hosts ---- */

static void hosts_get_their_names(void)
{
    static uint8_t row[1024];
    uint8_t frame[1200], ping[64];
    struct cursor c = cursor_writer(row, sizeof row);
    struct host host = {.index = 1, .state = HOST_JOINING, .name = "anne\033", .arch = ""};
    struct frame head = {
        .kind = FRAME_JOIN, .source = tid_make(1, 0), .destination = tid_make(2, 0)};

    begin();
    control_put_host(&c, &host);
    head.length = (uint32_t)(c.at - row);
    frame_encode(&head, frame);
    memcpy(frame + FRAME_HEADER_BYTES, row, head.length);
    send_stream(1, 2, 0, frame, FRAME_HEADER_BYTES + head.length);
    make_ping(ping);
    send_udp(1, 2, ping, DATAGRAM_OVERHEAD_BYTES);
    CU_ASSERT_EQUAL_FATAL(seen_count, 2);
    CU_ASSERT_STRING_EQUAL(seen[1].from_name, "anne\033");
    CU_ASSERT(strstr(seen[1].line, "anne?(1)>") != NULL);
    send_stream(2, 1, 0, frame, 1); /* host 2 speaks: its address is known, and whom it answers */
    CU_ASSERT_EQUAL(seen[2].g.to_host, 1);
    end();
}

static void hosts_that_are_known(void)
{
    struct address address = {
        .family = ADDRESS_IPV4, .size = 6, .bytes = {10, 0, 0, 1, 0x1b, 0x59}};
    uint8_t ping[64];

    begin();
    sniffer_know(sniffer, &address, 1, "bert");
    make_ping(ping);
    send_udp(1, 2, ping, DATAGRAM_OVERHEAD_BYTES);
    CU_ASSERT_EQUAL_FATAL(seen_count, 1);
    CU_ASSERT_STRING_EQUAL(seen[0].from_name, "bert");
    end();
}

/* ---- streams ---- */

static unsigned messages(void)
{
    unsigned count = 0;

    for (size_t i = 0; i < seen_count; i++)
        for (size_t k = 0; k < seen[i].g.frame_count && k < 8; k++)
            count += seen[i].frames[k].has_message;
    return count;
}

static void streams_in_pieces(void)
{
    static uint8_t stream[4096];
    size_t size = 0;

    begin();
    for (int i = 0; i < 3; i++)
        size += put_message(stream + size, i, 500);
    for (size_t at = 0; at < size; at += 100) /* every piece twice, and overlapping */
        for (int twice = 0; twice < 2; twice++)
            send_stream(1, 2, at, stream + at, size - at < 130 ? size - at : 130);
    CU_ASSERT_EQUAL(messages(), 3);
    end();
}

static void streams_out_of_order(void)
{
    static uint8_t stream[4096];
    size_t size = 0;

    begin();
    for (int i = 0; i < 4; i++)
        size += put_message(stream + size, i, 20);
    send_stream(1, 2, 0, stream, 4);
    for (size_t at = size; at > 4; at -= 8)
        send_stream(1, 2, at - 8, stream + at - 8, 8);
    CU_ASSERT_EQUAL(messages(), 4);
    for (size_t k = 0; k < 4; k++) /* all at once, in their order */
        CU_ASSERT_EQUAL(seen[seen_count - 1].frames[k].message.tag, (int32_t)k);
    end();
}

static void holes_in_payloads_matter_not(void)
{
    static uint8_t stream[8192];
    size_t size = put_message(stream, 1, 4000), next = put_message(stream + size, 2, 10);

    begin();
    send_stream(1, 2, 0, stream, 100);
    send_stream(1, 2, size, stream + size, next);
    CU_ASSERT_EQUAL(messages(), 2);
    end();
}

static void streams_are_taken_up_again(void)
{
    static uint8_t message[600];
    size_t size = put_message(message, 7, 500);

    begin();
    send_stream(1, 2, 1000000, message, size); /* the capture began in the middle */
    send_stream(1, 2, 1000000 + size, message, size);
    CU_ASSERT_EQUAL(messages(), 2);
    for (unsigned i = 0; i < 700; i++) /* a piece was not captured */
        send_stream(1, 2, 2000000 + i * size, message, size);
    CU_ASSERT_EQUAL(seen_count, SEEN_MAX);
    seen_count = 0;
    send_stream(1, 2, 3000000, message, size);
    send_stream(1, 2, 2000000 + 700 * size, message, size);
    CU_ASSERT(messages() >= 1);
    end();
}

static void nonsense_in_a_stream(void)
{
    static const uint8_t nonsense[64] = {0xff, 0xff, 0xff, 0xff};
    static uint8_t message[600];
    size_t size = put_message(message, 7, 100);

    begin();
    send_stream(1, 2, 0, nonsense, sizeof nonsense);
    CU_ASSERT(seen[0].g.lost);
    send_stream(1, 2, 64, message, size);
    CU_ASSERT_EQUAL(messages(), 1);
    CU_ASSERT_FALSE(seen[1].g.lost);
    end();
}

static void what_is_encrypted(void)
{
    static uint8_t noise[300], datagram[512];
    uint8_t target[4] = {0, 0, 0, 9};

    begin();
    for (uint8_t i = 0; i < 20; i++) {
        memset(noise, 0x80 + i, sizeof noise);
        send_udp(1, 2, datagram, make_sealed(datagram, DATAGRAM_DATA, 1, i, noise, sizeof noise));
    }
    for (size_t i = 0; i < seen_count; i++)
        CU_ASSERT(seen[i].g.encrypted && !seen[i].g.has_pieces && seen[i].g.refusal == NULL);
    send_udp(1, 2, datagram, make_sealed(datagram, DATAGRAM_PROBE, 1, 1, target, 4));
    CU_ASSERT(seen[20].g.encrypted && !seen[20].g.head.has_target);
    CU_ASSERT(strstr(seen[20].line, "probe #1 40 bytes encrypted\n") != NULL);
    end();
    begin();
    send_udp(1, 2, datagram, make_sealed(datagram, DATAGRAM_PROBE, 1, 1, target, 4));
    CU_ASSERT(seen[0].g.head.has_target && seen[0].g.head.target == 9);
    end();
}

/* In a VM that was seen to speak in the clear, what is none is refused and says why. */
static void what_is_malformed(void)
{
    static uint8_t noise[300], datagram[512];

    begin();
    memset(noise, 0x99, sizeof noise);
    send_stream(1, 2, 0, noise, 10);
    send_udp(1, 2, datagram, make_sealed(datagram, DATAGRAM_DATA, 1, 7, noise, sizeof noise));
    CU_ASSERT(seen[1].g.refusal != NULL && !seen[1].g.encrypted);
    end();
}

/* ---- tcp ---- */

static void send_tcp(bool forth, uint32_t sequence, uint32_t acknowledged, const uint8_t *bytes,
                     size_t size)
{
    static struct bytes b;

    bytes_begin(&b);
    put_ip4(&b.c, 6, forth ? 1 : 2, forth ? 2 : 1, 20 + size);
    cursor_put_u16(&b.c, forth ? 5001 : 5002);
    cursor_put_u16(&b.c, forth ? 5002 : 5001);
    cursor_put_u32(&b.c, sequence);
    cursor_put_u32(&b.c, acknowledged);
    cursor_put_u16(&b.c, 0x5010);
    cursor_put_u16(&b.c, 1000);
    cursor_put_u32(&b.c, 0);
    cursor_put_bytes(&b.c, bytes, size);
    capture_part(b.at, bytes_size(&b), bytes_size(&b), RAW_IP);
}

#define FIRST 0xffffffd0u /* a sequence number that soon wraps */

static void shake_hands(void)
{
    uint8_t hello[STREAM_HELLO_BYTES] = {'C', 'O', 'V', 'Y', STREAM_VERSION}, zero[64] = {0};
    struct cursor c = cursor_writer(hello + 8, 8);

    cursor_put_u32(&c, tid_make(1, 1));
    cursor_put_u32(&c, tid_make(2, 1));
    send_tcp(true, FIRST, 77, hello, sizeof hello);
    send_tcp(false, 77, FIRST + STREAM_HELLO_BYTES, zero, STREAM_CHALLENGE_BYTES);
    send_tcp(true, FIRST + STREAM_HELLO_BYTES, 117, zero, STREAM_PROOF_BYTES);
}

static void tcp_streams(void)
{
    uint8_t message[600];
    size_t size = put_message(message, 7, 500);
    uint32_t at = FIRST + STREAM_HELLO_BYTES + STREAM_PROOF_BYTES;

    begin();
    send_tcp(true, 1, 1, (const uint8_t *)"GET / HTTP/1.1\r\n\r\n0123456789", 28);
    CU_ASSERT_EQUAL(seen_count, 0);
    shake_hands();
    CU_ASSERT_EQUAL_FATAL(seen_count, 3);
    CU_ASSERT_EQUAL(seen[0].g.what, SNIFF_STREAM_HELLO);
    CU_ASSERT_EQUAL(seen[1].g.what, SNIFF_STREAM_CHALLENGE);
    CU_ASSERT_EQUAL(seen[2].g.what, SNIFF_STREAM_PROOF);
    CU_ASSERT(seen[1].g.from_task == tid_make(2, 1) && seen[1].g.to_task == tid_make(1, 1));
    send_tcp(true, at, 117, message, 300);
    send_tcp(true, at + 300, 117, message + 300, size - 300);
    send_tcp(true, at, 117, message, 300);
    send_tcp(true, at + (uint32_t)size, 117, message, size);
    CU_ASSERT_EQUAL(messages(), 2);
    CU_ASSERT(seen[5].g.again && !seen[6].g.again && !seen[6].g.encrypted);
    shake_hands(); /* its segments came again: nothing begins anew */
    CU_ASSERT(seen[7].g.again && seen[8].g.again && seen[9].g.again);
    send_tcp(true, at + 2 * (uint32_t)size, 117, message, size);
    CU_ASSERT_EQUAL(messages(), 3);
    end();
}

static size_t put_brief(uint8_t *at, int tag, uint16_t size)
{
    const struct brief brief = {
        .type = 3, .representation = REPRESENTATION_LITTLE, .size = size, .tag = tag};

    brief_encode(&brief, at);
    memset(at + FRAME_HEADER_BYTES, 0xee, size);
    return FRAME_HEADER_BYTES + size;
}

/* They are shown as the frames that they stand for; after a hole the stream is taken up where
 * messages fill a piece. */
static void tcp_streams_of_brief_messages(void)
{
    uint8_t bytes[600];
    size_t size = put_brief(bytes, 7, 24), both = size + put_brief(bytes + size, -8, 240);
    uint32_t at = FIRST + STREAM_HELLO_BYTES + STREAM_PROOF_BYTES;

    begin();
    shake_hands();
    send_tcp(true, at, 117, bytes, both);
    CU_ASSERT_EQUAL_FATAL(messages(), 2);
    CU_ASSERT_EQUAL(seen[3].frames[0].message.tag, 7);
    CU_ASSERT_EQUAL(seen[3].frames[0].message.size, FRAME_ITEM_BYTES + 24);
    CU_ASSERT_EQUAL(seen[3].frames[1].message.tag, -8);
    CU_ASSERT_EQUAL(seen[3].frames[1].frame.source, tid_make(1, 1));
    CU_ASSERT_EQUAL(seen[3].frames[1].frame.destination, tid_make(2, 1));
    at += (uint32_t)both;
    for (uint32_t i = 0; i < both; i++) /* byte by byte */
        send_tcp(true, at + i, 117, bytes + i, 1);
    CU_ASSERT_EQUAL(messages(), 4);
    seen_count = 0;
    at += (uint32_t)both;
    send_tcp(true, at, 117, (const uint8_t *)"\xff nonsense of sixteen", 20);
    CU_ASSERT(seen[0].g.lost);
    send_tcp(true, at + 20, 117, bytes, both - 1);
    CU_ASSERT_EQUAL(messages(), 0);
    send_tcp(true, at + 20 + (uint32_t)both, 117, bytes, both);
    CU_ASSERT_EQUAL(messages(), 2);
    end();
}

static void tcp_streams_begun_before(void)
{
    uint8_t message[600];
    size_t size = put_message(message, 7, 500);

    begin();
    send_tcp(true, 5000, 1, message + 100, size - 100);
    CU_ASSERT_EQUAL(seen_count, 0);
    send_tcp(true, 6000, 1, message, size);
    CU_ASSERT_EQUAL(messages(), 1);
    end();
}

static void tcp_streams_encrypted(void)
{
    uint8_t record[RECORD_HEAD_BYTES + 300 + AUTH_TAG_BYTES] = {0, 0, 1, 44, 1, 2, 3};
    uint32_t at = FIRST + STREAM_HELLO_BYTES + STREAM_PROOF_BYTES;

    memset(record + RECORD_HEAD_BYTES, 0xaa, 300);
    begin();
    shake_hands();
    for (uint32_t i = 0; i < sizeof record; i += 10) /* in pieces smaller than a header */
        send_tcp(true, at + i, 117, record + i, 10);
    send_tcp(true, at + sizeof record, 117, record, sizeof record);
    CU_ASSERT_EQUAL(seen[seen_count - 1].g.record_count, 1);
    CU_ASSERT(seen[seen_count - 1].g.encrypted && !seen[seen_count - 1].g.lost);
    CU_ASSERT_EQUAL(messages(), 0);
    end();
}

/* ---- filters ---- */

static void filters(void)
{
    uint8_t message[600];
    struct sniff_filter filter = {.host_count = 0};
    struct failure why;

    begin();
    send_stream(1, 2, 0, message, put_message(message, 7, 10));
    seen[0].g.from_name = "h1";
    CU_ASSERT(passes(sniff_filter_add_host, "h1") && passes(sniff_filter_add_host, "1"));
    CU_ASSERT(passes(sniff_filter_add_host, "10.0.0.2") && !passes(sniff_filter_add_host, "2"));
    CU_ASSERT(passes(sniff_filter_add_host, "10.0.0.2:7002"));
    CU_ASSERT(!passes(sniff_filter_add_host, "10.0.0.3") && !passes(sniff_filter_add_host, "h"));
    CU_ASSERT(passes(sniff_filter_add_tid, "t80001") && !passes(sniff_filter_add_tid, "t1"));
    CU_ASSERT(passes(sniff_filter_add_tid, "0x40001") && passes(sniff_filter_add_tid, "262145"));
    CU_ASSERT(passes(sniff_filter_add_kind, "DATA") && passes(sniff_filter_add_kind, "data"));
    CU_ASSERT(!passes(sniff_filter_add_kind, "CREDIT") && !passes(sniff_filter_add_kind, "ping"));
    CU_ASSERT(passes(sniff_filter_add_lane, "udp") && !passes(sniff_filter_add_lane, "ether"));
    CU_ASSERT_EQUAL(sniff_filter_add_kind(&filter, "Data", &why), -1);
    CU_ASSERT_EQUAL(sniff_filter_add_tid(&filter, "t", &why), -1);
    CU_ASSERT_EQUAL(sniff_filter_add_tid(&filter, "t0", &why), -1);
    CU_ASSERT_EQUAL(sniff_filter_add_lane(&filter, "shm", &why), -1);
    CU_ASSERT_EQUAL(sniff_filter_add_host(&filter, "", &why), -1);
    CU_ASSERT(sniff_filter_passes(&filter, &seen[0].g));
    end();
}

static void every_kind_can_be_asked_for(void)
{
    struct failure why;

    for (int kind = 0; kind <= UINT8_MAX; kind++) {
        struct sniff_filter filter = {.host_count = 0};

        if (frame_kind_name(kind) != NULL)
            CU_ASSERT(sniff_filter_add_kind(&filter, frame_kind_name(kind), &why) == 0 &&
                      filter.frame_kinds[0] == kind);
        if (datagram_kind_name(kind) != NULL)
            CU_ASSERT(sniff_filter_add_kind(&filter, datagram_kind_name(kind), &why) == 0 &&
                      filter.datagram_kinds[0] == kind);
    }
}

static const struct test_case CASES[] = {
    {"ethernet and vlan", ethernet_and_vlan},
    {"frames of ethernet", frames_of_ethernet},
    {"cooked forms", cooked_forms},
    {"loopback and raw", loopback_and_raw},
    {"ip6 with extensions", ip6_with_extensions},
    {"udp shorter than ip", udp_shorter_than_ip},
    {"later fragments are passed over", later_fragments_are_passed_over},
    {"what the kernel cuts", what_the_kernel_cuts},
    {"datagrams that take the detour", datagrams_that_take_the_detour},
    {"detours that the kernel cuts", detours_that_the_kernel_cuts},
    {"a stream that takes the detour", a_stream_that_takes_the_detour},
    {"detour frames", detour_frames},
    {"foreign datagrams", foreign_datagrams},
    {"hosts get their names", hosts_get_their_names},
    {"hosts that are known", hosts_that_are_known},
    {"streams in pieces", streams_in_pieces},
    {"streams out of order", streams_out_of_order},
    {"holes in payloads matter not", holes_in_payloads_matter_not},
    {"streams are taken up again", streams_are_taken_up_again},
    {"nonsense in a stream", nonsense_in_a_stream},
    {"what is encrypted", what_is_encrypted},
    {"what is malformed", what_is_malformed},
    {"tcp streams", tcp_streams},
    {"tcp streams of brief messages", tcp_streams_of_brief_messages},
    {"tcp streams begun before", tcp_streams_begun_before},
    {"tcp streams encrypted", tcp_streams_encrypted},
    {"filters", filters},
    {"every kind can be asked for", every_kind_can_be_asked_for},
};

int main(void)
{
    return covey_test_main("sniff", CASES, sizeof CASES / sizeof CASES[0]);
}
