/*
 * outfile.c - a result file that appears whole or not at all: it is written without a name, and
 * takes its name, and the place of an older file, at the end. What is no regular file, such as a
 * pipe, is written directly.
 */
#include "apps/outfile.h"

#include <err.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_regular(struct outfile *file)
{
    if (asprintf(&file->temporary, "%s.part-%ld", file->path, (long)getpid()) < 0) {
        file->temporary = NULL;
        return -1;
    }
    char *copy = strdup(file->path);
    int fd = copy != NULL ? open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666) : -1;
    free(copy);
    if (fd >= 0)
        return fd;
    fd = open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    file->named = fd >= 0;
    return fd;
}

int outfile_open(struct outfile *file, const char *path)
{
    *file = (struct outfile){.path = path};
    struct stat status;
    bool regular = stat(path, &status) != 0 || S_ISREG(status.st_mode);
    int fd = regular ? open_regular(file) : open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0)
        file->stream = fdopen(fd, "w");
    if (file->stream != NULL)
        return 0;
    warn("cannot write '%s'", path);
    if (fd >= 0)
        close(fd);
    outfile_discard(file);
    return -1;
}

static int give_name(struct outfile *file)
{
    if (file->temporary == NULL)
        return 0;
    if (!file->named) {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fileno(file->stream));
        if (linkat(AT_FDCWD, link, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) != 0)
            return -1;
        file->named = true;
    }
    if (rename(file->temporary, file->path) != 0)
        return -1;
    file->named = false;
    return 0;
}

int outfile_commit(struct outfile *file)
{
    int result = fflush(file->stream) == 0 ? give_name(file) : -1;
    if (result < 0)
        warn("cannot write '%s'", file->path);
    outfile_discard(file);
    return result;
}

void outfile_discard(struct outfile *file)
{
    if (file->stream != NULL)
        fclose(file->stream);
    if (file->named && file->temporary != NULL)
        unlink(file->temporary);
    free(file->temporary);
    *file = (struct outfile){0};
}
