/* links: libcovey */
/*
 * collective.c - collective calls against a computation in one place: every operation and form,
 * every algorithm, any number of members, any root, types, counts and operations at random.
 *
 *   collective [--seed S] [--rounds R] [--route ROUTE] [--host H,H...] what MEMBERS...
 *
 *   random   R calls drawn at random on a team of each of the numbers of members
 *   flight   several calls under way at once on two teams, and messages of the program between them
 *   death    the last member is killed in the middle: the others' calls end with an error; the
 *            next number of members is one less
 *   lost     calls go on until the host that --lost names is gone, which somebody else sees to when
 *            "begun" was printed: all members elsewhere end with an error that is printed
 *   cast     broadcasts and barriers over raw Ethernet, and the other calls that can be cast
 *   refuse   timeouts, counts that differ, bad arguments
 *
 * All members draw the same numbers. What any of them brings to a call follows from its rank, so
 * each can compute by itself what must come out.
 */
#include <covey.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEMBERS_MAX 64
#define TIMEOUT_US 30000000
#define MEETING_US 120000000 /* whoever is in no smaller team is there long before the others */
#define GUARD 32
#define COUNT_BIG 100000

enum { TAG_LIST = 1, TAG_RESULT = 2, TAG_USER = 3 };

static struct {
    covey_t *vm;
    covey_tid_t tids[MEMBERS_MAX];
    int rank, all;
    uint64_t seed;
    int rounds;
    const char *route, *hosts, *lost, *what;
    int affine; /* an operation of the program's own that does not commute */
    int failures;
    char first[200], ended[200];
} me;

#define FAIL(...)                                                                                  \
    do {                                                                                           \
        if (me.failures++ == 0)                                                                    \
            snprintf(me.first, sizeof me.first, __VA_ARGS__);                                      \
    } while (0)

/* ---- numbers that all draw alike ---- */

static uint64_t draw_state;

static uint64_t draw(uint64_t below)
{
    draw_state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    uint64_t z = draw_state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % below;
}

/* ---- elements ---- */

static const int types[] = {COVEY_INT8,  COVEY_INT16,  COVEY_INT32,         COVEY_INT64,
                            COVEY_UINT8, COVEY_UINT16, COVEY_UINT32,        COVEY_UINT64,
                            COVEY_FLOAT, COVEY_DOUBLE, COVEY_COMPLEX_FLOAT, COVEY_COMPLEX_DOUBLE,
                            COVEY_BYTES};
#define TYPES (sizeof types / sizeof types[0])

static void put_integer(uint8_t *at, size_t size, int64_t v)
{
    const int8_t v8 = (int8_t)v;
    const int16_t v16 = (int16_t)v;
    const int32_t v32 = (int32_t)v;
    const void *const from[] = {[1] = &v8, [2] = &v16, [4] = &v32, [8] = &v};
    memcpy(at, from[size], size);
}

static void put(int type, void *base, size_t i, int64_t v)
{
    uint8_t *at = (uint8_t *)base + i * covey_type_size(type);
    float f[2] = {(float)v, 0};
    double d[2] = {(double)v, 0};
    switch (type) {
    case COVEY_FLOAT:
    case COVEY_COMPLEX_FLOAT:
        memcpy(at, f, covey_type_size(type));
        break;
    case COVEY_DOUBLE:
    case COVEY_COMPLEX_DOUBLE:
        memcpy(at, d, covey_type_size(type));
        break;
    default:
        put_integer(at, covey_type_size(type), v);
    }
}

/* What a member of that rank brings at place i of call number `call`: small, so that sums and
 * products are exact in every type. */
static int64_t brought(uint64_t call, int rank, size_t i)
{
    uint64_t h = (call * 131 + (uint64_t)rank) * 0x9e3779b97f4a7c15u + i * 0xd1342543de82ef95u;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9u;
    return (int64_t)((h >> 40) % 3 + 1);
}

static int64_t apply(int op, int64_t a, int64_t b)
{
    switch (op) {
    case COVEY_OP_SUM:
        return a + b;
    case COVEY_OP_PROD:
        return a * b;
    case COVEY_OP_MIN:
        return a < b ? a : b;
    case COVEY_OP_MAX:
        return a > b ? a : b;
    case COVEY_OP_LAND:
        return a != 0 && b != 0;
    case COVEY_OP_LOR:
        return a != 0 || b != 0;
    case COVEY_OP_LXOR:
        return (a != 0) != (b != 0);
    case COVEY_OP_BAND:
        return a & b;
    case COVEY_OP_BOR:
        return a | b;
    default:
        return a ^ b;
    }
}

/* x -> a x + b, as pairs of a and b: composition does not commute. */
static void affine(const void *left, const void *right, void *result, size_t count, int type,
                   void *context)
{
    const uint64_t *l = left, *r = right;
    uint64_t *to = result;
    (void)type;
    *(int *)context += 1;
    for (size_t i = 0; i < count; i += 2) {
        uint64_t a = l[i] * r[i], b = l[i] * r[i + 1] + l[i + 1];
        to[i] = a;
        to[i + 1] = b;
    }
}

/* The result at place i over the members first .. last. */
static int64_t expected(const int *ranks, int last, int op, uint64_t call, size_t i)
{
    int64_t v = brought(call, ranks[0], i);
    size_t pair = i & ~(size_t)1;
    if (op == me.affine) {
        uint64_t a = (uint64_t)brought(call, ranks[0], pair),
                 b = (uint64_t)brought(call, ranks[0], pair + 1);
        for (int k = 1; k <= last; k++) {
            b = a * (uint64_t)brought(call, ranks[k], pair + 1) + b;
            a = a * (uint64_t)brought(call, ranks[k], pair);
        }
        return (int64_t)(i == pair ? a : b);
    }
    if (op == COVEY_OP_MINLOC || op == COVEY_OP_MAXLOC) {
        int64_t best = brought(call, ranks[0], pair), place = brought(call, ranks[0], pair + 1);
        for (int k = 1; k <= last; k++) {
            int64_t w = brought(call, ranks[k], pair), p = brought(call, ranks[k], pair + 1);
            if ((op == COVEY_OP_MINLOC ? w < best : w > best) || (w == best && p < place)) {
                best = w;
                place = p;
            }
        }
        return i == pair ? best : place;
    }
    for (int k = 1; k <= last; k++)
        v = apply(op, v, brought(call, ranks[k], i));
    return v;
}

