/* links: tests/conformance/story.c libcovey */
/*
 * tiles.c - tiled loops: whatever space, dependences, tiles and number of tasks, every bit is that
 * of the loop as it stands.
 *
 *   tiles MEMBERS LOOPS[b]          spawns the others, and tests so many random loops on teams of
 * 1, 2, 4, 9 and 16 members; b: the one that dies does so in the blocking schedule tiles member
 * MEMBERS LOOPS[b]   is what it spawns
 *
 * All members make the same random loops from a seed. Each runs the untiled loop, too, compares its
 * own part, and the first one compares what it gathers. It prints how many faces of a loop of all
 * members were put into the memory of a neighbour, and how many were sent.
 */
#include <covey.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tests/conformance/story.h"

#define MEMBERS_MAX 16

#define SOON_S 10
#define LATE_US 300000
#define FILE_BYTES (16 << 20) /* more than a team's segment of 16 members */
#define FACE_BYTES 262144     /* of which windows of the same team are larger */

static int loops, dies_in;

static uint64_t below(uint64_t *seed, uint64_t limit)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % limit;
}

/* ---- what is computed -------------------------------------------------------------------------
 * A value is some doubles, each of the same ones of the values that it depends on and of the point.
 */

struct loop {
    struct covey_tiles_loop nest;
    int64_t stride[COVEY_TILES_DIMS_MAX];
    int64_t points;
    double *reference;
};

static double of_point(const struct loop *l, const int64_t *point, int element)
{
    double sum = 0.25 + element;
    for (int i = 0; i < l->nest.dims; i++)
        sum = sum * 3 + (double)(point[i] % 17);
    return sum;
}

static double of_sum(double sum, double own)
{
    return sqrt(sum) + 1 / own;
}

static void outside(const int64_t *point, void *value, void *context)
{
    const struct loop *l = context;
    for (int w = 0; w < l->nest.width; w++)
        ((double *)value)[w] = fabs(of_point(l, point, w)) + 1;
}

static void compute(const covey_tile_t *tile, void *context)
{
    const struct loop *l = context;
    struct covey_tile_row row = {0};
    while (covey_tile_next(tile, &row)) {
        double *value = row.values;
        for (int64_t i = 0; i < row.count * l->nest.width; i++, value++) {
            int w = (int)(i % l->nest.width);
            int64_t point[COVEY_TILES_DIMS_MAX];
            double sum = 0;
            for (int k = 0; k < l->nest.dims; k++)
                point[k] = row.point[k] + i / l->nest.width * row.step[k];
            for (int d = 0; d < l->nest.dependences; d++)
                sum += value[row.offset[d]] * (d + 1);
            *value = of_sum(sum, of_point(l, point, w));
        }
    }
}

/* The value on which one depends, or NULL: it is outside. */
static const double *earlier(const struct loop *l, const int64_t *point)
{
    int64_t at = 0;
    for (int i = 0; i < l->nest.dims; i++) {
        if (point[i] < 0 || point[i] >= l->nest.size[i])
            return NULL;
        at += point[i] * l->stride[i];
    }
    return l->reference + at * l->nest.width;
}

static void refer_point(struct loop *l, const int64_t *point, double *value)
{
    double sums[8] = {0}, border[8];
    for (int d = 0; d < l->nest.dependences; d++) {
        int64_t before[COVEY_TILES_DIMS_MAX] = {0};
        for (int i = 0; i < l->nest.dims; i++)
            before[i] = point[i] - l->nest.dependence[d][i];
        const double *there = earlier(l, before);
        if (there == NULL)
            outside(before, border, l);
        for (int w = 0; w < l->nest.width; w++)
            sums[w] += (there != NULL ? there : border)[w] * (d + 1);
    }
    for (int w = 0; w < l->nest.width; w++)
        value[w] = of_sum(sums[w], of_point(l, point, w));
}

