/*
 * segment.c - the memory that the members of a team on one host share: its layout, and the words by
 * which they wait for each other.
 *
 * `arrived` of a slot tells which operation has it, how many have arrived, and who did last; it is
 * 0 while the slot is free. It changes by compare-and-swap, so that one member alone is the last.
 * The last to leave clears the counters and then `arrived`; nobody else touches them before that.
 *
 * Two members need no counters. The stages on their cards, and the operations that each has left,
 * tell the same, and one of them alone writes either: a line of memory then passes from one
 * processor to the other once an operation, where counters pass there and back. What has been left
 * stands apart from the cards, for the other one looks for that when the slot comes round again.
 */
#include "lib/collective/segment.h"
#include "lib/link/barrier.h"
#include "lib/link/shared_memory.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define FORMAT 0x53656707u /* struct segment_memory, version 7 */
#define LINE 64
#define SLOTS_MAX (2 * SEGMENT_CALLS)
#define CALLS (1u << 30) /* numbers of calls, see segment_sequence() */
#define CALLS_LONG_AGO (1u << 28)

/* In one line: an operation touches most of it. */
struct slot {
    _Alignas(LINE) _Atomic uint64_t arrived; /* sequence << 32 | last member << 16 | how many */
    _Atomic uint32_t released;               /* sequence */
    _Atomic uint32_t sleepers;
    _Atomic uint32_t reached[2], left; /* how many members */
    _Alignas(8) uint8_t result[SEGMENT_SHORT];
};

/* Of a member, in a slot. */
struct card {
    _Alignas(LINE) _Atomic uint64_t stage; /* sequence << 32 | enum segment_stage */
    struct segment_card says;
    uint8_t brought[SEGMENT_SHORT];
};
static_assert(sizeof(struct slot) == LINE && sizeof(struct card) == LINE, "a line each");

/* Who a member is, where it has that number, for others to try to read, and whether barrier_all()
 * reaches it. */
struct person {
    _Alignas(LINE) uint64_t pid, number_at, number;
    uint32_t joined;
};

/* Of one of two members: the last operation in each slot that it has left; 0: none. */
struct leaving {
    _Alignas(LINE) _Atomic uint32_t sequence[SLOTS_MAX];
};

struct segment_memory {
    _Alignas(LINE) uint32_t format, members;
    struct person persons[SEGMENT_MEMBERS_MAX];
    struct leaving leaving[2];
    /* for each slot: struct slot, a card of each member; SEGMENT_AREAS times: the areas, the
     * result; SEGMENT_LARGES times: the large areas, the large result; boxes */
    _Alignas(LINE) uint8_t slots[];
};

/* ---- layout ---------------------------------------------------------------------------------- */

static uint32_t slot_count(int members)
{
    return 2 * (members < SEGMENT_MANY ? SEGMENT_CALLS : SEGMENT_CALLS_MANY);
}

static size_t slot_bytes(int members)
{
    return sizeof(struct slot) + (size_t)members * sizeof(struct card);
}

static size_t areas_bytes(int members)
{
    return (size_t)(members + 1) * SEGMENT_AREA;
}

static size_t large_bytes(int members)
{
    return (size_t)(members + 1) * SEGMENT_LARGE;
}

static size_t segment_bytes(int members)
{
    return sizeof(struct segment_memory) + slot_count(members) * slot_bytes(members) +
           SEGMENT_AREAS * areas_bytes(members) + SEGMENT_LARGES * large_bytes(members) +
           boxes_bytes(members);
}

uint32_t segment_sequence(uint32_t call, int part)
{
    assert(part == 0 || part == 1);
    return 0x80000000u | call << 1 | (uint32_t)part;
}

uint32_t segment_later(uint32_t sequence, int calls)
{
    return 0x80000000u | (sequence + ((uint32_t)calls << 1));
}

static inline uint32_t slot_number(const struct team_segment *s, uint32_t sequence)
{
    return sequence & (s->slots - 1);
}

static inline uint8_t *slot_memory(const struct team_segment *s, uint32_t sequence)
{
    return s->memory->slots + slot_number(s, sequence) * s->slot_bytes;
}

static struct slot *slot_of(const struct team_segment *s, uint32_t sequence)
{
    return (struct slot *)(void *)slot_memory(s, sequence);
}

static inline struct card *card_of(const struct team_segment *s, uint32_t sequence, int member)
{
    struct card *cards = (struct card *)(void *)(slot_memory(s, sequence) + sizeof(struct slot));
    assert(member >= 0 && member < s->members);
    return &cards[member];
}

