/*
 * matmul - multiplies two matrices by pipe-multiply-roll (Schmidt & Sunderam, section 2.3).
 *
 * Files. matmul.c: options, and the coordinator that the user starts. multiply.c: the q x q tasks,
 * which compute with CBLAS. stream.c: how panels of A and B travel through a task. grid.c: which
 * host a task is put on and how a row hands on a block. matrix.c: the factors, made in place from
 * a seed. product.c: the checks.
 *
 * Four strategies, for the comparison of section 4.3 and Figure 15. By default panels are sent
 * ahead while others are multiplied: stream.c. With --phases it is done phase by phase as in Figure
 * 3(b), with --hierarchical in two levels of that: hierarchical.c. With --bag by agenda
 * parallelism: subblock.c, multiplier.c.
 *
 * What is timed is the multiplication: the factors are where they are needed before, and the
 * product is collected, if it is wanted at all, after; out of a bag it comes meanwhile.
 */
#include "apps/block.h"
#include "apps/coordinator.h"
#include "apps/matmul/grid.h"
#include "apps/matmul/hierarchical.h"
#include "apps/matmul/kernel.h"
#include "apps/matmul/matrix.h"
#include "apps/matmul/multiply.h"
#include "apps/matmul/product.h"
#include "apps/matmul/subblock.h"
#include "apps/outfile.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#define N_DEFAULT 2048
#define HIERARCHY_Q_DEFAULT 4
#define N_SEQUENTIAL_MAX 6144 /* up to here the whole product is compared: 300 MB of it */

enum {
    OPTION_FREIVALDS = APP_OPTION_OWN,
    OPTION_BAG,
    OPTION_FETCH,
    OPTION_HIERARCHICAL,
    OPTION_PHASES
};

struct matmul_options {
    struct app_options common;
    int64_t n;
    int q; /* 0: by the number of hosts */
    bool freivalds;
    bool bag;
    bool fetch;
    bool hierarchical;
    bool phases;
};

/* What the coordinator keeps of the results. */
struct matmul {
    const struct matmul_options *options;
    struct multiply_job job;
    double *whole; /* the product of the sequential run */
    double *block; /* the block at hand */
    struct freivalds freivalds;
    struct outfile file;
    bool equal;
    struct subblocks subblocks; /* by way of a bag */
};

/* ---- Options ----------------------------------------------------------------------------- */

static const char help[] =
    "Usage: matmul [OPTION]...\n"
    "Multiplies two N x N matrices by pipe-multiply-roll on q x q tasks of a virtual machine and\n"
    "prints where the time went.\n"
    "\n"
    "  -N, --size N          rows and columns of the matrices (2048); K, M: times 1024, 1024^2\n"
    "  -q, --grid Q          Q x Q tasks (the smallest Q that loads all hosts alike)\n"
    "      --bag             Q x Q blocks of the product (12 x 12) as items of a bag, done by any\n"
    "                        number of tasks (-n, one a host), which have both factors in place\n"
    "      --fetch           with --bag: Q x Q x Q products of two blocks (Q: 4), which tasks "
    "fetch\n"
    "      --phases          pipe, multiply and roll one after the other, nothing is sent ahead\n"
    "      --hierarchical    pipe-multiply-roll of groups of tasks, whose products are again\n"
    "                        pipe-multiply-roll; Q, 4 if not set, is no prime\n"
    "  -n, --tasks TASKS     the same as -q with the square root; must be a square, or auto: as "
    "many\n"
    "                        as are worth it, the default where the hosts are calibrated\n"
    "  -s, --seed SEED       matrices to multiply (1)\n"
    "      --freivalds       check by Freivalds' method instead of a sequential product; this is\n"
    "                        so in any case above N = 6144\n"
    "  -o, --output FILE     write the product: N x N doubles by rows, in this host's byte "
    "order\n" APP_OPTIONS_HELP;