/* ---- arrays with guards around them ---- */

struct buffer {
    uint8_t *memory;
    size_t bytes;
};

static void *buffer_make(struct buffer *b, int type, size_t count)
{
    b->bytes = count * covey_type_size(type);
    b->memory = malloc(b->bytes + 2 * GUARD);
    memset(b->memory, 0x5a, b->bytes + 2 * GUARD);
    return b->memory + GUARD;
}

static int buffer_free(struct buffer *b)
{
    int good = 1;
    for (int i = 0; i < GUARD; i++)
        good = good && b->memory[i] == 0x5a && b->memory[GUARD + b->bytes + (size_t)i] == 0x5a;
    free(b->memory);
    return good;
}

/* ---- a call ---- */

enum {
    BARRIER,
    BCAST,
    SCATTER,
    SCATTERV,
    GATHER,
    GATHERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER,
    SCAN,
    EXSCAN,
    KINDS
};
static const char *const kind_names[KINDS] = {
    "barrier", "bcast",     "scatter",        "scatter",  "gather",
    "gather",  "allgather", "allgather",      "alltoall", "alltoallv",
    "reduce",  "allreduce", "reduce_scatter", "scan",     "scan"};

struct call {
    uint64_t number;
    int kind, type, op, root, n, rank;
    int nonblocking, in_place, placed; /* placed: starts are given, with gaps */
    size_t count;
    size_t counts[MEMBERS_MAX], starts[MEMBERS_MAX], total;
    size_t send_counts[MEMBERS_MAX], send_starts[MEMBERS_MAX], send_total;
    struct buffer send, recv;
    void *sent, *got;
    covey_req_t *req;
};

static size_t draw_count(void)
{
    switch (draw(8)) {
    case 0:
        return 0;
    case 1:
        return 1;
    case 2:
    case 3:
        return (size_t)draw(30);
    case 7:
        return (size_t)draw(COUNT_BIG);
    default:
        return (size_t)draw(2000);
    }
}

static int is_uneven(int kind)
{
    return kind == SCATTERV || kind == GATHERV || kind == ALLGATHERV || kind == REDUCE_SCATTER;
}

static int is_reduction(int kind)
{
    return kind >= REDUCE;
}

static void place(size_t *counts, size_t *starts, int n, int gaps, size_t *total)
{
    *total = 0;
    for (int i = 0; i < n; i++) {
        *total += gaps ? (size_t)draw(3) : 0;
        starts[i] = *total;
        *total += counts[i];
    }
}

/* Elements from one member to another in an alltoallv: all know. */
static size_t pair_count(uint64_t number, int from, int to)
{
    uint64_t h =
        (number * 64 + (uint64_t)from) * 0x9e3779b97f4a7c15u + (uint64_t)to * 0xd1342543de82ef95u;
    h ^= h >> 31;
    return (h >> 20) % 4 == 0 ? 0 : (size_t)((h >> 24) % 500);
}

/* An operation that the type has, or one of our own. */
static void fit_operation(struct call *c)
{
    int complex = c->type == COVEY_COMPLEX_FLOAT || c->type == COVEY_COMPLEX_DOUBLE;
    int real = c->type == COVEY_FLOAT || c->type == COVEY_DOUBLE;
    int bits = c->op >= COVEY_OP_BAND && c->op <= COVEY_OP_BXOR;
    if (c->op > COVEY_OP_MAXLOC) {
        c->op = me.affine;
        c->type = COVEY_UINT64;
        return;
    }
    if ((complex && c->op > COVEY_OP_PROD) || (real && bits))
        c->op = COVEY_OP_SUM;
    if (c->type == COVEY_BYTES && !bits)
        c->op = COVEY_OP_BXOR;
}

/* What is brought and got, and where it stands. */
static void draw_blocks(struct call *c)
{
    size_t grain = is_reduction(c->kind) && c->op > COVEY_OP_BXOR ? 2 : 1;
    int gaps = c->placed && c->kind != REDUCE_SCATTER;
    if (!is_uneven(c->kind) && c->kind > BCAST && c->kind < REDUCE)
        c->count /= (size_t)c->n; /* of each block */
    c->count = c->count / grain * grain;
    for (int i = 0; i < c->n; i++) {
        c->counts[i] = is_uneven(c->kind) ? draw_count() / (size_t)c->n / grain * grain : c->count;
        c->send_counts[i] = c->counts[i];
        if (c->kind == ALLTOALLV) {
            c->send_counts[i] = pair_count(c->number, c->rank, i);
            c->counts[i] = pair_count(c->number, i, c->rank);
        }
    }
    place(c->counts, c->starts, c->n, gaps, &c->total);
    place(c->send_counts, c->send_starts, c->n, gaps, &c->send_total);
}

static void draw_algorithm(const struct call *c, covey_team_t *team)
{
    const char *algorithms[8];
    int known = 0;
    while ((algorithms[known] = covey_algorithm(kind_names[c->kind], known)) != NULL)
        known++;
    uint64_t chosen = draw((uint64_t)known + 1);
    if (covey_team_force(team, kind_names[c->kind],
                         chosen < (uint64_t)known ? algorithms[chosen] : NULL) < 0)
        FAIL("force: %s", covey_error_text());
}

