/*
 * raw.c - the raw programs behind one interface: kinds of sockets and shared memory, blocking or
 * looking first. They do the least that moves the same bytes, for they are the limit that Covey is
 * measured against.
 */
#include "tools/bench/tasks/raw.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "tools/bench/tasks/clock.h"
#include "tools/bench/tasks/raw_ether.h"
#include "tools/bench/tasks/raw_shm.h"

#define WAIT_S 10

struct raw {
    enum raw_kind kind;
    int listener, fd; /* -1: none */
    uint64_t spin_ns;
    struct raw_shm *shm;
    struct raw_ether *ether;
};

bool raw_is_covey(enum raw_kind kind)
{
    return kind == RAW_NONE || kind >= RAW_MORE;
}

const char *raw_name(enum raw_kind kind)
{
    static const char *const names[RAW_KINDS] = {"covey",    "futex", "futex-spin", "copies",
                                                 "unix",     "udp",   "udp-spin",   "tcp",
                                                 "tcp-spin", "ether", "ether-spin"};
    return raw_is_covey(kind) ? names[RAW_NONE] : names[kind];
}

bool raw_spins(enum raw_kind kind)
{
    return kind == RAW_FUTEX_SPIN || kind == RAW_UDP_SPIN || kind == RAW_TCP_SPIN ||
           kind == RAW_ETHER_SPIN;
}

/* Whether its messages are datagrams. */
static bool raw_is_datagram(enum raw_kind kind)
{
    return kind == RAW_UDP || kind == RAW_UDP_SPIN;
}

static bool in_frames(enum raw_kind kind)
{
    return kind == RAW_ETHER || kind == RAW_ETHER_SPIN;
}

bool raw_is_single(enum raw_kind kind)
{
    return raw_is_datagram(kind) || in_frames(kind) || kind == RAW_FUTEX || kind == RAW_FUTEX_SPIN;
}

bool raw_fits(enum raw_kind kind, size_t size)
{
    if (in_frames(kind))
        return size <= RAW_ETHER_MAX;
    return !raw_is_datagram(kind) || size <= RAW_DATAGRAM_MAX;
}

static bool in_memory(enum raw_kind kind)
{
    return kind == RAW_FUTEX || kind == RAW_FUTEX_SPIN || kind == RAW_COPY;
}

static struct raw *raw_new(enum raw_kind kind)
{
    struct raw *raw = calloc(1, sizeof *raw);
    if (!raw)
        return NULL;
    raw->kind = kind;
    raw->listener = raw->fd = -1;
    return raw;
}

void raw_close(struct raw *raw)
{
    int error = errno;
    if (!raw)
        return;
    if (raw->listener >= 0)
        close(raw->listener);
    if (raw->fd >= 0)
        close(raw->fd);
    raw_shm_close(raw->shm);
    raw_ether_close(raw->ether);
    free(raw);
    errno = error;
}

static struct raw *kept_if(struct raw *raw, bool good)
{
    if (good)
        return raw;
    raw_close(raw);
    return NULL;
}

void raw_set_spin(struct raw *raw, int spin_us)
{
    raw->spin_ns = raw_spins(raw->kind) ? (uint64_t)spin_us * 1000 : 0;
}

/* ---- opening ---- */

/* A socket bound or connected to a numeric address, or -1. */
static int inet_socket(enum raw_kind kind, const char *address, const char *port,
                       int (*use)(int, const struct sockaddr *, socklen_t))
{
    struct addrinfo *found;
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                                   .ai_socktype = raw_is_datagram(kind) ? SOCK_DGRAM : SOCK_STREAM};
    if (getaddrinfo(address, port, &hints, &found) != 0) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    int fd = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, 0);
    if (fd >= 0 && use(fd, found->ai_addr, found->ai_addrlen) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        fd = -1;
    }
    freeaddrinfo(found);
    return fd;
}

static int inet_listen(struct raw *raw, const char *address, char *endpoint)
{
    char port[16];
    struct sockaddr_storage bound;
    socklen_t size = sizeof bound;
    raw->listener = inet_socket(raw->kind, address, "0", bind);
    if (raw->listener < 0 || getsockname(raw->listener, (struct sockaddr *)&bound, &size) != 0 ||
        (!raw_is_datagram(raw->kind) && listen(raw->listener, 1) != 0))
        return -1;
    if (getnameinfo((struct sockaddr *)&bound, size, NULL, 0, port, sizeof port, NI_NUMERICSERV)) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    snprintf(endpoint, RAW_ENDPOINT_BYTES, "%s %s", address, port);
    return 0;
}

static int inet_connect(struct raw *raw, const char *endpoint)
{
    char address[RAW_ENDPOINT_BYTES], port[16];
    if (sscanf(endpoint, "%127s %15s", address, port) != 2) {
        errno = EINVAL;
        return -1;
    }
    raw->fd = inet_socket(raw->kind, address, port, connect);
    if (raw->fd < 0)
        return -1;
    return raw_is_datagram(raw->kind) ? raw_send(raw, "", 1) : 0;
}

/* The kernel names the socket: nothing lies in a folder. */
static int unix_listen(struct raw *raw, char *endpoint)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t size = sizeof name.sun_family;
    raw->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (raw->listener < 0 || bind(raw->listener, (struct sockaddr *)&name, size) != 0)
        return -1;
    size = sizeof name;
    if (getsockname(raw->listener, (struct sockaddr *)&name, &size) != 0)
        return -1;
    int length = (int)(size - offsetof(struct sockaddr_un, sun_path)) - 1;
    snprintf(endpoint, RAW_ENDPOINT_BYTES, "%.*s", length, name.sun_path + 1);
    return listen(raw->listener, 1);
}