/* Behind all slots and so many areas. */
static uint8_t *behind_areas(const struct team_segment *s, size_t areas)
{
    return s->memory->slots + s->slots * s->slot_bytes + areas * SEGMENT_AREA;
}

/* Both parts of a call share one: the second begins when the first has ended. */
static uint32_t area_number(uint32_t sequence)
{
    return (sequence >> 1) % SEGMENT_AREAS;
}

/* An operation so long ago has ended: as many cannot be under way, and numbers come round again. */
static uint32_t unless_ended(uint32_t before, uint32_t sequence)
{
    return (sequence - before) / 2 % CALLS < CALLS_LONG_AGO ? before : 0;
}

uint32_t segment_take_area(struct team_segment *s, uint32_t sequence)
{
    uint32_t before = unless_ended(s->areas_taken[area_number(sequence)], sequence);
    if (!s->uses_areas)
        shared_memory_use(behind_areas(s, 0), SEGMENT_AREAS * areas_bytes(s->members));
    s->uses_areas = true;
    s->areas_taken[area_number(sequence)] = sequence;
    return before;
}

uint8_t *segment_area(const struct team_segment *s, uint32_t sequence, int member)
{
    assert(member >= 0 && member <= s->members);
    return behind_areas(s, area_number(sequence) * (size_t)(s->members + 1) + (size_t)member);
}

uint8_t *segment_result(const struct team_segment *s, uint32_t sequence)
{
    return segment_area(s, sequence, s->members);
}

uint8_t *segment_short_area(const struct team_segment *s, uint32_t sequence, int member)
{
    return card_of(s, sequence, member)->brought;
}

uint8_t *segment_short_result(const struct team_segment *s, uint32_t sequence)
{
    return slot_of(s, sequence)->result;
}

/* As above. */
static uint32_t large_number(uint32_t sequence)
{
    return (sequence >> 1) % SEGMENT_LARGES;
}

static uint8_t *large_area(const struct team_segment *s, size_t number)
{
    return behind_areas(s, SEGMENT_AREAS * (size_t)(s->members + 1)) + number * SEGMENT_LARGE;
}

uint8_t *segment_large_area(const struct team_segment *s, uint32_t sequence, int member)
{
    size_t before = large_number(sequence) * (size_t)(s->members + 1) + (size_t)member;
    assert(member >= 0 && member <= s->members);
    return large_area(s, before);
}

uint8_t *segment_large_result(const struct team_segment *s, uint32_t sequence)
{
    return segment_large_area(s, sequence, s->members);
}

void segment_take_large(struct team_segment *s, uint32_t sequence, uint32_t operations,
                        uint32_t before[SEGMENT_LARGES])
{
    if (!s->uses_large)
        shared_memory_use(large_area(s, 0), SEGMENT_LARGES * large_bytes(s->members));
    s->uses_large = true;
    for (uint32_t i = 0; i < operations && i < SEGMENT_LARGES; i++) {
        uint32_t *taken = &s->large_taken[large_number(segment_later(sequence, (int)i))];
        uint32_t more = (operations - 1 - i) / SEGMENT_LARGES * SEGMENT_LARGES;
        before[i] = unless_ended(*taken, segment_later(sequence, (int)i));
        *taken = segment_later(sequence, (int)(i + more));
    }
}

/* ---- making one ------------------------------------------------------------------------------ */

static struct team_segment *segment_map(int memory_fd, int members, int me)
{
    struct team_segment *s = calloc(1, sizeof *s);
    int32_t *pids = calloc((size_t)members, sizeof *pids);
    _Atomic uint32_t *seen_left = calloc(slot_count(members), sizeof *seen_left);
    if (s == NULL || pids == NULL || seen_left == NULL) {
        free(s);
        free(pids);
        free(seen_left);
        return NULL;
    }
    *s = (struct team_segment){.bytes = segment_bytes(members),
                               .slot_bytes = slot_bytes(members),
                               .slots = slot_count(members),
                               .members = members,
                               .me = me,
                               .bell = -1,
                               .pids = pids,
                               .seen_left = seen_left,
                               .fences = true};
    s->memory = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
    if (s->memory != MAP_FAILED) {
        boxes_open(&s->boxes, large_area(s, SEGMENT_LARGES * (size_t)(members + 1)), members, me);
        return s;
    }
    free(s->pids);
    free(s->seen_left);
    free(s);
    return NULL;
}

