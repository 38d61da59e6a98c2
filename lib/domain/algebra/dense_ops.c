/*
 * dense_ops.c - the operations that there are.
 */
#include "lib/domain/algebra/dense_ops.h"

const struct dense_op *dense_op_of(int op)
{
    static const struct dense_op *const ops[DENSE_OPS] = {
        [COVEY_DENSE_GEMM] = &dense_op_gemm,         [COVEY_DENSE_LU] = &dense_op_lu,
        [COVEY_DENSE_CHOLESKY] = &dense_op_cholesky, [COVEY_DENSE_QR] = &dense_op_qr,
        [COVEY_DENSE_SOLVE] = &dense_op_lu,
    };
    return op >= 0 && op < DENSE_OPS ? ops[op] : 0;
}
