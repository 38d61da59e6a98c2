/*
 * op.c - operations of reductions: the built-in ones, and the program's own.
 *
 * A built-in operation is a function for each type that it is defined for: the table at the end
 * says which there are. Integers wrap around, as unsigned ones do. The program's own are a list of
 * the task's, by number.
 */
#include "lib/collective/collective.h"
#include "lib/collective/teams.h"
#include "lib/member/vm.h"
#include "lib/msg/error.h"

#include <stdlib.h>

#define OP_DEFINED_FIRST 64 /* numbers of the program's own */

typedef void op_fn(const void *left, const void *right, void *result, size_t count);

struct op_defined {
    struct op_defined *next;
    int number;
    covey_op_fn *fn;
    void *context;
    bool commutes;
    size_t grain;
};

/* ---- the built-in ones ----------------------------------------------------------------------- */

/* a and b are the elements; `expression` is what becomes of them. The result may be one of the two
 * arrays, but no other part of them: so the compiler may take several elements at once. */
#define OP(name, suffix, ctype, expression)                                                        \
    static void name##_##suffix(const void *left, const void *right, void *result, size_t count)   \
    {                                                                                              \
        const ctype *l = left, *r = right;                                                         \
        ctype *to = result;                                                                        \
        _Pragma("GCC ivdep") for (size_t i = 0; i < count; i++)                                    \
        {                                                                                          \
            const ctype a = l[i], b = r[i];                                                        \
            to[i] = (ctype)(expression);                                                           \
        }                                                                                          \
    }

/* Pairs: a and b the values, p and q their places; `better`: the right pair is the result. */
#define OP_LOC(name, suffix, ctype, better)                                                        \
    static void name##_##suffix(const void *left, const void *right, void *result, size_t count)   \
    {                                                                                              \
        const ctype *l = left, *r = right;                                                         \
        ctype *to = result;                                                                        \
        for (size_t i = 0; i + 1 < count; i += 2) {                                                \
            const ctype a = l[i], b = r[i], p = l[i + 1], q = r[i + 1];                            \
            const bool right_one = (better) || (a == b && q < p);                                  \
            to[i] = right_one ? b : a;                                                             \
            to[i + 1] = right_one ? q : p;                                                         \
        }                                                                                          \
    }

#define OPS_ORDERED(s, t)                                                                          \
    OP(land, s, t, a != 0 && b != 0)                                                               \
    OP(lor, s, t, a != 0 || b != 0)                                                                \
    OP(lxor, s, t, (a != 0) != (b != 0))                                                           \
    OP_LOC(minloc, s, t, b < a)                                                                    \
    OP_LOC(maxloc, s, t, b > a)

/* `w` is an unsigned type in which sums and products of t do not overflow undefinedly. */
#define OPS_INTEGER(s, t, w)                                                                       \
    OPS_ORDERED(s, t)                                                                              \
    OP(sum, s, t, (w)a + (w)b)                                                                     \
    OP(prod, s, t, (w)a *(w)b)                                                                     \
    OP(min, s, t, b < a ? b : a)                                                                   \
    OP(max, s, t, b > a ? b : a)                                                                   \
    OP(band, s, t, a &b)                                                                           \
    OP(bor, s, t, a | b)                                                                           \
    OP(bxor, s, t, a ^ b)

/* Of a NaN and a number, the number. */
#define OPS_FLOATING(s, t)                                                                         \
    OPS_ORDERED(s, t)                                                                              \
    OP(sum, s, t, a + b)                                                                           \
    OP(prod, s, t, a *b)                                                                           \
    OP(min, s, t, b < a || a != a ? b : a)                                                         \
    OP(max, s, t, b > a || a != a ? b : a)

#define OPS_COMPLEX(s, t)                                                                          \
    OP(sum, s, t, a + b)                                                                           \
    OP(prod, s, t, a *b)

OPS_INTEGER(int8, int8_t, uint32_t)
OPS_INTEGER(int16, int16_t, uint32_t)
OPS_INTEGER(int32, int32_t, uint32_t)
OPS_INTEGER(int64, int64_t, uint64_t)
OPS_INTEGER(uint8, uint8_t, uint32_t)
OPS_INTEGER(uint16, uint16_t, uint32_t)
OPS_INTEGER(uint32, uint32_t, uint32_t)
OPS_INTEGER(uint64, uint64_t, uint64_t)
OPS_FLOATING(float, float)
OPS_FLOATING(double, double)
OPS_COMPLEX(complex_float, _Complex float)
OPS_COMPLEX(complex_double, _Complex double)

#define ROW_ORDERED(s)                                                                             \
    [COVEY_OP_SUM] = sum_##s, [COVEY_OP_PROD] = prod_##s, [COVEY_OP_MIN] = min_##s,                \
    [COVEY_OP_MAX] = max_##s, [COVEY_OP_LAND] = land_##s, [COVEY_OP_LOR] = lor_##s,                \
    [COVEY_OP_LXOR] = lxor_##s, [COVEY_OP_MINLOC] = minloc_##s, [COVEY_OP_MAXLOC] = maxloc_##s
