/*
 * sort - sorts keys by split-sort-merge over a tree of tasks (Schmidt & Sunderam, section 2.3).
 *
 * Files. sort.c: options, and the coordinator that the user starts. split.c: the tasks. tree.c:
 * who hands how many keys to whom. keys.c: the sort and the merge themselves. keyfile.c: key
 * files.
 *
 * With --bag it is done by agenda parallelism instead: runs.c, sorter.c, and the root is the
 * coordinator. With --algorithm it is done by the library of solvers: team.c. The tree and the bag
 * stay what the paper has, which models them.
 *
 * All keys are at the root, task 0, when the clock starts, and there again, sorted, when it stops:
 * handing them out and taking them back is part of the work, as in the paper.
 */
#include "apps/coordinator.h"
#include "apps/outfile.h"
#include "apps/sort/kernel.h"
#include "apps/sort/keys.h"
#include "apps/sort/runs.h"
#include "apps/sort/split.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_DEFAULT ((int64_t)8 << 20)

enum { OPTION_FORMAT = APP_OPTION_OWN, OPTION_BAG };

struct sort_options {
    struct app_options common;
    int64_t keys;
    const char *input; /* NULL: keys are generated */
    enum keys_format format;
    bool bag;
    char algorithm[sizeof((struct split_job *)0)->algorithm];
};

/* What the coordinator has of the keys. */
struct sort {
    const struct sort_options *options;
    struct split_job job;
    int64_t *input;      /* keys of a file */
    int64_t *sequential; /* as sorted by one task */
    int64_t *chunk;      /* what is just arriving */
    int64_t last;        /* the key before the chunk */
    struct keys_sum sum; /* of the sorted keys */
    struct outfile file;
    bool equal;
    struct runs runs;              /* by way of a bag */
    struct crew_solution solution; /* by the library */
};

static bool by_library(const struct sort *sort)
{
    return sort->job.algorithm[0] != '\0';
}

/* ---- Options ----------------------------------------------------------------------------- */

static const char help[] =
    "Usage: sort [OPTION]...\n"
    "Sorts 64-bit keys by split-sort-merge over a tree of tasks of a virtual machine and prints\n"
    "where the time went.\n"
    "\n"
    "  -k, --keys KEYS       number of keys to generate (8M); K, M, G: times 1024, 1024^2, 1024^3\n"
    "  -i, --input FILE      sort the keys of this file instead\n"
    "      --format FORMAT   of input and output: text (decimal numbers, one a line; the default)\n"
    "                        or binary (signed 64-bit, this host's byte order)\n"
    "      --bag             runs and merges are the items of a bag instead, done by whoever is "
    "free\n"
    "  -a, --algorithm NAME  by covey_sort(3) instead: local, tree, sample, histogram or "
    "hypercube, "
    "or\n"
    "                        auto, the one with the least predicted time\n"
    "  -n, --tasks TASKS     number of tasks; any, powers of two make the best tree (auto, which "
    "is\n"
    "                        as many as are worth it, where the hosts are calibrated, otherwise "
    "one\n"
    "                        a host)\n"
    "  -s, --seed SEED       keys to generate (1)\n"
    "  -o, --output FILE     write the sorted keys\n" APP_OPTIONS_HELP;

static int take_format(const char *text, enum keys_format *format)
{
    bool binary = strcmp(text, "binary") == 0;
    if (!binary && strcmp(text, "text") != 0) {
        warnx("--format: '%s' is neither text nor binary", text);
        return -1;
    }
    *format = binary ? KEYS_BINARY : KEYS_TEXT;
    return 0;
}

static int sort_take_own(void *program, int key, const char *argument)
{
    struct sort_options *options = program;
    switch (key) {
    case 'k':
        return app_parse_integer("--keys", argument, 0, SPLIT_KEYS_MAX, &options->keys);
    case 'i':
        options->input = argument;
        return 0;
    case OPTION_FORMAT:
        return take_format(argument, &options->format);
    case OPTION_BAG:
        options->bag = true;
        return 0;
    case 'a':
        return app_parse_text("--algorithm", argument, options->algorithm,
                              sizeof options->algorithm);
    default:
        return -1; /* there is none */
    }
}

