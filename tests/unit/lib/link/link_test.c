/* links: lib/link/link_*.c lib/link/packet_ring.c lib/link/ring.c lib/link/shared_memory.c lib/link/barrier.c proto/auth/auth.c cipher/cipher*.c proto/auth/stream_auth.c proto/auth/record.c proto/wire/cursor.c proto/wire/address.c proto/wire/datagram.c proto/session/detour.c proto/wire/ether.c proto/window/window*.c tests/sim/network.c tests/unit/lib/link/veth.c proto/session/fault.c */
/*
 * link_test.c - the contract of link.h, one suite over every kind of link.
 *
 * A kind is a row of `kinds`: how a pair of links is opened, and what happens between them while
 * nobody calls (nothing, or the network's time passes). To add one: a function that opens a pair
 * and a row. The simulated network is a kind too: windows of proto/window/window.h under loss,
 * doubles and reordering in virtual time. What only one kind can do wrong (the handshake of tcp,
 * the memory of shm) is tried below the suite.
 *
 * slow: lost Ethernet frames are sent again in real time; make quick leaves it out.
 */
#include "lib/link/link.h"
#include "lib/link/peek.h"
#include "lib/link/ring.h"
#include "lib/msg/clock.h"
#include "proto/window/window.h"
#include "proto/wire/frame.h"
#include "tests/sim/network.h"
#include "tests/unit/lib/link/veth.h"
#include "tests/unit/runner.h"

#include <CUnit/CUnit.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WAIT_MS = 30000, PIECE_MAX = 70000, FULL_MAX = 64 * 1024 * 1024 };

struct world;

/* Two links that are each other's peer, and the doorbell that each end's owner would watch. */
struct pair {
    struct link *link[2];
    int doorbell[2];
    struct world *world; /* of the simulated network */
    struct ether_port *port[2];
    struct far *far; /* the other way of both, NULL: there is none */
};

/* ---- kinds ----------------------------------------------------------------------------------- */

static void open_shm(struct pair *p, uint64_t seed)
{
    int memory;
    (void)seed;
    p->link[0] = link_shm_open(&memory);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p->link[0]);
    const char *why;
    p->link[1] = link_shm_accept(memory, dup(p->doorbell[0]), &why);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p->link[1]);
    CU_ASSERT_EQUAL(p->link[0]->ops->ready(p->link[0]), 0);
    link_shm_connect(p->link[0], dup(p->doorbell[1]));
    close(memory);
}

static const uint8_t the_key[AUTH_KEY_BYTES] = "the key of the link, 32 bytes...";
static const uint8_t the_nonce[AUTH_NONCE_BYTES] = "the nonce of it";
static const uint8_t the_challenge[AUTH_NONCE_BYTES] = "any challenge..";

/* The two ends of a TCP connection over loopback, not blocking; the first has address `from`. */
static void tcp_connect_from(in_addr_t from, int fds[2])
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(from)};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    CU_ASSERT_FATAL(bind(listener, (struct sockaddr *)&at, size) == 0 && listen(listener, 1) == 0);
    getsockname(listener, (struct sockaddr *)&at, &size);
    fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    CU_ASSERT_FATAL(bind(fds[0], (struct sockaddr *)&own, sizeof own) == 0);
    int rc = connect(fds[0], (struct sockaddr *)&at, size);
    CU_ASSERT_FATAL(rc == 0 || errno == EINPROGRESS);
    fds[1] = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    CU_ASSERT_FATAL(fds[1] >= 0);
    close(listener);
}

static void tcp_connect(int fds[2])
{
    tcp_connect_from(INADDR_LOOPBACK, fds);
}

/* What the accepter expects; `asked` counts the questions. */
struct expected {
    uint8_t key[AUTH_KEY_BYTES], nonce[AUTH_NONCE_BYTES];
    uint32_t opener, accepter;
    bool encrypt;
    int asked;
};

static const struct expected expected_link = {.key = "the key of the link, 32 bytes...",
                                              .nonce = "the nonce of it",
                                              .opener = 0x40001,
                                              .accepter = 0x80002};

static bool find_key(void *context, struct link *link, uint32_t opener, uint32_t accepter,
                     const uint8_t nonce[AUTH_NONCE_BYTES], struct link_secret *secret)
{
    struct expected *e = context;
    (void)link;
    e->asked++;
    memcpy(secret->key, e->key, AUTH_KEY_BYTES);
    secret->encrypt = e->encrypt;
    return opener == e->opener && accepter == e->accepter &&
           memcmp(nonce, e->nonce, AUTH_NONCE_BYTES) == 0;
}

static struct link *tcp_opener(int fd, const uint8_t *key, const uint8_t *nonce)
{
    struct stream_auth auth;
    stream_auth_open(&auth, key, 0x40001, 0x80002, nonce, the_challenge);
    struct link *link = link_tcp_open(fd, &auth);
    CU_ASSERT_PTR_NOT_NULL_FATAL(link);
    return link;
}

static void open_tcp_as(struct pair *p, bool encrypt)
{
    int fds[2];
    struct expected e = expected_link;
    struct stream_auth auth;
    tcp_connect(fds);
    stream_auth_open(&auth, the_key, 0x40001, 0x80002, the_nonce, the_challenge);
    auth.encrypt = e.encrypt = encrypt;
    p->link[0] = link_tcp_open(fds[0], &auth);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p->link[0]);
    p->link[1] = link_tcp_accept(fds[1], find_key, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p->link[1]);
    int a = 0, b = 0;
    while (a == 0 || b == 0) { /* loopback: what was sent is there */
        a = p->link[0]->ops->ready(p->link[0]);
        b = p->link[1]->ops->ready(p->link[1]);
    }
    CU_ASSERT(a == 1 && b == 1 && e.asked == 1);
}

static void open_tcp(struct pair *p, uint64_t seed)
{
    (void)seed;
    open_tcp_as(p, false);
}

static void open_sealed(struct pair *p, uint64_t seed)
{
    (void)seed;
    open_tcp_as(p, true);
}

/* A link on top of a window; both ends and the network between them are one world. */
struct link_sim {
    struct link base;
    struct window *window;
    uint64_t number; /* of the next packet */
    bool armed, full;
    int doorbell;
};

struct world {
    struct network *network;
    struct link_sim *end[2]; /* NULL: freed */
};

static ssize_t sim_send(struct link *link, const struct iovec *iov, int count)
{
    struct link_sim *sim = (struct link_sim *)link;
    size_t taken = 0, wanted = 0;
    for (int i = 0; i < count && taken == wanted; i++) {
        wanted += iov[i].iov_len;
        taken += window_write(sim->window, iov[i].iov_base, iov[i].iov_len);
    }
    sim->full = taken == 0;
    return (ssize_t)taken;
}

static ssize_t sim_recv(struct link *link, void *bytes, size_t size)
{
    struct link_sim *sim = (struct link_sim *)link;
    const uint8_t *there;
    size_t n = window_readable(sim->window, &there);
    n = n < size ? n : size;
    if (n > 0)
        memcpy(bytes, there, n);
    window_consume(sim->window, n);
    return (ssize_t)n;
}

static bool sim_arm(struct link *link)
{
    struct link_sim *sim = (struct link_sim *)link;
    const uint8_t *there;
    sim->armed = true;
    return window_readable(sim->window, &there) > 0;
}

static int sim_fd(const struct link *link, bool *write_wanted)
{
    (void)link;
    *write_wanted = false;
    return -1;
}

static int sim_ready(struct link *link)
{
    (void)link;
    return 1;
}

static void sim_free(struct link *link)
{
    window_destroy(((struct link_sim *)link)->window);
    free(link);
}

static struct link_sim *sim_end(int doorbell)
{
    static const struct link_ops ops = {.name = "sim",
                                        .send = sim_send,
                                        .recv = sim_recv,
                                        .arm = sim_arm,
                                        .fd = sim_fd,
                                        .ready = sim_ready,
                                        .free = sim_free};
    const struct window_config config = {.packet_bytes_min = 1200,
                                         .packet_bytes_max = 9000,
                                         .send_buffer_bytes = 256 * 1024,
                                         .receive_buffer_bytes = 256 * 1024};
    struct link_sim *sim = calloc(1, sizeof *sim);
    CU_ASSERT_PTR_NOT_NULL_FATAL(sim);
    sim->base.ops = &ops;
    sim->window = window_create(&config);
    sim->doorbell = doorbell;
    sim->number = 1;
    CU_ASSERT_PTR_NOT_NULL_FATAL(sim->window);
    return sim;
}

