/*
 * coarsen.h - which grids multigrid has, and at how many members: pure arithmetic.
 */
#ifndef COVEY_LIB_DOMAIN_POISSON_COARSEN_H
#define COVEY_LIB_DOMAIN_POISSON_COARSEN_H

#include "lib/domain/poisson/equation.h"

/* Members on hosts that others leave alone, among themselves; members 0: they are none, or all. */
struct speed_rest {
    double alpha_s, beta_s, sweep_s;
    int members, hosts;
};

/* What agglomeration must know: seconds of a message and of each byte, of a point in a sweep of all
 * members at once and of one alone. */
struct speed {
    double alpha_s, beta_s;
    double sweep_s, alone_s;
    int members; /* a host of so many members shares its memory among them */
    int hosts;
    double one_beta_s; /* of a byte to one member while others wait; 0: as beta_s */
    double wait_s;     /* for members beside whom others compute */
    double even_s;     /* as sweep_s, if each has as many points as others leave it of its host */
    struct speed_rest rest;
    int slabs; /* enum slab_owners: the grid is divided into those of the direct method */
};

enum slab_owners {
    SLABS_NONE,
    SLABS_EVEN, /* of all members */
    SLABS_REST, /* of those on hosts that others leave alone */
    SLABS_OPEN  /* as one of these two, whichever is expected to be faster */
};

/* The next coarser equation; 0: there is none. */
int coarsen_equation(const struct equation *fine, struct equation *coarse);

/* Seconds of one exchange of halos of such a grid at so many members. */
double coarsen_exchange_s(const struct speed *speed, const struct equation *e, int members);

/* How many members such a level should have, of those that the finer one has. */
int coarsen_members(const struct speed *speed, const struct equation *e, int before, int sweeps);

#endif
