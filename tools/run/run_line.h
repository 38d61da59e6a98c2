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

/* The options of covey run, of which other commands have more. */
#define RUN_LINE_OPTIONS                                                                           \
    {"tasks", 'n', "N|auto",                                                                       \
     "start N tasks (1; with --host one on each), with --each N a host; auto: one for each "       \
     "processor that is free"},                                                                    \
        {"host", 'H', "HOST,...", "on these hosts"},                                               \
        {"each", 'e', NULL, "on every host, or on each host of --host"},                           \
        {"route", 'r', "ROUTE", "force the tasks' messages over shm, udp, tcp or ether"},          \
        {"env", 'E', "NAME[=VALUE]", "set, or pass on, a variable of the environment"},            \
        {"in", 'i', "IMAGE", "in containers of that image, by podman"},                            \
        {"cwd", 'C', "DIR", "working directory (the current one)"},                                \
        {"tag-output", 't', NULL, "put [tid] before each line"},                                   \
        {"no-descendants", 'D', NULL, "do not wait for what the tasks have started"},              \
        {"no-input", 'I', NULL, "do not pass standard input on to the first task"},                \
        {"strict", 's', NULL, "let what they have started count for the exit status, too"},        \
        {"arch", 'a', "ARCH", "only on hosts of that architecture, as uname -m prints it"},        \
        {"memory", 'M', "BYTES", "only where each task finds so much free, such as 500M"},         \
        {"traffic", 'T', "TID:BYTES",                                                              \
         "each task will exchange so much with that one, such as 1G"},                             \
        {"explain", 'x', NULL, "print why each host was chosen, or was not"},                      \
        {"trace", 'R', "FILE", "record what the tasks do; to read it: covey trace FILE"},          \
    {                                                                                              \
        "summary", 'S', NULL,                                                                      \
            "say at the end, by task, where the time went, and the longest waits"                  \
    }

extern const struct args_option run_line_options[];

/* Reads the arguments; a status of the tool, whose error line was printed. The line is zeroed
 * before, but for what is to hold where nothing is said. */
int run_line_read(struct run_line *line, int argc, char **argv);
/* With -n auto: a task for each processor that is free, on its host. Takes the names of the places
 * that covey_place_idle() gave, which must live as long as the line. False: memory is exhausted. */
bool run_line_spread(struct run_line *line, struct covey_place *places, int count);

void run_line_fini(struct run_line *line);

#endif
