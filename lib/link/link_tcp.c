/*
 * link_tcp.c - the link straight between two tasks over a TCP connection.
 *
 * Before any frame flows both ends prove that they know the link's key (auth.h): the handshake is
 * a state machine stepped by ready(). Small reads come out of a buffer, so that a header costs no
 * system call of its own; large ones go straight to where they belong. In a VM that encrypts all
 * bytes after the handshake go through link_sealed.c instead. Memory for bytes is taken only when
 * the handshake is over: who cannot prove the key costs a socket and no buffer.
 */
#include "lib/link/link.h"

#include "lib/link/link_sealed.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER_BYTES (64 * 1024)
#define LEFT_BYTES 2048          /* less than that may wait of what has left */
#define DIRECT_BYTES (16 * 1024) /* reads of at least this size bypass the buffer */
#define SMALL_BYTES 4096         /* a read that gets less got everything */
#define HEAD_BYTES 256           /* of the frame behind a long one */
#define BRIEF_BYTES 256          /* sent in one piece */
#define RETRY_MS 2000            /* at most, between two tries to get through */
/* What a lost end of a message is missed after, beyond the time there and back; TCP's own 200 ms
 * are more than most exchanges take. Acknowledgements must not wait for longer. */
#define LOST_US 20000
#define ACKNOWLEDGE_US 5000

#ifndef TCP_RTO_MAX_MS /* Linux 6.15, and so the others */
#define TCP_RTO_MAX_MS 44
#endif
#ifndef TCP_RTO_MIN_US
#define TCP_RTO_MIN_US 45
#define TCP_DELACK_MAX_US 46
#endif

_Static_assert(STREAM_HELLO_BYTES >= STREAM_CHALLENGE_BYTES, "one buffer holds any handshake step");

enum tcp_state {
    TCP_CONNECTING,     /* opener: connect() is under way */
    TCP_WAIT_CHALLENGE, /* opener: HELLO is out */
    TCP_WAIT_HELLO,     /* accepter */
    TCP_WAIT_PROOF,     /* accepter: CHALLENGE is out */
    TCP_READY,
    TCP_DEAD
};

struct link_tcp {
    struct link base;
    int fd;
    enum tcp_state state;
    bool write_wanted;
    bool left_wanted; /* somebody waits until what was sent has left */
    uint64_t pace;    /* that was set; 0: none */
    int lowat;        /* that was set; 0: the system's */
    bool within_machine;
    struct stream_auth auth;
    link_tcp_find_key *find_key;
    void *context;
    uint8_t step[STREAM_HELLO_BYTES]; /* the handshake message being read */
    size_t step_used;
    uint8_t *buffer;
    size_t start, end;     /* of what is unread in buffer */
    bool bulk;             /* the last read was past the buffer: long frames come */
    bool holds;            /* the kernel may hold what was sent last, for more is to come */
    bool drained;          /* the last read took all there was: the next one waits to be told */
    struct sealed *sealed; /* instead of buffer */
};

static struct link_tcp *tcp_of(struct link *link)
{
    return (struct link_tcp *)link;
}

static ssize_t tcp_fail(struct link_tcp *tcp, const char *why)
{
    tcp->base.error = why;
    tcp->state = TCP_DEAD;
    return LINK_BROKEN;
}

static bool is_within_machine(int fd)
{
    struct sockaddr_storage own = {0}, peer = {0};
    socklen_t own_size = sizeof own, peer_size = sizeof peer;
    if (getsockname(fd, (struct sockaddr *)&own, &own_size) != 0 ||
        getpeername(fd, (struct sockaddr *)&peer, &peer_size) != 0 ||
        own.ss_family != peer.ss_family)
        return false;
    const struct sockaddr_in *a = (const void *)&own, *b = (const void *)&peer;
    const struct sockaddr_in6 *a6 = (const void *)&own, *b6 = (const void *)&peer;
    return own.ss_family == AF_INET6
               ? memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof a6->sin6_addr) == 0
               : a->sin_addr.s_addr == b->sin_addr.s_addr;
}

/* The handshake is over. */
static void tcp_begin(struct link_tcp *tcp, bool opener)
{
    tcp->state = TCP_READY;
    tcp->within_machine = is_within_machine(tcp->fd);
    if (tcp->auth.encrypt)
        tcp->sealed = sealed_create(&tcp->auth, opener);
    else
        tcp->buffer = malloc(BUFFER_BYTES);
    if (tcp->sealed == NULL && tcp->buffer == NULL)
        tcp_fail(tcp, "out of memory");
}

static ssize_t tcp_errno(struct link_tcp *tcp)
{
    if (errno == EAGAIN || errno == EINTR || errno == EINPROGRESS)
        return 0;
    return tcp_fail(tcp, strerror(errno));
}