static int matmul_take_own(void *program, int key, const char *argument)
{
    struct matmul_options *options = program;
    switch (key) {
    case 'N':
        return app_parse_integer("--size", argument, 1, MATRIX_N_MAX, &options->n);
    case 'q':
        return app_parse_int("--grid", argument, 1, GRID_Q_MAX, &options->q);
    case OPTION_FREIVALDS:
        options->freivalds = true;
        return 0;
    case OPTION_BAG:
        options->bag = true;
        return 0;
    case OPTION_FETCH:
        options->fetch = true;
        return 0;
    case OPTION_HIERARCHICAL:
        options->hierarchical = true;
        return 0;
    case OPTION_PHASES:
        options->phases = true;
        return 0;
    default:
        return -1; /* there is none */
    }
}

static int settle_strategy(struct matmul_options *options)
{
    if (options->bag + options->hierarchical + options->phases > 1) {
        warnx("only one of --bag, --hierarchical and --phases");
        return -1;
    }
    if (options->fetch && !options->bag) {
        warnx("--fetch: only with --bag");
        return -1;
    }
    if (!options->hierarchical)
        return 0;
    if (options->q == 0)
        options->q = HIERARCHY_Q_DEFAULT;
    if (hierarchical_groups(options->q) < options->q)
        return 0;
    warnx("--hierarchical: a grid whose side is a prime has no groups");
    return -1;
}

/* -n counts tasks, -q the side of the grid. */
static int settle_grid(struct matmul_options *options)
{
    if (options->bag && options->q == 0)
        options->q = options->n < SUBBLOCK_Q_DEFAULT ? 1
                     : options->fetch                ? SUBBLOCK_Q_FETCH
                                                     : SUBBLOCK_Q_DEFAULT;
    if (options->common.tasks > 0 && options->q == 0) {
        while (options->q * options->q < options->common.tasks)
            options->q++;
        if (options->q * options->q != options->common.tasks || options->q > GRID_Q_MAX) {
            warnx("--tasks: %d tasks are no square grid; take 1, 4, 9, 16 ...",
                  options->common.tasks);
            return -1;
        }
    }
    if (options->q > options->n) {
        warnx("--grid: %d x %d tasks have no %lld rows to share", options->q, options->q,
              (long long)options->n);
        return -1;
    }
    options->freivalds = options->freivalds || options->n > N_SEQUENTIAL_MAX;
    return 0;
}

static int matmul_parse(int argc, char **argv, struct matmul_options *options)
{
    static const struct option longs[] = {APP_LONG_OPTIONS,
                                          {"size", required_argument, NULL, 'N'},
                                          {"grid", required_argument, NULL, 'q'},
                                          {"freivalds", no_argument, NULL, OPTION_FREIVALDS},
                                          {"bag", no_argument, NULL, OPTION_BAG},
                                          {"fetch", no_argument, NULL, OPTION_FETCH},
                                          {"hierarchical", no_argument, NULL, OPTION_HIERARCHICAL},
                                          {"phases", no_argument, NULL, OPTION_PHASES},
                                          {NULL, 0, NULL, 0}};
    *options = (struct matmul_options){.n = N_DEFAULT};
    const struct app_syntax syntax = {help, APP_SHORT_OPTIONS "N:q:", longs, matmul_take_own};
    bool good = app_options_parse(&options->common, argc, argv, &syntax, options) == 0 &&
                settle_grid(options) == 0;
    return good ? settle_strategy(options) : -1;
}

/* ---- Results ----------------------------------------------------------------------------- */

static int take_block(struct matmul *matmul, const struct matrix_part *part)
{
    if (matmul->whole != NULL)
        matmul->equal =
            product_equals(matmul->whole, matmul->job.n, part, matmul->block) && matmul->equal;
    if (matmul->freivalds.r != NULL)
        freivalds_add(&matmul->freivalds, part, matmul->block);
    if (matmul->file.stream == NULL ||
        product_write(matmul->file.stream, matmul->job.n, part, matmul->block) == 0)
        return 0;
    warn("cannot write '%s'", matmul->options->common.output);
    return -1;
}

