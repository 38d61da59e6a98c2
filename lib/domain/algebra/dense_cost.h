/*
 * dense_cost.h - what an operation is expected to take: pure functions, without a team.
 *
 * Each operation has a struct dense_op in files of its own; dense_best() tries what its options
 * leave open.
 */
#ifndef COVEY_LIB_DOMAIN_ALGEBRA_DENSE_COST_H
#define COVEY_LIB_DOMAIN_ALGEBRA_DENSE_COST_H

#include "lib/domain/algebra/dense_layout.h"
#include "lib/domain/covey_domain/dense.h"

#define DENSE_OPS 6         /* above the largest enum covey_dense_op */
#define DENSE_ALGORITHMS 10 /* the most that an operation has */
#define DENSE_WIDTHS 4      /* inner dimensions, and widths of panels, that are measured: */
#define DENSE_WIDTH(i) (32 << (i))
#define DENSE_ORDERS 3 /* of square matrices whose factorization is measured: */
#define DENSE_ORDER(i) (64 << 2 * (i))
#define DENSE_TRIAL_BYTES (8.0 * 1024 * 1024) /* of the matrix that products are measured with */

enum dense_algorithm { DENSE_LOCAL }; /* the first one of every operation */

/* How a panel goes from its owner to the others in a row of the grid. */
enum dense_bcast {
    DENSE_1RING,
    DENSE_1RING_M, /* the M forms serve the owner of the next panel first, who passes nothing on */
    DENSE_2RING,
    DENSE_2RING_M,
    DENSE_TREE,
    DENSE_LONG, /* a part to each, and the parts round a ring */
    DENSE_BCASTS
};

enum dense_swap { DENSE_SWAP_BINARY, DENSE_SWAP_ROLL, DENSE_SWAPS };

/* How it is computed. As what is forced: rows, block 0 and others -1 are open. */
struct dense_setting {
    struct dense_grid grid;
    int block;
    int bcast;     /* enum dense_bcast */
    int swap;      /* enum dense_swap */
    int lookahead; /* 1: the next panel is factored and sent before the rest is updated */
};

/* Of one thread of the slowest member; doubles alone, seconds of the processor. A flop is one of
 * real numbers, and a product of complex ones with its sum has 8. */
struct dense_speed {
    double gemm_s[DENSE_WIDTHS];  /* a flop of C += A B with that inner dimension */
    double panel_s[DENSE_WIDTHS]; /* a flop of getrf of a panel of that width */
    double trsm_s;                /* a flop */
    /* A flop of getrf, potrf and geqrf of a matrix of that order. */
    double lu_s[DENSE_ORDERS], cholesky_s[DENSE_ORDERS], qr_s[DENSE_ORDERS];
    double vector_s; /* a flop of a rank-1 update */
    double copy_s;   /* a byte of rows that are copied */
};

/* What is computed, and where. */
struct dense_case {
    struct covey_dense_problem problem;
    struct covey_domain_place place;
    struct dense_speed speed; /* while all members of a host compute */
    struct dense_speed root;  /* of rank 0 while the others wait */
    double alone;             /* processors of the host of rank 0 that it has while others wait */
    int at_root;              /* 1: matrices begin and end at rank 0; then any grid may be taken */
};

/* One operation: its algorithms, their refusals and costs. */
struct dense_op {
    const char *key;          /* of its option */
    const char *const *names; /* "local" first, NULL behind the last */
    /* Why it cannot be taken for this problem, in some words; NULL: it can. */
    const char *(*refusal)(int algorithm, const struct dense_case *c);
    /* Seconds, without what dense_moves_s() counts; below 0: that setting does not suit it. */
    double (*cost)(int algorithm, const struct dense_case *c, const struct dense_setting *s);
};

/* NULL: no such operation. */
const struct dense_op *dense_op_of(int op);

/* Sets rows and columns of that matrix of the problem; 0: the operation has no such matrix. */
int dense_sizes(const struct covey_dense_problem *problem, int matrix, int64_t size[2]);

/* The least seconds of an algorithm with what is forced, and the setting that has them; below 0:
 * none suits it. */
double dense_best(const struct dense_op *op, int algorithm, const struct dense_case *c,
                  const struct dense_setting *forced, struct dense_setting *best);

/* Whether such a grid is one of members alone on whose hosts nobody else computes. */
int dense_is_at_rest(const struct dense_case *c, const struct dense_grid *grid);

/* ---- What the costs of operations are made of ------------------------------------------------ */

/* Flops of a product with its sum: 2, or 8 of complex numbers. */
double dense_flops(int type);
double dense_bytes(int type); /* of an element */

/* By what the time of one thread on an idle host is multiplied: where so many processes compute at
 * once, above 1 if a host has more of them than processors or others load it, below 1 if it has
 * fewer; and where one does alone, with matrices of about n x n. */
double dense_crowd(const struct dense_case *c, int processes);
double dense_alone(const struct dense_case *c, double n, double half);
#define DENSE_THREADED 512 /* from which n on it takes several threads */

/* `half`: the n at which a further thread gains half of a processor, as measured. */
#define DENSE_HALF_GEMM 100
#define DENSE_HALF_LU 700
#define DENSE_HALF_CHOLESKY 1500
#define DENSE_HALF_QR 3200

/* A measured speed at that width or order, between the measured ones. */
double dense_at_width(const double speeds[DENSE_WIDTHS], double width);
double dense_at_order(const double speeds[DENSE_ORDERS], double order);

/* A message of no bytes while so many members send at once: between one alone and all of them, who
 * take processors, links and switches from each other. */
double dense_alpha_s(const struct covey_domain_network *network, double senders);
double dense_beta_s(const struct covey_domain_network *network, double senders); /* of a byte */
double dense_message_s(const struct covey_domain_network *network, double senders, double bytes);

/* All matrices from rank 0 to the grid and back, or from the grid to one process and back. */
double dense_moves_s(const struct dense_case *c, const struct dense_grid *grid);

/* A broadcast of so many bytes among `members`: until the next one has it, and what the sender's
 * and receivers' links are busy with. */
struct dense_cast_cost {
    double next_s; /* until the next process has it */
    double all_s;  /* until all have it */
};
/* As many as `casts` of them go on at once. */
struct dense_cast_cost dense_cast_cost(const struct covey_domain_network *network, int bcast,
                                       int members, double casts, double bytes);

/* How much later than the next process the last one has it, for others had to pass it on. */
double dense_drain_s(struct dense_cast_cost cast);

/* One of the steps in which a factorization goes through a matrix. */
struct dense_step_cost {
    double seconds; /* until the next one may begin */
    double drain_s; /* how much later the last member has done this one */
};

typedef struct dense_step_cost dense_step_fn(const struct dense_case *c,
                                             const struct dense_setting *s, double left);

/* All steps of n columns, of which `left` are left in each, until all members have done them: the
 * cost of some is computed, which is cheaper than of all. */
double dense_steps_s(const struct dense_case *c, const struct dense_setting *s, double n,
                     dense_step_fn *step);

#endif
