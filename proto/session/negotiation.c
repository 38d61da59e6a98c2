/*
 * negotiation.c - the handshake of a session, as initiator and as responder.
 *
 * Both sides may begin at once. Each answers the other's HELLO, for that costs no state; whoever's
 * CONFIRM arrives decides. When both are confirming, the host with the lower index ignores the
 * other's CONFIRM and its own wins. A CONFIRM verifies only against the present count of sessions,
 * so an older one that arrives late changes nothing.
 */
#include <stdio.h>
#include <string.h>

#include "proto/session/session_state.h"
#include "proto/wire/deadline.h"
#include "proto/wire/format.h"
#include "proto/wire/splitmix.h"

#define BACKOFF_FIRST_US 50000
#define BACKOFF_LAST_US 1000000
#define CONFIRM_ATTEMPTS 5
#define PATIENT_ATTEMPTS 2 /* after which others are asked for help */
#define IDLE_ATTEMPTS 8    /* after which a handshake that nobody waits for is given up */

void session_log(struct session *s, const char *format, ...)
{
    char line[256];
    FORMAT(line, sizeof line, format);
    s->endpoint->owner.log(s->endpoint->owner.context, line);
}

static void schedule_retry(struct session *s, uint64_t now_us)
{
    struct pending *p = &s->pending;

    /* Retries of many hosts must not stay in step. */
    p->retry_us = now_us + p->backoff_us + splitmix_next(&s->endpoint->seed) % (p->backoff_us / 2);
    p->backoff_us = p->backoff_us * 2 < BACKOFF_LAST_US ? p->backoff_us * 2 : BACKOFF_LAST_US;
}

static void begin_hello(struct session *s, uint64_t now_us)
{
    struct endpoint *e = s->endpoint;
    struct pending *p = &s->pending;

    *p = (struct pending){.turn = p->turn, .phase = PENDING_HELLO};
    p->backoff_us = BACKOFF_FIRST_US;
    p->retry_us = now_us;
    p->hello.from = e->me.index;
    p->hello.to = s->peer;
    p->hello.session = session_id_make(s->peer, s->endpoint->made[s->peer]);
    memcpy(p->hello.from_id, e->me.id, HOST_ID_BYTES);
    memcpy(p->hello.to_id, s->peer_id, HOST_ID_BYTES);
    e->random(e->random_context, p->hello.nonce, AUTH_NONCE_BYTES);
}

void session_open(struct session *s, uint64_t now_us)
{
    if (s->pending.phase == PENDING_NONE)
        begin_hello(s, now_us);
}

/* ---- initiator ---- */

/* Whether the segment has long carried nothing of what waits. */
static bool detours_will_do(const struct session *s, uint64_t now_us)
{
    uint64_t since = s->heard_us > s->owed_since_us ? s->heard_us : s->owed_since_us;

    return s->open && s->endpoint->detour_us != 0 && s->owed_since_us != UINT64_MAX &&
           now_us >= since + s->endpoint->detour_us;
}

static bool send_to_all(struct session *s, const struct address *list, uint8_t count,
                        const uint8_t bytes[HELLO_BYTES])
{
    bool path_is_there = false;

    for (uint8_t i = 0; i < count; i++) {
        session_send(s, &list[i], bytes, HELLO_BYTES);
        path_is_there |= address_equal(&list[i], &s->path);
    }
    return path_is_there;
}

static void send_confirm(struct session *s)
{
    struct pending *p = &s->pending;
    uint64_t number = DATAGRAM_CONTROL_NUMBER | s->control_number++;
    uint8_t bytes[CONFIRM_BYTES];
    struct cursor c = cursor_writer(bytes, sizeof bytes);

    datagram_put_sealed(&c, DATAGRAM_CONFIRM, s->endpoint->me.vm, p->responder_session, number);
    datagram_put_hello(&c, &p->hello);
    cursor_put_bytes(&c, p->nonce, AUTH_NONCE_BYTES);
    struct auth_cipher *sealer = auth_cipher_create(p->keys.initiator);
    if (sealer == NULL)
        return; /* it is sent again */
    auth_seal(c.at, sealer, number, bytes, CONFIRM_BYTES - AUTH_TAG_BYTES);
    auth_cipher_destroy(sealer);
    session_send(s, &p->address, bytes, sizeof bytes);
}

