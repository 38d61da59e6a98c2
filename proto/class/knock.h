/*
 * knock.h - the student's side of joining a class: one try of a code at one class. No sockets and
 * no clock: bytes come in, bytes and events come out; the other side is door.h.
 */
#ifndef COVEY_PROTO_KNOCK_H
#define COVEY_PROTO_KNOCK_H

#include "proto/class/chance.h"
#include "proto/class/channel.h"
#include "proto/class/passcode.h"

struct knock {
    int state;
    struct passcode code;
    struct chance chance;
    struct channel_proof proof;
    struct channel channel;
    bool proved; /* who answers has had its proof, and by that one guess of the code */
    /* what the class said, once it did: */
    enum class_refusal refusal;    /* KNOCK_REFUSED */
    uint32_t protocol;             /* KNOCK_WELCOME: of its VM, WIRE_VERSION of it, */
    char vm[CLASS_NAME_MAX + 1];   /* the VM's name */
    char host[CLASS_NAME_MAX + 1]; /* and that of its host */
    const uint8_t *sealed;         /* KNOCK_INVITED: the invitation, until the next step */
    size_t sealed_size;
    int error; /* KNOCK_DONE: 0, or why not */
    char text[CLASS_TEXT_MAX + 1];
};

enum knock_event {
    KNOCK_MORE,    /* nothing; more bytes are awaited */
    KNOCK_AGAIN,   /* something was done: call it again */
    KNOCK_WELCOME, /* each has proved that it knows the code: knock_enter() */
    KNOCK_INVITED, /* the invitation came: knock_answer() when it was used */
    KNOCK_DONE,    /* it is over: joined, or not */
    KNOCK_REFUSED,
    KNOCK_UNPROVED, /* who answers does not know the code himself */
    KNOCK_BROKEN    /* what came makes no sense */
};

void knock_begin(struct knock *knock, const struct passcode *code,
                 const uint8_t seed[CHANCE_SEED_BYTES]);
void knock_end(struct knock *knock); /* wipes it */

/* As guest_take() in door.h. After the last four events nothing is taken any more. */
enum knock_event knock_take(struct knock *knock, const uint8_t *bytes, size_t *size);

const uint8_t *knock_output(const struct knock *knock, size_t *size);
void knock_sent(struct knock *knock, size_t size);

/* The name that this host wants in the VM, and the key for which the invitation is to be sealed. */
void knock_enter(struct knock *knock, const char *name, const uint8_t key[CLASS_BOX_KEY_BYTES]);

/* What coveyd said, cut to CLASS_TEXT_MAX. */
void knock_answer(struct knock *knock, const char *text);

#endif