/* Of a kind, or KINDS: of any. */
static void draw_call_of(struct call *c, covey_team_t *team, uint64_t number, int kind)
{
    memset(c, 0, sizeof *c);
    c->number = number;
    c->n = covey_team_size(team);
    c->rank = covey_team_rank(team);
    c->kind = kind < KINDS ? kind : (int)draw(KINDS);
    c->type = types[draw(TYPES)];
    c->root = (int)draw((uint64_t)c->n);
    c->nonblocking = (int)draw(2);
    c->in_place = (int)draw(3) == 0;
    c->placed = (int)draw(2);
    c->count = draw_count();
    c->op = (int)draw(COVEY_OP_MAXLOC + 3) + 1;
    if (is_reduction(c->kind))
        fit_operation(c);
    draw_blocks(c);
    draw_algorithm(c, team);
}

static void draw_call(struct call *c, covey_team_t *team, uint64_t number)
{
    draw_call_of(c, team, number, KINDS);
}

static size_t send_count(const struct call *c)
{
    switch (c->kind) {
    case BARRIER:
    case BCAST:
        return 0;
    case SCATTER:
    case ALLTOALL:
        return c->count * (size_t)c->n;
    case SCATTERV:
    case ALLTOALLV:
        return c->send_total;
    case GATHERV:
    case ALLGATHERV:
        return c->counts[c->rank];
    case REDUCE_SCATTER:
        return c->send_total;
    default:
        return c->count;
    }
}

static size_t recv_count(const struct call *c)
{
    switch (c->kind) {
    case BARRIER:
        return 0;
    case SCATTERV:
        return c->counts[c->rank];
    case GATHER:
    case ALLGATHER:
    case ALLTOALL:
        return c->count * (size_t)c->n;
    case GATHERV:
    case ALLGATHERV:
    case ALLTOALLV:
        return c->total;
    case REDUCE_SCATTER:
        return c->in_place ? c->send_total : c->counts[c->rank];
    default:
        return c->count;
    }
}

/* In alltoall blocks: element i of the block for member `to`. */
static size_t block_place(int to, size_t i)
{
    return (size_t)to * 1000003 + i;
}

static void fill_send(struct call *c)
{
    for (size_t i = 0; i < send_count(c); i++) {
        if (c->kind != ALLTOALL && c->kind != ALLTOALLV)
            put(c->type, c->sent, i, brought(c->number, c->rank, i));
    }
    for (int to = 0; (c->kind == ALLTOALL || c->kind == ALLTOALLV) && to < c->n; to++) {
        size_t start = c->kind == ALLTOALL ? (size_t)to * c->count : c->send_starts[to];
        for (size_t i = 0; i < c->send_counts[to]; i++)
            put(c->type, c->sent, start + i, brought(c->number, c->rank, block_place(to, i)));
    }
}

static void prepare(struct call *c)
{
    int same = c->kind == REDUCE || c->kind == ALLREDUCE || c->kind == SCAN || c->kind == EXSCAN ||
               c->kind == ALLTOALL || c->kind == REDUCE_SCATTER;
    c->got = buffer_make(&c->recv, c->type, recv_count(c));
    c->sent = buffer_make(&c->send, c->type, send_count(c));
    if (c->kind == REDUCE && c->rank != c->root)
        same = 0;
    if (c->in_place && same)
        c->sent = c->got;
    else if (c->in_place && (c->kind == ALLGATHER || (c->kind == GATHER && c->rank == c->root)))
        c->sent = (uint8_t *)c->got + (size_t)c->rank * c->count * covey_type_size(c->type);
    fill_send(c);
    for (size_t i = 0; c->kind == BCAST && c->rank == c->root && i < c->count; i++)
        put(c->type, c->got, i, brought(c->number, c->root, i));
}

static int start_nonblocking(covey_team_t *t, struct call *c)
{
    const size_t *starts = c->placed ? c->starts : NULL,
                 *sstarts = c->placed ? c->send_starts : NULL;
    covey_req_t **req = &c->req;
    switch (c->kind) {
    case BARRIER:
        return covey_ibarrier(t, req);
    case BCAST:
        return covey_ibcast(t, c->root, c->type, c->got, c->count, req);
    case SCATTER:
        return covey_iscatter(t, c->root, c->type, c->sent, c->got, c->count, req);
    case SCATTERV:
        return covey_iscatterv(t, c->root, c->type, c->sent, c->counts, sstarts, c->got,
                               c->counts[c->rank], req);
    case GATHER:
        return covey_igather(t, c->root, c->type, c->sent, c->got, c->count, req);
    case GATHERV:
        return covey_igatherv(t, c->root, c->type, c->sent, c->counts[c->rank], c->got, c->counts,
                              starts, req);
    case ALLGATHER:
        return covey_iallgather(t, c->type, c->sent, c->got, c->count, req);
    case ALLGATHERV:
        return covey_iallgatherv(t, c->type, c->sent, c->got, c->counts, starts, req);
    case ALLTOALL:
        return covey_ialltoall(t, c->type, c->sent, c->got, c->count, req);
    case ALLTOALLV:
        return covey_ialltoallv(t, c->type, c->sent, c->send_counts, sstarts, c->got, c->counts,
                                starts, req);
    case REDUCE:
        return covey_ireduce(t, c->root, c->op, c->type, c->sent, c->got, c->count, req);
    case ALLREDUCE:
        return covey_iallreduce(t, c->op, c->type, c->sent, c->got, c->count, req);
    case REDUCE_SCATTER:
        return covey_ireduce_scatter(t, c->op, c->type, c->sent, c->got, c->counts, req);
    case SCAN:
        return covey_iscan(t, c->op, c->type, c->sent, c->got, c->count, req);
    default:
        return covey_iexscan(t, c->op, c->type, c->sent, c->got, c->count, req);
    }
}

