/*
 * mask.c - the masks of trace events: which a program wants of itself and of those it spawns. They
 * are kept and given back; there are no trace events that they would choose among.
 */
#include <pvm3.h>
#include <pvmtev.h>
#include <string.h>

#include "lib/pvm3/error.h"

#define NONE "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"

static Pvmtmask masks[] = {[PvmTaskSelf] = NONE, [PvmTaskChild] = NONE};

static int known(int who)
{
    return who == PvmTaskSelf || who == PvmTaskChild;
}

int pvm_settmask(int who, Pvmtmask mask)
{
    if (!known(who) || mask == NULL)
        return lpvmerr("pvm_settmask", PvmBadParam);
    memcpy(masks[who], mask, sizeof masks[who]);
    return PvmOk;
}

int pvm_gettmask(int who, Pvmtmask mask)
{
    if (!known(who) || mask == NULL)
        return lpvmerr("pvm_gettmask", PvmBadParam);
    memcpy(mask, masks[who], sizeof masks[who]);
    return PvmOk;
}
