/*
 * covey_domain/door.h - whole problems solved for one task: its data lie in its memory, one call
 * starts workers on other processors of the VM, sends them their parts, solves, and brings back.
 */
#ifndef COVEY_DOMAIN_DOOR_H
#define COVEY_DOMAIN_DOOR_H

#include "base.h"
#include "poisson.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Each call first decides on how many tasks, the caller among them, the problem is solved, and
 * takes the caller alone when no more are worth it: what is sent and fetched, the start of workers
 * and the load of the hosts count. Workers stay for the next call for some seconds. The caller is
 * any task that joined the VM. See covey_door(3).
 *
 * `options` is NULL, or text that forces: "hosts=4,retry=2,sort=sample". Keys of all calls are
 *   hosts=N      on N hosts, the caller's own among them; 0: by the caller alone
 *   tasks=N      by N tasks, the caller among them
 *   retry=N      when a task or host is lost the call starts again, up to N times, on what is left
 *   keep=S       workers wait S seconds for the next call; 10 when not given
 *   limit=S      workers that take longer than S seconds are lost; 0, and when not given: none
 *   explain      nothing is solved: only the report is filled
 * and those of the library that solves. COVEY_DOOR in the environment has the same form, and each
 * of its keys counts instead of the program's.
 *
 * One call at a time per handle: others wait. An array that is result only, or result and input,
 * is written when the whole result is there: on an error it is as it was. */

/* What a call did. */
struct covey_door_report {
    int32_t hosts;    /* on which it was solved, the caller's own among them */
    int32_t tasks;    /* by which, the caller among them */
    int32_t attempts; /* 1, and one more for each time that it started again */
    int32_t started;  /* workers that this call started */
    double predicted_s;
    double seconds;     /* of the call */
    double residual;    /* see the call; negative: not computed; NaN: so has the result */
    char algorithm[64]; /* that of the library */
    char why[160];      /* why so many tasks, in one line */
    char table[1024];   /* a line for each number of tasks: what it is predicted to take */
};

/* Sorts `count` numbers of `type` (INT8 to COMPLEX_DOUBLE, BYTES are numbers of 8 bits) at base, in
 * the order of covey_sort(3). report may be NULL. Errors: EINVAL, ENOMEM, ENOTASK and EHOSTFAIL (a
 * worker or its host was lost), ENOENT (a host that was named by number has no workers' program),
 * EDAEMON, and those of covey_spawn() and of collective calls. */
int covey_sort_array(covey_t *vm, int type, void *base, size_t count, const char *options,
                     struct covey_door_report *report);

/* Transforms `in` to `out`, whole arrays of n[0] x ... x n[dims-1] elements in C's order, which are
 * one array or do not overlap; kinds are those of covey_domain/fourier.h. Both begin at a multiple
 * of 16 bytes. Errors: as covey_sort_array(); EINVAL also: Covey was built without FFTW 3. */
int covey_fft(covey_t *vm, int dims, const int64_t *n, int kind, const void *in, void *out,
              const char *options, struct covey_door_report *report);

/* Matrices are BLAS's: doubles by columns, with a leading dimension. All of these calls need
 * OpenBLAS and LAPACKE when Covey is built. Errors: as covey_sort_array(); EINVAL also: a size
 * below 0, a leading dimension below the number of rows or above 2^31 - 1, a NULL. */

/* C = alpha A B + beta C: A is m x k, B k x n, C m x n, which is not read where beta is 0. */
int covey_gemm(covey_t *vm, int64_t m, int64_t n, int64_t k, double alpha, const double *a,
               int64_t lda, const double *b, int64_t ldb, double beta, double *c, int64_t ldc,
               const char *options, struct covey_door_report *report);

/* Solves A X = B: A is n x n, B n x nrhs and becomes X. As LAPACK's dgesv, but that A is only read.
 * Returns 0, or j + 1 where the j-th pivot is exactly 0: A is singular, and B as it was. The
 * residual of the report is |A x - b| / (eps n (|A| |x| + |b|)), by the largest row, of the first
 * column of B: some tens at most where A was factored well. */
int covey_solve(covey_t *vm, int64_t n, int64_t nrhs, const double *a, int64_t lda, double *b,
                int64_t ldb, const char *options, struct covey_door_report *report);

/* The same for a symmetric positive definite A, of which the lower half counts (LAPACK's dposv).
 * Returns j where the leading minor of order j is not positive definite. */
int covey_solve_spd(covey_t *vm, int64_t n, int64_t nrhs, const double *a, int64_t lda, double *b,
                    int64_t ldb, const char *options, struct covey_door_report *report);

/* The X of least |A X - B| for each column of B: A is m x n with m >= n and of full rank, B m x
 * nrhs, whose first n rows become X (LAPACK's dgels, but that the others stay). Returns j + 1 where
 * R(j, j) is exactly 0. */
int covey_least_squares(covey_t *vm, int64_t m, int64_t n, int64_t nrhs, const double *a,
                        int64_t lda, double *b, int64_t ldb, const char *options,
                        struct covey_door_report *report);

/* Solves -lap(u) + c u = f, see covey_domain/poisson.h, with borders whose values and slopes are 0:
 * f and u are whole grids in C's order; iterations begin at u, and end when the residual, that of
 * the report, is at most the tolerance (between 0 and 1). Returns 0, or 1: it did not converge. */
int covey_poisson(covey_t *vm, const struct covey_poisson_problem *problem, const double *f,
                  double *u, double tolerance, const char *options,
                  struct covey_door_report *report);

/* Ends the workers of the handle and what else the calls above keep for it. For a program that goes
 * on after covey_leave(), before which it is called; no other call of these may be under way. NULL
 * is fine. */
void covey_door_close(covey_t *vm);

/* What a worker does, from covey_join() to covey_leave(), in a program that a call above started:
 * covey-domain-worker, or the one that COVEY_DOMAIN_WORKER of the caller names. Returns 0 when it
 * is needed no longer. Errors: EINVAL (no task started this one), EPROTO, those of covey_recv(). */
int covey_door_serve(covey_t *vm);

#ifdef __cplusplus
}
#endif
#endif
