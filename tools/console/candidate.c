/*
 * candidate.c - where completion finds words for a placeholder such as HOST or FILE: the VM's own
 * lists, the system's files and interfaces, or a fixed list. One row of a table a placeholder.
 */
#include "tools/console/candidate.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/logfile.h"
#include "tools/base/tid.h"
#include "tools/bench/bench.h"
#include "tools/console/commands.h"
#include "tools/list/listing.h"

static void add_commands(struct complete *complete, struct tool *tool)
{
    (void)tool;
    for (const struct command *const *row = command_all(); *row; row++)
        complete_add_helped(complete, (*row)->name, (*row)->help);
    if (!complete->for_shell)
        complete_add(complete, "quit");
}

static void add_hosts(struct complete *complete, struct tool *tool)
{
    struct covey_host *hosts;
    if (tool_try_join(tool) < 0)
        return;
    int count = covey_hosts(tool->vm, &hosts);
    for (int i = 0; i < count; i++)
        complete_add(complete, hosts[i].name);
    if (count >= 0)
        covey_free(hosts);
}

static void add_tids(struct complete *complete, struct tool *tool)
{
    struct covey_host *hosts;
    struct covey_task *tasks;
    char text[TID_TEXT_BYTES];
    int count;
    if (tool_try_join(tool) < 0 ||
        covey_survey(tool->vm, LISTING_PATIENCE_US, &hosts, &tasks, &count) < 0)
        return;
    for (int i = 0; i < count; i++)
        complete_add(complete, tid_format(tasks[i].tid, text));
    covey_free(hosts);
    covey_free(tasks);
}

static void add_routes(struct complete *complete, struct tool *tool)
{
    (void)tool;
    for (int route = COVEY_ROUTE_AUTO; covey_route_reach(route) != 0; route++)
        complete_add(complete, covey_route_name(route));
}

static void add_benchmarks(struct complete *complete, struct tool *tool)
{
    (void)tool;
    for (const char *const *name = bench_names; *name; name++)
        complete_add(complete, *name);
}

static void add_launchers(struct complete *complete, struct tool *tool)
{
    (void)tool;
    complete_add(complete, "ssh");
    complete_add(complete, "exec");
    complete_add(complete, "local");
}

static void add_lanes(struct complete *complete, struct tool *tool)
{
    (void)tool;
    complete_add(complete, "udp");
    complete_add(complete, "ether");
    complete_add(complete, "tcp");
}

/* A pattern that matches what begins with the prefix, its own wildcards taken literally. */
static char *pattern_of(const char *prefix)
{
    char *pattern = malloc(2 * strlen(prefix) + 2);
    char *out = pattern;
    if (!pattern)
        return NULL;
    for (; *prefix; prefix++) {
        if (strchr("*?[\\", *prefix))
            *out++ = '\\';
        *out++ = *prefix;
    }
    *out++ = '*';
    *out = '\0';
    return pattern;
}

static void add_files(struct complete *complete, struct tool *tool)
{
    (void)tool;
    glob_t found;
    if (complete->for_shell) {
        complete->wants_files = true;
        return;
    }
    char *pattern = pattern_of(complete->prefix);
    if (pattern && glob(pattern, GLOB_MARK, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            complete_add(complete, found.gl_pathv[i]);
        globfree(&found);
    }
    free(pattern);
}

/* Those of this user that run here, or that did. */
static void add_vms(struct complete *complete, struct tool *tool)
{
    (void)tool;
    char pattern[LOGFILE_PATH_BYTES];
    glob_t found;
    logfile_path("*", "*", pattern);
    char *slash = strrchr(pattern, '/');
    if (!slash)
        return;
    *slash = '\0';
    size_t folder = (size_t)(strrchr(pattern, '/') + 1 - pattern);
    if (glob(pattern, GLOB_ONLYDIR, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            complete_add(complete, found.gl_pathv[i] + folder);
        globfree(&found);
    }
}

/* Network interfaces, and files of captured packets. */
static void add_interfaces(struct complete *complete, struct tool *tool)
{
    static const char folder[] = "/sys/class/net/";
    glob_t found;
    complete_add(complete, "any");
    if (glob("/sys/class/net/*", 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            complete_add(complete, found.gl_pathv[i] + sizeof folder - 1);
        globfree(&found);
    }
    add_files(complete, tool);
}

void candidate_add(struct complete *complete, struct tool *tool, const char *placeholder)
{
    static const struct {
        const char *placeholder;
        void (*add)(struct complete *complete, struct tool *tool);
    } sources[] = {
        {"COMMAND", add_commands},     {"HOST", add_hosts},
        {"HOST,...", add_hosts},       {"TID", add_tids},
        {"ROUTE", add_routes},         {"LAUNCHER", add_launchers},
        {"FILE", add_files},           {"DIR", add_files},
        {"PATH", add_files},           {"PROG", add_files},
        {"BENCHMARK", add_benchmarks}, {"LANE", add_lanes},
        {"INTERFACE", add_interfaces}, {"VM", add_vms},
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        if (strcmp(sources[i].placeholder, placeholder) == 0)
            sources[i].add(complete, tool);
    }
}