/* The loop as it stands. */
static void refer(struct loop *l)
{
    int64_t point[COVEY_TILES_DIMS_MAX] = {0};
    l->points = 1;
    for (int i = l->nest.dims - 1; i >= 0; i--) {
        l->stride[i] = l->points;
        l->points *= l->nest.size[i];
    }
    l->reference = calloc((size_t)(l->points * l->nest.width), sizeof(double));
    for (int64_t n = 0; n < l->points; n++) {
        refer_point(l, point, l->reference + n * l->nest.width);
        for (int i = l->nest.dims - 1; i >= 0 && ++point[i] == l->nest.size[i]; i--)
            point[i] = 0;
    }
}

/* ---- random loops ---------------------------------------------------------------------------- */

static void random_loop(struct loop *l, uint64_t *seed)
{
    struct covey_tiles_loop *n = &l->nest;
    *l = (struct loop){.nest = {.type = COVEY_DOUBLE, .compute = compute, .outside = outside}};
    n->dims = 1 + (int)below(seed, 4);
    n->width = 1 + (int)below(seed, 3);
    n->dependences = 1 + (int)below(seed, 5);
    n->context = l;
    int signs = below(seed, 2) == 0;
    for (int i = 0; i < n->dims; i++)
        n->size[i] = 1 + (int64_t)below(seed, n->dims > 2 ? 14 : 60);
    for (int d = 0; d < n->dependences; d++) {
        int lead = (int)below(seed, (uint64_t)n->dims);
        for (int i = lead; i < n->dims; i++)
            n->dependence[d][i] = (int)below(seed, signs ? 4 : 3) - (signs ? 2 : 0);
        n->dependence[d][lead] = 1 + (int)below(seed, 2);
    }
    if (signs || below(seed, 4) == 0)
        check("a skew", covey_tiles_skew(n) == 0);
    refer(l);
}

static void random_options(struct covey_tiles_options *o, const struct loop *l, uint64_t *seed)
{
    *o = (struct covey_tiles_options){.costs = {1e-7, 1e-4, 1e-8, 1e-6, 1e-9}};
    o->along = (int)below(seed, (uint64_t)l->nest.dims + 1);
    o->ahead = (int)below(seed, 4);
    o->faces = below(seed, 4) == 0 ? COVEY_TILES_MESSAGES : COVEY_TILES_ANY_WAY;
    for (int i = 0; i < l->nest.dims; i++)
        o->tile[i] = below(seed, 2) ? 1 + (int64_t)below(seed, 9) : 0;
}

/* Any legal H: rows that are sums of rows of a legal skew, of which not all indices are points. */
static void random_skew(struct covey_tiles_loop *n, uint64_t *seed)
{
    int32_t skew[COVEY_TILES_DIMS_MAX][COVEY_TILES_DIMS_MAX] = {{0}};
    check("a skew", covey_tiles_skew(n) == 0);
    for (int i = 0; i < n->dims; i++) {
        for (int j = 0; j <= i; j++) {
            int times = (int)below(seed, 3) + (i == j);
            for (int k = 0; k < n->dims; k++)
                skew[i][k] += times * n->skew[j][k];
        }
    }
    memcpy(n->skew, skew, sizeof skew);
}

static void random_shape(struct loop *l, struct covey_tiles_options *o, uint64_t *seed)
{
    int form = (int)below(seed, 2);
    switch (below(seed, 4)) {
    case 0:
        random_skew(&l->nest, seed);
        break;
    case 1:
        check("a shape", covey_tiles_shape(&l->nest, form, (double)below(seed, 200), o) == 0);
        break;
    default: /* the skew that it has, or none */
        break;
    }
}

/* ---- one member's side ----------------------------------------------------------------------- */

static int own_part_is_right(const struct loop *l, const covey_tiles_t *tiles, int64_t *points)
{
    struct covey_tile_row row = {0};
    *points = 0;
    while (covey_tile_next(covey_tiles_part(tiles), &row)) {
        *points += row.count;
        for (int64_t i = 0; i < row.count; i++) {
            int64_t point[COVEY_TILES_DIMS_MAX] = {0};
            for (int k = 0; k < l->nest.dims; k++)
                point[k] = row.point[k] + i * row.step[k];
            const double *here = (double *)row.values + i * l->nest.width;
            if (covey_tiles_value(tiles, point) != here ||
                memcmp(here, earlier(l, point), (size_t)l->nest.width * sizeof(double)) != 0)
                return 0;
        }
    }
    return 1;
}

