/*
 * door.h - one problem of a sequential program on its way to the members of a team and back.
 */
#ifndef COVEY_LIB_DOMAIN_DOOR_DOOR_H
#define COVEY_LIB_DOMAIN_DOOR_DOOR_H

#include "lib/domain/covey_domain/door.h"

#define DOOR_NUMBERS 16
#define DOOR_REALS 6
#define DOOR_ARRAYS 3
#define DOOR_ALGORITHM_BYTES 64
#define DOOR_OPTION_BYTES 256

/* The arguments of an operation: all that the workers need are numbers. Arrays are the caller's. */
struct door_args {
    int64_t n[DOOR_NUMBERS];
    double x[DOOR_REALS];
    const void *in[DOOR_ARRAYS]; /* NULL at workers */
    void *out[DOOR_ARRAYS];
};

/* A member of the team that runs an operation; rank 0 is the caller. */
struct door_member {
    covey_team_t *team;
    struct covey_domain_network network; /* of the team, as rank 0 knows it */
    const char *options;                 /* those of the library that solves; "" for none */
    double residual;                     /* set at rank 0 where there is one */
    char algorithm[DOOR_ALGORITHM_BYTES];
};

/* What the cost of an operation depends on besides its arguments. */
struct door_setting {
    double tasks;
    struct covey_domain_place place; /* of so many members: each on a processor of its own, and its
                                        load what others leave of it */
    covey_team_t *alone;             /* the caller as a team, which measures */
};

/* The caller on an idle processor: where speeds are measured. */
extern const struct covey_domain_place door_place_alone;

struct door_op {
    const char *name; /* of the call, "covey_sort_array" */
    /* A collective call; a member alone is a team, too. On an error that not all members get the
     * team is broken by the one that cannot go on. Arrays of rank 0 are written last. */
    int (*run)(struct door_member *member, const struct door_args *args);
    /* Seconds, the way there and back included. NULL: never the question. */
    double (*cost)(const struct door_args *args, const struct door_setting *setting);
};

enum door_op_number {
    DOOR_NETWORK, /* measures the network */
    DOOR_SORT,
    DOOR_FFT,
    DOOR_GEMM,
    DOOR_SOLVE,
    DOOR_SOLVE_SPD,
    DOOR_LEAST_SQUARES,
    DOOR_POISSON,
    DOOR_OPS
};

extern const struct door_op *const door_ops[DOOR_OPS];
extern const struct door_op door_network, door_sort, door_fft, door_gemm, door_solve,
    door_solve_spd, door_least_squares, door_poisson;

/* One call, from the caller's arguments to its report. Errors: as covey_sort_array(). */
int door_call(covey_t *vm, int op, const struct door_args *args, const char *options,
              struct covey_door_report *report);

#endif
