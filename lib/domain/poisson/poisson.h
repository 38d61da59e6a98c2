/*
 * poisson.h - what a plan is made of, and its options.
 */
#ifndef COVEY_LIB_DOMAIN_POISSON_POISSON_H
#define COVEY_LIB_DOMAIN_POISSON_POISSON_H

#include "lib/domain/base/chooser.h"
#include "lib/domain/base/living.h"
#include "lib/domain/grid/move.h"
#include "lib/domain/poisson/solver.h"

#define POISSON_TEXT 32

struct poisson_options {
    struct settings settings;
    int forced; /* a method, or DOMAIN_CHOSEN */
    int local;  /* the method of the one member; DOMAIN_CHOSEN */
    char parts[POISSON_TEXT];
};

struct covey_poisson {
    covey_team_t *team;
    struct covey_grid *grid; /* of the program's fields */
    struct poisson_options options;
    struct speed speed;
    unsigned char *shares; /* of each rank in the slabs, in percent */
    struct living living;  /* of the list in division.c */
    struct domain_algorithm table[METHODS];
    int taken;
    char name[48]; /* of the problem, as the history has it */
    int runs;
    struct level front;    /* the equation on the program's division */
    double *b, *x;         /* on it */
    struct solver solver;  /* on it, too, or of METHOD_LOCAL: on rank 0 */
    double *b_all, *x_all; /* there */
    struct move to_one;
};

extern const char *const poisson_names[METHODS + 1];

/* All members have the options of rank 0. Errors: EINVAL at all. */
int poisson_options_agree(covey_team_t *team, const char *text, struct poisson_options *options);

/* Has all members agree on the problem. Errors: EINVAL at all. */
int poisson_problem_agree(covey_team_t *team, const struct covey_poisson_problem *problem,
                          struct equation *equation);

#endif
