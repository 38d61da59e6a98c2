/* links: proto/wire/contention_config.c proto/wire/control.c proto/contention/contention.c proto/wire/address.c proto/wire/cursor.c */
/*
 * The payloads of control frames from a hostile peer. The first byte chooses the payload. What a
 * get accepts, its put writes and the get reads again; a second put gives the same bytes.
 */
#include "proto/wire/control.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

/* X(name in control_put_NAME, struct) of the payloads whose put and get take a cursor and a struct
 */
#define PAYLOADS(X)                                                                                \
    X(reply, control_reply)                                                                        \
    X(enrol, control_enrol)                                                                        \
    X(enrolled, control_enrolled)                                                                  \
    X(host_row, host_row)                                                                          \
    X(host_event, control_host_event)                                                              \
    X(task, control_task)                                                                          \
    X(result, control_result)                                                                      \
    X(signal, control_signal)                                                                      \
    X(gone, control_gone)                                                                          \
    X(output, control_output)                                                                      \
    X(output_ack, control_output)                                                                  \
    X(host_spec, control_host_spec)                                                                \
    X(link_open, control_link)                                                                     \
    X(link_key, control_link)                                                                      \
    X(link_accept, control_link)                                                                   \
    X(link_refuse, control_link)                                                                   \
    X(bootstrap, control_bootstrap)                                                                \
    X(mcast, control_mcast)

enum { WRITTEN_MAX = 65536 };

struct written {
    uint8_t bytes[WRITTEN_MAX];
    size_t size;
};

struct host_row {
    struct host host;
    struct host_room room;
};

static void control_put_host_row(struct cursor *c, const struct host_row *row)
{
    control_put_host(c, &row->host);
}

static void control_get_host_row(struct cursor *c, struct host_row *row)
{
    control_get_host(c, &row->host, &row->room);
}

#define ROUND_TRIP(name, type)                                                                     \
    static void write_##name(const struct type *value, struct written *out)                        \
    {                                                                                              \
        struct cursor c = cursor_writer(out->bytes, sizeof out->bytes);                            \
        control_put_##name(&c, value);                                                             \
        REQUIRE(cursor_ok(&c));                                                                    \
        out->size = sizeof out->bytes - cursor_left(&c);                                           \
    }                                                                                              \
    static void try_##name(const uint8_t *data, size_t size)                                       \
    {                                                                                              \
        static struct written first, second;                                                       \
        static struct type value, again;                                                           \
        struct cursor c = cursor_reader(data, size);                                               \
        memset(&value, 0, sizeof value);                                                           \
        memset(&again, 0, sizeof again);                                                           \
        control_get_##name(&c, &value);                                                            \
        if (!cursor_ok(&c))                                                                        \
            return;                                                                                \
        write_##name(&value, &first);                                                              \
        c = cursor_reader(first.bytes, first.size);                                                \
        control_get_##name(&c, &again);                                                            \
        REQUIRE(cursor_ok(&c));                                                                    \
        write_##name(&again, &second);                                                             \
        REQUIRE(first.size == second.size && memcmp(first.bytes, second.bytes, first.size) == 0);  \
    }
PAYLOADS(ROUND_TRIP)

static void read_all(const struct control_string *strings, size_t count)
{
    unsigned sum = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < strings[i].size; j++)
            sum += (unsigned char)strings[i].bytes[j];
    REQUIRE(sum <= 255u * WRITTEN_MAX * 16);
}

/* A spawn request has two lists of strings behind its head. */
static void try_spawn(const uint8_t *data, size_t size)
{
    static struct control_spawn spawn;
    struct cursor c = cursor_reader(data, size);

    control_get_spawn(&c, &spawn);
    for (int list = 0; list < 2; list++) {
        size_t count = 0;
        struct control_string *strings = control_get_strings(&c, &count);
        REQUIRE(strings || !cursor_ok(&c) || count == 0);
        if (strings)
            read_all(strings, count);
        free(strings);
    }
}

/* The first eight bytes are the size that it must have. */
static void try_offer(const uint8_t *data, size_t size)
{
    struct control_offer offer;
    uint8_t bytes[OFFER_BYTES_MAX];
    struct cursor c = cursor_reader(data, size);
    uint64_t total = cursor_get_u64(&c), sum = 0;

    if (!control_get_offer(&c, &offer, total))
        return;
    REQUIRE(offer.count >= 0 && offer.count <= OFFER_PIECES_MAX);
    for (int i = 0; i < offer.count; i++)
        sum += offer.pieces[i].size;
    REQUIRE(sum == total);
    c = cursor_writer(bytes, sizeof bytes);
    control_put_offer(&c, &offer);
    REQUIRE(cursor_ok(&c) && size == 8 + (size_t)(c.at - bytes) &&
            memcmp(bytes, data + 8, size - 8) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
#define ENTRY(name, type) try_##name,
    static void (*const payloads[])(const uint8_t *, size_t) = {PAYLOADS(ENTRY) try_spawn};

    if (size > 0 && data[0] == UINT8_MAX)
        try_offer(data + 1, size - 1);
    else if (size > 0)
        payloads[data[0] % (sizeof payloads / sizeof payloads[0])](data + 1, size - 1);
    return 0;
}