static void open_sim(struct pair *p, uint64_t seed)
{
    const struct network_config config = {.seed = seed,
                                          .ports = 2,
                                          .loss_ppm = 20000,
                                          .duplicate_ppm = 20000,
                                          .reorder_ppm = 50000,
                                          .reorder_us = 3000,
                                          .delay_us = 500,
                                          .jitter_us = 200,
                                          .datagram_bytes = 4000};
    p->world = calloc(1, sizeof *p->world);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p->world);
    p->world->network = network_create(&config);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p->world->network);
    for (int i = 0; i < 2; i++) {
        p->world->end[i] = sim_end(p->doorbell[i]);
        p->link[i] = &p->world->end[i]->base;
    }
}

/* Sends what the window of an end has to send now. */
static void sim_transmit(struct world *w, uint32_t i)
{
    struct link_sim *sim = w->end[i];
    uint64_t now = network_now(w->network);
    struct {
        uint64_t number;
        uint8_t payload[9000];
    } packet;
    size_t size;
    if (window_deadline(sim->window) <= now)
        window_on_timer(sim->window, now);
    while ((size = window_next(sim->window, sim->number, packet.payload, sizeof packet.payload,
                               now)) > 0) {
        packet.number = sim->number++;
        network_send(w->network, i, 1 - i, &packet, sizeof packet.number + size);
    }
}

static void sim_ring(struct link_sim *sim)
{
    const uint64_t one = 1;
    const uint8_t *there;
    bool readable = sim->armed && window_readable(sim->window, &there) > 0;
    bool writable = sim->full && window_writable(sim->window) > 0;
    if (!readable && !writable)
        return;
    sim->armed = sim->full = false;
    CU_ASSERT_EQUAL(write(sim->doorbell, &one, sizeof one), sizeof one);
}

/* Lets time go on to the next event; false: none will ever come. */
static bool progress_sim(struct pair *p)
{
    struct world *w = p->world;
    struct network_datagram *d;
    uint64_t number;
    for (uint32_t i = 0; i < 2; i++)
        sim_transmit(w, i);
    uint64_t next = network_next(w->network);
    for (int i = 0; i < 2; i++) {
        uint64_t deadline = window_deadline(w->end[i]->window);
        next = deadline < next ? deadline : next;
    }
    if (next == UINT64_MAX)
        return false;
    if (next > network_now(w->network))
        network_advance(w->network, next);
    while ((d = network_take(w->network)) != NULL) {
        memcpy(&number, d->bytes, sizeof number);
        CU_ASSERT_PTR_NULL(window_on_packet(w->end[d->to]->window, number, d->bytes + sizeof number,
                                            d->size - sizeof number, network_now(w->network)));
        free(d);
    }
    sim_ring(w->end[0]);
    sim_ring(w->end[1]);
    return true;
}

/* Does what is due at both ends; when the next is. */
static uint64_t ether_step_both(struct pair *p)
{
    uint64_t next = UINT64_MAX;
    for (int i = 0; i < 2; i++) {
        uint64_t due = p->link[i]->ops->step(p->link[i], clock_us());
        next = due < next ? due : next;
    }
    return next;
}

/* Waits until a frame comes or something is due; then both ends may look again. */
static bool progress_ether(struct pair *p)
{
    const uint64_t one = 1, due = ether_step_both(p), now = clock_us();
    struct pollfd fds[2] = {{ether_port_fd(p->port[0]), POLLIN, 0},
                            {ether_port_fd(p->port[1]), POLLIN, 0}};
    int wait_ms = due - now < WAIT_MS * 1000u ? (int)((due - now) / 1000 + 1) : WAIT_MS;
    if (due > now && poll(fds, 2, wait_ms) == 0 && due == UINT64_MAX)
        return false;
    ether_step_both(p);
    for (int i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(write(p->doorbell[i], &one, sizeof one), sizeof one);
    return true;
}

/* The other way of ether links: what is put in comes out with the next progress. The segment may
 * go and come with every so many of them. */
enum { FAR_MAX = 64, FAR_AFTER_US = 20000, FAR_TURN = 150 };

struct far_datagram {
    uint8_t *bytes;
    size_t size;
    uint32_t channel;
};

struct far {
    struct far_datagram waiting[FAR_MAX * 4];
    size_t count;
    uint64_t carried;
    unsigned turn;
    bool turns, deaf;
};

static bool far_take(void *context, uint32_t channel, const uint8_t *datagram, size_t size)
{
    struct far *far = context;
    CU_ASSERT_FATAL(far->count < sizeof far->waiting / sizeof far->waiting[0]);
    struct far_datagram *to = &far->waiting[far->count++];
    *to = (struct far_datagram){malloc(size), size, channel};
    CU_ASSERT_PTR_NOT_NULL_FATAL(to->bytes);
    memcpy(to->bytes, datagram, size);
    far->carried++;
    return far->count < FAR_MAX;
}

static bool far_deliver(struct pair *p)
{
    struct far *far = p->far;
    struct far_datagram came[FAR_MAX * 4];
    size_t count = far->count;
    memcpy(came, far->waiting, count * sizeof *came);
    far->count = 0;
    for (size_t i = 0; i < count; i++) {
        ether_port_on_detour(p->port[came[i].channel - 0x40001], came[i].bytes, came[i].size);
        free(came[i].bytes);
    }
    return count > 0;
}

/* From now on frames come to neither end, or do again. */
static void deafen(struct pair *p, bool deaf)
{
    static struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
    static const struct sock_fprog filter = {1, code};
    p->far->deaf = deaf;
    for (int i = 0; i < 2; i++) {
        int fd = ether_port_fd(p->port[i]);
        int rc = deaf ? setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter)
                      : setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &filter, sizeof filter);
        CU_ASSERT_EQUAL(rc, 0);
    }
}

static bool progress_far(struct pair *p)
{
    if (p->far->turns && ++p->far->turn % FAR_TURN == 0)
        deafen(p, !p->far->deaf);
    if (!far_deliver(p))
        return progress_ether(p);
    const uint64_t one = 1;
    ether_step_both(p);
    for (int i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(write(p->doorbell[i], &one, sizeof one), sizeof one);
    return true;
}

static void far_free(struct far *far)
{
    for (size_t i = 0; far != NULL && i < far->count; i++)
        free(far->waiting[i].bytes);
    free(far);
}

/* The end `i` of a link, over a packet socket of its own. */
static void ether_end(struct pair *p, uint32_t i, int fd, const struct address *to, bool encrypt)
{
    const char *why;
    struct ether_way way = {
        .to = *to, .channel = 0x40002 - i, .secret = {.encrypt = encrypt}, .opener = i == 0};
    memcpy(way.nonce, the_nonce, sizeof way.nonce);
    memcpy(way.secret.key, the_key, sizeof the_key);
    p->port[i] = ether_port_create(fd, 7, 0x40001 + i, &why);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p->port[i]);
    if (p->far != NULL) {
        ether_port_set_detour(p->port[i], far_take, p->far);
        way.detour_us = FAR_AFTER_US;
    }
    p->link[i] = link_ether_create(p->port[i], &way);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p->link[i]);
}

/* Two ports, a link between them, and a wire that loses frames. */
static void ether_join(struct pair *p, int mtu, uint32_t loss_ppm, bool encrypt)
{
    int fds[2];
    struct address at[2];
    CU_ASSERT_EQUAL_FATAL(veth_open(mtu, ETHER_TYPE_DEFAULT, loss_ppm, fds, at), 0);
    for (uint32_t i = 0; i < 2; i++)
        ether_end(p, i, fds[i], &at[1 - i], encrypt);
}

static void open_ether_as(struct pair *p, int mtu, uint32_t loss_ppm, bool encrypt)
{
    uint64_t rung;
    int a = 0, b = 0;
    ether_join(p, mtu, loss_ppm, encrypt);
    while (a == 0 || b == 0) {
        progress_ether(p);
        a = p->link[0]->ops->ready(p->link[0]);
        b = p->link[1]->ops->ready(p->link[1]);
    }
    CU_ASSERT(a == 1 && b == 1);
    for (int i = 0; i < 2; i++) /* rung by progress */
        CU_ASSERT(read(p->doorbell[i], &rung, sizeof rung) > 0);
}

