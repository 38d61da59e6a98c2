/*
 * link_ether.c - the link straight between two tasks over raw Ethernet: no daemon, no IP between.
 *
 *   ether_port    a task's packet socket (link_packet.c) and the links behind it
 *   link_ether    one link: a reliable window (window.h), its keys and numbers, where it leads
 *
 * A frame carries one datagram of datagram.h: DATA is a packet of the window, PING and PONG are how
 * two ends find each other. Its session is made of the link's nonce, so a port finds the link of a
 * frame without knowing who sent it, and the key of the link then says whether it may be believed.
 * Each direction has a key of its own, and a key one link: numbers begin at 0.
 *
 * Whoever looks for bytes of one link takes all frames that are there in, for all links of the
 * port: the owner of a port looks at all of them. Frames that may go are sent at once, the first
 * by itself, and twice as many with each system call that follows: a call costs more than a frame
 * of 1500 bytes, and while the other end still works on what came first, none is late.
 *
 * Invariants: state changes only after a frame proved authentic and new. What send() took stays in
 * the window until the other end has it, so unsent() is 0 only when nothing can be lost any more.
 * Not here: the decision that the other task is gone. A window asks again once a second for ever.
 *
 * When the segment carries nothing, the same datagrams go by the owner's other way, until it does
 * again: detour.h decides. Only a link that has been in use does so.
 */
#include "lib/link/link.h"

#include "lib/link/link_packet.h"
#include "lib/msg/clock.h"
#include "proto/session/detour.h"
#include "proto/window/window.h"
#include "proto/window/window_wire.h"
#include "proto/wire/datagram.h"
#include "proto/wire/ether.h"
#include "proto/wire/list.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES                                                                                 \
    (ETHER_HEADER_BYTES + DATAGRAM_SEALED_BYTES) /* before a packet of the window                  \
                                                  */
#define AROUND_BYTES (HEAD_BYTES + AUTH_TAG_BYTES)
#define MTU_SAFE 1500 /* what every Ethernet carries; more is tried */
#define BUFFER_BYTES ((size_t)512 * 1024)
#define APART_BYTES 1024 /* fewer are copied sooner than sent from two places */
#define LEND_BYTES 4096  /* fewer are copied sooner than lent */
#define PING_US 20000
#define PING_US_MAX 1000000
#define BURST_FRAMES 32 /* at most, a system call */
#define BLOCKED_US 100  /* the interface took no more: again after so long */
#define DETOUR_FULL_US 1000

struct link_ether {
    struct link base;
    struct ether_port *port;
    struct link_ether *next; /* of the port */
    struct window *window;
    struct address to;
    uint32_t channel, session;
    bool encrypt, heard;
    bool pong_due, touched; /* touched: packets came since it was stepped */
    struct auth_cipher *sealer, *opener;
    uint64_t number, control_number;
    uint64_t control_heard; /* behind the last number of a PING or PONG that came */
    struct auth_replay seen;
    uint64_t ping_us, ping_wait_us; /* the opener's next PING, UINT64_MAX: none */
    struct detour detour;
    uint64_t detour_full_us; /* no room there before */
    unsigned burst;          /* frames of the next system call that sends many */
};

struct ether_port {
    struct packet *packet;
    uint32_t vm, channel;
    struct link_ether *links;
    bool blocked;
    uint8_t *opened; /* where an encrypted packet is opened */
    uint8_t *far;    /* where a datagram is made that takes the detour; NULL: there is none */
    ether_detour_fn *detour;
    void *context;
};

static struct link_ether *ether_of(struct link *link)
{
    return (struct link_ether *)link;
}

/* ---- out ------------------------------------------------------------------------------------- */

/* Memory for a frame's payload; NULL: the interface takes no more now. */
static uint8_t *port_room(struct ether_port *port)
{
    uint8_t *room = packet_room(port->packet);
    port->blocked = room == NULL && !packet_flush(port->packet);
    return room == NULL && !port->blocked ? packet_room(port->packet) : room;
}

static void port_flush(struct ether_port *port)
{
    port->blocked = !packet_flush(port->packet);
}

static void ether_seal(struct link_ether *l, uint8_t *bytes, size_t size, uint64_t number)
{
    if (l->encrypt)
        auth_encrypt(bytes, DATAGRAM_SEALED_BYTES, size, l->sealer, number);
    else
        auth_seal(bytes + size, l->sealer, number, bytes, size);
}

