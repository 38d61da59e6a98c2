/*
 * A host file, see covey.hosts(5):
 *
 *     file    = *line
 *     line    = [ host *( blank key "=" value ) ] [ "#" comment ] newline
 *     host    = [ "&" ] name / "*"
 *     key     = one of the options of `covey add`, see hostspec.h
 *
 * with quotes as in words.h. A line of "*" sets defaults for the lines after it. A host with "&"
 * is to be added later, not by `covey start`. Each host is named once.
 */
#ifndef COVEY_TOOLS_HOSTFILE_H
#define COVEY_TOOLS_HOSTFILE_H

#include <stdio.h>

#include "tools/base/words.h"
#include "tools/vm/hostspec.h"

struct hostfile_host {
    struct hostspec host;
    bool later; /* it has an "&" */
};

struct hostfile {
    struct hostfile_host *hosts; /* their strings lie in lines */
    int count;
    struct words *lines;
    int line_count;
    char error[512]; /* "FILE:LINE:COLUMN: why" after a failure */
};

/* Reads a host file from `in`; `name` is for errors. Returns 0, or -1 with file->error set.
 * The caller frees the file with hostfile_free() in either case. */
int hostfile_read(struct hostfile *file, FILE *in, const char *name);

/* Opens and reads the file of that path, "-" being standard input. */
int hostfile_load(struct hostfile *file, const char *path);

/* The host of that name, or NULL. */
const struct hostfile_host *hostfile_find(const struct hostfile *file, const char *name);

void hostfile_free(struct hostfile *file);

#endif
