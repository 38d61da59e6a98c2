/*
 * program.c - finds programs that belong to the console: beside it, in apps/ there in a build, or
 * in ../libexec/covey. It does not look in PATH, where a program of the same name, such as sort,
 * is another one.
 */
#include "tools/base/program.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/tool.h"

bool program_look(const char *name, char *path, size_t size)
{
    static const char *const places[] = {"", "apps/", "../libexec/covey/"};
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(own, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        snprintf(path, size, "%s/%s%s", own, places[i], name);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

int program_find(const char *what, const char *name, char *path, size_t size)
{
    if (program_look(name, path, size))
        return TOOL_OK;
    return tool_error(
        what, "%s is neither beside covey nor in apps/ or ../libexec/covey there; install it",
        name);
}

bool program_guess(const char *name, char *path, size_t size)
{
    struct stat st;
    if (strchr(name, '/'))
        return false;
    if (snprintf(path, size, "./%s", name) < (int)size && stat(path, &st) == 0 &&
        S_ISREG(st.st_mode) && access(path, X_OK) == 0)
        return true;
    return program_look(name, path, size);
}
