/*
 * shared_boxes.c - an alltoall of long blocks through boxes (boxes.h): its acts.
 *
 * Where more members than processors are, each copies for a moment what the others have brought
 * meanwhile. Each byte is copied twice, once in and once out of a cache, and by the members
 * themselves: to read another one's memory (process_vm_readv) the kernel looks each of its pages
 * up, which takes longer than the second copy where pages are small.
 */
#include "lib/collective/shared_act.h"
#include "lib/link/past_cache.h"

static struct boxes *boxes(const struct shared_job *job)
{
    return &job->segment->boxes;
}

static uint32_t pieces(const struct shared_job *job)
{
    size_t piece = boxes(job)->piece;
    return (uint32_t)((job->bytes + piece - 1) / piece);
}

/* Where a piece of a block is, and how long. */
static size_t piece_at(const struct shared_job *job, uint32_t piece, size_t *bytes)
{
    size_t first = piece * boxes(job)->piece, left = job->bytes - first;
    *bytes = left < boxes(job)->piece ? left : boxes(job)->piece;
    return first;
}

bool boxes_owe(const struct shared_job *job, int member)
{
    return boxes_sent(boxes(job), member) < pieces(job) ||
           boxes_received(boxes(job), member) < pieces(job);
}

static bool may_send(const struct shared_job *job, int member)
{
    return boxes_sent(boxes(job), member) < pieces(job) && boxes_may_send(boxes(job), member);
}

/* Where the result goes to the place of what is sent, that must have been sent. */
static bool may_receive(const struct shared_job *job, int member)
{
    uint32_t received = boxes_received(boxes(job), member);
    bool in_place = job->call.send == job->call.recv;
    return received < pieces(job) && (!in_place || received < boxes_sent(boxes(job), member)) &&
           boxes_may_receive(boxes(job), member) &&
           segment_is_at(job->segment, job->sequence, member, STAGE_ARRIVED);
}

/* It has come, with another call. */
static bool differs(const struct shared_job *job, int member)
{
    return boxes_received(boxes(job), member) == 0 &&
           segment_is_at(job->segment, job->sequence, member, STAGE_ARRIVED) &&
           segment_what(job->segment, job->sequence, member) != job->what;
}

/* What all read and write, of which most is of no use to anybody before it has left the cache. */
static bool is_far(const struct shared_job *job)
{
    size_t all = (size_t)members(job) * (size_t)members(job);
    return past_cache_is_best(2 * all * job->bytes);
}

int boxes_await_turn(struct shared_job *job)
{
    bool free =
        segment_is_free(job->segment, job->sequence) && boxes_is_turn(boxes(job), job->turn);
    return free ? ACT_DONE : ACT_WAITS;
}

int boxes_own_block(struct shared_job *job)
{
    size_t at = (size_t)job->segment->me * job->bytes;
    uint8_t *to = (uint8_t *)job->call.recv + at;
    const uint8_t *from = (const uint8_t *)job->call.send + at;
    if (to != from && is_far(job))
        past_cache_copy(to, from, job->bytes);
    else
        take(to, from, job->bytes);
    return ACT_DONE;
}

int boxes_await(struct shared_job *job)
{
    bool over = true;
    for (int i = 1; i < members(job); i++) {
        int member = (job->segment->me + i) % members(job);
        if (may_receive(job, member) || may_send(job, member) || differs(job, member))
            return ACT_DONE;
        over = over && !boxes_owe(job, member);
    }
    return over ? ACT_DONE : ACT_WAITS;
}

static int exchange_with(struct shared_job *job, int member)
{
    size_t bytes, at, block = (size_t)member * job->bytes;
    if (differs(job, member))
        return shared_check_call(job, member);
    while (may_receive(job, member)) {
        at = piece_at(job, boxes_received(boxes(job), member), &bytes);
        boxes_receive(boxes(job), member, (uint8_t *)job->call.recv + block + at, bytes,
                      is_far(job));
    }
    while (may_send(job, member)) {
        at = piece_at(job, boxes_sent(boxes(job), member), &bytes);
        boxes_send(boxes(job), member, (const uint8_t *)job->call.send + block + at, bytes);
    }
    return ACT_DONE;
}

/* As often as boxes_await() says that there is something to do. */
int boxes_exchange(struct shared_job *job)
{
    int result = ACT_DONE;
    bool over = true;
    for (int i = 1; i < members(job) && result == ACT_DONE; i++) {
        int member = (job->segment->me + i) % members(job);
        result = exchange_with(job, member);
        over = over && !boxes_owe(job, member);
    }
    segment_ring(job->segment, job->sequence);
    if (result == ACT_DONE && !over)
        job->at -= 2; /* the next act is boxes_await() again */
    return result;
}

int boxes_end(struct shared_job *job)
{
    boxes_end_turn(boxes(job), pieces(job));
    return ACT_DONE;
}
