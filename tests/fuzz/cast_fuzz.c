/* links: proto/cast/cast.c proto/cast/cast_flush.c proto/cast/cast_order.c proto/cast/cast_receive.c proto/cast/cast_ring.c proto/cast/cast_send.c proto/cast/cast_wire.c proto/wire/host_set.c proto/auth/handshake.c proto/wire/datagram.c proto/auth/auth.c cipher/cipher*.c proto/wire/frame.c proto/wire/cursor.c */
/*
 * cast_fuzz.c - what can reach the engine of multicasts: the input is a list of records
 *
 *   record = mode=u8 length=u16 bytes
 *
 * mode 0: a datagram from an outsider · 1: a fragment that host 2 sealed: number=u16 flags=u8
 * back=u16 payload · 2, 3: a control frame of host 2, 3 · 4, 5: host 2, 3 is gone · 6: this host
 * casts · 7: in total order. After each the engine is stepped, and what it takes stays bounded.
 * With the highest bit of the first mode set the VM encrypts.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/cast/cast_state.h"
#include "tests/fuzz/fuzz.h"

#define STEP_US 1500
#define FRAGMENT_HEAD 5

static void on_multicast(void *context, const struct host_set *to, const uint8_t *bytes,
                         size_t size)
{
    (void)context, (void)bytes;
    if (host_set_empty(to) || size > CAST_DATAGRAM_BYTES_MAX)
        abort();
}

static void on_unicast(void *context, uint32_t host, const uint8_t *bytes, size_t size)
{
    (void)context, (void)bytes;
    if (host < 2 || host > 3 || size > CAST_DATAGRAM_BYTES_MAX)
        abort();
}

static void on_control(void *context, uint32_t host, const uint8_t *payload, size_t size)
{
    struct cast_control m;
    struct cursor c = cursor_reader(payload, size);
    (void)context, (void)host;
    cast_get_control(&c, &m);
    if (!cursor_done(&c) || size > FRAME_PAYLOAD_MAX)
        abort(); /* it says what it would not understand itself */
}

static bool on_deliver(void *context, const struct cast_message *message)
{
    (void)context;
    if (message->size > CAST_MESSAGE_MAX || message->sender > HOST_INDEX_MAX)
        abort();
    return message->size % 7 != 6;
}

static struct host host_of(uint32_t index)
{
    struct host host = {.index = index, .incarnation = 10 + index};
    memset(host.id, (int)index, sizeof host.id);
    return host;
}

static struct cast *target_create(bool encrypt)
{
    struct cast_config config = {
        .vm = "fuzz", .encrypt = encrypt, .self = host_of(1), .buffer_bytes = 1};
    struct cast_owner owner = {.multicast = on_multicast,
                               .unicast = on_unicast,
                               .control = on_control,
                               .deliver = on_deliver};
    struct cast *cast = cast_create(&config, &owner);
    for (uint32_t i = 2; i <= 3; i++) {
        struct host host = host_of(i);
        cast_host_up(cast, &host, 0);
    }
    return cast;
}

/* Of channel 0 of host 2, whoever opened it. */
static void fragment(struct cast *cast, const uint8_t *bytes, size_t size, uint64_t now_us)
{
    uint8_t datagram[CAST_DATAGRAM_BYTES_MAX] = {0};
    struct cast_seal seal = {.vm = cast->vm, .encrypt = cast->config.encrypt};
    const struct cast_key key = {.sender = 2, .incarnation = 12};
    struct cursor c = cursor_reader(bytes, size);
    struct cast_fragment f = {.sender = 2};
    f.number = cursor_get_u16(&c);
    f.flags = cursor_get_u8(&c);
    f.back = cursor_get_u16(&c);
    size_t payload = cursor_left(&c);
    if (size < FRAGMENT_HEAD || payload > sizeof datagram - CAST_OVERHEAD_BYTES)
        return;
    if (payload > 0)
        memcpy(datagram + CAST_PREFIX_BYTES, c.at, payload);
    f.size = payload + CAST_OVERHEAD_BYTES;
    if (!cast_seal_derive(&seal, cast->vm_key, cast->hosts[2].id, &key))
        return;
    cast_seal_put(&seal, &f, datagram);
    cast_seal_end(&seal);
    cast_on_datagram(cast, datagram, f.size, now_us);
}

static void act(struct cast *cast, uint8_t mode, struct cursor *record, uint64_t now_us)
{
    size_t size = cursor_left(record);
    const uint8_t *bytes = record->at;
    struct host_set to = {{14}};
    switch (mode & 7) {
    case 0:
        cast_on_datagram(cast, bytes, size, now_us);
        break;
    case 1:
        fragment(cast, bytes, size, now_us);
        break;
    case 2:
    case 3:
        cast_on_control(cast, mode & 7, bytes, size, now_us);
        break;
    case 4:
    case 5:
        cast_host_gone(cast, (mode & 7) - 2, now_us);
        break;
    case 6:
        cast_send(cast, &to, bytes, size, now_us);
        break;
    default:
        cast_send_total(cast, bytes, size, now_us);
        break;
    }
}

static size_t channel_count(const struct cast *cast)
{
    size_t count = 0;
    for (size_t i = 0; i < CAST_BUCKETS; i++) {
        for (const struct cast_channel *ch = cast->channels[i]; ch != NULL; ch = ch->chain)
            count++;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cursor c = cursor_reader(data, size);
    struct cast *cast = target_create(size > 0 && (data[0] & 0x80) != 0);
    uint64_t now_us = 0;
    while (cursor_left(&c) >= 3) {
        uint8_t mode = cursor_get_u8(&c);
        uint16_t length = cursor_get_u16(&c);
        if (length > cursor_left(&c))
            break;
        struct cursor record = cursor_reader(cursor_get_view(&c, length), length);
        now_us += STEP_US;
        act(cast, mode, &record, now_us);
        if (cast_step(cast, now_us) == 0 || channel_count(cast) > 512)
            abort();
    }
    cast_destroy(cast);
    return 0;
}
