/*
 * dense_layout.c - the arithmetic of the block-cyclic layout.
 */
#include "lib/domain/algebra/dense_layout.h"

int dense_axis_owner(const struct dense_axis *axis, int64_t i)
{
    return (int)(i / axis->block % axis->of);
}

int64_t dense_axis_before(const struct dense_axis *axis, int64_t i)
{
    int64_t blocks = i / axis->block, rest = i % axis->block;
    int64_t rounds = blocks / axis->of, more = blocks % axis->of;
    int64_t before = rounds * axis->block;
    if (axis->at < more)
        return before + axis->block;
    return axis->at == more ? before + rest : before;
}

int64_t dense_axis_local(const struct dense_axis *axis, int64_t i)
{
    return i / axis->block / axis->of * axis->block + i % axis->block;
}

int64_t dense_axis_global(const struct dense_axis *axis, int64_t local)
{
    return (local / axis->block * axis->of + axis->at) * axis->block + local % axis->block;
}

struct dense_grid dense_grid_square(int processes)
{
    struct dense_grid grid = {1, processes};
    for (int rows = 2; rows <= processes / rows; rows++)
        if (processes % rows == 0)
            grid = (struct dense_grid){rows, processes / rows};
    return grid;
}