/* ---- handshake ------------------------------------------------------------------------------- */

/* A handshake message is far smaller than an empty socket buffer: it goes out whole or not. */
static bool put_step(struct link_tcp *tcp, const void *bytes, size_t size)
{
    if (send(tcp->fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size)
        return true;
    tcp_fail(tcp, "the handshake could not be sent");
    return false;
}

/* Reads up to `size` bytes of a step; true when it is complete. */
static bool get_step(struct link_tcp *tcp, size_t size)
{
    ssize_t n = recv(tcp->fd, tcp->step + tcp->step_used, size - tcp->step_used, MSG_DONTWAIT);
    if (n == 0)
        tcp_fail(tcp, "closed during the handshake");
    else if (n < 0)
        tcp_errno(tcp);
    else
        tcp->step_used += (size_t)n;
    if (tcp->step_used < size)
        return false;
    tcp->step_used = 0;
    return true;
}

static void step_connecting(struct link_tcp *tcp)
{
    int error = 0;
    socklen_t size = sizeof error;
    struct sockaddr_storage peer;
    socklen_t peer_size = sizeof peer;
    getsockopt(tcp->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
        tcp_fail(tcp, strerror(error));
        return;
    }
    if (getpeername(tcp->fd, (struct sockaddr *)&peer, &peer_size) != 0)
        return; /* still under way */
    tcp->write_wanted = false;
    if (put_step(tcp, tcp->auth.hello, sizeof tcp->auth.hello))
        tcp->state = TCP_WAIT_CHALLENGE;
}

static void step_wait_challenge(struct link_tcp *tcp)
{
    uint8_t proof[STREAM_PROOF_BYTES];
    if (!get_step(tcp, STREAM_CHALLENGE_BYTES))
        return;
    const char *refused = stream_auth_prove(&tcp->auth, tcp->step, proof);
    if (refused != NULL)
        tcp_fail(tcp, refused);
    else if (put_step(tcp, proof, sizeof proof))
        tcp_begin(tcp, true);
}

static void step_wait_hello(struct link_tcp *tcp)
{
    uint32_t opener, accepter;
    uint8_t nonce[AUTH_NONCE_BYTES], challenge[AUTH_NONCE_BYTES];
    struct link_secret secret = {.encrypt = false};
    if (!get_step(tcp, STREAM_HELLO_BYTES))
        return;
    const char *refused = stream_auth_hello(tcp->step, &opener, &accepter, nonce);
    if (refused == NULL &&
        !tcp->find_key(tcp->context, &tcp->base, opener, accepter, nonce, &secret))
        refused = "nobody expects this link";
    if (refused != NULL) {
        tcp_fail(tcp, refused);
        return;
    }
    randombytes_buf(challenge, sizeof challenge);
    stream_auth_accept(&tcp->auth, secret.key, tcp->step, challenge);
    tcp->auth.encrypt = secret.encrypt;
    sodium_memzero(&secret, sizeof secret);
    if (put_step(tcp, tcp->auth.challenge, sizeof tcp->auth.challenge))
        tcp->state = TCP_WAIT_PROOF;
}

static void step_wait_proof(struct link_tcp *tcp)
{
    if (!get_step(tcp, STREAM_PROOF_BYTES))
        return;
    const char *refused = stream_auth_check(&tcp->auth, tcp->step);
    if (refused != NULL)
        tcp_fail(tcp, refused);
    else
        tcp_begin(tcp, false);
}

static int tcp_ready(struct link *link)
{
    static void (*const steps[])(struct link_tcp *) = {
        [TCP_CONNECTING] = step_connecting,
        [TCP_WAIT_CHALLENGE] = step_wait_challenge,
        [TCP_WAIT_HELLO] = step_wait_hello,
        [TCP_WAIT_PROOF] = step_wait_proof,
    };
    struct link_tcp *tcp = tcp_of(link);
    for (enum tcp_state before = TCP_DEAD; tcp->state < TCP_READY && tcp->state != before;) {
        before = tcp->state;
        steps[tcp->state](tcp);
    }
    if (tcp->state == TCP_DEAD)
        return (int)LINK_BROKEN;
    return tcp->state == TCP_READY;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* What link_sealed.c returned. */
static ssize_t sealed_result(struct link_tcp *tcp, ssize_t n, const char *error)
{
    if (n != LINK_BROKEN)
        return n;
    return tcp_fail(tcp, error != NULL ? error : strerror(errno));
}

static ssize_t tcp_send_sealed(struct link_tcp *tcp, const struct iovec *iov, int count)
{
    const char *error = NULL;
    ssize_t n = sealed_send(tcp->sealed, tcp->fd, iov, count, &error);
    tcp->write_wanted = n == 0;
    return sealed_result(tcp, n, error);
}

/* Copies up to `size` bytes; how many there are. */
static size_t gather(const struct iovec *iov, int count, uint8_t *bytes, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        if (used + iov[i].iov_len <= size && iov[i].iov_len > 0)
            memcpy(bytes + used, iov[i].iov_base, iov[i].iov_len);
        used += iov[i].iov_len;
    }
    return used;
}

/* Setting what is set pushes what is held. */
static ssize_t tcp_push(struct link_tcp *tcp)
{
    const int on = 1;
    if (tcp->holds)
        setsockopt(tcp->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    tcp->holds = false;
    return 0;
}

static ssize_t tcp_send(struct link *link, const struct iovec *iov, int count)
{
    struct link_tcp *tcp = tcp_of(link);
    int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (link->more ? MSG_MORE : 0);
    if (count == 0)
        return tcp_push(tcp);
    if (tcp->sealed != NULL)
        return tcp_send_sealed(tcp, iov, count);
    union {
        const struct iovec *in;
        struct iovec *msg;
    } u = {.in = iov};
    struct msghdr msg = {.msg_iov = u.msg, .msg_iovlen = (size_t)count};
    uint8_t brief[BRIEF_BYTES]; /* a call with a vector takes longer than to copy so few */
    size_t size = gather(iov, count, brief, sizeof brief);
    ssize_t n =
        size <= sizeof brief ? send(tcp->fd, brief, size, flags) : sendmsg(tcp->fd, &msg, flags);
    tcp->write_wanted = n < 0;
    tcp->holds = link->more;
    if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
        return LINK_CLOSED;
    return n < 0 ? tcp_errno(tcp) : n;
}

static ssize_t tcp_got(struct link_tcp *tcp, ssize_t n)
{
    if (n > 0)
        return n;
    if (n == 0 || errno == ECONNRESET)
        return LINK_CLOSED;
    return tcp_errno(tcp);
}

/* Straight to where it belongs, and the head of the next frame, of which little else, into the
 * buffer: that may be a long one, too. */
static ssize_t tcp_read_long(struct link_tcp *tcp, void *bytes, size_t size)
{
    struct iovec iov[] = {{bytes, size}, {tcp->buffer, HEAD_BYTES}};
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};
    ssize_t n = tcp_got(tcp, recvmsg(tcp->fd, &msg, MSG_DONTWAIT));
    if (n <= 0)
        return n;
    tcp->bulk = true;
    tcp->start = 0;
    tcp->end = (size_t)n > size ? (size_t)n - size : 0;
    return n - (ssize_t)tcp->end;
}

static ssize_t tcp_recv(struct link *link, void *bytes, size_t size)
{
    struct link_tcp *tcp = tcp_of(link);
    if (tcp->sealed != NULL) {
        const char *error = NULL;
        ssize_t n = sealed_recv(tcp->sealed, tcp->fd, bytes, size, &error);
        return sealed_result(tcp, n, error);
    }
    if (tcp->start == tcp->end) {
        bool drained = tcp->drained;
        tcp->drained = false;
        if (drained)
            return 0;
        if (size >= DIRECT_BYTES || (tcp->bulk && size > HEAD_BYTES))
            return tcp_read_long(tcp, bytes, size);
        size_t most = tcp->bulk ? SMALL_BYTES : BUFFER_BYTES;
        ssize_t n = tcp_got(tcp, recv(tcp->fd, tcp->buffer, most, MSG_DONTWAIT));
        if (n <= 0)
            return n;
        tcp->drained = n < SMALL_BYTES;
        tcp->bulk = false;
        tcp->start = 0;
        tcp->end = (size_t)n;
    }
    size_t part = tcp->end - tcp->start < size ? tcp->end - tcp->start : size;
    memcpy(bytes, tcp->buffer + tcp->start, part);
    tcp->start += part;
    return (ssize_t)part;
}

/* Whether the congestion control paces in any case, as BBR does. Pacing others makes the kernel
 * pace them by window and round trip, too, and round trips that had delayed acknowledgements in
 * them are so long that a stream which is seldom used then goes at a fraction of its link's rate.
 */
static bool is_paced(int fd)
{
    char name[16] = "";
    socklen_t length = sizeof name - 1;
    return getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &length) == 0 &&
           strncmp(name, "bbr", 3) == 0;
}