/* Writes what is before the packet of `size` bytes of a frame in `payload`. */
static void ether_put_head(const struct link_ether *l, uint8_t *payload, uint8_t kind,
                           uint64_t number, size_t size)
{
    struct ether ether = {.channel = l->channel,
                          .size = (uint16_t)(DATAGRAM_SEALED_BYTES + size + AUTH_TAG_BYTES)};
    struct cursor c = cursor_writer(payload, HEAD_BYTES);
    ether_put(&c, &ether);
    datagram_put_sealed(&c, kind, l->port->vm, l->session, number);
}

/* Completes and queues a frame in `payload`, whose packet of `size` bytes is there already. */
static void ether_put_frame(struct link_ether *l, uint8_t *payload, uint8_t kind, uint64_t number,
                            size_t size)
{
    ether_put_head(l, payload, kind, number, size);
    ether_seal(l, payload + ETHER_HEADER_BYTES, DATAGRAM_SEALED_BYTES + size, number);
    packet_put(l->port->packet, &l->to, AROUND_BYTES + size);
}

/* The same of a packet in the clear whose last bytes are elsewhere: they are read once for the tag
 * and once by the kernel, and not copied. The tag waits behind where the packet would end. */
static void put_apart(struct link_ether *l, const struct window_apart *apart, uint64_t number,
                      size_t size)
{
    uint8_t *payload = apart->payload - HEAD_BYTES, *tag = apart->payload + size;
    size_t head = HEAD_BYTES + size - apart->size;
    unsigned count = 0;
    ether_put_head(l, payload, DATAGRAM_DATA, number, size);
    struct auth_piece sealed[1 + WINDOW_PIECES_MAX] = {
        {payload + ETHER_HEADER_BYTES, head - ETHER_HEADER_BYTES}};
    struct iovec rest[PACKET_PIECES_MAX];
    for (; count < apart->count; count++) {
        const struct window_piece *piece = &apart->pieces[count];
        union {
            const uint8_t *in;
            void *message;
        } bytes = {.in = piece->bytes};
        sealed[1 + count] = (struct auth_piece){piece->bytes, piece->size};
        rest[count] = (struct iovec){bytes.message, piece->size};
    }
    rest[count] = (struct iovec){tag, AUTH_TAG_BYTES};
    auth_seal_pieces(tag, l->sealer, number, sealed, 1 + count);
    packet_put_pieces(l->port->packet, &l->to, head, rest, 1 + count);
}

static bool put_control(struct link_ether *l, uint8_t kind)
{
    uint8_t *payload = port_room(l->port);
    if (payload != NULL)
        ether_put_frame(l, payload, kind, DATAGRAM_CONTROL_NUMBER | l->control_number++, 0);
    return payload != NULL;
}

/* Puts the last bytes of a packet in their place. */
static void packet_join(const struct window_apart *apart, size_t size)
{
    uint8_t *at = apart->payload + size - apart->size;
    for (unsigned i = 0; i < apart->count; at += apart->pieces[i++].size)
        memcpy(at, apart->pieces[i].bytes, apart->pieces[i].size);
}

/* Queues the next packet of the window, if one may be sent. */
static bool put_next(struct link_ether *l, uint8_t *payload, uint64_t now_us)
{
    struct window_apart apart = {.payload = payload + HEAD_BYTES,
                                 .capacity = packet_mtu(l->port->packet) - AROUND_BYTES};
    size_t size = window_next_apart(l->window, l->number, &apart, now_us);
    if (size == 0)
        return false;
    if (!l->encrypt && apart.size >= APART_BYTES) {
        put_apart(l, &apart, l->number++, size);
        return true;
    }
    packet_join(&apart, size);
    ether_put_frame(l, payload, DATAGRAM_DATA, l->number++, size);
    return true;
}

static void transmit_detour(struct link_ether *l, uint64_t now_us)
{
    uint8_t *payload = l->port->far + DATAGRAM_SEALED_BYTES;
    size_t size, capacity = packet_mtu(l->port->packet) - AROUND_BYTES;
    bool any = false;
    while (now_us >= l->detour_full_us &&
           (size = window_next(l->window, l->number, payload, capacity, now_us)) > 0) {
        struct ether_port *port = l->port;
        uint64_t number = l->number++;
        struct cursor c = cursor_writer(port->far, DATAGRAM_SEALED_BYTES);
        datagram_put_sealed(&c, DATAGRAM_DATA, port->vm, l->session, number);
        ether_seal(l, port->far, DATAGRAM_SEALED_BYTES + size, number);
        if (!port->detour(port->context, l->channel, port->far + DATAGRAM_HEAD_BYTES,
                          DATAGRAM_OVERHEAD_BYTES - DATAGRAM_HEAD_BYTES + size))
            l->detour_full_us = now_us + DETOUR_FULL_US;
        any = true;
    }
    if (detour_asks(&l->detour, any, now_us))
        put_control(l, DATAGRAM_PING);
    port_flush(l->port);
}

