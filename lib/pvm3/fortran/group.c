/*
 * group.c - groups.
 */
#include "lib/pvm3/fortran/fortran.h"

#include <pvm3.h>

#include "lib/pvm3/fortran/text.h"

void pvmfjoingroup_(const char *group, int *instance, size_t length)
{
    char name[TEXT_MAX];
    *instance = pvm_joingroup(text_take(name, group, length));
}

void pvmflvgroup_(const char *group, int *info, size_t length)
{
    char name[TEXT_MAX];
    *info = pvm_lvgroup(text_take(name, group, length));
}

void pvmfgsize_(const char *group, int *size, size_t length)
{
    char name[TEXT_MAX];
    *size = pvm_gsize(text_take(name, group, length));
}

void pvmfgetinst_(const char *group, const int *tid, int *instance, size_t length)
{
    char name[TEXT_MAX];
    *instance = pvm_getinst(text_take(name, group, length), *tid);
}

void pvmfgettid_(const char *group, const int *instance, int *tid, size_t length)
{
    char name[TEXT_MAX];
    *tid = pvm_gettid(text_take(name, group, length), *instance);
}

void pvmfbarrier_(const char *group, const int *count, int *info, size_t length)
{
    char name[TEXT_MAX];
    *info = pvm_barrier(text_take(name, group, length), *count);
}

void pvmfbcast_(const char *group, const int *tag, int *info, size_t length)
{
    char name[TEXT_MAX];
    *info = pvm_bcast(text_take(name, group, length), *tag);
}

void pvmffreezegroup_(const char *group, const int *size, int *info, size_t length)
{
    char name[TEXT_MAX];
    *info = pvm_freezegroup(text_take(name, group, length), *size);
}

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
