/*
 * session_state.h - what session.c, negotiation.c and session_path.c share and nobody else sees.
 */
#ifndef COVEY_PROTO_SESSION_STATE_H
#define COVEY_PROTO_SESSION_STATE_H

#include "proto/auth/auth.h"
#include "proto/session/session.h"
#include "proto/window/inbox.h"
#include "proto/window/outbox.h"

enum pending_phase {
    PENDING_NONE,
    PENDING_HELLO,  /* HELLO goes to every address until a WELCOME comes */
    PENDING_CONFIRM /* CONFIRM goes to the address of the WELCOME until anything sealed comes */
};

/* Of a session, to shake hands: admission.c. */
struct turn {
    struct session *next, *previous; /* those that wait */
    bool waits, admitted;
    uint64_t until_us; /* it is admitted so long */
};

/* A handshake that this node began. */
struct pending {
    struct turn turn;
    enum pending_phase phase;
    unsigned attempts;
    uint64_t retry_us;
    uint64_t backoff_us;
    struct hello hello;
    uint32_t responder_session;
    uint8_t nonce[AUTH_NONCE_BYTES]; /* the responder's */
    struct session_keys keys;
    struct address address; /* where the WELCOME came from */
};

/* An address, not the path, from which the peer was heard. */
struct trial {
    struct address address; /* ADDRESS_NONE: there is none */
    uint64_t token;
    uint64_t heard_bytes, sent_bytes;
    unsigned attempts;
    uint64_t retry_us; /* of the next, or when another address may be tried */
};

/* Where the peer may be. */
struct ways {
    uint8_t address_count;
    struct address addresses[HOST_ADDRESSES_MAX];
    uint8_t detour_count;
    struct address detours[HOST_ADDRESSES_MAX]; /* the other ones */
    struct trial trial;
    uint64_t return_us; /* astray: the candidates are tried again then */
};

struct session {
    struct endpoint *endpoint;
    uint32_t peer;
    uint8_t peer_id[HOST_ID_BYTES];
    struct ways ways;
    struct pending pending;

    bool open, closed;
    bool held; /* the next frame could not be taken yet */
    struct address path;
    bool path_proved;                    /* to be the peer's: until then it is the one on trial */
    uint32_t local_id, remote_id;        /* in datagrams to us, to the peer */
    struct auth_cipher *sealer, *opener; /* NULL until it is open */
    uint8_t initiator_nonce[AUTH_NONCE_BYTES]; /* of the HELLO that led to these keys */
    struct auth_replay data_seen, control_seen;
    uint64_t data_number, control_number; /* next to be sent */

    struct window *window;
    struct outbox outbox;
    uint64_t written;
    struct inbox inbox;
    uint64_t heard_us;
    uint64_t owed_since_us; /* acknowledgements are owed since then; UINT64_MAX: none */
};

void session_send(struct session *s, const struct address *to, const uint8_t *bytes, size_t size);
/* CHALLENGE or RESPONSE. */
void session_token(struct session *s, uint8_t kind, uint64_t token, const struct address *to);
/* Whether a sealed datagram is authentic under that key; then its body can be read. */
bool session_unseal(const struct endpoint *e, struct datagram *d, struct auth_cipher *opener);
struct auth_replay *session_replay(struct session *s, uint64_t number);
void session_log(struct session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether this datagram is the first under the keys of the pending handshake; then
 * negotiation_finish() puts them in use. */
bool negotiation_completes(const struct session *s, struct datagram *d);
bool negotiation_finish(struct session *s, const struct address *from, uint64_t now_us);
/* Sends HELLO or CONFIRM again when it is due; returns when to call again. */
uint64_t negotiation_step(struct session *s, uint64_t now_us);

/* ---- admission.c ---- */

/* Whether this session may say HELLO now; if not, owner.admitted() tells when. */
bool admission_take(struct session *s, uint64_t now_us);
/* It needs no turn any more: the next one has it. */
void admission_give(struct session *s, uint64_t now_us);
/* Ends its turn when it has taken long enough; when that is. */
void admission_step(struct session *s, uint64_t now_us);
uint64_t admission_deadline(const struct session *s);

/* ---- session_path.c ---- */

/* A handshake succeeded with a datagram from that address. */
void session_path_open(struct session *s, const struct address *from);
/* An authentic datagram of so many bytes came from that address, the newest of its kind or not. */
void session_path_heard(struct session *s, const struct address *from, bool newest, size_t bytes,
                        uint64_t now_us);
void session_path_answered(struct session *s, const struct address *from, uint64_t token);
/* Whether so many bytes may be sent there, which then counts as done. */
bool session_path_pays(struct session *s, const struct address *to, size_t bytes);
/* Sends CHALLENGE again when it is due; returns when to call again. */
uint64_t session_path_step(struct session *s, uint64_t now_us);

#endif
