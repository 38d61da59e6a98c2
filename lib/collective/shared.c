/*
 * shared.c - what each member does in a collective call through shared memory: a script of acts for
 * each operation, small and large, root and others. Acts of reductions are in shared_fold.c, those
 * of boxes in shared_boxes.c.
 *
 * What passes through the segment is copied twice, but by plain copies, and a member that only
 * brings something goes on at once.
 */
#include "lib/collective/shared.h"
#include "lib/collective/shared_act.h"
#include "lib/msg/error.h"
#include "lib/msg/spare.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define PAIR_BYTES ((size_t)32 * 1024) /* that two members bring at most, see size_of() */

/* ---- what every member says of its call ------------------------------------------------------ */

/* Members whose calls differ must not wait for, or read, what the others do not mean. */
static uint64_t what_is_called(const struct shared_job *job)
{
    return (uint64_t)job->bytes << 16 ^ (uint64_t)job->call.kind << 8 ^
           (uint64_t)(job->call.op & 0xff) ^ (uint64_t)job->call.root << 56 ^
           (uint64_t)job->call.type << 48;
}

int shared_check_call(const struct shared_job *job, int member)
{
    if (segment_what(job->segment, job->sequence, member) == job->what)
        return ACT_DONE;
    return error_set(COVEY_ETRUNC,
                     "%s: the calls of two members differ in size, type, operation or root",
                     job->call.name);
}

uint32_t shared_before(const struct shared_job *job)
{
    if (job->size == SHARED_SMALL)
        return job->piece.before[0];
    if (job->size == SHARED_LARGE)
        return 0;
    size_t number = job->piece.first / job->piece.most;
    return number < SEGMENT_LARGES ? job->piece.before[number]
                                   : segment_later(job->sequence, -SEGMENT_LARGES);
}

/* ---- acts that wait -------------------------------------------------------------------------- */

static int await_slot(struct shared_job *job)
{
    uint32_t before = shared_before(job);
    bool free = segment_is_free(job->segment, job->sequence) &&
                (before == 0 || segment_has_ended(job->segment, before));
    return free ? ACT_DONE : ACT_WAITS;
}

static int await_all(struct shared_job *job)
{
    return segment_all_arrived(job->segment, job->sequence) ? ACT_DONE : ACT_WAITS;
}

/* All before this one. */
static int await_lower(struct shared_job *job)
{
    bool all = true;
    for (int i = 0; i < job->segment->me && all; i++)
        all = segment_is_at(job->segment, job->sequence, i, STAGE_ARRIVED);
    return all ? ACT_DONE : ACT_WAITS;
}

static int await_root(struct shared_job *job)
{
    return segment_is_at(job->segment, job->sequence, job->call.root, STAGE_ARRIVED) ? ACT_DONE
                                                                                     : ACT_WAITS;
}

/* The one before this one has its result. */
static int await_previous(struct shared_job *job)
{
    int previous = job->segment->me - 1;
    return previous < 0 || segment_is_at(job->segment, job->sequence, previous, STAGE_FIRST)
               ? ACT_DONE
               : ACT_WAITS;
}

/* The one behind this one has read it. */
static int await_next(struct shared_job *job)
{
    int next = job->segment->me + 1;
    return next == job->segment->members ||
                   segment_is_at(job->segment, job->sequence, next, STAGE_FIRST)
               ? ACT_DONE
               : ACT_WAITS;
}

static int await_release(struct shared_job *job)
{
    return segment_is_released(job->segment, job->sequence) ? ACT_DONE : ACT_WAITS;
}

static int await_first(struct shared_job *job)
{
    return segment_all_at(job->segment, job->sequence, STAGE_FIRST) ? ACT_DONE : ACT_WAITS;
}

static int await_second(struct shared_job *job)
{
    return segment_all_at(job->segment, job->sequence, STAGE_SECOND) ? ACT_DONE : ACT_WAITS;
}

static int await_others_left(struct shared_job *job)
{
    return segment_others_left(job->segment, job->sequence) ? ACT_DONE : ACT_WAITS;
}

bool shared_may_go_on(struct shared_job *job)
{
    return (*job->at)(job) != ACT_WAITS;
}

/* ---- arriving and leaving -------------------------------------------------------------------- */