#define ROW_BITS(s) [COVEY_OP_BAND] = band_##s, [COVEY_OP_BOR] = bor_##s, [COVEY_OP_BXOR] = bxor_##s
#define ROW_COMPLEX(s) [COVEY_OP_SUM] = sum_##s, [COVEY_OP_PROD] = prod_##s

static op_fn *const built_in[COVEY_BYTES + 1][COVEY_OP_MAXLOC + 1] = {
    [COVEY_INT8] = {ROW_ORDERED(int8), ROW_BITS(int8)},
    [COVEY_INT16] = {ROW_ORDERED(int16), ROW_BITS(int16)},
    [COVEY_INT32] = {ROW_ORDERED(int32), ROW_BITS(int32)},
    [COVEY_INT64] = {ROW_ORDERED(int64), ROW_BITS(int64)},
    [COVEY_UINT8] = {ROW_ORDERED(uint8), ROW_BITS(uint8)},
    [COVEY_UINT16] = {ROW_ORDERED(uint16), ROW_BITS(uint16)},
    [COVEY_UINT32] = {ROW_ORDERED(uint32), ROW_BITS(uint32)},
    [COVEY_UINT64] = {ROW_ORDERED(uint64), ROW_BITS(uint64)},
    [COVEY_FLOAT] = {ROW_ORDERED(float)},
    [COVEY_DOUBLE] = {ROW_ORDERED(double)},
    [COVEY_COMPLEX_FLOAT] = {ROW_COMPLEX(complex_float)},
    [COVEY_COMPLEX_DOUBLE] = {ROW_COMPLEX(complex_double)},
    [COVEY_BYTES] = {ROW_BITS(uint8)},
};

static op_fn *find_built_in(int op, int type)
{
    bool known = type >= 0 && type <= COVEY_BYTES && op > 0 && op <= COVEY_OP_MAXLOC;
    return known ? built_in[type][op] : NULL;
}

/* ---- the program's own ----------------------------------------------------------------------- */

/* They are never taken away, so what is found stays. */
static const struct op_defined *find_defined(struct covey *vm, int op)
{
    pthread_mutex_lock(&vm->lock);
    const struct op_defined *d = teams_of(vm)->ops;
    while (d != NULL && d->number != op)
        d = d->next;
    pthread_mutex_unlock(&vm->lock);
    return d;
}

int covey_op_define(covey_t *vm, covey_op_fn *fn, void *context, int commutes, size_t grain)
{
    if (vm == NULL || fn == NULL || grain == 0)
        return error_set(COVEY_EINVAL, "op define: NULL, or a grain of 0");
    struct op_defined *d = malloc(sizeof *d);
    if (d == NULL)
        return error_code(COVEY_ENOMEM);
    pthread_mutex_lock(&vm->lock);
    *d = (struct op_defined){.next = teams_of(vm)->ops,
                             .number = teams_of(vm)->ops == NULL ? OP_DEFINED_FIRST
                                                                 : teams_of(vm)->ops->number + 1,
                             .fn = fn,
                             .context = context,
                             .commutes = commutes != 0,
                             .grain = grain};
    teams_of(vm)->ops = d;
    pthread_mutex_unlock(&vm->lock);
    return d->number;
}

void op_free_all(struct covey *vm)
{
    while (teams_of(vm)->ops != NULL) {
        struct op_defined *d = teams_of(vm)->ops;
        teams_of(vm)->ops = d->next;
        free(d);
    }
}

/* ---- both ------------------------------------------------------------------------------------ */

bool op_commutes(struct covey *vm, int op)
{
    return op < OP_DEFINED_FIRST || find_defined(vm, op)->commutes;
}

size_t op_grain(struct covey *vm, int op)
{
    if (op >= OP_DEFINED_FIRST)
        return find_defined(vm, op)->grain;
    return op == COVEY_OP_MINLOC || op == COVEY_OP_MAXLOC ? 2 : 1;
}

int op_check(struct covey *vm, const char *name, int op, int type, size_t count)
{
    bool defined = op >= OP_DEFINED_FIRST && find_defined(vm, op) != NULL;
    if (!defined && find_built_in(op, type) == NULL)
        return error_set(COVEY_EINVAL, "%s: no operation %d on %s", name, op,
                         covey_type_name(type));
    if (count % op_grain(vm, op) != 0)
        return error_set(COVEY_EINVAL, "%s: %zu elements are no multiple of %zu", name, count,
                         op_grain(vm, op));
    return COVEY_OK;
}

void op_apply(struct covey *vm, int op, int type, const struct operands *on)
{
    if (on->count == 0)
        return;
    if (op < OP_DEFINED_FIRST) {
        find_built_in(op, type)(on->left, on->right, on->result, on->count);
        return;
    }
    const struct op_defined *d = find_defined(vm, op);
    d->fn(on->left, on->right, on->result, on->count, type, d->context);
}
