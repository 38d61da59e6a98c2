/*
 * covey_domain.h - solvers of whole problems by the members of a team, each with several algorithms
 * of which the one that is expected to be the fastest is taken.
 *
 * It stands on covey.h; link with -lcovey_domain -lcovey, or pkg-config covey-domain. Errors are
 * those of enum covey_error; covey_domain_error_text() gives the cause of the calling thread's last
 * failure of a call of this library. Names of options and of algorithms are in the page of each
 * library.
 */
#ifndef COVEY_DOMAIN_H
#define COVEY_DOMAIN_H

/* clang-format off */
#include "covey_domain/base.h" /* errors; what the choice knows of the network */
#include "covey_domain/predict.h" /* what algorithms would take */
#include "covey_domain/sort.h" /* arrays in order */
#include "covey_domain/fourier.h" /* Fourier transforms; with FFTW 3 alone */
#include "covey_domain/dense.h" /* dense algebra; with OpenBLAS and LAPACKE alone */
#include "covey_domain/grid.h" /* regular grids */
#include "covey_domain/poisson.h" /* Poisson's equation on them */
#include "covey_domain/door.h" /* all of it for one task that has the whole problem */
/* clang-format on */

#endif