static int sort_parse(int argc, char **argv, struct sort_options *options)
{
    static const struct option longs[] = {APP_LONG_OPTIONS,
                                          {"keys", required_argument, NULL, 'k'},
                                          {"input", required_argument, NULL, 'i'},
                                          {"format", required_argument, NULL, OPTION_FORMAT},
                                          {"bag", no_argument, NULL, OPTION_BAG},
                                          {"algorithm", required_argument, NULL, 'a'},
                                          {NULL, 0, NULL, 0}};
    *options = (struct sort_options){.keys = KEYS_DEFAULT};
    const struct app_syntax syntax = {help, APP_SHORT_OPTIONS "k:i:a:", longs, sort_take_own};
    int parsed = app_options_parse(&options->common, argc, argv, &syntax, options);
    if (parsed >= 0 && options->bag && options->algorithm[0] != '\0') {
        warnx("only one of --bag and --algorithm");
        return -1;
    }
    return parsed;
}

/* ---- Keys to and from the root ----------------------------------------------------------- */

static size_t chunk_at(size_t done, size_t all)
{
    return all - done < SPLIT_CHUNK ? all - done : SPLIT_CHUNK;
}

static int sort_conduct(struct crew *crew, void *context)
{
    struct sort *sort = context;
    return runs_sort(&sort->runs, crew);
}

static void sort_end(void *context)
{
    struct sort *sort = context;
    runs_end(&sort->runs);
}

/* The keys of a file; generated ones the root makes itself. */
static int sort_feed(struct crew *crew, void *context)
{
    struct sort *sort = context;
    size_t all = (size_t)sort->job.keys;
    if (sort->job.bag && !crew->sequential) { /* a bag wants them all here */
        int64_t *keys = calloc(all + 1, sizeof *keys);
        if (keys != NULL && sort->job.fed)
            memcpy(keys, sort->input, all * sizeof *keys);
        else if (keys != NULL)
            keys_make(sort->job.seed, keys, all);
        return runs_prepare(&sort->runs, crew, keys, all);
    }
    for (size_t done = 0; sort->job.fed && done < all; done += chunk_at(done, all)) {
        int error = covey_send_array(crew->vm, crew->tids[0], SPLIT_TAG_INPUT, COVEY_INT64,
                                     sort->input + done, chunk_at(done, all));
        if (error < 0)
            return crew_fail(crew, "cannot send the keys", error);
    }
    return 0;
}

static int collect_sequential(struct crew *crew, struct sort *sort)
{
    size_t all = (size_t)sort->job.keys;
    sort->sequential = calloc(all + 1, sizeof *sort->sequential);
    if (sort->sequential == NULL) {
        warnx("out of memory for the comparison");
        return -1;
    }
    for (size_t done = 0; done < all; done += chunk_at(done, all))
        if (crew_receive_array(crew, 0, COVEY_INT64, sort->sequential + done, chunk_at(done, all)) <
            0)
            return -1;
    return 0;
}

/* Compares and writes what lies in the chunk. */
static int take_chunk(struct sort *sort, size_t done, size_t count)
{
    if (sort->sequential != NULL) {
        bool ordered =
            keys_are_sorted(sort->chunk, count) && (done == 0 || sort->last <= sort->chunk[0]);
        bool same = memcmp(sort->chunk, sort->sequential + done, count * sizeof *sort->chunk) == 0;
        keys_sum_add(&sort->sum, sort->chunk, count);
        sort->equal = sort->equal && ordered && same;
        sort->last = sort->chunk[count - 1];
    }
    if (sort->file.stream == NULL ||
        keys_write(sort->file.stream, sort->options->format, sort->chunk, count) == 0)
        return 0;
    warn("cannot write '%s'", sort->options->common.output);
    return -1;
}

/* The checksum of the keys before they were sorted, made here a second time. */
static bool same_keys(const struct sort *sort)
{
    struct keys_sum sum = {0};
    size_t all = (size_t)sort->job.keys;
    if (sort->job.fed)
        keys_sum_add(&sum, sort->input, all);
    else
        keys_sum_made(&sum, sort->job.seed, all);
    return sum.sum == sort->sum.sum && sum.mixed_sum == sort->sum.mixed_sum;
}

static int collect_parallel(struct crew *crew, struct sort *sort)
{
    const char *output = sort->options->common.output;
    size_t all = (size_t)sort->job.keys;
    sort->chunk = calloc(SPLIT_CHUNK, sizeof *sort->chunk);
    if (sort->chunk == NULL) {
        warnx("out of memory for the result");
        return -1;
    }
    if (output != NULL && outfile_open(&sort->file, output) < 0)
        return -1;
    for (size_t done = 0; done < all; done += chunk_at(done, all)) {
        size_t count = chunk_at(done, all);
        if (sort->job.bag)
            memcpy(sort->chunk, runs_result(&sort->runs) + done, count * sizeof *sort->chunk);
        else if (crew_receive_array(crew, 0, COVEY_INT64, sort->chunk, count) < 0)
            return -1;
        if (take_chunk(sort, done, count) < 0)
            return -1;
    }
    if (sort->sequential != NULL)
        sort->equal = sort->equal && same_keys(sort);
    return output != NULL ? outfile_commit(&sort->file) : 0;
}

