/*
 * guess.h - what the methods are expected to take: the seconds of an iteration times the
 * iterations.
 */
#ifndef COVEY_LIB_DOMAIN_POISSON_GUESS_H
#define COVEY_LIB_DOMAIN_POISSON_GUESS_H

#include "lib/domain/poisson/coarsen.h"

#define SOLVER_NO_LIMIT 0

/* The methods, and what else is chosen; see covey_poisson(3). */
enum method {
    METHOD_LOCAL,
    METHOD_JACOBI,
    METHOD_SOR,
    METHOD_CHEBYSHEV,
    METHOD_CG,
    METHOD_PIPECG,
    METHOD_MG,
    METHOD_MG_CG,
    METHOD_FFT,
    METHODS
};
enum pc { PC_JACOBI, PC_CHEBYSHEV };
enum smoother { SMOOTHER_RB, SMOOTHER_CHEBYSHEV };

struct settings {
    int method;
    int pc;
    int degree; /* of the polynomial that preconditions */
    int smoother;
    int sweeps;         /* before and after each visit of a coarser level */
    int is_f;           /* F cycles in the place of V cycles */
    int agglomerate;    /* 1: coarse levels on as many members as the model says; 0: on all */
    int64_t iterations; /* the most that are allowed; SOLVER_NO_LIMIT: by the prediction */
};

/* Iterations of the method of the settings to this tolerance, from u = 0. */
double guess_iterations(const struct settings *settings, const struct equation *equation,
                        double tolerance);

/* Seconds of a solution by so many members; 1: by one alone. Of METHOD_LOCAL with `inner`, the
 * method that the one member takes: all the data go there and back. */
double guess_s(const struct settings *settings, int inner, const struct equation *equation,
               const struct speed *speed, double tolerance);

/* The slabs that the direct method is expected to be fastest with: SLABS_EVEN or SLABS_REST, or
 * those that the speed names already. */
int guess_slabs(const struct settings *settings, const struct equation *equation,
                const struct speed *speed);

/* The method that one member alone is expected to be fastest with. */
int guess_alone(const struct settings *settings, const struct equation *equation,
                const struct speed *speed, int has_fft);

#endif
