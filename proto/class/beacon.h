/*
 * beacon.h - how a student's machine finds a class: it broadcasts a question with the label of the
 * code that was typed (passcode.h), and each class with that label answers with the TCP port at
 * which it talks. Both are datagrams of the same size, so that nobody can have a class send more
 * than he sends himself. Nothing here proves anything: the exchange does.
 *
 *   question = "covey-class?" version label nonce zeros
 *   answer   = "covey-class!" version label nonce port id       ; nonce: as it was asked
 *
 * A class asks so, too, for any label, and takes none that another one has. The id is the class's
 * own, at random: a machine with two addresses is one class, at which a code is tried once.
 */
#ifndef COVEY_PROTO_BEACON_H
#define COVEY_PROTO_BEACON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BEACON_PORT 26839 /* COVEY on the keys of a telephone */
#define BEACON_BYTES 32
#define BEACON_ANY_LABEL 255 /* all classes answer, each with its own label */
#define BEACON_NONCE_BYTES 8
#define BEACON_ID_BYTES 8

struct beacon {
    uint8_t version; /* CLASS_VERSION of who sends it */
    uint8_t label;
    uint8_t nonce[BEACON_NONCE_BYTES];
    uint16_t port; /* these of an answer */
    uint8_t id[BEACON_ID_BYTES];
};

void beacon_put_question(uint8_t bytes[BEACON_BYTES], const struct beacon *beacon);
void beacon_put_answer(uint8_t bytes[BEACON_BYTES], const struct beacon *beacon);

/* False: the datagram is none. */
bool beacon_get_question(const uint8_t *bytes, size_t size, struct beacon *beacon);
bool beacon_get_answer(const uint8_t *bytes, size_t size, struct beacon *beacon);

#endif
