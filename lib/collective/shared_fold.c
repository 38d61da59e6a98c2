/*
 * shared_fold.c - what members do in reductions and scans through shared memory: the acts of their
 * scripts.
 *
 * Results are formed in the order of ranks, whatever the operation. Small ones are formed by the
 * member that arrives last, so that with more tasks than processors each task runs as few times as
 * possible, and of two members by each for itself. Of others each member forms a part, of what all
 * brought to the segment, or by reading pieces of their arrays.
 */
#include "lib/collective/shared_act.h"
#include "lib/msg/error.h"
#include "lib/msg/spare.h"

#include <stdlib.h>

#define CACHED_BYTES ((size_t)8 * 1024) /* of a result that is formed at once */
#define PIECE_BYTES ((size_t)32 * 1024) /* that are read at once for a reduction */

static void apply(const struct shared_job *job, const void *left, const void *right, void *result,
                  size_t count)
{
    op_apply(job->team->vm, job->call.op, job->call.type,
             &(struct operands){left, right, result, count});
}

size_t fold_elements_in(const struct shared_job *job, size_t bytes)
{
    size_t grain = op_grain(job->team->vm, job->call.op),
           elements = bytes / width(job) / grain * grain;
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
        start += job->call.counts[i];
    return start;
}

/* Elements of a member's part, whole grains. */
struct part_of_all {
    size_t first, count;
};

static struct part_of_all part_of(const struct shared_job *job, int member)
{
    if (job->call.counts != NULL)
        return (struct part_of_all){part_start(job, member), job->call.counts[member]};
    size_t grain = op_grain(job->team->vm, job->call.op), grains = elements(job) / grain;
    size_t n = (size_t)members(job), at = (size_t)member;
    size_t first = grains / n * at + grains % n * at / n;
    size_t end = grains / n * (at + 1) + grains % n * (at + 1) / n;
    return (struct part_of_all){first * grain, (end - first) * grain};
}

/* ---- what passes through the segment --------------------------------------------------------- */

static uint8_t *common_result(const struct shared_job *job)
{
    if (job->beside_card)
        return segment_short_result(job->segment, job->sequence);
    return (job->size == SHARED_MEDIUM ? segment_large_result : segment_result)(job->segment,
                                                                                job->sequence);
}

