/*
 * dense_cholesky_tiles.c - A = L L^H as a graph of tasks on tiles, each of which runs at the member
 * that has the tile it changes, as soon as what it reads is there.
 *
 * Tile (i, j) takes j updates, from columns 0 .. j - 1 in this order, and is then finished: on the
 * diagonal by a Cholesky factorisation, below it by a triangular solve. A finished tile goes to
 * each member that reads it, once. Of the tasks that can run a member takes the one in the leftmost
 * column, on which most others wait. Nobody waits for a step to end: a late member delays those
 * alone that need its tiles, and the bits of the result do not depend on who was late.
 *
 * A tile of which a message tells that it has failed (info) is not computed any more, but all
 * messages are sent: each member knows from the sizes how many it gets, and from whom.
 *
 * What arrives is kept until the last task that reads it has run. A member has one receive open for
 * each member from which tiles are still to come, so that it learns of that one's end.
 */
#include "lib/domain/dense/dense_factor.h"

#include "lib/domain/base/error.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define TAG_TILE 0x63686f
#define HEADER (2 * (size_t)FACTOR_INFO) /* which tile, info */
#define TASKS_A_LOOK 4                   /* that are run before it is asked what has arrived */
#define DIRTY_MAX 64                     /* messages under way before finished ones are freed */

struct tile {
    void *received; /* with its header; NULL: it is this member's or not there */
    int64_t updates;
    int64_t readers; /* tasks here that still read what was received */
    int is_there, is_queued;
};

/* A finished tile on its way. */
struct message {
    struct message *next;
    void *buffer;
    covey_req_t **requests;
    size_t count;
};

/* What still comes from another member. */
struct source {
    int64_t expected;
    void *buffer;
};

struct graph {
    const struct factor_matrix *a;
    int64_t blocks, tasks, expected, info;
    struct tile *tiles; /* [blocks * blocks], (i, j) at i + j * blocks */
    int64_t *heap;      /* places of tiles with a task that can run, the least first */
    size_t heap_count;
    struct message *sent;
    size_t sent_count;
    struct source *sources; /* by rank */
    covey_req_t **requests; /* their receives */
    int members;
    char *flags; /* by rank: gets a tile */
};

/* ---- Who has and who reads a tile ------------------------------------------------------------ */

static struct tile *tile_at(const struct graph *g, int64_t i, int64_t j)
{
    return &g->tiles[i + j * g->blocks];
}

/* By columns ranks of the team run along the rows of the grid, and of a transposed matrix down. */
static int rank_of(const struct graph *g, int p, int q)
{
    const struct factor_grid *grid = &g->a->grid;
    return g->a->local.by_rows ? q * grid->rows + p : p * grid->columns + q;
}

static int owner(const struct graph *g, int64_t i, int64_t j)
{
    const struct factor_grid *grid = &g->a->grid;
    return rank_of(g, (int)(i % grid->rows), (int)(j % grid->columns));
}

static int is_mine(const struct graph *g, int64_t i, int64_t j)
{
    const struct factor_grid *grid = &g->a->grid;
    return i % grid->rows == grid->p && j % grid->columns == grid->q;
}

/* How many of first .. end - 1 are `me` modulo `members`. */
static int64_t count_of(int64_t first, int64_t end, int me, int members)
{
    if (end <= first)
        return 0;
    int64_t before = (first + members - 1 - me) / members;
    return (end + members - 1 - me) / members - before;
}

/* Tasks at grid place (p, q) that read finished tile (i, k). */
static int64_t readers_at(const struct graph *g, const int place[2], int64_t i, int64_t k)
{
    const struct factor_grid *grid = &g->a->grid;
    int64_t readers = 0;
    if (i > k && i % grid->rows == place[0])
        readers += count_of(k + 1, i + 1, place[1], grid->columns);
    if (i % grid->columns == place[1])
        readers += count_of(i + 1, g->blocks, place[0], grid->rows);
    return readers;
}

static int width_of(const struct graph *g, int64_t i)
{
    int64_t rest = g->a->n - i * g->a->nb;
    return rest < g->a->nb ? (int)rest : g->a->nb;
}

