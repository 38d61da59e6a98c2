/*
 * sum.c - the pairs of all members are gathered at all, for a reduction would add them in an order
 * that depends on how many there are, and lose the low parts.
 */
#include "lib/domain/grid/sum.h"

#include "lib/domain/base/agree.h"
#include "lib/domain/base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sum_row(struct sum_lanes *lanes, const double *a, const double *b, int64_t n)
{
    struct sum_lanes sums = *lanes;
    int64_t k = 0;
    for (; k + SUM_LANES <= n; k += SUM_LANES)
        for (int l = 0; l < SUM_LANES; l++)
            sum_add(&sums.high[l], &sums.low[l], a[k + l] * b[k + l]);
    for (int l = 0; k < n; k++, l++)
        sum_add(&sums.high[l], &sums.low[l], a[k] * b[k]);
    *lanes = sums;
}

static void add_row(struct sum_lanes *lanes, const double *a, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        sum_add(&lanes->high[k % SUM_LANES], &lanes->low[k % SUM_LANES], a[k]);
}

struct sum sum_of(const struct sum_lanes *lanes)
{
    struct sum sum = {0, 0};
    for (int l = 0; l < SUM_LANES; l++) {
        sum_add(&sum.high, &sum.low, lanes->high[l]);
        sum.low += lanes->low[l];
    }
    return sum;
}

struct sum sum_field(const struct grid_field *field, const double *a, const double *b)
{
    const int64_t *low = field->box.low, *size = field->box.size;
    struct sum_lanes lanes = {.high = {0}};
    for (int64_t i = low[0]; i < low[0] + size[0]; i++) {
        for (int64_t j = low[1]; j < low[1] + size[1]; j++) {
            int64_t at = field_at(field, i, j, low[2]);
            if (b != NULL)
                sum_row(&lanes, a + at, b + at, size[2]);
            else
                add_row(&lanes, a + at, size[2]);
        }
    }
    return sum_of(&lanes);
}

/* Of rows of so many doubles, one of each member, which begin with pairs. */
static void add_up(const double *rows, size_t width, int members, int count, double *all)
{
    for (int i = 0; i < count; i++) {
        struct sum sum = {0, 0};
        for (int m = 0; m < members; m++) {
            const double *pair = rows + (size_t)m * width + 2 * i;
            sum_add(&sum.high, &sum.low, pair[0]);
            sum.low += pair[1];
        }
        all[i] = sum.high + sum.low;
    }
}

static void put_pairs(const struct sum *mine, int count, double *pairs)
{
    for (int i = 0; i < count; i++) {
        pairs[2 * i] = mine[i].high;
        pairs[2 * i + 1] = mine[i].low;
    }
}

static int size_of(const covey_team_t *team)
{
    return team == NULL ? 1 : covey_team_size(team);
}

/* The rows of all members; freed by the caller in each case. */
static int gather(covey_team_t *team, const double *own, size_t width, double **rows)
{
    size_t members = (size_t)size_of(team);
    *rows = calloc(members * width, sizeof **rows);
    if (*rows == NULL)
        return COVEY_ENOMEM;
    if (members > 1)
        return covey_allgather(team, COVEY_DOUBLE, own, *rows, width);
    memcpy(*rows, own, width * sizeof *own);
    return 0;
}

int sum_all(covey_team_t *team, const struct sum *mine, int count, double *all)
{
    double own[2 * SUMS_MAX], *rows;
    put_pairs(mine, count, own);
    int error = gather(team, own, 2 * (size_t)count, &rows);
    if (error == 0)
        add_up(rows, 2 * (size_t)count, size_of(team), count, all);
    free(rows);
    return error;
}

int sum_all_agreed(covey_team_t *team, const struct sum *mine, int count,
                   const struct sum_agreed *agreed, double *all)
{
    double own[2 * SUMS_MAX + 2], *rows;
    size_t width = 2 * (size_t)count + 2;
    int least = 0, are_same = 1;
    put_pairs(mine, count, own);
    own[width - 2] = agreed->error < 0 ? agreed->error : 0;
    own[width - 1] = agreed->number;
    int error = gather(team, own, width, &rows);
    for (int m = 0; error == 0 && m < size_of(team); m++) {
        const double *row = rows + (size_t)m * width;
        least = (int)fmin(least, row[width - 2]);
        are_same &= domain_bits(row[width - 1]) == domain_bits(agreed->number);
    }
    if (error == 0)
        add_up(rows, width, size_of(team), count, all);
    free(rows);
    return error < 0 ? domain_break(team, domain_fail_of(error, agreed->what))
                     : domain_agreed(agreed->error, least, are_same, agreed->what);
}

int sum_begin(covey_team_t *team, const struct sum *mine, int count, double *pairs,
              covey_req_t **request)
{
    put_pairs(mine, count, pairs);
    if (team != NULL && covey_team_size(team) > 1)
        return covey_iallgather(team, COVEY_DOUBLE, pairs, pairs + 2 * SUMS_MAX, 2 * (size_t)count,
                                request);
    memcpy(pairs + 2 * SUMS_MAX, pairs, 2 * (size_t)count * sizeof *pairs);
    return 0;
}

int sum_end(covey_team_t *team, int count, const double *pairs, covey_req_t **request, double *all)
{
    int error = *request == NULL ? 0 : covey_wait(*request, COVEY_FOREVER);
    covey_req_free(request);
    if (error < 0)
        return error;
    add_up(pairs + 2 * SUMS_MAX, 2 * (size_t)count, size_of(team), count, all);
    return 0;
}
