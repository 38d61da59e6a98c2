/*
 * frame.c - frame and message headers; encode and decode mirror each other. The grammar stands in
 * frame.h.
 */
#include "proto/wire/frame.h"

#include "proto/wire/cursor.h"
#include "proto/wire/stamp.h"

#define TID_MAX 0x3fffffffu
#define BRIEF_MARK 0x80
#define BRIEF_STAMPED 0x40
#define BRIEF_BIG 0x08
#define BRIEF_PADDING 0x07
#define MESSAGE_BYTES_MAX ((uint64_t)1 << 40)

_Static_assert(4 + 1 + 1 + 2 + 4 + 4 == FRAME_HEADER_BYTES, "frame header");
_Static_assert(8 + 8 + 4 + 4 + 1 + 7 == FRAME_MESSAGE_BYTES, "message header");
_Static_assert(1 + 1 + 2 + 4 + 4 + 4 == FRAME_HEADER_BYTES, "brief header");
_Static_assert(BRIEF_SIZE_MAX <= UINT16_MAX, "its size fits");

struct kind {
    const char *name;
    int party;
};

static const struct kind *kind_find(int number)
{
    static const struct kind kinds[] = {
#define KIND_ROW(number, name, party) [number] = {#name, party},
        FRAME_KINDS(KIND_ROW)
#undef KIND_ROW
    };
    if (number < 0 || (size_t)number >= sizeof kinds / sizeof kinds[0])
        return NULL;
    return kinds[number].name == NULL ? NULL : &kinds[number];
}

const char *frame_kind_name(int kind)
{
    const struct kind *k = kind_find(kind);
    return k == NULL ? NULL : k->name;
}

int frame_kind_party(int kind)
{
    const struct kind *k = kind_find(kind);
    return k == NULL ? 0 : k->party;
}

void frame_encode(const struct frame *frame, uint8_t bytes[FRAME_HEADER_BYTES])
{
    struct cursor c = cursor_writer(bytes, FRAME_HEADER_BYTES);
    cursor_put_u32(&c, frame->length);
    cursor_put_u8(&c, frame->kind);
    cursor_put_u8(&c, frame->flags);
    cursor_put_u16(&c, 0);
    cursor_put_u32(&c, frame->source);
    cursor_put_u32(&c, frame->destination);
}

const char *frame_decode(const uint8_t bytes[FRAME_HEADER_BYTES], struct frame *frame)
{
    struct cursor c = cursor_reader(bytes, FRAME_HEADER_BYTES);
    struct frame f = {.length = cursor_get_u32(&c)};
    f.kind = cursor_get_u8(&c);
    f.flags = cursor_get_u8(&c);
    uint16_t reserved = cursor_get_u16(&c);
    f.source = cursor_get_u32(&c);
    f.destination = cursor_get_u32(&c);

    if (f.length > FRAME_PAYLOAD_MAX)
        return "frame longer than FRAME_PAYLOAD_MAX";
    if (kind_find(f.kind) == NULL)
        return "frame of unknown kind";
    if ((f.flags & ~(FRAME_FLAGS_CARRIED | FRAME_FDS_MAX << FRAME_FDS_SHIFT)) != 0)
        return "frame with unknown flags";
    if (reserved != 0)
        return "frame with a set reserved field";
    if (f.source > TID_MAX || f.destination > TID_MAX)
        return "frame with a tid of more than 30 bits";
    *frame = f;
    return NULL;
}

void message_stamp_put(uint8_t bytes[FRAME_MESSAGE_BYTES], uint64_t stamp)
{
    struct cursor c = cursor_writer(bytes + MESSAGE_STAMP_AT, STAMP_BITS / 8);
    cursor_put_u8(&c, (uint8_t)(stamp >> 48));
    cursor_put_u16(&c, (uint16_t)(stamp >> 32));
    cursor_put_u32(&c, (uint32_t)stamp);
}

uint64_t message_stamp_get(const uint8_t bytes[FRAME_MESSAGE_BYTES])
{
    struct cursor c = cursor_reader(bytes + MESSAGE_STAMP_AT, STAMP_BITS / 8);
    uint64_t stamp = (uint64_t)cursor_get_u8(&c) << 48;
    stamp |= (uint64_t)cursor_get_u16(&c) << 32;
    return stamp | cursor_get_u32(&c);
}

void message_header_encode(const struct message_header *header, uint8_t bytes[FRAME_MESSAGE_BYTES])
{
    struct cursor c = cursor_writer(bytes, FRAME_MESSAGE_BYTES);
    cursor_put_u64(&c, header->sequence);
    cursor_put_u64(&c, header->size);
    cursor_put_i32(&c, header->tag);
    cursor_put_u32(&c, header->context);
    cursor_put_u8(&c, header->representation);
    message_stamp_put(bytes, header->stamp);
}

