/*
 * The raw Ethernet link. In: libpcap in immediate mode, or a frame would wait for a buffer to fill,
 * with a ring in which a burst finds room, and a filter in the kernel: to our MAC or to many, for
 * daemons. It is bound to our EtherType: a capture of all types would be handed every frame that
 * this host sends or receives, whoever's it is, which is dear. Out: a packet socket of our own,
 * since pcap_inject() is a system call a frame; frames are gathered in slots and leave together by
 * sendmmsg(); a datagram that is built in the next slot (ether_room()) is not copied. The ring
 * holds what a dozen hosts send in one go, and no more: its slots are used in turn, whatever comes,
 * and a ring that is larger than the processor's cache makes every frame a miss (with 16 MiB half
 * round trips of 64 KiB took half as long again as with 4).
 *
 * Invariants: slots first .. first+count-1 (no wrap) are in use. A frame that does not fit
 * anywhere, or that the kernel refuses, is a loss that the window above repairs.
 */
#include "daemon/link/ether.h"

#include <errno.h>
#include <fcntl.h>
#include <netpacket/packet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/link/pcap_library.h"
#include "proto/wire/counters.h"
#include "proto/wire/ether.h"

#define SLOTS 64
#define RING_BYTES (4 * 1024 * 1024)
#define SEND_BUFFER_BYTES (8 * 1024 * 1024)
#define RECEIVE_FRAMES 256 /* before others have their turn */
#define TAG_BYTES 4        /* a VLAN tag that the device left in place */
#define FILTER_BYTES 160

struct slot {
    size_t size;
    uint8_t *data;
};

struct ether_link {
    struct nic nic;
    uint16_t type;
    struct pcap_library lib;
    pcap_t *pcap;
    int fd; /* what sends */
    struct slot out[SLOTS];
    unsigned first, count;
    uint64_t sent, received, received_bytes, sends, refused, dropped, foreign;
};

/* ---- opening ---- */

static int pcap_failed(struct ether_link *link, int error, struct failure *why)
{
    if (error == PCAP_ERROR_PERM_DENIED)
        return failure_set(why, "coveyd may not open raw sockets");
    const char *text = link->pcap == NULL ? "" : link->lib.geterr(link->pcap);
    return failure_set(why, "cannot capture on %s: %s", link->nic.name,
                       text[0] != '\0' ? text : link->lib.statustostr(error));
}

static int filter_set(struct ether_link *link, struct failure *why)
{
    struct bpf_program program;
    char mac[ADDRESS_TEXT_BYTES], text[FILTER_BYTES];
    address_text(&link->nic.mac, mac);
    snprintf(text, sizeof text,
             "ether proto 0x%04x and (ether dst %s or ether multicast) and "
             "ether[18:4] = %d",
             link->type, mac, ETHER_CHANNEL_DAEMON);
    if (link->lib.compile(link->pcap, &program, text, 1, PCAP_NETMASK_UNKNOWN) != 0)
        return pcap_failed(link, PCAP_ERROR, why);
    int error = link->lib.setfilter(link->pcap, &program);
    link->lib.freecode(&program);
    return error != 0 ? pcap_failed(link, error, why) : 0;
}

static int capture_open(struct ether_link *link, struct failure *why)
{
    char text[PCAP_ERRBUF_SIZE];
    if (pcap_library_open(&link->lib, why) != 0)
        return -1;
    link->pcap = link->lib.create(link->nic.name, text);
    if (link->pcap == NULL)
        return failure_set(why, "cannot capture on %s: %s", link->nic.name, text);
    link->lib.set_snaplen(link->pcap, (int)(ETHER_LINK_BYTES + TAG_BYTES + link->nic.mtu));
    link->lib.set_immediate_mode(link->pcap, 1);
    link->lib.set_buffer_size(link->pcap, RING_BYTES);
    link->lib.set_protocol_linux(link->pcap, link->type);
    int error = link->lib.activate(link->pcap); /* a warning is > 0 */
    if (error < 0)
        return pcap_failed(link, error, why);
    if (link->lib.datalink(link->pcap) != DLT_EN10MB)
        return failure_set(why, "interface %s is not Ethernet", link->nic.name);
    if (filter_set(link, why) != 0)
        return -1;
    if (link->lib.setdirection(link->pcap, PCAP_D_IN) != 0 ||
        link->lib.setnonblock(link->pcap, 1, text) != 0)
        return pcap_failed(link, PCAP_ERROR, why);
    fcntl(link->lib.fileno(link->pcap), F_SETFD, FD_CLOEXEC);
    return 0;
}

