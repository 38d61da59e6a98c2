/*
 * arch.c - PVM's names of architectures and numbers of data formats.
 */
#include "lib/pvm3/core/arch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* PVM's number for LINUX64; the others, which differ from it, are our own. */
#define FORMAT_64 0x00408c41
#define FORMAT_32 0x00408841
#define FORMAT_BIG 0x10000000

struct arch {
    const char *machine; /* as uname -m prints it */
    const char *name;
    int is_32;
};

static const struct arch archs[] = {
    {"x86_64", "LINUX64", 0},   {"i386", "LINUX", 1},       {"i486", "LINUX", 1},
    {"i586", "LINUX", 1},       {"i686", "LINUX", 1},       {"armv6l", "LINUXARM", 1},
    {"armv7l", "LINUXARM", 1},  {"s390x", "LINUXS390X", 0}, {"ppc64", "LINUXPPC64", 0},
    {"alpha", "LINUXALPHA", 0}, {"sparc", "LINUXSPARC", 1}, {"ppc", "LINUXPPC", 1},
};

/* What PVM never knew has the name of the most usual. */
static const struct arch *arch_find(const char *machine)
{
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        if (strcmp(archs[i].machine, machine) == 0)
            return &archs[i];
    }
    return &archs[0];
}

const char *arch_name(const struct covey_host *host)
{
    return arch_find(host->arch)->name;
}

int arch_format(const struct covey_host *host)
{
    int format = arch_find(host->arch)->is_32 ? FORMAT_32 : FORMAT_64;
    return host->big_endian ? format | FORMAT_BIG : format;
}

const char *arch_own(void)
{
    const char *set = getenv("PVM_ARCH");
    struct utsname here;
    if (set != NULL && set[0] != '\0')
        return set;
    return arch_find(uname(&here) == 0 ? here.machine : "")->name;
}