static int run_blocking(covey_team_t *t, const struct call *c)
{
    const size_t *starts = c->placed ? c->starts : NULL,
                 *sstarts = c->placed ? c->send_starts : NULL;
    switch (c->kind) {
    case BARRIER:
        return covey_barrier(t);
    case BCAST:
        return covey_bcast(t, c->root, c->type, c->got, c->count);
    case SCATTER:
        return covey_scatter(t, c->root, c->type, c->sent, c->got, c->count);
    case SCATTERV:
        return covey_scatterv(t, c->root, c->type, c->sent, c->counts, sstarts, c->got,
                              c->counts[c->rank]);
    case GATHER:
        return covey_gather(t, c->root, c->type, c->sent, c->got, c->count);
    case GATHERV:
        return covey_gatherv(t, c->root, c->type, c->sent, c->counts[c->rank], c->got, c->counts,
                             starts);
    case ALLGATHER:
        return covey_allgather(t, c->type, c->sent, c->got, c->count);
    case ALLGATHERV:
        return covey_allgatherv(t, c->type, c->sent, c->got, c->counts, starts);
    case ALLTOALL:
        return covey_alltoall(t, c->type, c->sent, c->got, c->count);
    case ALLTOALLV:
        return covey_alltoallv(t, c->type, c->sent, c->send_counts, sstarts, c->got, c->counts,
                               starts);
    case REDUCE:
        return covey_reduce(t, c->root, c->op, c->type, c->sent, c->got, c->count);
    case ALLREDUCE:
        return covey_allreduce(t, c->op, c->type, c->sent, c->got, c->count);
    case REDUCE_SCATTER:
        return covey_reduce_scatter(t, c->op, c->type, c->sent, c->got, c->counts);
    case SCAN:
        return covey_scan(t, c->op, c->type, c->sent, c->got, c->count);
    default:
        return covey_exscan(t, c->op, c->type, c->sent, c->got, c->count);
    }
}

static int start(covey_team_t *t, struct call *c)
{
    return c->nonblocking ? start_nonblocking(t, c) : run_blocking(t, c);
}

/* Whether `count` elements from `at` on are what member `rank` brought from place `from` on. */
static int same(const struct call *c, size_t at, int rank, size_t from, size_t count)
{
    uint8_t want[16];
    size_t width = covey_type_size(c->type);
    for (size_t i = 0; i < count; i++) {
        put(c->type, want, 0, brought(c->number, rank, from + i));
        if (memcmp(want, (uint8_t *)c->got + (at + i) * width, width) != 0)
            return 0;
    }
    return 1;
}

static int reduced(const struct call *c, int last, size_t from, size_t count)
{
    uint8_t want[16];
    size_t width = covey_type_size(c->type);
    int ranks[MEMBERS_MAX];
    for (int i = 0; i < c->n; i++)
        ranks[i] = i;
    for (size_t i = 0; i < count; i++) {
        put(c->type, want, 0, expected(ranks, last, c->op, c->number, from + i));
        if (memcmp(want, (uint8_t *)c->got + i * width, width) != 0)
            return 0;
    }
    return 1;
}

static int is_right(const struct call *c)
{
    int good = 1;
    switch (c->kind) {
    case BARRIER:
        return 1;
    case BCAST:
        return same(c, 0, c->root, 0, c->count);
    case SCATTER:
        return same(c, 0, c->root, (size_t)c->rank * c->count, c->count);
    case SCATTERV: {
        size_t start = 0;
        for (int i = 0; i < c->rank; i++)
            start += c->counts[i];
        return same(c, 0, c->root, c->placed ? c->send_starts[c->rank] : start, c->counts[c->rank]);
    }
    case GATHER:
    case GATHERV:
        if (c->rank != c->root)
            return 1;
        /* fall through */
    case ALLGATHER:
    case ALLGATHERV: {
        size_t start = 0;
        for (int i = 0; i < c->n; i++) {
            size_t at = is_uneven(c->kind) && c->placed ? c->starts[i] : start;
            good = good && same(c, at, i, 0, c->counts[i]);
            start += c->counts[i];
        }
        return good;
    }
    case ALLTOALL:
    case ALLTOALLV: {
        size_t start = 0;
        for (int i = 0; i < c->n; i++) {
            size_t at = c->kind == ALLTOALLV && c->placed ? c->starts[i] : start;
            good = good && same(c, at, i, block_place(c->rank, 0), c->counts[i]);
            start += c->counts[i];
        }
        return good;
    }
    case REDUCE:
        return c->rank != c->root || reduced(c, c->n - 1, 0, c->count);
    case ALLREDUCE:
        return reduced(c, c->n - 1, 0, c->count);
    case REDUCE_SCATTER: {
        size_t start = 0;
        for (int i = 0; i < c->rank; i++)
            start += c->counts[i];
        return reduced(c, c->n - 1, start, c->counts[c->rank]);
    }
    case SCAN:
        return reduced(c, c->rank, 0, c->count);
    default:
        return c->rank == 0 || reduced(c, c->rank - 1, 0, c->count);
    }
}

static const char *describe(const struct call *c, covey_team_t *team)
{
    static char text[160];
    snprintf(text, sizeof text, "call %llu %s%d of %d, rank %d root %d %s count %zu op %d %s%s%s",
             (unsigned long long)c->number, kind_names[c->kind], c->kind, c->n, c->rank, c->root,
             covey_type_name(c->type), c->count, c->op, c->nonblocking ? "i " : "",
             c->in_place ? "in place " : "", covey_team_algorithm(team, kind_names[c->kind], 1));
    return text;
}

static void finish(covey_team_t *team, struct call *c, int error)
{
    if (error == 0 && c->nonblocking)
        error = covey_wait(c->req, TIMEOUT_US);
    if (error != 0)
        FAIL("%s: %s", describe(c, team), covey_error_text());
    else if (!is_right(c))
        FAIL("%s: wrong", describe(c, team));
    covey_req_free(&c->req);
    int guards = buffer_free(&c->send);
    if (!buffer_free(&c->recv) || !guards)
        FAIL("%s: wrote past an array", describe(c, team));
}

/* ---- what is tried ---- */

static covey_team_t *team_make(int n, int reversed)
{
    covey_team_t *team = NULL;
    covey_tid_t tids[MEMBERS_MAX];
    for (int i = 0; i < n; i++)
        tids[i] = me.tids[reversed ? n - 1 - i : i];
    if (covey_team_create(me.vm, tids, n, MEETING_US, &team) != 0) {
        FAIL("team of %d: %s", n, covey_error_text());
        return NULL;
    }
    covey_team_set_timeout(team, TIMEOUT_US);
    return team;
}

