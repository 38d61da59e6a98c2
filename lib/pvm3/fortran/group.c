/*
 * group.c - groups.
 */
#include "lib/pvm3/fortran/fortran.h"

#include <pvm3.h>

#include "lib/pvm3/fortran/text.h"

NAMED_0(joingroup)
NAMED_0(lvgroup)
NAMED_0(gsize)
NAMED_1(getinst)
NAMED_1(gettid)
NAMED_1(barrier)
NAMED_1(bcast)
NAMED_1(freezegroup)

void pvmfreduce_(operation_fn *operation, void *base, const int *count, const int *type,
                 const int *tag, const char *group, const int *root, int *info, size_t length)
{
    char name[TEXT_MAX];
    text_take(name, group, length);
    *info = pvm_reduce(operation, base, *count, *type, *tag, name, *root);
}

void pvmfgather_(void *result, void *base, const int *count, const int *type, const int *tag,
                 const char *group, const int *root, int *info, size_t length)
{
    char name[TEXT_MAX];
    text_take(name, group, length);
    *info = pvm_gather(result, base, *count, *type, *tag, name, *root);
}

void pvmfscatter_(void *result, void *base, const int *count, const int *type, const int *tag,
                  const char *group, const int *root, int *info, size_t length)
{
    char name[TEXT_MAX];
    text_take(name, group, length);
    *info = pvm_scatter(result, base, *count, *type, *tag, name, *root);
}

void pvmmax_(int *type, void *result, void *more, int *count, int *info)
{
    PvmMax(type, result, more, count, info);
}

void pvmmin_(int *type, void *result, void *more, int *count, int *info)
{
    PvmMin(type, result, more, count, info);
}

void pvmsum_(int *type, void *result, void *more, int *count, int *info)
{
    PvmSum(type, result, more, count, info);
}

void pvmproduct_(int *type, void *result, void *more, int *count, int *info)
{
    PvmProduct(type, result, more, count, info);
}
