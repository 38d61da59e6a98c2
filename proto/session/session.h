/*
 * session.h - everything between this node and one other host: the handshake, the keys, the path,
 * the reliable window and its frames, the heartbeat datagrams. Wire: datagram.h.
 *
 *   pending handshake:   NONE -> HELLO -> CONFIRM -> NONE
 *   current session:     none -> open (-> other keys, when a later handshake succeeds)
 *
 * A handshake runs beside the session in use and replaces its keys when it succeeds; window and
 * frames go on, since they belong to the pair of daemons (ids), not to the keys. So a silent path
 * is repaired by simply shaking hands again over all candidate addresses.
 *
 * Of a session on raw Ethernet the candidates are the peer's MACs. When it was open once, and the
 * segment has carried nothing for `detour_us` of what waits, the peer's other addresses are tried,
 * too: what was taken on is delivered, in its order, by whatever way there is, and the segment is
 * tried again and again meanwhile.
 */
#ifndef COVEY_PROTO_SESSION_H
#define COVEY_PROTO_SESSION_H

#include "proto/auth/handshake.h"
#include "proto/window/window.h"
#include "proto/wire/counters.h"

struct session;

/* What a session tells its node. `peer` is the host's index. */
struct endpoint_owner {
    void *context;
    void (*send)(void *context, const struct address *to, const uint8_t *bytes, size_t size);
    /* Where the next datagram to that address may be built before it is sent, datagram_bytes_max
     * long, so that it need not be copied then; NULL: nowhere. */
    uint8_t *(*room)(void *context, const struct address *to);
    /* False: it cannot be taken yet; it and what follows is offered again by session_step(). */
    bool (*frame)(void *context, uint32_t peer, const struct frame *frame, const uint8_t *payload,
                  uint64_t now_us);
    void (*heard)(void *context, uint32_t peer, uint64_t now_us); /* any authentic datagram */
    /* PROBE ... CALL_BACK */
    void (*asked)(void *context, uint32_t peer, uint8_t kind, uint32_t target, uint64_t now_us);
    /* Some HELLOs got no answer; perhaps the host can only dial out. */
    void (*unanswered)(void *context, uint32_t peer, uint64_t now_us);
    void (*opened)(void *context, uint32_t peer, uint64_t now_us);
    /* It is its turn to shake hands: session_step() is to be called soon. */
    void (*admitted)(void *context, uint32_t peer, uint64_t now_us);
    void (*refused)(void *context, uint32_t peer, uint8_t reason, uint64_t now_us);
    void (*log)(void *context, const char *line);
};

/* Which sessions shake hands (admission.c). */
struct admission {
    unsigned under_way;
    struct session *first, *last; /* of those that wait for their turn */
};

/* What all sessions of a node share. */
struct endpoint {
    struct identity me;
    struct endpoint_owner owner;
    struct counters counters;
    size_t missing; /* of the frame under way in the session that was last heard */
    size_t datagram_bytes_min, datagram_bytes_max;
    bool ether;         /* of a host's addresses the MAC are candidates, otherwise the others */
    uint64_t stall_us;  /* silence of a host that owes acknowledgements before hands are shaken */
    uint64_t detour_us; /* ether: silence after which the other addresses will do; 0: never */
    uint64_t return_us; /* ether: from a handshake by one of them to the next attempt to return */
    uint64_t seed;
    struct admission admission;
    uint64_t crowd_us; /* see window_set_crowd() */
    void (*random)(void *context, void *bytes, size_t size);
    void *random_context;
    uint8_t *scratch; /* datagram_bytes_max: what is sent, where the owner has no room for it */
    uint8_t *opened;  /* DATAGRAM_BYTES_MAX: what came encrypted; NULL where nothing does */
    /* Sessions that this daemon ever made with each host. It outlives them: a recorded CONFIRM must
     * not bring back the keys, and with them the numbers, of a session that ended. */
    uint64_t made[HOST_INDEX_MAX + 1];
};

/* A session with a host whose id and candidate addresses are known; it opens at the first need. */
struct session *session_create(struct endpoint *endpoint, const struct host *peer);
void session_destroy(struct session *s);

/* The row of the peer changed: other candidate addresses. */
void session_set_addresses(struct session *s, const struct host *peer);

/* Starts a handshake unless one runs. Also when open, to find a path that works. */
void session_open(struct session *s, uint64_t now_us);
bool session_is_open(const struct session *s);
bool session_is_opening(const struct session *s);
/* Open, but on raw Ethernet by way of another address. */
bool session_is_astray(const struct session *s);

/* No frame is delivered any more; what must still be acknowledged is. */
void session_close(struct session *s);

/* Datagrams of the handshake and sealed ones, from the address `from`. */
void session_on_welcome(struct session *s, const struct datagram *d, const struct address *from,
                        uint64_t now_us);
void session_on_refuse(struct session *s, const struct datagram *d, uint64_t now_us);
void session_on_confirm(struct session *s, struct datagram *d, const struct address *from,
                        uint64_t now_us);
void session_on_sealed(struct session *s, struct datagram *d, const struct address *from,
                       uint64_t now_us);

/* Whether a CONFIRM is fresh and authentic, whether a session exists for it or not. Its hello.from
 * is a host index. Sets *keys. */
bool session_confirm_ok(const struct endpoint *endpoint, const struct datagram *d,
                        struct session_keys *keys);

/* Queues a frame; 0 or -ENOMEM. `own`: NULL, or memory from malloc() in which the payload lies
 * behind FRAME_HEADER_BYTES: of a frame that is queued, it is the session's. */
int session_write(struct session *s, const struct frame *frame, const uint8_t *payload,
                  uint8_t *own);
size_t session_queued(const struct session *s);    /* bytes not yet acknowledged */
uint64_t session_written(const struct session *s); /* bytes, ever */

/* An unreliable datagram: PING ... CALL_BACK. Opens the session instead when it is not open. */
void session_ping(struct session *s, uint8_t kind, uint32_t target, uint64_t now_us);

/* Sends all that may be sent now; returns when it must be called again. */
uint64_t session_step(struct session *s, uint64_t now_us);

/* NULL: none yet that has proved to be the peer's. */
const struct address *session_path(const struct session *s);
const struct window *session_window(const struct session *s);

#endif
