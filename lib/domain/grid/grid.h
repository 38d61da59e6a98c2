/*
 * grid.h - what a grid is made of.
 */
#ifndef COVEY_LIB_DOMAIN_GRID_GRID_H
#define COVEY_LIB_DOMAIN_GRID_GRID_H

#include "lib/domain/covey_domain/grid.h"
#include "lib/domain/grid/halo.h"

#define GRID_TAG 0x0100       /* of halos of the program's grids, and the 26 tags behind it */
#define GRID_TAG_WHOLE 0x0180 /* of whole grids */

struct covey_grid {
    covey_team_t *team;
    struct covey_grid_shape shape;
    struct grid_split split;
    struct halo halo;
};

/* The axis of the room that is the program's axis d. */
static inline int grid_axis(int dims, int d)
{
    return d + GRID_AXES - dims;
}

/* As covey_grid_create(), but in slabs of the first axis with the members' shares of the points,
 * the same at all, unless the options name parts; NULL: no slabs. Its halo is 1 wide. */
int grid_create_slabs(covey_team_t *team, const struct covey_grid_shape *shape, const char *options,
                      const unsigned char *shares, covey_grid_t **grid);

/* Sets what a member has, of a grid whose halo is `width` wide. */
void grid_part(const struct grid_split *split, int dims, int width, int rank,
               struct covey_grid_part *part);

/* The hosts of all members; free() it. NULL: no memory. */
int32_t *grid_hosts(const covey_team_t *team);

#endif
