/*
 * options.c - options that all demos have, and the numbers in them, such as 16M. A wrong one is
 * refused here with a line that names the option, so that no program has checks of its own for it.
 */
#include "apps/options.h"

#include "covey.h"

#include <err.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASKS_MAX 100000
#define BASELINE_MAX_S 1e9

static void free_hosts(struct app_options *options)
{
    for (int i = 0; i < options->host_count; i++)
        free(options->hosts[i]);
    free(options->hosts);
    options->hosts = NULL;
    options->host_count = 0;
}

static int suffix_shift(const char *suffix)
{
    static const char letters[] = "KMG";
    if (*suffix == '\0')
        return 0;
    const char *letter = strchr(letters, *suffix);
    if (letter == NULL || suffix[1] != '\0')
        return -1;
    return 10 * (int)(letter - letters + 1);
}

static bool integer_of(const char *text, int64_t *value)
{
    char *end = NULL;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || errno != 0)
        return false;
    int shift = suffix_shift(end);
    if (shift < 0 || number > (INT64_MAX >> shift) || number < -(INT64_MAX >> shift))
        return false;
    *value = (int64_t)number * ((int64_t)1 << shift);
    return true;
}

int app_parse_integer(const char *what, const char *text, int64_t min, int64_t max, int64_t *value)
{
    int64_t number;
    if (!integer_of(text, &number) || number < min || number > max) {
        warnx("%s: '%s' is not an integer from %lld to %lld", what, text, (long long)min,
              (long long)max);
        return -1;
    }
    *value = number;
    return 0;
}

int app_parse_int(const char *what, const char *text, int min, int max, int *value)
{
    int64_t number;
    if (app_parse_integer(what, text, min, max, &number) < 0)
        return -1;
    *value = (int)number;
    return 0;
}

int app_parse_double(const char *what, const char *text, double min, double max, double *value)
{
    char *end = NULL;
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(number) || number < min || number > max) {
        warnx("%s: '%s' is not a number from %g to %g", what, text, min, max);
        return -1;
    }
    *value = number;
    return 0;
}

int app_parse_text(const char *what, const char *argument, char *text, size_t size)
{
    if (strlen(argument) >= size) {
        warnx("%s: more than %zu characters", what, size - 1);
        return -1;
    }
    snprintf(text, size, "%s", argument);
    return 0;
}

static int add_host(struct app_options *options, const char *name, size_t length)
{
    char **hosts = realloc(options->hosts, ((size_t)options->host_count + 1) * sizeof *hosts);
    if (hosts == NULL)
        return -1;
    options->hosts = hosts;
    hosts[options->host_count] = strndup(name, length);
    if (hosts[options->host_count] == NULL)
        return -1;
    options->host_count++;
    return 0;
}

static int parse_hosts(struct app_options *options, const char *list)
{
    free_hosts(options);
    for (const char *name = list;; name++) {
        size_t length = strcspn(name, ",");
        if (length == 0) {
            warnx("--hosts: '%s' has an empty name; give names with commas between", list);
            return -1;
        }
        if (add_host(options, name, length) < 0) {
            warnx("--hosts: out of memory");
            return -1;
        }
        name += length;
        if (*name == '\0')
            return 0;
    }
}

static int parse_route(const char *text, int *route)
{
    int value = strcmp(text, "auto") == 0 ? COVEY_ROUTE_AUTO : covey_route_parse(text);
    if (value < 0) {
        warnx("--route: '%s' is none of auto, shm, udp, tcp, ether", text);
        return -1;
    }
    *route = value;
    return 0;
}

static int parse_tasks(const char *text, int *tasks)
{
    if (strcmp(text, "auto") != 0)
        return app_parse_int("--tasks", text, 1, TASKS_MAX, tasks);
    *tasks = APP_TASKS_AUTO;
    return 0;
}

static int parse_seed(const char *text, uint64_t *seed)
{
    int64_t number;
    if (app_parse_integer("--seed", text, 0, INT64_MAX, &number) < 0)
        return -1;
    *seed = (uint64_t)number;
    return 0;
}

static int take_argument(struct app_options *options, int key, const char *argument)
{
    switch (key) {
    case 'n':
        return parse_tasks(argument, &options->tasks);
    case 'r':
        return parse_route(argument, &options->route);
    case 'H':
        return parse_hosts(options, argument);
    case 'b':
        return app_parse_double("--baseline", argument, 0, BASELINE_MAX_S, &options->baseline_s);
    case 's':
        return parse_seed(argument, &options->seed);
    default:
        options->output = argument;
        return 0;
    }
}

/* 1 when it was a common one, 0 when it is the program's own, -1 when its argument is wrong. */
static int take_common(struct app_options *options, int key, const char *argument)
{
    switch (key) {
    case 'c':
        options->check = true;
        return 1;
    case 'j':
        options->json = true;
        return 1;
    case APP_OPTION_WORKER:
        options->worker = true;
        return 1;
    case APP_OPTION_KERNEL:
        options->kernel = true;
        return 1;
    case APP_OPTION_EXPLAIN:
        options->explain = true;
        return 1;
    case APP_OPTION_VERSION:
        printf("%s (Covey %s)\n", program_invocation_short_name, covey_version());
        exit(EXIT_SUCCESS);
    case 'n':
    case 'r':
    case 'H':
    case 'b':
    case 's':
    case 'o':
        return take_argument(options, key, argument) < 0 ? -1 : 1;
    case '?':
        return -1; /* getopt_long() has said why */
    default:
        return 0;
    }
}

int app_options_parse(struct app_options *options, int argc, char **argv,
                      const struct app_syntax *syntax, void *program)
{
    *options = (struct app_options){.baseline_s = APP_BASELINE_MEASURE, .seed = 1};
    int key;
    while ((key = getopt_long(argc, argv, syntax->shorts, syntax->longs, NULL)) != -1) {
        if (key == 'h') {
            fputs(syntax->help, stdout);
            exit(EXIT_SUCCESS);
        }
        int taken = take_common(options, key, optarg);
        if (taken < 0 || (taken == 0 && syntax->take(program, key, optarg) < 0))
            return -1;
    }
    if (optind == argc)
        return 0;
    warnx("'%s' is not an option; see %s --help", argv[optind], program_invocation_short_name);
    return -1;
}

int app_run(int parsed, struct app_options *options, const struct app_roles *roles,
            const void *program)
{
    int status = 2;
    if (parsed == 0)
        status = options->kernel   ? roles->kernel()
                 : options->worker ? roles->worker()
                                   : roles->coordinate(program);
    free_hosts(options);
    return status;
}
