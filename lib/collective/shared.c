/*
 * shared.c - what each member does in a collective call through shared memory: a script of acts for
 * each operation, small and large, root and others.
 *
 * Results of reductions are formed in the order of ranks, whatever the operation. Small ones by the
 * member that arrives last, so that with more tasks than processors each task runs as few times as
 * possible; of others each member forms a part, of what all brought to the segment, or by reading
 * pieces of their arrays. What passes through the segment is copied twice, but by plain copies, and
 * who only brings something goes on at once.
 */
#include "lib/collective/shared.h"
#include "lib/msg/error.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define CACHED_BYTES ((size_t)8 * 1024) /* of a result that is formed at once */
#define PAIR_BYTES ((size_t)32 * 1024)  /* of two members, see brings_most() */
#define PIECE_BYTES ((size_t)32 * 1024) /* that are read at once for a reduction */

static size_t width(const struct shared_job *job)
{
    return covey_type_size(job->type);
}

static int members(const struct shared_job *job)
{
    return job->segment->members;
}

static bool is_root(const struct shared_job *job)
{
    return job->root == job->segment->me;
}

static uint8_t *area(const struct shared_job *job, int member)
{
    return (job->size == SHARED_MEDIUM ? segment_large_area : segment_area)(job->segment,
                                                                            job->sequence, member);
}

static uint8_t *common_result(const struct shared_job *job)
{
    return (job->size == SHARED_MEDIUM ? segment_large_result : segment_result)(job->segment,
                                                                                job->sequence);
}

/* ---- what every member says of its call --------------------------------------------------------
 */

/* Members whose calls differ must not wait for, or read, what the others do not mean. */
static uint64_t what_is_called(const struct shared_job *job)
{
    return (uint64_t)job->bytes << 16 ^ (uint64_t)job->kind << 8 ^ (uint64_t)(job->op & 0xff) ^
           (uint64_t)job->root << 56 ^ (uint64_t)job->type << 48;
}

static int check_call(const struct shared_job *job, int member)
{
    const struct segment_card card = segment_get_card(job->segment, job->sequence, member);
    if (card.what == what_is_called(job))
        return ACT_DONE;
    return error_set(COVEY_ETRUNC,
                     "%s: the calls of two members differ in size, type, operation or root",
                     job->name);
}

static int check_calls(const struct shared_job *job)
{
    int result = ACT_DONE;
    for (int i = 0; i < members(job) && result == ACT_DONE; i++)
        result = check_call(job, i);
    return result;
}

static uint64_t address(const void *at)
{
    return (uint64_t)(uintptr_t)at;
}

uint32_t shared_before(const struct shared_job *job)
{
    if (job->size != SHARED_MEDIUM)
        return 0;
    size_t number = job->piece.first / job->piece.most;
    return number < SEGMENT_LARGES ? job->piece.before[number]
                                   : segment_later(job->sequence, -SEGMENT_LARGES);
}

/* ---- acts that wait ----------------------------------------------------------------------------
 */

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
        all = segment_stage_of(job->segment, job->sequence, i) >= STAGE_ARRIVED;
    return all ? ACT_DONE : ACT_WAITS;
}

/* The one before this one has its result. */
static int await_previous(struct shared_job *job)
{
    int previous = job->segment->me - 1;
    return previous < 0 || segment_stage_of(job->segment, job->sequence, previous) >= STAGE_FIRST
               ? ACT_DONE
               : ACT_WAITS;
}