void link_tcp_pace(struct link *link, uint64_t bytes_per_s)
{
    struct link_tcp *tcp = tcp_of(link);
    uint64_t rate = bytes_per_s == 0 ? UINT64_MAX : bytes_per_s;
    if (tcp->pace != bytes_per_s && is_paced(tcp->fd) && !tcp->within_machine)
        setsockopt(tcp->fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof rate);
    tcp->pace = bytes_per_s;
}

void link_tcp_expect_bulk(struct link *link)
{
    const int off = 0;
    setsockopt(tcp_of(link)->fd, IPPROTO_TCP, TCP_QUICKACK, &off, sizeof off);
}

static void tcp_keep_little(struct link_tcp *tcp, int bytes)
{
    if (tcp->lowat != bytes)
        setsockopt(tcp->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof bytes);
    tcp->lowat = bytes;
}

bool link_tcp_is_within_machine(const struct link *link)
{
    return ((const struct link_tcp *)link)->within_machine;
}

size_t link_tcp_unsent(const struct link *link)
{
    const struct link_tcp *tcp = (const struct link_tcp *)link;
    int bytes = 0;
    return ioctl(tcp->fd, SIOCOUTQNSD, &bytes) == 0 ? (size_t)bytes : 0;
}

void link_tcp_hold_little(struct link *link, int bytes)
{
    tcp_keep_little(tcp_of(link), bytes);
}