/* Where the tile is to be read, or changed. */
static struct factor_block block_of(const struct graph *g, int64_t i, int64_t j)
{
    const struct factor_matrix *a = g->a;
    const struct tile *tile = tile_at(g, i, j);
    if (tile->received != NULL)
        return factor_packed(a, (char *)tile->received + HEADER * a->kernel->width, width_of(g, i),
                             width_of(g, j));
    return factor_sized(factor_from(a, i * a->nb, j * a->nb), width_of(g, i), width_of(g, j));
}

/* ---- What can run ---------------------------------------------------------------------------- */

static int64_t order_of(const struct graph *g, int64_t i, int64_t j)
{
    return i + j * g->blocks;
}

static void heap_put(struct graph *g, int64_t key)
{
    size_t at = g->heap_count++;
    for (; at > 0 && g->heap[(at - 1) / 2] > key; at = (at - 1) / 2)
        g->heap[at] = g->heap[(at - 1) / 2];
    g->heap[at] = key;
}

static int64_t heap_take(struct graph *g)
{
    int64_t least = g->heap[0], last = g->heap[--g->heap_count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < g->heap_count && g->heap[child + 1] < g->heap[child])
            child++;
        if (child >= g->heap_count || g->heap[child] >= last)
            break;
        g->heap[at] = g->heap[child];
        at = child;
    }
    g->heap[at] = last;
    return least;
}

/* Queues the next task of a tile, if this member has it and what it reads is there. */
static void look_at(struct graph *g, int64_t i, int64_t j)
{
    struct tile *tile = tile_at(g, i, j);
    if (!is_mine(g, i, j) || tile->is_queued || tile->is_there)
        return;
    int64_t k = tile->updates;
    int ready = k < j    ? tile_at(g, i, k)->is_there && tile_at(g, j, k)->is_there
                : i == j ? 1
                         : tile_at(g, j, j)->is_there;
    if (!ready)
        return;
    tile->is_queued = 1;
    heap_put(g, order_of(g, i, j));
}

/* Tile (i, k) is there: what may have waited for it. */
static void look_around(struct graph *g, int64_t i, int64_t k)
{
    tile_at(g, i, k)->is_there = 1;
    for (int64_t j = k + 1; j <= i; j++)
        look_at(g, i, j);
    for (int64_t r = i + 1; r < g->blocks; r++)
        look_at(g, r, i);
}

/* ---- Messages -------------------------------------------------------------------------------- */

static void message_free(struct message *m)
{
    for (size_t i = 0; i < m->count; i++)
        covey_req_free(&m->requests[i]);
    free(m->requests);
    free(m->buffer);
    free(m);
}

/* Frees what was sent; all of it with `wait`. */
static int messages_end(struct graph *g, int wait)
{
    int error = 0;
    for (struct message **at = &g->sent; *at != NULL;) {
        struct message *m = *at;
        int complete = 1;
        for (size_t i = 0; i < m->count; i++) {
            int state = wait ? covey_wait(m->requests[i], COVEY_FOREVER) : 0;
            state = state < 0 ? state : covey_test(m->requests[i]);
            complete = complete && state != 0;
            error = state < 0 && error == 0 ? state : error;
        }
        if (error < 0)
            break;
        if (complete) {
            *at = m->next;
            g->sent_count--;
            message_free(m);
        } else {
            at = &m->next;
        }
    }
    return error < 0 ? domain_fail_of(error, "Cholesky, sending a tile") : 0;
}

static struct message *message_new(const struct graph *g, int64_t i, int64_t k)
{
    const struct factor_matrix *a = g->a;
    size_t count = HEADER + (size_t)width_of(g, i) * (size_t)width_of(g, k);
    struct message *m = calloc(1, sizeof *m);
    if (m == NULL)
        return NULL;
    m->buffer = factor_room(a->kernel, count);
    m->requests = calloc((size_t)g->members, sizeof(covey_req_t *));
    if (m->buffer == NULL || m->requests == NULL) {
        message_free(m);
        return NULL;
    }
    char *data = m->buffer;
    factor_put(a, order_of(g, i, k), data);
    factor_put(a, g->info, data + FACTOR_INFO * a->kernel->width);
    a->kernel->copy(block_of(g, i, k), factor_packed(a, data + HEADER * a->kernel->width,
                                                     width_of(g, i), width_of(g, k)));
    return m;
}