void shared_arrive(struct shared_job *job, const void *from, const void *to)
{
    const struct segment_card card = {job->what, (uint64_t)(uintptr_t)from,
                                      (uint64_t)(uintptr_t)to};
    segment_put_card(job->segment, job->sequence, &card);
    segment_arrive(job->segment, job->sequence);
}

int shared_take_memory(struct shared_job *job, size_t bytes)
{
    job->memory = spare_take(bytes);
    return job->memory == NULL ? error_code(COVEY_ENOMEM) : ACT_DONE;
}

/* The piece of each of so many blocks goes to the own area, one behind the other. */
static void bring_blocks(const struct shared_job *job, size_t n)
{
    const struct shared_piece *piece = &job->piece;
    assert(n * piece->bytes <= (job->size == SHARED_MEDIUM ? SEGMENT_LARGE : SEGMENT_AREA));
    uint8_t *own = area(job, job->segment->me);
    for (size_t i = 0; i < n && piece->bytes > 0; i++)
        take(own + i * piece->bytes,
             (const uint8_t *)job->call.send + i * job->bytes + piece->first, piece->bytes);
}

static int arrive(struct shared_job *job)
{
    if (job->size != SHARED_LARGE)
        bring_blocks(job, 1);
    shared_arrive(job, job->call.send, job->call.recv);
    return ACT_DONE;
}

/* Nobody else needs what is sent; the caller itself only where the result goes to its place. */
static int arrive_alone(struct shared_job *job)
{
    if (job->call.send == job->call.recv)
        bring_blocks(job, 1);
    shared_arrive(job, job->call.send, job->call.recv);
    return ACT_DONE;
}

/* With a block for every member. */
static int arrive_with_blocks(struct shared_job *job)
{
    if (job->size != SHARED_LARGE)
        bring_blocks(job, (size_t)members(job));
    shared_arrive(job, job->call.send, job->call.recv);
    return ACT_DONE;
}

/* Where the result goes to the place of what is sent, while others read that: a copy of it. */
static int arrive_with_copy(struct shared_job *job)
{
    bool column = job->call.kind == SHARED_ALLTOALL;
    size_t bytes = job->bytes * (column ? (size_t)members(job) : 1);
    if (job->call.send == job->call.recv) {
        int error = shared_take_memory(job, bytes);
        if (error != ACT_DONE)
            return error;
        memcpy(job->memory, job->call.send, bytes);
        job->call.send = job->memory;
    }
    return arrive(job);
}

static int release(struct shared_job *job)
{
    segment_release(job->segment, job->sequence);
    return ACT_DONE;
}

static int reach_first(struct shared_job *job)
{
    segment_advance(job->segment, job->sequence, STAGE_FIRST);
    return ACT_DONE;
}

static int reach_second(struct shared_job *job)
{
    segment_advance(job->segment, job->sequence, STAGE_SECOND);
    return ACT_DONE;
}

/* Some wait for this one alone. */
static int ring(struct shared_job *job)
{
    segment_ring(job->segment, job->sequence);
    return ACT_DONE;
}

static int leave(struct shared_job *job)
{
    segment_leave(job->segment, job->sequence);
    return ACT_DONE;
}

/* ---- taking what others brought -------------------------------------------------------------- */

int shared_read(const struct shared_job *job, int member, void *to, bool its_result, size_t at,
                size_t bytes)
{
    const struct segment_card card = segment_get_card(job->segment, job->sequence, member);
    if (segment_read(job->segment, member, to, (its_result ? card.to : card.from) + at, bytes))
        return ACT_DONE;
    return error_set(COVEY_ENOTASK, "%s: a member ended, or its memory cannot be read",
                     job->call.name);
}

/* The piece of a block of its, out of its area, or of its memory. */
static int take_block(const struct shared_job *job, int member, size_t block, uint8_t *to)
{
    const struct shared_piece *piece = &job->piece;
    size_t at = block * job->bytes + piece->first;
    int result = shared_check_call(job, member);
    if (result == ACT_DONE && member == job->segment->me)
        take(to + piece->first, (const uint8_t *)job->call.send + at, piece->bytes);
    else if (result == ACT_DONE && job->size != SHARED_LARGE)
        take(to + piece->first, area(job, member) + block * piece->bytes, piece->bytes);
    else if (result == ACT_DONE && piece->bytes > 0)
        result = shared_read(job, member, to + piece->first, false, at, piece->bytes);
    return result;
}

