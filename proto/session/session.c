/*
 * session.c - the life of a session after and around its handshake: keys in use, sealing and
 * opening, frames into and out of the window, timers. negotiation.c holds the handshake itself,
 * session_path.c where to send.
 *
 * Invariants: no number is used twice under one key, for data and control numbers count up for the
 * life of the session, also over a change of keys, and no two sessions, one after the other or of
 * two starts of a daemon, have the same keys: these bind the random nonce of the initiator's HELLO,
 * the responder's MAC of it under its boot secret, and how many sessions it has had with that host.
 * State changes only after a datagram proved authentic and fresh; a session sends nothing unsealed
 * but HELLO.
 */
#include "proto/session/session.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/session/session_state.h"
#include "proto/wire/deadline.h"

#define SEND_BUFFER_BYTES (4u << 20)
#define RECEIVE_BUFFER_BYTES (4u << 20)

struct session *session_create(struct endpoint *endpoint, const struct host *peer)
{
    struct session *s = calloc(1, sizeof *s);
    struct window_config config = {
        .packet_bytes_min = endpoint->datagram_bytes_min - DATAGRAM_OVERHEAD_BYTES,
        .packet_bytes_max = endpoint->datagram_bytes_max - DATAGRAM_OVERHEAD_BYTES,
        .send_buffer_bytes = SEND_BUFFER_BYTES,
        .receive_buffer_bytes = RECEIVE_BUFFER_BYTES,
        .lent_stay = true, /* in the outbox */
    };

    if (s == NULL)
        return NULL;
    s->owed_since_us = UINT64_MAX;
    s->endpoint = endpoint;
    s->peer = peer->index;
    memcpy(s->peer_id, peer->id, HOST_ID_BYTES);
    session_set_addresses(s, peer);
    s->window = window_create(&config);
    if (s->window == NULL) {
        free(s);
        return NULL;
    }
    return s;
}

void session_destroy(struct session *s)
{
    if (s == NULL)
        return;
    s->endpoint->counters.sessions_closed += s->open;
    admission_give(s, s->heard_us);
    window_destroy(s->window);
    outbox_free(&s->outbox);
    auth_cipher_destroy(s->sealer);
    auth_cipher_destroy(s->opener);
    free(s);
}

void session_set_addresses(struct session *s, const struct host *peer)
{
    s->ways.address_count = s->ways.detour_count = 0;
    for (uint8_t i = 0; i < peer->address_count; i++)
        if ((peer->addresses[i].family == ADDRESS_ETHER) == s->endpoint->ether)
            s->ways.addresses[s->ways.address_count++] = peer->addresses[i];
        else
            s->ways.detours[s->ways.detour_count++] = peer->addresses[i];
}

bool session_is_open(const struct session *s)
{
    return s->open;
}

bool session_is_opening(const struct session *s)
{
    return s->pending.phase != PENDING_NONE;
}

bool session_is_astray(const struct session *s)
{
    return s->open && s->endpoint->ether && s->path.family != ADDRESS_ETHER;
}

void session_close(struct session *s)
{
    s->closed = true;
    outbox_withdraw(&s->outbox);
}

const struct address *session_path(const struct session *s)
{
    return s->path_proved ? &s->path : NULL;
}

const struct window *session_window(const struct session *s)
{
    return s->window;
}

void session_send(struct session *s, const struct address *to, const uint8_t *bytes, size_t size)
{
    s->endpoint->counters.datagrams_sent++;
    s->endpoint->counters.bytes_sent += size;
    s->endpoint->owner.send(s->endpoint->owner.context, to, bytes, size);
}

/* ---- sealing ---- */

bool session_unseal(const struct endpoint *e, struct datagram *d, struct auth_cipher *opener)
{
    struct auth_box box = {d->bytes, DATAGRAM_SEALED_BYTES, d->size};

    if (!e->me.encrypt || d->kind == DATAGRAM_CONFIRM) {
        datagram_set_body(d, d->payload);
        return auth_open(d->tag, opener, d->number, d->bytes, d->size);
    }
    if (!auth_decrypt(e->opened, &box, opener, d->number))
        return false;
    datagram_set_body(d, e->opened);
    return true;
}

/* Completes and sends a sealed datagram whose payload is there already. */
static void send_sealed(struct session *s, uint8_t *bytes, uint8_t kind, uint64_t number,
                        size_t payload_bytes, const struct address *to)
{
    struct cursor c = cursor_writer(bytes, DATAGRAM_SEALED_BYTES);
    size_t size = DATAGRAM_SEALED_BYTES + payload_bytes;

    assert(s->open && s->sealer != NULL);
    datagram_put_sealed(&c, kind, s->endpoint->me.vm, s->remote_id, number);
    if (s->endpoint->me.encrypt)
        auth_encrypt(bytes, DATAGRAM_SEALED_BYTES, size, s->sealer, number);
    else
        auth_seal(bytes + size, s->sealer, number, bytes, size);
    session_send(s, to, bytes, size + AUTH_TAG_BYTES);
}

