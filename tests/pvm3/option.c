/*
 * option.c - options, the last error, exported variables, versions.
 */
#include "tests/pvm3/say.h"

#include <pvmtev.h>

static void options(void)
{
    for (int i = 0; i <= PvmNoReset; i++)
        printf("%d: %d\n", i, pvm_getopt(i));
    SAY(pvm_setopt(99, 1));
    SAY(pvm_setopt(PvmRoute, 99));
    SAY(pvm_setopt(PvmRoute, PvmRouteDirect));
    SAY(pvm_getopt(PvmRoute));
    SAY(pvm_setopt(PvmFragSize, 10));
    SAY(pvm_setopt(PvmFragSize, 100000));
    SAY(pvm_getopt(PvmFragSize));
    SAY(pvm_setopt(PvmResvTids, 1));
    SAY(pvm_setopt(PvmResvTids, 0));
    SAY(pvm_setopt(PvmShowTids, 0));
    SAY(pvm_setopt(PvmShowTids, 1));
}

static void errors(void)
{
    SAY(pvm_send(0, 1));
    SAY_TEXT(pvm_strerror());
    SAY(pvm_perror("me"));
    SAY(pvm_setopt(PvmAutoErr, 0));
    SAY(pvm_upkint(NULL, 1, 1));
    SAY_TEXT(pvm_strerror());
    SAY(pvm_setopt(PvmAutoErr, 1));
    SAY_TEXT(pvm_version());
}

static const char *exported(void)
{
    const char *list = getenv("PVM_EXPORT");
    return list == NULL ? "" : list;
}

static void exports(void)
{
    unsetenv("PVM_EXPORT");
    SAY(pvm_export("FOO"));
    SAY_TEXT(exported());
    SAY(pvm_export("BAR"));
    SAY(pvm_export("FOO"));
    SAY(pvm_export("FO"));
    SAY_TEXT(exported());
    SAY(pvm_unexport("FOO"));
    SAY_TEXT(exported());
    SAY(pvm_unexport("FO"));
    SAY(pvm_unexport("BAR"));
    SAY_TEXT(exported());
    SAY(pvm_unexport("NONE"));
}

static void masks(void)
{
    Pvmtmask mask, got;
    SAY(pvm_gettmask(PvmTaskChild, got));
    SAY_TEXT(got);
    TEV_MASK_INIT(mask);
    TEV_MASK_SET(mask, TEV_SEND);
    SAY(pvm_settmask(PvmTaskChild, mask));
    SAY(pvm_gettmask(PvmTaskChild, got));
    SAY_TEXT(got);
    SAY(pvm_settmask(7, mask));
}

int main(void)
{
    say_begin();
    options();
    errors();
    exports();
    masks();
    pvm_exit();
    return 0;
}
