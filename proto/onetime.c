/*
 * onetime.c - libcrypto's Poly1305, behind its interface for message authentication (EVP_MAC).
 *
 * What is found of the library is looked up by whoever needs it first, and never changes after
 * that; where two threads look for it at once, one result stands. A context is made for each tag:
 * that takes a twentieth of the time of the shortest message that comes here.
 */
#include "proto/onetime.h"

/* The second is of the processor that is compiled for, and not there for every one. */
#if __has_include(<openssl/evp.h>) && __has_include(<openssl/opensslconf.h>)

#include <dlfcn.h>
#include <openssl/evp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libcrypto.so.3"

struct libcrypto {
    __typeof__(&EVP_MAC_fetch) fetch;
    __typeof__(&EVP_MAC_CTX_new) context_new;
    __typeof__(&EVP_MAC_CTX_free) context_free;
    __typeof__(&EVP_MAC_init) init;
    __typeof__(&EVP_MAC_update) update;
    __typeof__(&EVP_MAC_final) final;
    EVP_MAC *poly1305;
};

static const struct libcrypto none;
static const struct libcrypto *_Atomic found; /* NULL: nobody has looked; &none: not to be had */

/* dlsym() gives functions as pointers to data. */
static bool find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static bool find_all(void *library, struct libcrypto *l)
{
    return find(library, "EVP_MAC_fetch", &l->fetch) &&
           find(library, "EVP_MAC_CTX_new", &l->context_new) &&
           find(library, "EVP_MAC_CTX_free", &l->context_free) &&
           find(library, "EVP_MAC_init", &l->init) && find(library, "EVP_MAC_update", &l->update) &&
           find(library, "EVP_MAC_final", &l->final);
}

static const struct libcrypto *look_for(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    struct libcrypto *l = library != NULL ? calloc(1, sizeof *l) : NULL;
    if (l != NULL && find_all(library, l))
        l->poly1305 = l->fetch(NULL, "POLY1305", NULL);
    if (l != NULL && l->poly1305 != NULL)
        return l;
    free(l);
    return &none;
}

static const struct libcrypto *library_get(void)
{
    const struct libcrypto *known = atomic_load(&found), *nobody = NULL;
    if (known == NULL) {
        known = look_for();
        if (!atomic_compare_exchange_strong(&found, &nobody, known))
            known = nobody; /* another thread's; ours is as good, and stays unused */
    }
    return known == &none ? NULL : known;
}

bool onetime_tag(uint8_t tag[AUTH_TAG_BYTES], const uint8_t key[AUTH_KEY_BYTES],
                 const struct auth_piece *pieces, size_t count, const struct auth_piece *end)
{
    const struct libcrypto *l = library_get();
    EVP_MAC_CTX *context = l != NULL ? l->context_new(l->poly1305) : NULL;
    if (context == NULL)
        return false;
    size_t size = 0;
    bool good = l->init(context, key, AUTH_KEY_BYTES, NULL) == 1;
    for (size_t i = 0; i < count && good; i++)
        good = l->update(context, pieces[i].bytes, pieces[i].size) == 1;
    good = good && l->update(context, end->bytes, end->size) == 1;
    good = good && l->final(context, tag, &size, AUTH_TAG_BYTES) == 1 && size == AUTH_TAG_BYTES;
    l->context_free(context);
    return good;
}

#else

bool onetime_tag(uint8_t tag[AUTH_TAG_BYTES], const uint8_t key[AUTH_KEY_BYTES],
                 const struct auth_piece *pieces, size_t count, const struct auth_piece *end)
{
    (void)tag, (void)key, (void)pieces, (void)count, (void)end;
    return false;
}

#endif