/* Flags the other members that read it, and returns their number. */
static int find_readers(struct graph *g, int64_t i, int64_t k)
{
    const struct factor_grid *grid = &g->a->grid;
    int found = 0;
    memset(g->flags, 0, (size_t)g->members);
    for (int p = 0; p < grid->rows; p++)
        for (int q = 0; q < grid->columns; q++) {
            int rank = rank_of(g, p, q);
            g->flags[rank] = rank != owner(g, i, k) && readers_at(g, (const int[]){p, q}, i, k) > 0;
            found += g->flags[rank];
        }
    return found;
}

static int send_tile(struct graph *g, int64_t i, int64_t k)
{
    const struct factor_matrix *a = g->a;
    size_t count = HEADER + (size_t)width_of(g, i) * (size_t)width_of(g, k);
    int error = g->sent_count >= DIRTY_MAX ? messages_end(g, 0) : 0;
    if (error < 0 || find_readers(g, i, k) == 0)
        return error;
    struct message *m = message_new(g, i, k);
    if (m == NULL)
        return domain_fail(COVEY_ENOMEM, "no memory to send a tile");
    m->next = g->sent;
    g->sent = m;
    g->sent_count++;
    for (int rank = 0; rank < g->members; rank++) {
        if (!g->flags[rank])
            continue;
        error = covey_team_isend_array(a->grid.team, rank, TAG_TILE, a->kernel->type, m->buffer,
                                       count, &m->requests[m->count]);
        if (error < 0)
            return domain_fail_of(error, "Cholesky, sending a tile");
        m->count++;
    }
    return 0;
}

/* Opens the receive of the next tile from that member, if one is still to come. */
static int open_receive(struct graph *g, int rank)
{
    const struct factor_matrix *a = g->a;
    struct source *source = &g->sources[rank];
    size_t count = HEADER + (size_t)a->nb * (size_t)a->nb;
    if (source->expected == 0)
        return 0;
    source->buffer = factor_room(a->kernel, count);
    if (source->buffer == NULL)
        return domain_fail(COVEY_ENOMEM, "no memory for a tile");
    int error = covey_team_irecv_array(a->grid.team, rank, TAG_TILE, a->kernel->type,
                                       source->buffer, count, &g->requests[rank]);
    return error < 0 ? domain_fail_of(error, "Cholesky, receiving a tile") : 0;
}

static int take_tile(struct graph *g, int rank)
{
    const struct factor_matrix *a = g->a;
    struct source *source = &g->sources[rank];
    int error = covey_test(g->requests[rank]);
    if (error < 0)
        return domain_fail_of(error, "Cholesky, receiving a tile");
    covey_req_free(&g->requests[rank]);
    char *data = source->buffer;
    int64_t place = factor_get(a, data);
    int64_t info = factor_get(a, data + FACTOR_INFO * a->kernel->width);
    int64_t i = place % g->blocks, k = place / g->blocks;
    struct tile *tile = tile_at(g, i, k);
    assert(tile->received == NULL && owner(g, i, k) == rank);
    tile->received = source->buffer;
    source->buffer = NULL;
    source->expected--;
    g->expected--;
    tile->readers = readers_at(g, (const int[]){a->grid.p, a->grid.q}, i, k);
    if (g->info == 0)
        g->info = info;
    look_around(g, i, k);
    return open_receive(g, rank);
}