static void open_ether(struct pair *p, uint64_t seed)
{
    open_ether_as(p, seed == 1 ? 1500 : 9000, 0, false);
}

static void open_ether_encrypted(struct pair *p, uint64_t seed)
{
    open_ether_as(p, seed == 1 ? 9000 : 1500, 0, true);
}

static void open_ether_lossy(struct pair *p, uint64_t seed)
{
    open_ether_as(p, 1500, seed == 1 ? 20000 : 100000, false);
}

/* One byte goes from `from` to the other end. */
static void pass_one(struct pair *p, int from)
{
    char bytes[2] = "x";
    const uint64_t end_us = clock_us() + WAIT_MS * 1000u;
    CU_ASSERT_EQUAL(p->link[from]->ops->send(p->link[from], &(struct iovec){bytes, 1}, 1), 1);
    do
        progress_far(p);
    while (p->link[1 - from]->ops->recv(p->link[1 - from], bytes, 1) == 0 && clock_us() < end_us);
}

/* The segment died under both ends. */
static void open_ether_far(struct pair *p, uint64_t seed)
{
    uint64_t rung;
    p->far = calloc(1, sizeof *p->far);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p->far);
    open_ether_as(p, seed == 1 ? 1500 : 9000, 0, seed == 2);
    deafen(p, true);
    pass_one(p, 0);
    pass_one(p, 1);
    for (int i = 0; i < 2; i++)
        CU_ASSERT(read(p->doorbell[i], &rung, sizeof rung) > 0);
    p->far->turns = seed > 1;
}

struct kind {
    const char *name;
    void (*open)(struct pair *p, uint64_t seed); /* both ends ready */
    bool (*progress)(struct pair *p);            /* NULL: what was sent arrives by itself */
    bool closes;                                 /* an end sees that the other was freed */
    uint64_t bytes;                              /* how much a test sends */
    uint64_t seeds;                              /* how often, each time by another seed */
    bool needs_root;
};

static const struct kind kinds[] = {
    {.name = "shm", .open = open_shm, .bytes = 8000000, .seeds = 2},
    {.name = "tcp", .open = open_tcp, .closes = true, .bytes = 8000000, .seeds = 2},
    {.name = "tcp, encrypted", .open = open_sealed, .closes = true, .bytes = 8000000, .seeds = 2},
    {.name = "ether",
     .open = open_ether,
     .progress = progress_ether,
     .bytes = 2000000,
     .seeds = 2,
     .needs_root = true},
    {.name = "ether, encrypted",
     .open = open_ether_encrypted,
     .progress = progress_ether,
     .bytes = 1000000,
     .seeds = 1,
     .needs_root = true},
    {.name = "ether, frames lost",
     .open = open_ether_lossy,
     .progress = progress_ether,
     .bytes = 500000,
     .seeds = 2,
     .needs_root = true},
    {.name = "ether, its segment dead",
     .open = open_ether_far,
     .progress = progress_far,
     .bytes = 500000,
     .seeds = 2,
     .needs_root = true},
    {.name = "sim", .open = open_sim, .progress = progress_sim, .bytes = 1000000, .seeds = 10},
};

/* ---- what all tests do with a pair ----------------------------------------------------------- */

static struct pair pair_open(const struct kind *kind, uint64_t seed)
{
    struct pair p = {.doorbell = {eventfd(0, EFD_NONBLOCK), eventfd(0, EFD_NONBLOCK)}};
    CU_ASSERT_FATAL(p.doorbell[0] >= 0 && p.doorbell[1] >= 0);
    kind->open(&p, seed);
    return p;
}

static void pair_close_end(struct pair *p, int i)
{
    if (p->link[i] != NULL)
        p->link[i]->ops->free(p->link[i]);
    p->link[i] = NULL;
}

static void pair_close(struct pair *p)
{
    for (int i = 0; i < 2; i++) {
        pair_close_end(p, i);
        close(p->doorbell[i]);
    }
    for (int i = 0; i < 2; i++)
        ether_port_destroy(p->port[i]);
    far_free(p->far);
    if (p->world != NULL)
        network_destroy(p->world->network);
    free(p->world);
}

static struct pollfd pair_watch(const struct pair *p, int i)
{
    bool write_wanted = false;
    int fd = p->link[i]->ops->fd(p->link[i], &write_wanted);
    if (fd < 0)
        return (struct pollfd){p->doorbell[i], POLLIN, 0};
    return (struct pollfd){fd, (short)(POLLIN | (write_wanted ? POLLOUT : 0)), 0};
}

/* Whether one of the ends in the mask is woken; the doorbells are then quiet again. */
static bool pair_woken(const struct pair *p, int mask, int timeout_ms)
{
    struct pollfd fds[2];
    uint64_t rung;
    for (int i = 0; i < 2; i++) {
        fds[i] = (mask >> i & 1) != 0 ? pair_watch(p, i) : (struct pollfd){-1, 0, 0};
    }
    if (poll(fds, 2, timeout_ms) <= 0)
        return false;
    for (int i = 0; i < 2; i++) {
        if ((fds[i].revents & POLLIN) != 0 && fds[i].fd == p->doorbell[i])
            CU_ASSERT_EQUAL(read(p->doorbell[i], &rung, sizeof rung), sizeof rung);
    }
    return true;
}

/* Sleeps as an owner does until one of the ends in the mask is woken; false: never. */
static bool pair_sleep(const struct kind *kind, struct pair *p, int mask)
{
    bool there = false;
    for (int i = 0; i < 2; i++) {
        if ((mask >> i & 1) != 0)
            there = p->link[i]->ops->arm(p->link[i]) || there;
    }
    if (there)
        return true;
    if (kind->progress == NULL)
        return pair_woken(p, mask, WAIT_MS);
    while (!pair_woken(p, mask, 0)) {
        if (!kind->progress(p))
            return false;
    }
    return true;
}

/* One direction of a pair: the stream is a pattern, checked byte by byte. */
struct flow {
    struct link *from, *to;
    uint64_t total, sent, got, random;
    size_t offered[3]; /* pieces that were not taken are offered again */
    const char *broken;
};

static struct flow flow_make(const struct pair *p, int from, uint64_t total, uint64_t seed)
{
    return (struct flow){.from = p->link[from],
                         .to = p->link[1 - from],
                         .total = total,
                         .random = seed + (uint64_t)from};
}

static uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)((offset * 2654435761u) >> 13);
}

/* The size of the next piece: often tiny, sometimes none, sometimes large. */
static size_t piece_bytes(struct flow *f)
{
    static const uint64_t bounds[] = {1, 17, 300, PIECE_MAX};
    return (size_t)random_below(&f->random, bounds[random_below(&f->random, 4)] + 1);
}

/* Chooses the pieces that are sent next. */
static void flow_offer(struct flow *f)
{
    uint64_t left = f->total - f->sent;
    for (int i = 0; i < 3; i++) {
        size_t part = piece_bytes(f) + (i == 0);
        f->offered[i] = part < left ? part : (size_t)left;
        left -= f->offered[i];
    }
}

/* Sends up to three pieces at once; bytes taken, 0: full. */
static size_t flow_send_once(struct flow *f)
{
    static uint8_t bytes[3 * PIECE_MAX];
    struct iovec iov[3];
    size_t size = 0;
    if (f->offered[0] == 0)
        flow_offer(f);
    for (int i = 0; i < 3; i++) {
        iov[i] = (struct iovec){bytes + size, f->offered[i]};
        size += f->offered[i];
    }
    for (size_t i = 0; i < size; i++)
        bytes[i] = byte_at(f->sent + i);
    ssize_t n = f->from->ops->send(f->from, iov, 3);
    if (n < 0 || n > (ssize_t)size)
        f->broken = n < 0 ? link_error(f->from) : "took more than there was";
    if (n > 0)
        f->offered[0] = 0;
    return n < 0 ? 0 : (size_t)n;
}

static bool flow_send(struct flow *f)
{
    uint64_t before = f->sent;
    size_t n = 1;
    while (n > 0 && f->broken == NULL && f->sent < f->total)
        f->sent += n = flow_send_once(f);
    return f->sent > before;
}