/* What a member brought. The own array is where it was, unless the result goes there. */
static const uint8_t *brought(const struct shared_job *job, int member)
{
    bool own = member == job->segment->me && job->call.send != job->call.recv;
    return own ? (const uint8_t *)job->call.send + job->piece.first : area(job, member);
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

/* Of the members before `end`. */
static int check_calls(const struct shared_job *job, int end)
{
    int result = ACT_DONE;
    for (int i = 0; i < end && result == ACT_DONE; i++)
        result = shared_check_call(job, i);
    return result;
}

/* A part of what the members before `end` brought, in their order; they have arrived. */
static int fold_areas(const struct shared_job *job, int end, struct part_of_all part,
                      uint8_t *result)
{
    size_t step = fold_elements_in(job, CACHED_BYTES);
    int called = check_calls(job, end);
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

int fold_here(struct shared_job *job)
{
    return fold_all_of(job, members(job), (uint8_t *)job->call.recv + job->piece.first);
}

/* Whoever arrived last does so for all. */
int fold_if_last(struct shared_job *job)
{
    if (segment_last(job->segment, job->sequence) != job->segment->me)
        return ACT_DONE;
    int result = fold_all_of(job, members(job), common_result(job));
    if (result == ACT_DONE)
        segment_release(job->segment, job->sequence);
    return result;
}

int fold_take_result(struct shared_job *job)
{
    take((uint8_t *)job->call.recv + job->piece.first, common_result(job), job->piece.bytes);
    return ACT_DONE;
}

int fold_take_result_part(struct shared_job *job)
{
    int me = job->segment->me;
    take(job->call.recv, common_result(job) + part_start(job, me) * width(job),
         job->call.counts[me] * width(job));
    return ACT_DONE;
}

int fold_prefix(struct shared_job *job)
{
    return fold_all_of(job, job->segment->me + 1, job->call.recv);
}

/* Of larger arrays each member folds a part, for all or for itself. */
int fold_common_part(struct shared_job *job)
{
    struct part_of_all part = part_of(job, job->segment->me);
    return fold_areas(job, members(job), part, common_result(job) + part.first * width(job));
}

int fold_own_block(struct shared_job *job)
{
    return fold_areas(job, members(job), part_of(job, job->segment->me), job->call.recv);
}

/* The first has no result. */
int fold_before(struct shared_job *job)
{
    return job->segment->me == 0 ? ACT_DONE : fold_all_of(job, job->segment->me, job->call.recv);
}

/* ---- large arrays ---------------------------------------------------------------------------- */

/* Some elements of all arrays, in the order of ranks; scratch is twice as large. Where the own
 * array is where the result goes, its piece is put aside first. */
static int fold_piece(const struct shared_job *job, size_t first, size_t count, uint8_t *result,
                      uint8_t *scratch)
{
    size_t bytes = count * width(job), at = first * width(job);
    const uint8_t *own = (const uint8_t *)job->call.send + at;
    int done = ACT_DONE;
    if (own == result) {
        take(scratch + bytes, own, bytes);
        own = scratch + bytes;
    }
    for (int i = 0; i < members(job) && done == ACT_DONE; i++) {
        bool mine = i == job->segment->me;
        if (!mine)
            done = shared_read(job, i, i == 0 ? result : scratch, false, at, bytes);
        else if (i == 0)
            take(result, own, bytes);
        if (done == ACT_DONE && i > 0)
            apply(job, result, mine ? own : scratch, result, count);
    }
    return done;
}

static int fold_part(struct shared_job *job, struct part_of_all part, uint8_t *result)
{
    size_t step = fold_elements_in(job, PIECE_BYTES);
    int done = check_calls(job, members(job));
    uint8_t *scratch = spare_take(2 * step * width(job));
    if (scratch == NULL)
        return error_code(COVEY_ENOMEM);
    for (size_t at = 0; at < part.count && done == ACT_DONE; at += step) {
        size_t count = part.count - at < step ? part.count - at : step;
        done = fold_piece(job, part.first + at, count, result + at * width(job), scratch);
    }
    spare_give(scratch);
    return done;
}

/* The own part to its place in the result. */
int fold_own_part(struct shared_job *job)
{
    struct part_of_all part = part_of(job, job->segment->me);
    uint8_t *result = job->call.recv;
    return fold_part(job, part,
                     job->call.counts != NULL ? result : result + part.first * width(job));
}

/* Where the root alone has a result, the others form their parts in memory of their own, which the
 * card tells. */
int fold_part_aside(struct shared_job *job)
{
    return fold_part(job, part_of(job, job->segment->me), job->memory);
}

int fold_arrive_aside(struct shared_job *job)
{
    struct part_of_all part = part_of(job, job->segment->me);
    int result = shared_take_memory(job, part.count * width(job));
    if (result == ACT_DONE)
        shared_arrive(job, job->call.send, job->memory);
    return result;
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
            result = shared_read(job, member, (uint8_t *)job->call.recv + at, true, whole ? at : 0,
                                 part.count * width(job));
    }
    return result;
}

int fold_read_results(struct shared_job *job)
{
    return read_parts(job, true);
}

int fold_read_parts_aside(struct shared_job *job)
{
    return read_parts(job, false);
}

/* ---- prefixes of large arrays: from one member to the next ----------------------------------- */

/* Where the inclusive result comes about, which the next member reads, and the exclusive one. */
static uint8_t *inclusive(const struct shared_job *job)
{
    return job->call.kind == SHARED_EXSCAN ? job->memory : job->call.recv;
}

static uint8_t *exclusive(const struct shared_job *job)
{
    if (job->call.send != job->call.recv)
        return job->call.recv;
    return job->call.kind == SHARED_EXSCAN ? job->memory + job->bytes : job->memory;
}

int fold_arrive_in_chain(struct shared_job *job)
{
    int result = shared_take_memory(job, 2 * job->bytes);
    if (result == ACT_DONE)
        shared_arrive(job, NULL, inclusive(job));
    return result;
}

int fold_with_previous(struct shared_job *job)
{
    int me = job->segment->me, result = ACT_DONE;
    if (me == 0) {
        take(inclusive(job), job->call.send, job->bytes);
        return result;
    }
    result = shared_check_call(job, me - 1);
    if (result == ACT_DONE)
        result = shared_read(job, me - 1, exclusive(job), true, 0, job->bytes);
    if (result == ACT_DONE)
        apply(job, exclusive(job), job->call.send, inclusive(job), job->call.count);
    return result;
}

/* Of one that was sent from where it is to be. */
int fold_take_exclusive(struct shared_job *job)
{
    if (job->call.kind == SHARED_EXSCAN && job->segment->me > 0)
        take(job->call.recv, exclusive(job), job->bytes);
    return ACT_DONE;
}