void session_on_welcome(struct session *s, const struct datagram *d, const struct address *from,
                        uint64_t now_us)
{
    struct endpoint *e = s->endpoint;
    struct pending *p = &s->pending;

    if (p->phase != PENDING_HELLO || d->session != p->hello.session) {
        e->counters.refused_session++;
        return;
    }
    if (!handshake_answer_ok(&e->me, &p->hello, d)) {
        e->counters.refused_mac++;
        return;
    }
    p->phase = PENDING_CONFIRM;
    p->responder_session = d->responder_session;
    memcpy(p->nonce, d->nonce, AUTH_NONCE_BYTES);
    p->address = *from;
    p->attempts = 0;
    p->backoff_us = BACKOFF_FIRST_US;
    p->retry_us = now_us;
    handshake_keys(&e->me, &p->hello, p->responder_session, p->nonce, &p->keys);
}

void session_on_refuse(struct session *s, const struct datagram *d, uint64_t now_us)
{
    struct endpoint *e = s->endpoint;

    if (s->pending.phase != PENDING_HELLO || d->session != s->pending.hello.session) {
        e->counters.refused_session++;
        return;
    }
    if (!handshake_answer_ok(&e->me, &s->pending.hello, d)) {
        e->counters.refused_mac++;
        return;
    }
    e->owner.refused(e->owner.context, s->peer, d->reason, now_us);
}

/* False: memory is exhausted, and the session is as it was. */
static bool set_keys(struct session *s, const uint8_t send_key[AUTH_KEY_BYTES],
                     const uint8_t receive_key[AUTH_KEY_BYTES])
{
    struct auth_cipher *sealer = auth_cipher_create(send_key);
    struct auth_cipher *opener = auth_cipher_create(receive_key);

    if (sealer == NULL || opener == NULL) {
        auth_cipher_destroy(sealer);
        auth_cipher_destroy(opener);
        return false;
    }
    auth_cipher_destroy(s->sealer);
    auth_cipher_destroy(s->opener);
    s->sealer = sealer;
    s->opener = opener;
    return true;
}

/* New keys are in use; the number spaces go on, so what was seen under old keys is forgotten. */
static void begin_keys(struct session *s, const struct hello *hello, const struct address *path,
                       uint64_t now_us)
{
    memcpy(s->initiator_nonce, hello->nonce, AUTH_NONCE_BYTES);
    memset(&s->data_seen, 0, sizeof s->data_seen);
    memset(&s->control_seen, 0, sizeof s->control_seen);
    session_path_open(s, path);
    s->open = true;
    s->endpoint->made[s->peer]++;
    s->heard_us = now_us;
    s->ways.return_us = now_us + s->endpoint->return_us;
    s->pending.phase = PENDING_NONE;
    admission_give(s, now_us);
    s->endpoint->counters.sessions_opened++;
    s->endpoint->owner.opened(s->endpoint->owner.context, s->peer, now_us);
}

bool negotiation_completes(const struct session *s, struct datagram *d)
{
    const struct pending *p = &s->pending;

    if (p->phase != PENDING_CONFIRM || d->session != p->hello.session)
        return false;
    struct auth_cipher *opener = auth_cipher_create(p->keys.responder);
    bool good = opener != NULL && session_unseal(s->endpoint, d, opener);
    auth_cipher_destroy(opener);
    return good;
}

bool negotiation_finish(struct session *s, const struct address *from, uint64_t now_us)
{
    struct pending *p = &s->pending;

    if (!set_keys(s, p->keys.initiator, p->keys.responder))
        return false;
    s->local_id = p->hello.session;
    s->remote_id = p->responder_session;
    begin_keys(s, &p->hello, from, now_us);
    return true;
}

