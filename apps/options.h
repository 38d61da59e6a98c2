/*
 * options.h - the command-line options that all demo programs share.
 *
 * A program puts APP_SHORT_OPTIONS and APP_LONG_OPTIONS into its own getopt_long() tables, hands
 * each option to app_option() first and treats only those that are not common.
 */
#ifndef APPS_OPTIONS_H
#define APPS_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#define APP_BASELINE_MEASURE (-1.0) /* run sequentially, too, and take that time */

struct app_options {
    int tasks;         /* 0: one a host */
    int route;         /* enum covey_route */
    char **hosts;      /* NULL: all hosts that are up */
    int host_count;    /* entries of hosts */
    double baseline_s; /* known sequential time; 0: no speed-up; APP_BASELINE_MEASURE */
    uint64_t seed;
    const char *output; /* file to write, or NULL */
    bool check;
    bool json;
    bool worker; /* this process was spawned by another of the same program */
    bool kernel; /* it measures its arithmetic alone, see kernel.h */
};

enum app_option_key {
    APP_OPTION_WORKER = 0x1000,
    APP_OPTION_VERSION,
    APP_OPTION_KERNEL,
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
    {                                                                                              \
        "worker", no_argument, NULL, APP_OPTION_WORKER                                             \
    }

/* The part of a help text that describes the common options. */
#define APP_OPTIONS_HELP                                                                           \
    "  -r, --route ROUTE     route of the messages: auto, shm, udp, tcp or ether (auto)\n"         \
    "  -H, --hosts H,...     run on these hosts only (all that are up; with --route shm:\n"        \
    "                        the host of this process)\n"                                          \
    "  -c, --check           compare the result with that of a sequential run\n"                   \
    "  -b, --baseline S      take S seconds as the sequential time instead of measuring it;\n"     \
    "                        0 leaves the speed-up out\n"                                          \
    "  -j, --json            print all figures as JSON instead of the table\n"                     \
    "      --kernel          print how fast the program's arithmetic is here, and no more\n"       \
    "  -h, --help            this text\n"                                                          \
    "      --version         version of the library\n"

/* Fills in the defaults. */
void app_options_init(struct app_options *options);

/* Frees what the options hold. */
void app_options_fini(struct app_options *options);

/* Takes one option as getopt_long() gave it. Returns 1 when it was a common one, 0 when the
 * program itself must treat it, -1 when its argument is wrong (the reason has been printed).
 * Ends the process for --version. */
int app_option(struct app_options *options, int key, const char *argument);

/* Whether all arguments were options; complains about the first that was not. */
bool app_options_end(int argc, char **argv);

/* Parses an integer within [min, max], with an optional suffix K, M or G (powers of 1024). Returns
 * 0, or -1 after saying what is wrong; `what` names the option. */
int app_parse_integer(const char *what, const char *text, int64_t min, int64_t max, int64_t *value);
int app_parse_int(const char *what, const char *text, int min, int max, int *value);

/* Parses a finite number within [min, max]; as app_parse_integer(). */
int app_parse_double(const char *what, const char *text, double min, double max, double *value);

#endif
