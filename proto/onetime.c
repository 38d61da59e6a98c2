/*
 * onetime.c - libcrypto's Poly1305, behind its interface for message authentication (EVP_MAC).
 *
 * What is found of the library is looked up once and never changes after that. A context is made
 * for each tag: that takes a twentieth of the time of the shortest message that comes here.
 */
#include "proto/onetime.h"

#if __has_include(<openssl/evp.h>)

#include <dlfcn.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <string.h>

#define LIBRARY "libcrypto.so.3"

struct libcrypto {
    __typeof__(&EVP_MAC_fetch) fetch;
    __typeof__(&EVP_MAC_CTX_new) context_new;
    __typeof__(&EVP_MAC_CTX_free) context_free;
    __typeof__(&EVP_MAC_init) init;
    __typeof__(&EVP_MAC_update) update;
    __typeof__(&EVP_MAC_final) final;
    EVP_MAC *poly1305; /* NULL: not to be had */
};

static struct libcrypto libcrypto;
static pthread_once_t looked_for = PTHREAD_ONCE_INIT;

/* dlsym() gives functions as pointers to data. */
static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool find_all(void *library, struct libcrypto *l)
{
    return find(library, "EVP_MAC_fetch", &l->fetch) &&
           find(library, "EVP_MAC_CTX_new", &l->context_new) &&
           find(library, "EVP_MAC_CTX_free", &l->context_free) &&
           find(library, "EVP_MAC_init", &l->init) && find(library, "EVP_MAC_update", &l->update) &&
           find(library, "EVP_MAC_final", &l->final);
}

static void look_for(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library != NULL && find_all(library, &libcrypto))
        libcrypto.poly1305 = libcrypto.fetch(NULL, "POLY1305", NULL);
}

bool onetime_tag(uint8_t tag[AUTH_TAG_BYTES], const uint8_t key[AUTH_KEY_BYTES],
                 const struct auth_piece *pieces, size_t count, const struct auth_piece *end)
{
    const struct libcrypto *l = &libcrypto;
    pthread_once(&looked_for, look_for);
    EVP_MAC_CTX *context = l->poly1305 != NULL ? l->context_new(l->poly1305) : NULL;
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