/* One task after the other is asked, so that one block at a time is here. */
static int collect_blocks(struct crew *crew, struct matmul *matmul)
{
    for (int rank = 0; rank < crew->count; rank++) {
        const struct multiply_job *job = &matmul->job;
        int row = rank / job->q;
        int column = rank % job->q;
        struct matrix_part part = {.row = block_first(job->n, job->q, row),
                                   .column = block_first(job->n, job->q, column),
                                   .rows = block_size(job->n, job->q, row),
                                   .columns = block_size(job->n, job->q, column)};
        if (crew_ask(crew, rank, CREW_COLLECT) < 0)
            return -1;
        size_t elements = (size_t)(part.rows * part.columns);
        if (crew_receive_array(crew, rank, COVEY_DOUBLE, matmul->block, elements) < 0)
            return -1;
        if (take_block(matmul, &part) < 0)
            return -1;
    }
    return 0;
}

/* They are here already. */
static int take_subblocks(struct matmul *matmul)
{
    int q = matmul->job.q;
    for (int i = 0; i < q * q; i++) {
        struct matrix_part part = subblock_part(&matmul->job, i / q, i % q);
        size_t elements = (size_t)(part.rows * part.columns);
        memcpy(matmul->block, matmul->subblocks.c[i], elements * sizeof *matmul->block);
        if (take_block(matmul, &part) < 0)
            return -1;
    }
    return 0;
}

static int prepare_collection(struct matmul *matmul)
{
    const struct app_options *common = &matmul->options->common;
    size_t side = (size_t)block_size_max(matmul->job.n, matmul->job.q);
    matmul->block = calloc(side * side, sizeof *matmul->block);
    bool enough = matmul->block != NULL;
    if (enough && common->check && matmul->options->freivalds)
        enough = freivalds_init(&matmul->freivalds, matmul->job.seed, matmul->job.n) == 0;
    if (!enough) {
        warnx("out of memory for the product");
        return -1;
    }
    return common->output != NULL ? outfile_open(&matmul->file, common->output) : 0;
}

static int matmul_collect(struct crew *crew, void *context)
{
    struct matmul *matmul = context;
    if (crew->sequential) {
        size_t elements = (size_t)(matmul->job.n * matmul->job.n);
        matmul->whole = calloc(elements, sizeof *matmul->whole);
        if (matmul->whole == NULL) {
            warnx("out of memory for the sequential product; try --freivalds");
            return -1;
        }
        if (crew_tell(crew, CREW_COLLECT) < 0)
            return -1;
        return crew_receive_array(crew, 0, COVEY_DOUBLE, matmul->whole, elements);
    }
    if (prepare_collection(matmul) < 0)
        return -1;
    if ((matmul->job.bag ? take_subblocks(matmul) : collect_blocks(crew, matmul)) < 0)
        return -1;
    if (matmul->freivalds.r != NULL)
        matmul->equal = freivalds_passed(&matmul->freivalds);
    return matmul->file.stream != NULL ? outfile_commit(&matmul->file) : 0;
}

/* ---- The coordinator --------------------------------------------------------------------- */

static int matmul_report(void *context, const struct coordinator_result *result)
{
    const struct matmul *matmul = context;
    const struct matmul_options *options = matmul->options;
    char problem[128];
    snprintf(problem, sizeof problem,
             options->bag            ? "N = %lld, products of %d x %d blocks out of a bag"
             : options->hierarchical ? "N = %lld on %d x %d tasks, in two levels"
             : options->phases       ? "N = %lld on %d x %d tasks, in phases"
                                     : "N = %lld on %d x %d tasks",
             (long long)matmul->job.n, matmul->job.q, matmul->job.q);
    json_t *parameters = json_pack("{s:I, s:i, s:I}", "n", (json_int_t)matmul->job.n, "q",
                                   matmul->job.q, "seed", (json_int_t)matmul->job.seed);
    struct report report = {.program = "matmul",
                            .problem = problem,
                            .parameters = parameters,
                            .passed = matmul->equal,
                            .check_method = options->freivalds ? "by Freivalds' method"
                                                               : "equals the sequential product",
                            .output = options->common.output};
    int status = coordinator_report(&options->common, result, &report);
    json_decref(parameters);
    return status;
}

