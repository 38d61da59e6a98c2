/*
 * collective.c - what calls have in common that all members of a group make.
 */
#include "lib/pvm3/groups/collective.h"

#include <pvm3.h>

int lpvmerr(const char *call, int code);

static size_t size_of(int type)
{
    static const size_t sizes[] = {
        [PVM_BYTE] = 1,
        [PVM_SHORT] = sizeof(short),
        [PVM_INT] = sizeof(int),
        [PVM_FLOAT] = sizeof(float),
        [PVM_CPLX] = 2 * sizeof(float),
        [PVM_DOUBLE] = sizeof(double),
        [PVM_DCPLX] = 2 * sizeof(double),
        [PVM_LONG] = sizeof(long),
        [PVM_USHORT] = sizeof(short),
        [PVM_UINT] = sizeof(int),
        [PVM_ULONG] = sizeof(long),
    };
    return type < 0 || type > PVM_ULONG ? 0 : sizes[type];
}

/* The position of a tid among the members, or an error. */
static int position(const struct members *members, int tid, int error)
{
    for (int i = 0; i < members->count; i++) {
        if (members->list[i].tid == tid)
            return i;
    }
    return error;
}

static int places(struct collective *c, int root)
{
    int tid = members_tid(&c->members, root);
    c->root = tid < 0 ? tid : position(&c->members, tid, PvmNoInst);
    c->own = position(&c->members, pvm_mytid(), PvmNotInGroup);
    if (c->root < 0)
        return c->root;
    return c->own < 0 ? c->own : PvmOk;
}

int collective_begin(struct collective *c, const char *group, int root,
                     const struct portion *portion)
{
    *c = (struct collective){.count = portion->count, .type = portion->type, .tag = portion->tag};
    int error = members_get(group, &c->members);
    if (error != PvmOk)
        return error;
    c->bytes = size_of(c->type) * (size_t)(c->count < 0 ? 0 : c->count);
    error = places(c, root);
    if (error == PvmOk)
        error = c->count < 0 || c->tag < 0 || size_of(c->type) == 0 ? PvmBadParam : PvmOk;
    if (error != PvmOk) {
        members_free(&c->members);
        return error;
    }
    c->context = pvm_setcontext(group_context());
    c->match = pvm_recvf(NULL);
    return PvmOk;
}

void collective_end(struct collective *c)
{
    pvm_recvf(c->match);
    pvm_setcontext(c->context);
    members_free(&c->members);
}

int collective_send(const struct collective *c, int to, const void *base)
{
    return pvm_psend(c->members.list[to].tid, c->tag, (void *)(uintptr_t)base, c->count, c->type);
}

int collective_receive(const struct collective *c, int from, void *base)
{
    int bytes;
    int error =
        pvm_precv(c->members.list[from].tid, c->tag, base, c->count, c->type, NULL, NULL, &bytes);
    if (error != PvmOk)
        return error;
    return (size_t)bytes == c->bytes ? PvmOk : PvmMismatch;
}

int collective_error(const char *call, int error)
{
    return error == PvmOk ? PvmOk : lpvmerr(call, error);
}