static int take_root(struct shared_job *job)
{
    return take_block(job, job->call.root, 0, job->call.recv);
}

/* The own block of the root's. */
static int take_part(struct shared_job *job)
{
    return take_block(job, job->call.root, (size_t)job->segment->me, job->call.recv);
}

/* Beginning behind the own place, so that not all read of one member at once. */
static int take_blocks(struct shared_job *job, size_t block)
{
    int result = ACT_DONE, n = members(job);
    for (int i = 0; i < n && result == ACT_DONE; i++) {
        int member = (job->segment->me + i) % n;
        result =
            take_block(job, member, block, (uint8_t *)job->call.recv + (size_t)member * job->bytes);
    }
    return result;
}

static int take_all(struct shared_job *job)
{
    return take_blocks(job, 0);
}

/* Of each member the block that is for this one. */
static int take_column(struct shared_job *job)
{
    return take_blocks(job, (size_t)job->segment->me);
}

/* ---- scripts --------------------------------------------------------------------------------- */

#define SCRIPT(name, ...) static shared_act *const name[] = {__VA_ARGS__, NULL}

SCRIPT(barrier, await_slot, arrive, await_all, leave);
SCRIPT(give, await_slot, arrive, ring, leave);
SCRIPT(give_large, await_slot, arrive, ring, await_others_left, leave);
SCRIPT(get, await_root, take_root, leave);
SCRIPT(give_blocks, await_slot, arrive_with_blocks, ring, take_part, leave);
SCRIPT(give_blocks_large, await_slot, arrive, ring, take_part, await_others_left, leave);
SCRIPT(get_block, await_root, take_part, leave);
SCRIPT(bring, await_slot, arrive, leave);
SCRIPT(bring_large, await_slot, arrive, await_release, leave);
SCRIPT(collect, await_slot, arrive, await_all, take_all, leave);
SCRIPT(collect_large, await_slot, arrive, await_all, take_all, release, leave);
SCRIPT(fold, await_slot, arrive_alone, await_all, fold_here, leave);
SCRIPT(bring_part, await_slot, fold_arrive_aside, await_all, fold_part_aside, reach_first,
       await_release, leave);
SCRIPT(fold_large, await_slot, arrive, await_all, fold_own_part, reach_first, await_first,
       fold_read_parts_aside, release, leave);
SCRIPT(fold_each, await_slot, arrive, await_all, fold_here, leave);
SCRIPT(fold_all, await_slot, arrive, fold_if_last, await_release, fold_take_result, leave);
SCRIPT(fold_all_large, await_slot, arrive, await_all, fold_own_part, reach_first, await_first,
       fold_read_results, reach_second, await_second, leave);
SCRIPT(fold_all_medium, await_slot, arrive, await_all, fold_common_part, reach_first, await_first,
       fold_take_result, leave);
SCRIPT(gather_all_large, await_slot, arrive, await_all, take_all, reach_first, await_first, leave);
SCRIPT(fold_blocks, await_slot, arrive, fold_if_last, await_release, fold_take_result_part, leave);
SCRIPT(fold_blocks_medium, await_slot, arrive, await_all, fold_own_block, leave);
SCRIPT(fold_blocks_large, await_slot, arrive_with_copy, await_all, fold_own_part, reach_first,
       await_first, leave);
SCRIPT(prefix, await_slot, arrive, ring, await_lower, fold_prefix, leave);
SCRIPT(prefix_before, await_slot, arrive, ring, await_lower, fold_before, leave);
SCRIPT(prefix_large, await_slot, fold_arrive_in_chain, await_previous, fold_with_previous,
       reach_first, ring, await_next, fold_take_exclusive, leave);
SCRIPT(transpose, await_slot, arrive_with_blocks, await_all, take_column, leave);
SCRIPT(transpose_large, await_slot, arrive_with_copy, await_all, take_column, reach_first,
       await_first, leave);
SCRIPT(transpose_by_boxes, boxes_await_turn, arrive, boxes_own_block, boxes_await, boxes_exchange,
       boxes_end, leave);

#define BOTH(script)                                                                               \
    {                                                                                              \
        script, script                                                                             \
    }

