/*
 * dense_ops.h - the table of each operation, which stands in its cost file.
 */
#ifndef COVEY_LIB_DOMAIN_ALGEBRA_DENSE_OPS_H
#define COVEY_LIB_DOMAIN_ALGEBRA_DENSE_OPS_H

#include "lib/domain/algebra/dense_cost.h"

extern const struct dense_op dense_op_gemm;     /* gemm_cost.c */
extern const struct dense_op dense_op_lu;       /* lu_cost.c */
extern const struct dense_op dense_op_cholesky; /* dense_cost_cholesky.c */
extern const struct dense_op dense_op_qr;       /* dense_cost_qr.c */

#endif
