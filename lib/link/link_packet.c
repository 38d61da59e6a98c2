/*
 * link_packet.c - see link_packet.h.
 *
 * In: packet_ring.h, in slots that hold frames of up to SLOT_PAYLOAD_BYTES: a task's memory is
 * small, and who sends it a jumbo frame from the same machine need not copy it.
 *
 * Out: frames are built behind each other in memory of ours, or begin there and go on where the
 * caller has their bytes; one sendmmsg() sends them all, one send() a lone one. They pass the
 * interface's queue as other packets do, so that a capture on this host sees them.
 * AF_XDP, PACKET_QDISC_BYPASS, PACKET_FANOUT and super-frames were measured and are not taken:
 * doc/figures.md, Raw Ethernet, says why, and `make bench-ways` measures them anew.
 */
#include "lib/link/link_packet.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/link/packet_ring.h"

#define RING_BYTES (2u * 1024 * 1024)
#define BATCH_MAX 32
#define BATCH_ALIGNMENT 64
#define MTU_MAX 65535u
#define SLOT_PAYLOAD_BYTES 2048

struct batch {
    uint8_t *memory;
    size_t stride;
    unsigned first, end;                                /* queued and not sent */
    struct iovec iov[BATCH_MAX][1 + PACKET_PIECES_MAX]; /* first: in memory */
    struct mmsghdr messages[BATCH_MAX];
};

struct packet {
    int fd;
    size_t mtu;
    uint16_t type;
    struct address address;
    struct packet_ring ring;
    struct batch batch;
};

/* ---- set-up ---------------------------------------------------------------------------------- */

static bool look_up(struct packet *p, const char **why)
{
    struct sockaddr_ll at;
    struct ifreq interface;
    socklen_t size = sizeof at;
    *why = "it is no packet socket of an Ethernet interface";
    if (getsockname(p->fd, (struct sockaddr *)&at, &size) != 0 || at.sll_family != AF_PACKET ||
        at.sll_ifindex == 0 || at.sll_halen != ETHER_MAC_BYTES)
        return false;
    struct cursor type = cursor_reader(&at.sll_protocol, sizeof at.sll_protocol);
    p->type = cursor_get_u16(&type);
    p->address = ether_address(at.sll_addr);
    memset(&interface, 0, sizeof interface);
    interface.ifr_ifindex = at.sll_ifindex;
    *why = "its interface is gone";
    if (ioctl(p->fd, SIOCGIFNAME, &interface) != 0 || ioctl(p->fd, SIOCGIFMTU, &interface) != 0)
        return false;
    p->mtu = interface.ifr_mtu < (int)MTU_MAX ? (size_t)interface.ifr_mtu : MTU_MAX;
    return true;
}

