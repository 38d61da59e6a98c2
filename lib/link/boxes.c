/*
 * boxes.c - see boxes.h. One of the two members of a pair alone writes each of the words of a box.
 */
#include "lib/link/boxes.h"
#include "lib/link/past_cache.h"
#include "lib/link/shared_memory.h"

#include <assert.h>
#include <string.h>

#define LINE 64
#define PAGE ((size_t)4096)

/* Of an ordered pair: pieces that the one has put in, and the other taken out. */
struct pair {
    _Alignas(LINE) _Atomic uint32_t filled;
    _Alignas(LINE) _Atomic uint32_t emptied;
};

static size_t piece_of(int members)
{
    return BOXES_BYTES / BOXES_EACH / (size_t)members / PAGE * PAGE;
}

static size_t pairs_bytes(int members)
{
    return (size_t)members * (size_t)members * sizeof(struct pair);
}

size_t boxes_bytes(int members)
{
    size_t pairs = (size_t)members * (size_t)members;
    if (members < 3 || members > BOXES_MEMBERS_MAX)
        return 0;
    return pairs_bytes(members) + pairs * BOXES_EACH * piece_of(members);
}

void boxes_open(struct boxes *b, uint8_t *base, int members, int me)
{
    *b = (struct boxes){.members = members, .me = me};
    if (boxes_bytes(members) == 0)
        return;
    b->base = base;
    b->piece = piece_of(members);
}

static size_t number_of(const struct boxes *b, int from, int to)
{
    assert(from >= 0 && from < b->members && to >= 0 && to < b->members);
    return (size_t)from * (size_t)b->members + (size_t)to;
}

static struct pair *pair_of(const struct boxes *b, int from, int to)
{
    return (struct pair *)(void *)b->base + number_of(b, from, to);
}

static uint8_t *box_of(const struct boxes *b, int from, int to, uint32_t piece)
{
    size_t number = number_of(b, from, to) * BOXES_EACH + piece % BOXES_EACH;
    return b->base + pairs_bytes(b->members) + number * b->piece;
}

uint32_t boxes_take_turn(struct boxes *b)
{
    if (!b->uses)
        shared_memory_use(b->base, boxes_bytes(b->members));
    b->uses = true;
    return b->begun++;
}

bool boxes_is_turn(const struct boxes *b, uint32_t turn)
{
    return atomic_load_explicit(&b->ended, memory_order_acquire) == turn;
}

void boxes_end_turn(struct boxes *b, uint32_t pieces)
{
    b->first += pieces;
    atomic_fetch_add_explicit(&b->ended, 1, memory_order_release);
}

uint32_t boxes_sent(const struct boxes *b, int member)
{
    return b->with[member].sent - b->first;
}

uint32_t boxes_received(const struct boxes *b, int member)
{
    return b->with[member].received - b->first;
}

bool boxes_may_send(const struct boxes *b, int member)
{
    uint32_t emptied =
        atomic_load_explicit(&pair_of(b, b->me, member)->emptied, memory_order_acquire);
    return b->with[member].sent - emptied < BOXES_EACH;
}

void boxes_send(struct boxes *b, int member, const void *from, size_t bytes)
{
    uint32_t *sent = &b->with[member].sent;
    assert(bytes <= b->piece);
    memcpy(box_of(b, b->me, member, *sent), from, bytes);
    atomic_store_explicit(&pair_of(b, b->me, member)->filled, ++*sent, memory_order_release);
}

bool boxes_may_receive(const struct boxes *b, int member)
{
    uint32_t filled =
        atomic_load_explicit(&pair_of(b, member, b->me)->filled, memory_order_acquire);
    return filled != b->with[member].received;
}

void boxes_receive(struct boxes *b, int member, void *to, size_t bytes, bool far)
{
    uint32_t *received = &b->with[member].received;
    assert(bytes <= b->piece);
    const uint8_t *from = box_of(b, member, b->me, *received);
    if (far)
        past_cache_copy(to, from, bytes);
    else
        memcpy(to, from, bytes);
    atomic_store_explicit(&pair_of(b, member, b->me)->emptied, ++*received, memory_order_release);
}
