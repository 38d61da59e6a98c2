/*
 * packet_ring.c - PACKET_RX_RING of TPACKET_V2, whose frames are handed over one by one (V3 hands
 * over blocks of them, and a lone frame waits for a timer then). A slot belongs to the kernel or to
 * us, as its status word says: it is read with acquire and given back with release.
 *
 * The kernel copies into a slot when the frame arrives; of a jumbo frame that would be most of the
 * work, and where sender and receiver are on one machine it would be done by the sender's
 * processor. So slots may be smaller than frames: a longer one waits in the socket's queue, as
 * PACKET_COPY_THRESH asks for, until it is read. What there is no room for is lost.
 */
#include "lib/link/packet_ring.h"

#include <linux/if_packet.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/wire/ether.h"

#define BLOCK_BYTES (64u * 1024)
/* Before the frame, whose payload the kernel aligns. */
#define SLOT_HEAD_BYTES (sizeof(struct tpacket2_hdr) + sizeof(struct sockaddr_ll) + 64)
#define QUEUE_BYTES (2 * 1024 * 1024) /* of the socket, where slots do not hold every frame */

/* ---- set-up ---------------------------------------------------------------------------------- */

/* Without privilege the queue is as long as the system allows. */
static bool large_allow(struct packet_ring *r)
{
    const int on = 1, bytes = QUEUE_BYTES;
    if (setsockopt(r->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
        setsockopt(r->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    r->large = malloc(r->frame_bytes);
    return r->large != NULL &&
           setsockopt(r->fd, SOL_PACKET, PACKET_COPY_THRESH, &on, sizeof on) == 0;
}

static size_t rounded(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

/* The kernel has mapped all pages. Where page tables are a hypervisor's, the first write to each
 * takes some 20 us all the same, which so many messages would pay in turn. Nothing changes: frames
 * may come meanwhile. */
static void pages_touch(uint8_t *memory, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t at = 0; at < bytes; at += page)
        __atomic_fetch_or((uint32_t *)(void *)(memory + at), 0, __ATOMIC_RELAXED);
}

bool packet_ring_map(struct packet_ring *r, int fd, size_t mtu, size_t bytes, size_t slot_payload)
{
    const int version = TPACKET_V2;
    size_t whole = mtu < slot_payload ? mtu : slot_payload;
    *r = (struct packet_ring){.fd = fd, .frame_bytes = ETHER_LINK_BYTES + mtu};
    r->slot_bytes = rounded(SLOT_HEAD_BYTES + ETHER_LINK_BYTES + whole, TPACKET_ALIGNMENT);
    r->block_bytes = BLOCK_BYTES;
    while (r->block_bytes < r->slot_bytes)
        r->block_bytes *= 2;
    r->slots_a_block = (unsigned)(r->block_bytes / r->slot_bytes);
    const unsigned blocks = (unsigned)(bytes / r->block_bytes);
    r->slots = blocks * r->slots_a_block;
    const struct tpacket_req request = {.tp_block_size = (unsigned)r->block_bytes,
                                        .tp_block_nr = blocks,
                                        .tp_frame_size = (unsigned)r->slot_bytes,
                                        .tp_frame_nr = r->slots};
    if (setsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof version) != 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) != 0)
        return false;
    if (whole < mtu && !large_allow(r))
        return false;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return false;
    r->memory = memory;
    r->bytes = bytes;
    pages_touch(r->memory, bytes);
    return true;
}

void packet_ring_unmap(struct packet_ring *r)
{
    if (r->memory != NULL)
        munmap(r->memory, r->bytes);
    free(r->large);
    *r = (struct packet_ring){0};
}

/* The kernel reckons a frame at the memory it takes: up to twice its size. */
size_t packet_ring_room(const struct packet_ring *r)
{
    int bytes = 0;
    socklen_t size = sizeof bytes;
    if (r->large == NULL || getsockopt(r->fd, SOL_SOCKET, SO_RCVBUF, &bytes, &size) != 0)
        return r->bytes / 2;
    return (size_t)bytes / 2;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static struct tpacket2_hdr *slot_at(const struct packet_ring *r)
{
    size_t block = r->next / r->slots_a_block, in_block = r->next % r->slots_a_block;
    return (void *)(r->memory + block * r->block_bytes + in_block * r->slot_bytes);
}

static bool slot_is_ours(const struct tpacket2_hdr *slot)
{
    return (__atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) != 0;
}

bool packet_ring_waiting(const struct packet_ring *r)
{
    return slot_is_ours(slot_at(r));
}

void packet_ring_release(struct packet_ring *r)
{
    __atomic_store_n(&slot_at(r)->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    r->next = r->next + 1 < r->slots ? r->next + 1 : 0;
}

/* The frame of a slot of ours; NULL: it is not whole, or too short to be one. */
static const uint8_t *slot_frame(const struct packet_ring *r, const struct tpacket2_hdr *slot)
{
    if (slot->tp_len < ETHER_LINK_BYTES)
        return NULL;
    if (slot->tp_snaplen == slot->tp_len)
        return (const uint8_t *)slot + slot->tp_mac;
    if (r->large == NULL || (slot->tp_status & TP_STATUS_COPY) == 0)
        return NULL;
    ssize_t n = recv(r->fd, r->large, r->frame_bytes, MSG_DONTWAIT);
    return n == (ssize_t)slot->tp_len ? r->large : NULL;
}

const uint8_t *packet_ring_next(struct packet_ring *r, size_t *size)
{
    for (;;) {
        const struct tpacket2_hdr *slot = slot_at(r);
        if (!slot_is_ours(slot))
            return NULL;
        const uint8_t *frame = slot_frame(r, slot);
        if (frame != NULL) {
            *size = slot->tp_len;
            return frame;
        }
        packet_ring_release(r);
    }
}
