/*
 * reduce.c - pvm_reduce(): the root applies the operation to its own array and those of the other
 * members, in the order of their instances.
 */
#include <pvm3.h>
#include <stdlib.h>

#include "lib/pvm3/groups/collective.h"

typedef void operation_fn(int *type, void *result, void *more, int *count, int *info);

static int reduce_at_root(struct collective *c, operation_fn *operation, void *base)
{
    void *more = malloc(c->bytes + 1);
    int error = more == NULL ? PvmNoMem : PvmOk;
    for (int i = 0; i < c->members.count && error == PvmOk; i++) {
        if (i == c->own)
            continue;
        error = collective_receive(c, i, more);
        if (error == PvmOk)
            operation(&c->type, base, more, &c->count, &error);
    }
    free(more);
    return error;
}

int pvm_reduce(void (*operation)(int *type, void *result, void *more, int *count, int *info),
               void *base, int count, int type, int tag, char *group, int root)
{
    struct collective c;
    int error = operation == NULL ? PvmBadParam : PvmOk;
    if (error == PvmOk)
        error = collective_begin(&c, group, root, &(struct portion){count, type, tag});
    if (error == PvmOk) {
        error = c.own == c.root ? reduce_at_root(&c, operation, base)
                                : collective_send(&c, c.root, base);
        collective_end(&c);
    }
    return collective_error("pvm_reduce", error);
}
