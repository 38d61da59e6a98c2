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
    SAY(pvm_setopt(PvmShowTids, 7));
    SAY(pvm_setopt(PvmShowTids, 1));
    SAY(pvm_setopt(PvmNoReset, 5));
    SAY(pvm_setopt(PvmNoReset, 0));
    SAY(pvm_setopt(PvmPollType, PvmPollSleep));
    SAY(pvm_setopt(PvmPollTime, 10));
}

/* Where output and events go: to this task or to nobody, here where nobody has said otherwise. */
static void targets(void)
{
    int me = pvm_mytid();
    SAY(pvm_setopt(PvmOutputTid, me + 1));
    SAY(pvm_setopt(PvmTraceTid, me + 1));
    SAY(pvm_setopt(PvmTraceTid, me));
    SAY(pvm_setopt(PvmTraceCode, 12));
    SAY(pvm_setopt(PvmTraceContext, 13));
    SAY(pvm_setopt(PvmTraceBuffer, 14));
    SAY(pvm_setopt(PvmTraceOptions, PvmTraceCount));
    SAY(pvm_setopt(PvmTraceOptions, 0));
    SAY(pvm_setopt(PvmTraceTid, 0) == me);
    SAY(pvm_getopt(PvmTraceCode));
    SAY(pvm_setopt(PvmOutputCode, 15));
    SAY(pvm_setopt(PvmOutputContext, 16));
    SAY(pvm_setopt(PvmSelfTraceContext, 18));
    SAY(pvm_setopt(PvmSelfOutputContext, 18));
    SAY(pvm_setopt(PvmSelfTraceTid, me));
    SAY(pvm_getopt(PvmTraceTid) == me);
    SAY(pvm_setopt(PvmSelfTraceCode, 19));
    SAY(pvm_getopt(PvmTraceCode));
    SAY(pvm_setopt(PvmSelfTraceTid, 0) == me);
    SAY(pvm_setopt(PvmSelfTraceBuffer, 20));
    SAY(pvm_getopt(PvmSelfTraceBuffer));
    SAY(pvm_setopt(PvmSelfTraceOptions, 4));
    SAY(pvm_setopt(PvmSelfTraceOptions, PvmTraceTime));
    for (int i = PvmOutputTid; i <= PvmSelfTraceContext; i++) {
        if (i != PvmFragSize)
            printf("%d: %d\n", i, pvm_getopt(i));
    }
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
    targets();
    errors();
    exports();
    masks();
    pvm_exit();
    return 0;
}