/* A socket that only sends: bound to protocol 0 it receives nothing. */
static int sender_open(struct ether_link *link, struct failure *why)
{
    int size = SEND_BUFFER_BYTES;
    struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = link->nic.index};
    link->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (link->fd < 0 && (errno == EPERM || errno == EACCES))
        return failure_set(why, "coveyd may not open raw sockets");
    if (link->fd < 0 || bind(link->fd, (struct sockaddr *)&to, sizeof to) != 0)
        return failure_set(why, "cannot send on %s: %s", link->nic.name, strerror(errno));
    if (setsockopt(link->fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) != 0)
        setsockopt(link->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size); /* as much as it may be */
    return 0;
}

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

struct ether_link *ether_open(const struct nic *nic, uint16_t type, struct failure *why)
{
    struct ether_link *link = calloc(1, sizeof *link);
    if (link == NULL) {
        failure_memory(why);
        return NULL;
    }
    link->nic = *nic;
    link->type = type;
    link->fd = -1;
    if (sender_open(link, why) == 0 && slots_create(link, why) == 0 && capture_open(link, why) == 0)
        return link;
    ether_close(link);
    return NULL;
}

void ether_close(struct ether_link *link)
{
    if (link == NULL)
        return;
    int saved = errno;
    if (link->pcap != NULL)
        link->lib.close(link->pcap);
    pcap_library_close(&link->lib);
    if (link->fd >= 0)
        close(link->fd);
    free(link->out[0].data);
    free(link);
    errno = saved;
}

int ether_fd(const struct ether_link *link)
{
    return link->lib.get_selectable_fd(link->pcap);
}

int ether_send_fd(const struct ether_link *link)
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

struct incoming {
    struct ether_link *link;
    ether_datagram_fn *fn;
    void *context;
};

/* The filter let it through; but frames that came before it was set are here, too. */
static bool is_for_us(const struct ether_link *link, const struct address *to, uint16_t type)
{
    return type == link->type && (ether_is_group(to) || address_equal(to, &link->nic.mac));
}

static void on_ether_frame(u_char *context, const struct pcap_pkthdr *head, const u_char *bytes)
{
    struct incoming *in = (struct incoming *)(void *)context;
    struct cursor c = cursor_reader(bytes, head->caplen);
    struct address to, from;
    struct ether ether;
    uint16_t type;
    ether_get_link(&c, &to, &from, &type);
    if (!is_for_us(in->link, &to, type) || ether_get(&c, &ether) != NULL ||
        ether.channel != ETHER_CHANNEL_DAEMON) {
        in->link->foreign++;
        return;
    }
    in->link->received++;
    in->link->received_bytes += ether.size;
    in->fn(in->context, &from, ether.datagram, ether.size);
}

size_t ether_receive(struct ether_link *link, ether_datagram_fn *fn, void *context)
{
    struct incoming in = {.link = link, .fn = fn, .context = context};
    uint64_t before = link->received_bytes;
    link->lib.dispatch(link->pcap, RECEIVE_FRAMES, on_ether_frame, (u_char *)(void *)&in);
    return (size_t)(link->received_bytes - before);
}

const char *ether_stat(struct ether_link *link, size_t i, uint64_t *value)
{
    struct pcap_stat kernel = {0};
    link->lib.stats(link->pcap, &kernel);
    const struct counter stats[] = {
        {"ether_socket.frames_sent", link->sent},
        {"ether_socket.frames_received", link->received},
        {"ether_socket.frames_refused", link->foreign},
        {"ether_socket.send_calls", link->sends},
        {"ether_socket.sends_refused", link->refused},
        {"ether_socket.sends_dropped", link->dropped},
        {"ether_socket.captured", kernel.ps_recv},
        {"ether_socket.overflowed", kernel.ps_drop},
    };
    return counter_get(stats, sizeof stats / sizeof stats[0], i, value);
}
