/*
 * outfile.h - a result file that appears whole or not at all.
 *
 * The file is written without a name where the file system can do that, otherwise under a
 * temporary one, and takes its name (and the place of an older file) on commit. What is not a
 * regular file, such as a pipe, is written directly.
 */
#ifndef APPS_OUTFILE_H
#define APPS_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

struct outfile {
    FILE *stream;
    const char *path;
    char *temporary; /* the name until commit; NULL when written directly */
    bool named;      /* `temporary` exists in the directory */
};

/* Opens; path stays the caller's. Returns 0, or -1 after saying what is wrong. */
int outfile_open(struct outfile *file, const char *path);

/* Writes the rest, closes and gives the file its name. Returns 0, or -1 after saying what is
 * wrong; nothing is left behind then. */
int outfile_commit(struct outfile *file);

/* Closes and leaves nothing behind; fine on a file that was committed or is all zero. */
void outfile_discard(struct outfile *file);

#endif