/* The one behind this one has read it. */
static int await_next(struct shared_job *job)
{
    int next = job->segment->me + 1;
    return next == job->segment->members ||
                   segment_stage_of(job->segment, job->sequence, next) >= STAGE_FIRST
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

/* ---- arriving and leaving ----------------------------------------------------------------------
 */

static void arrive_with_card(struct shared_job *job)
{
    const struct segment_card card = {what_is_called(job), address(job->send), address(job->recv)};
    segment_put_card(job->segment, job->sequence, &card);
    segment_arrive(job->segment, job->sequence);
}

/* The piece of each of so many blocks goes to the own area, one behind the other. */
static void bring_blocks(const struct shared_job *job, size_t n)
{
    const struct shared_piece *piece = &job->piece;
    assert(n * piece->bytes <= (job->size == SHARED_MEDIUM ? SEGMENT_LARGE : SEGMENT_AREA));
    for (size_t i = 0; i < n && piece->bytes > 0; i++)
        memcpy(area(job, job->segment->me) + i * piece->bytes,
               (const uint8_t *)job->send + i * job->bytes + piece->first, piece->bytes);
}

static int arrive(struct shared_job *job)
{
    if (job->size != SHARED_LARGE)
        bring_blocks(job, 1);
    arrive_with_card(job);
    return ACT_DONE;
}

/* Nobody else needs what is sent; the caller itself only where the result goes to its place. */
static int arrive_alone(struct shared_job *job)
{
    if (job->send == job->recv)
        bring_blocks(job, 1);
    arrive_with_card(job);
    return ACT_DONE;
}

/* With a block for every member. */
static int arrive_with_blocks(struct shared_job *job)
{
    if (job->size != SHARED_LARGE)
        bring_blocks(job, (size_t)members(job));
    arrive_with_card(job);
    return ACT_DONE;
}

/* Where the result goes to the place of what is sent, while others read that: a copy of it. */
static int arrive_with_copy(struct shared_job *job)
{
    bool column = job->kind == SHARED_ALLTOALL;
    size_t bytes = job->bytes * (column ? (size_t)members(job) : 1);
    if (job->send == job->recv) {
        job->memory = malloc(bytes + 1);
        if (job->memory == NULL)
            return error_code(COVEY_ENOMEM);
        memcpy(job->memory, job->send, bytes);
        job->send = job->memory;
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

/* ---- taking what others brought ----------------------------------------------------------------
 */

static void take(void *to, const void *from, size_t bytes)
{
    if (bytes > 0 && to != from)
        memmove(to, from, bytes);
}

/* So many bytes of what a member has, `at` bytes behind what its card says. */
static int read_from(const struct shared_job *job, int member, void *to, bool its_result, size_t at,
                     size_t bytes)
{
    const struct segment_card card = segment_get_card(job->segment, job->sequence, member);
    if (segment_read(job->segment, member, to, (its_result ? card.to : card.from) + at, bytes))
        return ACT_DONE;
    return error_set(COVEY_ENOTASK, "%s: a member ended, or its memory cannot be read", job->name);
}

/* The piece of a block of its, out of its area, or of its memory. */
static int take_block(const struct shared_job *job, int member, size_t block, uint8_t *to)
{
    const struct shared_piece *piece = &job->piece;
    size_t at = block * job->bytes + piece->first;
    int result = check_call(job, member);
    if (result == ACT_DONE && member == job->segment->me)
        take(to + piece->first, (const uint8_t *)job->send + at, piece->bytes);
    else if (result == ACT_DONE && job->size != SHARED_LARGE)
        take(to + piece->first, area(job, member) + block * piece->bytes, piece->bytes);
    else if (result == ACT_DONE && piece->bytes > 0)
        result = read_from(job, member, to + piece->first, false, at, piece->bytes);
    return result;
}

static int take_root(struct shared_job *job)
{
    return take_block(job, job->root, 0, job->recv);
}

/* The own block of the root's. */
static int take_part(struct shared_job *job)
{
    return take_block(job, job->root, (size_t)job->segment->me, job->recv);
}

/* Beginning behind the own place, so that not all read of one member at once. */
static int take_blocks(struct shared_job *job, size_t block)
{
    int result = ACT_DONE, n = members(job);
    for (int i = 0; i < n && result == ACT_DONE; i++) {
        int member = (job->segment->me + i) % n;
        result = take_block(job, member, block, (uint8_t *)job->recv + (size_t)member * job->bytes);
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

/* ---- reductions of what passes through the segment
 * ----------------------------------------------------------------
 */

static void apply(const struct shared_job *job, const void *left, const void *right, void *result,
                  size_t count)
{
    op_apply(job->team->vm, job->op, job->type, &(struct operands){left, right, result, count});
}

/* So many elements, whole grains, at least one. */
static size_t elements_in(const struct shared_job *job, size_t bytes)
{
    size_t grain = op_grain(job->team->vm, job->op), elements = bytes / width(job) / grain * grain;
    return elements == 0 ? grain : elements;
}

/* Of the piece. */
static size_t elements(const struct shared_job *job)
{
    return job->piece.bytes / width(job);
}

static size_t part_start(const struct shared_job *job, int member)
{
    size_t start = 0;
    for (int i = 0; i < member; i++)
        start += job->counts[i];
    return start;
}

/* Elements of a member's part, whole grains. */
struct part_of_all {
    size_t first, count;
};

static struct part_of_all part_of(const struct shared_job *job, int member)
{
    if (job->counts != NULL)
        return (struct part_of_all){part_start(job, member), job->counts[member]};
    size_t grain = op_grain(job->team->vm, job->op), grains = elements(job) / grain;
    size_t n = (size_t)members(job), at = (size_t)member;
    size_t first = grains / n * at + grains % n * at / n;
    size_t end = grains / n * (at + 1) + grains % n * (at + 1) / n;
    return (struct part_of_all){first * grain, (end - first) * grain};
}

/* What a member brought. The own array is where it was, unless the result goes there. */
static const uint8_t *brought(const struct shared_job *job, int member)
{
    bool own = member == job->segment->me && job->send != job->recv;
    return own ? (const uint8_t *)job->send + job->piece.first : area(job, member);
}

static void fold_cached(const struct shared_job *job, int end, struct part_of_all part,
                        uint8_t *result)
{
    size_t at = part.first * width(job);
    if (end == 1)
        take(result, brought(job, 0) + at, part.count * width(job));
    else
        apply(job, brought(job, 0) + at, brought(job, 1) + at, result, part.count);
    for (int i = 2; i < end; i++)
        apply(job, result, brought(job, i) + at, result, part.count);
}

/* A part of what the members before `end` brought, in their order; they have arrived. */
static int fold_areas(const struct shared_job *job, int end, struct part_of_all part,
                      uint8_t *result)
{
    size_t step = elements_in(job, CACHED_BYTES);
    int called = ACT_DONE;
    for (int i = 0; i < end && called == ACT_DONE; i++)
        called = check_call(job, i);
    for (size_t at = 0; at < part.count && called == ACT_DONE; at += step) {
        size_t count = part.count - at < step ? part.count - at : step;
        fold_cached(job, end, (struct part_of_all){part.first + at, count},
                    result + at * width(job));
    }
    return called;
}

static int fold_all_of(const struct shared_job *job, int end, uint8_t *result)
{
    return fold_areas(job, end, (struct part_of_all){0, elements(job)}, result);
}

static int fold_here(struct shared_job *job)
{
    return fold_all_of(job, members(job), (uint8_t *)job->recv + job->piece.first);
}

/* Whoever arrived last does so for all. */
static int fold_if_last(struct shared_job *job)
{
    if (segment_last(job->segment, job->sequence) != job->segment->me)
        return ACT_DONE;
    int result = fold_all_of(job, members(job), common_result(job));
    return result == ACT_DONE ? release(job) : result;
}

static int take_result(struct shared_job *job)
{
    take((uint8_t *)job->recv + job->piece.first, common_result(job), job->piece.bytes);
    return ACT_DONE;
}

static int take_result_part(struct shared_job *job)
{
    int me = job->segment->me;
    take(job->recv, common_result(job) + part_start(job, me) * width(job),
         job->counts[me] * width(job));
    return ACT_DONE;
}

static int fold_prefix(struct shared_job *job)
{
    return fold_all_of(job, job->segment->me + 1, job->recv);
}

/* Of larger arrays each member folds a part, for all or for itself. */
static int fold_common_part(struct shared_job *job)
{
    struct part_of_all part = part_of(job, job->segment->me);
    return fold_areas(job, members(job), part, common_result(job) + part.first * width(job));
}

static int fold_own_block(struct shared_job *job)
{
    return fold_areas(job, members(job), part_of(job, job->segment->me), job->recv);
}

/* The first has no result. */
static int fold_before(struct shared_job *job)
{
    return job->segment->me == 0 ? ACT_DONE : fold_all_of(job, job->segment->me, job->recv);
}

/* ---- reductions of large arrays ----------------------------------------------------------------
 */

/* Some elements of all arrays, in the order of ranks; scratch is twice as large. Where the own
 * array is where the result goes, its piece is put aside first. */
static int fold_piece(const struct shared_job *job, size_t first, size_t count, uint8_t *result,
                      uint8_t *scratch)
{
    size_t bytes = count * width(job), at = first * width(job);
    const uint8_t *own = (const uint8_t *)job->send + at;
    int done = ACT_DONE;
    if (own == result) {
        take(scratch + bytes, own, bytes);
        own = scratch + bytes;
    }
    for (int i = 0; i < members(job) && done == ACT_DONE; i++) {
        bool mine = i == job->segment->me;
        if (!mine)
            done = read_from(job, i, i == 0 ? result : scratch, false, at, bytes);
        else if (i == 0)
            take(result, own, bytes);
        if (done == ACT_DONE && i > 0)
            apply(job, result, mine ? own : scratch, result, count);
    }
    return done;
}

static int fold_part(struct shared_job *job, struct part_of_all part, uint8_t *result)
{
    size_t step = elements_in(job, PIECE_BYTES);
    int done = check_calls(job);
    uint8_t *scratch = malloc(2 * step * width(job));
    if (scratch == NULL)
        return error_code(COVEY_ENOMEM);
    for (size_t at = 0; at < part.count && done == ACT_DONE; at += step) {
        size_t count = part.count - at < step ? part.count - at : step;
        done = fold_piece(job, part.first + at, count, result + at * width(job), scratch);
    }
    free(scratch);
    return done;
}

/* The own part to its place in the result. */
static int fold_own_part(struct shared_job *job)
{
    struct part_of_all part = part_of(job, job->segment->me);
    uint8_t *result = job->recv;
    return fold_part(job, part, job->counts != NULL ? result : result + part.first * width(job));
}

/* Where the root alone has a result, the others form their parts in memory of their own, which the
 * card tells. */
static int fold_part_aside(struct shared_job *job)
{
    return fold_part(job, part_of(job, job->segment->me), job->memory);
}

static int arrive_aside(struct shared_job *job)
{
    struct part_of_all part = part_of(job, job->segment->me);
    job->memory = malloc(part.count * width(job) + 1);
    if (job->memory == NULL)
        return error_code(COVEY_ENOMEM);
    const struct segment_card card = {what_is_called(job), address(job->send),
                                      address(job->memory)};
    segment_put_card(job->segment, job->sequence, &card);
    segment_arrive(job->segment, job->sequence);
    return ACT_DONE;
}

/* The parts of the others; `whole`: they stand at their places in an array as large as the result.
 */
static int read_parts(struct shared_job *job, bool whole)
{
    int result = ACT_DONE, n = members(job);
    for (int i = 1; i < n && result == ACT_DONE; i++) {
        int member = (job->segment->me + i) % n;
        struct part_of_all part = part_of(job, member);
        size_t at = part.first * width(job);
        if (part.count > 0)
            result = read_from(job, member, (uint8_t *)job->recv + at, true, whole ? at : 0,
                               part.count * width(job));
    }
    return result;
}

static int read_results(struct shared_job *job)
{
    return read_parts(job, true);
}

static int read_parts_aside(struct shared_job *job)
{
    return read_parts(job, false);
}

/* ---- prefixes of large arrays: from one member to the next --------------------------------------
 */

/* Where the inclusive result comes about, which the next member reads, and the exclusive one. */
static uint8_t *inclusive(const struct shared_job *job)
{
    return job->kind == SHARED_EXSCAN ? job->memory : job->recv;
}

static uint8_t *exclusive(const struct shared_job *job)
{
    if (job->send != job->recv)
        return job->recv;
    return job->kind == SHARED_EXSCAN ? job->memory + job->bytes : job->memory;
}

static int arrive_in_chain(struct shared_job *job)
{
    job->memory = malloc(2 * job->bytes);
    if (job->memory == NULL)
        return error_code(COVEY_ENOMEM);
    const struct segment_card card = {what_is_called(job), 0, address(inclusive(job))};
    segment_put_card(job->segment, job->sequence, &card);
    segment_arrive(job->segment, job->sequence);
    return ACT_DONE;
}

static int fold_with_previous(struct shared_job *job)
{
    int me = job->segment->me, result = ACT_DONE;
    if (me == 0) {
        take(inclusive(job), job->send, job->bytes);
        return result;
    }
    result = check_call(job, me - 1);
    if (result == ACT_DONE)
        result = read_from(job, me - 1, exclusive(job), true, 0, job->bytes);
    if (result == ACT_DONE)
        apply(job, exclusive(job), job->send, inclusive(job), job->count);
    return result;
}

/* Of one that was sent from where it is to be. */
static int take_exclusive(struct shared_job *job)
{
    if (job->kind == SHARED_EXSCAN && job->segment->me > 0)
        take(job->recv, exclusive(job), job->bytes);
    return ACT_DONE;
}

/* ---- scripts -----------------------------------------------------------------------------------
 */

#define SCRIPT(name, ...) static shared_act *const name[] = {__VA_ARGS__, NULL}

SCRIPT(barrier, await_slot, arrive, await_all, leave);
SCRIPT(give, await_slot, arrive, release, leave);
SCRIPT(give_large, await_slot, arrive, release, await_others_left, leave);
SCRIPT(get, await_release, take_root, leave);
SCRIPT(give_blocks, await_slot, arrive_with_blocks, release, take_part, leave);
SCRIPT(give_blocks_large, await_slot, arrive, release, take_part, await_others_left, leave);
SCRIPT(get_block, await_release, take_part, leave);
SCRIPT(bring, await_slot, arrive, leave);
SCRIPT(bring_large, await_slot, arrive, await_release, leave);
SCRIPT(collect, await_slot, arrive, await_all, take_all, leave);
SCRIPT(collect_large, await_slot, arrive, await_all, take_all, release, leave);
SCRIPT(fold, await_slot, arrive_alone, await_all, fold_here, leave);
SCRIPT(bring_part, await_slot, arrive_aside, await_all, fold_part_aside, reach_first, await_release,
       leave);
SCRIPT(fold_large, await_slot, arrive, await_all, fold_own_part, reach_first, await_first,
       read_parts_aside, release, leave);
SCRIPT(fold_all, await_slot, arrive, fold_if_last, await_release, take_result, leave);
SCRIPT(fold_all_large, await_slot, arrive, await_all, fold_own_part, reach_first, await_first,
       read_results, reach_second, await_second, leave);
SCRIPT(fold_all_medium, await_slot, arrive, await_all, fold_common_part, reach_first, await_first,
       take_result, leave);
SCRIPT(gather_all, await_slot, arrive, await_all, take_all, leave);
SCRIPT(gather_all_large, await_slot, arrive, await_all, take_all, reach_first, await_first, leave);
SCRIPT(fold_blocks, await_slot, arrive, fold_if_last, await_release, take_result_part, leave);
SCRIPT(fold_blocks_medium, await_slot, arrive, await_all, fold_own_block, leave);
SCRIPT(fold_blocks_large, await_slot, arrive_with_copy, await_all, fold_own_part, reach_first,
       await_first, leave);
SCRIPT(prefix, await_slot, arrive, ring, await_lower, fold_prefix, leave);
SCRIPT(prefix_before, await_slot, arrive, ring, await_lower, fold_before, leave);
SCRIPT(prefix_large, await_slot, arrive_in_chain, await_previous, fold_with_previous, reach_first,
       ring, await_next, take_exclusive, leave);
SCRIPT(transpose, await_slot, arrive_with_blocks, await_all, take_column, leave);
SCRIPT(transpose_large, await_slot, arrive_with_copy, await_all, take_column, reach_first,
       await_first, leave);

/* [root or others] */
static shared_act *const *const scripts[][SHARED_LARGE + 1][2] = {
    [SHARED_BARRIER] = {{barrier, barrier}, {barrier, barrier}, {barrier, barrier}},
    [SHARED_BCAST] = {{give, get}, {give, get}, {give_large, get}},
    [SHARED_REDUCE] = {{fold, bring}, {fold, bring}, {fold_large, bring_part}},
    [SHARED_ALLREDUCE] = {{fold_all, fold_all},
                          {fold_all_medium, fold_all_medium},
                          {fold_all_large, fold_all_large}},
    [SHARED_ALLGATHER] = {{gather_all, gather_all},
                          {gather_all, gather_all},
                          {gather_all_large, gather_all_large}},
    [SHARED_GATHER] = {{collect, bring}, {collect, bring}, {collect_large, bring_large}},
    [SHARED_SCATTER] = {{give_blocks, get_block},
                        {give_blocks, get_block},
                        {give_blocks_large, get_block}},
    [SHARED_REDUCE_SCATTER] = {{fold_blocks, fold_blocks},
                               {fold_blocks_medium, fold_blocks_medium},
                               {fold_blocks_large, fold_blocks_large}},
    [SHARED_SCAN] = {{prefix, prefix}, {NULL, NULL}, {prefix_large, prefix_large}},
    [SHARED_EXSCAN] = {{prefix_before, prefix_before}, {NULL, NULL}, {prefix_large, prefix_large}},
    [SHARED_ALLTOALL] = {{transpose, transpose},
                         {transpose, transpose},
                         {transpose_large, transpose_large}},
};

static size_t blocks_brought(const struct shared_job *job)
{
    bool blocks = job->kind == SHARED_SCATTER || job->kind == SHARED_ALLTOALL;
    return blocks ? (size_t)members(job) : 1;
}

static bool folds(const struct shared_job *job)
{
    return job->kind == SHARED_REDUCE || job->kind == SHARED_ALLREDUCE ||
           job->kind == SHARED_REDUCE_SCATTER;
}

/* Bytes of a block that pass through large areas at once; 0: they do not hold as many. */
static size_t piece_most(const struct shared_job *job)
{
    size_t most = SEGMENT_LARGE / blocks_brought(job);
    if (!folds(job))
        return most;
    most = elements_in(job, most) * width(job);
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
    if (scripts[job->kind][SHARED_MEDIUM][0] == NULL)
        return SHARED_LARGE;
    size_t most = piece_most(job);
    if (job->bytes <= most)
        return pair && !folds(job) && brings > PAIR_BYTES && job->segment->readable ? SHARED_LARGE
                                                                                    : SHARED_MEDIUM;
    bool all_read =
        job->kind == SHARED_BCAST || job->kind == SHARED_ALLREDUCE || job->kind == SHARED_ALLGATHER;
    bool pieces = job->kind == SHARED_REDUCE || (all_read && !pair);
    return pieces && most > 0 && job->team->hosts == 1 ? SHARED_MEDIUM : SHARED_LARGE;
}

uint32_t shared_plan(struct shared_job *job, struct covey_team *team)
{
    job->team = team;
    job->segment = team->shared.segment;
    job->bytes = job->kind == SHARED_BARRIER ? 0 : job->count * width(job);
    job->size = size_of(job);
    assert(job->size != SHARED_LARGE || job->segment->readable);
    job->piece.bytes = job->bytes;
    if (job->size != SHARED_MEDIUM)
        return 1;
    job->piece.most = piece_most(job);
    if (job->bytes > job->piece.most)
        job->piece.bytes = job->piece.most;
    return (uint32_t)((job->bytes + job->piece.most - 1) / job->piece.most);
}

static shared_act *const *script_of(const struct shared_job *job)
{
    return scripts[job->kind][job->size][is_root(job) ? 0 : 1];
}

void shared_number(struct shared_job *job, uint32_t call, int part)
{
    const struct shared_piece *piece = &job->piece;
    job->sequence = segment_sequence(call, part);
    job->at = script_of(job);
    if (job->size == SHARED_MEDIUM)
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
    free(job->memory);
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
        scripts[job->kind][SHARED_SMALL][0] != scripts[job->kind][SHARED_SMALL][1])
        return member == job->root;
    if (act == await_release)
        return stage == STAGE_ABSENT || segment_last(job->segment, job->sequence) == member;
    if (act == await_all)
        return stage == STAGE_ABSENT;
    if (act == await_lower)
        return stage == STAGE_ABSENT && member < job->segment->me;
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
