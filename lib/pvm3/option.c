/*
 * option.c - pvm_setopt() and pvm_getopt().
 *
 * Options that say how PVM moves bytes are kept and given back, but do nothing here: Covey chooses
 * routes from what it measured, and has no fragments and no polling that a program would set.
 */
#include "lib/pvm3/option.h"

#include <pvm3.h>

#include "lib/pvm3/abi.h"
#include "lib/pvm3/error.h"
#include "lib/pvm3/mailbox.h"

#define OPTIONS (PvmNoReset + 1)
#define FRAGMENT_MIN 48 /* bytes of PVM's headers, and some */
#define FRAGMENT_MAX 1048576

/* What a value may be. */
struct range {
    int least, most;
};

int pvmdebmask; /* programs set it by the option, and read it */

static int values[OPTIONS] = {[PvmRoute] = PvmAllowDirect, [PvmFragSize] = 4080, [PvmShowTids] = 1};

static const struct range ranges[OPTIONS] = {
    [PvmRoute] = {PvmDontRoute, PvmRouteDirect},
    [PvmFragSize] = {FRAGMENT_MIN, FRAGMENT_MAX},
    [PvmTraceOptions] = {0, PvmTraceCount},
    [PvmSelfTraceOptions] = {0, PvmTraceCount},
    [PvmResvTids] = {0, 1},
    [PvmShowTids] = {0, 1},
    [PvmNoReset] = {0, 1},
};

int option_reserved(void)
{
    return values[PvmResvTids];
}

static int known(int what)
{
    return what >= PvmRoute && what < OPTIONS && what != PvmPollType && what != PvmPollTime;
}

static int fits(int what, int value)
{
    const struct range *r = &ranges[what];
    return r->most == 0 || (value >= r->least && value <= r->most);
}

int pvm_getopt(int what)
{
    if (!known(what))
        return lpvmerr("pvm_getopt", PvmBadParam);
    return what == PvmAutoErr ? error_auto() : values[what];
}

int pvm_setopt(int what, int value)
{
    if (!known(what) || !fits(what, value))
        return lpvmerr("pvm_setopt", PvmBadParam);
    int before = pvm_getopt(what);
    if (what == PvmAutoErr)
        error_set_auto(value);
    int error = what == PvmNoReset && value != before ? mailbox_noreset(value) : PvmOk;
    if (error != PvmOk)
        return lpvmerr("pvm_setopt", error);
    if (what == PvmDebugMask)
        pvmdebmask = value;
    values[what] = value;
    return before;
}
