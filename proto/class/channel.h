/*
 * channel.h - what a student's machine and a class say to each other over one TCP connection: the
 * wire, and the two ends of it as bytes that came and bytes to send.
 *
 *   class    HELLO   version nonce                     ; the first to speak
 *   student  SHARE   version label nonce point         ; CPace: Ya
 *   class    REPLY   point                             ; Yb
 *   student  PROOF   tag                               ; the student first: a class that does not
 *   class    PROOF   tag                               ;   know the code has one guess, no more
 *            from here on all is encrypted
 *   class    WELCOME protocol vm host
 *   student  ENTER   protocol name key                 ; a public key, for which
 *   class    INVITE  sealed                            ; the invitation is sealed (bootstrap.h)
 *   student  ANSWER  text                              ; what coveyd says: "ok INDEX", or why not
 *   class    DONE    error text
 *   class    REFUSE  reason                            ; in the place of REPLY, its PROOF, WELCOME
 *
 *   frame = size body                 ; size: of the body, 16 bits
 *   body  = kind fields               ; or that sealed by ChaCha20-Poly1305, whose nonce counts the
 *                                     ;   frames of that way; each way has a key of its own
 *
 * The session of CPace is both nonces, the channel's name CLASS_CHANNEL, and each side's data
 * CLASS_STUDENT or CLASS_TEACHER: what one has said is no answer to it.
 */
#ifndef COVEY_PROTO_CHANNEL_H
#define COVEY_PROTO_CHANNEL_H

#include "proto/class/cpace.h"
#include "proto/wire/cursor.h"

#define CLASS_VERSION 1
#define CLASS_CHANNEL "covey class 1"
#define CLASS_STUDENT "student"
#define CLASS_TEACHER "teacher"
#define CLASS_NONCE_BYTES 16
#define CLASS_BOX_KEY_BYTES 32
#define CLASS_NAME_MAX 63
#define CLASS_TEXT_MAX 255
#define CLASS_SEALED_MAX 8192

#define CHANNEL_OPEN_MAX 128 /* bytes of a body before the proofs */
#define CHANNEL_BODY_MAX (CLASS_SEALED_MAX + 64)

/* kind, number, name, whether in the clear */
#define CHANNEL_KINDS(ROW)                                                                         \
    ROW(HELLO, 1, true)                                                                            \
    ROW(SHARE, 2, true)                                                                            \
    ROW(REPLY, 3, true)                                                                            \
    ROW(PROOF, 4, true)                                                                            \
    ROW(REFUSE, 5, true)                                                                           \
    ROW(WELCOME, 6, false)                                                                         \
    ROW(ENTER, 7, false)                                                                           \
    ROW(INVITE, 8, false)                                                                          \
    ROW(ANSWER, 9, false)                                                                          \
    ROW(DONE, 10, false)

#define CHANNEL_KIND(name, number, clear) CHANNEL_##name = number,
enum channel_kind { CHANNEL_KINDS(CHANNEL_KIND) };

enum class_refusal {
    CLASS_OTHER_VERSION = 1,
    CLASS_NO_SUCH_CODE = 2, /* its label is not that of the code that counts now: no try is lost */
    CLASS_WRONG_CODE = 3,
    CLASS_CLOSED = 4 /* it takes nobody in, or nobody more now */
};

/* CPace on this connection. */
struct channel_proof {
    uint8_t scalar[CPACE_SCALAR_BYTES];
    uint8_t session[2 * CLASS_NONCE_BYTES]; /* the class's nonce, then the student's */
    uint8_t student[CPACE_POINT_BYTES], teacher[CPACE_POINT_BYTES];
    uint8_t key[CPACE_KEY_BYTES];
};

/* One way of an encrypted connection. */
struct channel_way {
    uint8_t key[32];
    uint64_t frames;
};

struct channel {
    bool sealed; /* from the proofs on */
    bool broken; /* what came makes no sense, or what was to be sent does not fit */
    struct channel_way to_send, to_take;
    size_t in_size, out_size;
    uint8_t in[2 + CHANNEL_BODY_MAX];
    uint8_t out[2 * (2 + CHANNEL_BODY_MAX)];
    uint8_t body[CHANNEL_BODY_MAX]; /* of the frame taken last */
};

/* Keeps bytes that came, until a frame is whole; returns how many: take the frame, then feed the
 * rest. */
size_t channel_feed(struct channel *channel, const uint8_t *bytes, size_t size);

/* Takes a frame that is whole: its kind, and the fields as a cursor over memory of the channel,
 * until the next one. 0: there is none, or the channel is broken. */
int channel_take(struct channel *channel, struct cursor *fields);

/* Adds a frame to what is to be sent: of the fields as their cursor wrote them at `body` + 1. */
void channel_send(struct channel *channel, enum channel_kind kind, uint8_t *body,
                  const struct cursor *fields);

/* Takes so many bytes off what is to be sent. */
void channel_sent(struct channel *channel, size_t size);

/* ---- the exchange ---------------------------------------------------------------------------- */

/* Makes the own share, with the password, once the session is known. */
void channel_share(struct channel_proof *proof, const char *password,
                   const uint8_t random[CPACE_RANDOM_BYTES], bool teacher);

/* The key, once both shares are there. False: the other's is none. */
bool channel_agree(struct channel_proof *proof, bool teacher);

/* What the student, or the teacher, proves by that he has the key. */
void channel_tag(const struct channel_proof *proof, bool teacher, uint8_t tag[CPACE_TAG_BYTES]);

/* From here on frames are encrypted; what the proofs were made of is wiped. */
void channel_seal(struct channel *channel, struct channel_proof *proof, bool teacher);

#endif