/* Takes what has arrived, now and then; waits for something when there is nothing else to do. */
static int receive(struct graph *g)
{
    if (g->heap_count > 0 && g->tasks % TASKS_A_LOOK != 0)
        return 0;
    while (g->expected > 0) {
        int rank =
            covey_wait_any(g->requests, (size_t)g->members, g->heap_count > 0 ? 0 : COVEY_FOREVER);
        if (rank == COVEY_ETIMEOUT)
            return 0;
        if (rank < 0)
            return domain_fail_of(rank, "Cholesky, receiving a tile");
        int error = take_tile(g, rank);
        if (error < 0)
            return error;
    }
    return 0;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* A task has read the tile. */
static void release(struct graph *g, int64_t i, int64_t k)
{
    struct tile *tile = tile_at(g, i, k);
    if (tile->received != NULL && --tile->readers == 0) {
        free(tile->received);
        tile->received = NULL;
    }
}

static void update_tile(struct graph *g, int64_t i, int64_t j, int64_t k)
{
    const struct factor_kernel *kernel = g->a->kernel;
    struct factor_block left = block_of(g, i, k), right = block_of(g, j, k);
    if (g->info != 0)
        return;
    if (i == j)
        kernel->herk(left, block_of(g, i, j));
    else
        kernel->gemm((const int[]){0, 1}, (const struct factor_block[]){left, right}, -1, 1,
                     block_of(g, i, j));
}

static void finish_tile(struct graph *g, int64_t i, int64_t j)
{
    const struct factor_kernel *kernel = g->a->kernel;
    if (g->info != 0)
        return;
    if (i == j) {
        int minor = kernel->cholesky(block_of(g, i, i));
        g->info = minor > 0 ? i * g->a->nb + minor : 0;
    } else {
        kernel->solve((struct factor_triangle){.of = block_of(g, j, j), .adjoint = 1}, 1,
                      block_of(g, i, j));
    }
}

static int run_task(struct graph *g, int64_t key)
{
    int64_t i = key % g->blocks, j = key / g->blocks;
    struct tile *tile = tile_at(g, i, j);
    int64_t k = tile->updates;
    tile->is_queued = 0;
    g->tasks--;
    if (k < j) {
        update_tile(g, i, j, k);
        tile->updates++;
        release(g, i, k);
        if (i != j)
            release(g, j, k);
        look_at(g, i, j);
        return 0;
    }
    finish_tile(g, i, j);
    if (i != j)
        release(g, j, j);
    int error = send_tile(g, i, j);
    look_around(g, i, j);
    return error;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void graph_fini(struct graph *g)
{
    for (int rank = 0; g->requests != NULL && rank < g->members; rank++)
        covey_req_free(&g->requests[rank]);
    for (int rank = 0; g->sources != NULL && rank < g->members; rank++)
        free(g->sources[rank].buffer);
    while (g->sent != NULL) {
        struct message *m = g->sent;
        g->sent = m->next;
        message_free(m);
    }
    for (int64_t i = 0; g->tiles != NULL && i < g->blocks * g->blocks; i++)
        free(g->tiles[i].received);
    free(g->tiles);
    free(g->heap);
    free(g->sources);
    free(g->requests);
    free(g->flags);
}

/* Counts the tasks of this member, and what it gets from whom. */
static void count_work(struct graph *g)
{
    const int here[2] = {g->a->grid.p, g->a->grid.q};
    for (int64_t j = 0; j < g->blocks; j++)
        for (int64_t i = j; i < g->blocks; i++) {
            if (is_mine(g, i, j)) {
                g->tasks += j + 1;
            } else if (readers_at(g, here, i, j) > 0) {
                g->sources[owner(g, i, j)].expected++;
                g->expected++;
            }
        }
}

static int graph_init(struct graph *g, const struct factor_matrix *a)
{
    int64_t blocks = (a->n + a->nb - 1) / a->nb;
    size_t members = (size_t)covey_team_size(a->grid.team), all = (size_t)(blocks * blocks) + 1;
    *g = (struct graph){.a = a,
                        .blocks = blocks,
                        .members = (int)members,
                        .tiles = calloc(all, sizeof *g->tiles),
                        .heap = calloc(all, sizeof *g->heap),
                        .sources = calloc(members, sizeof *g->sources),
                        .requests = calloc(members, sizeof(covey_req_t *)),
                        .flags = calloc(members, 1)};
    if (g->tiles == NULL || g->heap == NULL || g->sources == NULL || g->requests == NULL ||
        g->flags == NULL)
        return domain_fail(COVEY_ENOMEM, "no memory for %lld x %lld tiles", (long long)blocks,
                           (long long)blocks);
    count_work(g);
    int error = 0;
    for (int rank = 0; rank < g->members && error == 0; rank++)
        error = open_receive(g, rank);
    if (blocks > 0)
        look_at(g, 0, 0);
    return error;
}

int factor_cholesky_tiles(const struct factor_matrix *a, int64_t *info)
{
    struct graph g;
    int error = graph_init(&g, a);
    while (error == 0 && g.tasks > 0) {
        error = receive(&g);
        if (error == 0 && g.heap_count > 0)
            error = run_task(&g, heap_take(&g));
    }
    if (error == 0)
        error = messages_end(&g, 1);
    *info = g.info;
    if (error < 0) /* before requests are freed, for which others are needed */
        error = factor_break(&a->grid, error);
    graph_fini(&g);
    return error;
}
