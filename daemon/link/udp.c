/*
 * The UDP link. Out: BATCHES slots of up to BATCH_BYTES, each for one address and one datagram
 * size; a slot is one message of sendmmsg() and, when it holds several datagrams, one segmented
 * send. In: recvmmsg() into BATCHES buffers, each maybe several datagrams joined by the kernel.
 * What a burst filled is given back when only the first of them is needed: one machine may have
 * thousands of daemons, of which few are busy.
 *
 * Invariants: slots first .. first+count-1 (no wrap) are in use; only the last one still grows.
 * What is built behind it (udp_room()) may reach over its end: there is one slot's room behind the
 * last. A datagram that does not fit anywhere, or that the kernel refuses, is a loss that the
 * window above repairs.
 */
#include "daemon/link/udp.h"

#include <errno.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/base/sockaddr.h"
#include "proto/wire/counters.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define BATCHES 16
#define BATCH_BYTES 65535
#define SEGMENTED_BYTES_MAX 65000 /* what fits one IP packet with its headers */
#define SEGMENTS_MAX 64           /* as the kernel's UDP_MAX_SEGMENTS */
#define RECEIVE_ROUNDS 4
#define QUIET_READS 32 /* in a row, after which what a burst filled is given back */
#define SOCKET_BUFFER_BYTES (8 * 1024 * 1024)

struct batch {
    union sockaddr_any to;
    socklen_t to_size;
    size_t segment; /* size of each datagram but the last */
    size_t bytes;
    unsigned count;
    bool closed; /* a shorter datagram ended it */
    uint8_t *data;
};

struct udp {
    int fd;
    int family;
    uint16_t port;
    bool segments; /* the kernel can segment */
    struct address last_to;
    struct batch out[BATCHES];
    unsigned first, count;
    uint8_t *in;    /* BATCHES buffers */
    bool filled;    /* more than the first of them, since they were given back */
    unsigned quiet; /* reads since then that needed no more than the first */
    uint64_t sent, received, received_bytes, sends, receives, refused, dropped;
};

/* ---- the socket ---- */

static void option(int fd, int level, int name, int value)
{
    if (setsockopt(fd, level, name, &value, sizeof value) != 0)
        return; /* each is an improvement, none a condition */
}

static int bind_address(const struct udp *udp, const struct udp_config *config, uint16_t port)
{
    if (config->bind != NULL && config->bind[0] != '\0') {
        /* The address that the configuration names. */
        const char *ip = config->bind;
        union sockaddr_any a;
        struct address address;
        socklen_t size = 0;
        if (sockaddr_parse(ip, port, &address))
            size = sockaddr_from_address(&a, &address, udp->family);
        if (size == 0) {
            errno = EINVAL;
            return -1;
        }
        return bind(udp->fd, &a.any, size);
    }
    bool local = config->local;
    union sockaddr_any a;
    memset(&a, 0, sizeof a);
    a.any.sa_family = (sa_family_t)udp->family;
    if (udp->family == AF_INET6) {
        a.in6.sin6_port = htons(port);
        return bind(udp->fd, &a.any, sizeof a.in6);
    }
    a.in.sin_port = htons(port);
    a.in.sin_addr.s_addr = htonl(local ? INADDR_LOOPBACK : INADDR_ANY);
    return bind(udp->fd, &a.any, sizeof a.in);
}

static int udp_bind(struct udp *udp, const struct udp_config *config)
{
    for (unsigned port = config->port_first; port <= config->port_last; port++)
        if (bind_address(udp, config, (uint16_t)port) == 0)
            return 0;
    return -errno;
}