static void gathered_is_right(const struct loop *l, covey_team_t *team, covey_tiles_t *tiles,
                              int root)
{
    size_t bytes = (size_t)(l->points * l->nest.width) * sizeof(double);
    double *values = covey_team_rank(team) == root ? calloc(1, bytes) : NULL;
    check("covey_tiles_gather()", covey_tiles_gather(tiles, root, values) == 0);
    if (values != NULL)
        check("what was gathered is the untiled loop's", memcmp(values, l->reference, bytes) == 0);
    free(values);
}

/* Twice: a loop can be run again. */
static void run_loop(const struct loop *l, covey_team_t *team, covey_tiles_t *tiles, int root)
{
    struct covey_tiles_timing timing = {0};
    struct covey_tiles_plan plan;
    int64_t points = 0;
    covey_tiles_info(tiles, &plan);
    for (int round = 0; round < 2; round++) {
        check("covey_tiles_run()", covey_tiles_run(tiles, &timing) == 0);
        check("the part is the untiled loop's", own_part_is_right(l, tiles, &points));
        check("the points are counted", timing.points == points);
    }
    check("the plan has no more tasks than there are", plan.tasks <= covey_team_size(team));
    gathered_is_right(l, team, tiles, root);
}

static void one_loop(covey_team_t *team, uint64_t seed)
{
    struct loop l;
    struct covey_tiles_options options;
    random_loop(&l, &seed);
    random_options(&options, &l, &seed);
    random_shape(&l, &options, &seed);
    int root = (int)below(&seed, (uint64_t)covey_team_size(team));
    for (int schedule = COVEY_TILES_OVERLAP; schedule <= COVEY_TILES_BLOCK; schedule++) {
        covey_tiles_t *tiles = NULL;
        options.schedule = schedule;
        int failures = story_failed();
        int error = covey_tiles_create(team, &l.nest, &options, &tiles);
        check("covey_tiles_create()", error == 0);
        if (error == 0)
            run_loop(&l, team, tiles, root);
        covey_tiles_free(&tiles);
        if (story_failed() > failures)
            fprintf(stderr, "    rank %d of %d, schedule %d, seed %llu\n", covey_team_rank(team),
                    covey_team_size(team), schedule, (unsigned long long)seed);
    }
    free(l.reference);
}

/* ---- stories --------------------------------------------------------------------------------- */

static void random_loops(covey_team_t *team)
{
    for (int i = 0; i < loops; i++)
        one_loop(team, (uint64_t)covey_team_size(team) * 100000 + (uint64_t)i);
}

static struct covey_tiles_loop stencil(struct loop *l)
{
    return (struct covey_tiles_loop){.dims = 2,
                                     .size = {40, 60},
                                     .dependences = 3,
                                     .dependence = {{1, -1}, {1, 0}, {1, 1}},
                                     .type = COVEY_DOUBLE,
                                     .width = 1,
                                     .compute = compute,
                                     .outside = outside,
                                     .context = l};
}

/* Illegal as it stands, legal with the right H. */
static void a_stencil_needs_a_skew(covey_team_t *team)
{
    struct loop l = {0};
    covey_tiles_t *tiles = NULL;
    const struct covey_tiles_options options = {.costs = {1e-7, 1e-4, 1e-8, 0, 0}};
    l.nest = stencil(&l);
    refer(&l);
    check("untiled it cannot be tiled",
          covey_tiles_create(team, &l.nest, &options, &tiles) == COVEY_EINVAL && tiles == NULL);
    check("the text says why", strstr(covey_error_text(), "HD >= 0") != NULL);
    l.nest.skew[0][0] = l.nest.skew[1][0] = l.nest.skew[1][1] = 1;
    int error = covey_tiles_create(team, &l.nest, &options, &tiles);
    check("with a skew it can", error == 0);
    if (error == 0)
        run_loop(&l, team, tiles, 0);
    covey_tiles_free(&tiles);
    free(l.reference);
}

