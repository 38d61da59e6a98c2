/*
 * files.c - descriptors. The daemon raises its own limit as far as it may and keeps some in
 * reserve, so that it can still say to a caller that there are none; its tasks get the limit as it
 * was.
 */
#include "daemon/base/files.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define FILES_WANTED 65536
#define FILES_LEAST 48
#define RESERVE_MAX 64

int files_init(struct files *files, struct failure *why)
{
    struct rlimit raised;
    if (getrlimit(RLIMIT_NOFILE, &raised) != 0)
        return failure_set(why, "cannot read the limit on open files: %s", strerror(errno));
    files->tasks = raised;
    if (raised.rlim_cur < FILES_WANTED)
        raised.rlim_cur = raised.rlim_max < FILES_WANTED ? raised.rlim_max : FILES_WANTED;
    if (setrlimit(RLIMIT_NOFILE, &raised) != 0)
        raised = files->tasks;
    files->limit = raised.rlim_cur < FILES_WANTED ? (int)raised.rlim_cur : FILES_WANTED;
    if (files->limit < FILES_LEAST)
        return failure_set(
            why, "the limit on open files is %d, a daemon needs at least %d (see ulimit -n)",
            files->limit, FILES_LEAST);
    return 0;
}

bool files_short(const struct files *files, int fd)
{
    int reserve = files->limit / 4 < RESERVE_MAX ? files->limit / 4 : RESERVE_MAX;
    return fd >= files->limit - reserve;
}

void files_close(const int *fds, int count)
{
    for (int i = 0; i < count; i++)
        close(fds[i]);
}
