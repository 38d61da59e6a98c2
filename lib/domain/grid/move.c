/*
 * move.c - each pair of members has one message each way, with all that they have in common. Both
 * find the pieces in the same order: by how far the second box is moved around periodic axes.
 */
#include "lib/domain/grid/move.h"

#include "lib/domain/base/clock.h"

#include <stdlib.h>
#include <string.h>

#define SHIFTS 27 /* of a box around periodic axes */

static int shift_of(int s, const int64_t period[GRID_AXES], int64_t moved[GRID_AXES])
{
    const int by[GRID_AXES] = {s / 9 - 1, s / 3 % 3 - 1, s % 3 - 1};
    for (int d = 0; d < GRID_AXES; d++) {
        if (by[d] != 0 && period[d] == 0)
            return 0;
        moved[d] = by[d] * period[d];
    }
    return 1;
}

/* Appends what two boxes have in common; counts alone when pieces is NULL. */
static int add_pieces(struct move_piece *pieces, int count, int rank, const struct grid_box *left,
                      const struct grid_box *right, const int64_t period[GRID_AXES])
{
    if (grid_box_count(left) == 0 || grid_box_count(right) == 0)
        return count;
    for (int s = 0; s < SHIFTS; s++) {
        int64_t moved[GRID_AXES];
        struct grid_box common;
        if (!shift_of(s, period, moved) || grid_box_common(left, right, moved, &common) == 0)
            continue;
        if (pieces != NULL) {
            struct move_piece *p = &pieces[count];
            *p = (struct move_piece){.rank = rank, .left = common, .right = common};
            p->count = grid_box_count(&common);
            for (int d = 0; d < GRID_AXES; d++)
                p->right.low[d] -= moved[d];
        }
        count++;
    }
    return count;
}

static int find_pieces(const struct move *move, const struct move_side sides[2],
                       const int64_t period[GRID_AXES], int is_out, struct move_piece *pieces)
{
    int count = 0, members = move->team == NULL ? 1 : covey_team_size(move->team);
    for (int rank = 0; rank < members; rank++) {
        struct grid_box left, right;
        sides[0].box(sides[0].context, is_out ? move->rank : rank, &left);
        sides[1].box(sides[1].context, is_out ? rank : move->rank, &right);
        count = add_pieces(pieces, count, rank, &left, &right, period);
    }
    return count;
}

static size_t doubles_of(const struct move_piece *pieces, int count)
{
    size_t doubles = 0;
    for (int i = 0; i < count; i++)
        doubles += (size_t)pieces[i].count;
    return doubles;
}

int move_make(struct move *move, covey_team_t *team, const struct move_side sides[2],
              const int64_t period[GRID_AXES], int tag)
{
    *move = (struct move){.team = team,
                          .rank = team == NULL ? 0 : covey_team_rank(team),
                          .tag = tag,
                          .left = sides[0].field,
                          .right = sides[1].field};
    move->out_count = find_pieces(move, sides, period, 1, NULL);
    move->in_count = find_pieces(move, sides, period, 0, NULL);
    move->out = calloc((size_t)move->out_count + 1, sizeof *move->out);
    move->in = calloc((size_t)move->in_count + 1, sizeof *move->in);
    move->requests =
        calloc((size_t)move->out_count + (size_t)move->in_count + 1, sizeof *move->requests);
    if (move->out == NULL || move->in == NULL || move->requests == NULL)
        return COVEY_ENOMEM;
    find_pieces(move, sides, period, 1, move->out);
    find_pieces(move, sides, period, 0, move->in);
    move->in_at = doubles_of(move->out, move->out_count);
    move->buffer =
        malloc((move->in_at + doubles_of(move->in, move->in_count) + 1) * sizeof *move->buffer);
    return move->buffer == NULL ? COVEY_ENOMEM : 0;
}

