/*
 * nonce_watch.c - stands before libsodium's function of the same name, which it calls. Each pair of
 * key and nonce is kept as a fingerprint of 64 bits in a hash table that grows.
 */
#include "tests/sim/nonce_watch.h"

#include <dlfcn.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 4096

typedef int encrypt_fn(unsigned char *c, unsigned char *mac, unsigned long long *maclen_p,
                       const unsigned char *m, unsigned long long mlen, const unsigned char *ad,
                       unsigned long long adlen, const unsigned char *nsec,
                       const unsigned char *npub, const unsigned char *k);

static struct {
    uint64_t *slots; /* 0: empty */
    size_t capacity, used;
    uint64_t seen, repeats;
} watch;

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t fingerprint(const unsigned char *key, const unsigned char *nonce)
{
    uint64_t parts[4], number, all = 0;

    memcpy(parts, key, sizeof parts);
    memcpy(&number, nonce + crypto_aead_chacha20poly1305_IETF_NPUBBYTES - sizeof number,
           sizeof number);
    for (size_t i = 0; i < 4; i++)
        all = mix(all ^ parts[i]);
    all = mix(all ^ number);
    return all ? all : 1;
}

/* False: it was there. */
static int put(uint64_t *slots, size_t capacity, uint64_t print)
{
    size_t at = (size_t)print & (capacity - 1);

    for (; slots[at]; at = (at + 1) & (capacity - 1))
        if (slots[at] == print)
            return 0;
    slots[at] = print;
    return 1;
}

static void grow(void)
{
    size_t capacity = watch.capacity ? 2 * watch.capacity : SLOTS_FIRST;
    uint64_t *slots = calloc(capacity, sizeof *slots);

    if (!slots)
        abort();
    for (size_t i = 0; i < watch.capacity; i++)
        if (watch.slots[i])
            put(slots, capacity, watch.slots[i]);
    free(watch.slots);
    watch.slots = slots;
    watch.capacity = capacity;
}

void nonce_watch_reset(void)
{
    free(watch.slots);
    memset(&watch, 0, sizeof watch);
}

uint64_t nonce_watch_seen(void)
{
    return watch.seen;
}

uint64_t nonce_watch_repeats(void)
{
    return watch.repeats;
}

/* NOLINTNEXTLINE(readability-function-size): libsodium's parameters */
int crypto_aead_chacha20poly1305_ietf_encrypt_detached(
    unsigned char *c, unsigned char *mac, unsigned long long *maclen_p, const unsigned char *m,
    unsigned long long mlen, const unsigned char *ad, unsigned long long adlen,
    const unsigned char *nsec, const unsigned char *npub, const unsigned char *k)
{
    static encrypt_fn *real;

    if (!real) {
        void *found = dlsym(RTLD_NEXT, __func__);
        memcpy(&real, &found, sizeof real);
    }
    if (2 * watch.used >= watch.capacity)
        grow();
    watch.seen++;
    if (put(watch.slots, watch.capacity, fingerprint(k, npub)))
        watch.used++;
    else
        watch.repeats++;
    return real(c, mac, maclen_p, m, mlen, ad, adlen, nsec, npub, k);
}
