/*
 * predict_solvers.c - the algorithms of a solver of libcovey_domain: covey-solvers, a program
 * beside the console, predicts them, for the console is not linked to that library.
 */
#include "tools/predict/predict_solvers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/args.h"
#include "tools/base/child.h"
#include "tools/base/command_line.h"
#include "tools/base/program.h"
#include "tools/vm/launch.h"

extern char **environ;

static const char *const libraries[] = {"sort", "fft",      "gemm",    "lu",
                                        "qr",   "cholesky", "poisson", NULL};

bool predict_is_solver(const char *name, const char *hosts)
{
    int which = name != NULL ? args_choice(libraries, name) : -1;
    return which > 0 || (which == 0 && hosts != NULL);
}

static int run(const char *what, struct command_line *line)
{
    posix_spawn_file_actions_t files;
    pid_t pid;
    if (line->lost)
        return tool_error(what, "memory is exhausted");
    fflush(stdout);
    posix_spawn_file_actions_init(&files);
    int error = child_spawn(&pid, &files, line->words, environ);
    if (error)
        return tool_error(what, "cannot run %s: %s", line->words[0], strerror(error));
    int status =
        launch_wait(pid); /* the program has said why it failed, unless a signal ended it */
    if (status > 128)
        return tool_error(what, "%s was ended by signal %d", line->words[0], status - 128);
    return status == 0 ? TOOL_OK : TOOL_FAILED;
}

/* A number of hosts, the first ones of the calibration and again from the first if there are more,
 * or their names. */
static int add_hosts(const struct predict *p, const char *text, struct command_line *line)
{
    const struct covey_calibration *c = p->calibration;
    long count = 0;
    if (args_number(text, 1, COVEY_MODEL_HOSTS_MAX, &count)) {
        for (int i = 0; i < count && c->host_count > 0; i++)
            command_line_add(line, "%s=%g", c->hosts[i % c->host_count].name,
                             c->hosts[i % c->host_count].demand);
        return (int)count;
    }
    char *copy = strdup(text), *rest = copy;
    for (char *word; copy != NULL && (word = strsep(&rest, ","));) {
        int at = 0;
        while (at < c->host_count && strcmp(c->hosts[at].name, word) != 0)
            at++;
        if (at == c->host_count) {
            tool_error("predict", "--hosts %s: host %s was not calibrated", text, word);
            free(copy);
            return -1;
        }
        command_line_add(line, "%s=%g", word, c->hosts[at].demand);
        count++;
    }
    free(copy);
    return (int)count;
}

/* The route that the problem names, or the fastest between hosts that was calibrated. */
static const char *route_of(const struct predict *p, int hosts)
{
    const struct covey_calibration *c = p->calibration;
    int best = hosts < 2 ? COVEY_ROUTE_SHM : p->problem.route;
    for (int r = 0; hosts > 1 && p->problem.route == COVEY_ROUTE_AUTO && r < 5; r++)
        if (r != COVEY_ROUTE_SHM && c->routes[r].known &&
            (!c->routes[best].known || best == COVEY_ROUTE_AUTO ||
             c->routes[r].line.beta_s < c->routes[best].line.beta_s))
            best = r;
    return covey_route_name(best);
}

int predict_solvers(const struct predict *p, const struct solver_request *r)
{
    struct command_line line = {0}, hosts = {0};
    char path[PROGRAM_PATH_BYTES];
    long members;
    int status = program_find("predict", "covey-solvers", path, sizeof path);
    if (status != TOOL_OK)
        return status;
    int count = add_hosts(p, r->hosts != NULL ? r->hosts : "1", &hosts);
    members = count;
    if (count > 0 && r->tasks != NULL && !args_number(r->tasks, count, 1 << 20, &members)) {
        status =
            tool_usage("predict", "--tasks %s: must be a number, at least that of hosts", r->tasks);
    } else if (count > 0) {
        command_line_add(&line, "%s", path);
        command_line_add(&line, "predict");
        command_line_add(&line, "%s", r->library);
        command_line_add(&line, "%s", r->size != NULL ? r->size : "-");
        command_line_add(&line, "%s", p->tool->vm_name);
        command_line_add(&line, "%s", route_of(p, count));
        command_line_add(&line, "%ld", members);
        command_line_add(&line, "%s", p->json ? "json" : "table");
        for (int i = 0; hosts.words != NULL && hosts.words[i] != NULL; i++)
            command_line_add(&line, "%s", hosts.words[i]);
        status = run("predict", &line);
    } else
        status = TOOL_FAILED;
    command_line_free(&hosts);
    command_line_free(&line);
    return status;
}

int calibrate_solvers(void)
{
    struct command_line line = {0};
    char path[PROGRAM_PATH_BYTES];
    if (!program_look("covey-solvers", path, sizeof path))
        return TOOL_OK; /* built without them */
    command_line_add(&line, "%s", path);
    command_line_add(&line, "calibrate");
    int status = run("calibrate", &line);
    command_line_free(&line);
    return status;
}
