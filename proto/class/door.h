/*
 * door.h - the teacher's side of a class: the code that counts now, who tries it, and how often it
 * may be tried. No sockets and no clock: bytes and times come in, bytes and events come out.
 *
 *   A code is void after three wrong tries, and another one counts; after ten void codes the door
 *   closes until the teacher opens it again. So whoever tries codes, as long as he wants, has
 *   30 tries of 80,000 (passcode.h).
 *
 * A try counts as wrong before the proof is looked at, and that is taken back if it is right. A
 * guest proves first: who leaves earlier has learnt nothing, and no try is lost. When a code is
 * void, all who have not proved anything go.
 *
 * A guest is one connection. Its answers are awaited for a while only (DOOR_PROOF_MS,
 * DOOR_ANSWER_MS). There may be DOOR_GUESTS_MAX: for one more, one goes that has proved nothing,
 * the oldest of those that come from where most come from. So somebody who connects as often as he
 * can takes places from himself, and from students only when he has as many addresses as they.
 */
#ifndef COVEY_PROTO_DOOR_H
#define COVEY_PROTO_DOOR_H

#include "proto/class/beacon.h"
#include "proto/class/chance.h"
#include "proto/class/channel.h"
#include "proto/class/passcode.h"

#define DOOR_WRONG_MAX 3
#define DOOR_VOID_MAX 10
#define DOOR_GUESTS_MAX 128
#define DOOR_PROOF_MS 10000  /* from the connection to the proof */
#define DOOR_ANSWER_MS 60000 /* from there to the end */

struct door;
struct guest;

enum door_state {
    DOOR_OPEN,
    DOOR_CLOSED,  /* by the teacher, or not opened yet */
    DOOR_TIMEOUT, /* it was open for as long as it should be */
    DOOR_TRIED    /* too many codes were tried */
};

struct door_status {
    enum door_state state;
    struct passcode code; /* of one that is open */
    uint64_t until_ms;
    unsigned wrong, voided; /* of this code; codes since it was opened */
    unsigned guests;
};

/* The seed is random; vm and host are what guests are told. NULL: memory is exhausted. */
struct door *door_create(const uint8_t seed[CHANCE_SEED_BYTES], const char *vm, const char *host);
void door_destroy(struct door *door);

/* Opens it with a code that is new, until then; also one that is open. */
void door_open(struct door *door, uint64_t until_ms);
void door_close(struct door *door);

struct door_status door_status(const struct door *door);

/* Closes it when it is time, and ends guests that are late. Returns when it is to be called again;
 * UINT64_MAX: when something has come. */
uint64_t door_settle(struct door *door, uint64_t now_ms);

/* Labels that classes nearby have, a bit each: the next code has another one, if there is any. */
void door_avoid(struct door *door, uint64_t labels);

/* Another code in the place of one that nobody was shown: another class has its label. */
void door_relabel(struct door *door);

/* Whether an answer is this class's own. */
bool door_is_own(const struct door *door, const struct beacon *answer);

/* The answer to a datagram, when there is one. */
bool door_answer(struct door *door, const uint8_t *datagram, size_t size, uint16_t port,
                 uint8_t answer[BEACON_BYTES]);

/* ---- guests ---------------------------------------------------------------------------------- */

/* One that has connected, from an address as text. NULL: there are too many that have proved that
 * they know the code, or memory is exhausted. The caller destroys it. */
struct guest *guest_create(struct door *door, const char *from, uint64_t now_ms);
void guest_destroy(struct guest *guest);

enum guest_event {
    GUEST_MORE,    /* nothing; more bytes are awaited */
    GUEST_AGAIN,   /* something was done: call it again */
    GUEST_ENTERS,  /* its name and key are known: an invitation is awaited */
    GUEST_ANSWERS, /* the text of its answer is known */
    GUEST_ENDS     /* to be disconnected when what is to be sent was sent */
};

/* Takes bytes that came, *size of them, and what they make whole. Sets *size to how many it took:
 * call it until it took all and says GUEST_MORE. */
enum guest_event guest_take(struct guest *guest, const uint8_t *bytes, size_t *size,
                            uint64_t now_ms);

/* What is to be sent; guest_sent() takes it off. */
const uint8_t *guest_output(const struct guest *guest, size_t *size);
void guest_sent(struct guest *guest, size_t size);

/* Whether it has ended: when its output was sent it can be disconnected. */
bool guest_is_over(const struct guest *guest);
bool guest_is_in(const struct guest *guest); /* it has proved that it knows the code */

const char *guest_name(const struct guest *guest);
const uint8_t *guest_key(const struct guest *guest); /* CLASS_BOX_KEY_BYTES */
const char *guest_answer(const struct guest *guest);

/* Sends it the invitation, which somebody has sealed for its key. False: it is too long, or comes
 * at the wrong time. */
bool guest_invite(struct guest *guest, const uint8_t *sealed, size_t size);

/* Says how it ended. `text` is its name in the VM, or why it did not join. */
void guest_done(struct guest *guest, int error, const char *text);

#endif
