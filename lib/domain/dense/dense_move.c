/*
 * dense_move.c - whole matrices at rank 0 to the pieces of all members, and back: one message a
 * member, and at rank 0 one buffer, which is packed or unpacked while the other one is on its way.
 */
#include <stdlib.h>

#include "lib/domain/base/error.h"
#include "lib/domain/dense/dense.h"

#define TAG_PIECE 0x706965

/* Copies between the whole matrix and the piece of that rank. */
static void copy_piece(const covey_dense_t *plan, const struct covey_dense_part *part,
                       const struct dense_view *whole, const struct dense_view *piece, int is_out)
{
    const struct dense_kernel *kernel = plan->kernel;
    const struct dense_axis rows = {part->block, part->row, part->rows};
    const struct dense_axis columns = {part->block, part->column, part->columns};
    for (int64_t j = 0; j < part->local_n; j++) {
        int64_t column = dense_axis_global(&columns, j);
        for (int64_t i = 0; i < part->local_m; i += part->block) {
            int64_t rest = part->local_m - i, count = rest < part->block ? rest : part->block;
            void *there = dense_at(kernel, whole, dense_axis_global(&rows, i), column);
            void *here = dense_at(kernel, piece, i, j);
            struct dense_view from = {is_out ? there : here, count, 1, count, 0};
            struct dense_view to = {is_out ? here : there, count, 1, count, 0};
            dense_copy(kernel, &from, &to);
        }
    }
}

static struct dense_view buffer_view(const struct covey_dense_part *part, void *buffer)
{
    return (struct dense_view){
        .at = buffer, .m = part->local_m, .n = part->local_n, .ld = part->ld};
}

static int grid_size(const covey_dense_t *plan)
{
    return plan->setting.grid.rows * plan->setting.grid.columns;
}

/* The largest piece, which rank 0 has. */
static void *new_buffers(const covey_dense_t *plan, int matrix, int count, size_t *bytes)
{
    struct covey_dense_part part;
    dense_part_of(plan, matrix, 0, &part);
    *bytes = (part.count + 1) * plan->kernel->bytes;
    return malloc((size_t)count * *bytes);
}

/* ---- Out ------------------------------------------------------------------------------------- */

static int send_pieces(covey_dense_t *plan, int matrix, const struct dense_view *whole,
                       char *buffers, size_t bytes)
{
    covey_req_t *sends[2] = {NULL, NULL};
    int error = 0;
    for (int rank = 1; error >= 0 && rank < grid_size(plan); rank++) {
        struct covey_dense_part part;
        dense_part_of(plan, matrix, rank, &part);
        if (part.local_m == 0 || part.local_n == 0)
            continue;
        covey_req_t **send = &sends[rank % 2];
        if (*send != NULL)
            error = covey_wait(*send, COVEY_FOREVER);
        covey_req_free(send);
        struct dense_view piece = buffer_view(&part, buffers + (size_t)(rank % 2) * bytes);
        copy_piece(plan, &part, whole, &piece, 1);
        if (error >= 0)
            error = covey_team_isend_array(plan->teams[DENSE_ALL], rank, TAG_PIECE,
                                           plan->kernel->type, piece.at, part.count, send);
    }
    if (error >= 0)
        error = covey_wait_all(sends, 2, COVEY_FOREVER);
    covey_req_free(&sends[0]);
    covey_req_free(&sends[1]);
    return error;
}

static int receive_piece(covey_dense_t *plan, const struct dense_view *piece, void *buffer)
{
    struct dense_view in = {buffer, piece->m, piece->n, piece->m, 0};
    int as_is = piece->m == piece->ld;
    size_t count, expected = (size_t)(piece->m * piece->n);
    int error =
        covey_team_recv_array(plan->teams[DENSE_ALL], 0, TAG_PIECE, COVEY_FOREVER,
                              plan->kernel->type, as_is ? piece->at : buffer, expected, &count);
    if (error >= 0 && !as_is)
        dense_copy(plan->kernel, &in, piece);
    return error;
}

int dense_spread(covey_dense_t *plan, int matrix, const struct dense_view *whole,
                 const struct dense_view *piece)
{
    struct covey_dense_part part;
    size_t bytes;
    int is_root = plan->rank == 0, error = 0;
    char *buffers = new_buffers(plan, matrix, is_root ? 2 : 1, &bytes);
    error = dense_agree(plan, buffers != NULL ? 0 : domain_fail(COVEY_ENOMEM, "no memory to move"));
    if (error < 0) {
        free(buffers);
        return error;
    }
    if (is_root) {
        covey_dense_local(plan, matrix, &part);
        copy_piece(plan, &part, whole, piece, 1);
        error = send_pieces(plan, matrix, whole, buffers, bytes);
    } else if (piece->m > 0 && piece->n > 0) {
        error = receive_piece(plan, piece, buffers);
    }
    free(buffers);
    return error < 0 ? dense_broken(plan, error) : 0;
}