static size_t rounded(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

static bool batch_create(struct packet *p)
{
    struct batch *b = &p->batch;
    b->stride = rounded(ETHER_LINK_BYTES + p->mtu, BATCH_ALIGNMENT);
    b->memory = aligned_alloc(BATCH_ALIGNMENT, BATCH_MAX * b->stride);
    if (b->memory == NULL)
        return false;
    for (unsigned i = 0; i < BATCH_MAX; i++) {
        b->iov[i][0].iov_base = b->memory + i * b->stride;
        b->messages[i].msg_hdr = (struct msghdr){.msg_iov = b->iov[i], .msg_iovlen = 1};
    }
    return true;
}

struct packet *packet_create(int fd, const char **why)
{
    struct packet *p = calloc(1, sizeof *p);
    *why = "out of memory";
    if (p == NULL)
        return NULL;
    p->fd = fd;
    bool good = look_up(p, why);
    if (good) {
        *why = "no memory for its ring";
        good = packet_ring_map(&p->ring, fd, p->mtu, RING_BYTES, SLOT_PAYLOAD_BYTES) &&
               batch_create(p);
    }
    if (good)
        return p;
    p->fd = -1;
    packet_destroy(p);
    return NULL;
}

void packet_destroy(struct packet *p)
{
    if (p == NULL)
        return;
    packet_ring_unmap(&p->ring);
    free(p->batch.memory);
    if (p->fd >= 0)
        close(p->fd);
    free(p);
}

int packet_fd(const struct packet *p)
{
    return p->fd;
}

size_t packet_mtu(const struct packet *p)
{
    return p->mtu;
}

size_t packet_waiting_bytes(const struct packet *p)
{
    return packet_ring_room(&p->ring);
}

/* ---- in -------------------------------------------------------------------------------------- */

bool packet_waiting(const struct packet *p)
{
    return packet_ring_waiting(&p->ring);
}

void packet_release(struct packet *p)
{
    packet_ring_release(&p->ring);
}

const uint8_t *packet_next(struct packet *p, size_t *size, struct address *from)
{
    size_t length;
    const uint8_t *frame = packet_ring_next(&p->ring, &length);
    if (frame == NULL)
        return NULL;
    struct address to;
    uint16_t type;
    struct cursor c = cursor_reader(frame, length);
    ether_get_link(&c, &to, from, &type);
    *size = cursor_left(&c);
    return frame + ETHER_LINK_BYTES;
}

/* ---- out ------------------------------------------------------------------------------------- */

uint8_t *packet_room(struct packet *p)
{
    struct batch *b = &p->batch;
    return b->end == BATCH_MAX ? NULL : b->memory + b->end * b->stride + ETHER_LINK_BYTES;
}

void packet_put(struct packet *p, const struct address *to, size_t size)
{
    struct batch *b = &p->batch;
    struct iovec *frame = b->iov[b->end];
    struct cursor c = cursor_writer(frame->iov_base, ETHER_LINK_BYTES);
    ether_put_link(&c, to, &p->address, p->type);
    frame->iov_len = ETHER_LINK_BYTES + size;
    b->messages[b->end++].msg_hdr.msg_iovlen = 1;
}

void packet_put_pieces(struct packet *p, const struct address *to, size_t size,
                       const struct iovec *pieces, size_t count)
{
    struct batch *b = &p->batch;
    memcpy(b->iov[b->end] + 1, pieces, count * sizeof *pieces);
    packet_put(p, to, size);
    b->messages[b->end - 1].msg_hdr.msg_iovlen = 1 + count;
}

/* What stays queued is put together in our memory: the pieces are the caller's again. */
static void keep(struct batch *b)
{
    for (unsigned i = b->first; i < b->end; i++) {
        struct msghdr *message = &b->messages[i].msg_hdr;
        struct iovec *frame = b->iov[i];
        for (size_t j = 1; j < message->msg_iovlen; j++) {
            if (frame[j].iov_len > 0)
                memmove((uint8_t *)frame->iov_base + frame->iov_len, frame[j].iov_base,
                        frame[j].iov_len);
            frame->iov_len += frame[j].iov_len;
        }
        message->msg_iovlen = 1;
    }
}

static int send_lone(int fd, const struct msghdr *message)
{
    const struct iovec *frame = message->msg_iov;
    if (message->msg_iovlen > 1)
        return sendmsg(fd, message, MSG_DONTWAIT) < 0 ? -1 : 1;
    return send(fd, frame->iov_base, frame->iov_len, MSG_DONTWAIT) < 0 ? -1 : 1;
}

/* Frames that the kernel took, 0: none now. */
static unsigned send_some(const struct packet *p, struct batch *b)
{
    unsigned count = b->end - b->first;
    int n = count == 1 ? send_lone(p->fd, &b->messages[b->first].msg_hdr)
                       : sendmmsg(p->fd, b->messages + b->first, count, MSG_DONTWAIT);
    if (n > 0)
        return (unsigned)n;
    return errno != EAGAIN && errno != ENOBUFS; /* one that is refused is lost, as on any wire */
}

bool packet_flush(struct packet *p)
{
    struct batch *b = &p->batch;
    while (b->first < b->end) {
        unsigned n = send_some(p, b);
        if (n == 0) {
            keep(b);
            return false;
        }
        b->first += n;
    }
    b->first = b->end = 0;
    return true;
}
