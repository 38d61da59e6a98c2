/* sizes.h - of keys and what is made by them, where the wire has them: the wire knows how long they
 * are, auth.h what they are. And what is sealed with them. */
#ifndef COVEY_PROTO_SIZES_H
#define COVEY_PROTO_SIZES_H

#include <stddef.h>
#include <stdint.h>

#define AUTH_KEY_BYTES 32
#define AUTH_NONCE_BYTES 16
#define AUTH_TAG_BYTES 16

#define VM_KEY_BYTES AUTH_KEY_BYTES
#define VM_NAME_MAX 63

/* One of several runs of bytes that lie apart and are sealed as if they were one. */
struct auth_piece {
    const uint8_t *bytes;
    size_t size;
};

#endif