static int unix_connect(struct raw *raw, const char *endpoint)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "%s", endpoint);
    size_t size = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(endpoint);
    raw->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return raw->fd < 0 ? -1 : connect(raw->fd, (struct sockaddr *)&name, (socklen_t)size);
}

/* Small messages go out at once, and nobody waits for ever. */
static int prepare_sockets(struct raw *raw)
{
    const struct timeval limit = {.tv_sec = WAIT_S};
    const int one = 1;
    if (setsockopt(raw->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0 ||
        setsockopt(raw->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) != 0)
        return -1;
    if (raw->kind == RAW_UNIX || raw_is_datagram(raw->kind))
        return 0;
    return setsockopt(raw->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

struct raw *raw_listen(enum raw_kind kind, const char *address, size_t bytes_max, char *endpoint)
{
    struct raw *raw = raw_new(kind);
    if (!raw)
        return NULL;
    if (kind == RAW_UNIX)
        return kept_if(raw, unix_listen(raw, endpoint) == 0);
    if (in_frames(kind)) {
        raw->ether = raw_ether_listen(address, kind, endpoint, RAW_ENDPOINT_BYTES);
        return kept_if(raw, raw->ether != NULL);
    }
    if (!in_memory(kind))
        return kept_if(raw, inet_listen(raw, address, endpoint) == 0);
    raw->shm = raw_shm_open(bytes_max, NULL);
    if (raw->shm)
        raw_shm_endpoint(raw->shm, endpoint, RAW_ENDPOINT_BYTES);
    return kept_if(raw, raw->shm != NULL);
}

struct raw *raw_connect(enum raw_kind kind, size_t bytes_max, const char *endpoint)
{
    struct raw *raw = raw_new(kind);
    if (!raw)
        return NULL;
    if (in_memory(kind)) {
        raw->shm = raw_shm_open(bytes_max, endpoint);
        return kept_if(raw, raw->shm != NULL);
    }
    if (in_frames(kind)) {
        raw->ether = raw_ether_connect(endpoint, kind);
        return kept_if(raw, raw->ether != NULL);
    }
    int failed = kind == RAW_UNIX ? unix_connect(raw, endpoint) : inet_connect(raw, endpoint);
    return kept_if(raw, !failed && prepare_sockets(raw) == 0);
}

/* The first datagram says who the other end is. */
static int udp_accept(struct raw *raw)
{
    char hello;
    struct sockaddr_storage from;
    socklen_t size = sizeof from;
    raw->fd = raw->listener;
    raw->listener = -1;
    if (prepare_sockets(raw) != 0 ||
        recvfrom(raw->fd, &hello, 1, 0, (struct sockaddr *)&from, &size) < 0)
        return -1;
    return connect(raw->fd, (struct sockaddr *)&from, size);
}

int raw_accept(struct raw *raw)
{
    const struct timeval limit = {.tv_sec = WAIT_S};
    if (in_memory(raw->kind))
        return 0;
    if (raw->ether)
        return raw_ether_accept(raw->ether);
    if (raw_is_datagram(raw->kind))
        return udp_accept(raw);
    setsockopt(raw->listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    raw->fd = accept4(raw->listener, NULL, NULL, SOCK_CLOEXEC);
    return raw->fd < 0 ? -1 : prepare_sockets(raw);
}

/* ---- moving bytes ---- */

int raw_send(struct raw *raw, const void *bytes, size_t size)
{
    if (raw->kind == RAW_COPY)
        raw_shm_copy_in(raw->shm, bytes, size);
    if (raw->shm)
        return raw->kind == RAW_COPY ? 0 : raw_shm_send(raw->shm, bytes, size);
    if (raw->ether)
        return raw_ether_send(raw->ether, bytes, size);
    for (const char *at = bytes; size > 0;) {
        ssize_t n = send(raw->fd, at, size, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return -1;
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* What is there, waiting if nothing is; 0 at the end of the stream. */
static ssize_t receive_some(struct raw *raw, void *bytes, size_t size)
{
    ssize_t n = -1;
    uint64_t end_ns = raw->spin_ns > 0 ? clock_ns() + raw->spin_ns : 0;
    while (n < 0 && end_ns > 0) {
        n = recv(raw->fd, bytes, size, MSG_DONTWAIT);
        if (n >= 0 || errno != EAGAIN || clock_ns() >= end_ns)
            break;
    }
    if (n < 0 && (end_ns == 0 || errno == EAGAIN))
        n = recv(raw->fd, bytes, size, 0);
    return n;
}

int raw_receive(struct raw *raw, void *bytes, size_t size)
{
    if (raw->kind == RAW_COPY)
        raw_shm_copy_out(raw->shm, bytes, size);
    if (raw->shm)
        return raw->kind == RAW_COPY ? 0 : raw_shm_receive(raw->shm, bytes, size, raw->spin_ns);
    if (raw->ether)
        return raw_ether_receive(raw->ether, bytes, size, raw->spin_ns);
    for (char *at = bytes; size > 0;) {
        ssize_t n = receive_some(raw, at, size);
        if (n == 0)
            errno = ECONNRESET;
        if (n == 0 || (n < 0 && errno != EINTR))
            return -1;
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}