/* [root or others] */
static shared_act *const *const scripts[][SHARED_LARGE + 1][2] = {
    [SHARED_BARRIER] = {BOTH(barrier), BOTH(barrier), BOTH(barrier)},
    [SHARED_BCAST] = {{give, get}, {give, get}, {give_large, get}},
    [SHARED_REDUCE] = {{fold, bring}, {fold, bring}, {fold_large, bring_part}},
    [SHARED_ALLREDUCE] = {BOTH(fold_all), BOTH(fold_all_medium), BOTH(fold_all_large)},
    [SHARED_ALLGATHER] = {BOTH(collect), BOTH(collect), BOTH(gather_all_large)},
    [SHARED_GATHER] = {{collect, bring}, {collect, bring}, {collect_large, bring_large}},
    [SHARED_SCATTER] = {{give_blocks, get_block},
                        {give_blocks, get_block},
                        {give_blocks_large, get_block}},
    [SHARED_REDUCE_SCATTER] = {BOTH(fold_blocks), BOTH(fold_blocks_medium),
                               BOTH(fold_blocks_large)},
    [SHARED_SCAN] = {BOTH(prefix), BOTH(NULL), BOTH(prefix_large)},
    [SHARED_EXSCAN] = {BOTH(prefix_before), BOTH(NULL), BOTH(prefix_large)},
    [SHARED_ALLTOALL] = {BOTH(transpose), BOTH(transpose), BOTH(transpose_large)},
};

static size_t blocks_brought(const struct shared_job *job)
{
    bool blocks = job->call.kind == SHARED_SCATTER || job->call.kind == SHARED_ALLTOALL;
    return blocks ? (size_t)members(job) : 1;
}

static bool folds(const struct shared_job *job)
{
    return job->call.kind == SHARED_REDUCE || job->call.kind == SHARED_ALLREDUCE ||
           job->call.kind == SHARED_REDUCE_SCATTER;
}

/* Bytes of a block that pass through large areas at once; 0: they do not hold as many. */
static size_t piece_most(const struct shared_job *job)
{
    size_t most = SEGMENT_LARGE / blocks_brought(job);
    if (!folds(job))
        return most;
    most = fold_elements_in(job, most) * width(job);
    return most <= SEGMENT_LARGE ? most : 0;
}

/* By which way a call goes, by measurement: of more than two members that copy each other's memory
 * all are slower than with pieces that stay in caches, of two it is one that copies once. What
 * cannot be read otherwise goes through the segment as long as it fits. */
static enum shared_size size_of(const struct shared_job *job)
{
    uint64_t brings = (uint64_t)job->bytes * blocks_brought(job);
    bool pair = members(job) == 2;
    if (brings <= SEGMENT_AREA)
        return SHARED_SMALL;
    if (scripts[job->call.kind][SHARED_MEDIUM][0] == NULL)
        return SHARED_LARGE;
    size_t most = piece_most(job);
    if (job->bytes <= most)
        return pair && !folds(job) && brings > PAIR_BYTES && job->segment->readable ? SHARED_LARGE
                                                                                    : SHARED_MEDIUM;
    bool all_read = job->call.kind == SHARED_BCAST || job->call.kind == SHARED_ALLREDUCE ||
                    job->call.kind == SHARED_ALLGATHER;
    bool pieces = job->call.kind == SHARED_REDUCE || (all_read && !pair);
    return pieces && most > 0 && job->team->hosts == 1 ? SHARED_MEDIUM : SHARED_LARGE;
}

uint32_t shared_plan(struct shared_job *job, struct covey_team *team)
{
    job->team = team;
    job->segment = team->shared.segment;
    job->bytes = job->call.kind == SHARED_BARRIER ? 0 : job->call.count * width(job);
    job->what = what_is_called(job);
    job->size = size_of(job);
    assert(job->size != SHARED_LARGE || job->segment->readable);
    job->beside_card =
        job->size == SHARED_SMALL && job->bytes * blocks_brought(job) <= SEGMENT_SHORT;
    job->piece.bytes = job->bytes;
    if (job->size != SHARED_MEDIUM)
        return 1;
    job->piece.most = piece_most(job);
    if (job->bytes > job->piece.most)
        job->piece.bytes = job->piece.most;
    return (uint32_t)((job->bytes + job->piece.most - 1) / job->piece.most);
}