/* Sends the packets that the window may send now. */
static void transmit(struct link_ether *l, uint64_t now_us)
{
    uint8_t *payload;
    if (l->detour.taken) {
        transmit_detour(l, now_us);
        return;
    }
    if (window_waiting(l->window) == window_unacknowledged(l->window))
        l->burst = 1; /* nothing is under way: the other end begins with the first frame at once */
    for (unsigned queued = 0;
         (payload = port_room(l->port)) != NULL && put_next(l, payload, now_us);) {
        if (++queued < l->burst)
            continue;
        port_flush(l->port);
        queued = 0;
        if (l->burst < BURST_FRAMES)
            l->burst *= 2;
    }
    port_flush(l->port);
}

/* Does what is due; returns when the next is. */
static uint64_t ether_advance(struct link_ether *l, uint64_t now_us)
{
    l->touched = false;
    bool owed = l->heard && window_unacknowledged(l->window) > 0;
    if (detour_step(&l->detour, owed, now_us))
        window_path_changed(l->window);
    if (detour_asks(&l->detour, false, now_us))
        put_control(l, DATAGRAM_PING);
    if (l->pong_due)
        l->pong_due = !put_control(l, DATAGRAM_PONG);
    if (now_us >= l->ping_us) {
        put_control(l, DATAGRAM_PING);
        l->ping_us = now_us + l->ping_wait_us;
        if (l->ping_wait_us < PING_US_MAX)
            l->ping_wait_us *= 2;
    }
    if (window_deadline(l->window) <= now_us)
        window_on_timer(l->window, now_us);
    transmit(l, now_us);
    uint64_t due_us = window_deadline(l->window), detour_us = detour_deadline(&l->detour);
    if (l->detour.taken && due_us < l->detour_full_us)
        due_us = l->detour_full_us;
    if (l->ping_us < due_us)
        due_us = l->ping_us;
    if (detour_us < due_us)
        due_us = detour_us;
    bool blocked = l->port->blocked && !l->detour.taken;
    return blocked && now_us + BLOCKED_US < due_us ? now_us + BLOCKED_US : due_us;
}

/* ---- in -------------------------------------------------------------------------------------- */

static bool unseal(struct link_ether *l, struct datagram *d)
{
    if (!l->encrypt) {
        datagram_set_body(d, d->payload);
        return auth_open(d->tag, l->opener, d->number, d->bytes, d->size);
    }
    struct auth_box box = {d->bytes, DATAGRAM_SEALED_BYTES, d->size};
    if (!auth_decrypt(l->port->opened, &box, l->opener, d->number))
        return false;
    datagram_set_body(d, l->port->opened);
    return true;
}

/* Whether a datagram of that number came before. Of PINGs and PONGs, what one overtook is old. */
static bool is_old(const struct link_ether *l, uint64_t number)
{
    if (number & DATAGRAM_CONTROL_NUMBER)
        return number < l->control_heard;
    return auth_replay_seen(&l->seen, number);
}

/* A datagram of this link's session; nothing changes unless it is authentic and new. */
static bool on_datagram(struct link_ether *l, struct datagram *d, bool detour, uint64_t now_us)
{
    bool control = (d->number & DATAGRAM_CONTROL_NUMBER) != 0;
    if (control != (d->kind != DATAGRAM_DATA) || (control && detour))
        return false;
    if (is_old(l, d->number) || !unseal(l, d))
        return false;
    l->heard = true;
    l->ping_us = UINT64_MAX;
    l->touched = true;
    if (control) {
        l->control_heard = d->number + 1;
        if (d->kind == DATAGRAM_PING)
            l->pong_due = true;
        else if (detour_on_answer(&l->detour, now_us))
            window_path_changed(l->window);
    } else {
        uint64_t before = window_acknowledged(l->window);
        auth_replay_mark(&l->seen, d->number);
        const char *refused =
            window_on_packet(l->window, d->number, d->payload, d->payload_bytes, now_us);
        if (refused != NULL)
            l->base.error = refused; /* the other task is out of its mind: recv() ends the link */
        if (window_acknowledged(l->window) != before)
            detour_on_proof(&l->detour);
        if (detour && detour_on_met(&l->detour, now_us))
            window_path_changed(l->window);
    }
    return true;
}