static void try_random(int n)
{
    covey_team_t *team = team_make(n, 0);
    for (int i = 0; i < me.rounds && team != NULL && me.failures == 0; i++) {
        struct call c;
        draw_call(&c, team, draw(1u << 30));
        prepare(&c);
        finish(team, &c, start(team, &c));
    }
    covey_team_free(&team);
}

#define FLIGHT 6

static void flight_round(covey_team_t *const teams[2])
{
    struct call calls[FLIGHT];
    int which[FLIGHT], order[FLIGHT], at = 0;
    for (int i = 0; i < FLIGHT; i++) {
        which[i] = (int)draw(2);
        draw_call(&calls[i], teams[which[i]], draw(1u << 30));
        calls[i].nonblocking = 1;
        prepare(&calls[i]);
    }
    for (int t = 0; t < 2; t++) { /* the order of calls is one for each team, not for both */
        for (int i = 0; i < FLIGHT; i++) {
            if (which[i] == (me.rank % 2 == 0 ? t : 1 - t))
                order[at++] = i;
        }
    }
    int errors[FLIGHT];
    for (int i = 0; i < FLIGHT; i++)
        errors[order[i]] = start(teams[which[order[i]]], &calls[order[i]]);
    for (int i = 0; i < FLIGHT; i++)
        finish(teams[which[i]], &calls[i], errors[i]);
}

/* A receive of anything takes the program's messages, and nothing of the library's. */
static void try_flight(int n)
{
    covey_team_t *teams[2] = {team_make(n, 0), team_make(n, 1)};
    for (int i = 0; i < me.rounds && teams[0] != NULL && teams[1] != NULL && me.failures == 0;
         i++) {
        covey_req_t *any = NULL;
        covey_msg_t *msg = NULL;
        int32_t number = i, came = -1;
        if (n > 1 && covey_irecv(me.vm, COVEY_ANY_TASK, COVEY_ANY_TAG, &any) != 0)
            FAIL("irecv: %s", covey_error_text());
        flight_round(teams);
        if (n == 1)
            continue;
        if (covey_test(any) != 0)
            FAIL("the program got a message that it was not sent");
        covey_barrier(teams[0]);
        covey_send_array(me.vm, me.tids[(me.rank + 1) % n], TAG_USER, COVEY_INT32, &number, 1);
        if (covey_wait(any, TIMEOUT_US) != 0 || covey_req_result(any, NULL, &msg, NULL) != 0 ||
            covey_unpack_int32(msg, &came, 1, 1) != 0 || came != number)
            FAIL("the program's message %d: %s", number, covey_error_text());
        covey_msg_free(msg);
        covey_req_free(&any);
        covey_barrier(teams[1]);
    }
    covey_team_free(&teams[0]);
    covey_team_free(&teams[1]);
}

/* Waits for it, or asks again and again. */
static int await(covey_req_t *req, int asks)
{
    int found = 0;
    while (asks && found == 0)
        found = covey_test(req);
    return found < 0 ? found : covey_wait(req, TIMEOUT_US);
}

/* The last member ends at some call, before it or while its own part is under way. */
static void try_death(int n)
{
    covey_team_t *team = team_make(n, 0);
    int fatal = (int)draw(20), during = (int)draw(2), error = 0, i = 0;
    for (; i < 2000 && team != NULL && error == 0; i++) {
        struct call c;
        draw_call(&c, team, draw(1u << 30));
        prepare(&c);
        if (me.rank == n - 1 && i == fatal) {
            c.nonblocking = 1;
            if (during)
                start(team, &c);
            kill(getpid(), SIGKILL);
        }
        error = start(team, &c);
        if (error == 0 && c.nonblocking)
            error = await(c.req, i % 2);
        if (error == 0 && !is_right(&c))
            FAIL("%s: wrong before the death", describe(&c, team));
        covey_req_free(&c.req);
        buffer_free(&c.send);
        buffer_free(&c.recv);
    }
    if (error != COVEY_ENOTASK && error != COVEY_ECANCELED && error != COVEY_EHOSTFAIL)
        FAIL("a member died at call %d, and call %d ended with %s: %s", fatal, i,
             covey_strerror(error), covey_error_text());
    error = covey_barrier(team);
    if (error != COVEY_ENOTASK && error != COVEY_ECANCELED && error != COVEY_EHOSTFAIL)
        FAIL("a call after the death ended with %s", covey_strerror(error));
    covey_team_free(&team);
}

/* With the host that is lost went members, or what they had sent. */
static void try_lost(int n)
{
    covey_team_t *team = team_make(n, 0);
    int error = 0;
    for (int i = 0; team != NULL && error == 0; i++) {
        struct call c;
        draw_call(&c, team, draw(1u << 30));
        prepare(&c);
        error = start(team, &c);
        if (error == 0 && c.nonblocking)
            error = covey_wait(c.req, TIMEOUT_US);
        if (error == 0 && !is_right(&c))
            FAIL("%s: wrong before the loss", describe(&c, team));
        covey_req_free(&c.req);
        buffer_free(&c.send);
        buffer_free(&c.recv);
        if (i == 20 && me.rank == 0)
            puts("begun");
        fflush(stdout);
    }
    if (error != COVEY_ENOTASK && error != COVEY_ECANCELED && error != COVEY_EHOSTFAIL)
        FAIL("a host was lost, and a call ended with: %s", covey_error_text());
    snprintf(me.ended, sizeof me.ended, "%s: %s", covey_strerror(error), covey_error_text());
    error = covey_barrier(team);
    if (error != COVEY_ENOTASK && error != COVEY_ECANCELED && error != COVEY_EHOSTFAIL)
        FAIL("a call after the loss ended with %s", covey_strerror(error));
    covey_team_free(&team);
}

static int gave_up(int error)
{
    return error == COVEY_ETIMEOUT || error == COVEY_ECANCELED || error == COVEY_ETRUNC ||
           error == COVEY_ETYPE;
}