/* Tiles with sides along t + x and t - x, for which half the indices are points: they send less
 * than skewed ones of as many points. */
static void a_stencil_in_diamonds(covey_team_t *team)
{
    static const int64_t sides[COVEY_TILES_DIMS_MAX][COVEY_TILES_DIMS_MAX] = {{5, 5}, {5, -5}};
    static const int64_t wrong[COVEY_TILES_DIMS_MAX][COVEY_TILES_DIMS_MAX] = {{5, 0}, {0, 5}};
    static const int64_t flat[COVEY_TILES_DIMS_MAX][COVEY_TILES_DIMS_MAX] = {{5, 5}, {10, 10}};
    struct loop l = {0};
    covey_tiles_t *tiles = NULL;
    struct covey_tiles_options options = {
        .grid = {covey_team_size(team), 1}, .along = 2, .costs = {1e-7, 1e-4, 1e-8, 0, 0}};
    struct covey_tiles_plan diamond = {0};
    l.nest = stencil(&l);
    l.nest.size[0] = l.nest.size[1] = 160;
    refer(&l);
    check("sides that are not legal", covey_tiles_sides(&l.nest, wrong, &options) == COVEY_EINVAL &&
                                          strstr(covey_error_text(), "HD >= 0") != NULL);
    check("sides that are dependent", covey_tiles_sides(&l.nest, flat, &options) == COVEY_EINVAL);
    check("diamonds", covey_tiles_sides(&l.nest, sides, &options) == 0);
    int error = covey_tiles_create(team, &l.nest, &options, &tiles);
    check("a loop in diamonds", error == 0);
    if (error == 0) {
        run_loop(&l, team, tiles, 0);
        covey_tiles_info(tiles, &diamond);
        check("their sides", diamond.tile[0] == 10 && diamond.tile[1] == 10);
    }
    covey_tiles_free(&tiles);
    check("the shape of least communication",
          covey_tiles_shape(&l.nest, COVEY_TILES_OF_EACH, 50, &options) == 0);
    check("it is a diamond", l.nest.skew[0][0] == 1 && l.nest.skew[0][1] == 1 &&
                                 l.nest.skew[1][0] == 1 && l.nest.skew[1][1] == -1 &&
                                 options.tile[0] == 10 && options.tile[1] == 10);
    free(l.reference);
}

/* Faces that no queue takes whole: what is under way is not changed by the next tile. */
static void faces_are_large(covey_team_t *team)
{
    struct loop l = {0};
    covey_tiles_t *tiles = NULL;
    const struct covey_tiles_options options = {.ahead = 1, .tile = {0, 50000}};
    l.nest = stencil(&l);
    l.nest.size[0] = covey_team_size(team);
    l.nest.size[1] = 300000;
    l.nest.width = 4;
    l.nest.dependences = 2; /* those that do not go back */
    l.nest.dependence[0][1] = 2;
    refer(&l);
    int error = covey_tiles_create(team, &l.nest, &options, &tiles);
    check("tiles of large faces", error == 0);
    if (error == 0)
        run_loop(&l, team, tiles, 0);
    covey_tiles_free(&tiles);
    free(l.reference);
}

/* Without costs they are measured, and the height goes by them. */
static void costs_are_measured(covey_team_t *team)
{
    struct loop l = {0};
    covey_tiles_t *tiles = NULL;
    struct covey_tiles_plan plan;
    l.nest = stencil(&l);
    refer(&l);
    check("a skew", covey_tiles_skew(&l.nest) == 0);
    int error = covey_tiles_create(team, &l.nest, NULL, &tiles);
    check("without options", error == 0);
    if (error == 0) {
        covey_tiles_info(tiles, &plan);
        check("t_c", plan.costs.point_s > 0);
        check("alpha", plan.tasks == 1 || plan.costs.alpha_s > 0);
        check("a height", plan.tile[plan.along - 1] >= 1 && plan.overlap_s > 0);
        run_loop(&l, team, tiles, 0);
    }
    covey_tiles_free(&tiles);
    free(l.reference);
}

