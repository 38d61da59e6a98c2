/*
 * The raw Ethernet link: one packet socket, that this daemon or covey-raw opened, with its filter.
 * In: a ring that the kernel fills (lib/link/packet_ring.h), whose slots hold whole frames. It
 * holds what a dozen hosts send in one go, and no more: its slots are used in turn, whatever comes,
 * and a ring that is larger than the processor's cache makes every frame a miss (with 16 MiB half
 * round trips of 64 KiB took half as long again as with 4). The socket is bound to our EtherType:
 * one of all types would be handed every frame that this host sends or receives, whoever's it is,
 * which is dear. Out: frames are gathered in slots and leave together by sendmmsg(); a datagram
 * that is built in the next slot (ether_room()) is not copied.
 *
 * Invariants: slots first .. first+count-1 (no wrap) are in use. A frame that does not fit
 * anywhere, or that the kernel refuses, is a loss that the window above repairs.
 */
#include "daemon/link/ether.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/link/packet_ring.h"
#include "proto/wire/counters.h"
#include "proto/wire/ether.h"

#define SLOTS 64
#define RING_BYTES (4 * 1024 * 1024)
#define SEND_BUFFER_BYTES (8 * 1024 * 1024)
#define RECEIVE_FRAMES 256 /* before others have their turn */

struct slot {
    size_t size;
    uint8_t *data;
};

struct ether_link {
    struct nic nic;
    uint16_t type;
    int fd;
    struct packet_ring ring;
    struct slot out[SLOTS];
    unsigned first, count;
    uint64_t sent, received, received_bytes, sends, refused, dropped, foreign;
    uint64_t captured, overflowed; /* as the kernel counts */
};

/* ---- opening ---- */

static int slots_create(struct ether_link *link, struct failure *why)
{
    size_t bytes = ETHER_LINK_BYTES + link->nic.mtu;
    uint8_t *data = malloc(SLOTS * bytes);
    if (data == NULL)
        return failure_memory(why);
    for (size_t i = 0; i < SLOTS; i++) /* slot 0's is the block itself, freed as such */
        link->out[i].data = data + i * bytes;
    return 0;
}

/* As much room for what is sent as it may be. */
static void send_buffer_set(int fd)
{
    int size = SEND_BUFFER_BYTES;
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) != 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

struct ether_link *ether_open(const struct nic *nic, uint16_t type, int fd, struct failure *why)
{
    struct ether_link *link = calloc(1, sizeof *link);
    if (link == NULL) {
        close(fd);
        failure_memory(why);
        return NULL;
    }
    link->nic = *nic;
    link->type = type;
    link->fd = fd;
    send_buffer_set(fd);
    if (slots_create(link, why) == 0) {
        if (packet_ring_map(&link->ring, fd, nic->mtu, RING_BYTES, nic->mtu))
            return link;
        failure_set(why, "cannot receive on %s: %s", nic->name, strerror(errno));
    }
    ether_close(link);
    return NULL;
}

void ether_close(struct ether_link *link)
{
    if (link == NULL)
        return;
    int saved = errno;
    packet_ring_unmap(&link->ring);
    close(link->fd);
    free(link->out[0].data);
    free(link);
    errno = saved;
}

int ether_fd(const struct ether_link *link)
{
    return link->fd;
}

const struct nic *ether_nic(const struct ether_link *link)
{
    return &link->nic;
}

uint16_t ether_type(const struct ether_link *link)
{
    return link->type;
}

size_t ether_datagram_bytes(const struct ether_link *link)
{
    return link->nic.mtu - ETHER_HEADER_BYTES;
}

int ether_join(struct ether_link *link, const struct address *group, bool join)
{
    struct packet_mreq request = {
        .mr_ifindex = link->nic.index, .mr_type = PACKET_MR_MULTICAST, .mr_alen = ETHER_MAC_BYTES};
    memcpy(request.mr_address, group->bytes, ETHER_MAC_BYTES);
    int what = join ? PACKET_ADD_MEMBERSHIP : PACKET_DROP_MEMBERSHIP;
    return setsockopt(link->fd, SOL_PACKET, what, &request, sizeof request) == 0 ? 0 : -errno;
}

/* ---- out ---- */

/* The slot that is filled next; NULL: the device takes no more now. */
static struct slot *slot_next(struct ether_link *link)
{
    if (link->first + link->count == SLOTS)
        ether_flush(link);
    return link->first + link->count == SLOTS ? NULL : &link->out[link->first + link->count];
}

uint8_t *ether_room(struct ether_link *link)
{
    struct slot *slot = slot_next(link);
    return slot == NULL ? NULL : slot->data + ETHER_LINK_BYTES + ETHER_HEADER_BYTES;
}

