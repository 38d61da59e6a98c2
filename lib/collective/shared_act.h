/*
 * shared_act.h - what the acts in shared.c, shared_fold.c and shared_boxes.c are made of, and
 * the acts of the latter two.
 */
#ifndef COVEY_LIB_COLLECTIVE_SHARED_ACT_H
#define COVEY_LIB_COLLECTIVE_SHARED_ACT_H

#include "lib/collective/shared.h"

#include <string.h>

static inline size_t width(const struct shared_job *job)
{
    return covey_type_size(job->call.type);
}

static inline int members(const struct shared_job *job)
{
    return job->segment->members;
}

static inline bool is_root(const struct shared_job *job)
{
    return job->call.root == job->segment->me;
}

static inline uint8_t *area(const struct shared_job *job, int member)
{
    if (job->beside_card)
        return segment_short_area(job->segment, job->sequence, member);
    return (job->size == SHARED_MEDIUM ? segment_large_area : segment_area)(job->segment,
                                                                            job->sequence, member);
}

/* One number, as short calls have it, needs no call. */
static inline void take(void *to, const void *from, size_t bytes)
{
    uint64_t number;
    if (bytes == sizeof number) {
        memcpy(&number, from, sizeof number);
        memcpy(to, &number, sizeof number);
    } else if (bytes > 0 && to != from) {
        memmove(to, from, bytes);
    }
}

/* ---- shared.c ---- */

/* Whether that member called the same: ACT_DONE or an error. */
int shared_check_call(const struct shared_job *job, int member);
/* So many bytes of what a member has, `at` bytes behind what its card says. */
int shared_read(const struct shared_job *job, int member, void *to, bool its_result, size_t at,
                size_t bytes);
/* With a card that tells the others where they can read what is sent, and what comes about. */
void shared_arrive(struct shared_job *job, const void *from, const void *to);
/* Gets memory for the job, up to shared_end(). */
int shared_take_memory(struct shared_job *job, size_t bytes);

/* ---- shared_fold.c ---- */

/* How many elements so many bytes hold: whole grains, at least one. */
size_t fold_elements_in(const struct shared_job *job, size_t bytes);

/* Of what passes through the segment: */
shared_act fold_here, fold_if_last, fold_take_result, fold_take_result_part;
shared_act fold_prefix, fold_before;
shared_act fold_common_part, fold_own_block;
/* of large arrays: */
shared_act fold_own_part, fold_read_results;
shared_act fold_arrive_aside, fold_part_aside, fold_read_parts_aside;
shared_act fold_arrive_in_chain, fold_with_previous, fold_take_exclusive;

/* ---- shared_boxes.c ---- */

shared_act boxes_await_turn, boxes_own_block, boxes_await, boxes_exchange, boxes_end;
/* Whether that member has not sent all to the caller, or not been sent all. */
bool boxes_owe(const struct shared_job *job, int member);

#endif