static int sort_collect(struct crew *crew, void *context)
{
    struct sort *sort = context;
    bool here = sort->job.bag && !crew->sequential;
    if (by_library(sort) && !crew->sequential) {
        if (crew_collect_solution(crew, &sort->solution) < 0)
            return -1;
        return sort->job.wanted ? collect_parallel(crew, sort) : 0;
    }
    if (!here && crew_ask(crew, 0, CREW_COLLECT) < 0)
        return -1;
    return crew->sequential ? collect_sequential(crew, sort) : collect_parallel(crew, sort);
}

/* ---- The coordinator --------------------------------------------------------------------- */

static int sort_report(void *context, const struct coordinator_result *result)
{
    const struct sort *sort = context;
    const struct app_options *common = &sort->options->common;
    char problem[160];
    if (by_library(sort))
        snprintf(problem, sizeof problem, "%lld keys by %s in a team of %d tasks",
                 (long long)sort->job.keys, sort->solution.algorithm, result->run.tasks);
    else
        snprintf(problem, sizeof problem,
                 sort->job.bag ? "%lld keys out of a bag by %d tasks"
                               : "%lld keys in a tree of %d tasks",
                 (long long)sort->job.keys, result->run.tasks);
    json_t *parameters = json_pack("{s:I, s:I}", "keys", (json_int_t)sort->job.keys, "seed",
                                   (json_int_t)sort->job.seed);
    if (by_library(sort))
        json_object_set_new(parameters, "algorithm", json_string(sort->solution.algorithm));
    struct report report = {.program = "sort",
                            .problem = problem,
                            .parameters = parameters,
                            .passed = sort->equal,
                            .check_method = "sorted, the same keys, equals the sequential sort",
                            .output = common->output};
    int status = coordinator_report(common, result, &report);
    json_decref(parameters);
    if (common->explain && by_library(sort))
        fputs(sort->solution.table, stderr);
    return status;
}

static void sort_describe(void *context, struct covey_problem *problem)
{
    const struct sort *sort = context;
    problem->model = COVEY_MODEL_SORT;
    problem->size = sort->job.keys;
    problem->form = sort->job.bag ? COVEY_FORM_BAG : COVEY_FORM_USUAL;
}

static int sort_coordinate(struct sort *sort)
{
    const struct app_options *common = &sort->options->common;
    bool wanted = common->check || common->output != NULL, plain = !by_library(sort);
    sort->job.wanted = wanted;
    const struct coordinator_program program = {.context = sort,
                                                .title = "sorting",
                                                .pack_job = split_pack,
                                                .job = &sort->job,
                                                .feed = sort->job.fed || sort->job.bag ? sort_feed
                                                                                       : NULL,
                                                .conduct = sort->job.bag ? sort_conduct : NULL,
                                                .end = sort_end,
                                                .tolerant = sort->job.bag,
                                                .collect = wanted || !plain ? sort_collect : NULL,
                                                .compares = common->check,
                                                .describe = plain ? sort_describe : NULL,
                                                .report = sort_report};
    return coordinator_main(common, &program);
}

static int sort_keys(const void *program_options)
{
    const struct sort_options *options = program_options;
    struct sort sort = {
        .options = options,
        .job = {options->keys, options->common.seed, options->input != NULL, options->bag},
        .equal = true};
    size_t count = 0;
    memcpy(sort.job.algorithm, options->algorithm, sizeof sort.job.algorithm);
    if (options->input != NULL &&
        keys_read(options->input, options->format, &sort.input, &count) < 0)
        return EXIT_FAILURE;
    if (options->input != NULL)
        sort.job.keys = (int64_t)count;
    int status = sort_coordinate(&sort);
    outfile_discard(&sort.file);
    runs_free(&sort.runs);
    free(sort.input);
    free(sort.sequential);
    free(sort.chunk);
    return status;
}

int main(int argc, char **argv)
{
    static const struct app_roles roles = {keys_kernel, split_worker, sort_keys};
    struct sort_options options;
    int parsed = sort_parse(argc, argv, &options);
    return app_run(parsed, &options.common, &roles, &options);
}