/* Receives one piece of at most `size` bytes; bytes received, 0: none now. */
static size_t flow_recv_once(struct flow *f, size_t size)
{
    static uint8_t bytes[PIECE_MAX + 1];
    ssize_t n = f->to->ops->recv(f->to, bytes, size);
    if (n < 0 || n > (ssize_t)size)
        f->broken = n < 0 ? link_error(f->to) : "gave more than was asked for";
    for (ssize_t i = 0; i < n; i++) {
        if (bytes[i] != byte_at(f->got + (uint64_t)i))
            f->broken = "a wrong byte";
    }
    return n < 0 ? 0 : (size_t)n;
}

static bool flow_recv(struct flow *f)
{
    uint64_t before = f->got;
    size_t n = 1;
    while (n > 0 && f->broken == NULL && f->got < f->sent)
        f->got += n = flow_recv_once(f, piece_bytes(f) + 1);
    return f->got > before;
}

/* Moves both flows to their end. greedy: nobody reads while anybody can send. */
static void transfer(const struct kind *kind, struct pair *p, struct flow flows[2], bool greedy)
{
    const char *broken = NULL;
    while (broken == NULL && (flows[0].got < flows[0].total || flows[1].got < flows[1].total)) {
        bool moved = flow_send(&flows[0]);
        moved = flow_send(&flows[1]) || moved;
        if (!moved || !greedy) {
            moved = flow_recv(&flows[0]) || moved;
            moved = flow_recv(&flows[1]) || moved;
        }
        broken = flows[0].broken != NULL ? flows[0].broken : flows[1].broken;
        if (broken == NULL && !moved && !pair_sleep(kind, p, 3))
            broken = "both sleep for ever";
    }
    if (broken != NULL) {
        printf("(%s: %s) ", kind->name, broken);
        CU_FAIL("a transfer broke");
    }
}

/* ---- the suite ------------------------------------------------------------------------------- */

typedef void pair_test(const struct kind *kind, struct pair *p, uint64_t seed);

static bool may_open(const struct kind *kind)
{
    return !kind->needs_root || veth_allowed();
}

static void over_all_kinds(pair_test *test)
{
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        for (uint64_t seed = 1; seed <= kinds[k].seeds && may_open(&kinds[k]); seed++) {
            struct pair p = pair_open(&kinds[k], seed);
            test(&kinds[k], &p, seed);
            pair_close(&p);
        }
    }
}

static void try_order(const struct kind *kind, struct pair *p, uint64_t seed)
{
    struct flow flows[2] = {flow_make(p, 0, kind->bytes, seed), flow_make(p, 1, 0, seed)};
    transfer(kind, p, flows, false);
    struct flow back[2] = {flow_make(p, 0, 0, seed), flow_make(p, 1, kind->bytes, seed)};
    transfer(kind, p, back, false);
}

static void bytes_come_in_order(void)
{
    over_all_kinds(try_order);
}

static void try_both_ways(const struct kind *kind, struct pair *p, uint64_t seed)
{
    struct flow flows[2] = {flow_make(p, 0, kind->bytes, seed), flow_make(p, 1, kind->bytes, seed)};
    transfer(kind, p, flows, false);
}

static void bytes_come_both_ways_at_once(void)
{
    over_all_kinds(try_both_ways);
}

static void try_full_both_ways(const struct kind *kind, struct pair *p, uint64_t seed)
{
    uint64_t total = kind->bytes + FULL_MAX / 8;
    struct flow flows[2] = {flow_make(p, 0, total, seed), flow_make(p, 1, total, seed)};
    if (kind->progress != NULL)
        flows[0].total = flows[1].total = 2 * kind->bytes;
    transfer(kind, p, flows, true);
}

static void both_ways_full_do_not_deadlock(void)
{
    over_all_kinds(try_full_both_ways);
}

/* Reads all that was sent, sleeping as often as needed. */
static void drain(const struct kind *kind, struct pair *p, struct flow *f)
{
    while (f->broken == NULL && f->got < f->sent) {
        if (!flow_recv(f) && !pair_sleep(kind, p, 2))
            f->broken = "the reader sleeps for ever";
    }
    CU_ASSERT_PTR_NULL(f->broken);
}

static void try_full(const struct kind *kind, struct pair *p, uint64_t seed)
{
    struct flow f = flow_make(p, 0, UINT64_MAX, seed);
    for (int round = 0; round < 3; round++) {
        uint64_t before = f.sent;
        CU_ASSERT(flow_send(&f));
        CU_ASSERT(f.sent - before < FULL_MAX);
        drain(kind, p, &f);
        CU_ASSERT(pair_sleep(kind, p, 1)); /* the writer is woken */
    }
}

static void a_full_link_goes_on_when_the_reader_reads(void)
{
    over_all_kinds(try_full);
}

static void try_wake(const struct kind *kind, struct pair *p, uint64_t seed)
{
    struct flow f = flow_make(p, 0, 100, seed);
    CU_ASSERT_EQUAL(flow_recv_once(&f, 10), 0);
    CU_ASSERT_FALSE(p->link[1]->ops->arm(p->link[1]));
    CU_ASSERT_FALSE(pair_woken(p, 2, 0));
    f.offered[0] = f.total; /* in one piece: no part of it comes later than another */
    CU_ASSERT_FATAL(flow_send(&f) && f.sent == f.total);
    /* What is no data, as an acknowledgement, may wake it too. */
    while (f.got == 0 && f.broken == NULL) {
        CU_ASSERT_FATAL(pair_sleep(kind, p, 2));
        f.got = flow_recv_once(&f, 10);
    }
    CU_ASSERT_EQUAL(f.got, 10);
    CU_ASSERT(p->link[1]->ops->arm(p->link[1])); /* the other 90 are there */
    drain(kind, p, &f);
    CU_ASSERT_FALSE(p->link[1]->ops->arm(p->link[1]));
    CU_ASSERT_EQUAL(flow_recv_once(&f, 10), 0);
}

static void a_reader_that_sleeps_is_woken_and_told_of_unread_bytes(void)
{
    over_all_kinds(try_wake);
}

static void try_nothing(const struct kind *kind, struct pair *p, uint64_t seed)
{
    struct iovec none[2] = {{NULL, 0}, {NULL, 0}};
    struct flow f = flow_make(p, 0, 1, seed);
    (void)kind;
    CU_ASSERT_EQUAL(f.from->ops->send(f.from, none, 2), 0);
    CU_ASSERT_EQUAL(f.from->ops->send(f.from, NULL, 0), 0);
    CU_ASSERT_EQUAL(flow_recv_once(&f, 0), 0);
    CU_ASSERT(flow_send(&f));
    drain(kind, p, &f);
}

static void sending_nothing_is_nothing(void)
{
    over_all_kinds(try_nothing);
}

static void try_close(const struct kind *kind, struct pair *p, uint64_t seed)
{
    struct flow f = flow_make(p, 0, 10000, seed);
    char byte = 0;
    struct iovec iov = {&byte, 1};
    if (!kind->closes)
        return;
    CU_ASSERT(flow_send(&f) && f.sent == f.total);
    pair_close_end(p, 0);
    while (f.broken == NULL && f.got < f.total)
        f.got += flow_recv_once(&f, 300);
    CU_ASSERT(f.got == 10000 && f.broken == NULL);
    ssize_t end;
    while ((end = f.to->ops->recv(f.to, &byte, 1)) == 0 && pair_sleep(kind, p, 2))
        ;
    CU_ASSERT_EQUAL(end, LINK_CLOSED);
    CU_ASSERT_STRING_EQUAL(link_error(f.to), "closed");
    CU_ASSERT_EQUAL(f.to->ops->send(f.to, &iov, 1), 1); /* draws a reset */
    struct pollfd reset = {pair_watch(p, 1).fd, 0, 0};
    CU_ASSERT_EQUAL(poll(&reset, 1, WAIT_MS), 1);
    CU_ASSERT_EQUAL(f.to->ops->send(f.to, &iov, 1), LINK_CLOSED);
}

static void close_is_seen_after_all_bytes(void)
{
    over_all_kinds(try_close);
}

/* ---- tcp: the handshake ---------------------------------------------------------------------- */

static size_t open_descriptors(void)
{
    size_t count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir != NULL && readdir(dir) != NULL)
        count++;
    if (dir != NULL)
        closedir(dir);
    return count;
}

/* A link at one end and a bare socket at the other. */
struct half {
    struct link *link;
    int raw;
    struct expected expected;
};

