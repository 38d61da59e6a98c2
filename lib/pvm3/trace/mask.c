/*
 * mask.c - the masks of trace events: which are wanted of this task, and of those it spawns.
 */
#include <pvm3.h>
#include <string.h>

#include "lib/pvm3/core/error.h"
#include "lib/pvm3/trace/trace.h"

static char *mask_of(int who)
{
    switch (who) {
    case PvmTaskSelf:
        return pvmtrc.tmask;
    case PvmTaskChild:
        return pvmctrc.tmask;
    default:
        return NULL;
    }
}

int pvm_settmask(int who, Pvmtmask mask)
{
    char *own = mask_of(who);
    if (own == NULL || mask == NULL)
        return lpvmerr("pvm_settmask", PvmBadParam);
    memcpy(own, mask, TEV_MASK_LENGTH);
    return PvmOk;
}

int pvm_gettmask(int who, Pvmtmask mask)
{
    const char *own = mask_of(who);
    if (own == NULL || mask == NULL)
        return lpvmerr("pvm_gettmask", PvmBadParam);
    memcpy(mask, own, TEV_MASK_LENGTH);
    return PvmOk;
}
