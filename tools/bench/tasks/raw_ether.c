/*
 * raw_ether.c - raw frames by a packet socket, one system call a frame, received through a ring in
 * memory. A lost frame is not sent again, so that the figure is the limit of such frames and not
 * of a protocol.
 */
#include "tools/bench/tasks/raw_ether.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tools/bench/tasks/clock.h"

/* A frame: destination, source, type (the second that IEEE leaves to experiments), channel=u8 0=u8,
 * the number of bytes of the message in it, the bytes. */
#define HEAD_BYTES 18
#define LINK_BYTES 14
#define MAC_BYTES 6
#define TYPE_HIGH 0x88
#define TYPE_LOW 0xb6
#define RING_BYTES (4u * 1024 * 1024)
#define BLOCK_BYTES (128u * 1024)
#define SLOT_HEAD_BYTES 128u
#define FULL_NS 20000 /* some frames have left then */
#define WAIT_MS 10000

struct raw_ether {
    int fd;
    size_t mtu;
    uint8_t head[HEAD_BYTES - 2]; /* of what is sent */
    uint8_t *frame, *ring;
    size_t slot_bytes, slots_a_block, slots, next;
};

void raw_ether_close(struct raw_ether *e)
{
    int error = errno;
    if (!e)
        return;
    if (e->ring)
        munmap(e->ring, RING_BYTES);
    if (e->fd >= 0)
        close(e->fd);
    free(e->frame);
    free(e);
    errno = error;
}

/* ---- opening ---- */

/* The interface that has that address, or 0. */
static unsigned interface_of(const struct sockaddr_in *address)
{
    struct ifaddrs *first;
    unsigned index = 0;
    if (getifaddrs(&first) != 0)
        return 0;
    for (const struct ifaddrs *i = first; i && index == 0; i = i->ifa_next) {
        const struct sockaddr_in *own = (const void *)i->ifa_addr;
        if (own && own->sin_family == AF_INET && own->sin_addr.s_addr == address->sin_addr.s_addr)
            index = if_nametoindex(i->ifa_name);
    }
    freeifaddrs(first);
    return index;
}

static int ring_map(struct raw_ether *e)
{
    const int version = TPACKET_V2;
    e->slot_bytes = (SLOT_HEAD_BYTES + e->mtu + 31) / 16 * 16;
    e->slots_a_block = BLOCK_BYTES / e->slot_bytes;
    e->slots = e->slots_a_block * (RING_BYTES / BLOCK_BYTES);
    const struct tpacket_req request = {.tp_block_size = BLOCK_BYTES,
                                        .tp_block_nr = RING_BYTES / BLOCK_BYTES,
                                        .tp_frame_size = (unsigned)e->slot_bytes,
                                        .tp_frame_nr = (unsigned)e->slots};
    if (setsockopt(e->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof version) != 0 ||
        setsockopt(e->fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) != 0)
        return -1;
    void *ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, e->fd, 0);
    e->ring = ring == MAP_FAILED ? NULL : ring;
    return e->ring ? 0 : -1;
}

static int socket_bind(struct raw_ether *e, unsigned interface)
{
    struct sockaddr_ll at = {.sll_family = AF_PACKET,
                             .sll_ifindex = (int)interface,
                             .sll_protocol = htons(TYPE_HIGH << 8 | TYPE_LOW)};
    socklen_t size = sizeof at;
    struct ifreq asked;
    memset(&asked, 0, sizeof asked);
    asked.ifr_ifindex = (int)interface;
    e->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (e->fd < 0 || ioctl(e->fd, SIOCGIFNAME, &asked) != 0 ||
        ioctl(e->fd, SIOCGIFMTU, &asked) != 0)
        return -1;
    e->mtu = (size_t)asked.ifr_mtu;
    if (ring_map(e) != 0 || bind(e->fd, (struct sockaddr *)&at, size) != 0 ||
        getsockname(e->fd, (struct sockaddr *)&at, &size) != 0)
        return -1;
    memcpy(e->head + MAC_BYTES, at.sll_addr, MAC_BYTES);
    e->head[LINK_BYTES - 2] = TYPE_HIGH;
    e->head[LINK_BYTES - 1] = TYPE_LOW;
    return 0;
}

/* Of several sockets on one interface each hears its own. */
static int hear_channel(struct raw_ether *e, int channel)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, LINK_BYTES),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)channel, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    const struct sock_fprog filter = {sizeof code / sizeof code[0], code};
    e->head[LINK_BYTES] = (uint8_t)channel;
    return setsockopt(e->fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

/* On the interface that has that address. */
static struct raw_ether *open_on(const struct sockaddr_in *address, int channel)
{
    unsigned interface = interface_of(address);
    struct raw_ether *e = interface == 0 ? NULL : calloc(1, sizeof *e);
    if (!e) {
        errno = interface == 0 ? EADDRNOTAVAIL : ENOMEM;
        return NULL;
    }
    e->fd = -1;
    if (socket_bind(e, interface) == 0 && hear_channel(e, channel) == 0)
        e->frame = malloc(HEAD_BYTES + e->mtu);
    if (e->frame)
        return e;
    raw_ether_close(e);
    return NULL;
}

static bool parse_address(const char *text, struct sockaddr_in *address)
{
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(9)};
    errno = EADDRNOTAVAIL;
    return inet_pton(AF_INET, text, &address->sin_addr) == 1;
}