static void on_bytes(struct ether_port *port, const uint8_t *bytes, size_t size, bool detour,
                     uint64_t now_us)
{
    struct datagram d;
    if (datagram_decode(bytes, size, port->vm, &d) != DATAGRAM_GOOD ||
        (d.kind != DATAGRAM_DATA && d.kind != DATAGRAM_PING && d.kind != DATAGRAM_PONG))
        return;
    for (struct link_ether *l = port->links; l != NULL; l = l->next) {
        if (l->session == d.session && on_datagram(l, &d, detour, now_us))
            return;
    }
}

/* Takes in all frames that are there, for all links of the port; whether any were. */
static bool port_receive(struct ether_port *port)
{
    struct address from;
    const uint8_t *payload;
    size_t size;
    if (!packet_waiting(port->packet))
        return false;
    uint64_t now_us = clock_us();
    while ((payload = packet_next(port->packet, &size, &from)) != NULL) {
        struct ether ether;
        struct cursor c = cursor_reader(payload, size);
        if (ether_get(&c, &ether) == NULL && ether.channel == port->channel)
            on_bytes(port, ether.datagram, ether.size, false, now_us);
        packet_release(port->packet);
    }
    for (struct link_ether *l = port->links; l != NULL; l = l->next) {
        if (l->touched && (l->pong_due || window_deadline(l->window) <= now_us))
            ether_advance(l, now_us);
    }
    return true;
}

/* ---- the link -------------------------------------------------------------------------------- */

/* The other end may have some of it already. */
static void ether_keep(struct link *link)
{
    struct link_ether *l = ether_of(link);
    if (!window_lends(l->window))
        return;
    port_receive(l->port);
    window_keep(l->window);
}

/* Long pieces are sent from where they are, and what the other end lacks of them is copied only
 * when the last of them is on its way. */
static ssize_t ether_send(struct link *link, const struct iovec *iov, int count)
{
    struct link_ether *l = ether_of(link);
    size_t taken = 0, offered = 0;
    if (window_writable(l->window) == 0)
        port_receive(l->port); /* acknowledgements make room */
    for (int i = 0; i < count && taken == offered; i++) {
        bool lend = iov[i].iov_len >= LEND_BYTES;
        offered += iov[i].iov_len;
        taken += (lend ? window_lend : window_write)(l->window, iov[i].iov_base, iov[i].iov_len);
    }
    window_hold(l->window, link->more);
    transmit(l, clock_us());
    if (!link->more)
        ether_keep(link);
    return (ssize_t)taken;
}

static uint64_t ether_step(struct link *link, uint64_t now_us)
{
    struct link_ether *l = ether_of(link);
    port_receive(l->port);
    window_hold(l->window, link->more);
    return ether_advance(l, now_us);
}

static ssize_t ether_recv(struct link *link, void *bytes, size_t size)
{
    struct link_ether *l = ether_of(link);
    const uint8_t *there;
    size_t n = window_readable(l->window, &there);
    if (n == 0) {
        port_receive(l->port);
        n = window_readable(l->window, &there);
    }
    if (n == 0 && window_deadline(l->window) == 0)
        ether_advance(l, clock_us()); /* what was read makes room for more: the other end waits */
    if (n == 0)
        return l->base.error != NULL ? LINK_BROKEN : 0;
    n = n < size ? n : size;
    memcpy(bytes, there, n);
    window_consume(l->window, n);
    return (ssize_t)n;
}

static bool ether_arm(struct link *link)
{
    const uint8_t *there;
    struct link_ether *l = ether_of(link);
    bool came = port_receive(l->port); /* perhaps for a link that was armed before */
    return came || window_readable(l->window, &there) > 0;
}

static int ether_fd(const struct link *link, bool *write_wanted)
{
    (void)link;
    *write_wanted = false;
    return -1;
}

static int ether_ready(struct link *link)
{
    struct link_ether *l = ether_of(link);
    if (!l->heard)
        port_receive(l->port);
    return l->heard;
}

static size_t ether_unsent(const struct link *link)
{
    return window_unacknowledged(((const struct link_ether *)link)->window);
}

static void ether_free(struct link *link)
{
    struct link_ether *l = ether_of(link);
    UNLINK(l->port->links, l, next);
    window_destroy(l->window);
    auth_cipher_destroy(l->sealer);
    auth_cipher_destroy(l->opener);
    free(l);
}

static const struct link_ops ether_ops = {.name = "ether",
                                          .send = ether_send,
                                          .recv = ether_recv,
                                          .arm = ether_arm,
                                          .fd = ether_fd,
                                          .ready = ether_ready,
                                          .free = ether_free,
                                          .step = ether_step,
                                          .unsent = ether_unsent,
                                          .keep = ether_keep};

