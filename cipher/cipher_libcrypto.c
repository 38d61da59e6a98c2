/*
 * cipher_libcrypto.c - AES-256-GCM of OpenSSL's libcrypto (EVP_CIPHER). A key is a context that has
 * it; each message gives the context another nonce.
 */
#include "cipher/cipher.h"

/* The second is of the processor that is compiled for, and not there for every one. */
#if __has_include(<openssl/evp.h>) && __has_include(<openssl/opensslconf.h>)

#include <dlfcn.h>
#include <openssl/evp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libcrypto.so.3"

struct libcrypto {
    __typeof__(&EVP_CIPHER_fetch) fetch;
    __typeof__(&EVP_CIPHER_CTX_new) context_new;
    __typeof__(&EVP_CIPHER_CTX_free) context_free;
    __typeof__(&EVP_CIPHER_CTX_ctrl) control;
    __typeof__(&EVP_CipherInit_ex) init;
    __typeof__(&EVP_CipherUpdate) update;
    __typeof__(&EVP_CipherFinal_ex) final;
    EVP_CIPHER *aes;
};

static struct libcrypto *_Atomic loaded;

static bool find_all(void *library, struct libcrypto *l)
{
    return cipher_function(library, "EVP_CIPHER_fetch", &l->fetch) &&
           cipher_function(library, "EVP_CIPHER_CTX_new", &l->context_new) &&
           cipher_function(library, "EVP_CIPHER_CTX_free", &l->context_free) &&
           cipher_function(library, "EVP_CIPHER_CTX_ctrl", &l->control) &&
           cipher_function(library, "EVP_CipherInit_ex", &l->init) &&
           cipher_function(library, "EVP_CipherUpdate", &l->update) &&
           cipher_function(library, "EVP_CipherFinal_ex", &l->final);
}

static struct libcrypto *libcrypto_load(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    struct libcrypto *l = library != NULL ? calloc(1, sizeof *l) : NULL;
    if (l != NULL && find_all(library, l))
        l->aes = l->fetch(NULL, "AES-256-GCM", NULL);
    if (l != NULL && l->aes != NULL)
        return l;
    free(l);
    return NULL;
}

static void *key_create(const uint8_t key[AUTH_KEY_BYTES])
{
    const struct libcrypto *l = loaded;
    EVP_CIPHER_CTX *context = l->context_new();
    if (context == NULL || l->init(context, l->aes, NULL, key, NULL, 1) == 1)
        return context;
    l->context_free(context);
    return NULL;
}

static void key_destroy(void *key)
{
    atomic_load(&loaded)->context_free(key); /* which wipes it */
}

/* Everything but the tag, which comes before the end when it is opened and after it when sealed. */
static bool libcrypto_work(EVP_CIPHER_CTX *context, const struct cipher_job *job, int seal)
{
    const struct libcrypto *l = loaded;
    int written;
    bool good = l->init(context, NULL, NULL, NULL, job->nonce, seal) == 1;
    for (size_t i = 0; i < job->count && good; i++)
        good =
            l->update(context, NULL, &written, job->pieces[i].bytes, (int)job->pieces[i].size) == 1;
    if (good && job->size > 0)
        good = l->update(context, job->to, &written, job->from, (int)job->size) == 1;
    return good;
}

static bool libcrypto_seal(void *key, const struct cipher_job *job, uint8_t tag[AUTH_TAG_BYTES])
{
    const struct libcrypto *l = loaded;
    uint8_t end[16];
    int written;
    return libcrypto_work(key, job, 1) && l->final(key, end, &written) == 1 &&
           l->control(key, EVP_CTRL_AEAD_GET_TAG, AUTH_TAG_BYTES, tag) == 1;
}

static bool open_job(void *key, const struct cipher_job *job, const uint8_t tag[AUTH_TAG_BYTES])
{
    const struct libcrypto *l = loaded;
    uint8_t expected[AUTH_TAG_BYTES], end[16];
    int written;
    memcpy(expected, tag, sizeof expected); /* OpenSSL takes it as its own to write */
    return libcrypto_work(key, job, 0) &&
           l->control(key, EVP_CTRL_AEAD_SET_TAG, AUTH_TAG_BYTES, expected) == 1 &&
           l->final(key, end, &written) == 1;
}

const struct cipher_library *cipher_libcrypto(void)
{
    static const struct cipher_library library = {"libcrypto", key_create, key_destroy,
                                                  libcrypto_seal, open_job};
    struct libcrypto *nobody = NULL;
    if (atomic_load(&loaded) == NULL) {
        struct libcrypto *l = libcrypto_load();
        if (l == NULL)
            return NULL;
        if (!atomic_compare_exchange_strong(&loaded, &nobody, l))
            free(l); /* another thread's is there; the cipher it fetched stays */
    }
    return &library;
}

#else

const struct cipher_library *cipher_libcrypto(void)
{
    return NULL;
}

#endif