struct raw_ether *raw_ether_listen(const char *address, int channel, char *endpoint, size_t size)
{
    struct sockaddr_in own;
    struct raw_ether *e = parse_address(address, &own) ? open_on(&own, channel) : NULL;
    if (!e)
        return NULL;
    const uint8_t *mac = e->head + MAC_BYTES;
    snprintf(endpoint, size, "%s %02x:%02x:%02x:%02x:%02x:%02x", address, mac[0], mac[1], mac[2],
             mac[3], mac[4], mac[5]);
    return e;
}

/* Our address on the way to that one: nothing is sent. */
static bool own_address(const struct sockaddr_in *to, struct sockaddr_in *own)
{
    socklen_t size = sizeof *own;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool good = fd >= 0 && connect(fd, (const struct sockaddr *)to, sizeof *to) == 0 &&
                getsockname(fd, (struct sockaddr *)own, &size) == 0;
    if (fd >= 0)
        close(fd);
    return good;
}

struct raw_ether *raw_ether_connect(const char *endpoint, int channel)
{
    char address[64];
    unsigned mac[MAC_BYTES];
    struct sockaddr_in to, own;
    if (sscanf(endpoint, "%63s %x:%x:%x:%x:%x:%x", address, &mac[0], &mac[1], &mac[2], &mac[3],
               &mac[4], &mac[5]) != 7 ||
        !parse_address(address, &to) || !own_address(&to, &own))
        return NULL;
    struct raw_ether *e = open_on(&own, channel);
    for (int i = 0; e && i < MAC_BYTES; i++)
        e->head[i] = (uint8_t)mac[i];
    if (!e || raw_ether_send(e, "", 1) == 0)
        return e;
    raw_ether_close(e);
    return NULL;
}

/* ---- moving bytes ---- */

/* An interface whose queue is full takes no more for a moment. */
static int send_frame(const struct raw_ether *e, size_t size)
{
    const struct timespec pause = {.tv_nsec = FULL_NS};
    const uint64_t end_ns = clock_ns() + WAIT_MS * UINT64_C(1000000);
    while (send(e->fd, e->frame, size, 0) < 0) {
        if (errno != ENOBUFS || clock_ns() > end_ns)
            return -1;
        nanosleep(&pause, NULL);
    }
    return 0;
}

int raw_ether_send(const struct raw_ether *e, const void *bytes, size_t size)
{
    memcpy(e->frame, e->head, sizeof e->head);
    for (const uint8_t *at = bytes; size > 0;) {
        size_t part = size < e->mtu - 4 ? size : e->mtu - 4;
        e->frame[HEAD_BYTES - 2] = (uint8_t)(part >> 8);
        e->frame[HEAD_BYTES - 1] = (uint8_t)part;
        memcpy(e->frame + HEAD_BYTES, at, part);
        if (send_frame(e, HEAD_BYTES + part) != 0)
            return -1;
        at += part;
        size -= part;
    }
    return 0;
}

static struct tpacket2_hdr *next_slot(const struct raw_ether *e)
{
    size_t block = e->next / e->slots_a_block, in_block = e->next % e->slots_a_block;
    return (void *)(e->ring + block * BLOCK_BYTES + in_block * e->slot_bytes);
}

static bool ready(const struct tpacket2_hdr *s)
{
    return (__atomic_load_n(&s->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) != 0;
}

static int await_frame(const struct raw_ether *e, const struct tpacket2_hdr *s, uint64_t spin_ns)
{
    struct pollfd p = {.fd = e->fd, .events = POLLIN};
    uint64_t end_ns = spin_ns > 0 ? clock_ns() + spin_ns : 0;
    while (!ready(s) && end_ns > 0 && clock_ns() < end_ns)
        ;
    if (ready(s) || poll(&p, 1, WAIT_MS) > 0)
        return 0;
    errno = ETIMEDOUT;
    return -1;
}

/* The bytes of one frame, at most `size`; who sent it is in *from unless NULL. */
static ssize_t receive_one(struct raw_ether *e, uint8_t *bytes, size_t size, uint64_t spin_ns,
                           uint8_t *from)
{
    struct tpacket2_hdr *s = next_slot(e);
    while (!ready(s)) {
        if (await_frame(e, s, spin_ns) != 0)
            return -1;
    }
    const uint8_t *frame = (const uint8_t *)s + s->tp_mac;
    size_t part = (size_t)frame[HEAD_BYTES - 2] << 8 | frame[HEAD_BYTES - 1];
    part = part < size ? part : size;
    memcpy(bytes, frame + HEAD_BYTES, part);
    if (from)
        memcpy(from, frame + MAC_BYTES, MAC_BYTES);
    __atomic_store_n(&s->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    e->next = e->next + 1 < e->slots ? e->next + 1 : 0;
    return (ssize_t)part;
}

int raw_ether_receive(struct raw_ether *e, void *bytes, size_t size, uint64_t spin_ns)
{
    for (uint8_t *at = bytes; size > 0;) {
        ssize_t n = receive_one(e, at, size, spin_ns, NULL);
        if (n < 0)
            return -1;
        at += n;
        size -= (size_t)n;
    }
    return 0;
}

int raw_ether_accept(struct raw_ether *e)
{
    uint8_t hello;
    return receive_one(e, &hello, 1, 0, e->head) < 0 ? -1 : 0;
}
