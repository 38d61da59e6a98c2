/*
 * run_line.c - the command line of covey run; see run_line.h.
 */
#include "tools/run/run_line.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/arguments.h"
#include "tools/base/command.h"
#include "tools/base/tid.h"
#include "tools/vm/hostspec.h"

#define TASKS_MAX 262143 /* a tid has 18 bits for the task of a host */

const struct args_option run_line_options[] = {RUN_LINE_OPTIONS, {NULL, 0, NULL, NULL}};

/* path, made absolute by the current directory; NULL after an error line. */
static char *absolute(const char *path)
{
    char *whole = NULL;
    char *folder = getcwd(NULL, 0);
    if (!folder)
        tool_error("run", "the current directory: %s", strerror(errno));
    else if (asprintf(&whole, "%s/%s", folder, path) < 0)
        whole = NULL;
    free(folder);
    return whole;
}

static int set_run_hosts(struct run_line *line, const char *list)
{
    int most = (int)strlen(list) / 2 + 1; /* a letter and a comma each */
    free(line->hosts);
    line->hosts = calloc((size_t)most + 1, sizeof *line->hosts);
    if (!line->hosts)
        return tool_error("run", "memory is exhausted");
    line->host_count = hostspec_names(list, most, &line->host_text, line->hosts);
    if (line->host_count >= 0)
        return TOOL_OK;
    return line->host_text
               ? tool_usage("run", "--host %s: must be host names with commas between", list)
               : tool_error("run", "memory is exhausted");
}

static int add_env(struct run_line *line, const char *text)
{
    char *entry = NULL;
    size_t length = strcspn(text, "=");
    const char *value = getenv(text);
    if (length == 0)
        return tool_usage("run", "--env %s: must be NAME or NAME=VALUE", text);
    if (!text[length] && !value)
        return tool_usage("run", "--env %s: is not set here, give NAME=VALUE", text);
    int made = text[length] ? asprintf(&entry, "%s", text) : asprintf(&entry, "%s=%s", text, value);
    if (made < 0)
        return tool_error("run", "memory is exhausted");
    line->env[line->env_count++] = entry;
    return TOOL_OK;
}

/* What the library looks for, here and in the tasks that start others. */
static int set_image(struct run_line *line, const char *image)
{
    char *entry = NULL;
    if (!*image || *image == '-')
        return tool_usage("run", "--in %s: must be the name of an image", image);
    if (asprintf(&entry, "COVEY_IN=%s", image) < 0)
        return tool_error("run", "memory is exhausted");
    line->env[line->env_count++] = entry;
    return TOOL_OK;
}

static int set_tasks(struct run_line *line, const char *text)
{
    long n = 0;
    line->automatic = strcmp(text, "auto") == 0;
    if (!line->automatic && !args_number(text, 1, TASKS_MAX, &n))
        return tool_usage("run", "-n %s: must be a number in 1 .. %d, or auto", text, TASKS_MAX);
    line->n = (int)n;
    return TOOL_OK;
}

/* The daemons' environment is not ours: $COVEY_ROUTE here is handed on as if by --route. */
static int set_route(struct run_line *line, const char *source, const char *name)
{
    line->what.route = covey_route_parse(name);
    if (line->what.route < 0)
        return tool_usage("run", "%s %s: must be auto, shm, udp, tcp or ether", source, name);
    return TOOL_OK;
}

static int set_cwd(struct run_line *line, const char *path)
{
    if (*path == '/') {
        line->what.cwd = path;
        return TOOL_OK;
    }
    free(line->cwd);
    line->cwd = absolute(path);
    line->what.cwd = line->cwd;
    return line->cwd ? TOOL_OK : TOOL_FAILED;
}

/* A number of bytes, or of K, M, G or T of them. */
static bool read_bytes(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    for (long i = unit ? unit - units + 1 : 0; i > 0; i--)
        value *= 1024;
    if (end == text || (*end && (!unit || end[1])) || !(value >= 1 && value <= 1e18))
        return false;
    *bytes = (uint64_t)value;
    return true;
}

static int set_memory(struct run_line *line, const char *text)
{
    if (!read_bytes(text, &line->needs.memory_bytes))
        return tool_usage("run", "--memory %s: must be a size such as 500M or 2G", text);
    line->what.needs = &line->needs;
    return TOOL_OK;
}

