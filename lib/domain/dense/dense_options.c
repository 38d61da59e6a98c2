/*
 * dense_options.c - the arguments of a plan: refused at all members for what is wrong at one, so
 * that nobody waits for a member that went away with an error.
 */
#include <stdio.h>
#include <string.h>

#include "lib/domain/algebra/dense_kernel.h"
#include "lib/domain/base/agree.h"
#include "lib/domain/base/error.h"
#include "lib/domain/base/options.h"
#include "lib/domain/dense/dense_options.h"

#define SIZE_MAX_N INT32_MAX
#define ELEMENTS_MAX ((int64_t)1 << 56)
#define BLOCK_MAX 4096

/* ---- The problem ----------------------------------------------------------------------------- */

static int check_sizes(const struct covey_dense_problem *p)
{
    for (int matrix = COVEY_DENSE_A; matrix <= COVEY_DENSE_C; matrix++) {
        int64_t size[2];
        if (!dense_sizes(p, matrix, size))
            continue;
        for (int i = 0; i < 2; i++)
            if (size[i] < 0 || size[i] > SIZE_MAX_N)
                return domain_fail(COVEY_EINVAL, "size %lld is not 0 to %d", (long long)size[i],
                                   SIZE_MAX_N);
        if (size[1] > 0 && size[0] > ELEMENTS_MAX / size[1])
            return domain_fail(COVEY_EINVAL, "%lld x %lld elements are more than 2^56",
                               (long long)size[0], (long long)size[1]);
    }
    return 0;
}

static int check(const struct covey_dense_problem *p)
{
    if (p == NULL)
        return domain_fail(COVEY_EINVAL, "the problem is NULL");
    if (dense_op_of(p->op) == NULL)
        return domain_fail(COVEY_EINVAL, "there is no operation %d", p->op);
    if (dense_kernel_of(p->type) == NULL)
        return domain_fail(COVEY_EINVAL, "type %d is not a real or complex floating-point number",
                           p->type);
    return check_sizes(p);
}

int dense_problem_agree(covey_team_t *team, const struct covey_dense_problem *given,
                        int has_network, struct covey_dense_problem *problem)
{
    enum { OP, TYPE, NETWORK, FIRST_SIZE, FIGURES = FIRST_SIZE + 6 };
    int64_t figures[FIGURES] = {[NETWORK] = has_network};
    int error = check(given);
    if (error == 0) {
        *problem = *given;
        figures[OP] = given->op;
        figures[TYPE] = given->type;
        for (int matrix = COVEY_DENSE_A; matrix <= COVEY_DENSE_C; matrix++)
            dense_sizes(given, matrix, &figures[FIRST_SIZE + 2 * (matrix - COVEY_DENSE_A)]);
    }
    return domain_agree_same(team, error, figures, FIGURES, "the plan of a problem");
}

/* ---- Options --------------------------------------------------------------------------------- */

const char *const dense_bcast_names[] = {"1ring", "1ringM", "2ring", "2ringM",
                                         "tree",  "long",   NULL};
const char *const dense_swap_names[] = {"binary", "roll", NULL};
static const char *const lookahead_names[] = {"0", "1", NULL};
static const char *const data_names[] = {"spread", "root", NULL};

/* The operations with an option of their own come first, the planned one at their head, so that a
 * bare name is one of its algorithms. */
enum { BCAST_KEY = DENSE_OPS, SWAP_KEY, LOOKAHEAD_KEY, DATA_KEY, GRID_KEY, BLOCK_KEY, KEYS };

static int set_grid(const covey_team_t *team, const char *text, struct dense_grid *grid)
{
    int size = covey_team_size(team), end = 0;
    *grid = (struct dense_grid){0, 0};
    if (text[0] == '\0')
        return 0;
    if (sscanf(text, "%6dx%6d%n", &grid->rows, &grid->columns, &end) != 2 || text[end] != '\0' ||
        grid->rows < 1 || grid->columns < 1 || (int64_t)grid->rows * grid->columns > size)
        return domain_fail(COVEY_EINVAL, "grid '%s' is not ROWSxCOLUMNS of at most %d members",
                           text, size);
    return 0;
}

static int set_block(const char *text, int *block)
{
    int end = 0;
    *block = 0;
    if (text[0] == '\0')
        return 0;
    if (sscanf(text, "%6d%n", block, &end) != 1 || text[end] != '\0' || *block < 1 ||
        *block > BLOCK_MAX)
        return domain_fail(COVEY_EINVAL, "block '%s' is not 1 to %d", text, BLOCK_MAX);
    return 0;
}

/* Keys that operations share stand once. Returns how many. */
static int add_op_keys(struct domain_option *keys, int op)
{
    int count = 0;
    keys[count++] =
        (struct domain_option){.key = dense_op_of(op)->key, .names = dense_op_of(op)->names};
    for (int other = 0; other < DENSE_OPS; other++) {
        const struct dense_op *o = dense_op_of(other);
        int known = o == NULL;
        for (int i = 0; !known && i < count; i++)
            known = strcmp(keys[i].key, o->key) == 0;
        if (!known)
            keys[count++] = (struct domain_option){.key = o->key, .names = o->names};
    }
    return count;
}

int dense_options_agree(covey_team_t *team, const char *text, int op, struct dense_options *options)
{
    struct domain_option keys[KEYS];
    int ops = add_op_keys(keys, op);
    struct domain_option *common = keys + ops - DENSE_OPS;
    common[BCAST_KEY] = (struct domain_option){.key = "bcast", .names = dense_bcast_names};
    common[SWAP_KEY] = (struct domain_option){.key = "swap", .names = dense_swap_names};
    common[LOOKAHEAD_KEY] = (struct domain_option){.key = "lookahead", .names = lookahead_names};
    common[DATA_KEY] = (struct domain_option){.key = "data", .names = data_names};
    common[GRID_KEY] = (struct domain_option){.key = "grid"};
    common[BLOCK_KEY] = (struct domain_option){.key = "block"};
    int error = domain_options_agree(team, text, "COVEY_DENSE", keys, ops + KEYS - DENSE_OPS);
    if (error < 0)
        return error;
    *options = (struct dense_options){.algorithm = keys[0].value,
                                      .forced = {.bcast = common[BCAST_KEY].value,
                                                 .swap = common[SWAP_KEY].value,
                                                 .lookahead = common[LOOKAHEAD_KEY].value},
                                      .at_root = common[DATA_KEY].value == 1};
    error = set_grid(team, common[GRID_KEY].text, &options->forced.grid);
    return error < 0 ? error : set_block(common[BLOCK_KEY].text, &options->forced.block);
}
