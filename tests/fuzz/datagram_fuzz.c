/* links: proto/wire/datagram.c proto/wire/cursor.c */
/*
 * datagram_fuzz.c - a datagram from anybody, before a key is asked: what is accepted has the size
 * of its kind, all that it points to lies inside, and it is put together as the bytes it was.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/wire/datagram.h"
#include "tests/fuzz/fuzz.h"

static void check_again(const struct datagram *d, const uint8_t *data, uint32_t vm)
{
    uint8_t again[DATAGRAM_SEALED_BYTES + HELLO_BODY_BYTES];
    struct cursor c = cursor_writer(again, sizeof again);

    if (datagram_is_sealed(d->kind))
        datagram_put_sealed(&c, d->kind, vm, d->session, d->number);
    else
        datagram_put_head(&c, d->kind, vm);
    if (d->kind == DATAGRAM_HELLO || d->kind == DATAGRAM_ROLL || d->kind == DATAGRAM_CONFIRM)
        datagram_put_hello(&c, &d->hello);
    REQUIRE(cursor_ok(&c) && memcmp(again, data, sizeof again - cursor_left(&c)) == 0);
}

static void check(struct datagram *d, const uint8_t *data, size_t size)
{
    REQUIRE(datagram_kind_name(d->kind) != NULL);
    REQUIRE(d->bytes == data && d->size + AUTH_TAG_BYTES == size);
    REQUIRE(d->tag == data + d->size);
    if (!datagram_is_sealed(d->kind) || d->kind == DATAGRAM_CONFIRM)
        return;
    REQUIRE(d->payload == data + DATAGRAM_SEALED_BYTES);
    REQUIRE(d->payload + d->payload_bytes == d->tag);
    datagram_set_body(d, d->payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cursor c = cursor_reader(data, size);
    struct datagram d = {0};
    uint32_t vm;

    cursor_get_u32(&c);
    vm = cursor_get_u32(&c);
    if (datagram_decode(data, size, vm, &d) != DATAGRAM_GOOD)
        return 0;
    REQUIRE(datagram_decode(data, size, vm + 1, &d) == DATAGRAM_VM);
    REQUIRE(datagram_decode(data, size, vm, &d) == DATAGRAM_GOOD);
    check(&d, data, size);
    check_again(&d, data, vm);
    return 0;
}
