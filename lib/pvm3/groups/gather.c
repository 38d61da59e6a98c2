/*
 * gather.c - pvm_gather() and pvm_scatter(): arrays of all members to one, and the other way, in
 * the order of their instances; and pvm_bcast().
 */
#include <pvm3.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pvm3/groups/collective.h"

static void block_copy(void *to, const void *from, size_t bytes)
{
    if (to != from && bytes > 0)
        memmove(to, from, bytes);
}

static int array_gather(const struct collective *c, void *result, const void *base)
{
    char *to = result;
    if (c->own != c->root)
        return collective_send(c, c->root, base);
    block_copy(to + (size_t)c->own * c->bytes, base, c->bytes);
    int error = PvmOk;
    for (int i = 0; i < c->members.count && error == PvmOk; i++) {
        if (i != c->own)
            error = collective_receive(c, i, to + (size_t)i * c->bytes);
    }
    return error;
}

static int scatter(const struct collective *c, void *result, const void *base)
{
    const char *from = base;
    if (c->own != c->root)
        return collective_receive(c, c->root, result);
    int error = PvmOk;
    for (int i = 0; i < c->members.count && error == PvmOk; i++) {
        if (i != c->own)
            error = collective_send(c, i, from + (size_t)i * c->bytes);
    }
    block_copy(result, from + (size_t)c->own * c->bytes, c->bytes);
    return error;
}

int pvm_gather(void *result, void *base, int count, int type, int tag, char *group, int root)
{
    struct collective c;
    int error = collective_begin(&c, group, root, &(struct portion){count, type, tag});
    if (error == PvmOk) {
        error = array_gather(&c, result, base);
        collective_end(&c);
    }
    return collective_error("pvm_gather", error);
}

int pvm_scatter(void *result, void *base, int count, int type, int tag, char *group, int root)
{
    struct collective c;
    int error = collective_begin(&c, group, root, &(struct portion){count, type, tag});
    if (error == PvmOk) {
        error = scatter(&c, result, base);
        collective_end(&c);
    }
    return collective_error("pvm_scatter", error);
}

/* The others; returns their number. */
static int others(const struct members *members, int *tids)
{
    int own = pvm_mytid(), count = 0;
    for (int i = 0; i < members->count; i++) {
        if (members->list[i].tid != own)
            tids[count++] = members->list[i].tid;
    }
    return count;
}

int pvm_bcast(char *group, int tag)
{
    struct members members;
    int error = members_get(group, &members);
    if (error != PvmOk)
        return error;
    int *tids = calloc((size_t)members.count, sizeof *tids);
    int count = tids == NULL ? 0 : others(&members, tids);
    if (tids == NULL)
        error = PvmNoMem;
    else if (count == 0)
        error = PvmNoInst; /* as PVM says when nobody else is there */
    else
        error = pvm_mcast(tids, count, tag);
    free(tids);
    members_free(&members);
    return error;
}