void session_ping(struct session *s, uint8_t kind, uint32_t target, uint64_t now_us)
{
    struct cursor c =
        cursor_writer(s->endpoint->scratch + DATAGRAM_SEALED_BYTES, DATAGRAM_TARGET_BYTES);
    size_t bytes = datagram_has_target(kind) ? DATAGRAM_TARGET_BYTES : 0;

    if (!s->open) {
        session_open(s, now_us);
        return;
    }
    if (!session_path_pays(s, &s->path, DATAGRAM_OVERHEAD_BYTES + bytes))
        return;
    cursor_put_u32(&c, target);
    send_sealed(s, s->endpoint->scratch, kind, DATAGRAM_CONTROL_NUMBER | s->control_number++, bytes,
                &s->path);
}

void session_token(struct session *s, uint8_t kind, uint64_t token, const struct address *to)
{
    struct cursor c =
        cursor_writer(s->endpoint->scratch + DATAGRAM_SEALED_BYTES, DATAGRAM_TOKEN_BYTES);

    /* an answer is as long as the question that came from there */
    if (kind == DATAGRAM_CHALLENGE &&
        !session_path_pays(s, to, DATAGRAM_OVERHEAD_BYTES + DATAGRAM_TOKEN_BYTES))
        return;
    cursor_put_u64(&c, token);
    send_sealed(s, s->endpoint->scratch, kind, DATAGRAM_CONTROL_NUMBER | s->control_number++,
                DATAGRAM_TOKEN_BYTES, to);
}

/* The numbers of data and of control datagrams are seen apart: the window must find no gaps where
 * heartbeats were. */
struct auth_replay *session_replay(struct session *s, uint64_t number)
{
    return number & DATAGRAM_CONTROL_NUMBER ? &s->control_seen : &s->data_seen;
}

/* ---- frames ---- */

static void deliver_frames(struct session *s, uint64_t now_us)
{
    struct frame frame;
    const uint8_t *payload;
    const char *reason;
    int found;

    while (!s->closed &&
           (found = inbox_next(&s->inbox, s->window, &frame, &payload, &reason)) != 0) {
        if (found < 0) {
            session_log(s, "closed the stream of host %u: %s", s->peer, reason);
            s->closed = true;
            s->endpoint->counters.refused_payload++;
            return;
        }
        s->held =
            !s->endpoint->owner.frame(s->endpoint->owner.context, s->peer, &frame, payload, now_us);
        if (s->held) {
            inbox_put_back(&s->inbox);
            return;
        }
        s->endpoint->counters.frames_received++;
    }
}

static void on_data(struct session *s, const struct datagram *d, uint64_t now_us)
{
    const char *reason =
        window_on_packet(s->window, d->number, d->payload, d->payload_bytes, now_us);

    if (reason != NULL) {
        s->endpoint->counters.refused_payload++;
        session_log(s, "refused a packet of host %u: %s", s->peer, reason);
        return;
    }
    deliver_frames(s, now_us);
    s->endpoint->missing = s->inbox.missing;
}

/* What an authentic and fresh datagram says. */
static void dispatch_sealed(struct session *s, const struct datagram *d, const struct address *from,
                            uint64_t now_us)
{
    struct endpoint_owner *owner = &s->endpoint->owner;

    s->heard_us = now_us;
    owner->heard(owner->context, s->peer, now_us);
    if (d->kind == DATAGRAM_DATA)
        on_data(s, d, now_us);
    else if (d->kind == DATAGRAM_PING || d->kind == DATAGRAM_CONFIRM)
        session_ping(s, DATAGRAM_PONG, 0, now_us);
    else if (d->kind == DATAGRAM_CHALLENGE)
        session_token(s, DATAGRAM_RESPONSE, d->token, from);
    else if (d->kind == DATAGRAM_RESPONSE)
        session_path_answered(s, from, d->token);
    else if (datagram_has_target(d->kind))
        owner->asked(owner->context, s->peer, d->kind, d->target, now_us);
}