/* What is wrong at one member is an error at all, and the team goes on. */
static void members_differ(covey_team_t *team)
{
    struct loop l = {0};
    covey_tiles_t *tiles = NULL;
    int last = covey_team_rank(team) == covey_team_size(team) - 1;
    l.nest = stencil(&l);
    check("a skew", covey_tiles_skew(&l.nest) == 0);
    l.nest.size[0] += last;
    check("members differ", covey_tiles_create(team, &l.nest, NULL, &tiles) == COVEY_EINVAL);
    l.nest.size[0] = last ? 0 : 40;
    check("one cannot", covey_tiles_create(team, &l.nest, NULL, &tiles) == COVEY_EINVAL);
}

/* A row of all members, each of which gives a face to the next one after each of its 10 tiles. */
static void row_of_all(struct loop *l, int members, int64_t face_bytes,
                       struct covey_tiles_options *options)
{
    int64_t height = face_bytes / (int64_t)sizeof(double);
    *options = (struct covey_tiles_options){.along = 2, .grid = {members, 1}};
    options->tile[1] = height;
    l->nest = stencil(l);
    l->nest.size[0] = members;
    l->nest.size[1] = 10 * height;
    l->nest.dependence[0][1] = 0;
    l->nest.dependences = 2;
    refer(l);
}

/* Runs it, and sums up how many faces all members put and sent. */
static void run_row(covey_team_t *team, const struct loop *l,
                    const struct covey_tiles_options *options, int64_t *sums)
{
    struct covey_tiles_timing timing = {0};
    covey_tiles_t *tiles = NULL;
    int64_t points;
    int error = covey_tiles_create(team, &l->nest, options, &tiles);
    check("a row of tasks", error == 0);
    for (int i = 0; i < 3 && error == 0; i++)
        error = covey_tiles_run(tiles, &timing);
    check("runs", error == 0 && own_part_is_right(l, tiles, &points));
    const int64_t own[] = {timing.puts, timing.messages, timing.bytes};
    check("sums", covey_allreduce(team, COVEY_OP_SUM, COVEY_INT64, own, sums, 3) == 0);
    covey_tiles_free(&tiles);
}

/* Between tasks that share memory faces are put there, unless messages are asked for. */
static void faces_are_put(covey_team_t *team)
{
    struct covey_tiles_options options;
    struct loop l = {0};
    int64_t any[3] = {0}, sent[3] = {0};
    int size = covey_team_size(team);
    row_of_all(&l, size, 512, &options);
    for (int schedule = COVEY_TILES_OVERLAP; schedule <= COVEY_TILES_BLOCK; schedule++) {
        options.schedule = schedule;
        options.faces = COVEY_TILES_ANY_WAY;
        run_row(team, &l, &options, any);
        options.faces = COVEY_TILES_MESSAGES;
        run_row(team, &l, &options, sent);
        check("each face goes one way", any[0] + any[1] == 10 * (size - 1));
        check("all are messages where that is asked for",
              sent[0] == 0 && sent[1] == any[0] + any[1]);
        check("bytes of both ways count", any[2] == sent[2] && any[2] == 5120 * (size - 1));
    }
    if (covey_team_rank(team) == 0)
        printf("faces of a row: %lld put, %lld sent\n", (long long)any[0], (long long)any[1]);
    options.faces = COVEY_TILES_MESSAGES + 1;
    covey_tiles_t *tiles = NULL;
    check("an unknown way", covey_tiles_create(team, &l.nest, &options, &tiles) == COVEY_EINVAL);
    free(l.reference);
}

