/*
 * link.h - a link: one bidirectional byte stream straight to one other task. One file a kind:
 * link_shm.c (ring pair in shared memory), link_tcp.c, link_ether.c (raw Ethernet). What flows on
 * it are the frames of frame.h.
 *
 * Contract (tests/unit/lib/link/link_test.c runs it over every kind):
 *  - No call blocks. A link is used under the lock of its owner.
 *  - send() and recv() that return 0 arrange that the owner is woken when they may do more: by
 *    readiness of fd() or, without an fd, by the owner's doorbell after arm().
 */
#ifndef COVEY_LIB_LINK_H
#define COVEY_LIB_LINK_H

#include "proto/auth/auth.h"
#include "proto/wire/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct link;
struct peek;

#define LINK_CLOSED ((ssize_t)-1) /* the other end is gone; nothing more will come or go */
#define LINK_BROKEN                                                                                \
    ((ssize_t)-2) /* it failed, or the other end broke the protocol: link_error()                  \
                   */

struct link_ops {
    const char *name;
    /* Takes bytes of the vector; how many, 0: full, LINK_CLOSED, LINK_BROKEN. After 0 the same
     * bytes are offered again, or none any more. Bytes taken while `more` is set stay as they are
     * until a send() without it, keep() or free(). */
    ssize_t (*send)(struct link *link, const struct iovec *iov, int count);
    /* Gives up to `size` bytes; how many, 0: none now, LINK_CLOSED (all were given), LINK_BROKEN.
     */
    ssize_t (*recv)(struct link *link, void *bytes, size_t size);
    /* Before the owner sleeps: asks for its doorbell; true: there is something to read now. Of many
     * links in memory link_shm_ask() does so with one barrier for all. */
    bool (*arm)(struct link *link);
    /* The descriptor to poll, or -1 (doorbell). *write_wanted: also for writability. */
    int (*fd)(const struct link *link, bool *write_wanted);
    /* Whether bytes may flow: 1, 0 not yet (handshake), or LINK_CLOSED, LINK_BROKEN. */
    int (*ready)(struct link *link);
    /* Frees the link and all it holds. */
    void (*free)(struct link *link);
    /* Does what is due by that time and returns when it must be called again, UINT64_MAX: never, or
     * not before another call. NULL: nothing is ever due. */
    uint64_t (*step)(struct link *link, uint64_t now_us);
    /* Bytes that send() took and the other end lacks: free() would lose them. NULL: it loses none.
     */
    size_t (*unsent)(const struct link *link);
    /* Bytes that send() took will change: copies what it needs of them. NULL: it needs none. */
    void (*keep)(struct link *link);
};

struct link {
    const struct link_ops *ops;
    const char *error;
    bool more; /* set by the owner before send(): he offers more at once, or as soon as he can; else
                  he takes it back and sends none */
};

static inline const char *link_error(const struct link *link)
{
    return link->error == NULL ? "closed" : link->error;
}

/* ---- shm: both ends map the same memory, which has a fixed size and is sealed against change. --
 */

/* The opener's end: makes the memory. *memory_fd is the caller's to pass on and close.
 * NULL: no memory or no descriptors (errno). The link rings peer_doorbell, an eventfd it owns, once
 * link_shm_connect() gave it; false: that is none, or ringing it could block. */
struct link *link_shm_open(int *memory_fd);
bool link_shm_connect(struct link *link, int peer_doorbell);

/* The accepter's end; takes over peer_doorbell on success. NULL: *why, for the memory is not what
 * an opener on this machine makes (too small, not sealed, of another byte order), or the doorbell
 * no eventfd. */
struct link *link_shm_accept(int memory_fd, int peer_doorbell, const char **why);

#define LINK_SHM_WORDS 6

/* Tells the other end that a message with this stamp will come, so that it may wait for that before
 * it takes later ones of others; 0: none will, or it has been sent. */
void link_shm_announce(struct link *link, uint64_t stamp);
/* What the other end announced; 0: nothing, *empty: and no bytes have come either. */
uint64_t link_shm_announced(struct link *link, bool *empty);
/* For whole messages: whether send() takes so many bytes; how many recv() has, 0 also where it
 * would fail; copies some of those; goes behind them. */
bool link_shm_fits(struct link *link, size_t size);
/* Sends so many words, at most LINK_SHM_WORDS; false: they do not fit, and nothing was sent. */
bool link_shm_put_words(struct link *link, const uint64_t *words, size_t count);
/* What recv() has, if it was sent so and nothing came behind it, as a copy; otherwise NULL. */
const uint64_t *link_shm_noted(const struct link *link, size_t *size);
size_t link_shm_waiting(struct link *link, size_t wanted);
void link_shm_peek(const struct link *link, size_t offset, void *bytes, size_t size);
void link_shm_skip(struct link *link, size_t size);
/* How this end reads the memory of the other end's task: peek.h. */
struct peek *link_shm_other_memory(struct link *link);
/* The other end looks again, though no bytes were sent. */
void link_shm_nudge(struct link *link);
/* Bytes that ever came, and those that were read of them. */
uint64_t link_shm_there_bytes(const struct link *link);
uint64_t link_shm_read_bytes(const struct link *link);

