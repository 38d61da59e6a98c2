/* links: proto/class/cpace.c */
/*
 * cpace_test.c - CPace with ristretto255 and SHA-512: the test vectors of draft-irtf-cfrg-cpace,
 * appendix B.3, and what else two who exchange keys must and must not agree on.
 */
#include "proto/class/cpace.h"

#include <CUnit/CUnit.h>
#include <sodium.h>
#include <string.h>

#include "tests/unit/runner.h"

#define SESSION "7e4b4791d6a8ef019b936c79fb7f2c57"
#define CHANNEL "6f630b425f726573706f6e6465720b415f696e69746961746f72"
#define GENERATOR "a6fc82c3b8968fbb2e06fee81ca858586dea50d248f0c7ca6a18b0902a30b36b"
#define SCALAR_A "da3d23700a9e5699258aef94dc060dfda5ebb61f02a5ea77fad53f4ff0976d08"
#define SHARE_A "d40fb265a7abeaee7939d91a585fe59f7053f982c296ec413c624c669308f87a"
#define SCALAR_B "d2316b454718c35362d83d69df6320f38578ed5984651435e2949762d900b80d"
#define SHARE_B "08bcf6e9777a9c313a3db6daa510f2d398403319c2341bd506a92e672eb7e307"
#define KEY                                                                                        \
    "4c5469a16b2364c4b944ebc1a79e51d1674ad47db26e8718154f59faebfaa52d"                             \
    "8346f30aa58377117eb20d527f2cbc5c76381f7fd372e89df8239f87f2e02ed1"
#define SCALAR_S "7cd0e075fa7955ba52c02759a6c90dbbfc10e6d40aea8d283e407d88cf538a05"
#define POINT_X "2c3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c"
#define PRODUCT "7c13645fe790a468f62c39beb7388e541d8405d1ade69d1778c5fe3e7f6b600e"
#define NO_POINT "2b3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c"
/* HMAC-SHA-512 by Python's hmac and hashlib, with the key SHA-512("CPaceMac" || sid || ISK) */
#define TAG_A                                                                                      \
    "a737748ae37c5c528cbf082d060dd7622396149a62ccc64c2848b1e8d525bad8"                             \
    "20c4bf9c73a8b4a3f4980cef0d9aa3095f8f3a02707bee9ab27987e6aaec9a9e"
#define TAG_B                                                                                      \
    "ed3b42534ff85f125216e4869b483358981628fbc3918ca1fc22e8d4052e87bc"                             \
    "a38f0704974ce75e88373405cfe079f18fe64f338f926d36d493d9de976de526"

/* Bytes of a text of hex digits, and their number. */
static size_t from_hex(const char *hex, uint8_t *bytes)
{
    size_t size = 0;
    CU_ASSERT_EQUAL_FATAL(
        sodium_hex2bin(bytes, strlen(hex) / 2, hex, strlen(hex), NULL, &size, NULL), 0);
    return size;
}

static bool is_hex(const uint8_t *bytes, size_t size, const char *hex)
{
    uint8_t wanted[64];
    return from_hex(hex, wanted) == size && memcmp(bytes, wanted, size) == 0;
}

static struct cpace_text text(const char *at)
{
    return (struct cpace_text){at, strlen(at)};
}

static struct cpace_said said_make(void)
{
    struct cpace_said said = {.initiator_data = text("ADa"), .responder_data = text("ADb")};
    from_hex(SHARE_A, said.initiator);
    from_hex(SHARE_B, said.responder);
    return said;
}

static void generator_is_that_of_the_draft(void)
{
    uint8_t g[CPACE_POINT_BYTES], session[16], channel[26];
    struct cpace_text s = {session, from_hex(SESSION, session)};
    struct cpace_text c = {channel, from_hex(CHANNEL, channel)};
    cpace_generator(g, text("Password"), c, s);
    CU_ASSERT(is_hex(g, sizeof g, GENERATOR));
    cpace_generator(g, text("password"), c, s);
    CU_ASSERT_FALSE(is_hex(g, sizeof g, GENERATOR));
}

