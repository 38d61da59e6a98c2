/*
 * exec_path.c - where PVM programs lie.
 */
#include "lib/pvm3/rm/exec_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/pvm3/core/arch.h"

static void exec_path_add(struct exec_paths *paths, const char *folder, size_t length,
                          const char *program)
{
    if (paths->count == EXEC_PATHS_MAX || length == 0)
        return;
    char *path = paths->path[paths->count];
    int n = snprintf(path, PATH_MAX, "%.*s/%s", (int)length, folder, program);
    paths->count += n > 0 && n < PATH_MAX;
}

static void add_list(struct exec_paths *paths, const char *list, const char *program)
{
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ":");
        exec_path_add(paths, list, length, program);
        list += length + (list[length] == ':');
    }
}

/* NAME/below/ARCH, where NAME is a variable of the environment. */
static void add_below(struct exec_paths *paths, const char *name, const char *below,
                      const char *program)
{
    char folder[PATH_MAX];
    const char *base = getenv(name);
    if (base == NULL || base[0] == '\0')
        return;
    int n = snprintf(folder, sizeof folder, "%s/%s/%s", base, below, arch_own());
    if (n > 0 && (size_t)n < sizeof folder)
        exec_path_add(paths, folder, (size_t)n, program);
}

static void add_name(struct exec_paths *paths, const char *program)
{
    if (paths->count < EXEC_PATHS_MAX)
        snprintf(paths->path[paths->count++], PATH_MAX, "%s", program);
}

static void move_first(struct exec_paths *paths, int at)
{
    char chosen[PATH_MAX];
    memcpy(chosen, paths->path[at], PATH_MAX);
    memmove(paths->path[1], paths->path[0], (size_t)at * PATH_MAX);
    memcpy(paths->path[0], chosen, PATH_MAX);
}

void exec_paths_find(struct exec_paths *paths, const char *program)
{
    paths->count = 0;
    if (strchr(program, '/') != NULL) {
        add_name(paths, program);
        return;
    }
    add_list(paths, getenv("PVM_PATH"), program);
    add_below(paths, "HOME", "pvm3/bin", program);
    add_below(paths, "PVM_ROOT", "bin", program);
    for (int i = 0; i < paths->count; i++) {
        if (access(paths->path[i], X_OK) == 0) {
            move_first(paths, i);
            add_name(paths, program);
            return;
        }
    }
    add_name(paths, program);
    move_first(paths, paths->count - 1);
}
