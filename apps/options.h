/*
 * options.h - the command-line options that all demo programs share.
 *
 * A program puts APP_SHORT_OPTIONS and APP_LONG_OPTIONS into its own getopt_long() tables, says in
 * a struct app_syntax how it takes those that are not common, and what it does in a struct
 * app_roles.
 */
#ifndef APPS_OPTIONS_H
#define APPS_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define APP_TASKS_AUTO (-1)         /* as many as are worth it, on the hosts that are */
#define APP_BASELINE_MEASURE (-1.0) /* run sequentially, too, and take that time */

struct app_options {
    int tasks;         /* 0: not said; APP_TASKS_AUTO */
    int route;         /* enum covey_route */
    char **hosts;      /* NULL: all hosts that are up */
    int host_count;    /* entries of hosts */
    double baseline_s; /* known sequential time; 0: no speed-up; APP_BASELINE_MEASURE */
    uint64_t seed;
    const char *output; /* file to write, or NULL */
    bool explain;       /* how many tasks were chosen, and why */
    bool check;
    bool json;
    bool worker; /* this process was spawned by another of the same program */
    bool kernel; /* it measures its arithmetic alone, see kernel.h */
};

enum app_option_key {
    APP_OPTION_WORKER = 0x1000,
    APP_OPTION_VERSION,
    APP_OPTION_KERNEL,
    APP_OPTION_EXPLAIN,
    APP_OPTION_OWN /* a program's own options without a short form start here */
};

#define APP_SHORT_OPTIONS "n:r:H:cb:s:jo:h"
#define APP_LONG_OPTIONS                                                                           \
    {"tasks", required_argument, NULL, 'n'}, {"route", required_argument, NULL, 'r'},              \
        {"hosts", required_argument, NULL, 'H'}, {"check", no_argument, NULL, 'c'},                \
        {"baseline", required_argument, NULL, 'b'}, {"seed", required_argument, NULL, 's'},        \
        {"json", no_argument, NULL, 'j'}, {"output", required_argument, NULL, 'o'},                \
        {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, APP_OPTION_VERSION},      \
        {"kernel", no_argument, NULL, APP_OPTION_KERNEL},                                          \
        {"explain", no_argument, NULL, APP_OPTION_EXPLAIN},                                        \
    {                                                                                              \
        "worker", no_argument, NULL, APP_OPTION_WORKER                                             \
    }

/* The part of a help text that describes the common options. */
#define APP_OPTIONS_HELP                                                                           \
    "  -r, --route ROUTE     route of the messages: auto, shm, udp, tcp or ether (auto)\n"         \
    "  -H, --hosts H,...     run on these hosts only, all of them unless -n is auto (all that\n"   \
    "                        are up; with --route shm: the host of this process)\n"                \
    "      --explain         print why so many tasks were started on these hosts\n"                \
    "  -c, --check           compare the result with that of a sequential run\n"                   \
    "  -b, --baseline S      take S seconds as the sequential time instead of measuring it;\n"     \
    "                        0 leaves the speed-up out\n"                                          \
    "  -j, --json            print all figures as JSON instead of the table\n"                     \
    "      --kernel          print how fast the program's arithmetic is here, and no more\n"       \
    "  -h, --help            this text\n"                                                          \
    "      --version         version of the library\n"

/* A program's command line. */
struct app_syntax {
    const char *help;
    const char *shorts;
    const struct option *longs;
    /* One that is not common. 0, or -1 after saying what is wrong. */
    int (*take)(void *program, int key, const char *argument);
};

/* Fills in the defaults and takes all arguments; `program` is take()'s. Ends the process for --help
 * and --version. Returns 0, or -1 when something is wrong, which has been said. */
int app_options_parse(struct app_options *options, int argc, char **argv,
                      const struct app_syntax *syntax, void *program);

/* What a process of the program may be; each returns its exit status. */
struct app_roles {
    int (*kernel)(void);
    int (*worker)(void);
    int (*coordinate)(const void *program);
};

/* Does what the options ask for and frees what they hold. Returns the exit status; parsed: what
 * app_options_parse() returned, or -1 when the program found something wrong. */
int app_run(int parsed, struct app_options *options, const struct app_roles *roles,
            const void *program);

/* Parses an integer within [min, max], with an optional suffix K, M or G (powers of 1024). Returns
 * 0, or -1 after saying what is wrong; `what` names the option. */
int app_parse_integer(const char *what, const char *text, int64_t min, int64_t max, int64_t *value);
int app_parse_int(const char *what, const char *text, int min, int max, int *value);

/* Parses a finite number within [min, max]; as app_parse_integer(). */
int app_parse_double(const char *what, const char *text, double min, double max, double *value);

/* Copies a text that fits into `size` bytes with its NUL. */
int app_parse_text(const char *what, const char *argument, char *text, size_t size);

#endif