/* Long blocks of an alltoall do where members wait for processors anyway: there that takes two
 * thirds of the time of reading each other's memory, or half of it, whether pages are large or
 * small. */
bool shared_uses_boxes(const struct shared_job *job)
{
    return job->call.kind == SHARED_ALLTOALL && job->size == SHARED_LARGE &&
           job->segment->crowded && job->segment->boxes.base != NULL;
}

static shared_act *const *script_of(const struct shared_job *job)
{
    if (shared_uses_boxes(job))
        return transpose_by_boxes;
    /* Of two members each can fold at once what both brought. */
    if (members(job) == 2 && job->size == SHARED_SMALL && job->call.kind == SHARED_ALLREDUCE)
        return fold_each;
    if (members(job) == 2 && job->size == SHARED_SMALL && job->call.kind == SHARED_REDUCE_SCATTER)
        return fold_blocks_medium;
    return scripts[job->call.kind][job->size][is_root(job) ? 0 : 1];
}

void shared_number(struct shared_job *job, uint32_t call, int part)
{
    const struct shared_piece *piece = &job->piece;
    job->sequence = segment_sequence(call, part);
    job->at = script_of(job);
    job->piece.before[0] = 0;
    if (job->size == SHARED_SMALL && !job->beside_card)
        job->piece.before[0] = segment_take_area(job->segment, job->sequence);
    else if (shared_uses_boxes(job))
        job->turn = boxes_take_turn(&job->segment->boxes);
    else if (job->size == SHARED_MEDIUM)
        segment_take_large(job->segment, job->sequence,
                           (uint32_t)((job->bytes + piece->most - 1) / piece->most),
                           job->piece.before);
}

/* If there is one. */
static void begin_next_piece(struct shared_job *job)
{
    struct shared_piece *piece = &job->piece;
    size_t first = piece->first + piece->bytes, left = job->bytes - first;
    if (left == 0)
        return;
    piece->first = first;
    piece->bytes = left < piece->most ? left : piece->most;
    job->sequence = segment_later(job->sequence, 1);
    job->at = script_of(job);
}

int shared_go_on(struct shared_job *job)
{
    int result = ACT_DONE;
    while (result == ACT_DONE && *job->at != NULL) {
        result = (*job->at)(job);
        if (result == ACT_DONE)
            job->at++;
        if (*job->at == NULL)
            begin_next_piece(job);
    }
    return result;
}

void shared_end(struct shared_job *job)
{
    spare_give(job->memory);
    job->memory = NULL;
}

/* What the act that is next waits for, that member will not do any more. Who left has done all; so
 * has, of a slot that is not free, whoever is not in the operation that has it, and those of an
 * operation to come will miss the one that ended. */
bool shared_waits_in_vain(const struct shared_job *job, int member)
{
    shared_act *act = *job->at;
    uint32_t before = act == await_slot ? shared_before(job) : 0;
    if (before != 0 && !segment_has_ended(job->segment, before))
        return segment_stage_of(job->segment, before, member) != STAGE_LEFT;
    enum segment_stage stage = segment_stage_of(job->segment, job->sequence, member);
    if (act == NULL || stage == STAGE_LEFT || (*act)((struct shared_job *)job) != ACT_WAITS)
        return false;
    if (act == await_release &&
        scripts[job->call.kind][SHARED_SMALL][0] != scripts[job->call.kind][SHARED_SMALL][1])
        return member == job->call.root;
    if (act == await_root)
        return member == job->call.root;
    if (act == await_release)
        return stage == STAGE_ABSENT || segment_last(job->segment, job->sequence) == member;
    if (act == await_all)
        return stage == STAGE_ABSENT;
    if (act == await_lower)
        return stage == STAGE_ABSENT && member < job->segment->me;
    if (act == boxes_await)
        return boxes_owe(job, member);
    if (act == await_previous)
        return stage < STAGE_FIRST && member < job->segment->me;
    if (act == await_next)
        return stage < STAGE_FIRST && member == job->segment->me + 1;
    if (act == await_first)
        return stage < STAGE_FIRST;
    if (act == await_second)
        return stage < STAGE_SECOND;
    return true;
}
