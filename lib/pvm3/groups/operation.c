/*
 * operation.c - the operations that PVM supplies for pvm_reduce(): each does result[i] = result[i]
 * op more[i]. Of complex numbers that with the greater or smaller modulus is taken.
 */
#include <pvm3.h>

/* Calls X(C type) for the type, and leaves the function; what is below is for other types. */
#define REAL_TYPES(type, X)                                                                        \
    switch (type) {                                                                                \
    case PVM_SHORT:                                                                                \
        X(short);                                                                                  \
        return PvmOk;                                                                              \
    case PVM_INT:                                                                                  \
        X(int);                                                                                    \
        return PvmOk;                                                                              \
    case PVM_LONG:                                                                                 \
        X(long);                                                                                   \
        return PvmOk;                                                                              \
    case PVM_FLOAT:                                                                                \
        X(float);                                                                                  \
        return PvmOk;                                                                              \
    case PVM_DOUBLE:                                                                               \
        X(double);                                                                                 \
        return PvmOk;                                                                              \
    case PVM_USHORT:                                                                               \
        X(unsigned short);                                                                         \
        return PvmOk;                                                                              \
    case PVM_UINT:                                                                                 \
        X(unsigned);                                                                               \
        return PvmOk;                                                                              \
    case PVM_ULONG:                                                                                \
        X(unsigned long);                                                                          \
        return PvmOk;                                                                              \
    default:                                                                                       \
        break;                                                                                     \
    }

#define COMPLEX_TYPES(type, X)                                                                     \
    switch (type) {                                                                                \
    case PVM_CPLX:                                                                                 \
        X(float);                                                                                  \
        return PvmOk;                                                                              \
    case PVM_DCPLX:                                                                                \
        X(double);                                                                                 \
        return PvmOk;                                                                              \
    default:                                                                                       \
        return PvmBadParam;                                                                        \
    }

/* ---- the greater and the smaller ------------------------------------------------------------- */

#define CHOOSE(ctype)                                                                              \
    for (int i = 0; i < count; i++) {                                                              \
        ctype a = ((ctype *)result)[i], b = ((const ctype *)more)[i];                              \
        ((ctype *)result)[i] = (b > a) == greater ? b : a;                                         \
    }

#define CHOOSE_COMPLEX(ctype)                                                                      \
    for (int i = 0; i < count; i++) {                                                              \
        ctype *a = (ctype *)result + 2 * i;                                                        \
        const ctype *b = (const ctype *)more + 2 * i;                                              \
        ctype norm_a = a[0] * a[0] + a[1] * a[1], norm_b = b[0] * b[0] + b[1] * b[1];              \
        if (greater ? norm_b > norm_a : norm_b < norm_a) {                                         \
            a[0] = b[0];                                                                           \
            a[1] = b[1];                                                                           \
        }                                                                                          \
    }

/* NOLINTBEGIN(readability-function-size): the macros */
static int operation_choose(int type, void *result, const void *more, int count, int greater)
{
    if (type == PVM_BYTE) {
        CHOOSE(signed char);
        return PvmOk;
    }
    REAL_TYPES(type, CHOOSE)
    COMPLEX_TYPES(type, CHOOSE_COMPLEX)
}

void PvmMax(int *type, void *result, void *more, int *count, int *info)
{
    *info = operation_choose(*type, result, more, *count, 1);
}

void PvmMin(int *type, void *result, void *more, int *count, int *info)
{
    *info = operation_choose(*type, result, more, *count, 0);
}

/* ---- sums and products ----------------------------------------------------------------------- */

#define ADD(ctype)                                                                                 \
    for (int i = 0; i < count; i++)                                                                \
    ((ctype *)result)[i] = (ctype)(((ctype *)result)[i] + ((const ctype *)more)[i])

#define MULTIPLY(ctype)                                                                            \
    for (int i = 0; i < count; i++)                                                                \
    ((ctype *)result)[i] = (ctype)(((ctype *)result)[i] * ((const ctype *)more)[i])

#define ADD_COMPLEX(ctype)                                                                         \
    for (int i = 0; i < 2 * count; i++)                                                            \
    ((ctype *)result)[i] += ((const ctype *)more)[i]

#define MULTIPLY_COMPLEX(ctype)                                                                    \
    for (int i = 0; i < count; i++) {                                                              \
        ctype *a = (ctype *)result + 2 * i;                                                        \
        const ctype *b = (const ctype *)more + 2 * i;                                              \
        ctype re = a[0] * b[0] - a[1] * b[1];                                                      \
        a[1] = a[0] * b[1] + a[1] * b[0];                                                          \
        a[0] = re;                                                                                 \
    }

static int operation_add(int type, void *result, const void *more, int count)
{
    REAL_TYPES(type, ADD)
    COMPLEX_TYPES(type, ADD_COMPLEX)
}

static int operation_multiply(int type, void *result, const void *more, int count)
{
    REAL_TYPES(type, MULTIPLY)
    COMPLEX_TYPES(type, MULTIPLY_COMPLEX)
}
/* NOLINTEND(readability-function-size) */

void PvmSum(int *type, void *result, void *more, int *count, int *info)
{
    *info = operation_add(*type, result, more, *count);
}

void PvmProduct(int *type, void *result, void *more, int *count, int *info)
{
    *info = operation_multiply(*type, result, more, *count);
}
