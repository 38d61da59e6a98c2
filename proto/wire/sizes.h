/* sizes.h - of keys and what is made by them, where the wire has them: the wire knows how long they
 * are, auth.h what they are. */
#ifndef COVEY_PROTO_SIZES_H
#define COVEY_PROTO_SIZES_H

#define AUTH_KEY_BYTES 32
#define AUTH_NONCE_BYTES 16
#define AUTH_TAG_BYTES 16

#define VM_KEY_BYTES AUTH_KEY_BYTES
#define VM_NAME_MAX 63

#endif