/* arm() in two steps: asks for the doorbell; true: there has to be a barrier_all() before the
 * second step, which looks whether there is something to read; `barrier`: whether that succeeded.
 */
bool link_shm_ask(struct link *link);
bool link_shm_look(struct link *link, bool barrier);
/* The owner is awake, and its doorbell need not be rung: that would take a call of the system. */
void link_shm_awake(struct link *link);

/* ---- tcp: a connected or connecting non-blocking socket, with the challenge-response of auth.h.
 */

/* The opener's end; takes over fd on success. The caller sets up `auth`, and
 * auth->encrypt. */
struct link *link_tcp_open(int fd, const struct stream_auth *auth);

/* The accepter's end: find_key() is asked once for the key of a HELLO and returns whether that link
 * is expected. Takes over fd on success. */
struct link_secret {
    uint8_t key[AUTH_KEY_BYTES];
    bool encrypt;
};
typedef bool link_tcp_find_key(void *context, struct link *link, uint32_t opener, uint32_t accepter,
                               const uint8_t nonce[AUTH_NONCE_BYTES], struct link_secret *secret);
struct link *link_tcp_accept(int fd, link_tcp_find_key *find_key, void *context);

/* Sends no faster than that, 0: as fast as it goes; so that bytes wait here and in no queue of the
 * network. Between two ends on one machine there is none: they are not slowed down. */
void link_tcp_pace(struct link *link, uint64_t bytes_per_s);

/* A large message comes, and bytes go the other way, too: acknowledge as seldom as may be. */
void link_tcp_expect_bulk(struct link *link);

/* Takes no more than about so many bytes beyond what is on its way: bytes that wait here would go
 * on when it is another sender's turn. */
void link_tcp_hold_little(struct link *link, int bytes);

/* Whether all that was sent is on its way, and not waiting here; if not, fd() becomes writable
 * then, and *write_wanted says so. */
bool link_tcp_left(struct link *link);

/* Bytes that were sent and are not on their way yet. */
size_t link_tcp_unsent(const struct link *link);

/* Whether both ends have one address: no link of the network is between them, whatever a topology
 * says of the hosts, which may be virtual ones. */
bool link_tcp_is_within_machine(const struct link *link);

/* ---- ether: raw Ethernet frames, made a stream by the window of window.h in the tasks themselves.
 * All ether links of a task share a port: its packet socket, whose filter passes the frames of the
 * task's channel. They have no fd; their owner watches the port's, and calls any of them when it is
 * readable. While the segment carries nothing, datagrams of a link take another way, which their
 * owner has (detour.h): nothing is lost, doubled or out of order by that. */
struct ether_port;

/* Takes the socket over on success, see link_packet.h. `vm` is that of datagram.h, `channel` that
 * of ether.h by which others reach this task. NULL: *why. */
struct ether_port *ether_port_create(int fd, uint32_t vm, uint32_t channel, const char **why);
void ether_port_destroy(struct ether_port *port); /* after its links; NULL is fine */
int ether_port_fd(const struct ether_port *port);
void ether_port_receive(struct ether_port *port); /* takes in what came, for all its links */

/* Takes a datagram, what is behind its head, to the task of that channel by the other way, as well
 * as may be; it may use no link meanwhile. Returns whether another may follow at once. */
typedef bool ether_detour_fn(void *context, uint32_t channel, const uint8_t *bytes, size_t size);
void ether_port_set_detour(struct ether_port *port, ether_detour_fn *fn, void *context);
void ether_port_on_detour(struct ether_port *port, const uint8_t *bytes, size_t size);

/* Both ends know the address and channel of the other, and a key that belongs to nonce alone. Bytes
 * may flow when an authentic frame of the other end has come; the opener asks for one until then.
 * Nothing on the wire ends the link: who owns it is told the end of the other task. NULL: memory.
 */
struct ether_way {
    struct address to;
    uint32_t channel;
    uint8_t nonce[AUTH_NONCE_BYTES];
    struct link_secret secret;
    bool opener;
    uint64_t detour_us; /* silence after which datagrams take the other way; 0: they never do */
};
struct link *link_ether_create(struct ether_port *port, const struct ether_way *way);
size_t link_ether_frame_bytes(const struct link *link); /* of the stream, that one frame carries */
size_t link_ether_waiting(const struct link *link);     /* bytes that have not left yet */
bool link_ether_is_astray(const struct link *link);     /* its datagrams take the other way */
/* The other end is asked now and then whether they must, though nothing is sent. */
void link_ether_ask(struct link *link);

#endif