static void half_accept(struct half *h)
{
    int fds[2];
    tcp_connect(fds);
    h->raw = fds[0];
    h->expected = expected_link;
    h->link = link_tcp_accept(fds[1], find_key, &h->expected);
    CU_ASSERT_PTR_NOT_NULL_FATAL(h->link);
    CU_ASSERT_EQUAL(h->link->ops->ready(h->link), 0);
}

static void half_open(struct half *h)
{
    int fds[2];
    tcp_connect(fds);
    h->raw = fds[1];
    h->link = tcp_opener(fds[0], the_key, the_nonce);
    CU_ASSERT_EQUAL(h->link->ops->ready(h->link), 0);
}

static void half_close(struct half *h)
{
    h->link->ops->free(h->link);
    if (h->raw >= 0)
        close(h->raw);
}

static void raw_send(struct half *h, const void *bytes, size_t size)
{
    CU_ASSERT_EQUAL(send(h->raw, bytes, size, MSG_NOSIGNAL), (ssize_t)size);
}

/* Receives what the link sends, which may have to look at what came first. */
static void raw_recv(struct half *h, void *bytes, size_t size)
{
    struct pollfd p[2] = {{h->raw, POLLIN, 0}, {-1, POLLIN, 0}};
    bool write_wanted;
    p[1].fd = h->link->ops->fd(h->link, &write_wanted);
    do {
        CU_ASSERT_EQUAL(h->link->ops->ready(h->link), 0);
        CU_ASSERT_FATAL(poll(p, 2, WAIT_MS) > 0);
    } while ((p[0].revents & POLLIN) == 0);
    CU_ASSERT_EQUAL(recv(h->raw, bytes, size, MSG_WAITALL), (ssize_t)size);
}

/* Lets the link look at what comes until it is ready (1) or refuses. */
static int half_settle(const struct half *h)
{
    struct pollfd p = {-1, POLLIN, 0};
    bool write_wanted;
    int ready;
    p.fd = h->link->ops->fd(h->link, &write_wanted);
    while ((ready = h->link->ops->ready(h->link)) == 0 && poll(&p, 1, WAIT_MS) == 1)
        ;
    return ready;
}

/* Whether the link refuses for a reason that holds the text. */
static bool half_refuses(const struct half *h, const char *text)
{
    int ready = half_settle(h);
    bool refused = ready == (int)LINK_BROKEN && strstr(link_error(h->link), text) != NULL;
    if (!refused)
        printf("(ready %d: %s) ", ready, link_error(h->link));
    CU_ASSERT_EQUAL(h->link->ops->ready(h->link), (int)LINK_BROKEN); /* and stays so */
    return refused;
}

static void raw_hello(struct stream_auth *auth)
{
    stream_auth_open(auth, the_key, 0x40001, 0x80002, the_nonce, the_challenge);
}

