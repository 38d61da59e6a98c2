/* links: tests/bench/packet_ways_xdp.c lib/link/link_packet.c lib/link/packet_ring.c proto/wire/ether.c proto/wire/address.c proto/wire/cursor.c */
/*
 * packet_ways.c - the ways that Linux has for frames of an EtherType of one's own, measured
 * plainly: no tags, no windows, a receiver that only looks. `ether.sh ways` runs it on two hosts.
 *
 *   packet_ways take IN            answers each burst with one frame, until the other side ends
 *   packet_ways send OUT ADDRESS   prints medians: us for 1 B and an answer, us for 1 MiB and an
 *                                  answer; then how many frames 1 MiB is, and how many bursts were
 * lost
 *
 * OUT: packet (what a direct link does: 32 frames a sendmmsg()), packet-bypass (and
 * PACKET_QDISC_BYPASS), xdp, super (60000 bytes by PACKET_VNET_HDR), super-csum (that asks for a
 * checksum, too), tcp. IN: packet (a ring, as a direct link), fanout (two of them, two threads),
 * xdp, xdp-generic; tcp, tcp-xdp, tcp-xdp-generic (with a program of XDP on the interface). Answers
 * come by packets. Status 77: the kernel refuses it; which call, and why, is printed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "lib/link/link_packet.h"
#include "tests/bench/packet_ways_xdp.h"

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4 /* headers of Linux 6.1 and before */
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

enum {
    TYPE = 0x88b6, /* IEEE 802, local experimental EtherType 2 */
    PORT = 4321,
    BURST_BYTES = 1 << 20,
    SUPER_BYTES = 60000,
    IP_BYTES = 20, /* where the kernel looks for UDP's checksum, if it looks */
    UDP_CHECK_AT = 6,
    HELLOS = 100, /* before the other host has to answer */
    BURSTS = 2048 /* more than there are */
};
static const int rounds[2] = {1000, 60}; /* of 1 B, of 1 MiB */
static const uint64_t hello_ns = 50000000, lost_ns = 200000000;

struct note { /* begins each payload; data of the burst follow */
    uint32_t number, bytes;
};

static unsigned interface;
static struct packet *packet;
static struct address own, peer;

static void refused(const char *what)
{
    printf("refused: %s: %s\n", what, strerror(errno));
    exit(77);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void set(int fd, int option, int value, const char *what)
{
    if (setsockopt(fd, SOL_PACKET, option, &value, sizeof value) != 0)
        refused(what);
}

static int socket_open(void)
{
    struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_ifindex = (int)interface};
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0);
    at.sll_protocol = htons(TYPE);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0)
        refused("socket(AF_PACKET)");
    return fd;
}

static struct packet *packet_open(void)
{
    const char *why;
    struct sockaddr_ll at;
    socklen_t size = sizeof at;
    struct packet *p = packet_create(socket_open(), &why);
    if (p == NULL)
        refused(why);
    getsockname(packet_fd(p), (struct sockaddr *)&at, &size);
    own = ether_address(at.sll_addr);
    return p;
}

static void must_be_sent(ssize_t result, const char *what)
{
    if (result < 0)
        refused(what);
}

/* ---- ways out -------------------------------------------------------------------------------- */

static void packet_put_burst(struct note note, struct iovec data)
{
    uint8_t *room;
    while ((room = packet_room(packet)) == NULL)
        packet_flush(packet);
    memcpy(room, &note, sizeof note);
    packet_put_pieces(packet, &peer, sizeof note, &data, 1);
}

static size_t head_make(uint8_t *head, struct note note)
{
    struct cursor c = cursor_writer(head, ETHER_LINK_BYTES);
    ether_put_link(&c, &peer, &own, TYPE);
    memcpy(head + ETHER_LINK_BYTES, &note, sizeof note);
    return ETHER_LINK_BYTES + sizeof note;
}

static void super_send(int fd, uint8_t flags, struct iovec frame[2])
{
    struct virtio_net_hdr head = {0};
    struct iovec all[] = {{&head, sizeof head}, frame[0], frame[1]};
    const struct msghdr message = {.msg_iov = all, .msg_iovlen = 3};
    if (frame[0].iov_len + frame[1].iov_len > ETHER_LINK_BYTES + packet_mtu(packet)) {
        head = (struct virtio_net_hdr){.gso_type = VIRTIO_NET_HDR_GSO_UDP_L4, .flags = flags};
        head.hdr_len = ETHER_LINK_BYTES + IP_BYTES + 8;
        head.gso_size = (uint16_t)(packet_mtu(packet) - sizeof(struct note));
        head.csum_start = ETHER_LINK_BYTES + IP_BYTES;
        head.csum_offset = UDP_CHECK_AT;
    }
    must_be_sent(sendmsg(fd, &message, 0), "sendmsg() of a super-frame");
}