const char *message_header_decode(const uint8_t *bytes, size_t size, struct message_header *header)
{
    struct cursor c = cursor_reader(bytes, size);
    struct message_header h = {.sequence = cursor_get_u64(&c)};
    h.size = cursor_get_u64(&c);
    h.tag = cursor_get_i32(&c);
    h.context = cursor_get_u32(&c);
    h.representation = cursor_get_u8(&c);

    if (!cursor_ok(&c) || size < FRAME_MESSAGE_BYTES)
        return "message header cut short";
    h.stamp = message_stamp_get(bytes);
    if (h.size > MESSAGE_BYTES_MAX)
        return "message larger than 2^40 bytes";
    if (h.representation != REPRESENTATION_LITTLE && h.representation != REPRESENTATION_BIG)
        return "message of unknown representation";
    *header = h;
    return NULL;
}

/* Its numbers two by two, or four: it is made and read for every short message. */
static uint64_t brief_first(const struct brief *brief, uint8_t marks)
{
    bool big = brief->representation == REPRESENTATION_BIG;
    uint8_t mark = (uint8_t)(BRIEF_MARK | (big ? BRIEF_BIG : 0) | marks | brief->padding);
    return (uint64_t)mark << 56 | (uint64_t)brief->type << 48 | (uint64_t)brief->size << 32 |
           brief->sequence;
}

static uint64_t brief_second(const struct brief *brief)
{
    return (uint64_t)(uint32_t)brief->tag << 32 | brief->context;
}

void brief_encode(const struct brief *brief, uint8_t bytes[FRAME_HEADER_BYTES])
{
    struct cursor c = cursor_writer(bytes, FRAME_HEADER_BYTES);
    cursor_put_u64(&c, brief_first(brief, 0));
    cursor_put_u64(&c, brief_second(brief));
}

static inline const char *brief_from(uint64_t first, uint64_t second, struct brief *brief)
{
    uint8_t mark = (uint8_t)(first >> 56);
    bool big = (mark & BRIEF_BIG) != 0;
    const struct brief b = {.type = (uint8_t)(first >> 48),
                            .representation = big ? REPRESENTATION_BIG : REPRESENTATION_LITTLE,
                            .padding = mark & BRIEF_PADDING,
                            .size = (uint16_t)(first >> 32),
                            .sequence = (uint32_t)first,
                            .tag = (int32_t)(second >> 32),
                            .context = (uint32_t)second};

    if ((mark & ~(BRIEF_BIG | BRIEF_PADDING)) != BRIEF_MARK)
        return "brief header with unknown marks";
    if (b.size > BRIEF_SIZE_MAX)
        return "brief message longer than BRIEF_SIZE_MAX";
    if (b.padding > b.size)
        return "brief message of less than its padding";
    *brief = b;
    return NULL;
}

const char *brief_decode(const uint8_t bytes[FRAME_HEADER_BYTES], struct brief *brief)
{
    struct cursor c = cursor_reader(bytes, FRAME_HEADER_BYTES);
    uint64_t first = cursor_get_u64(&c), second = cursor_get_u64(&c);
    return brief_from(first, second, brief);
}

void brief_to_words(const struct brief *brief, uint64_t stamp, uint64_t words[BRIEF_STAMPED_WORDS])
{
    words[0] = cursor_word(brief_first(brief, BRIEF_STAMPED));
    words[1] = cursor_word(brief_second(brief));
    words[2] = cursor_word(stamp);
}

const char *brief_of_words(const uint64_t words[BRIEF_STAMPED_WORDS], struct brief *brief,
                           uint64_t *stamp)
{
    uint64_t first = cursor_word(words[0]), stamped = (uint64_t)BRIEF_STAMPED << 56;
    *stamp = cursor_word(words[2]) & STAMP_MASK;
    if ((first & stamped) == 0 || *stamp == 0)
        return "a message without a stamp";
    return brief_from(first & ~stamped, cursor_word(words[1]), brief);
}

void brief_stamp_put(uint8_t bytes[BRIEF_STAMPED_BYTES], uint64_t stamp)
{
    struct cursor c = cursor_writer(bytes + FRAME_HEADER_BYTES, BRIEF_STAMP_BYTES);
    cursor_put_u64(&c, stamp);
    bytes[0] |= BRIEF_STAMPED;
}

uint64_t brief_stamp_take(uint8_t bytes[BRIEF_STAMPED_BYTES])
{
    struct cursor c = cursor_reader(bytes + FRAME_HEADER_BYTES, BRIEF_STAMP_BYTES);
    bytes[0] &= (uint8_t)~BRIEF_STAMPED;
    return cursor_get_u64(&c) & STAMP_MASK;
}

void brief_expand(const struct brief *brief, struct frame *frame, struct message_header *header)
{
    uint32_t size = FRAME_ITEM_BYTES + (uint32_t)brief->size;
    *header = (struct message_header){.sequence = brief->sequence,
                                      .size = size,
                                      .tag = brief->tag,
                                      .context = brief->context,
                                      .representation = brief->representation};
    *frame = (struct frame){.length = FRAME_MESSAGE_BYTES + size,
                            .kind = FRAME_DATA,
                            .flags = FRAME_FIRST | FRAME_LAST};
}