/* A socket for both families; IPv4 alone where IPv6 is absent or switched off. */
static int udp_open(struct udp *udp, const struct udp_config *config)
{
    int type = SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
    udp->family = AF_INET6;
    udp->fd = config->local ? -1 : socket(AF_INET6, type, 0);
    if (udp->fd >= 0) {
        option(udp->fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
        int error = udp_bind(udp, config);
        if (error != -EADDRNOTAVAIL)
            return error;
        close(udp->fd);
    }
    udp->family = AF_INET;
    udp->fd = socket(AF_INET, type, 0);
    return udp->fd < 0 ? -errno : udp_bind(udp, config);
}

static int udp_find_port(struct udp *udp)
{
    union sockaddr_any a;
    socklen_t size = sizeof a;
    if (getsockname(udp->fd, &a.any, &size) != 0)
        return -errno;
    udp->port = ntohs(udp->family == AF_INET6 ? a.in6.sin6_port : a.in.sin_port);
    return 0;
}

static int udp_buffers(struct udp *udp)
{
    udp->in = malloc((size_t)BATCHES * BATCH_BYTES);
    uint8_t *out = malloc((size_t)(BATCHES + 1) * BATCH_BYTES);
    udp->out[0].data = out; /* slot 0's is the block itself, freed as such */
    if (udp->in == NULL || out == NULL)
        return -ENOMEM;
    for (size_t i = 1; i < BATCHES; i++)
        udp->out[i].data = out + i * BATCH_BYTES;
    return 0;
}

struct udp *udp_create(const struct udp_config *config, struct failure *why)
{
    struct udp *udp = calloc(1, sizeof *udp);
    if (udp == NULL) {
        failure_memory(why);
        return NULL;
    }
    int error = udp_open(udp, config);
    if (error == 0)
        error = udp_buffers(udp);
    if (error == 0)
        error = udp_find_port(udp);
    if (error == 0) {
        int size = SOCKET_BUFFER_BYTES, on = 1;
        option(udp->fd, SOL_SOCKET, SO_RCVBUF, size);
        option(udp->fd, SOL_SOCKET, SO_SNDBUF, size);
        option(udp->fd, SOL_SOCKET, SO_RCVBUFFORCE, size); /* beyond the limit, for root */
        option(udp->fd, SOL_SOCKET, SO_SNDBUFFORCE, size);
        option(udp->fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
        if (udp->family == AF_INET6)
            option(udp->fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
        option(udp->fd, IPPROTO_UDP, UDP_GRO, on);
        int segment = 0;
        udp->segments =
            setsockopt(udp->fd, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof segment) == 0;
        return udp;
    }
    bool named = config->bind != NULL && config->bind[0] != '\0';
    failure_set(why, "cannot open UDP port %u-%u%s%s: %s", config->port_first, config->port_last,
                named ? " of " : "", named ? config->bind : "", strerror(-error));
    udp_destroy(udp);
    return NULL;
}

void udp_destroy(struct udp *udp)
{
    if (udp == NULL)
        return;
    int saved = errno;
    if (udp->fd >= 0)
        close(udp->fd);
    free(udp->in);
    free(udp->out[0].data);
    free(udp);
    errno = saved;
}

int udp_fd(const struct udp *udp)
{
    return udp->fd;
}

uint16_t udp_port(const struct udp *udp)
{
    return udp->port;
}

bool udp_ipv6(const struct udp *udp)
{
    return udp->family == AF_INET6;
}

/* ---- out ---- */

#define RUN_BYTES_MIN 1000 /* a shorter datagram is hardly followed by others of its size */

static bool batch_takes(const struct udp *udp, const struct batch *b, const struct address *to,
                        size_t size)
{
    return udp->segments && !b->closed && size <= b->segment && b->count < SEGMENTS_MAX &&
           b->bytes + size <= SEGMENTED_BYTES_MAX && address_equal(&udp->last_to, to);
}

static void batch_add(struct udp *udp, struct batch *b, const uint8_t *bytes, size_t size)
{
    if (bytes != b->data + b->bytes)
        memmove(b->data + b->bytes, bytes, size);
    b->bytes += size;
    b->count++;
    b->closed = size < b->segment;
    udp->sent++;
}

uint8_t *udp_room(struct udp *udp, const struct address *to)
{
    struct batch *last = udp->count == 0 ? NULL : &udp->out[udp->first + udp->count - 1];
    if (last != NULL && last->segment >= RUN_BYTES_MIN && batch_takes(udp, last, to, last->segment))
        return last->data + last->bytes;
    if (udp->first + udp->count == BATCHES)
        udp_flush(udp);
    return udp->first + udp->count == BATCHES ? NULL : udp->out[udp->first + udp->count].data;
}

void udp_send(struct udp *udp, const struct address *to, const uint8_t *bytes, size_t size)
{
    struct batch *last = udp->count == 0 ? NULL : &udp->out[udp->first + udp->count - 1];
    if (last != NULL && batch_takes(udp, last, to, size)) {
        batch_add(udp, last, bytes, size);
        return;
    }
    if (udp->first + udp->count == BATCHES)
        udp_flush(udp);
    union sockaddr_any a;
    socklen_t a_size = sockaddr_from_address(&a, to, udp->family);
    if (udp->first + udp->count == BATCHES || a_size == 0 || size > BATCH_BYTES || size == 0) {
        udp->dropped++;
        return;
    }
    struct batch *b = &udp->out[udp->first + udp->count++];
    b->to = a;
    b->to_size = a_size;
    b->segment = size;
    b->bytes = b->count = 0;
    udp->last_to = *to;
    batch_add(udp, b, bytes, size);
}

union segment_control {
    char bytes[CMSG_SPACE(sizeof(uint16_t))];
    struct cmsghdr align;
};

static void batch_message(struct batch *b, struct msghdr *msg, struct iovec *iov,
                          union segment_control *control)
{
    *iov = (struct iovec){b->data, b->bytes};
    *msg = (struct msghdr){
        .msg_name = &b->to, .msg_namelen = b->to_size, .msg_iov = iov, .msg_iovlen = 1};
    if (b->count == 1)
        return;
    msg->msg_control = control->bytes;
    msg->msg_controllen = sizeof control->bytes;
    struct cmsghdr *c = CMSG_FIRSTHDR(msg);
    uint16_t segment = (uint16_t)b->segment;
    c->cmsg_level = IPPROTO_UDP;
    c->cmsg_type = UDP_SEGMENT;
    c->cmsg_len = CMSG_LEN(sizeof segment);
    memcpy(CMSG_DATA(c), &segment, sizeof segment);
}

/* The first batch failed for another reason than a full socket. */
static void batch_refused(struct udp *udp, int error)
{
    struct batch *b = &udp->out[udp->first];
    if (b->count > 1 && (error == EIO || error == EINVAL || error == EMSGSIZE)) {
        if (error == EIO)
            udp->segments = false; /* no checksum offload on the way out */
        /* The kernel refused a segmented send: its datagrams go one by one. */
        for (size_t at = 0; at < b->bytes; at += b->segment) {
            size_t size = b->bytes - at < b->segment ? b->bytes - at : b->segment;
            if (sendto(udp->fd, b->data + at, size, 0, &b->to.any, b->to_size) < 0)
                udp->refused++;
        }
    } else {
        udp->refused += b->count;
    }
    udp->first++;
    udp->count--;
}

bool udp_flush(struct udp *udp)
{
    while (udp->count > 0) {
        struct mmsghdr messages[BATCHES];
        struct iovec iovs[BATCHES];
        union segment_control controls[BATCHES];
        memset(controls, 0, sizeof controls);
        for (unsigned i = 0; i < udp->count; i++)
            batch_message(&udp->out[udp->first + i], &messages[i].msg_hdr, &iovs[i], &controls[i]);
        udp->sends++;
        int n = sendmmsg(udp->fd, messages, udp->count, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == ENOBUFS))
            return true;
        if (n < 0) {
            batch_refused(udp, errno);
            continue;
        }
        udp->first += (unsigned)n;
        udp->count -= (unsigned)n;
    }
    udp->first = 0;
    return false;
}

/* ---- in ---- */

struct incoming {
    struct mmsghdr messages[BATCHES];
    struct iovec iovs[BATCHES];
    union sockaddr_any from[BATCHES];
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control[BATCHES];
};

static int incoming_fill(struct udp *udp, struct incoming *in)
{
    for (unsigned i = 0; i < BATCHES; i++) {
        in->iovs[i] = (struct iovec){udp->in + (size_t)i * BATCH_BYTES, BATCH_BYTES};
        in->messages[i].msg_hdr = (struct msghdr){.msg_name = &in->from[i],
                                                  .msg_namelen = sizeof in->from[i],
                                                  .msg_iov = &in->iovs[i],
                                                  .msg_iovlen = 1,
                                                  .msg_control = in->control[i].bytes,
                                                  .msg_controllen = sizeof in->control[i].bytes};
    }
    udp->receives++;
    return recvmmsg(udp->fd, in->messages, BATCHES, MSG_DONTWAIT, NULL);
}

/* After a read into n buffers. */
static void buffers_release(struct udp *udp, int n)
{
    if (n > 1) {
        udp->filled = true;
        udp->quiet = 0;
    }
    if (!udp->filled || ++udp->quiet <= QUIET_READS)
        return;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)udp->in + BATCH_BYTES + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)udp->in + (size_t)BATCHES * BATCH_BYTES) & ~(page - 1);
    madvise((void *)begin, end - begin, MADV_DONTNEED); /* else they stay */
    udp->filled = false;
    udp->quiet = 0;
}