/* Where one member can make no memory to share, or none that is large enough, all send. */
static void memory_is_short(covey_team_t *team)
{
    struct covey_tiles_options options;
    struct rlimit before, less;
    struct loop l = {0};
    int64_t sums[3] = {0};
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    less = before;
    row_of_all(&l, covey_team_size(team), FACE_BYTES, &options);
    options.ahead = COVEY_TILES_AHEAD_MAX;
    for (int i = 0; i < 2; i++) {
        less.rlim_cur = i == 0 ? 4096 : FILE_BYTES;
        setrlimit(RLIMIT_FSIZE, &less);
        run_row(team, &l, &options, sums);
        check("without memory all are messages", sums[0] == 0 && sums[1] > 0);
    }
    setrlimit(RLIMIT_FSIZE, &before);
    free(l.reference);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Runs tiles of which one member computes otherwise, until there is an error, and returns that. */
static int run_into_error(covey_team_t *team, int schedule, covey_tile_fn *of_one,
                          int64_t timeout_us)
{
    struct loop l = {0};
    covey_tiles_t *tiles = NULL;
    const struct covey_tiles_options options = {
        .schedule = schedule, .tile = {0, 4}, .costs = {1e-7, 1e-4, 1e-8, 0, 0}};
    int middle = covey_team_rank(team) == covey_team_size(team) / 2;
    l.nest = stencil(&l);
    l.nest.size[1] = 6000;
    check("a skew", covey_tiles_skew(&l.nest) == 0);
    l.nest.compute = middle ? of_one : compute;
    check("tiles before the error", covey_tiles_create(team, &l.nest, &options, &tiles) == 0);
    covey_team_set_timeout(team, timeout_us);
    double since_s = now_s();
    int error = covey_tiles_run(tiles, NULL);
    if (error == 0) /* it was before the one in the middle, and had been done */
        error = covey_tiles_run(tiles, NULL);
    check("the error comes soon", now_s() - since_s < SOON_S);
    covey_tiles_free(&tiles);
    return error;
}

static int late_tiles;

static void is_late(const covey_tile_t *tile, void *context)
{
    compute(tile, context);
    if (late_tiles-- > 0)
        usleep(4 * LATE_US);
}

/* One is late: the others wait as long as their team allows. */
static void a_member_is_late(covey_team_t *all)
{
    int rank = covey_team_rank(all);
    for (int schedule = COVEY_TILES_OVERLAP; schedule <= COVEY_TILES_BLOCK; schedule++) {
        covey_team_t *team = NULL;
        check("a team", covey_team_split(all, 0, rank, &team) == 0);
        late_tiles = 4;
        int error = run_into_error(team, schedule, is_late, LATE_US);
        check("a late member is an error", error == COVEY_ETIMEOUT || error == COVEY_ECANCELED);
        covey_team_free(&team);
    }
}

static void dies(const covey_tile_t *tile, void *context)
{
    static int tiles;
    if (++tiles > 20)
        raise(SIGKILL);
    compute(tile, context);
}

/* One member ends in the middle: all others get an error, soon. */
static void a_member_dies(covey_team_t *team)
{
    int error = run_into_error(team, dies_in, dies, STORY_PATIENCE_US);
    check("a dead member is an error", error == COVEY_ENOTASK || error == COVEY_ECANCELED);
}

static void all_stories(covey_team_t *all)
{
    static const int sizes[] = {1, 2, 4, 9, 16};
    int size = covey_team_size(all), rank = covey_team_rank(all);
    for (int i = 0; i < 5 && sizes[i] <= size; i++) {
        covey_team_t *part = NULL;
        check("a part of the team",
              covey_team_split(all, rank < sizes[i] ? 0 : -1, rank, &part) == 0);
        if (part) {
            random_loops(part);
            a_stencil_needs_a_skew(part);
            a_stencil_in_diamonds(part);
            costs_are_measured(part);
            if (sizes[i] == 2)
                faces_are_large(part);
            if (sizes[i] > 1)
                members_differ(part);
        }
        covey_team_free(&part);
    }
    faces_are_put(all);
    memory_is_short(all);
    a_member_is_late(all);
    a_member_dies(all);
}

int main(int argc, char **argv)
{
    const struct story story = {"tiles-test", MEMBERS_MAX, all_stories};
    loops = argc > 2 ? atoi(argv[argc - 1]) : 0;
    dies_in = argc > 2 && strchr(argv[argc - 1], 'b') ? COVEY_TILES_BLOCK : COVEY_TILES_OVERLAP;
    return story_main(argc, argv, &story);
}