static void drop_requests(struct move *move)
{
    for (int i = 0; move->requests != NULL && i < move->out_count + move->in_count; i++)
        covey_req_free(&move->requests[i]);
}

void move_free(struct move *move)
{
    drop_requests(move);
    free(move->requests);
    free(move->buffer);
    free(move->out);
    free(move->in);
    *move = (struct move){.team = NULL};
}

/* ---- A run: of two lists of pieces, one is sent from and the other received into ------------- */

struct end {
    const struct move_piece *pieces;
    int count, is_left;
    const struct grid_field *field;
    double *data, *buffer;
};

static const struct grid_box *box_of(const struct end *e, int i)
{
    return e->is_left ? &e->pieces[i].left : &e->pieces[i].right;
}

/* The pieces of one rank from i on; returns where they end. */
static int group(const struct end *e, int i, size_t *doubles)
{
    int rank = e->pieces[i].rank;
    for (*doubles = 0; i < e->count && e->pieces[i].rank == rank; i++)
        *doubles += (size_t)e->pieces[i].count;
    return i;
}

static int receive_all(struct move *move, const struct end *to)
{
    double *at = to->buffer;
    size_t doubles;
    int error = 0;
    for (int i = 0, end; error == 0 && i < to->count; i = end, at += doubles) {
        end = group(to, i, &doubles);
        if (to->pieces[i].rank != move->rank)
            error = covey_team_irecv_array(move->team, to->pieces[i].rank, move->tag, COVEY_DOUBLE,
                                           at, doubles, &move->requests[i]);
    }
    return error;
}

static int send_all(struct move *move, const struct end *from, int first_request)
{
    double *at = from->buffer;
    size_t doubles;
    int error = 0;
    for (int i = 0, end; error == 0 && i < from->count; i = end, at += doubles) {
        double *piece = at;
        end = group(from, i, &doubles);
        for (int p = i; p < end; piece += from->pieces[p++].count)
            field_pack(from->field, box_of(from, p), from->data, piece);
        if (from->pieces[i].rank != move->rank)
            error =
                covey_team_isend_array(move->team, from->pieces[i].rank, move->tag, COVEY_DOUBLE,
                                       at, doubles, &move->requests[first_request + i]);
    }
    return error;
}

/* Where the pieces of this member stand in the buffer of what goes out. */
static const double *own_pieces(const struct move *move, const struct end *from)
{
    const double *at = from->buffer;
    for (int i = 0; i < from->count && from->pieces[i].rank != move->rank; i++)
        at += from->pieces[i].count;
    return at;
}

static void place_all(const struct move *move, const struct end *from, const struct end *to,
                      int is_add)
{
    const double *at = to->buffer, *own = own_pieces(move, from);
    for (int i = 0; i < to->count; i++) {
        int is_own = to->pieces[i].rank == move->rank;
        const double *piece = is_own ? own : at;
        if (is_add)
            field_add(to->field, box_of(to, i), piece, to->data);
        else
            field_unpack(to->field, box_of(to, i), piece, to->data);
        at += to->pieces[i].count;
        own += is_own ? to->pieces[i].count : 0;
    }
}

int move_run(struct move *move, enum move_how how, double *left, double *right)
{
    double begin = domain_now_s();
    struct end ends[2] = {
        {move->out, move->out_count, 1, &move->left, left, move->buffer},
        {move->in, move->in_count, 0, &move->right, right, move->buffer + move->in_at}};
    const struct end *from = &ends[how == MOVE_BACK], *to = &ends[how != MOVE_BACK];
    int error = receive_all(move, to);
    if (error == 0)
        error = send_all(move, from, to->count);
    if (error == 0 && move->team != NULL)
        error =
            covey_wait_all(move->requests, (size_t)from->count + (size_t)to->count, COVEY_FOREVER);
    if (error == 0)
        place_all(move, from, to, how == MOVE_ADD);
    drop_requests(move);
    move->seconds += domain_now_s() - begin;
    return error;
}