/* HELLO with one byte changed: which, to what, and the reason of the refusal. */
static void a_wrong_hello_is_refused(void)
{
    static const struct {
        size_t at;
        uint8_t value;
        const char *why;
    } wrong[] = {
        {0, 'c', "not a Covey stream"},
        {4, 3, "version 3, this is version 4"},
        {4, 0, "version 0"},
        {4, 200, "a later version"},
        {5, 1, "reserved"},
        {7, 1, "reserved"},
        {11, 9, "nobody expects"},
        {15, 9, "nobody expects"},
        {16, 9, "nobody expects"},
        {31, 9, "nobody expects"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct half h;
        struct stream_auth auth;
        half_accept(&h);
        raw_hello(&auth);
        auth.hello[wrong[i].at] = wrong[i].value;
        raw_send(&h, auth.hello, sizeof auth.hello);
        CU_ASSERT(half_refuses(&h, wrong[i].why));
        half_close(&h);
    }
}

static void garbage_instead_of_hello_is_refused(void)
{
    struct half h;
    static const char garbage[] =
        "GET / HTTP/1.1\r\nHost: somewhere.example\r\nAccept: */*\r\n\r\n";
    half_accept(&h);
    raw_send(&h, garbage, sizeof garbage);
    CU_ASSERT(half_refuses(&h, "not a Covey stream"));
    CU_ASSERT_EQUAL(h.expected.asked, 0);
    half_close(&h);
}

static void an_opener_without_the_key_is_refused(void)
{
    struct half h;
    struct stream_auth auth;
    uint8_t challenge[STREAM_CHALLENGE_BYTES], proof[STREAM_PROOF_BYTES] = {0};
    half_accept(&h);
    raw_hello(&auth);
    raw_send(&h, auth.hello, sizeof auth.hello);
    raw_recv(&h, challenge, sizeof challenge);
    raw_send(&h, proof, sizeof proof);
    CU_ASSERT(half_refuses(&h, "the opener does not know the key"));
    half_close(&h);
}

/* The accepter's own proof shown back to it. */
static void a_reflected_proof_is_refused(void)
{
    struct half h;
    struct stream_auth auth;
    uint8_t challenge[STREAM_CHALLENGE_BYTES];
    half_accept(&h);
    raw_hello(&auth);
    raw_send(&h, auth.hello, sizeof auth.hello);
    raw_recv(&h, challenge, sizeof challenge);
    raw_send(&h, challenge + STREAM_CHALLENGE_BYTES - AUTH_TAG_BYTES, STREAM_PROOF_BYTES);
    CU_ASSERT(half_refuses(&h, "the opener does not know the key"));
    half_close(&h);
}

static void a_wrong_challenge_is_refused(void)
{
    static const struct {
        size_t at;
        uint8_t value;
        const char *why;
    } wrong[] = {
        {0, 'c', "not a Covey stream"},
        {4, 3, "version 3, this is version 4"},
        {6, 1, "reserved"},
        {8, 0xff, "the accepter does not know the key"},
        {39, 0xff, "the accepter does not know the key"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct half h;
        struct stream_auth auth;
        uint8_t hello[STREAM_HELLO_BYTES];
        half_open(&h);
        raw_recv(&h, hello, sizeof hello);
        stream_auth_accept(&auth, the_key, hello, the_challenge);
        auth.challenge[wrong[i].at] ^= wrong[i].value;
        if (i < 3)
            auth.challenge[wrong[i].at] = wrong[i].value;
        raw_send(&h, auth.challenge, sizeof auth.challenge);
        CU_ASSERT(half_refuses(&h, wrong[i].why));
        half_close(&h);
    }
}

/* What a stream from there to 127.0.0.1 sends a second at most, when it is told 100,000 bytes. */
static uint64_t pace_of(in_addr_t from)
{
    int fds[2];
    uint64_t rate = 0;
    socklen_t size = sizeof rate;
    struct expected e = expected_link;
    tcp_connect_from(from, fds);
    setsockopt(fds[0], IPPROTO_TCP, TCP_CONGESTION, "bbr", 3);
    struct link *link = tcp_opener(fds[0], the_key, the_nonce);
    struct link *other = link_tcp_accept(fds[1], find_key, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(other);
    for (int a = 0, b = 0; a == 0 || b == 0;) {
        a = link->ops->ready(link);
        b = other->ops->ready(other);
    }
    link_tcp_pace(link, 100000);
    CU_ASSERT_EQUAL(getsockopt(fds[0], SOL_SOCKET, SO_MAX_PACING_RATE, &rate, &size), 0);
    link->ops->free(link);
    other->ops->free(other);
    return rate;
}

static bool has_bbr(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool has = setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "bbr", 3) == 0;
    close(fd);
    return has;
}

/* No link of a network is between two ends of one address. */
static void tcp_keeps_no_rate_within_a_machine(void)
{
    CU_ASSERT(pace_of(INADDR_LOOPBACK) == UINT64_MAX);
    CU_ASSERT(!has_bbr() || pace_of(INADDR_LOOPBACK + 1) == 100000);
}

/* Two links whose keys or nonces differ: what each of them says. */
static void links_that_do_not_belong_together_refuse(void)
{
    static const uint8_t other_key[AUTH_KEY_BYTES] = "another key", other_nonce[16] = "another";
    for (int which = 0; which < 2; which++) {
        int fds[2];
        struct half opener = {.raw = -1}, accepter = {.raw = -1, .expected = expected_link};
        tcp_connect(fds);
        opener.link = tcp_opener(fds[0], which == 0 ? other_key : the_key,
                                 which == 1 ? other_nonce : the_nonce);
        accepter.link = link_tcp_accept(fds[1], find_key, &accepter.expected);
        CU_ASSERT_EQUAL(opener.link->ops->ready(opener.link), 0);
        if (which == 0) {
            CU_ASSERT_EQUAL(accepter.link->ops->ready(accepter.link), 0);
            CU_ASSERT(half_refuses(&opener, "the accepter does not know the key"));
            half_close(&opener);
            CU_ASSERT(half_refuses(&accepter, "closed during the handshake"));
            half_close(&accepter);
        } else {
            CU_ASSERT(half_refuses(&accepter, "nobody expects this link"));
            half_close(&accepter);
            CU_ASSERT(half_refuses(&opener, "closed during the handshake"));
            half_close(&opener);
        }
    }
}

/* Every message of the handshake comes byte by byte; then bytes flow. */
static void a_handshake_may_come_in_single_bytes(void)
{
    struct half h;
    struct stream_auth auth;
    uint8_t challenge[STREAM_CHALLENGE_BYTES], proof[STREAM_PROOF_BYTES];
    char text[6] = "";
    half_accept(&h);
    raw_hello(&auth);
    for (size_t i = 0; i < sizeof auth.hello; i++) {
        CU_ASSERT_EQUAL(h.link->ops->ready(h.link), 0);
        raw_send(&h, auth.hello + i, 1);
    }
    raw_recv(&h, challenge, sizeof challenge);
    CU_ASSERT_PTR_NULL(stream_auth_prove(&auth, challenge, proof));
    for (size_t i = 0; i < sizeof proof; i++) {
        CU_ASSERT_EQUAL(h.link->ops->ready(h.link), 0);
        raw_send(&h, proof + i, 1);
    }
    raw_send(&h, "hello", 5); /* right behind the proof: it must not be lost */
    CU_ASSERT_EQUAL(half_settle(&h), 1);
    CU_ASSERT_EQUAL(h.expected.asked, 1);
    struct pollfd p = {-1, POLLIN, 0};
    bool write_wanted;
    p.fd = h.link->ops->fd(h.link, &write_wanted);
    CU_ASSERT_EQUAL(poll(&p, 1, WAIT_MS), 1);
    CU_ASSERT_EQUAL(h.link->ops->recv(h.link, text, 5), 5);
    CU_ASSERT_STRING_EQUAL(text, "hello");
    half_close(&h);
}

/* Ends the bare socket in order, or by a reset. */
static void raw_end(struct half *h, bool reset)
{
    const struct linger now = {1, 0};
    if (reset)
        setsockopt(h->raw, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(h->raw);
    h->raw = -1;
}

static void an_accepter_sees_the_end_in_every_state(void)
{
    for (int state = 0; state < 6; state++) {
        struct half h;
        struct stream_auth auth;
        uint8_t challenge[STREAM_CHALLENGE_BYTES];
        half_accept(&h);
        raw_hello(&auth);
        raw_send(&h, auth.hello, state < 2 ? 0 : state < 4 ? 20 : sizeof auth.hello);
        CU_ASSERT_EQUAL(h.link->ops->ready(h.link), 0);
        if (state >= 4)
            raw_recv(&h, challenge, sizeof challenge);
        raw_end(&h, state % 2 == 1);
        CU_ASSERT(half_refuses(&h, state % 2 == 1 ? "reset" : "closed during the handshake"));
        half_close(&h);
    }
}

static void an_opener_sees_the_end_in_every_state(void)
{
    for (int state = 0; state < 4; state++) {
        struct half h;
        struct stream_auth auth;
        uint8_t hello[STREAM_HELLO_BYTES];
        half_open(&h);
        raw_recv(&h, hello, sizeof hello);
        stream_auth_accept(&auth, the_key, hello, the_challenge);
        raw_send(&h, auth.challenge, state < 2 ? 0 : 20);
        CU_ASSERT_EQUAL(h.link->ops->ready(h.link), 0);
        raw_end(&h, state % 2 == 1);
        CU_ASSERT(half_refuses(&h, state % 2 == 1 ? "reset" : "closed during the handshake"));
        half_close(&h);
    }
}

/* Nobody listens there any more. */
static void a_refused_connection_is_named(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int bound = socket(AF_INET, SOCK_STREAM, 0),
        fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    CU_ASSERT_FATAL(bind(bound, (struct sockaddr *)&at, size) == 0);
    getsockname(bound, (struct sockaddr *)&at, &size);
    int rc = connect(fd, (struct sockaddr *)&at, size);
    struct half h = {.raw = bound, .link = tcp_opener(fd, the_key, the_nonce)};
    bool write_wanted = false;
    h.link->ops->fd(h.link, &write_wanted);
    CU_ASSERT(write_wanted);
    if (rc < 0 && errno != EINPROGRESS)
        CU_ASSERT_EQUAL(errno, ECONNREFUSED);
    CU_ASSERT(half_refuses(&h, "refused"));
    half_close(&h);
}

/* A reset once bytes flow is an end, not a riddle. */
static void a_reset_of_a_ready_link_is_a_close(void)
{
    const struct linger now = {1, 0};
    struct pair p = pair_open(&kinds[1], 1);
    bool write_wanted;
    char byte;
    int fd = p.link[0]->ops->fd(p.link[0], &write_wanted);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    pair_close_end(&p, 0);
    CU_ASSERT(pair_woken(&p, 2, WAIT_MS));
    CU_ASSERT_EQUAL(p.link[1]->ops->recv(p.link[1], &byte, 1), LINK_CLOSED);
    pair_close(&p);
}

/* ---- shm: the memory ------------------------------------------------------------------------- */

#define SHM_BYTES ((off_t)(2 * (sizeof(struct ring_shared) + sizeof(struct peek_shared))))

/* NULL, or why an accepter does not take that memory. */
static const char *memory_refusal(int fd)
{
    const char *why = "";
    int bell = eventfd(0, EFD_NONBLOCK);
    struct link *link = link_shm_accept(fd, bell, &why);
    if (link == NULL) {
        close(bell); /* still the caller's */
        CU_ASSERT_PTR_NOT_NULL_FATAL(why);
        return why;
    }
    link->ops->free(link);
    return NULL;
}

static bool memory_refused(off_t size, int seals)
{
    struct ring_shared *rings = calloc(1, (size_t)SHM_BYTES);
    int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CU_ASSERT_FATAL(rings != NULL && fd >= 0);
    ring_begin(&rings[0]);
    ring_begin(&rings[1]);
    CU_ASSERT_FATAL(write(fd, rings, (size_t)SHM_BYTES) == SHM_BYTES);
    CU_ASSERT_FATAL(ftruncate(fd, size) == 0 && fcntl(fd, F_ADD_SEALS, seals) == 0);
    bool refused = memory_refusal(fd) != NULL;
    close(fd);
    free(rings);
    return refused;
}

static void memory_that_may_change_is_refused(void)
{
    const int all = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    CU_ASSERT_FALSE(memory_refused(SHM_BYTES, all));
    CU_ASSERT(memory_refused(SHM_BYTES, 0));
    CU_ASSERT(memory_refused(SHM_BYTES, F_SEAL_SHRINK));
    CU_ASSERT(memory_refused(SHM_BYTES, F_SEAL_GROW));
    CU_ASSERT(memory_refused(SHM_BYTES, all | F_SEAL_WRITE)); /* cannot be mapped for writing */
    CU_ASSERT(memory_refused(SHM_BYTES - 1, all));
    CU_ASSERT(memory_refused(SHM_BYTES + 1, all));
    CU_ASSERT(memory_refused(0, all));
}

static void what_is_no_memory_is_refused(void)
{
    int pipes[2], bell = eventfd(0, 0);
    CU_ASSERT_FATAL(pipe(pipes) == 0);
    CU_ASSERT_PTR_NOT_NULL(memory_refusal(pipes[0]));
    CU_ASSERT_PTR_NOT_NULL(memory_refusal(bell));
    CU_ASSERT_PTR_NOT_NULL(memory_refusal(-1));
    close(pipes[0]);
    close(pipes[1]);
    close(bell);
}

static uint32_t reversed(uint32_t value)
{
    return value >> 24 | (value >> 8 & 0xff00) | (value << 8 & 0xff0000) | value << 24;
}

/* As a task under an emulator on this host would make them, or one of another version. */
static void rings_of_another_format_are_refused_with_the_reason(void)
{
    for (int i = 0; i < 2; i++) {
        int memory;
        struct link *link = link_shm_open(&memory);
        CU_ASSERT_PTR_NOT_NULL_FATAL(link);
        struct ring_shared *rings =
            mmap(NULL, (size_t)SHM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
        CU_ASSERT_FATAL(rings != MAP_FAILED);
        CU_ASSERT_PTR_NULL(memory_refusal(memory));
        uint32_t format = atomic_load(&rings[i].format);
        atomic_store(&rings[i].format, reversed(format));
        CU_ASSERT_PTR_NOT_NULL(strstr(memory_refusal(memory), "another byte order"));
        atomic_store(&rings[i].format, format + 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(memory_refusal(memory), "another version"));
        munmap(rings, (size_t)SHM_BYTES);
        close(memory);
        link->ops->free(link);
    }
}

/* Who rings must not be stopped by it, nor write into a file. */
static void what_is_no_doorbell_is_refused(void)
{
    const char *why = NULL;
    int memory, pipes[2], bells[] = {eventfd(0, 0), -1, -1, memfd_create("bell", MFD_CLOEXEC)};
    struct link *link = link_shm_open(&memory);
    CU_ASSERT_FATAL(link != NULL && pipe2(pipes, O_NONBLOCK) == 0);
    bells[1] = pipes[0];
    bells[2] = pipes[1];
    for (size_t i = 0; i < sizeof bells / sizeof bells[0]; i++) {
        CU_ASSERT_FALSE(link_shm_connect(link, bells[i]));
        CU_ASSERT_PTR_NULL(link_shm_accept(memory, bells[i], &why));
        CU_ASSERT_PTR_NOT_NULL(strstr(why, "doorbell"));
        close(bells[i]);
    }
    CU_ASSERT_EQUAL(link->ops->ready(link), 0);
    close(memory);
    link->ops->free(link);
}

/* The other task writes nonsense where its positions belong. */
static void damage_of_the_rings_breaks_the_link(void)
{
    static char full[RING_BYTES];
    int memory, bell = eventfd(0, EFD_NONBLOCK);
    char byte = 0;
    struct iovec iov = {full, sizeof full};
    struct link *link = link_shm_open(&memory);
    CU_ASSERT_PTR_NOT_NULL_FATAL(link);
    link_shm_connect(link, bell);
    struct ring_shared *rings =
        mmap(NULL, (size_t)SHM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    CU_ASSERT_FATAL(rings != MAP_FAILED);
    CU_ASSERT_EQUAL(link->ops->send(link, &iov, 1), RING_BYTES);
    atomic_store(&rings[0].read, RING_BYTES + 7);
    CU_ASSERT_EQUAL(link->ops->send(link, &iov, 1), LINK_BROKEN);
    CU_ASSERT_PTR_NOT_NULL(strstr(link_error(link), "damaged"));
    atomic_store(&rings[1].written, RING_BYTES + 1);
    CU_ASSERT_EQUAL(link->ops->recv(link, &byte, 1), LINK_BROKEN);
    munmap(rings, (size_t)SHM_BYTES);
    close(memory);
    link->ops->free(link);
}

/* ---- nothing is left ------------------------------------------------------------------------- */

static size_t descriptors_at_start;

/* ---- ether: a segment that dies -------------------------------------------------------------- */

static void move_one(struct flow *f, struct pair *p)
{
    uint64_t end_us = clock_us() + WAIT_MS * 1000u;
    f->total += 1000;
    while (f->broken == NULL && f->got < f->total && clock_us() < end_us) {
        flow_send(f);
        progress_far(p);
        flow_recv(f);
    }
    CU_ASSERT_PTR_NULL(f->broken);
    CU_ASSERT_EQUAL(f->got, f->total);
}

static bool direct(const struct pair *p)
{
    return !link_ether_is_astray(p->link[0]) && !link_ether_is_astray(p->link[1]);
}

static void a_dead_segment_is_left_and_taken_again(void)
{
    if (!veth_allowed()) {
        covey_test_skip("this needs root and network namespaces");
        return;
    }
    struct pair p = {.doorbell = {eventfd(0, EFD_NONBLOCK), eventfd(0, EFD_NONBLOCK)}};
    open_ether_far(&p, 1);
    struct flow there = flow_make(&p, 0, 0, 1), back = flow_make(&p, 1, 0, 1);
    CU_ASSERT(link_ether_is_astray(p.link[0]) && link_ether_is_astray(p.link[1]));
    CU_ASSERT(p.far->carried >= 2);
    deafen(&p, false);
    /* The time it takes is the machine's: a pause of it can look like a dead segment again. */
    bool taken_again = false;
    for (uint64_t end_us = clock_us() + WAIT_MS * 1000u; !taken_again && clock_us() < end_us;) {
        move_one(&there, &p);
        move_one(&back, &p);
        uint64_t carried = p.far->carried;
        move_one(&there, &p);
        taken_again = p.far->carried == carried && direct(&p);
    }
    CU_ASSERT(taken_again);
    pair_close(&p);
}

/* ---- ether: frames a system call ------------------------------------------------------------- */

enum { CALLS_KEPT = 2 };

static struct {
    unsigned calls;
    unsigned frames[CALLS_KEPT]; /* of the first calls */
} together;                      /* what left by sendmmsg() */

int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    if (together.calls < CALLS_KEPT)
        together.frames[together.calls] = count;
    together.calls++;
    return (int)syscall(SYS_sendmmsg, fd, messages, count, flags);
}

/* The other end begins with the first frame, and many calls are saved with those that follow. */
static void the_first_frame_leaves_alone_and_the_rest_together(void)
{
    static char bytes[64 * 1024];
    if (!veth_allowed()) {
        covey_test_skip("this needs root and network namespaces");
        return;
    }
    struct pair p = {.doorbell = {eventfd(0, EFD_NONBLOCK), eventfd(0, EFD_NONBLOCK)}};
    open_ether_as(&p, 1500, 0, false);
    together.calls = 0;
    ssize_t sent = p.link[0]->ops->send(p.link[0], &(struct iovec){bytes, sizeof bytes}, 1);
    CU_ASSERT_EQUAL(sent, sizeof bytes);
    CU_ASSERT(together.calls >= CALLS_KEPT);
    CU_ASSERT_EQUAL(together.frames[0], 2);
    CU_ASSERT_EQUAL(together.frames[1], 4);
    pair_close(&p);
}

/* ---- ether: who is on the wire --------------------------------------------------------------- */

enum { FRAME_MAX = 2048, BODY_AT = ETHER_LINK_BYTES + ETHER_HEADER_BYTES, CHANNEL_AT = 18 };

/* Two ends, each on a wire of its own; `wire` are the far ends of the wires: frames pass between
 * them only as the test wants. */
struct middle {
    struct pair p;
    int wire[2];
};

struct caught {
    uint8_t bytes[FRAME_MAX];
    size_t size;
};

static struct middle middle_open(bool encrypt)
{
    struct middle m = {.p = {.doorbell = {-1, -1}}};
    for (uint32_t i = 0; i < 2; i++) {
        int fds[2];
        struct address at[2];
        CU_ASSERT_EQUAL_FATAL(veth_open(1500, ETHER_TYPE_DEFAULT, 0, fds, at), 0);
        m.wire[i] = fds[1];
        ether_end(&m.p, i, fds[0], &at[1], encrypt);
    }
    return m;
}

static void middle_close(struct middle *m)
{
    pair_close(&m->p);
    close(m->wire[0]);
    close(m->wire[1]);
}

/* What end `i` has due goes out; its next frame on the wire is caught; false: none. */
static bool catch_frame(struct middle *m, int i, struct caught *f)
{
    struct link *link = m->p.link[i];
    link->ops->step(link, clock_us() + 3000); /* an acknowledgement does not wait */
    ssize_t n = recv(m->wire[i], f->bytes, sizeof f->bytes, MSG_DONTWAIT);
    f->size = n > 0 ? (size_t)n : 0;
    return n > 0;
}

static void put_before(struct middle *m, int i, const struct caught *f)
{
    CU_ASSERT_EQUAL(send(m->wire[i], f->bytes, f->size, 0), (ssize_t)f->size);
    ether_port_receive(m->p.port[i]);
}

/* Lets pass what both have to say until they have said all. */
static void let_pass(struct middle *m)
{
    struct caught f;
    for (bool passed = true; passed;) {
        passed = false;
        for (int i = 0; i < 2; i++) {
            while (catch_frame(m, i, &f)) {
                put_before(m, 1 - i, &f);
                passed = true;
            }
        }
    }
}

static void say(struct middle *m, int i, const char *text)
{
    const struct iovec iov = {(void *)(uintptr_t)text, strlen(text)};
    struct link *link = m->p.link[i];
    CU_ASSERT_EQUAL(link->ops->send(link, &iov, 1), (ssize_t)iov.iov_len);
}

/* Whether end `i` gives exactly this text now. */
static bool hears(struct middle *m, int i, const char *text)
{
    char bytes[64];
    struct link *link = m->p.link[i];
    ssize_t n = link->ops->recv(link, bytes, sizeof bytes);
    return n == (ssize_t)strlen(text) && memcmp(bytes, text, (size_t)n) == 0;
}

/* That frames so far did nothing to end 1: no bytes, no end, and it does not answer. */
static bool untouched(struct middle *m)
{
    struct caught f;
    return hears(m, 1, "") && !catch_frame(m, 1, &f);
}

/* Every shorter frame, with the size in its head as it was and as it is. */
static void put_truncated(struct middle *m, const struct caught *whole)
{
    for (size_t size = ETHER_LINK_BYTES; size < whole->size; size++) {
        struct caught f = *whole;
        f.size = size;
        put_before(m, 1, &f);
        if (size <= BODY_AT)
            continue;
        f.bytes[ETHER_LINK_BYTES + 2] = (uint8_t)((size - BODY_AT) >> 8);
        f.bytes[ETHER_LINK_BYTES + 3] = (uint8_t)(size - BODY_AT);
        put_before(m, 1, &f);
    }
}

/* Each bit behind the addresses turned over: head, number, body, tag. */
static void put_forged(struct middle *m, const struct caught *whole)
{
    for (size_t bit = ETHER_LINK_BYTES * 8; bit < whole->size * 8; bit++) {
        struct caught f = *whole;
        f.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        put_before(m, 1, &f);
    }
}

/* What end 1 said itself comes back to it, with its own channel. */
static void put_reflected(struct middle *m, const struct caught *own)
{
    struct caught f = *own;
    f.bytes[CHANNEL_AT + 3] = 2;
    put_before(m, 1, &f);
}

/* Nothing that is made of the opener's first PING opens the link but itself. */
static void strangers_open_nothing(struct middle *m, struct caught *ping, struct caught *pong)
{
    CU_ASSERT_TRUE_FATAL(catch_frame(m, 0, ping));
    put_truncated(m, ping);
    put_forged(m, ping);
    CU_ASSERT_TRUE(untouched(m));
    CU_ASSERT_EQUAL(m->p.link[1]->ops->ready(m->p.link[1]), 0);
    put_before(m, 1, ping);
    CU_ASSERT_TRUE_FATAL(catch_frame(m, 1, pong));
    CU_ASSERT_EQUAL(m->p.link[1]->ops->ready(m->p.link[1]), 1);
    put_before(m, 0, pong);
    CU_ASSERT_EQUAL(m->p.link[0]->ops->ready(m->p.link[0]), 1);
}

/* Nor does it bring bytes, answers or acknowledgements. */
static void strangers_bring_nothing(struct middle *m, const struct caught *ping,
                                    const struct caught *pong, struct caught *first)
{
    say(m, 0, "first");
    CU_ASSERT_TRUE_FATAL(catch_frame(m, 0, first));
    put_truncated(m, first);
    put_forged(m, first);
    put_reflected(m, pong);
    put_before(m, 1, ping); /* again */
    CU_ASSERT_TRUE(untouched(m));
    CU_ASSERT_EQUAL(m->p.link[0]->ops->unsent(m->p.link[0]), 5);
    put_before(m, 1, first);
    CU_ASSERT_TRUE(hears(m, 1, "first"));
    let_pass(m);
    CU_ASSERT_EQUAL(m->p.link[0]->ops->unsent(m->p.link[0]), 0);
}

/* What came once does nothing when it comes again, and the link goes on. */
static void replays_do_nothing(struct middle *m, const struct caught *ping,
                               const struct caught *first)
{
    struct caught answer;
    say(m, 1, "answer");
    CU_ASSERT_TRUE_FATAL(catch_frame(m, 1, &answer));
    put_reflected(m, &answer);
    put_before(m, 1, first);
    put_before(m, 1, ping);
    CU_ASSERT_TRUE(untouched(m));
    put_before(m, 0, &answer);
    CU_ASSERT_TRUE(hears(m, 0, "answer"));
    put_before(m, 0, &answer);
    CU_ASSERT_TRUE(hears(m, 0, ""));
    say(m, 0, "second");
    let_pass(m);
    CU_ASSERT_TRUE(hears(m, 1, "second"));
    CU_ASSERT_EQUAL(m->p.link[0]->ops->unsent(m->p.link[0]), 0);
    CU_ASSERT_EQUAL(m->p.link[1]->ops->unsent(m->p.link[1]), 0);
}

static void strangers_change_nothing_as(bool encrypt)
{
    struct middle m = middle_open(encrypt);
    struct caught ping, pong, first;
    strangers_open_nothing(&m, &ping, &pong);
    strangers_bring_nothing(&m, &ping, &pong, &first);
    replays_do_nothing(&m, &ping, &first);
    middle_close(&m);
}

static void strangers_change_nothing(void)
{
    if (!veth_allowed()) {
        covey_test_skip("this needs root and network namespaces");
        return;
    }
    strangers_change_nothing_as(false);
    strangers_change_nothing_as(true);
}

static void no_descriptor_is_left(void)
{
    CU_ASSERT_EQUAL(open_descriptors(), descriptors_at_start);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"bytes come in order", bytes_come_in_order},
        {"bytes come both ways at once", bytes_come_both_ways_at_once},
        {"both ways full do not deadlock", both_ways_full_do_not_deadlock},
        {"a full link goes on when the reader reads", a_full_link_goes_on_when_the_reader_reads},
        {"a reader that sleeps is woken and told of unread bytes",
         a_reader_that_sleeps_is_woken_and_told_of_unread_bytes},
        {"sending nothing is nothing", sending_nothing_is_nothing},
        {"close is seen after all bytes", close_is_seen_after_all_bytes},
        {"tcp: a wrong HELLO is refused", a_wrong_hello_is_refused},
        {"tcp: garbage instead of HELLO is refused", garbage_instead_of_hello_is_refused},
        {"tcp: an opener without the key is refused", an_opener_without_the_key_is_refused},
        {"tcp: a reflected proof is refused", a_reflected_proof_is_refused},
        {"tcp: a wrong CHALLENGE is refused", a_wrong_challenge_is_refused},
        {"tcp: no rate is kept within a machine", tcp_keeps_no_rate_within_a_machine},
        {"tcp: links that do not belong together refuse", links_that_do_not_belong_together_refuse},
        {"tcp: a handshake may come in single bytes", a_handshake_may_come_in_single_bytes},
        {"tcp: an accepter sees the end in every state", an_accepter_sees_the_end_in_every_state},
        {"tcp: an opener sees the end in every state", an_opener_sees_the_end_in_every_state},
        {"tcp: a refused connection is named", a_refused_connection_is_named},
        {"tcp: a reset of a ready link is a close", a_reset_of_a_ready_link_is_a_close},
        {"shm: memory that may change is refused", memory_that_may_change_is_refused},
        {"shm: what is no memory is refused", what_is_no_memory_is_refused},
        {"shm: rings of another format are refused with the reason",
         rings_of_another_format_are_refused_with_the_reason},
        {"shm: what is no doorbell is refused", what_is_no_doorbell_is_refused},
        {"shm: damage of the rings breaks the link", damage_of_the_rings_breaks_the_link},
        {"ether: a dead segment is left and taken again", a_dead_segment_is_left_and_taken_again},
        {"ether: the first frame leaves alone and the rest together",
         the_first_frame_leaves_alone_and_the_rest_together},
        {"ether: forged, replayed and truncated frames change nothing", strangers_change_nothing},
        {"no descriptor is left", no_descriptor_is_left},
    };
    if (auth_init() != 0)
        return 77;
    descriptors_at_start = open_descriptors();
    return covey_test_main("link", cases, sizeof cases / sizeof cases[0]);
}
