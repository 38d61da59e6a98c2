/*
 * segment.h - memory that the members of a team on one host share, for collective calls.
 *
 * It is divided into slots. An operation has a sequence number, which is the same for all members,
 * and takes the slot of that number; each member brings something (in its area, or as an address on
 * its card), arrives, waits for what it needs of the others, and leaves. Whoever leaves last frees
 * the slot. Several operations are under way at once, each in a slot of its own.
 *
 * Sleeping: a member that is about to sleep asks for the bell and looks once more; who then brings
 * about what somebody may wait for rings it. The bell is one eventfd that all members watch, edge
 * by edge.
 *
 * All members can write to all of it, so nothing in it is believed: what is taken from it selects
 * no memory but that of the segment, whose layout each member computes by itself.
 */
#ifndef COVEY_LIB_COLLECTIVE_SEGMENT_H
#define COVEY_LIB_COLLECTIVE_SEGMENT_H

#include "lib/link/boxes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENT_SHORT 32              /* bytes that a member can bring beside its card, */
#define SEGMENT_AREA 4096             /* in its area, */
#define SEGMENT_AREAS 16              /* of which a member has so many, */
#define SEGMENT_LARGE ((size_t)65536) /* and in a large area, */
#define SEGMENT_LARGES 4              /* of which a member has so many */
#define SEGMENT_MEMBERS_MAX 128
/* Calls that can be under way; each may consist of two operations. Who only gives something is so
 * many calls ahead of the others, and with more members than processors all of them take that in
 * one turn. Many members have fewer, for cards are memory. */
#define SEGMENT_CALLS 64
#define SEGMENT_CALLS_MANY 16
#define SEGMENT_MANY 17 /* members */

struct segment_memory;

struct team_segment {
    struct segment_memory *memory;
    size_t bytes, slot_bytes;
    uint32_t slots;  /* a power of two */
    int members, me; /* numbers of members are 0 .. members - 1 */
    int bell;
    bool readable;                       /* the members can read each other's memory */
    bool fences;                         /* who sleeps cannot pay for barriers of the others */
    int32_t *pids;                       /* by member */
    _Atomic uint32_t *seen_left;         /* of two: by slot, what the other one was seen to leave */
    uint32_t areas_taken[SEGMENT_AREAS]; /* the operation that did last; 0: none */
    uint32_t large_taken[SEGMENT_LARGES];
    bool uses_areas, uses_large; /* the caller has the pages of all of them */
    bool crowded;                /* all members know of fewer processors than members */
    struct boxes boxes;
};

/* How far a member is with an operation. */
enum segment_stage {
    STAGE_ABSENT,
    STAGE_ARRIVED,
    STAGE_FIRST,  /* it has done what the others wait for first, */
    STAGE_SECOND, /* and second */
    STAGE_LEFT
};

/* Makes one, of which the caller is member 0. The descriptor is the caller's to pass on and close;
 * the bell, which is passed on likewise, stays the segment's. NULL: no memory or descriptors. */
struct team_segment *segment_create(int members, int *memory_fd);
/* Maps one that another member made; takes the bell over on success. NULL: *why, for it is none of
 * so many members, or of another version or byte order. */
struct team_segment *segment_open(int memory_fd, int bell, int members, int me, const char **why);
void segment_free(struct team_segment *s); /* NULL is fine */

/* The operation of a call, by its number; a call consists of part 0, and perhaps part 1. */
uint32_t segment_sequence(uint32_t call, int part);
uint32_t segment_later(uint32_t sequence, int calls); /* the same part so many calls later */

/* Where a member brings SEGMENT_SHORT bytes, and where a result of as many may be put: in the lines
 * of memory that members look at anyway. */
uint8_t *segment_short_area(const struct team_segment *s, uint32_t sequence, int member);
uint8_t *segment_short_result(const struct team_segment *s, uint32_t sequence);

/* Where a member brings SEGMENT_AREA bytes, and where a result of as many may be put. These areas
 * are fewer, so that they stay in caches: an operation uses those of its number when the one that
 * had them before has ended, with the caller and with all others. The caller takes them in the
 * order of all calls; returns who had them before, 0: nobody. */
uint32_t segment_take_area(struct team_segment *s, uint32_t sequence);
uint8_t *segment_area(const struct team_segment *s, uint32_t sequence, int member);
uint8_t *segment_result(const struct team_segment *s, uint32_t sequence);

/* The same for large areas, which the caller takes for so many operations at once, one a call from
 * this one on. before[i]: who had those of the operation i before, 0: nobody; behind SEGMENT_LARGES
 * it is one of these itself. */
void segment_take_large(struct team_segment *s, uint32_t sequence, uint32_t operations,
                        uint32_t before[SEGMENT_LARGES]);
bool segment_has_ended(const struct team_segment *s, uint32_t sequence);
uint8_t *segment_large_area(const struct team_segment *s, uint32_t sequence, int member);
uint8_t *segment_large_result(const struct team_segment *s, uint32_t sequence);

/* What a member says of itself, before it arrives: which call it makes, and addresses in its own
 * memory. */
struct segment_card {
    uint64_t what, from, to;
};
void segment_put_card(const struct team_segment *s, uint32_t sequence,
                      const struct segment_card *card);
struct segment_card segment_get_card(const struct team_segment *s, uint32_t sequence, int member);
uint64_t segment_what(const struct team_segment *s, uint32_t sequence, int member);

/* Whether the slot is free for this operation. Only then may a member bring something and arrive;
 * true: all others have. */
bool segment_is_free(const struct team_segment *s, uint32_t sequence);
bool segment_arrive(const struct team_segment *s, uint32_t sequence);
bool segment_all_arrived(const struct team_segment *s, uint32_t sequence);
/* The member that arrived last; -1: not all have, or they are two, of whom nobody knows that. */
int segment_last(const struct team_segment *s, uint32_t sequence);

/* One member says that the others can go on. */
void segment_release(const struct team_segment *s, uint32_t sequence);
bool segment_is_released(const struct team_segment *s, uint32_t sequence);

/* The caller has reached STAGE_FIRST or STAGE_SECOND; whether all members have. */
void segment_advance(const struct team_segment *s, uint32_t sequence, enum segment_stage stage);
bool segment_all_at(const struct team_segment *s, uint32_t sequence, enum segment_stage stage);

/* Wakes those that wait for the stage of the caller alone. */
void segment_ring(const struct team_segment *s, uint32_t sequence);

/* What the member brought is needed no more, and it needs nothing more itself. */
void segment_leave(const struct team_segment *s, uint32_t sequence);
bool segment_others_left(const struct team_segment *s, uint32_t sequence);

enum segment_stage segment_stage_of(const struct team_segment *s, uint32_t sequence, int member);
/* Whether a member that arrives has reached a stage before the last. */
bool segment_is_at(const struct team_segment *s, uint32_t sequence, int member,
                   enum segment_stage stage);

/* The caller is about to sleep until something happens to the operation: rings the bell then. It
 * looks once more behind this call. */
void segment_ask_bell(const struct team_segment *s, uint32_t sequence);

/* What the caller tells the others of itself: where it has a number that they look for, and whether
 * barriers reach it. Every member has said it before any calls the next two. */
void segment_show(const struct team_segment *s);
/* From now on those pay for barriers that are about to sleep, if all can. */
void segment_meet(struct team_segment *s);
/* Whether the caller can read the numbers of all others. */
bool segment_can_read_all(struct team_segment *s);

/* Copies from an address in another member's memory. False: it has ended, or forbids it. */
bool segment_read(const struct team_segment *s, int member, void *to, uint64_t from, size_t bytes);

#endif
