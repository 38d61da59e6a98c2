/*
 * move.c - the plan of a move: each pair of members has one message each way, with all that they
 * have in common. Both find the pieces in the same order: by how far the second box is moved around
 * periodic axes.
 */
#include "lib/domain/grid/move.h"

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
    move->request_count = 2 * ((size_t)move->out_count + (size_t)move->in_count);
    move->requests = calloc(move->request_count + 1, sizeof *move->requests);
    if (move->out == NULL || move->in == NULL || move->requests == NULL)
        return COVEY_ENOMEM;
    find_pieces(move, sides, period, 1, move->out);
    find_pieces(move, sides, period, 0, move->in);
    move->in_at = doubles_of(move->out, move->out_count);
    move->buffer =
        malloc((move->in_at + doubles_of(move->in, move->in_count) + 1) * sizeof *move->buffer);
    return move->buffer == NULL ? COVEY_ENOMEM : 0;
}

void move_free(struct move *move)
{
    move_drop_requests(move);
    free(move->requests);
    free(move->buffer);
    free(move->out);
    free(move->in);
    *move = (struct move){.team = NULL};
}