/* The size of the datagrams that the kernel joined, or of the whole when it is one. */
static size_t segment_size(struct msghdr *msg, size_t whole)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level != IPPROTO_UDP || c->cmsg_type != UDP_GRO)
            continue;
        int size;
        memcpy(&size, CMSG_DATA(c), sizeof size);
        return size > 0 ? (size_t)size : whole;
    }
    return whole;
}

static void message_deliver(struct udp *udp, struct mmsghdr *message, udp_datagram_fn *fn,
                            void *context)
{
    struct address from;
    size_t whole = message->msg_len, segment = segment_size(&message->msg_hdr, whole);
    const uint8_t *bytes = message->msg_hdr.msg_iov->iov_base;
    udp->received_bytes += whole;
    if (!sockaddr_to_address(message->msg_hdr.msg_name, &from))
        return;
    for (size_t at = 0; at < whole; at += segment) {
        udp->received++;
        fn(context, &from, bytes + at, whole - at < segment ? whole - at : segment);
    }
}

size_t udp_receive(struct udp *udp, udp_datagram_fn *fn, void *context)
{
    struct incoming in;
    uint64_t before = udp->received_bytes;
    for (int round = 0; round < RECEIVE_ROUNDS; round++) {
        int n = incoming_fill(udp, &in);
        for (int i = 0; i < n; i++)
            message_deliver(udp, &in.messages[i], fn, context);
        buffers_release(udp, n);
        if (n < BATCHES)
            break;
    }
    return (size_t)(udp->received_bytes - before);
}

const char *udp_stat(const struct udp *udp, size_t i, uint64_t *value)
{
    const struct counter stats[] = {
        {"socket.datagrams_sent", udp->sent},   {"socket.datagrams_received", udp->received},
        {"socket.send_calls", udp->sends},      {"socket.receive_calls", udp->receives},
        {"socket.sends_refused", udp->refused}, {"socket.sends_dropped", udp->dropped},
    };
    return counter_get(stats, sizeof stats / sizeof stats[0], i, value);
}
