/* covey sniff: what Covey says on the wire, by covey-sniff, which knows its forms. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/base/child.h"
#include "tools/base/command.h"
#include "tools/base/command_line.h"
#include "tools/base/interrupt.h"
#include "tools/base/program.h"
#include "tools/vm/launch.h"

static const struct args_option options[] = {
    {"host", 'H', "HOST", "only from or to a host: name, index or address"},
    {"tid", 't', "TID", "only with frames from or to a task"},
    {"kind", 'k', "KIND", "only such datagrams (hello, data) or frames (DATA, SPAWN)"},
    {"lane", 'l', "LANE", "only udp, ether or tcp"},
    {"count", 'c', "N", "end after N lines"},
    {"json", 'j', NULL, "a JSON object a line"},
    {"write", 'w', "FILE", "write the packets shown to a capture file"},
    {"ether-type", 'e', "N", "of the frames, unless it is 0x88b5"},
    {NULL, 0, NULL, NULL}};

/* An interface has no slash in its name, and a file is there. */
static void add_source(struct command_line *line, const char *name)
{
    struct stat status;
    bool file = strcmp(name, "-") == 0 || strchr(name, '/') ||
                (stat(name, &status) == 0 && !S_ISDIR(status.st_mode));
    command_line_add(line, "%s=%s", file ? "file" : "interface", name);
}

/* The words of a filter expression, as one operand. */
static void add_filter(struct command_line *line, char **words, int count)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; out && i < count; i++)
        fprintf(out, i ? " %s" : "%s", words[i]);
    line->lost |= !out || fclose(out) != 0;
    if (text)
        command_line_add(line, "filter=%s", text);
    free(text);
}

static int take_sniff_option(struct command_line *line, int key, const char *value)
{
    long n;
    if (key == 'c' && !args_number(value, 1, 1000000000, &n))
        return tool_usage("sniff", "--count %s: not a number of lines", value);
    if (key == 'j')
        command_line_add(line, "json");
    for (const struct args_option *o = options; o->name && key != 'j'; o++) {
        if (o->key == key)
            command_line_add(line, "%s=%s", o->name, value);
    }
    return TOOL_OK;
}

/* All that follows the interface is the filter, as with tcpdump; it may begin with an option of
 * ours, not contain one. */
static int read_sniff_arguments(struct command_line *line, int argc, char **argv)
{
    struct args args;
    bool source = false;
    int key, status = TOOL_OK;
    args_init(&args, options, argc, argv);
    while (status == TOOL_OK && (key = args_next(&args)) != ARGS_END) {
        if (key == ARGS_BAD)
            return tool_usage("sniff", "%s", args.error);
        if (key != ARGS_OPERAND) {
            status = take_sniff_option(line, key, args.value);
        } else if (!source) {
            add_source(line, args.value);
            source = true;
        } else {
            add_filter(line, argv + args.next - 1, argc - args.next + 1);
            break;
        }
    }
    return status;
}

/* ---- Running it --------------------------------------------------------------------------- */

static void end_sniffer(void *context, int signal_number, int count)
{
    (void)signal_number, (void)count;
    kill(*(const pid_t *)context, SIGTERM);
}

static int wait_for(pid_t *pid)
{
    struct interrupt *interrupt = interrupt_start(end_sniffer, pid);
    int status = launch_wait(*pid);
    interrupt_stop(&interrupt);
    return status == 128 + SIGPIPE ? TOOL_OK : status; /* the reader had seen enough */
}

static int run_sniffer(struct command_line *line)
{
    posix_spawn_file_actions_t files;
    pid_t pid;
    if (line->lost)
        return tool_error("sniff", "memory is exhausted");
    fflush(stdout);
    posix_spawn_file_actions_init(&files);
    int error = child_spawn(&pid, &files, line->words, environ);
    if (error)
        return tool_error("sniff", "cannot run %s: %s", line->words[0], strerror(error));
    return wait_for(&pid);
}

static int sniff_command(struct tool *tool, int argc, char **argv)
{
    struct command_line line = {0};
    char path[PROGRAM_PATH_BYTES];
    int status = program_find("sniff", "covey-sniff", path, sizeof path);
    command_line_add(&line, "%s", path);
    if (status == TOOL_OK)
        status = read_sniff_arguments(&line, argc, argv);
    if (status == TOOL_OK) {
        /* The hosts of the VM that runs here are called by their names. */
        struct covey_host *hosts;
        if (tool_try_join(tool) >= 0) {
            int count = covey_hosts(tool->vm, &hosts);
            for (int i = 0; i < count; i++)
                command_line_add(&line, "known=%d,%s,%s", hosts[i].index, hosts[i].address,
                                 hosts[i].name);
            if (count >= 0)
                covey_free(hosts);
        }
    }
    if (status == TOOL_OK)
        status = run_sniffer(&line);
    command_line_free(&line);
    return status;
}

const struct command cmd_sniff = {
    .name = "sniff",
    .run = sniff_command,
    .usage = "[--host HOST] [--tid TID] [--kind KIND] [--lane LANE] [-c N] [--json] [-w FILE]\n"
             "      [INTERFACE|FILE [FILTER...]]",
    .help = "show what Covey says on the wire, or in a capture file",
    .options = options,
    .operand = "INTERFACE",
};