static int add_traffic(struct run_line *line, const char *text)
{
    char tid[16];
    size_t length = strcspn(text, ":");
    struct covey_traffic traffic = {.messages = 1};
    bool good = length < sizeof tid && text[length] == ':';
    if (good) {
        memcpy(tid, text, length);
        tid[length] = '\0';
        traffic.peer = tid_parse(tid);
        good = traffic.peer != 0 && read_bytes(text + length + 1, &traffic.bytes);
    }
    if (!good || line->needs.traffic_count == RUN_LINE_TRAFFIC_MAX)
        return tool_usage("run", "--traffic %s: must be TID:BYTES, such as t40001:1G, %d at most",
                          text, RUN_LINE_TRAFFIC_MAX);
    line->traffic[line->needs.traffic_count++] = traffic;
    line->needs.traffic = line->traffic;
    line->what.needs = &line->needs;
    return TOOL_OK;
}

static int take_run_option(struct run_line *line, int key, const char *value)
{
    switch (key) {
    case 'n':
        return set_tasks(line, value);
    case 'H':
        return set_run_hosts(line, value);
    case 'r':
        return set_route(line, "--route", value);
    case 'E':
        return add_env(line, value);
    case 'C':
        return set_cwd(line, value);
    case 'i':
        return set_image(line, value);
    case 'T':
        return add_traffic(line, value);
    case 'e':
        line->what.where = COVEY_WHERE_EACH;
        return TOOL_OK;
    case 'I':
        line->what.input = 0;
        return TOOL_OK;
    default:
        return set_memory(line, value);
    }
}

/* A name without a slash is looked up on the target host. */
static int set_program(struct run_line *line, char **argv)
{
    line->what.argv = (const char *const *)argv;
    if (!strchr(argv[0], '/') || argv[0][0] == '/')
        return TOOL_OK;
    line->program = absolute(argv[0]);
    if (!line->program)
        return TOOL_FAILED;
    argv[0] = line->program;
    return TOOL_OK;
}

int run_line_read(struct run_line *line, int argc, char **argv)
{
    line->env = calloc((size_t)argc + 1, sizeof(char *));
    if (!line->env)
        return tool_error("run", "memory is exhausted");
    struct args args;
    const char *route = getenv("COVEY_ROUTE"), *trace = getenv("COVEY_TRACE");
    line->trace = trace != NULL && *trace != '\0' ? trace : NULL;
    int status = route && *route ? set_route(line, "COVEY_ROUTE", route) : TOOL_OK;
    int key = ARGS_END;
    const struct arguments_place places[] = {
        {'D', .flag = &line->alone},     {'s', .flag = &line->strict},
        {'x', .flag = &line->explain},   {'t', .flag = &line->tagged},
        {'a', .text = &line->what.arch}, {'R', .text = &line->trace},
        {'S', .flag = &line->summary},   {0}};
    args_init(&args, run_line_options, argc, argv);
    while (status == TOOL_OK && (key = args_next(&args)) > 0)
        status = arguments_keep(places, key, args.value) ? TOOL_OK
                                                         : take_run_option(line, key, args.value);
    if (status != TOOL_OK)
        return status;
    if (key == ARGS_BAD)
        return tool_usage("run", "%s", args.error);
    if (key == ARGS_END || !*args.value)
        return tool_usage("run", "no program is named");
    /* Where and how many, from what was said and what was not. */
    line->what.hosts = line->hosts;
    line->what.env = (const char *const *)line->env;
    if (line->hosts && line->what.where != COVEY_WHERE_EACH) {
        line->what.where = COVEY_WHERE_HOSTS;
        if (line->n == 0 && !line->automatic)
            line->n = line->host_count;
    }
    if (line->n == 0 && !line->automatic)
        line->n = 1;
    if (line->automatic && line->needs.traffic_count > 0)
        return tool_usage("run", "--traffic is not for -n auto, which takes the hosts whose "
                                 "processors are free");
    return set_program(line, &argv[args.next - 1]);
}

bool run_line_spread(struct run_line *line, struct covey_place *places, int count)
{
    int n = 0;
    for (int i = 0; i < count; i++) {
        if (places[i].tasks == 0 && line->what.where == COVEY_WHERE_EACH)
            places[i].tasks = 1;
        n += places[i].tasks;
    }
    const char **names = calloc((size_t)n + 1, sizeof *names);
    if (!names)
        return false;
    line->n = 0;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < places[i].tasks; k++)
            names[line->n++] = places[i].name;
    }
    free(line->hosts);
    line->hosts = names;
    line->what.hosts = names;
    line->what.where = COVEY_WHERE_HOSTS;
    return true;
}

void run_line_fini(struct run_line *line)
{
    for (int i = 0; i < line->env_count; i++)
        free(line->env[i]);
    free(line->env);
    free(line->hosts);
    free(line->host_text);
    free(line->cwd);
    free(line->program);
}
