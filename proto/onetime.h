/*
 * onetime.h - the one-time authenticator Poly1305 (RFC 8439 section 2.5) of long messages by
 * OpenSSL's libcrypto, where that is installed: its vector code takes a third of libsodium's time
 * for a frame of 9000 bytes, of which the tag is most of what it costs outside of the kernel.
 *
 * libcrypto is loaded when the first long message is sealed or opened, and not linked: a task would
 * start half a millisecond later for something that few need. Without it libsodium takes the same
 * tags.
 */
#ifndef COVEY_PROTO_ONETIME_H
#define COVEY_PROTO_ONETIME_H

#include "proto/auth.h"

/* The tag of the pieces and of the end, one behind the other, under a key that no other message
 * ever has. False: there is no libcrypto here, or no memory. Safe in several threads. */
bool onetime_tag(uint8_t tag[AUTH_TAG_BYTES], const uint8_t key[AUTH_KEY_BYTES],
                 const struct auth_piece *pieces, size_t count, const struct auth_piece *end);

#endif
