/*
 * What the programs beside coveyd have in common: how they are asked what they are. Each reads its
 * other arguments itself, for each has other ones.
 */
#include "daemon/base/helper.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/version.h"

bool helper_answer(int argc, char **argv, const char *usage)
{
    if (argc < 2)
        return false;
    if (strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout), true;
    if (strcmp(argv[1], "--version") == 0)
        return printf("%s %s\n", program_invocation_short_name, version_short), true;
    return false;
}