struct team_segment *segment_create(int members, int *memory_fd)
{
    assert(members >= 2 && members <= SEGMENT_MEMBERS_MAX);
    int fd = shared_memory_create("covey-team", segment_bytes(members));
    struct team_segment *s = fd < 0 ? NULL : segment_map(fd, members, 0);
    if (s != NULL)
        s->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s == NULL || s->bell < 0) {
        segment_free(s);
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    s->memory->members = (uint32_t)members;
    s->memory->format = FORMAT;
    *memory_fd = fd;
    return s;
}

struct team_segment *segment_open(int memory_fd, int bell, int members, int me, const char **why)
{
    assert(members >= 2 && members <= SEGMENT_MEMBERS_MAX && me > 0 && me < members);
    *why = "its memory is not that of a team";
    if (!shared_memory_ok(memory_fd, segment_bytes(members)))
        return NULL;
    *why = "its bell is no eventfd, or one that may block";
    if (!doorbell_ok(bell))
        return NULL;
    struct team_segment *s = segment_map(memory_fd, members, me);
    *why = strerror(errno);
    if (s == NULL)
        return NULL;
    *why = "its memory is of another version, or byte order";
    if (s->memory->format != FORMAT || s->memory->members != (uint32_t)members) {
        segment_free(s);
        return NULL;
    }
    s->bell = bell;
    return s;
}

void segment_free(struct team_segment *s)
{
    if (s == NULL)
        return;
    munmap(s->memory, s->bytes);
    if (s->bell >= 0)
        close(s->bell);
    free(s->pids);
    free(s->seen_left);
    free(s);
}

/* ---- waking ---------------------------------------------------------------------------------- */

/* Between what was brought about and the look for sleepers a barrier is needed, here or by those
 * that are about to sleep. */
static void ring_bell(const struct team_segment *s, struct slot *slot)
{
    if (s->fences)
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&slot->sleepers, memory_order_relaxed) != 0 &&
        atomic_exchange_explicit(&slot->sleepers, 0, memory_order_acq_rel) != 0)
        doorbell_ring(s->bell);
}