static struct {
    struct xdp_socket *xdp;
    int super;
    uint8_t super_flags;
    size_t unit; /* bytes of data in a frame */
} out;

static void way_open(const char *way)
{
    const char *what;
    out.unit = packet_mtu(packet) - sizeof(struct note);
    if (strcmp(way, "packet-bypass") == 0)
        set(packet_fd(packet), PACKET_QDISC_BYPASS, 1, "PACKET_QDISC_BYPASS");
    if (strcmp(way, "xdp") == 0 && (out.xdp = xdp_socket_open(interface, &what)) == NULL)
        refused(what);
    if (strncmp(way, "super", 5) != 0)
        return;
    out.super = socket_open();
    out.super_flags = strcmp(way, "super-csum") == 0 ? VIRTIO_NET_HDR_F_NEEDS_CSUM : 0;
    out.unit = SUPER_BYTES;
    set(out.super, PACKET_VNET_HDR, 1, "PACKET_VNET_HDR");
}

static void burst_send(struct note note)
{
    static uint8_t data[BURST_BYTES];
    uint8_t head[ETHER_LINK_BYTES + sizeof note];
    size_t head_bytes = head_make(head, note), at = 0;
    do {
        size_t n = note.bytes - at < out.unit ? note.bytes - at : out.unit;
        struct iovec frame[] = {{head, head_bytes}, {data + at, n}};
        if (out.xdp != NULL)
            xdp_socket_put(out.xdp, frame, 2);
        else if (out.super != 0)
            super_send(out.super, out.super_flags, frame);
        else
            packet_put_burst(note, frame[1]);
        at += n;
    } while (at < note.bytes);
    if (out.xdp != NULL)
        xdp_socket_flush(out.xdp);
    while (!packet_flush(packet))
        ;
}

/* ---- bursts ---------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double us[2][1000]; /* of 1 B, of 1 MiB */
static int count[2];

static double median(int large)
{
    qsort(us[large], (size_t)count[large], sizeof us[0][0], compare);
    return count[large] == 0 ? 0 : us[large][count[large] / 2];
}

/* Waits for the answer to that burst, and learns who gives it. */
static bool answered(uint32_t number, uint64_t until_ns)
{
    struct note note;
    size_t size;
    while (now_ns() < until_ns) {
        const uint8_t *payload = packet_next(packet, &size, &peer);
        if (payload == NULL)
            continue;
        memcpy(&note, payload, sizeof note);
        packet_release(packet);
        if (note.number == number)
            return true;
    }
    return false;
}

static void send_frames(const char *way)
{
    struct note note = {0, 1};
    packet = packet_open();
    peer = ether_address((const uint8_t[]){0xff, 0xff, 0xff, 0xff, 0xff, 0xff});
    way_open(way);
    do {
        errno = ETIMEDOUT;
        if (++note.number == HELLOS)
            refused("no answer");
        burst_send(note);
    } while (!answered(note.number, now_ns() + hello_ns));
    for (int large = 0; large < 2; large++)
        for (int i = 0; i < rounds[large]; i++) {
            note = (struct note){note.number + 1, large ? BURST_BYTES : 1};
            uint64_t begin = now_ns();
            burst_send(note);
            if (answered(note.number, begin + lost_ns))
                us[large][count[large]++] = (double)(now_ns() - begin) / 1e3;
        }
    burst_send((struct note){0, 0});
    printf("%.2f %.0f %zu %d\n", median(0), median(1), (BURST_BYTES + out.unit - 1) / out.unit,
           rounds[0] + rounds[1] - count[0] - count[1]);
}

/* ---- ways in --------------------------------------------------------------------------------- */

static _Atomic uint32_t got[BURSTS]; /* bytes of a burst: threads take parts of one */

static void payload_taken(const uint8_t *payload, size_t size, const struct address *from)
{
    struct note note;
    if (size < sizeof note)
        return;
    memcpy(&note, payload, sizeof note);
    if (note.bytes == 0)
        exit(0);
    if (note.number >= BURSTS)
        return;
    uint32_t data = (uint32_t)(size - sizeof note);
    uint32_t before = atomic_fetch_add(&got[note.number], data);
    if (before >= note.bytes || before + data < note.bytes)
        return;
    peer = *from;
    packet_put_burst(note, (struct iovec){NULL, 0});
    packet_flush(packet);
}