/* ---- Back ------------------------------------------------------------------------------------ */

static int receive_pieces(covey_dense_t *plan, int matrix, const struct dense_view *whole,
                          void *buffer)
{
    for (int rank = 1; rank < grid_size(plan); rank++) {
        struct covey_dense_part part;
        size_t count;
        dense_part_of(plan, matrix, rank, &part);
        if (part.local_m == 0 || part.local_n == 0)
            continue;
        int error = covey_team_recv_array(plan->teams[DENSE_ALL], rank, TAG_PIECE, COVEY_FOREVER,
                                          plan->kernel->type, buffer, part.count, &count);
        if (error < 0)
            return error;
        struct dense_view piece = buffer_view(&part, buffer);
        copy_piece(plan, &part, whole, &piece, 0);
    }
    return 0;
}

static int send_piece(covey_dense_t *plan, const struct dense_view *piece, void *buffer)
{
    struct dense_view out = {buffer, piece->m, piece->n, piece->m, 0};
    int as_is = piece->m == piece->ld;
    if (!as_is)
        dense_copy(plan->kernel, piece, &out);
    return covey_team_send_array(plan->teams[DENSE_ALL], 0, TAG_PIECE, plan->kernel->type,
                                 as_is ? piece->at : buffer, (size_t)(piece->m * piece->n));
}

int dense_collect(covey_dense_t *plan, int matrix, const struct dense_view *piece,
                  const struct dense_view *whole)
{
    struct covey_dense_part part;
    size_t bytes;
    char *buffer = new_buffers(plan, matrix, 1, &bytes);
    int error =
        dense_agree(plan, buffer != NULL ? 0 : domain_fail(COVEY_ENOMEM, "no memory to move"));
    if (error < 0) {
        free(buffer);
        return error;
    }
    if (plan->rank == 0) {
        covey_dense_local(plan, matrix, &part);
        copy_piece(plan, &part, whole, piece, 0);
        error = receive_pieces(plan, matrix, whole, buffer);
    } else if (piece->m > 0 && piece->n > 0) {
        error = send_piece(plan, piece, buffer);
    }
    free(buffer);
    return error < 0 ? dense_broken(plan, error) : 0;
}

/* ---- The public calls ------------------------------------------------------------------------ */

static int whole_view(const covey_dense_t *plan, int matrix, const void *whole, int64_t ld,
                      struct dense_view *view)
{
    int64_t size[2];
    *view = (struct dense_view){.at = NULL};
    if (!dense_sizes(&plan->problem, matrix, size))
        return domain_fail(COVEY_EINVAL, "the operation has no matrix %d", matrix);
    if (plan->rank != 0)
        return 0;
    *view = (struct dense_view){(void *)whole, size[0], size[1], ld, 0};
    if (size[0] == 0 || size[1] == 0)
        return 0;
    if (whole == NULL)
        return domain_fail(COVEY_EINVAL, "the whole matrix is NULL");
    if (ld < size[0] || ld > INT32_MAX)
        return domain_fail(COVEY_EINVAL, "leading dimension %lld is not %lld to %d", (long long)ld,
                           (long long)size[0], INT32_MAX);
    return 0;
}

static int views(covey_dense_t *plan, int matrix, struct dense_view *whole,
                 struct dense_view *piece)
{
    int error = whole_view(plan, matrix, whole->at, whole->ld, whole);
    if (error == 0)
        error = dense_view_of(plan, matrix, piece->at, piece->ld, piece);
    return dense_agree(plan, error);
}

int covey_dense_scatter(covey_dense_t *plan, int matrix, const void *whole, int64_t ld, void *piece,
                        int64_t piece_ld)
{
    struct dense_view all = {.at = (void *)whole, .ld = ld}, part = {.at = piece, .ld = piece_ld};
    if (plan == NULL)
        return domain_fail(COVEY_EINVAL, "the plan is NULL");
    int error = views(plan, matrix, &all, &part);
    return error < 0 ? error : dense_spread(plan, matrix, &all, &part);
}

int covey_dense_gather(covey_dense_t *plan, int matrix, const void *piece, int64_t piece_ld,
                       void *whole, int64_t ld)
{
    struct dense_view all = {.at = whole, .ld = ld}, part = {.at = (void *)piece, .ld = piece_ld};
    if (plan == NULL)
        return domain_fail(COVEY_EINVAL, "the plan is NULL");
    int error = views(plan, matrix, &all, &part);
    return error < 0 ? error : dense_collect(plan, matrix, &part, &all);
}