/* Member 0 stays away from a call; the others' time runs out, and then he is told. */
static void refuse_timeout(int n)
{
    covey_team_t *team = team_make(n, 0);
    uint8_t *big = calloc(1, 3000000);
    covey_team_set_timeout(team, 100000);
    int error = 0;
    if (me.rank == 0)
        covey_recv_array(me.vm, me.tids[1], TAG_USER, TIMEOUT_US, COVEY_BYTES, big, 1, NULL, NULL);
    error = covey_bcast(team, 1, COVEY_BYTES, big, 3000000);
    if (error == 0)
        error = covey_barrier(team);
    free(big); /* whoever still sends it has a copy */
    if (!gave_up(error))
        FAIL("rank %d: a member stayed away: %s", me.rank, covey_error_text());
    if (me.rank == 1)
        covey_send_array(me.vm, me.tids[0], TAG_USER, COVEY_BYTES, "x", 1);
    covey_team_free(&team);
}

static void refuse_counts(int n, size_t of_root, size_t of_others)
{
    covey_team_t *team = team_make(n, 0);
    int32_t numbers[10] = {0};
    int error = covey_bcast(team, 0, COVEY_INT32, numbers, me.rank == 0 ? of_root : of_others);
    if (error == 0)
        error = covey_barrier(team);
    if (!gave_up(error))
        FAIL("rank %d: counts that differ: %s", me.rank, covey_strerror(error));
    covey_team_free(&team);
}

/* A request that is freed before it is complete, which it cannot be before the root begins, breaks
 * the team; its arrays are free at once. */
static void refuse_freed(int n)
{
    covey_team_t *team = team_make(n, 0);
    covey_req_t *req = NULL;
    uint8_t *big = calloc(1, 3000000), x = 0;
    if (me.rank == 0)
        covey_recv_array(me.vm, me.tids[n - 1], TAG_USER, TIMEOUT_US, COVEY_BYTES, &x, 1, NULL,
                         NULL);
    int error = covey_ibcast(team, 0, COVEY_BYTES, big, 3000000, &req);
    if (error == 0 && me.rank == n - 1) {
        covey_req_free(&req);
        covey_send_array(me.vm, me.tids[0], TAG_USER, COVEY_BYTES, &x, 1);
    } else if (error == 0) {
        error = covey_wait(req, TIMEOUT_US);
    }
    covey_req_free(&req);
    free(big);
    for (int i = 0; i < 1000 && error == 0; i++)
        error = covey_barrier(team);
    if (!gave_up(error))
        FAIL("rank %d: a request was given up: %s", me.rank, covey_strerror(error));
    covey_team_free(&team);
}

/* A request ends with its team, and stays the program's. The member that the others wait for does
 * not call before one of them has freed the team. */
static void refuse_team_freed(int n)
{
    covey_team_t *team = team_make(n, 0);
    covey_req_t *req = NULL;
    uint8_t x = 0;
    int error = 0;
    if (me.rank == 0)
        covey_recv_array(me.vm, me.tids[n - 1], TAG_USER, TIMEOUT_US, COVEY_BYTES, &x, 1, NULL,
                         NULL);
    error = covey_ibarrier(team, &req);
    if (error == 0 && me.rank == n - 1) {
        covey_team_free(&team);
        covey_send_array(me.vm, me.tids[0], TAG_USER, COVEY_BYTES, &x, 1);
    }
    if (error == 0)
        error = await(req, me.rank % 2);
    if (!gave_up(error))
        FAIL("rank %d: a team was freed: %s", me.rank, covey_strerror(error));
    covey_req_free(&req);
    covey_team_free(&team);
}

static void refuse_arguments(int n)
{
    covey_team_t *team = team_make(n, 0), *none = NULL;
    covey_tid_t twice[2] = {me.tids[me.rank], me.tids[me.rank]}, other = me.tids[(me.rank + 1) % n];
    int32_t x = 1, y = 0;
    size_t counts[MEMBERS_MAX] = {0};
    if (covey_bcast(team, n, COVEY_INT32, &x, 1) != COVEY_EINVAL ||
        covey_bcast(team, 0, COVEY_STRING, &x, 1) != COVEY_EINVAL ||
        covey_bcast(team, 0, COVEY_INT32, NULL, 1) != COVEY_EINVAL ||
        covey_bcast(NULL, 0, COVEY_INT32, &x, 1) != COVEY_EINVAL ||
        covey_allreduce(team, COVEY_OP_BAND, COVEY_FLOAT, &x, &y, 1) != COVEY_EINVAL ||
        covey_allreduce(team, 999, COVEY_INT32, &x, &y, 1) != COVEY_EINVAL ||
        covey_allreduce(team, COVEY_OP_MINLOC, COVEY_INT32, &x, &y, 1) != COVEY_EINVAL ||
        covey_reduce(team, -1, COVEY_OP_SUM, COVEY_INT32, &x, &y, 1) != COVEY_EINVAL ||
        covey_alltoallv(team, COVEY_INT32, &x, NULL, NULL, &y, counts, NULL) != COVEY_EINVAL ||
        covey_team_force(team, "bcast", "no-such") != COVEY_EINVAL ||
        covey_team_create(me.vm, twice, 2, 0, &none) != COVEY_EINVAL ||
        (n > 1 && covey_team_create(me.vm, &other, 1, 0, &none) != COVEY_EINVAL))
        FAIL("a bad argument was taken");
    if (covey_allreduce(team, COVEY_OP_SUM, COVEY_INT32, &x, &y, 1) != 0 || y != n)
        FAIL("after refused calls: %s", covey_error_text());
    covey_team_free(&team);
}