/* ---- responder ---- */

bool session_confirm_ok(const struct endpoint *endpoint, const struct datagram *d,
                        struct session_keys *keys)
{
    uint64_t count = endpoint->made[d->hello.from];
    uint8_t nonce[AUTH_NONCE_BYTES];

    handshake_nonce(&endpoint->me, &d->hello, count, nonce);
    if (d->session != session_id_make(d->hello.from, count) ||
        memcmp(nonce, d->nonce, sizeof nonce) != 0)
        return false;
    handshake_keys(&endpoint->me, &d->hello, d->session, nonce, keys);
    struct auth_cipher *opener = auth_cipher_create(keys->initiator);
    bool good = opener != NULL && auth_open(d->tag, opener, d->number, d->bytes, d->size);
    auth_cipher_destroy(opener);
    return good;
}

/* A CONFIRM that is sent again because our answer to it was lost. */
static bool confirm_repeats(const struct session *s, const struct datagram *d)
{
    return s->open && d->session == s->local_id &&
           memcmp(d->hello.nonce, s->initiator_nonce, AUTH_NONCE_BYTES) == 0;
}

void session_on_confirm(struct session *s, struct datagram *d, const struct address *from,
                        uint64_t now_us)
{
    struct session_keys keys;

    if (confirm_repeats(s, d)) {
        session_on_sealed(s, d, from, now_us);
        return;
    }
    if (!session_confirm_ok(s->endpoint, d, &keys)) {
        s->endpoint->counters.refused_mac++;
        return;
    }
    if (s->pending.phase == PENDING_CONFIRM && s->endpoint->me.index < s->peer)
        return;
    if (!set_keys(s, keys.responder, keys.initiator))
        return; /* it is sent again */
    s->local_id = d->session;
    s->remote_id = d->hello.session;
    begin_keys(s, &d->hello, from, now_us);
    session_path_heard(s, from, true, d->size + AUTH_TAG_BYTES, now_us);
    auth_replay_mark(session_replay(s, d->number), d->number);
    session_ping(s, DATAGRAM_PONG, 0, now_us);
}

/* ---- time ---- */

uint64_t negotiation_step(struct session *s, uint64_t now_us)
{
    struct pending *p = &s->pending;

    if (p->phase == PENDING_NONE)
        return UINT64_MAX;
    admission_step(s, now_us);
    if (now_us < p->retry_us)
        return earlier(p->retry_us, admission_deadline(s));
    if (p->phase == PENDING_CONFIRM && p->attempts >= CONFIRM_ATTEMPTS)
        begin_hello(s, now_us);
    if (p->phase == PENDING_HELLO && p->attempts >= IDLE_ATTEMPTS && session_queued(s) == 0) {
        p->phase = PENDING_NONE;
        admission_give(s, now_us);
        return UINT64_MAX;
    }
    if (p->phase == PENDING_HELLO && !admission_take(s, now_us))
        return UINT64_MAX;
    if (p->phase == PENDING_HELLO && p->attempts >= PATIENT_ATTEMPTS)
        s->endpoint->owner.unanswered(s->endpoint->owner.context, s->peer, now_us);
    p->attempts++;
    if (p->phase == PENDING_HELLO) {
        /* A session that is astray does not ask by that way to be led back. */
        uint8_t bytes[HELLO_BYTES];
        bool far = detours_will_do(s, now_us), path_is_done;

        handshake_hello(&s->endpoint->me, &s->pending.hello, bytes);
        path_is_done = send_to_all(s, s->ways.addresses, s->ways.address_count, bytes);
        if (far)
            path_is_done |= send_to_all(s, s->ways.detours, s->ways.detour_count, bytes);
        if (session_path(s) != NULL && !path_is_done && (far || !session_is_astray(s)))
            session_send(s, &s->path, bytes, sizeof bytes);
        s->endpoint->counters.hellos_sent++;
    } else
        send_confirm(s);
    schedule_retry(s, now_us);
    return earlier(p->retry_us, admission_deadline(s));
}
