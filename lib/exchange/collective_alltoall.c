/*
 * collective_alltoall.c - a block of every member for every member, without a schedule.
 *
 *   bruck     log2(n) rounds of n/2 blocks each, which travel in company: small equal ones
 *   linear    to all at once, the next one first, a window of them at a time; between hosts blocks
 *             of middle sizes, of which all at once would overflow a queue, when they are asked for
 *   pairwise  n-1 rounds, in each of which everybody sends to one and receives from one; a round
 *             begins when the one before it is over, and a long block goes when its receiver has
 *             begun the round, too; of small blocks several are under way, and the next one goes
 *             when any has come
 */
#include "lib/collective/collective.h"
#include "lib/collective/collective_step.h"
#include "lib/exchange/alltoall.h"
#include "lib/msg/error.h"
#include "proto/schedule/unscheduled.h"

#include <string.h>

#define LANE_ASK 1 /* a word that a block may come */

/* ---- blocks with each ------------------------------------------------------------------------ */

/* Within a host nothing travels: the own block. */
void alltoall_own_block(struct collective *c, const struct alltoall *a)
{
    int rank = collective_team(c)->rank;
    collective_copy(c, vector_block(&a->recv, rank), vector_block(&a->send, rank),
                    vector_count(&a->send, rank) * covey_type_size(a->send.type));
}

static int send_block(struct collective *c, const struct alltoall *a, int to)
{
    size_t count = vector_count(&a->send, to);
    return count == 0 ? -1
                      : collective_send(c, to, a->send.type, vector_block(&a->send, to), count);
}

static int receive_block(struct collective *c, const struct alltoall *a, int from)
{
    size_t count = vector_count(&a->recv, from);
    return count == 0
               ? -1
               : collective_receive(c, from, a->recv.type, vector_block(&a->recv, from), count);
}

/* So many messages under way each way, and, where they are paired, no send before a receive; those
 * of so many bytes when the receiver asks for them. */
struct window {
    int size;
    bool paired;
    size_t asked_from, asked_to;
    int sends[UNSCHEDULED_WINDOW],
        receives[UNSCHEDULED_WINDOW]; /* the last ones of each place, or -1 */
};

static bool is_asked_for(const struct window *w, const struct vector *v, int rank)
{
    size_t bytes = vector_count(v, rank) * covey_type_size(v->type);
    return bytes >= w->asked_from && bytes <= w->asked_to;
}

/* Without it a rank that is ahead sends to one that still receives from another: the two share a
 * link while others lie idle, and once out of step nothing brings them back. */
static void ask(struct collective *c, const struct alltoall *a, const struct window *w, int i,
                int sent)
{
    const struct covey_team *team = collective_team(c);
    int from = (team->rank - i + team->size) % team->size, to = (team->rank + i) % team->size;
    int before[] = {w->sends[i % w->size], w->receives[i % w->size]};
    if (is_asked_for(w, &a->recv, from)) {
        int asked = collective_send_lane(c, LANE_ASK, from, COVEY_BYTES, NULL, 0);
        collective_after(c, asked, before[0]);
        collective_after(c, asked, before[1]);
    }
    if (is_asked_for(w, &a->send, to))
        collective_after(c, sent, collective_receive_lane(c, LANE_ASK, to, COVEY_BYTES, NULL, 0));
}

static void exchange_with(struct collective *c, const struct alltoall *a, struct window *w, int i)
{
    const struct covey_team *team = collective_team(c);
    int received = receive_block(c, a, (team->rank - i + team->size) % team->size);
    int sent = send_block(c, a, (team->rank + i) % team->size);
    int *send = &w->sends[i % w->size], *receive = &w->receives[i % w->size];
    collective_after(c, received, *receive);
    collective_after(c, sent, *send);
    if (w->paired) {
        collective_after(c, received, *send);
        collective_after(c, sent, *receive);
    }
    ask(c, a, w, i, sent);
    *receive = received >= 0 ? received : *receive;
    *send = sent >= 0 ? sent : *send;
}