void session_on_sealed(struct session *s, struct datagram *d, const struct address *from,
                       uint64_t now_us)
{
    struct counters *counters = &s->endpoint->counters;
    struct auth_replay *seen = session_replay(s, d->number);

    if (negotiation_completes(s, d)) {
        if (!negotiation_finish(s, from, now_us))
            return;
    } else if (!s->open || d->session != s->local_id) {
        counters->refused_session++;
        return;
    } else if (auth_replay_seen(seen, d->number)) {
        counters->refused_replay++;
        return;
    } else if (!session_unseal(s->endpoint, d, s->opener)) {
        counters->refused_mac++;
        return;
    }
    if ((d->kind == DATAGRAM_DATA) != !(d->number & DATAGRAM_CONTROL_NUMBER)) {
        counters->refused_kind++;
        return;
    }
    session_path_heard(s, from, !seen->any || d->number > seen->highest, d->size + AUTH_TAG_BYTES,
                       now_us);
    assert(!auth_replay_seen(seen, d->number));
    auth_replay_mark(seen, d->number);
    dispatch_sealed(s, d, from, now_us);
}

int session_write(struct session *s, const struct frame *frame, const uint8_t *payload,
                  uint8_t *own)
{
    uint8_t header[FRAME_HEADER_BYTES];
    bool queued;

    if (s->closed) {
        free(own);
        return 0;
    }
    frame_encode(frame, own != NULL ? own : header);
    queued = own != NULL ? outbox_give(&s->outbox, own, FRAME_HEADER_BYTES + frame->length)
                         : outbox_append(&s->outbox, header, sizeof header, payload, frame->length);
    if (!queued)
        return -ENOMEM;
    s->written += FRAME_HEADER_BYTES + frame->length;
    s->endpoint->counters.frames_sent++;
    return 0;
}

size_t session_queued(const struct session *s)
{
    return s->closed ? 0 : s->outbox.bytes + window_unacknowledged(s->window);
}

uint64_t session_written(const struct session *s)
{
    return s->written;
}

/* ---- timers and sending ---- */

/* A datagram is put together, and sealed, where the link below will send it from. */
static void send_data(struct session *s, uint64_t now_us)
{
    struct endpoint *e = s->endpoint;
    size_t capacity = e->datagram_bytes_max - DATAGRAM_OVERHEAD_BYTES;

    for (;;) {
        uint8_t *bytes = e->owner.room(e->owner.context, &s->path);
        size_t size;

        bytes = bytes != NULL ? bytes : e->scratch;
        outbox_pump(&s->outbox, s->window);
        size =
            window_next(s->window, s->data_number, bytes + DATAGRAM_SEALED_BYTES, capacity, now_us);
        if (size == 0)
            return;
        assert(s->path_proved && !(s->data_number & DATAGRAM_CONTROL_NUMBER));
        send_sealed(s, bytes, DATAGRAM_DATA, s->data_number++, size, &s->path);
    }
}

/* A host that owes acknowledgements and is silent may have moved: shake hands over all addresses.
 * Returns when to look again. */
static uint64_t watch_stall(struct session *s, uint64_t now_us)
{
    uint64_t since;

    if (session_queued(s) == 0) {
        s->owed_since_us = UINT64_MAX;
        return UINT64_MAX;
    }
    if (s->owed_since_us == UINT64_MAX)
        s->owed_since_us = now_us;
    if (s->pending.phase != PENDING_NONE)
        return UINT64_MAX;
    since = s->heard_us > s->owed_since_us ? s->heard_us : s->owed_since_us;
    if (now_us < since + s->endpoint->stall_us)
        return since + s->endpoint->stall_us;
    session_open(s, now_us);
    return UINT64_MAX;
}

static uint64_t step_open(struct session *s, uint64_t now_us)
{
    uint64_t due_us;

    assert(s->open && s->opener != NULL);
    if (s->held)
        deliver_frames(s, now_us);
    due_us = session_path_step(s, now_us);
    if (s->path_proved) {
        window_set_crowd(s->window, s->endpoint->crowd_us);
        if (window_deadline(s->window) <= now_us)
            window_on_timer(s->window, now_us);
        send_data(s, now_us);
        if (session_is_astray(s) && now_us >= s->ways.return_us && session_queued(s) != 0) {
            s->ways.return_us = now_us + s->endpoint->return_us;
            session_open(s, now_us);
        }
        due_us = earlier(due_us, window_deadline(s->window));
    }
    return earlier(due_us, watch_stall(s, now_us));
}

uint64_t session_step(struct session *s, uint64_t now_us)
{
    uint64_t deadline = UINT64_MAX;

    if (s->open)
        deadline = step_open(s, now_us);
    else if (session_queued(s) > 0)
        session_open(s, now_us);
    return earlier(deadline, negotiation_step(s, now_us));
}