static void shares_are_those_of_the_draft(void)
{
    uint8_t g[CPACE_POINT_BYTES], scalar[CPACE_SCALAR_BYTES], share[CPACE_POINT_BYTES];
    from_hex(GENERATOR, g);
    from_hex(SCALAR_A, scalar);
    cpace_share(share, scalar, g);
    CU_ASSERT(is_hex(share, sizeof share, SHARE_A));
    from_hex(SCALAR_B, scalar);
    cpace_share(share, scalar, g);
    CU_ASSERT(is_hex(share, sizeof share, SHARE_B));
    from_hex(POINT_X, g);
    from_hex(SCALAR_S, scalar);
    cpace_share(share, scalar, g);
    CU_ASSERT(is_hex(share, sizeof share, PRODUCT));
}

static void both_have_the_key_of_the_draft(void)
{
    uint8_t key[CPACE_KEY_BYTES], scalar[CPACE_SCALAR_BYTES], session[16];
    struct cpace_text s = {session, from_hex(SESSION, session)};
    struct cpace_said said = said_make();
    from_hex(SCALAR_A, scalar);
    CU_ASSERT(cpace_key(key, scalar, said.responder, s, &said));
    CU_ASSERT(is_hex(key, sizeof key, KEY));
    from_hex(SCALAR_B, scalar);
    CU_ASSERT(cpace_key(key, scalar, said.initiator, s, &said));
    CU_ASSERT(is_hex(key, sizeof key, KEY));
}

static void what_is_no_point_is_refused(void)
{
    uint8_t key[CPACE_KEY_BYTES], scalar[CPACE_SCALAR_BYTES], point[CPACE_POINT_BYTES] = {0};
    struct cpace_said said = said_make();
    from_hex(SCALAR_S, scalar);
    CU_ASSERT_FALSE(cpace_key(key, scalar, point, text("s"), &said)); /* the neutral element */
    from_hex(NO_POINT, point);
    CU_ASSERT_FALSE(cpace_key(key, scalar, point, text("s"), &said));
    memset(point, 0xff, sizeof point);
    CU_ASSERT_FALSE(cpace_key(key, scalar, point, text("s"), &said));
}

/* Each thing that both must see alike, seen otherwise by one of them. */
static void key_is_of_all_that_was_said(void)
{
    uint8_t right[CPACE_KEY_BYTES], key[CPACE_KEY_BYTES], scalar[CPACE_SCALAR_BYTES];
    struct cpace_said said = said_make(), other = said;
    from_hex(SCALAR_A, scalar);
    CU_ASSERT(cpace_key(right, scalar, said.responder, text("session"), &said));
    CU_ASSERT(cpace_key(key, scalar, said.responder, text("sessioN"), &said));
    CU_ASSERT(memcmp(key, right, sizeof key) != 0);
    other.initiator_data = text("ADA");
    CU_ASSERT(cpace_key(key, scalar, said.responder, text("session"), &other));
    CU_ASSERT(memcmp(key, right, sizeof key) != 0);
    other = said;
    other.responder_data = text("");
    CU_ASSERT(cpace_key(key, scalar, said.responder, text("session"), &other));
    CU_ASSERT(memcmp(key, right, sizeof key) != 0);
    memcpy(other.responder, said.initiator, sizeof other.responder);
    other.responder_data = said.responder_data;
    CU_ASSERT(cpace_key(key, scalar, said.responder, text("session"), &other));
    CU_ASSERT(memcmp(key, right, sizeof key) != 0);
}

static void tag_is_hmac_of_the_share(void)
{
    uint8_t key[CPACE_KEY_BYTES], tag[CPACE_TAG_BYTES], session[16];
    struct cpace_text s = {session, from_hex(SESSION, session)};
    struct cpace_said said = said_make();
    from_hex(KEY, key);
    cpace_tag(tag, key, s, said.initiator, said.initiator_data);
    CU_ASSERT(is_hex(tag, sizeof tag, TAG_A));
    cpace_tag(tag, key, s, said.responder, said.responder_data);
    CU_ASSERT(is_hex(tag, sizeof tag, TAG_B));
}

int main(void)
{
    static const struct test_case cases[] = {
        {"the generator is that of the draft", generator_is_that_of_the_draft},
        {"the shares are those of the draft", shares_are_those_of_the_draft},
        {"both have the key of the draft", both_have_the_key_of_the_draft},
        {"what is no point is refused", what_is_no_point_is_refused},
        {"the key is of all that was said", key_is_of_all_that_was_said},
        {"a tag is the HMAC of a share", tag_is_hmac_of_the_share},
    };
    return sodium_init() < 0 ? 1 : covey_test_main("cpace", cases, sizeof cases / sizeof cases[0]);
}
