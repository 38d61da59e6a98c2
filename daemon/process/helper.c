/*
 * What the programs beside coveyd have in common: where they are found, and how they are asked what
 * they are. Each reads its other arguments itself, for each has other ones.
 */
#include "daemon/process/helper.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/version.h"

int helper_find(const char *name, char path[HELPER_PATH_BYTES], struct failure *why)
{
    static const char *const places[] = {"", "../libexec/covey/"};
    char own[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", own, sizeof own - 1);
    own[size > 0 ? size : 0] = '\0';
    char *slash = strrchr(own, '/');
    if (slash == NULL)
        return failure_set(why, "cannot find out where coveyd is: %s", strerror(errno));
    slash[1] = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, HELPER_PATH_BYTES, "%s%s%s", own, places[i], name);
        if (access(path, X_OK) == 0)
            return 0;
        if (access(path, F_OK) == 0)
            return failure_set(why, "this user may not execute %.300s", path);
    }
    return failure_set(why, "%s is neither beside coveyd, in %.200s, nor in ../libexec/covey there",
                       name, own);
}

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
