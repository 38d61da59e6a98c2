/*
 * tiles_measure.c - a short calibration before the first run: t_c, alpha and beta, and what of the
 * two last cannot be hidden behind computation (t_start and t_sync of (7)).
 *
 * All members measure at once, as they will compute and send at once. A task computes tiles of its
 * own part over and over, whose values count for nothing yet. Pairs of neighbours send a short and
 * a long message to and fro; then both exchange them while they compute: what that takes longer
 * than the computation alone is what cannot be hidden. A task that gets its share of a processor
 * only now and then is without the processor time that messages take for as many times as long as
 * the share is small: there it is that time that is measured.
 *
 * The long message is as long as the way makes it: on a slow link tens of KiB would be under way
 * for seconds, and what else has to go there, the heartbeats of daemons, too. beta is what its
 * second half takes, for the first bytes after a pause may find a queue that takes them at once. A
 * message of one frame shows whether switches store it before they send it on.
 *
 * Pairs are those along one dimension between which faces are messages: these take longer than
 * faces that are put into the memory of a neighbour, and a pipeline goes as fast as its slowest
 * part. Where all faces are put, so are these messages.
 */
#include "lib/collective/collective.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/onesided/onesided.h"
#include "lib/tiles/tiles.h"

#include <stdlib.h>
#include <string.h>

#define TRIAL_POINTS 4096
#define TRIAL_US 30000
#define STARVED_US 1000000 /* where the task gets a share of a processor only now and then */
#define STARVED_SHARE 0.8
#define FRAME_BYTES 1024 /* fits one frame on every way */
#define STORES_MAX 8     /* switches on the way, at most */
#define LONG_BYTES 65536 /* at most, */
#define LONG_BYTES_MIN 8192
#define LONG_US 400000 /* and no longer than takes this to and fro */
#define SHORT_ROUNDS 60
#define LONG_ROUNDS 6
#define HEAD_BYTES 64 /* of what is put: how long it is */
#define COVERED 3 /* computation takes so many times as long as the messages that it is to hide */

/* ---- computing ------------------------------------------------------------------------------- */

struct trial {
    struct covey_tiles *t;
    struct covey_tile tile; /* the next one */
    int64_t height;
    double tile_s; /* one takes */
    double share;  /* of a processor, where the task is starved; 0: it is not */
    double used_s; /* of a processor, for tiles between messages */
};

/* Of this thread, or of all of the process. */
static double processor_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void trial_begin(struct trial *trial, struct covey_tiles *t)
{
    const struct tiling_box *part = &t->part.box;
    int along = t->shape.grid.along;
    int64_t length = part->end[along] - part->first[along];
    int64_t section = t->points / (length > 0 ? length : 1);
    int64_t height = TRIAL_POINTS / (section > 0 ? section : 1);
    *trial = (struct trial){.t = t, .tile = t->part, .height = height > 0 ? height : 1};
    if (trial->height > length)
        trial->height = length;
    trial->tile.box.end[along] = part->first[along] + trial->height;
}

/* Computes the next tile; after the last one the first. */
static void trial_step(struct trial *trial)
{
    const struct tiling_box *part = &trial->t->part.box;
    struct tiling_box *box = &trial->tile.box;
    int along = trial->t->shape.grid.along;
    trial->t->loop.compute(&trial->tile, trial->t->loop.context);
    box->first[along] = box->end[along];
    if (box->first[along] + trial->height > part->end[along])
        box->first[along] = part->first[along];
    box->end[along] = box->first[along] + trial->height;
}