/* Parts by rank modulo 3, the other way round, and one of nobody for rank 0. */
static void try_split(int n)
{
    covey_team_t *team = team_make(n, 0), *part = NULL, *lists = NULL;
    int32_t x = me.rank, y = -1, sum = 0, last = -1;
    int colour = me.rank == 0 ? -1 : me.rank % 3;
    for (int i = 1; i < n; i++) {
        sum += i % 3 == me.rank % 3 ? i : 0;
        last = i % 3 == me.rank % 3 ? i : last;
    }
    if (covey_team_split(team, colour, -me.rank, &part) != 0 || (part == NULL) != (me.rank == 0))
        FAIL("split: %s", covey_error_text());
    if (part != NULL && (covey_allreduce(part, COVEY_OP_SUM, COVEY_INT32, &x, &y, 1) != 0 ||
                         y != sum || covey_team_tid(part, 0) != me.tids[last]))
        FAIL("a part: %s", covey_error_text());
    if (n > 1) { /* others were given another list */
        covey_tid_t tids[MEMBERS_MAX];
        memcpy(tids, me.tids, sizeof tids);
        tids[n - 1] = me.tids[n - 2];
        tids[n - 2] = me.tids[n - 1];
        int error = covey_team_create(me.vm, me.rank == 0 ? tids : me.tids, n, 300000, &lists);
        if (n > 2 && (error == 0 || lists != NULL))
            FAIL("a team of different lists was made");
        covey_team_free(&lists);
    }
    covey_team_free(&part);
    covey_barrier(team);
    covey_team_free(&team);
}

static void try_group(int n)
{
    char name[32];
    covey_group_t *group = NULL;
    covey_team_t *team = NULL;
    int32_t x = 1, y = 0;
    snprintf(name, sizeof name, "team-%llu-%d", (unsigned long long)me.seed, n);
    if (covey_group_join(me.vm, name, &group) < 0 ||
        covey_team_of_group(group, n, TIMEOUT_US, &team) != 0 ||
        covey_team_rank(team) != covey_group_instance(group) ||
        covey_allreduce(team, COVEY_OP_SUM, COVEY_INT32, &x, &y, 1) != 0 || y != n)
        FAIL("a team of a group of %d: %s", n, covey_error_text());
    covey_team_free(&team);
    covey_group_leave(&group);
}

/* Calls in which everybody casts. */
static void try_cast_by_all(covey_team_t *team)
{
    static const int kinds[] = {ALLGATHER, ALLGATHERV, ALLREDUCE, REDUCE_SCATTER};
    for (int i = 0; i < me.rounds && me.failures == 0; i++) {
        struct call c;
        draw_call_of(&c, team, draw(1u << 30), kinds[i % 4]);
        if (covey_team_force(team, kind_names[c.kind], "cast") != 0)
            FAIL("%s cannot be cast: %s", kind_names[c.kind], covey_error_text());
        prepare(&c);
        finish(team, &c, start(team, &c));
        covey_team_force(team, kind_names[c.kind], NULL);
    }
}

/* Sums that are rounded: the same bits every time and at all members, and each part those of the
 * whole. */
static void try_cast_bits(covey_team_t *team)
{
    enum { EACH = 31, TIMES = 4 };
    int n = covey_team_size(team), rank = covey_team_rank(team);
    size_t all = EACH * (size_t)n, counts[MEMBERS_MAX];
    double *own = calloc(all, sizeof *own), *first = calloc(all, sizeof *own),
           *whole = calloc(all, sizeof *own), part[EACH];
    for (size_t i = 0; i < all; i++)
        own[i] = 1.0 / (double)(3 + rank * 7 + (int)i) * (i % 2 == 0 ? 1e9 : -1e-9);
    for (int i = 0; i < n; i++)
        counts[i] = EACH;
    covey_team_force(team, "allreduce", "cast");
    covey_team_force(team, "reduce_scatter", "cast");
    for (int i = 0; i < TIMES && me.failures == 0; i++) {
        if (covey_allreduce(team, COVEY_OP_SUM, COVEY_DOUBLE, own, whole, all) != 0 ||
            covey_reduce_scatter(team, COVEY_OP_SUM, COVEY_DOUBLE, own, part, counts) != 0)
            FAIL("sums: %s", covey_error_text());
        if (i == 0)
            memcpy(first, whole, all * sizeof *first);
        if (memcmp(first, whole, all * sizeof *first) != 0 ||
            memcmp(first + (size_t)rank * EACH, part, sizeof part) != 0)
            FAIL("sum %d has other bits", i);
    }
    memcpy(whole, first, all * sizeof *first);
    if (covey_bcast(team, 0, COVEY_DOUBLE, whole, all) != 0 ||
        memcmp(first, whole, all * sizeof *first) != 0)
        FAIL("member 0 has other bits");
    covey_team_force(team, "allreduce", NULL);
    covey_team_force(team, "reduce_scatter", NULL);
    free(own);
    free(first);
    free(whole);
}

/* Where raw Ethernet is the route, broadcasts and barriers are cast. */
static void try_cast(int n)
{
    covey_team_t *team = team_make(n, 0);
    int32_t numbers[3000];
    for (int i = 0; i < me.rounds && team != NULL && me.failures == 0; i++) {
        size_t count = draw(3000);
        int root = i % n;
        for (size_t k = 0; k < count; k++)
            numbers[k] = me.rank == root ? (int32_t)(i * 5000 + (int)k) : -1;
        if (strcmp(covey_team_algorithm(team, "bcast", count), "cast") != 0 ||
            strcmp(covey_team_algorithm(team, "barrier", 0), "cast") != 0)
            FAIL("they are not cast");
        if (covey_bcast(team, root, COVEY_INT32, numbers, count) != 0 || covey_barrier(team) != 0)
            FAIL("a cast: %s", covey_error_text());
        for (size_t k = 0; k < count; k++) {
            if (numbers[k] != (int32_t)(i * 5000 + (int)k))
                FAIL("cast %d: wrong at %zu", i, k);
        }
    }
    if (team != NULL && me.failures == 0)
        try_cast_by_all(team);
    if (team != NULL && me.failures == 0)
        try_cast_bits(team);
    covey_team_free(&team);
}