void ether_send(struct ether_link *link, const struct address *to, const uint8_t *bytes,
                size_t size)
{
    struct slot *slot = slot_next(link);
    if (slot == NULL || to->family != ADDRESS_ETHER || size == 0 ||
        size > ether_datagram_bytes(link)) {
        link->dropped++;
        return;
    }
    link->count++;
    struct cursor c = cursor_writer(slot->data, ETHER_LINK_BYTES + link->nic.mtu);
    ether_put_link(&c, to, &link->nic.mac, link->type);
    ether_put(&c, &(struct ether){.channel = ETHER_CHANNEL_DAEMON, .size = (uint16_t)size});
    if (bytes != c.at)
        memmove(c.at, bytes, size);
    slot->size = (size_t)(c.at - slot->data) + size;
    if (slot->size < ETHER_FRAME_BYTES_MIN) {
        memset(slot->data + slot->size, 0, ETHER_FRAME_BYTES_MIN - slot->size);
        slot->size = ETHER_FRAME_BYTES_MIN;
    }
}

bool ether_flush(struct ether_link *link)
{
    while (link->count > 0) {
        struct mmsghdr messages[SLOTS];
        struct iovec iovs[SLOTS];
        for (unsigned i = 0; i < link->count; i++) {
            struct slot *slot = &link->out[link->first + i];
            iovs[i] = (struct iovec){slot->data, slot->size};
            messages[i].msg_hdr = (struct msghdr){.msg_iov = &iovs[i], .msg_iovlen = 1};
        }
        link->sends++;
        int n = sendmmsg(link->fd, messages, link->count, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return true;
        if (n < 0) { /* the device's queue was full, or it is down: the first frame is lost */
            link->refused++;
            n = 1;
        } else {
            link->sent += (unsigned)n;
        }
        link->first += (unsigned)n;
        link->count -= (unsigned)n;
    }
    link->first = 0;
    return false;
}

/* ---- in ---- */

/* The filter let it through; whether it did so as this link's own filter is not known here. */
static bool is_for_us(const struct ether_link *link, const struct address *to, uint16_t type)
{
    return type == link->type && (ether_is_group(to) || address_equal(to, &link->nic.mac));
}

static void on_ether_frame(struct ether_link *link, const uint8_t *bytes, size_t size,
                           ether_datagram_fn *fn, void *context)
{
    struct cursor c = cursor_reader(bytes, size);
    struct address to, from;
    struct ether ether;
    uint16_t type;
    ether_get_link(&c, &to, &from, &type);
    if (!is_for_us(link, &to, type) || ether_get(&c, &ether) != NULL ||
        ether.channel != ETHER_CHANNEL_DAEMON) {
        link->foreign++;
        return;
    }
    link->received++;
    link->received_bytes += ether.size;
    fn(context, &from, ether.datagram, ether.size);
}

size_t ether_receive(struct ether_link *link, ether_datagram_fn *fn, void *context)
{
    uint64_t before = link->received_bytes;
    size_t size;
    int count = 0;
    const uint8_t *frame;
    while (count < RECEIVE_FRAMES && (frame = packet_ring_next(&link->ring, &size)) != NULL) {
        on_ether_frame(link, frame, size, fn, context);
        packet_ring_release(&link->ring);
        count++;
    }
    if (count ==
        0) { /* what woke us is an error, of an interface that went down: it is taken off */
        int error;
        socklen_t length = sizeof error;
        getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &error, &length);
    }
    return (size_t)(link->received_bytes - before);
}

/* The kernel's counts begin anew with each look. */
static void counts_take(struct ether_link *link)
{
    struct tpacket_stats kernel = {0};
    socklen_t size = sizeof kernel;
    if (getsockopt(link->fd, SOL_PACKET, PACKET_STATISTICS, &kernel, &size) != 0)
        return;
    link->captured += kernel.tp_packets;
    link->overflowed += kernel.tp_drops;
}

const char *ether_stat(struct ether_link *link, size_t i, uint64_t *value)
{
    counts_take(link);
    const struct counter stats[] = {
        {"ether_socket.frames_sent", link->sent},
        {"ether_socket.frames_received", link->received},
        {"ether_socket.frames_refused", link->foreign},
        {"ether_socket.send_calls", link->sends},
        {"ether_socket.sends_refused", link->refused},
        {"ether_socket.sends_dropped", link->dropped},
        {"ether_socket.captured", link->captured},
        {"ether_socket.overflowed", link->overflowed},
    };
    return counter_get(stats, sizeof stats / sizeof stats[0], i, value);
}