void segment_ask_bell(const struct team_segment *s, uint32_t sequence)
{
    atomic_store_explicit(&slot_of(s, sequence)->sleepers, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (!s->fences)
        barrier_all();
}

/* ---- stages ---------------------------------------------------------------------------------- */

static uint64_t stage_word(uint32_t sequence, enum segment_stage stage)
{
    return (uint64_t)sequence << 32 | (uint64_t)stage;
}

static void set_stage(const struct team_segment *s, uint32_t sequence, enum segment_stage stage)
{
    atomic_store_explicit(&card_of(s, sequence, s->me)->stage, stage_word(sequence, stage),
                          memory_order_release);
}

static enum segment_stage stage_on_card(const struct team_segment *s, uint32_t sequence, int member)
{
    uint64_t stage =
        atomic_load_explicit(&card_of(s, sequence, member)->stage, memory_order_acquire);
    return stage >> 32 == sequence ? (enum segment_stage)(stage & 7) : STAGE_ABSENT;
}

void segment_put_card(const struct team_segment *s, uint32_t sequence,
                      const struct segment_card *card)
{
    card_of(s, sequence, s->me)->says = *card;
}

struct segment_card segment_get_card(const struct team_segment *s, uint32_t sequence, int member)
{
    return card_of(s, sequence, member)->says;
}

uint64_t segment_what(const struct team_segment *s, uint32_t sequence, int member)
{
    return card_of(s, sequence, member)->says.what;
}

/* ---- two members ----------------------------------------------------------------------------- */

static bool is_pair(const struct team_segment *s)
{
    return s->members == 2;
}

static _Atomic uint32_t *pair_left(const struct team_segment *s, uint32_t sequence, int member)
{
    return &s->memory->leaving[member].sequence[slot_number(s, sequence)];
}

static bool is_or_is_later(uint32_t left, uint32_t sequence)
{
    return left != 0 && (int32_t)((left - sequence) << 1) >= 0;
}

/* Whether the other one has left that operation or a later one in its slot. It writes the lines
 * that say so in each operation, so they are looked at when what they said last time is not enough.
 */
static bool pair_other_left(const struct team_segment *s, uint32_t sequence)
{
    _Atomic uint32_t *seen = s->seen_left;
    if (is_or_is_later(atomic_load_explicit(&seen[slot_number(s, sequence)], memory_order_acquire),
                       sequence))
        return true;
    for (uint32_t i = 0; i < s->slots; i++)
        atomic_store_explicit(
            &seen[i], atomic_load_explicit(pair_left(s, i, 1 - s->me), memory_order_acquire),
            memory_order_release);
    return is_or_is_later(
        atomic_load_explicit(&seen[slot_number(s, sequence)], memory_order_acquire), sequence);
}

/* The last operation in the slot that the caller has left; 0: none. */
static uint32_t pair_own_last(const struct team_segment *s, uint32_t sequence)
{
    return atomic_load_explicit(pair_left(s, sequence, s->me), memory_order_relaxed);
}

static bool pair_at(const struct team_segment *s, uint32_t sequence, enum segment_stage stage)
{
    return stage_on_card(s, sequence, 1 - s->me) >= stage &&
           stage_on_card(s, sequence, s->me) >= stage;
}

static bool pair_is_free(const struct team_segment *s, uint32_t sequence)
{
    uint32_t last = pair_own_last(s, sequence);
    return last == 0 || pair_other_left(s, last);
}

/* Neither comes to another operation in the slot before both have left this one. */
static bool pair_has_ended(const struct team_segment *s, uint32_t sequence)
{
    uint32_t last = pair_own_last(s, sequence);
    if (last == sequence)
        return pair_other_left(s, sequence);
    return last != 0 && (int32_t)((last - sequence) << 1) > 0;
}

static void pair_advance(const struct team_segment *s, uint32_t sequence, enum segment_stage stage)
{
    set_stage(s, sequence, stage);
    ring_bell(s, slot_of(s, sequence));
}

static void pair_leave(const struct team_segment *s, uint32_t sequence)
{
    atomic_store_explicit(pair_left(s, sequence, s->me), sequence, memory_order_release);
    ring_bell(s, slot_of(s, sequence));
}

/* ---- stages of others ------------------------------------------------------------------------ */

enum segment_stage segment_stage_of(const struct team_segment *s, uint32_t sequence, int member)
{
    bool left = is_pair(s) && atomic_load_explicit(pair_left(s, sequence, member),
                                                   memory_order_acquire) == sequence;
    return left ? STAGE_LEFT : stage_on_card(s, sequence, member);
}

bool segment_is_at(const struct team_segment *s, uint32_t sequence, int member,
                   enum segment_stage stage)
{
    assert(stage < STAGE_LEFT);
    return stage_on_card(s, sequence, member) >= stage;
}

/* ---- arriving -------------------------------------------------------------------------------- */

static uint64_t arrived(const struct team_segment *s, uint32_t sequence)
{
    return atomic_load_explicit(&slot_of(s, sequence)->arrived, memory_order_acquire);
}

bool segment_is_free(const struct team_segment *s, uint32_t sequence)
{
    if (is_pair(s))
        return pair_is_free(s, sequence);
    uint64_t word = arrived(s, sequence);
    return word == 0 || word >> 32 == sequence;
}

bool segment_arrive(const struct team_segment *s, uint32_t sequence)
{
    struct slot *slot = slot_of(s, sequence);
    if (is_pair(s)) {
        pair_advance(s, sequence, STAGE_ARRIVED);
        return pair_at(s, sequence, STAGE_ARRIVED);
    }
    uint64_t word = atomic_load_explicit(&slot->arrived, memory_order_relaxed), count;
    do {
        count = (word & 0xffff) + 1;
    } while (!atomic_compare_exchange_weak_explicit(
        &slot->arrived, &word, (uint64_t)sequence << 32 | (uint64_t)s->me << 16 | count,
        memory_order_acq_rel, memory_order_relaxed));
    set_stage(s, sequence, STAGE_ARRIVED);
    if (count != (uint64_t)s->members)
        return false;
    ring_bell(s, slot);
    return true;
}

bool segment_all_arrived(const struct team_segment *s, uint32_t sequence)
{
    if (is_pair(s))
        return pair_at(s, sequence, STAGE_ARRIVED);
    uint64_t word = arrived(s, sequence);
    return word >> 32 == sequence && (word & 0xffff) == (uint64_t)s->members;
}

int segment_last(const struct team_segment *s, uint32_t sequence)
{
    bool known = !is_pair(s) && segment_all_arrived(s, sequence);
    return known ? (int)(arrived(s, sequence) >> 16 & 0xffff) : -1;
}

/* ---- going on -------------------------------------------------------------------------------- */

void segment_release(const struct team_segment *s, uint32_t sequence)
{
    struct slot *slot = slot_of(s, sequence);
    atomic_store_explicit(&slot->released, sequence, memory_order_release);
    ring_bell(s, slot);
}

bool segment_is_released(const struct team_segment *s, uint32_t sequence)
{
    return atomic_load_explicit(&slot_of(s, sequence)->released, memory_order_acquire) == sequence;
}

static _Atomic uint32_t *reached(const struct team_segment *s, uint32_t sequence,
                                 enum segment_stage stage)
{
    assert(stage == STAGE_FIRST || stage == STAGE_SECOND);
    return &slot_of(s, sequence)->reached[stage - STAGE_FIRST];
}

void segment_advance(const struct team_segment *s, uint32_t sequence, enum segment_stage stage)
{
    if (is_pair(s)) {
        pair_advance(s, sequence, stage);
        return;
    }
    set_stage(s, sequence, stage);
    if (atomic_fetch_add_explicit(reached(s, sequence, stage), 1, memory_order_acq_rel) + 1 ==
        (uint32_t)s->members)
        ring_bell(s, slot_of(s, sequence));
}

/* Of two members each has rung already. */
void segment_ring(const struct team_segment *s, uint32_t sequence)
{
    if (!is_pair(s))
        ring_bell(s, slot_of(s, sequence));
}

bool segment_all_at(const struct team_segment *s, uint32_t sequence, enum segment_stage stage)
{
    if (is_pair(s))
        return pair_at(s, sequence, stage);
    return atomic_load_explicit(reached(s, sequence, stage), memory_order_acquire) ==
           (uint32_t)s->members;
}

/* Who awaits the others, and who awaits the slot, are woken. */
void segment_leave(const struct team_segment *s, uint32_t sequence)
{
    struct slot *slot = slot_of(s, sequence);
    if (is_pair(s)) {
        pair_leave(s, sequence);
        return;
    }
    set_stage(s, sequence, STAGE_LEFT);
    uint32_t left = atomic_fetch_add_explicit(&slot->left, 1, memory_order_acq_rel) + 1;
    if (left == (uint32_t)s->members) {
        atomic_store_explicit(&slot->reached[0], 0, memory_order_relaxed);
        atomic_store_explicit(&slot->reached[1], 0, memory_order_relaxed);
        atomic_store_explicit(&slot->left, 0, memory_order_relaxed);
        atomic_store_explicit(&slot->arrived, 0, memory_order_release);
    }
    if (left + 1 >= (uint32_t)s->members)
        ring_bell(s, slot);
}

bool segment_others_left(const struct team_segment *s, uint32_t sequence)
{
    if (is_pair(s))
        return pair_other_left(s, sequence);
    return atomic_load_explicit(&slot_of(s, sequence)->left, memory_order_acquire) + 1 ==
           (uint32_t)s->members;
}

/* Of an operation that the caller takes part in. As long as its slot is not that of another one
 * some member may not have come to it; the caller's own card tells whether it has. */
bool segment_has_ended(const struct team_segment *s, uint32_t sequence)
{
    if (is_pair(s))
        return pair_has_ended(s, sequence);
    uint64_t stage =
        atomic_load_explicit(&card_of(s, sequence, s->me)->stage, memory_order_relaxed);
    uint32_t last = (uint32_t)(stage >> 32);
    bool has_come = last != 0 && (int32_t)((last - sequence) << 1) >= 0;
    return has_come && arrived(s, sequence) >> 32 != sequence;
}

/* ---- each other's memory --------------------------------------------------------------------- */

void segment_show(const struct team_segment *s)
{
    struct person *me = &s->memory->persons[s->me];
    me->number = (uint64_t)(uintptr_t)s ^ (uint64_t)getpid() << 48 ^ 0x9e3779b97f4a7c15u;
    me->number_at = (uint64_t)(uintptr_t)&me->number;
    me->pid = (uint64_t)getpid();
    me->joined = barrier_join();
}

/* What stands at that address in another process is not the number when the pid means another one
 * here: the address is that of its own mapping. */
void segment_meet(struct team_segment *s)
{
    bool all = true;
    for (int i = 0; i < s->members; i++)
        all = all && s->memory->persons[i].joined != 0;
    s->fences = !all;
}

bool segment_can_read_all(struct team_segment *s)
{
    for (int i = 0; i < s->members; i++) {
        const struct person person = s->memory->persons[i];
        uint64_t number = 0;
        s->pids[i] = (int32_t)person.pid;
        if (i != s->me && (!segment_read(s, i, &number, person.number_at, sizeof number) ||
                           number != person.number))
            return false;
    }
    return true;
}

bool segment_read(const struct team_segment *s, int member, void *to, uint64_t from, size_t bytes)
{
    uint8_t *at = to;
    while (bytes > 0) {
        union {
            uintptr_t number;
            void *base;
        } remote = {.number = (uintptr_t)from};
        const struct iovec local = {at, bytes}, there = {remote.base, bytes};
        ssize_t n = process_vm_readv(s->pids[member], &local, 1, &there, 1, 0);
        if (n <= 0)
            return false;
        at += n;
        from += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return true;
}