/* How long one takes, over tiles that cover the whole part if there is time. Sets t_c. */
static void trial_time(struct trial *trial, double *point_s)
{
    uint64_t start_us = clock_us(), passed_us = 0, least_us = TRIAL_US;
    double start_s = processor_s(CLOCK_THREAD_CPUTIME_ID), used_s = 0;
    int64_t tiles = 0, points = 0;
    const struct tiling_box *box = &trial->tile.box;
    while (passed_us < least_us) {
        points += (int64_t)tiles_store_count(trial->tile.store, box);
        trial_step(trial);
        tiles++;
        passed_us = clock_us() - start_us;
        used_s = processor_s(CLOCK_THREAD_CPUTIME_ID) - start_s;
        if (used_s * 1e6 < STARVED_SHARE * (double)passed_us)
            least_us = STARVED_US;
    }
    trial->share = least_us == STARVED_US ? used_s * 1e6 / (double)passed_us : 0;
    trial->tile_s = (double)passed_us / 1e6 / (double)tiles;
    *point_s = points > 0 ? (double)passed_us / 1e6 / (double)points : 0;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Two neighbours along a dimension. */
struct pair {
    struct covey_tiles *t;
    int rank; /* of the other; < 0: there is none */
    bool first;
    uint8_t *out, *in;
    struct tiles_window *to, *from; /* NULL: as messages */
    struct tiles_window ends[2];
    struct trial *trial;
};

/* The neighbour of a task along `dim`, if those that have a place of that parity are the first ones
 * of pairs; -1: it has none. */
static int pair_rank(const struct tiling_grid *g, int task, int dim, int parity)
{
    int32_t there[TILING_DIMS_MAX];
    tiling_grid_place(g, task, there);
    there[dim] += there[dim] % 2 == parity ? 1 : -1;
    return there[dim] < 0 || there[dim] == g->tasks[dim] ? -1 : tiling_grid_number(g, there);
}

/* Which tasks are pairs: all members find the same. */
struct pairing {
    int dim, parity; /* dim < 0: there are none */
    bool put;        /* no faces are messages */
};

static bool sends_messages(const struct tiling_grid *g, const struct pairing *p,
                           const struct covey_window *memory)
{
    int tasks = tiling_grid_count(g);
    for (int i = 0; i < tasks; i++) {
        int other = pair_rank(g, i, p->dim, p->parity);
        if (other >= 0 && !tiles_window_joins(memory, i, other))
            return true;
    }
    return false;
}

static struct pairing pairing_find(const struct tiling_grid *g, const struct covey_window *memory)
{
    struct pairing first = {.dim = -1, .put = true};
    for (int dim = 0; dim < g->dims; dim++) {
        for (int parity = 0; g->tasks[dim] > 1 && parity < 2; parity++) {
            const struct pairing p = {dim, parity, false};
            if (sends_messages(g, &p, memory))
                return p;
            if (first.dim < 0)
                first.dim = dim;
        }
    }
    return first;
}

static int pair_open(struct pair *pair, struct covey_window *memory)
{
    for (int i = 0; i < 2; i++)
        pair->ends[i] = (struct tiles_window){
            .memory = memory, .rank = pair->rank, .ahead = 1, .stride = HEAD_BYTES + LONG_BYTES};
    pair->to = &pair->ends[0];
    pair->from = &pair->ends[1];
    int error = tiles_window_open(pair->to, true);
    return error != COVEY_OK ? error : tiles_window_open(pair->from, false);
}

static int pair_create(struct pair *pair, struct covey_tiles *t, struct covey_window *memory)
{
    const struct tiling_grid *g = &t->shape.grid;
    const struct pairing pairing = pairing_find(g, memory);
    int rank = covey_team_rank(t->team);
    *pair = (struct pair){.t = t, .rank = -1};
    if (pairing.dim < 0 || rank >= tiling_grid_count(g))
        return COVEY_OK;
    int other = pair_rank(g, rank, pairing.dim, pairing.parity);
    if (other < 0 || (!pairing.put && tiles_window_joins(memory, rank, other)))
        return COVEY_OK;
    pair->rank = other;
    pair->first = rank < other;
    pair->out = calloc(2, LONG_BYTES);
    pair->in = pair->out + LONG_BYTES;
    if (pair->out == NULL)
        return error_code(COVEY_ENOMEM);
    return pairing.put ? pair_open(pair, memory) : COVEY_OK;
}

static int put_one(const struct pair *pair, size_t bytes)
{
    uint8_t *slot;
    const uint64_t size = bytes;
    int error = tiles_window_room(&pair->t->talk, pair->to, &slot);
    if (error != COVEY_OK)
        return error;
    memcpy(slot, &size, sizeof size);
    memcpy(slot + HEAD_BYTES, pair->out, bytes);
    tiles_window_full(pair->to);
    return COVEY_OK;
}

/* At most so many; *came may be NULL. */
static int take_some(const struct pair *pair, size_t bytes, size_t *came)
{
    const uint8_t *slot;
    uint64_t size;
    int error = tiles_window_next(&pair->t->talk, pair->from, &slot);
    if (error != COVEY_OK)
        return error;
    memcpy(&size, slot, sizeof size);
    if (size > bytes)
        return error_set(COVEY_EPROTO, "tiles: member %d put too much", pair->rank);
    memcpy(pair->in, slot + HEAD_BYTES, size);
    tiles_window_free(pair->from);
    if (came != NULL)
        *came = size;
    return COVEY_OK;
}

static struct tiles_array array_of(const struct pair *pair, uint8_t *base, size_t bytes)
{
    return (struct tiles_array){
        .rank = pair->rank, .type = COVEY_BYTES, .base = base, .count = bytes};
}

static int send_one(const struct pair *pair, size_t bytes)
{
    const struct tiles_array out = array_of(pair, pair->out, bytes);
    struct tiles_message m = {NULL};
    if (pair->to != NULL)
        return put_one(pair, bytes);
    int error = tiles_send(&pair->t->talk, &out, &m);
    if (error == COVEY_OK)
        error = tiles_await(&pair->t->talk, &m, NULL);
    tiles_abandon(&pair->t->talk, &m);
    return error;
}

/* At most so many; *came may be NULL. */
static int receive_some(const struct pair *pair, size_t bytes, size_t *came)
{
    const struct tiles_array in = array_of(pair, pair->in, bytes);
    struct tiles_message m = {NULL};
    if (pair->from != NULL)
        return take_some(pair, bytes, came);
    int error = tiles_receive(&pair->t->talk, &in, &m);
    if (error == COVEY_OK)
        error = tiles_await(&pair->t->talk, &m, came);
    tiles_abandon(&pair->t->talk, &m);
    return error;
}

static int receive_one(const struct pair *pair, size_t bytes)
{
    return receive_some(pair, bytes, NULL);
}

typedef int round_fn(const struct pair *pair, size_t bytes, int tiles);

/* To and fro. */
static int bounce(const struct pair *pair, size_t bytes, int tiles)
{
    (void)tiles;
    int error = pair->first ? send_one(pair, bytes) : receive_one(pair, bytes);
    if (error != COVEY_OK)
        return error;
    return pair->first ? receive_one(pair, bytes) : send_one(pair, bytes);
}

/* The first one begins with short messages that it gets back, doubles them until that takes long,
 * and says so by a message of one byte. The last size is the long one's. */
static int choose_first(const struct pair *pair, size_t *bytes)
{
    uint64_t took_us = 0;
    int error = COVEY_OK;
    for (*bytes = LONG_BYTES_MIN / 2;
         error == COVEY_OK && *bytes < LONG_BYTES && took_us < LONG_US / 2;) {
        uint64_t start_us = clock_us();
        *bytes *= 2;
        error = bounce(pair, *bytes, 0);
        took_us = clock_us() - start_us;
    }
    return error != COVEY_OK ? error : send_one(pair, 1);
}

static int choose_second(const struct pair *pair, size_t *bytes)
{
    size_t came = LONG_BYTES_MIN;
    int error = COVEY_OK;
    while (error == COVEY_OK && came > 1) {
        *bytes = came;
        error = receive_some(pair, LONG_BYTES, &came);
        if (error == COVEY_OK && came > 1)
            error = send_one(pair, came);
    }
    return error;
}

static void compute_some(const struct pair *pair, int tiles)
{
    double start_s = processor_s(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < tiles; i++)
        trial_step(pair->trial);
    pair->trial->used_s += processor_s(CLOCK_THREAD_CPUTIME_ID) - start_s;
}

static int put_exchange(const struct pair *pair, size_t bytes, int tiles)
{
    int error = put_one(pair, bytes);
    if (error != COVEY_OK)
        return error;
    compute_some(pair, tiles);
    return take_some(pair, bytes, NULL);
}

/* Both at once, with so many tiles computed meanwhile. */
static int exchange(const struct pair *pair, size_t bytes, int tiles)
{
    if (pair->to != NULL)
        return put_exchange(pair, bytes, tiles);
    const struct tiles_talk *talk = &pair->t->talk;
    const struct tiles_array out = array_of(pair, pair->out, bytes);
    const struct tiles_array in = array_of(pair, pair->in, bytes);
    struct tiles_message sent = {NULL}, received = {NULL};
    int error = tiles_receive(talk, &in, &received);
    if (error == COVEY_OK)
        error = tiles_send(talk, &out, &sent);
    if (error == COVEY_OK)
        compute_some(pair, tiles);
    if (error == COVEY_OK)
        error = tiles_await(talk, &received, NULL);
    if (error == COVEY_OK)
        error = tiles_await(talk, &sent, NULL);
    tiles_abandon(talk, &received);
    tiles_abandon(talk, &sent);
    return error;
}

/* The same without messages. */
static int alone(const struct pair *pair, size_t bytes, int tiles)
{
    (void)bytes;
    for (int i = 0; i < tiles; i++)
        trial_step(pair->trial);
    return COVEY_OK;
}

static int rounds_of(size_t bytes)
{
    return bytes > 1 ? LONG_ROUNDS : SHORT_ROUNDS;
}

/* The mean of some rounds: a task that gets its share of a processor now and then waits for it now
 * and then in the loop, too. */
static int time_of(const struct pair *pair, round_fn *fn, size_t bytes, int tiles, double *round_s)
{
    int rounds = rounds_of(bytes), error = fn(pair, bytes, tiles);
    uint64_t since_us = clock_us(); /* the first one opens the way */
    *round_s = 0;
    for (int i = 0; i < rounds && error == COVEY_OK; i++)
        error = fn(pair, bytes, tiles);
    tiles_book(&since_us, round_s);
    *round_s /= rounds;
    return error;
}

static double between(double least, double value, double most)
{
    return value < least ? least : value > most ? most : value;
}

/* What of a message's time is left when it is exchanged for another behind computation. */
static int time_left(const struct pair *pair, size_t bytes, double message_s, double *left_s)
{
    struct trial *trial = pair->trial;
    double both_s = 0, alone_s = 0;
    int tiles =
        trial->tile_s > 0 ? (int)between(1, COVERED * message_s / trial->tile_s + 1, 1e6) : 0;
    int error = trial->share > 0 ? COVEY_OK : time_of(pair, alone, bytes, tiles, &alone_s);
    double start_s = processor_s(CLOCK_PROCESS_CPUTIME_ID);
    trial->used_s = 0;
    if (error == COVEY_OK)
        error = time_of(pair, exchange, bytes, tiles, &both_s);
    double used_s = processor_s(CLOCK_PROCESS_CPUTIME_ID) - start_s - trial->used_s;
    if (trial->share > 0)
        both_s = used_s / trial->share / (rounds_of(bytes) + 1);
    *left_s = (both_s - alone_s) / 2;
    return error;
}

/* alpha, beta and what is stored; *long_s is to and fro. */
static int measure_way(const struct pair *pair, struct covey_tiles_costs *c, size_t *bytes,
                       double *long_s)
{
    double short_s = 0, half_s = 0, frame_s = 0;
    int error = time_of(pair, bounce, 1, 0, &short_s);
    if (error == COVEY_OK)
        error = time_of(pair, bounce, FRAME_BYTES, 0, &frame_s);
    if (error == COVEY_OK)
        error = pair->first ? choose_first(pair, bytes) : choose_second(pair, bytes);
    size_t half = *bytes < LONG_BYTES ? *bytes / 2 : 0;
    if (error == COVEY_OK && half > 0)
        error = time_of(pair, bounce, half, 0, &half_s);
    if (error == COVEY_OK)
        error = time_of(pair, bounce, *bytes, 0, long_s);
    double more_s = *long_s - (half > 0 ? half_s : short_s);
    c->alpha_s = short_s / 2;
    c->beta_s = between(0, more_s / 2 / (double)(*bytes - half), 1);
    c->store_s =
        between(0, (frame_s - short_s) / 2 / FRAME_BYTES - c->beta_s, STORES_MAX * c->beta_s);
    return error;
}

static int measure_messages(const struct pair *pair, struct covey_tiles_costs *c)
{
    size_t bytes = LONG_BYTES;
    double long_s = 0, short_left_s = 0, long_left_s = 0;
    int error = measure_way(pair, c, &bytes, &long_s);
    if (error == COVEY_OK)
        error = time_left(pair, 1, c->alpha_s, &short_left_s);
    if (error == COVEY_OK)
        error = time_left(pair, bytes, long_s / 2, &long_left_s);
    bool starved = pair->trial->share > 0;
    c->start_s = between(0, short_left_s, starved ? 1 : c->alpha_s);
    c->drag_s = between(0, (long_left_s - short_left_s) / (double)bytes, starved ? 1 : c->beta_s);
    return error;
}

/* ---- all members ----------------------------------------------------------------------------- */

static int measure(struct covey_tiles *t, struct covey_window *memory, struct covey_tiles_costs *c)
{
    struct trial trial;
    struct pair pair;
    trial_begin(&trial, t);
    if (t->points > 0)
        trial_time(&trial, &c->point_s);
    int error = pair_create(&pair, t, memory);
    pair.trial = &trial;
    if (error == COVEY_OK && pair.rank >= 0)
        error = measure_messages(&pair, c);
    free(pair.out);
    return error;
}

/* The slowest computes as long as it needs; of messages the mean. */
static int costs_agree(struct covey_team *team, const struct covey_tiles_costs *mine,
                       struct covey_tiles_costs *all)
{
    double counted = mine->alpha_s > 0, mean[6];
    const double sums[] = {mine->alpha_s, mine->beta_s,  mine->start_s,
                           mine->drag_s,  mine->store_s, counted};
    int error = covey_allreduce(team, COVEY_OP_MAX, COVEY_DOUBLE, &mine->point_s, &all->point_s, 1);
    if (error == COVEY_OK)
        error = covey_allreduce(team, COVEY_OP_SUM, COVEY_DOUBLE, sums, mean, 6);
    if (error != COVEY_OK || mean[5] == 0)
        return error;
    all->alpha_s = mean[0] / mean[5];
    all->beta_s = mean[1] / mean[5];
    all->start_s = mean[2] / mean[5];
    all->drag_s = mean[3] / mean[5];
    all->store_s = mean[4] / mean[5];
    return COVEY_OK;
}

static int measure_together(struct covey_tiles *t, struct covey_window *memory,
                            struct covey_tiles_costs *all)
{
    struct covey_tiles_costs mine = {0};
    int error = covey_barrier(t->team);
    if (error == COVEY_OK)
        error = tiles_talk_begin(&t->talk, t->team);
    if (error != COVEY_OK)
        return error;
    error = measure(t, memory, &mine);
    return error != COVEY_OK ? tiles_talk_fail(&t->talk, error) : costs_agree(t->team, &mine, all);
}

int tiles_measure(struct covey_tiles *t, bool puts, struct covey_tiles_costs *costs)
{
    struct covey_tiles_costs all = {0};
    struct covey_window *memory = NULL;
    int error = puts ? tiles_window_create(t->team, HEAD_BYTES + LONG_BYTES, &memory) : COVEY_OK;
    if (error == COVEY_OK)
        error = measure_together(t, memory, &all);
    window_discard(&memory);
    if (error == COVEY_OK) {
        /* What the program gave stays. */
        const struct covey_tiles_costs *measured = &all;
        costs->point_s = costs->point_s > 0 ? costs->point_s : measured->point_s;
        costs->start_s = costs->alpha_s > 0 ? costs->start_s : measured->start_s;
        costs->drag_s = costs->alpha_s > 0 ? costs->drag_s : measured->drag_s;
        costs->store_s = costs->alpha_s > 0 ? costs->store_s : measured->store_s;
        costs->beta_s = costs->alpha_s > 0 ? costs->beta_s : measured->beta_s;
        costs->alpha_s = costs->alpha_s > 0 ? costs->alpha_s : measured->alpha_s;
    }
    return error;
}
