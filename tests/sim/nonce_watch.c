/*
 * nonce_watch.c - stands in the place of cipher/cipher.c, which it includes and whose library
 * it calls. Each pair of key and nonce that something is sealed under is kept as a fingerprint of
 * 64 bits in a hash table that grows.
 */
#include "tests/sim/nonce_watch.h"
#include "proto/wire/splitmix.h"

#define cipher_library_get unwatched_library_get
/* NOLINTNEXTLINE(bugprone-suspicious-include): see above */
#include "cipher/cipher.c"
#undef cipher_library_get

const struct cipher_library *cipher_library_get(void); /* cipher.h's, which the macro renamed */

#include <stdlib.h>

#define SLOTS_FIRST 4096

static struct {
    uint64_t *slots; /* 0: empty */
    size_t capacity, used;
    uint64_t seen, repeats;
} watch;

static uint64_t fingerprint(const unsigned char *key, const unsigned char *nonce)
{
    uint64_t parts[4], number, all = 0;

    memcpy(parts, key, sizeof parts);
    memcpy(&number, nonce + CIPHER_NONCE_BYTES - sizeof number, sizeof number);
    for (size_t i = 0; i < 4; i++)
        all = splitmix_mix(all ^ parts[i]);
    all = splitmix_mix(all ^ number);
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

/* ---- the library that is watched ------------------------------------------------------------- */

struct watched_key {
    uint8_t bytes[AUTH_KEY_BYTES];
    void *key;
};

static void *watched_create(const uint8_t bytes[AUTH_KEY_BYTES])
{
    struct watched_key *w = malloc(sizeof *w);

    if (!w)
        return NULL;
    memcpy(w->bytes, bytes, sizeof w->bytes);
    w->key = unwatched_library_get()->key_create(bytes);
    if (w->key)
        return w;
    free(w);
    return NULL;
}

static void watched_destroy(void *key)
{
    struct watched_key *w = key;

    unwatched_library_get()->key_destroy(w->key);
    free(w);
}

static bool watched_seal(void *key, const struct cipher_job *job, uint8_t tag[AUTH_TAG_BYTES])
{
    struct watched_key *w = key;

    if (2 * watch.used >= watch.capacity)
        grow();
    watch.seen++;
    if (put(watch.slots, watch.capacity, fingerprint(w->bytes, job->nonce)))
        watch.used++;
    else
        watch.repeats++;
    return unwatched_library_get()->seal(w->key, job, tag);
}

static bool watched_open(void *key, const struct cipher_job *job, const uint8_t tag[AUTH_TAG_BYTES])
{
    return unwatched_library_get()->open(((struct watched_key *)key)->key, job, tag);
}

const struct cipher_library *cipher_library_get(void)
{
    static const struct cipher_library watched = {"watched", watched_create, watched_destroy,
                                                  watched_seal, watched_open};
    return unwatched_library_get() ? &watched : NULL;
}
