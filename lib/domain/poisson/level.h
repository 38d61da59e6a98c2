/*
 * level.h - a grid with the equation on it: the finest one, or a coarser one of multigrid, which
 * fewer members may have.
 */
#ifndef COVEY_LIB_DOMAIN_POISSON_LEVEL_H
#define COVEY_LIB_DOMAIN_POISSON_LEVEL_H

#include "lib/domain/grid/halo.h"
#include "lib/domain/poisson/equation.h"
#include "lib/domain/poisson/kernel.h"

struct level {
    covey_team_t *team; /* NULL: of this process alone */
    struct equation equation;
    struct grid_split split;
    struct halo halo;
    struct kernel kernel;
    struct grid_box inner;    /* points that need no other member's */
    struct grid_box outer[6]; /* the others */
    int outer_count;
};

/* The level takes the split over, also when it fails: 0 or ENOMEM. level_free() follows. */
int level_make(struct level *level, covey_team_t *team, const struct equation *equation,
               struct grid_split *split, int tag);
void level_free(struct level *level);

/* A field of zeros; NULL: no memory. */
double *level_field(const struct level *level);

/* Whether this member has points. */
static inline int level_is_here(const struct level *level)
{
    return level->kernel.field.count > 0;
}

/* The halo of x is filled, ghosts included, and what `box` says is done to the inner points
 * meanwhile and to the outer ones after. Errors: those of messages. */
typedef void level_box_fn(const struct level *level, const struct grid_box *box, void *context);
int level_sweep(struct level *level, double *x, level_box_fn *on_box, void *context);

/* r = b - A x; q = A p. */
int level_residual(struct level *level, double *x, const double *b, double *r);
int level_apply(struct level *level, double *p, double *q);
/* Relaxes the even points and then the odd ones, as kernel_relax(): from x = 0, whatever stands
 * there, if is_zero. Odd points need the new even ones of other members, which are under way while
 * the inner points of both colours are done in one pass. */
struct level_relax {
    double omega;
    int is_zero;
};
int level_relax(struct level *level, const struct level_relax *how, double *x, const double *b);

/* d = old d + new D^-1 (b - A x), x += d. */
int level_step(struct level *level, const struct kernel_step *step, double *x, const double *b,
               double *d);

#endif
