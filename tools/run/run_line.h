/*
 * run_line.h - what the command line of covey run asks for.
 */
#ifndef COVEY_TOOLS_RUN_LINE_H
#define COVEY_TOOLS_RUN_LINE_H

#include <stdbool.h>

#include "covey.h"
#include "tools/base/args.h"

enum { RUN_LINE_TRAFFIC_MAX = 16 };

struct run_line {
    struct covey_spawn what;
    int n;              /* 0: by the processors that are free */
    bool automatic;     /* -n auto */
    char *program;      /* absolute path, when PROG was a relative one */
    char *cwd;          /* absolute path, when --cwd was a relative one */
    char *host_text;    /* the argument of --host, cut at the commas */
    const char **hosts; /* into host_text, or what run_line_spread() set */
    int host_count;
    char **env;
    int env_count;
    struct covey_needs needs;
    struct covey_traffic traffic[RUN_LINE_TRAFFIC_MAX];
    bool alone;  /* what the tasks have started is not waited for */
    bool strict; /* its exit status counts, too */
    bool explain;
    bool tagged;       /* each line of output is */
    const char *trace; /* the file into which what tasks do is recorded; NULL: none */
    bool summary;      /* at the end it is said where their time went */
};

extern const struct args_option run_line_options[];

/* Reads the arguments; a status of the tool, whose error line was printed. The line is zeroed
 * before, but for what is to hold where nothing is said. */
int run_line_read(struct run_line *line, int argc, char **argv);
/* With -n auto: a task for each processor that is free, on its host. Takes the names of the places
 * that covey_place_idle() gave, which must live as long as the line. False: memory is exhausted. */
bool run_line_spread(struct run_line *line, struct covey_place *places, int count);

void run_line_fini(struct run_line *line);

#endif
