/*
 * link_packet.c - see link_packet.h.
 *
 * In: PACKET_RX_RING of TPACKET_V2, whose frames are handed over one by one (V3 hands over blocks
 * of them, and a lone frame waits for a timer then). A slot belongs to the kernel or to us, as its
 * status word says: it is read with acquire and given back with release. The kernel copies into a
 * slot when the frame arrives; of a jumbo frame that would be most of the work, and where sender
 * and receiver are on one machine it would be done by the sender's processor. So slots hold frames
 * of up to SLOT_PAYLOAD_BYTES then, and a longer one waits in the socket's queue, as
 * PACKET_COPY_THRESH asks for, until it is read. What there is no room for is lost.
 *
 * Out: frames are built behind each other in memory of ours, or begin there and go on where the
 * caller has their bytes; one sendmmsg() sends them all, one send() a lone one. They pass the
 * interface's queue as other packets do, so that a capture on this host sees them.
 */
#include "lib/link/link_packet.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define RING_BYTES (2u * 1024 * 1024)
#define BLOCK_BYTES (64u * 1024)
/* Before the frame, whose payload the kernel aligns. */
#define SLOT_HEAD_BYTES (sizeof(struct tpacket2_hdr) + sizeof(struct sockaddr_ll) + 64)
#define BATCH_MAX 32
#define BATCH_ALIGNMENT 64
#define MTU_MAX 65535u
#define SLOT_PAYLOAD_BYTES 2048
#define QUEUE_BYTES (2 * 1024 * 1024) /* of the socket, where slots do not hold every frame */

struct ring {
    uint8_t *memory;
    size_t bytes, block_bytes, slot_bytes;
    unsigned slots, slots_a_block, next;
};

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
    struct ring ring;
    uint8_t *large; /* where a frame that no slot holds is read to; NULL: slots hold every one */
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

/* Without privilege the queue is as long as the system allows. */
static bool large_allow(struct packet *p)
{
    const int on = 1, bytes = QUEUE_BYTES;
    if (setsockopt(p->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
        setsockopt(p->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    p->large = malloc(ETHER_LINK_BYTES + p->mtu);
    return p->large != NULL &&
           setsockopt(p->fd, SOL_PACKET, PACKET_COPY_THRESH, &on, sizeof on) == 0;
}

/* The kernel has mapped all pages. Where page tables are a hypervisor's, the first look at each
 * takes some 20 us all the same, which so many messages would pay in turn. */
static void pages_look_at(const uint8_t *memory, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t at = 0; at < bytes; at += page)
        (void)*(const volatile uint8_t *)(memory + at);
}

static bool ring_map(struct packet *p)
{
    struct ring *r = &p->ring;
    const int version = TPACKET_V2;
    size_t whole = p->mtu < SLOT_PAYLOAD_BYTES ? p->mtu : SLOT_PAYLOAD_BYTES;
    r->slot_bytes = rounded(SLOT_HEAD_BYTES + ETHER_LINK_BYTES + whole, TPACKET_ALIGNMENT);
    r->block_bytes = BLOCK_BYTES;
    r->slots_a_block = (unsigned)(r->block_bytes / r->slot_bytes);
    r->bytes = RING_BYTES;
    const unsigned blocks = (unsigned)(r->bytes / r->block_bytes);
    r->slots = blocks * r->slots_a_block;
    const struct tpacket_req request = {.tp_block_size = (unsigned)r->block_bytes,
                                        .tp_block_nr = blocks,
                                        .tp_frame_size = (unsigned)r->slot_bytes,
                                        .tp_frame_nr = r->slots};
    if (setsockopt(p->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof version) != 0 ||
        setsockopt(p->fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) != 0)
        return false;
    if (whole < p->mtu && !large_allow(p))
        return false;
    r->memory = mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
    if (r->memory == MAP_FAILED)
        return false;
    pages_look_at(r->memory, r->bytes);
    return true;
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
    p->ring.memory = MAP_FAILED;
    bool good = look_up(p, why);
    if (good) {
        *why = "no memory for its ring";
        good = ring_map(p) && batch_create(p);
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
    if (p->ring.memory != MAP_FAILED)
        munmap(p->ring.memory, p->ring.bytes);
    free(p->large);
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

/* The kernel reckons a frame at the memory it takes: up to twice its size. */
size_t packet_waiting_bytes(const struct packet *p)
{
    int bytes = 0;
    socklen_t size = sizeof bytes;
    if (p->large == NULL || getsockopt(p->fd, SOL_SOCKET, SO_RCVBUF, &bytes, &size) != 0)
        return p->ring.bytes / 2;
    return (size_t)bytes / 2;
}

/* ---- in -------------------------------------------------------------------------------------- */

static struct tpacket2_hdr *slot_at(const struct ring *r)
{
    size_t block = r->next / r->slots_a_block, in_block = r->next % r->slots_a_block;
    return (void *)(r->memory + block * r->block_bytes + in_block * r->slot_bytes);
}

static bool slot_is_ours(const struct tpacket2_hdr *slot)
{
    return (__atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) != 0;
}

bool packet_waiting(const struct packet *p)
{
    return slot_is_ours(slot_at(&p->ring));
}

void packet_release(struct packet *p)
{
    struct ring *r = &p->ring;
    __atomic_store_n(&slot_at(r)->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    r->next = r->next + 1 < r->slots ? r->next + 1 : 0;
}

/* The frame of a slot of ours; NULL: it is not whole, or too short to be one. */
static const uint8_t *slot_frame(const struct packet *p, const struct tpacket2_hdr *slot)
{
    if (slot->tp_len < ETHER_LINK_BYTES)
        return NULL;
    if (slot->tp_snaplen == slot->tp_len)
        return (const uint8_t *)slot + slot->tp_mac;
    if (p->large == NULL || (slot->tp_status & TP_STATUS_COPY) == 0)
        return NULL;
    ssize_t n = recv(p->fd, p->large, ETHER_LINK_BYTES + p->mtu, MSG_DONTWAIT);
    return n == (ssize_t)slot->tp_len ? p->large : NULL;
}

const uint8_t *packet_next(struct packet *p, size_t *size, struct address *from)
{
    for (;;) {
        const struct tpacket2_hdr *slot = slot_at(&p->ring);
        if (!slot_is_ours(slot))
            return NULL;
        const uint8_t *frame = slot_frame(p, slot);
        if (frame != NULL) {
            size_t length = slot->tp_len;
            struct address to;
            uint16_t type;
            struct cursor c = cursor_reader(frame, length);
            ether_get_link(&c, &to, from, &type);
            *size = cursor_left(&c);
            return frame + ETHER_LINK_BYTES;
        }
        packet_release(p);
    }
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
