/*
 * misc.c - small functions of the library, and a tracer that registers.
 */
#define NOTMPNAM
#include "tests/pvm3/say.h"

#include <pvmtev.h>
#include <string.h>

static void folders(void)
{
    char name[PVMTMPNAMLEN], other[PVMTMPNAMLEN];
    SAY(pvmgettmp()[0] == '/');
    SAY(pvmtmpnam(name) == name);
    SAY(strncmp(name, pvmgettmp(), strlen(pvmgettmp())));
    SAY(access(name, F_OK));
    SAY(pvmtmpnam(other) == other);
    setenv("PVM_RSH", "/no/such/rsh", 1);
    SAY_TEXT(pvmgetrsh());
}

static void tracer(void)
{
    Pvmtmask mask;
    TEV_MASK_INIT(mask);
    TEV_MASK_SET(mask, TEV_SEND);
    SAY(pvm_reg_tracer(0, 11, 0, 12, mask, 0, PvmTraceFull));
}

int main(void)
{
    say_begin();
    folders();
    tracer();
    SAY(say_exit());
    return 0;
}
