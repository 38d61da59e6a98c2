/*
 * cipher_multi_buffer.c - AES-256-GCM of Intel's Multi-Buffer Crypto for IPsec (libIPSec_MB), by
 * its direct interface: the manager is a table of functions for this processor. It is made once; of
 * two that threads make at once one stays unused.
 */
#include "cipher/cipher.h"

#if __has_include(<intel-ipsec-mb.h>)

#include <dlfcn.h>
#include <intel-ipsec-mb.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>

#define LIBRARY "libIPSec_MB.so.1"
#define KEY_ALIGNMENT 64

static IMB_MGR *_Atomic manager;

struct symbols {
    __typeof__(&alloc_mb_mgr) create;
    __typeof__(&free_mb_mgr) destroy;
    __typeof__(&init_mb_mgr_auto) init;
    __typeof__(&imb_get_errno) error;
};

/* Slower than libcrypto, which has code for more of these, where the processor has no AES. */
static bool is_fast(const IMB_MGR *m)
{
    const uint64_t wanted = IMB_FEATURE_AESNI | IMB_FEATURE_PCLMULQDQ;
    return (m->features & wanted) == wanted;
}

static IMB_MGR *manager_create(void)
{
    struct symbols s;
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL || !cipher_function(library, "alloc_mb_mgr", &s.create) ||
        !cipher_function(library, "free_mb_mgr", &s.destroy) ||
        !cipher_function(library, "init_mb_mgr_auto", &s.init) ||
        !cipher_function(library, "imb_get_errno", &s.error))
        return NULL;
    IMB_MGR *m = s.create(0);
    if (m == NULL)
        return NULL;
    s.init(m, NULL);
    if (s.error(m) == 0 && is_fast(m))
        return m;
    s.destroy(m);
    return NULL;
}

static void *key_create(const uint8_t key[AUTH_KEY_BYTES])
{
    const size_t size = (sizeof(struct gcm_key_data) + KEY_ALIGNMENT - 1) & -(size_t)KEY_ALIGNMENT;
    struct gcm_key_data *ready = aligned_alloc(KEY_ALIGNMENT, size);
    if (ready != NULL)
        IMB_AES256_GCM_PRE(manager, key, ready);
    return ready;
}

static void key_destroy(void *key)
{
    sodium_memzero(key, sizeof(struct gcm_key_data));
    free(key);
}

/* With no text, which is what there is of most datagrams: additional data may come in pieces. */
static void tag_pieces(const struct gcm_key_data *key, const struct cipher_job *job, uint8_t *tag)
{
    struct gcm_context_data context;
    IMB_AES256_GMAC_INIT(manager, key, &context, job->nonce, CIPHER_NONCE_BYTES);
    for (size_t i = 0; i < job->count; i++) {
        if (job->pieces[i].size > 0)
            IMB_AES256_GMAC_UPDATE(manager, key, &context, job->pieces[i].bytes,
                                   job->pieces[i].size);
    }
    IMB_AES256_GMAC_FINALIZE(manager, key, &context, tag, AUTH_TAG_BYTES);
}

static bool multi_buffer_seal(void *key, const struct cipher_job *job, uint8_t tag[AUTH_TAG_BYTES])
{
    struct gcm_context_data context;
    if (job->size == 0)
        tag_pieces(key, job, tag);
    else if (job->count <= 1)
        IMB_AES256_GCM_ENC(manager, key, &context, job->to, job->from, job->size, job->nonce,
                           job->count > 0 ? job->pieces->bytes : job->nonce,
                           job->count > 0 ? job->pieces->size : 0, tag, AUTH_TAG_BYTES);
    return job->size == 0 || job->count <= 1;
}

static bool open_job(void *key, const struct cipher_job *job, const uint8_t tag[AUTH_TAG_BYTES])
{
    struct gcm_context_data context;
    uint8_t expected[AUTH_TAG_BYTES];
    if (job->size == 0)
        tag_pieces(key, job, expected);
    else if (job->count <= 1)
        IMB_AES256_GCM_DEC(manager, key, &context, job->to, job->from, job->size, job->nonce,
                           job->count > 0 ? job->pieces->bytes : job->nonce,
                           job->count > 0 ? job->pieces->size : 0, expected, AUTH_TAG_BYTES);
    else
        return false;
    return sodium_memcmp(expected, tag, AUTH_TAG_BYTES) == 0;
}

const struct cipher_library *cipher_multi_buffer(void)
{
    static const struct cipher_library library = {"libIPSec_MB", key_create, key_destroy,
                                                  multi_buffer_seal, open_job};
    IMB_MGR *nobody = NULL;
    if (atomic_load(&manager) == NULL) {
        IMB_MGR *m = manager_create();
        if (m == NULL)
            return NULL;
        atomic_compare_exchange_strong(&manager, &nobody, m);
    }
    return &library;
}

#else

const struct cipher_library *cipher_multi_buffer(void)
{
    return NULL;
}

#endif
