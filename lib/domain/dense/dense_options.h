/*
 * dense_options.h - what is computed and how, as all members agree on it.
 */
#ifndef COVEY_LIB_DOMAIN_DENSE_DENSE_OPTIONS_H
#define COVEY_LIB_DOMAIN_DENSE_DENSE_OPTIONS_H

#include "lib/domain/algebra/dense_cost.h"

struct dense_options {
    int algorithm; /* of the operation, or DOMAIN_CHOSEN */
    struct dense_setting forced;
    int at_root;
};

extern const char *const dense_bcast_names[]; /* NULL behind the last */
extern const char *const dense_swap_names[];

/* Checks what the caller gave, and that all gave the same: a collective call. Errors: EINVAL at all
 * members, those of all collective calls. */
int dense_problem_agree(covey_team_t *team, const struct covey_dense_problem *given,
                        int has_network, struct covey_dense_problem *problem);

/* Reads options and environment: a collective call. Errors: EINVAL at all members, and those of all
 * collective calls. */
int dense_options_agree(covey_team_t *team, const char *text, int op,
                        struct dense_options *options);

#endif
