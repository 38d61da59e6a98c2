/* links: proto/auth/auth.c cipher/cipher*.c proto/wire/cursor.c */
/*
 * auth_test.c - keys, tags and numbers seen. The expected values were computed by other
 * implementations of BLAKE2b and AES-256-GCM.
 */
#include "cipher/cipher.h"
#include "proto/auth/auth.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/runner.h"

static void make_key(uint8_t key[AUTH_KEY_BYTES])
{
    for (uint8_t i = 0; i < AUTH_KEY_BYTES; i++)
        key[i] = i;
}

static bool is_hex(const uint8_t *bytes, size_t size, const char *hex)
{
    char text[2 * 64 + 1];

    for (size_t i = 0; i < size; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return strcmp(text, hex) == 0;
}

static void derives_known_keys(void)
{
    uint8_t key[AUTH_KEY_BYTES], out[AUTH_KEY_BYTES], nonce[AUTH_NONCE_BYTES];

    CU_ASSERT_EQUAL(auth_init(), 0);
    make_key(key);
    for (size_t i = 0; i < sizeof nonce; i++)
        nonce[i] = (uint8_t)i;
    auth_derive(out, key, "covey test", "parts", 5);
    CU_ASSERT(is_hex(out, sizeof out,
                     "57a30cc6b443cc0d7c296c00d46ecbe4af62cf6c0f2a7180b5c2f9464d960483"));
    auth_link_key(out, key, 0x40001, 0x80002, nonce);
    CU_ASSERT(is_hex(out, sizeof out,
                     "e0c4ad3c350b69128d0d5ee2127e0a12b3dc4dba0856350e6a2f6d2ed8c95e1a"));
}

static void macs_known_text(void)
{
    uint8_t key[AUTH_KEY_BYTES], tag[AUTH_TAG_BYTES];

    make_key(key);
    auth_mac(tag, key, "a text", 6);
    CU_ASSERT(is_hex(tag, sizeof tag, "72aeb217bd185e3f5866f0ee1a284f2a"));
    CU_ASSERT(auth_mac_ok(tag, key, "a text", 6));
    CU_ASSERT_FALSE(auth_mac_ok(tag, key, "A text", 6));
    key[0] ^= 1;
    CU_ASSERT_FALSE(auth_mac_ok(tag, key, "a text", 6));
}

static void seals_known_datagram(void)
{
    uint8_t key[AUTH_KEY_BYTES], tag[AUTH_TAG_BYTES];
    const uint64_t number = 0x0102030405060708;

    make_key(key);
    struct auth_cipher *cipher = auth_cipher_create(key);
    CU_ASSERT_PTR_NOT_NULL_FATAL(cipher);
    auth_seal(tag, cipher, number, "covey datagram", 14);
    CU_ASSERT(is_hex(tag, sizeof tag, "fba71d1507d97b4260cb328d7e93ae50"));
    CU_ASSERT(auth_open(tag, cipher, number, "covey datagram", 14));
    CU_ASSERT_FALSE(auth_open(tag, cipher, number + 1, "covey datagram", 14));
    CU_ASSERT_FALSE(auth_open(tag, cipher, number, "covey datagraM", 14));
    CU_ASSERT_FALSE(auth_open(tag, cipher, number, "covey datagram", 13));
    tag[15] ^= 0x80;
    CU_ASSERT_FALSE(auth_open(tag, cipher, number, "covey datagram", 14));
    auth_cipher_destroy(cipher);
}

/* In pieces the tags are the same, of every size around the blocks of AES. */
static void seals_alike_in_pieces(void)
{
    uint8_t key[AUTH_KEY_BYTES], bytes[3000] = "covey", tag[AUTH_TAG_BYTES], again[AUTH_TAG_BYTES];

    make_key(key);
    struct auth_cipher *cipher = auth_cipher_create(key);
    CU_ASSERT_PTR_NOT_NULL_FATAL(cipher);
    for (size_t size = 0; size + sizeof tag <= sizeof bytes; size++) {
        uint64_t number = UINT64_MAX - size;
        auth_encrypt(bytes, size, size, cipher, number); /* nothing, and puts the tag behind it */
        memcpy(tag, bytes + size, sizeof tag);
        auth_seal(again, cipher, number, bytes, size);
        CU_ASSERT_EQUAL(memcmp(tag, again, sizeof tag), 0);
        const struct auth_piece pieces[] = {{bytes, size / 3},
                                            {NULL, 0},
                                            {bytes + size / 3, size / 2 - size / 3},
                                            {bytes + size / 2, size - size / 2}};
        auth_seal_pieces(again, cipher, number, pieces, 4);
        CU_ASSERT_EQUAL(memcmp(tag, again, sizeof tag), 0);
        CU_ASSERT(auth_open(tag, cipher, number, bytes, size));
        tag[size % AUTH_TAG_BYTES] ^= 1;
        CU_ASSERT_FALSE(auth_open(tag, cipher, number, bytes, size));
    }
    auth_cipher_destroy(cipher);
}

#define TEXT_MAX 700

/* What one library sealed the other opens. */
static bool agree(void *one, void *other, size_t head, size_t size)
{
    const struct cipher_library *mb = cipher_multi_buffer(), *crypto = cipher_libcrypto();
    uint8_t text[TEXT_MAX], sealed[TEXT_MAX], again[TEXT_MAX], tag[AUTH_TAG_BYTES];
    uint8_t nonce[CIPHER_NONCE_BYTES] = {1, (uint8_t)size, (uint8_t)head};
    memset(text, (int)size, sizeof text);
    const struct auth_piece clear = {text, head};
    struct cipher_job job = {nonce, &clear, 1, text, sealed, size};
    bool good = mb->seal(one, &job, tag);
    job.from = sealed;
    job.to = again;
    good = good && crypto->open(other, &job, tag) && memcmp(again, text, size) == 0;
    good = good && mb->open(one, &job, tag) && memcmp(again, text, size) == 0;
    tag[size % sizeof tag] ^= 4;
    return good && !crypto->open(other, &job, tag) && !mb->open(one, &job, tag);
}

/* Where only one is installed it is that which the other cases try. */
static void libraries_agree(void)
{
    const struct cipher_library *mb = cipher_multi_buffer(), *crypto = cipher_libcrypto();
    uint8_t key[AUTH_KEY_BYTES];

    CU_ASSERT_PTR_NOT_NULL_FATAL(auth_cipher_library());
    if (mb == NULL || crypto == NULL)
        return;
    make_key(key);
    void *one = mb->key_create(key), *other = crypto->key_create(key);
    for (size_t size = 0; size < TEXT_MAX; size += size < 70 ? 1 : 13) {
        CU_ASSERT(agree(one, other, 0, size));
        CU_ASSERT(agree(one, other, size, size));
        CU_ASSERT(agree(one, other, 20, size));
        CU_ASSERT(agree(one, other, size, 0));
    }
    mb->key_destroy(one);
    crypto->key_destroy(other);
}

/* Marks a number; whether it was new. */
static bool take(struct auth_replay *replay, uint64_t number)
{
    bool is_new = !auth_replay_seen(replay, number);

    auth_replay_mark(replay, number);
    return is_new;
}

static void numbers_are_taken_once(void)
{
    struct auth_replay replay = {0};

    CU_ASSERT(take(&replay, 0));
    CU_ASSERT_FALSE(take(&replay, 0));
    CU_ASSERT(take(&replay, 5));
    CU_ASSERT(take(&replay, 3));
    CU_ASSERT_FALSE(take(&replay, 3));
    CU_ASSERT_FALSE(take(&replay, 5));
    for (uint64_t i = 6; i < 3 * AUTH_REPLAY_BITS; i++)
        CU_ASSERT(take(&replay, i));
    for (uint64_t i = 0; i < 3 * AUTH_REPLAY_BITS; i++)
        CU_ASSERT(auth_replay_seen(&replay, i));
}

static void numbers_behind_the_window_count_as_seen(void)
{
    struct auth_replay replay = {0};
    const uint64_t top = 1000000;

    CU_ASSERT(take(&replay, top));
    CU_ASSERT_FALSE(auth_replay_seen(&replay, top - AUTH_REPLAY_BITS + 64));
    CU_ASSERT(auth_replay_seen(&replay, top - AUTH_REPLAY_BITS));
    CU_ASSERT(auth_replay_seen(&replay, 0));
    CU_ASSERT(take(&replay, top + 10 * AUTH_REPLAY_BITS));
    CU_ASSERT(auth_replay_seen(&replay, top));
    CU_ASSERT_FALSE(auth_replay_seen(&replay, top + 10 * AUTH_REPLAY_BITS - 1));
}

/* A window that moved on has no memory of what stood in its words before. */
static void words_are_cleared(void)
{
    struct auth_replay replay = {0};

    for (uint64_t i = 0; i < AUTH_REPLAY_BITS; i++)
        take(&replay, i);
    CU_ASSERT(take(&replay, AUTH_REPLAY_BITS + 130));
    CU_ASSERT_FALSE(auth_replay_seen(&replay, AUTH_REPLAY_BITS + 129));
    CU_ASSERT_FALSE(auth_replay_seen(&replay, AUTH_REPLAY_BITS + 64));
    CU_ASSERT_FALSE(auth_replay_seen(&replay, AUTH_REPLAY_BITS));
    CU_ASSERT(auth_replay_seen(&replay, AUTH_REPLAY_BITS - 1));
}

static void encrypts_and_opens(void)
{
    uint8_t key[AUTH_KEY_BYTES], bytes[20 + AUTH_TAG_BYTES] = "the head, the body..", body[11];
    struct auth_box box = {bytes, 10, 20};

    make_key(key);
    struct auth_cipher *cipher = auth_cipher_create(key);
    CU_ASSERT_PTR_NOT_NULL_FATAL(cipher);
    auth_encrypt(bytes, 10, 20, cipher, 7);
    CU_ASSERT_EQUAL(memcmp(bytes, "the head, ", 10), 0);
    CU_ASSERT_NOT_EQUAL(memcmp(bytes + 10, "the body..", 10), 0);
    CU_ASSERT(auth_decrypt(body, &box, cipher, 7));
    CU_ASSERT_EQUAL(memcmp(body, "the body..", 10), 0);
    CU_ASSERT_FALSE(auth_decrypt(body, &box, cipher, 8));
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] ^= 1;
        CU_ASSERT_FALSE(auth_decrypt(body, &box, cipher, 7));
        bytes[i] ^= 1;
    }
    box.head = 9;
    CU_ASSERT_FALSE(auth_decrypt(body, &box, cipher, 7));
    auth_cipher_destroy(cipher);
}

static const struct test_case CASES[] = {
    {"derives known keys", derives_known_keys},
    {"macs known text", macs_known_text},
    {"seals known datagram", seals_known_datagram},
    {"seals alike in pieces", seals_alike_in_pieces},
    {"libraries agree", libraries_agree},
    {"numbers are taken once", numbers_are_taken_once},
    {"numbers behind the window count as seen", numbers_behind_the_window_count_as_seen},
    {"words are cleared", words_are_cleared},
    {"encrypts and opens", encrypts_and_opens},
};

int main(void)
{
    return covey_test_main("auth", CASES, sizeof CASES / sizeof CASES[0]);
}