bool link_tcp_left(struct link *link)
{
    struct link_tcp *tcp = tcp_of(link);
    if (link_tcp_unsent(link) < LEFT_BYTES) {
        tcp_keep_little(tcp, 0);
        tcp->left_wanted = false;
        return true;
    }
    tcp_keep_little(tcp, LEFT_BYTES); /* writable when less than that waits */
    tcp->left_wanted = true;
    return false;
}

static bool tcp_arm(struct link *link)
{
    const struct link_tcp *tcp = tcp_of(link);
    return tcp->sealed != NULL ? sealed_holds(tcp->sealed) : tcp->start < tcp->end;
}

static int tcp_fd(const struct link *link, bool *write_wanted)
{
    const struct link_tcp *tcp = (const struct link_tcp *)link;
    *write_wanted = tcp->write_wanted || tcp->left_wanted;
    return tcp->fd;
}

static void tcp_free(struct link *link)
{
    struct link_tcp *tcp = tcp_of(link);
    sodium_memzero(&tcp->auth, sizeof tcp->auth);
    close(tcp->fd);
    free(tcp->buffer);
    sealed_destroy(tcp->sealed);
    free(tcp);
}

static const struct link_ops tcp_ops = {.name = "tcp",
                                        .send = tcp_send,
                                        .recv = tcp_recv,
                                        .arm = tcp_arm,
                                        .fd = tcp_fd,
                                        .ready = tcp_ready,
                                        .free = tcp_free};

/* Firewalls between the hosts forget a stream that is long silent: the kernel speaks up now and
 * then. It gives up last of all: whether the other host lives is the daemons' to say. */
static void tcp_keep_alive(int fd)
{
    const int on = 1, pause_s = 60, tries = 127;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &pause_s, sizeof pause_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &pause_s, sizeof pause_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof tries);
}

/* By itself the kernel doubles the time to its next try: what a cut of 30 s held up would wait for
 * another 24 s. Trying often it would give up soon, where it is not told how long it must not:
 * twelve days, for with twice as much it takes what it is going to send in some milliseconds for
 * what was sent before that time, and gives up at once. */
static void tcp_try_often(int fd)
{
    const int retry_ms = RETRY_MS, patience_ms = 1 << 30;
    const int lost_us = LOST_US, acknowledge_us = ACKNOWLEDGE_US;
    if (setsockopt(fd, IPPROTO_TCP, TCP_RTO_MAX_MS, &retry_ms, sizeof retry_ms) != 0)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience_ms, sizeof patience_ms);
    setsockopt(fd, IPPROTO_TCP, TCP_RTO_MIN_US, &lost_us, sizeof lost_us);
    setsockopt(fd, IPPROTO_TCP, TCP_DELACK_MAX_US, &acknowledge_us, sizeof acknowledge_us);
}

static struct link_tcp *tcp_create(int fd, enum tcp_state state)
{
    const int on = 1;
    struct link_tcp *tcp = calloc(1, sizeof *tcp);
    if (tcp == NULL)
        return NULL;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    tcp_keep_alive(fd);
    tcp_try_often(fd);
    tcp->base.ops = &tcp_ops;
    tcp->fd = fd;
    tcp->state = state;
    return tcp;
}

struct link *link_tcp_open(int fd, const struct stream_auth *auth)
{
    struct link_tcp *tcp = tcp_create(fd, TCP_CONNECTING);
    if (tcp == NULL)
        return NULL;
    tcp->auth = *auth;
    tcp->write_wanted = true;
    return &tcp->base;
}

struct link *link_tcp_accept(int fd, link_tcp_find_key *find_key, void *context)
{
    struct link_tcp *tcp = tcp_create(fd, TCP_WAIT_HELLO);
    if (tcp == NULL)
        return NULL;
    tcp->find_key = find_key;
    tcp->context = context;
    return &tcp->base;
}
