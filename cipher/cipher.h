/*
 * cipher.h - AES-256-GCM (NIST SP 800-38D) under a key that was made ready once, by a library that
 * is found when the first key is made: Intel's Multi-Buffer Crypto for IPsec, whose vector code
 * takes a quarter of OpenSSL's time for a frame of 9000 bytes and a tenth for one of 64, or else
 * OpenSSL's libcrypto. Both write the same bytes, so hosts need not have the same library.
 *
 * They are loaded, not linked: a task that seals nothing would start milliseconds later for what it
 * does not need. What is loaded is the process's, which no engine of proto/ may have; so this is a
 * room of its own beside them, and only proto/auth/auth.c includes it.
 */
#ifndef COVEY_CIPHER_H
#define COVEY_CIPHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/wire/sizes.h"

#define CIPHER_NONCE_BYTES 12

/* What is done with one message: its additional data in pieces, and a text from and to a place,
 * which may be one place. */
struct cipher_job {
    const uint8_t *nonce;
    const struct auth_piece *pieces;
    size_t count;
    const uint8_t *from;
    uint8_t *to;
    size_t size;
};

/* One library. A key is its own; safe in several threads, but for one key at once. */
struct cipher_library {
    const char *name;
    void *(*key_create)(const uint8_t key[AUTH_KEY_BYTES]); /* NULL: memory is exhausted */
    void (*key_destroy)(void *key);                         /* not NULL; wipes it */
    /* False: the library failed, and what was written means nothing. */
    bool (*seal)(void *key, const struct cipher_job *job, uint8_t tag[AUTH_TAG_BYTES]);
    /* False: not authentic, likewise. */
    bool (*open)(void *key, const struct cipher_job *job, const uint8_t tag[AUTH_TAG_BYTES]);
};

/* NULL: it is not installed, not known where this was compiled, or does not run on this processor.
 * Nothing that is loaded is unloaded. */
const struct cipher_library *cipher_multi_buffer(void);
const struct cipher_library *cipher_libcrypto(void);

/* Sets *function, a pointer to one, to what has that name in a library that dlopen() gave. */
bool cipher_function(void *library, const char *name, void *function);

/* The library in use; NULL: there is none. The same at each call. */
const struct cipher_library *cipher_library_get(void);

#endif