static void exchange_with_all(struct collective *c, const struct alltoall *a, struct window w)
{
    for (int i = 0; i < UNSCHEDULED_WINDOW; i++)
        w.sends[i] = w.receives[i] = -1;
    for (int i = 1; i < collective_team(c)->size; i++)
        exchange_with(c, a, &w, i);
    alltoall_own_block(c, a);
}

/* Bytes of the blocks for others that are not empty. */
static size_t mean_block(const struct covey_team *team, const struct vector *v)
{
    size_t sum = 0, blocks = 0;
    for (int i = 0; i < team->size; i++) {
        size_t count = i == team->rank ? 0 : vector_count(v, i);
        sum += count;
        blocks += count > 0;
    }
    return blocks == 0 ? 0 : sum / blocks * covey_type_size(v->type);
}

void alltoall_linear(struct collective *c, const struct alltoall *a)
{
    const struct covey_team *team = collective_team(c);
    struct unscheduled_linear l =
        unscheduled_linear(team->size, team->hosts, mean_block(team, &a->send));
    exchange_with_all(
        c, a,
        (struct window){.size = l.window, .asked_from = l.asked_from, .asked_to = l.asked_to});
}

/* Small blocks: as many under way from each as the queues of a network hold. Within a host there
 * are none. */
static int blocks_at_once(const struct covey_team *team, const struct alltoall *a)
{
    size_t bytes = a->send.each * covey_type_size(a->send.type);
    if (a->send.uneven || bytes == 0)
        return 1;
    if (team->hosts == 1)
        return UNSCHEDULED_WINDOW;
    return unscheduled_at_once(bytes);
}

/* Whom a member sends to next. */
struct turns {
    struct alltoall a;
    int next;
};

static int send_next(struct collective *c, void *arg)
{
    struct turns *t = arg;
    const struct covey_team *team = collective_team(c);
    if (t->next < team->size)
        send_block(c, &t->a,
                   (team->rank + unscheduled_distance(t->next++, team->size)) % team->size);
    return COVEY_OK;
}

void alltoall_pairwise(struct collective *c, const struct alltoall *a)
{
    int at_once = blocks_at_once(collective_team(c), a);
    if (at_once > 1) {
        /* Whatever block comes lets the next one go: a member that is late holds back nobody. It
         * ends, for where all that was sent has come, not everybody can have sent more than came to
         * it. */
        const struct covey_team *team = collective_team(c);
        struct turns *t = collective_memory(c, sizeof *t);
        if (t != NULL) {
            *t = (struct turns){.a = *a, .next = 1};
            for (int i = 1; i < team->size; i++) {
                int on = unscheduled_distance(i, team->size);
                int received = receive_block(c, a, (team->rank - on + team->size) % team->size);
                if (i + at_once < team->size)
                    collective_after(c, collective_call(c, send_next, t), received);
            }
            for (int i = 0; i < at_once; i++)
                send_next(c, t);
            alltoall_own_block(c, a);
        }
    } else
        exchange_with_all(
            c, a,
            (struct window){.size = 1,
                            .paired = true,
                            .asked_from = UNSCHEDULED_ASKED,
                            .asked_to = collective_team(c)->hosts > 1 ? SIZE_MAX : 0});
}

/* ---- blocks in company ----------------------------------------------------------------------- */

/* What the blocks of a round are packed into and unpacked from. */
struct company {
    uint8_t *blocks, *out, *in;
    size_t block;
};

/* The blocks whose number has that bit: into the packed array or out of the one that came. */
static size_t pack(struct collective *c, const struct company *k, int bit, bool out)
{
    size_t n = 0;
    for (int i = bit; i < collective_team(c)->size; i++) {
        if ((i & bit) == 0)
            continue;
        uint8_t *block = k->blocks + (size_t)i * k->block;
        if (out)
            collective_copy(c, k->out + n * k->block, block, k->block);
        else
            collective_copy(c, block, k->in + n * k->block, k->block);
        n++;
    }
    collective_fence(c);
    return n;
}