/* A number that is asked for is a square. */
static int count_tasks(void *context, int hosts, int asked)
{
    struct matmul *matmul = context;
    int q = asked > 0 ? 1 : grid_default(hosts);
    while (q * q < asked)
        q++;
    matmul->job.q = q > matmul->job.n ? (int)matmul->job.n : q;
    if (matmul->options->phases)
        matmul->job.groups = matmul->job.q;
    if (matmul->options->hierarchical)
        matmul->job.groups = hierarchical_groups(matmul->job.q);
    return matmul->job.q * matmul->job.q;
}

static int matmul_feed(struct crew *crew, void *context)
{
    struct matmul *matmul = context;
    return crew->sequential ? 0 : subblocks_prepare(&matmul->subblocks, &matmul->job, crew);
}

static int matmul_conduct(struct crew *crew, void *context)
{
    struct matmul *matmul = context;
    return subblocks_multiply(&matmul->subblocks, crew);
}

static void matmul_end(void *context)
{
    struct matmul *matmul = context;
    subblocks_end(&matmul->subblocks);
}

static void matmul_place(void *context, int hosts, int *host_of)
{
    const struct matmul *matmul = context;
    grid_place(matmul->job.q, hosts, host_of);
}

static void matmul_describe(void *context, struct covey_problem *problem)
{
    const struct matmul *matmul = context;
    const struct matmul_options *options = matmul->options;
    problem->model = COVEY_MODEL_MATMUL;
    problem->size = matmul->job.n;
    problem->form = options->fetch          ? COVEY_FORM_BAG_FETCH
                    : options->bag          ? COVEY_FORM_BAG
                    : options->hierarchical ? COVEY_FORM_HIERARCHICAL
                    : options->phases       ? COVEY_FORM_PHASES
                                            : COVEY_FORM_USUAL;
    problem->grid = options->bag ? matmul->job.q : 0;
}

static int matmul_coordinate(const void *program_options)
{
    const struct matmul_options *options = program_options;
    struct matmul matmul = {.options = options,
                            .job = {.n = options->n,
                                    .seed = options->common.seed,
                                    .bag = options->bag,
                                    .fetch = options->fetch},
                            .equal = true};
    if (options->bag)
        matmul.job.q = options->q;
    bool wanted = options->common.check || options->common.output != NULL;
    const struct coordinator_program program = {
        .context = &matmul,
        .title = "multiplying",
        .tasks_given = options->bag ? 0 : options->q * options->q,
        .tasks = options->bag ? NULL : count_tasks,
        .place = options->bag ? NULL : matmul_place,
        .feed = options->bag ? matmul_feed : NULL,
        .conduct = options->bag ? matmul_conduct : NULL,
        .tolerant = options->bag,
        .end = matmul_end,
        .pack_job = multiply_pack,
        .job = &matmul.job,
        .collect = wanted ? matmul_collect : NULL,
        .compares = options->common.check && !options->freivalds,
        .describe = matmul_describe,
        .report = matmul_report};
    int status = coordinator_main(&options->common, &program);
    outfile_discard(&matmul.file);
    freivalds_free(&matmul.freivalds);
    subblocks_free(&matmul.subblocks);
    free(matmul.whole);
    free(matmul.block);
    return status;
}

int main(int argc, char **argv)
{
    static const struct app_roles roles = {product_kernel, multiply_worker, matmul_coordinate};
    struct matmul_options options;
    int parsed = matmul_parse(argc, argv, &options);
    return app_run(parsed, &options.common, &roles, &options);
}
