/*
 * boxes.h - boxes in the memory of a segment, by which each member passes long blocks to each other
 * one, piece by piece.
 *
 * Each member has BOXES_EACH boxes for each other one, which it fills and the other one empties, in
 * turn. Nobody waits for all others: a member fills what is empty, empties what is full, and lets
 * others have the processor when there is neither. All boxes together are small enough for a cache
 * that processors share.
 *
 * The words by which the two of a pair wait for each other are counted alike in memory of the
 * caller's own, which alone selects the box: what others write into the segment is not believed.
 */
#ifndef COVEY_LIB_LINK_BOXES_H
#define COVEY_LIB_LINK_BOXES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOXES_EACH 2u
#define BOXES_BYTES ((size_t)2 << 20) /* of a member */
#define BOXES_MEMBERS_MAX 32

struct boxes {
    uint8_t *base; /* in the segment; NULL: these are too few or too many members for boxes */
    int members, me;
    size_t piece;           /* bytes of a box */
    bool uses;              /* the caller has the pages of all of them */
    uint32_t begun;         /* turns: operations that use boxes do so one after the other */
    _Atomic uint32_t ended; /* of the caller's */
    uint32_t first;         /* number of the first piece of the one whose turn it is */
    struct {
        uint32_t sent, received; /* pieces, in all operations */
    } with[BOXES_MEMBERS_MAX];
};

size_t boxes_bytes(int members); /* 0: they have none */
void boxes_open(struct boxes *b, uint8_t *base, int members, int me);

/* A turn, in the order of all calls; whether it has come; and its end, after which as many pieces
 * were sent to, and received from, every other member. */
uint32_t boxes_take_turn(struct boxes *b);
bool boxes_is_turn(const struct boxes *b, uint32_t turn);
void boxes_end_turn(struct boxes *b, uint32_t pieces);

/* Pieces that were sent and received in this turn. */
uint32_t boxes_sent(const struct boxes *b, int member);
uint32_t boxes_received(const struct boxes *b, int member);

bool boxes_may_send(const struct boxes *b, int member);
void boxes_send(struct boxes *b, int member, const void *from, size_t bytes);
bool boxes_may_receive(const struct boxes *b, int member);
/* far: the result is larger than the cache, see past_cache.h. */
void boxes_receive(struct boxes *b, int member, void *to, size_t bytes, bool far);

#endif