/* Bruck and others: block i travels i further on, by the bits of i. */
static void rounds(struct collective *c, const struct alltoall *a, const struct company *k)
{
    const struct covey_team *team = collective_team(c);
    for (int bit = 1; bit < team->size; bit *= 2) {
        size_t count = pack(c, k, bit, true) * a->send.each;
        collective_send(c, (team->rank + bit) % team->size, a->send.type, k->out, count);
        collective_receive(c, (team->rank - bit + team->size) % team->size, a->send.type, k->in,
                           count);
        collective_fence(c);
        pack(c, k, bit, false);
    }
}

void alltoall_bruck(struct collective *c, const struct alltoall *a)
{
    const struct covey_team *team = collective_team(c);
    size_t block = a->send.each * covey_type_size(a->send.type), n = (size_t)team->size;
    uint8_t *memory = collective_memory(c, 2 * n * block);
    if (memory == NULL)
        return;
    const struct company k = {memory, memory + n * block, memory + n * block + n / 2 * block,
                              block};
    for (int i = 0; i < team->size; i++)
        collective_copy(c, k.blocks + (size_t)i * block,
                        vector_block(&a->send, (team->rank + i) % team->size), block);
    collective_fence(c);
    rounds(c, a, &k);
    for (int i = 0; i < team->size; i++)
        collective_copy(c, vector_block(&a->recv, (team->rank - i + team->size) % team->size),
                        k.blocks + (size_t)i * block, block);
}

/* ---- in place -------------------------------------------------------------------------------- */

/* What is sent is where it will be received: it is copied away first. */
static bool copy_away(struct collective *c, struct alltoall *a)
{
    const struct covey_team *team = collective_team(c);
    size_t width = covey_type_size(a->send.type), at = 0;
    if (a->send.base != a->recv.base)
        return true;
    size_t count = vector_range(&a->send, 0, team->size, team->size);
    size_t *starts = collective_memory(c, (size_t)team->size * sizeof *starts);
    uint8_t *copy = collective_memory(c, count * width);
    for (int i = 0; starts != NULL && copy != NULL && i < team->size; i++) {
        starts[i] = at;
        collective_copy(c, copy + at * width, vector_block(&a->send, i),
                        vector_count(&a->send, i) * width);
        at += vector_count(&a->send, i);
    }
    a->send.base = copy;
    a->send.starts = starts;
    collective_fence(c);
    return starts != NULL && copy != NULL;
}

/* The lists of counts and starts are the program's again when a call that does not wait returns. */
static bool keep_lists(struct collective *c, struct vector *v)
{
    size_t size = (size_t)collective_team(c)->size;
    if (!v->uneven)
        return true;
    size_t *lists = collective_memory(c, 2 * size * sizeof *lists);
    if (lists == NULL)
        return false;
    memcpy(lists, v->counts, size * sizeof *lists);
    memcpy(lists + size, v->starts, size * sizeof *lists);
    v->counts = lists;
    v->starts = lists + size;
    return true;
}

bool alltoall_begin(struct collective *c, struct alltoall *a)
{
    return vector_place(c, &a->send) && vector_place(c, &a->recv) && keep_lists(c, &a->send) &&
           keep_lists(c, &a->recv) && copy_away(c, a);
}

int alltoall_check(const covey_team_t *team, const char *name, const struct alltoall *a)
{
    int error = vector_check(team, name, 0, &a->send);
    if (error == COVEY_OK)
        error = vector_check(team, name, 0, &a->recv);
    if (error == COVEY_OK &&
        vector_count(&a->send, team->rank) != vector_count(&a->recv, team->rank))
        error =
            error_set(COVEY_EINVAL, "%s: the own block is of %zu elements to send, %zu to receive",
                      name, vector_count(&a->send, team->rank), vector_count(&a->recv, team->rank));
    return error;
}
