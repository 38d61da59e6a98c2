/*
 * trace_pack.c - records of a trace as few bytes, and back: see trace_pack.h. Writing is done while
 * a task communicates, and takes no more than some tens of instructions.
 */
#include "proto/trace/trace_pack.h"

#define BYTES_BITS 40 /* of word 2, with the sequence above them; the tag is above the peer */
#define BYTES_MASK TRACE_BYTES_MAX
#define SEQUENCE_ONE ((uint64_t)1 << BYTES_BITS)
#define WHAT_BIT 48 /* of word 1, above the duration */
#define NUMBER_BYTES_MAX 10

/* ---- numbers --------------------------------------------------------------------------------- */

static uint8_t *number_put(uint8_t *at, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *at++ = (uint8_t)(number | 0x80);
    *at++ = (uint8_t)number;
    return at;
}

static uint64_t number_get(struct cursor *c)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < NUMBER_BYTES_MAX; i++) {
        uint8_t byte = cursor_get_u8(c);
        number |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (byte < 0x80)
            return number;
    }
    c->bad = true;
    return 0;
}

/* From one number of so many bits, which go round, to another. */
static uint64_t change_of(uint64_t from, uint64_t to, unsigned bits)
{
    uint64_t high = (to - from) << (64 - bits);
    bool below = high >> 63 != 0;
    return below ? ((~high >> (64 - bits)) << 1) + 1 : high >> (64 - bits) << 1;
}

static uint64_t change_get(struct cursor *c, uint64_t from, unsigned bits)
{
    uint64_t change = number_get(c), by = change >> 1;
    return (change % 2 == 0 ? from + by : from - by - 1) & (UINT64_MAX >> (64 - bits));
}

/* ---- records --------------------------------------------------------------------------------- */

static unsigned place_of(uint16_t what, uint32_t peer)
{
    return ((peer * 2654435769u) ^ (what * 2246822519u)) % TRACE_PACK_PLACES;
}

static uint8_t *changes_put(uint8_t *at, struct trace_kept *kept, uint64_t word2, uint64_t word3)
{
    at = number_put(at, change_of(kept->word2 >> BYTES_BITS, word2 >> BYTES_BITS, 24));
    at = number_put(at, change_of(kept->word2 & BYTES_MASK, word2 & BYTES_MASK, BYTES_BITS));
    at = number_put(at, change_of(kept->word3 >> 32, word3 >> 32, 32));
    kept->word3 = word3;
    return at;
}

size_t trace_pack_put(struct trace_pack *pack, uint8_t *at, const struct trace_record *record)
{
    const uint8_t *start = at;
    uint64_t duration = record->word[1] & TRACE_DURATION_MAX;
    uint64_t word2 = record->word[2], word3 = record->word[3], ended = record->word[0] + duration;
    uint16_t what = (uint16_t)(record->word[1] >> WHAT_BIT);
    uint32_t peer = (uint32_t)word3;
    unsigned place = place_of(what, peer);
    struct trace_kept *kept = &pack->kept[place];
    bool known = (pack->known >> place & 1) != 0 && kept->what == what;
    enum trace_pack_how how = !known || (uint32_t)kept->word3 != peer ? TRACE_PACK_NEW
                              : kept->word3 != word3                  ? TRACE_PACK_CHANGED
                              : word2 == kept->word2 + SEQUENCE_ONE   ? TRACE_PACK_NEXT
                              : word2 == kept->word2                  ? TRACE_PACK_SAME
                                                                      : TRACE_PACK_CHANGED;
    *at++ = (uint8_t)(how | place);
    at = number_put(at, ended - pack->ended);
    at = number_put(at, duration);
    if (how == TRACE_PACK_NEW) {
        at = number_put(at, what);
        at = number_put(at, peer);
        *kept = (struct trace_kept){.what = what, .word3 = peer};
        pack->known |= (uint64_t)1 << place;
    }
    if (how == TRACE_PACK_NEW || how == TRACE_PACK_CHANGED)
        at = changes_put(at, kept, word2, word3);
    kept->word2 = word2;
    pack->ended = ended;
    return (size_t)(at - start);
}

static void changes_get(struct cursor *c, struct trace_kept *kept)
{
    uint64_t sequence = change_get(c, kept->word2 >> BYTES_BITS, 24);
    uint64_t bytes = change_get(c, kept->word2 & BYTES_MASK, BYTES_BITS);
    uint64_t tag = change_get(c, kept->word3 >> 32, 32);
    kept->word2 = bytes | sequence << BYTES_BITS;
    kept->word3 = (uint32_t)kept->word3 | tag << 32;
}

int trace_pack_get(struct trace_pack *pack, struct cursor *c, struct trace_record *record)
{
    uint8_t first = cursor_get_u8(c);
    if (cursor_ok(c) && first == TRACE_PAGE_END)
        return 0;
    unsigned place = first % 64u, how = first & 0xc0u;
    uint64_t since = number_get(c), duration = number_get(c);
    if (!cursor_ok(c) || place >= TRACE_PACK_PLACES || duration > TRACE_DURATION_MAX)
        return -1;
    struct trace_kept *kept = &pack->kept[place];
    if (how == TRACE_PACK_NEW) {
        uint64_t what = number_get(c), peer = number_get(c);
        if (!cursor_ok(c) || what > UINT16_MAX || peer > UINT32_MAX)
            return -1;
        *kept = (struct trace_kept){.what = (uint16_t)what, .word3 = peer};
        pack->known |= (uint64_t)1 << place;
    }
    if ((pack->known >> place & 1) == 0)
        return -1;
    if (how == TRACE_PACK_NEXT)
        kept->word2 += SEQUENCE_ONE;
    if (how == TRACE_PACK_NEW || how == TRACE_PACK_CHANGED)
        changes_get(c, kept);
    if (!cursor_ok(c))
        return -1;
    pack->ended += since;
    *record =
        (struct trace_record){{pack->ended - duration, duration | (uint64_t)kept->what << WHAT_BIT,
                               kept->word2, kept->word3}};
    return 1;
}