static struct window *window_for(const struct ether_port *port)
{
    size_t most = packet_mtu(port->packet), least = most < MTU_SAFE ? most : MTU_SAFE;
    size_t waiting = packet_waiting_bytes(port->packet);
    const struct window_config config = {.packet_bytes_min = least - AROUND_BYTES,
                                         .packet_bytes_max = most - AROUND_BYTES,
                                         .send_buffer_bytes = BUFFER_BYTES,
                                         .receive_buffer_bytes =
                                             waiting < BUFFER_BYTES ? waiting : BUFFER_BYTES};
    return window_create(&config);
}

static struct auth_cipher *cipher_of(const struct ether_way *way, const char *end)
{
    uint8_t key[AUTH_KEY_BYTES];
    auth_derive(key, way->secret.key, end, "", 0);
    struct auth_cipher *cipher = auth_cipher_create(key);
    sodium_memzero(key, sizeof key);
    return cipher;
}

static bool derive_keys(struct link_ether *l, const struct ether_way *way)
{
    struct auth_cipher *opener = cipher_of(way, "ether opener");
    struct auth_cipher *accepter = cipher_of(way, "ether accepter");
    l->sealer = way->opener ? opener : accepter;
    l->opener = way->opener ? accepter : opener;
    return opener != NULL && accepter != NULL;
}

struct link *link_ether_create(struct ether_port *port, const struct ether_way *way)
{
    struct link_ether *l = calloc(1, sizeof *l);
    if (l == NULL)
        return NULL;
    struct cursor nonce = cursor_reader(way->nonce, sizeof way->nonce);
    l->base.ops = &ether_ops;
    l->port = port;
    l->to = way->to;
    l->channel = way->channel;
    l->session = cursor_get_u32(&nonce);
    l->encrypt = way->secret.encrypt;
    l->ping_us = way->opener ? 0 : UINT64_MAX;
    l->ping_wait_us = PING_US;
    detour_init(&l->detour, port->far == NULL ? 0 : way->detour_us);
    if (derive_keys(l, way))
        l->window = window_for(port);
    if (l->window == NULL) {
        auth_cipher_destroy(l->sealer);
        auth_cipher_destroy(l->opener);
        free(l);
        return NULL;
    }
    l->next = port->links;
    port->links = l;
    return &l->base;
}

size_t link_ether_frame_bytes(const struct link *link)
{
    const struct link_ether *l = (const struct link_ether *)link;
    return packet_mtu(l->port->packet) - AROUND_BYTES - WIRE_STREAM_BYTES;
}

size_t link_ether_waiting(const struct link *link)
{
    return window_waiting(((const struct link_ether *)link)->window);
}

void link_ether_ask(struct link *link)
{
    struct link_ether *l = ether_of(link);
    if (!detour_asks(&l->detour, true, clock_us()))
        return;
    put_control(l, DATAGRAM_PING);
    port_flush(l->port);
}

bool link_ether_is_astray(const struct link *link)
{
    return ((const struct link_ether *)link)->detour.taken;
}

/* ---- the port -------------------------------------------------------------------------------- */

struct ether_port *ether_port_create(int fd, uint32_t vm, uint32_t channel, const char **why)
{
    struct ether_port *port = calloc(1, sizeof *port);
    *why = "out of memory";
    if (port == NULL)
        return NULL;
    port->vm = vm;
    port->channel = channel;
    port->opened = malloc(DATAGRAM_BYTES_MAX);
    if (port->opened != NULL)
        port->packet = packet_create(fd, why);
    if (port->packet != NULL)
        return port;
    ether_port_destroy(port);
    return NULL;
}

void ether_port_destroy(struct ether_port *port)
{
    if (port == NULL)
        return;
    packet_destroy(port->packet);
    free(port->opened);
    free(port->far);
    free(port);
}

int ether_port_fd(const struct ether_port *port)
{
    return packet_fd(port->packet);
}

void ether_port_receive(struct ether_port *port)
{
    port_receive(port);
}

void ether_port_set_detour(struct ether_port *port, ether_detour_fn *fn, void *context)
{
    port->detour = fn;
    port->context = context;
    port->far = malloc(packet_mtu(port->packet)); /* NULL: links wait for their segment */
}

void ether_port_on_detour(struct ether_port *port, const uint8_t *bytes, size_t size)
{
    struct cursor c = cursor_writer(port->far, packet_mtu(port->packet));
    if (port->far == NULL || size > packet_mtu(port->packet) - DATAGRAM_HEAD_BYTES)
        return;
    datagram_put_head(&c, DATAGRAM_DATA, port->vm);
    cursor_put_bytes(&c, bytes, size);
    on_bytes(port, port->far, DATAGRAM_HEAD_BYTES + size, true, clock_us());
}
