/*
 * dense_info.c - what a plan tells: the pieces of its members, and its choice.
 */
#include <stdio.h>

#include "lib/domain/base/error.h"
#include "lib/domain/dense/dense.h"

void dense_part_of(const covey_dense_t *plan, int matrix, int rank, struct covey_dense_part *part)
{
    const struct dense_grid *grid = &plan->setting.grid;
    int inside = rank < grid->rows * grid->columns;
    int64_t size[2];
    dense_sizes(&plan->problem, matrix, size);
    *part = (struct covey_dense_part){.rows = grid->rows,
                                      .columns = grid->columns,
                                      .row = inside ? rank / grid->columns : -1,
                                      .column = inside ? rank % grid->columns : -1,
                                      .block = plan->setting.block,
                                      .m = size[0],
                                      .n = size[1],
                                      .ld = 1};
    if (!inside)
        return;
    struct dense_axis axis[] = {{part->block, part->row, grid->rows},
                                {part->block, part->column, grid->columns}};
    part->local_m = dense_axis_before(&axis[0], part->m);
    part->local_n = dense_axis_before(&axis[1], part->n);
    part->ld = part->local_m > 0 ? part->local_m : 1;
    part->count = (size_t)part->ld * (size_t)part->local_n;
}

static int check_part(const covey_dense_t *plan, int matrix, const struct covey_dense_part *part)
{
    int64_t size[2];
    if (plan == NULL || part == NULL)
        return domain_fail(COVEY_EINVAL, "the plan or the part is NULL");
    return dense_sizes(&plan->problem, matrix, size)
               ? 0
               : domain_fail(COVEY_EINVAL, "the operation has no matrix %d", matrix);
}

int covey_dense_local_of(const covey_dense_t *plan, int matrix, int rank,
                         struct covey_dense_part *part)
{
    int error = check_part(plan, matrix, part), own = rank;
    if (error < 0)
        return error;
    if (rank < 0 || rank >= covey_team_size(plan->teams[DENSE_ALL]))
        return domain_fail(COVEY_EINVAL, "there is no rank %d", rank);
    if (plan->ranks != NULL)
        for (own = 0; plan->ranks[own] != rank;)
            own++;
    dense_part_of(plan, matrix, own, part);
    return 0;
}

int covey_dense_local(const covey_dense_t *plan, int matrix, struct covey_dense_part *part)
{
    int error = check_part(plan, matrix, part);
    if (error == 0)
        dense_part_of(plan, matrix, plan->rank, part);
    return error;
}

int covey_dense_place(const covey_dense_t *plan, int matrix, int64_t i, int64_t j, int64_t at[2])
{
    int64_t size[2];
    if (plan == NULL || at == NULL)
        return domain_fail(COVEY_EINVAL, "the plan or the place is NULL");
    if (!dense_sizes(&plan->problem, matrix, size))
        return domain_fail(COVEY_EINVAL, "the operation has no matrix %d", matrix);
    if (i < 0 || j < 0 || i >= size[0] || j >= size[1])
        return domain_fail(COVEY_EINVAL, "there is no element (%lld, %lld)", (long long)i,
                           (long long)j);
    struct dense_axis rows = dense_axis(plan, 0), columns = dense_axis(plan, 1);
    at[0] = dense_axis_local(&rows, i);
    at[1] = dense_axis_local(&columns, j);
    int own = dense_axis_owner(&rows, i) * columns.of + dense_axis_owner(&columns, j);
    return plan->ranks != NULL ? plan->ranks[own] : own;
}

int covey_dense_explain(const covey_dense_t *plan, char *text, size_t size)
{
    if (plan == NULL || (text == NULL && size > 0))
        return domain_fail(COVEY_EINVAL, "the plan or the text is NULL");
    const struct dense_setting *s = &plan->setting;
    size_t length = domain_explain(plan->table, plan->algorithms, plan->taken,
                                   plan->options.algorithm, text, size);
    char *at = length < size ? text + length : NULL;
    int line = snprintf(at, length < size ? size - length : 0,
                        "grid=%dx%d,block=%d,bcast=%s,swap=%s,lookahead=%d\n", s->grid.rows,
                        s->grid.columns, s->block, dense_bcast_names[s->bcast],
                        dense_swap_names[s->swap], s->lookahead);
    return (int)length + line;
}

const char *covey_dense_algorithm(const covey_dense_t *plan)
{
    return plan != NULL ? plan->table[plan->taken].name : NULL;
}