static bool yields; /* where two threads share a processor */

static void *packet_take(void *of)
{
    struct packet *p = of;
    struct address from;
    size_t size;
    for (;;) {
        const uint8_t *payload = packet_next(p, &size, &from);
        if (payload != NULL) {
            payload_taken(payload, size, &from);
            packet_release(p);
        } else if (yields)
            sched_yield();
    }
    return NULL;
}

static void fanout_take(void)
{
    struct packet *two[] = {packet, packet_open()};
    pthread_t thread;
    for (int i = 0; i < 2; i++)
        set(packet_fd(two[i]), PACKET_FANOUT, PACKET_FANOUT_LB << 16 | 1, "PACKET_FANOUT");
    yields = true;
    if ((errno = pthread_create(&thread, NULL, packet_take, two[1])) != 0)
        refused("pthread_create()");
    packet_take(two[0]);
}

static void xdp_take(bool generic)
{
    const char *what;
    uint8_t begin[ETHER_LINK_BYTES + sizeof(struct note)];
    struct xdp_socket *x = xdp_socket_open(interface, &what);
    if (x == NULL || !xdp_attach(x, interface, TYPE, generic, &what))
        refused(what);
    for (;;) {
        size_t size = xdp_socket_take(x, begin, sizeof begin);
        if (size < sizeof begin)
            continue;
        struct address from = ether_address(begin + ETHER_MAC_BYTES);
        payload_taken(begin + ETHER_LINK_BYTES, size - ETHER_LINK_BYTES, &from);
    }
}

static void take_frames(const char *in)
{
    packet = packet_open();
    if (strcmp(in, "fanout") == 0)
        fanout_take();
    else if (strncmp(in, "xdp", 3) == 0)
        xdp_take(strcmp(in, "xdp-generic") == 0);
    else
        packet_take(packet);
}

/* ---- tcp, for comparison --------------------------------------------------------------------- */

static bool stream_take(int fd, void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t n = recv(fd, (uint8_t *)bytes + at, size - at, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN))
            return false;
        at += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static int stream_socket(struct sockaddr_in *at, const char *address)
{
    const int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(PORT)};
    at->sin_addr.s_addr = inet_addr(address);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    return fd;
}

static void send_stream(const char *address)
{
    static uint8_t data[sizeof(uint32_t) + BURST_BYTES];
    struct sockaddr_in at;
    int fd = stream_socket(&at, address);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) != 0)
        refused("connect()");
    for (int large = 0; large < 2; large++)
        for (int i = 0; i < rounds[large]; i++) {
            uint32_t bytes = large ? BURST_BYTES : 1;
            uint64_t begin = now_ns();
            memcpy(data, &bytes, sizeof bytes);
            must_be_sent(send(fd, data, sizeof bytes + bytes, 0), "send()");
            if (!stream_take(fd, data, 1))
                refused("recv()");
            us[large][count[large]++] = (double)(now_ns() - begin) / 1e3;
        }
    printf("%.2f %.0f - 0\n", median(0), median(1));
}

static void take_stream(const char *in)
{
    static uint8_t data[BURST_BYTES];
    const char *what;
    uint32_t bytes;
    struct sockaddr_in at;
    if (strcmp(in, "tcp") != 0 &&
        !xdp_attach(NULL, interface, TYPE, strcmp(in, "tcp-xdp-generic") == 0, &what))
        refused(what);
    int fd = stream_socket(&at, "0.0.0.0");
    if (bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 1) != 0)
        refused("listen()");
    fd = accept(fd, NULL, NULL);
    while (stream_take(fd, &bytes, sizeof bytes) && bytes <= sizeof data &&
           stream_take(fd, data, bytes))
        must_be_sent(send(fd, data, 1, MSG_NOSIGNAL), "send()");
}

int main(int argc, char **argv)
{
    bool sends = argc == 4 && strcmp(argv[1], "send") == 0;
    if (!sends && (argc != 3 || strcmp(argv[1], "take") != 0))
        return 2;
    alarm(30); /* the other side is gone */
    interface = if_nametoindex("eth0");
    bool stream = strncmp(argv[2], "tcp", 3) == 0;
    if (sends && stream)
        send_stream(argv[3]);
    else if (sends)
        send_frames(argv[2]);
    else if (stream)
        take_stream(argv[2]);
    else
        take_frames(argv[2]);
    return 0;
}
