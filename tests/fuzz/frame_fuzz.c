/* links: proto/wire/frame.c proto/wire/cursor.c */
/*
 * Frame, brief and message headers from a hostile peer: a refusal names its cause; what is accepted
 * keeps the limits that its header promises and is encoded as the very bytes it was decoded from.
 */
#include "proto/wire/frame.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

static void try_frame(const uint8_t *data)
{
    uint8_t again[FRAME_HEADER_BYTES];
    struct frame frame;
    const char *refusal = frame_decode(data, &frame);

    if (refusal) {
        REQUIRE(refusal[0] != '\0');
        return;
    }
    REQUIRE(frame.length <= FRAME_PAYLOAD_MAX && frame_kind_name(frame.kind));
    frame_encode(&frame, again);
    REQUIRE(memcmp(data, again, sizeof again) == 0);
}

static void try_message(const uint8_t *data, size_t size)
{
    uint8_t again[FRAME_MESSAGE_BYTES];
    struct message_header header;
    const char *refusal = message_header_decode(data, size, &header);

    if (refusal) {
        REQUIRE(refusal[0] != '\0');
        return;
    }
    REQUIRE(header.size <= (uint64_t)1 << 40);
    message_header_encode(&header, again);
    REQUIRE(memcmp(data, again, sizeof again) == 0);
}

static void try_brief(const uint8_t *data)
{
    uint8_t again[FRAME_HEADER_BYTES];
    struct brief brief;
    const char *refusal = brief_decode(data, &brief);

    if (refusal) {
        REQUIRE(refusal[0] != '\0');
        return;
    }
    REQUIRE(brief_is(data) && brief.size <= BRIEF_SIZE_MAX && brief.padding <= brief.size);
    brief_encode(&brief, again);
    REQUIRE(memcmp(data, again, sizeof again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_message(data, size);
    if (size >= FRAME_HEADER_BYTES) {
        try_frame(data);
        try_brief(data);
    }
    return 0;
}
