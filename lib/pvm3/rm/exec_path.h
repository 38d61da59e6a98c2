/*
 * exec_path.h - where PVM programs lie.
 */
#ifndef COVEY_PVM3_EXEC_PATH_H
#define COVEY_PVM3_EXEC_PATH_H

#include <limits.h>

#define EXEC_PATHS_MAX 16

/* What a program may be called, the most probable first. */
struct exec_paths {
    int count;
    char path[EXEC_PATHS_MAX][PATH_MAX];
};

/* A name without a slash is looked up in the folders of PVM_PATH, in ~/pvm3/bin/ARCH and
 * $PVM_ROOT/bin/ARCH, where it is found on this host first; then by the name itself, which daemons
 * look up in their PATH; then in those folders on other hosts. */
void exec_paths_find(struct exec_paths *paths, const char *program);

#endif