static void try_refuse(int n)
{
    refuse_arguments(n);
    try_split(n);
    try_group(n);
    if (n > 1) {
        refuse_timeout(n);
        refuse_counts(n, 10, 9);
        refuse_counts(n, 9, 10);
        refuse_freed(n);
        refuse_team_freed(n);
    }
    try_random(n);
}

static void try_one(int n)
{
    draw_state = me.seed * 1000 + (uint64_t)n;
    if (me.rank >= n)
        return;
    if (strcmp(me.what, "random") == 0)
        try_random(n);
    else if (strcmp(me.what, "flight") == 0)
        try_flight(n);
    else if (strcmp(me.what, "death") == 0)
        try_death(n);
    else if (strcmp(me.what, "lost") == 0)
        try_lost(n);
    else if (strcmp(me.what, "cast") == 0)
        try_cast(n);
    else
        try_refuse(n);
}

/* ---- the first member and the others ---- */

/* Returns where the numbers of members begin in argv. */
static int parse(int argc, char **argv)
{
    int i = 1;
    me.seed = 1;
    me.rounds = 40;
    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        if (strcmp(argv[i], "--seed") == 0)
            me.seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--rounds") == 0)
            me.rounds = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--route") == 0)
            me.route = argv[i + 1];
        else if (strcmp(argv[i], "--host") == 0)
            me.hosts = argv[i + 1];
        else if (strcmp(argv[i], "--lost") == 0)
            me.lost = argv[i + 1];
    }
    if (i + 1 >= argc)
        return -1;
    me.what = argv[i];
    for (int k = i + 1; k < argc; k++)
        me.all = atoi(argv[k]) > me.all ? atoi(argv[k]) : me.all;
    return i + 1;
}

static void report(void)
{
    int32_t failures = me.failures;
    covey_msg_t *msg = covey_msg_new();
    covey_pack_int32(msg, &failures, 1, 1);
    covey_pack_string(msg, me.failures > 0 ? me.first : me.ended);
    covey_send(me.vm, me.tids[0], TAG_RESULT, msg);
    covey_msg_free(msg);
}

/* The index of the host that is lost, while it is there; 0: none is. */
static int lost_host(void)
{
    struct covey_host *hosts = NULL;
    int count = covey_hosts(me.vm, &hosts), index = 0;
    for (int i = 0; me.lost != NULL && i < count; i++) {
        if (strcmp(hosts[i].name, me.lost) == 0 && hosts[i].index > index)
            index = hosts[i].index;
    }
    covey_free(hosts);
    return index;
}

static void collect(int n)
{
    int members = strcmp(me.what, "death") == 0 ? n - 1 : n, lost = lost_host();
    if (me.ended[0] != '\0')
        printf("ended: %s\n", me.ended);
    for (int i = 1; i < members; i++) {
        covey_msg_t *msg = NULL;
        if (covey_tid_host(me.tids[i]) == lost)
            continue;
        int32_t failures = 1;
        char text[200] = "no result";
        if (covey_recv(me.vm, me.tids[i], TAG_RESULT, MEETING_US, &msg) == 0) {
            covey_unpack_int32(msg, &failures, 1, 1);
            covey_unpack_string(msg, text, sizeof text);
        }
        covey_msg_free(msg);
        if (failures > 0)
            FAIL("%s", text);
        else if (text[0] != '\0')
            printf("ended: %s\n", text);
    }
    printf("%s %s of %d%s%s\n", me.failures == 0 ? "ok" : "not ok", me.what, n,
           me.failures == 0 ? "" : ": ", me.first);
    fflush(stdout);
}

static void spawn_all(char **argv)
{
    char hosts[256];
    const char *names[MEMBERS_MAX + 1] = {NULL};
    static const char *const env[] = {"COLLECTIVE_MEMBER=1", NULL};
    struct covey_spawn what = {.argv = (const char *const *)argv, .env = env};
    me.tids[0] = covey_mytid(me.vm);
    if (me.hosts != NULL) {
        int n = 0;
        char *save = NULL;
        snprintf(hosts, sizeof hosts, "%s", me.hosts);
        for (char *h = strtok_r(hosts, ",", &save); h != NULL; h = strtok_r(NULL, ",", &save))
            names[n++] = h;
        what.hosts = names;
        what.where = COVEY_WHERE_HOSTS;
    }
    if (me.all > 1 && covey_spawn(me.vm, &what, me.all - 1, me.tids + 1) != me.all - 1) {
        printf("not ok spawn: %s\n", covey_error_text());
        exit(1);
    }
    for (int i = 1; i < me.all; i++)
        covey_send_array(me.vm, me.tids[i], TAG_LIST, COVEY_INT32, me.tids, (size_t)me.all);
}

int main(int argc, char **argv)
{
    int first = parse(argc, argv), calls = 0;
    if (first < 0 || me.all < 1 || me.all > MEMBERS_MAX)
        return fprintf(
                   stderr,
                   "usage: collective [options] random|flight|death|lost|cast|refuse MEMBERS...\n"),
               2;
    struct covey_options options = {.route = me.route == NULL ? 0 : covey_route_parse(me.route)};
    if (covey_join(&me.vm, &options) != 0)
        return printf("not ok join: %s\n", covey_error_text()), 1;
    me.affine = covey_op_define(me.vm, affine, &calls, 0, 2);
    if (getenv("COLLECTIVE_MEMBER") == NULL)
        spawn_all(argv);
    else if (covey_recv_array(me.vm, covey_parent(me.vm), TAG_LIST, TIMEOUT_US, COVEY_INT32,
                              me.tids, MEMBERS_MAX, NULL, NULL) != 0)
        return printf("not ok the list of members: %s\n", covey_error_text()), 1;
    while (me.tids[me.rank] != covey_mytid(me.vm))
        me.rank++;
    for (int k = first; k < argc; k++) {
        int n = atoi(argv[k]);
        me.failures = 0;
        try_one(n);
        if (me.rank == 0)
            collect(n);
        else if (me.rank < n)
            report();
    }
    covey_leave(&me.vm);
    return me.failures > 0;
}
