/*
 * A hosts file:
 *
 *     file    = *line
 *     line    = [ ( name / "*" ) *( blank key "=" value ) ] [ "#" comment ] newline
 *     key     = "launcher" / "template" / "address" / "coveyd" / "cwd" / "speed"
 *
 * with quotes as in words.h. A line of "*" sets defaults for the lines after it. Each host is
 * named once.
 */
#ifndef COVEY_TOOLS_HOSTFILE_H
#define COVEY_TOOLS_HOSTFILE_H

#include <stdio.h>

#include "covey.h"
#include "tools/words.h"

struct hostfile {
    struct covey_host_spec *hosts; /* their strings lie in lines */
    int count;
    struct words *lines;
    int line_count;
    char error[512]; /* "FILE:LINE: why" after a failure */
};

/* Reads a hosts file from `in`; `name` is for errors. Returns 0, or -1 with file->error set.
 * The caller frees the file with hostfile_free() in either case. */
int hostfile_read(struct hostfile *file, FILE *in, const char *name);

/* Opens and reads the file of that path, "-" being standard input. */
int hostfile_load(struct hostfile *file, const char *path);

void hostfile_free(struct hostfile *file);

#endif
