/*
 * split.h - how a grid is divided among members: pure arithmetic, the same at all of them.
 *
 * Inside the room a grid has three axes, 0 the slowest; one of two dimensions has an axis 0 of one
 * point.
 */
#ifndef COVEY_LIB_DOMAIN_GRID_SPLIT_H
#define COVEY_LIB_DOMAIN_GRID_SPLIT_H

#include <stdint.h>

#define GRID_AXES 3

/* Points low .. low + size - 1 of each axis. */
struct grid_box {
    int64_t low[GRID_AXES];
    int64_t size[GRID_AXES];
};

/* The members, and on which host each is; only `most` of them are to have points (0: all). */
struct split_members {
    int count;
    int most;
    const int32_t *hosts;
};

struct grid_split {
    int64_t n[GRID_AXES];
    int parts[GRID_AXES];
    int members; /* ranks */
    int used;    /* members with points: the product of the parts */
    int *
        places; /* [members] the place of each rank among the parts, in row-major order; -1: none */
    int *ranks; /* [members] the rank of each place */
    /* [used + 1] slabs: where each begins along slab_axis, and its n; NULL: the parts of an axis
     * differ by one point at most */
    int64_t *slabs;
    int slab_axis;
};

/* Divides n so that each part has `width` points along a divided axis: into the parts that are
 * given, or if parts[0] is 0 into those that split_cost() finds the cheapest. Returns 0, -1 when
 * these parts cannot be (more than members, or thinner than width), or -2 without memory. The split
 * is freed with split_free() in each case. */
int split_make(struct grid_split *split, const int64_t n[GRID_AXES], int width,
               const struct split_members *members, const int parts[GRID_AXES]);
void split_free(struct grid_split *split);

/* Slabs of an axis: of as many points as the share of each member lets it have, from 0; who gets
 * none is no part. The first member with a share gets at least one. Returns 0, or -2 without
 * memory; the split is freed with split_free() in each case. */
int split_make_slabs(struct grid_split *split, const int64_t n[GRID_AXES], int axis,
                     const struct split_members *members, const unsigned char *shares);

/* Returns 0, or -2 without memory. */
int split_copy(struct grid_split *copy, const struct grid_split *split);

/* Points of the largest part, plus those of its halo: twice if they come from the same host, eight
 * times if they come from another one, of which there are hosts[d] along each axis. */
int64_t split_cost(const int64_t n[GRID_AXES], const int parts[GRID_AXES],
                   const int hosts[GRID_AXES]);

/* The first point of part i of so many; of part `parts`, n. */
static inline int64_t split_offset(int64_t n, int parts, int i)
{
    return n / parts * i + n % parts * i / parts;
}

/* Which part has the point. */
int split_part_of(int64_t n, int parts, int64_t at);

/* The places along the axes of a rank with points. */
void split_place(const struct grid_split *split, int rank, int place[GRID_AXES]);

/* The rank that has a point. */
int split_owner(const struct grid_split *split, const int64_t at[GRID_AXES]);

/* What a rank has; sizes are 0 where it has nothing. */
void split_box(const struct grid_split *split, int rank, struct grid_box *box);

/* Points of a box. */
static inline int64_t grid_box_count(const struct grid_box *box)
{
    return box->size[0] * box->size[1] * box->size[2];
}

/* What two boxes have in common, the second one moved; returns its points. */
int64_t grid_box_common(const struct grid_box *a, const struct grid_box *b,
                        const int64_t moved[GRID_AXES], struct grid_box *common);

#endif
