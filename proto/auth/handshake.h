/*
 * handshake.h - how two daemons that know the VM's key come to a session: HELLO, WELCOME, CONFIRM
 * (datagram.h); and how one says that it is there without any: ROLL, HERE. Nothing here keeps state
 * or knows time.
 *
 * The responder stores nothing for a HELLO. Its nonce is a MAC, under a secret of this start of the
 * daemon, of the HELLO and of how many sessions it has had with that host; so the CONFIRM that
 * comes back can be checked against a nonce computed anew, and one recorded in an earlier session
 * or an earlier start of the daemon does not verify.
 *
 * Session keys, one for each direction, bind the VM key, both hosts' ids, both nonces and both
 * session numbers.
 */
#ifndef COVEY_PROTO_HANDSHAKE_H
#define COVEY_PROTO_HANDSHAKE_H

#include "proto/wire/datagram.h"

/* What this node is to all its peers. */
struct identity {
    bool encrypt; /* set before identity_derive(), the same in the whole VM */
    bool ether;   /* likewise: the keys are those of MEDIUM_ETHER */
    uint32_t index;
    uint8_t id[HOST_ID_BYTES];
    uint32_t vm;
    uint8_t vm_key[VM_KEY_BYTES];
    uint8_t handshake_key[AUTH_KEY_BYTES];
    uint8_t boot_secret[AUTH_KEY_BYTES]; /* random, made at every start */
};

/* Derives vm and handshake_key from the VM's name and key. */
void identity_derive(struct identity *me, const char *vm, const uint8_t key[VM_KEY_BYTES]);

struct session_keys {
    uint8_t initiator[AUTH_KEY_BYTES]; /* seals what the initiator sends */
    uint8_t responder[AUTH_KEY_BYTES];
};

/* Initiator: the HELLO datagram. Responder: whether one is authentic. */
void handshake_hello(const struct identity *me, const struct hello *hello,
                     uint8_t bytes[HELLO_BYTES]);
bool handshake_hello_ok(const struct identity *me, const struct datagram *d);

/* Responder: the nonce that belongs to a HELLO while `count` sessions with that host were made. */
void handshake_nonce(const struct identity *me, const struct hello *hello, uint64_t count,
                     uint8_t nonce[AUTH_NONCE_BYTES]);

/* Responder: the WELCOME or REFUSE that answers a HELLO; initiator: whether one answers its own. */
void handshake_welcome(const struct identity *me, const struct hello *hello, uint64_t count,
                       uint8_t bytes[WELCOME_BYTES]);
void handshake_refuse(const struct identity *me, const struct hello *hello, uint8_t reason,
                      uint8_t bytes[REFUSE_BYTES]);
bool handshake_answer_ok(const struct identity *me, const struct hello *hello,
                         const struct datagram *d);

/* The same of ROLL, which handshake_hello_ok() and handshake_answer_ok() judge likewise. */
void handshake_roll(const struct identity *me, const struct hello *hello,
                    uint8_t bytes[HELLO_BYTES]);
void handshake_here(const struct identity *me, const struct hello *hello,
                    uint8_t bytes[HERE_BYTES]);

void handshake_keys(const struct identity *me, const struct hello *hello,
                    uint32_t responder_session, const uint8_t nonce[AUTH_NONCE_BYTES],
                    struct session_keys *keys);

#endif
