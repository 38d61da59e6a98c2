/*
 * covey logs: what the daemon of a host has logged. A daemon that runs is asked, piece by piece; of
 * one that does not, the log may be on this host. Nothing tells when there is more: to follow a log
 * is to look again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/base/arguments.h"
#include "tools/base/command.h"
#include "tools/base/logfile.h"

#define PIECE_BYTES 32768
#define LINE_BYTES 1024 /* of a daemon's lines, at most */
#define LINES_MAX 10000
#define LOOK_NS 300000000L

static const struct args_option options[] = {
    {"follow", 'f', NULL, "go on with what is logged from now on"},
    {"lines", 'n', "LINES", "the last lines alone"},
    {NULL, 0, NULL, NULL}};

struct logs {
    struct tool *tool;
    const char *host; /* NULL: this one */
    bool follow;
    long lines; /* 0: all */
    /* where it is read */
    int index;  /* of the host whose daemon is asked; 0: it is a file */
    FILE *file; /* that a daemon has left */
    int64_t offset;
};

/* ---- Where it is -------------------------------------------------------------------------- */

/* The log of a daemon that runs here no more; a negative errno is the cause. */
static int open_file(struct logs *logs, const char *vm_name, const char *host)
{
    char path[LOGFILE_PATH_BYTES];
    logfile_path(vm_name, host, path);
    logs->file = fopen(path, "re");
    return logs->file ? 0 : -errno;
}

/* A virtual host, or one that was started on this machine, may be down and its log here. */
static int open_down(struct logs *logs, const char *host, bool listed)
{
    const char *vm_name = covey_vm_name(logs->tool->vm);
    if (!strchr(host, '/') && open_file(logs, vm_name, host) == 0)
        return TOOL_OK;
    if (!listed)
        return tool_error("logs", "no host '%s' is in this VM; see: covey hosts", host);
    return tool_error("logs",
                      "host %s is down; what its daemon logged is there, in "
                      "$XDG_RUNTIME_DIR/covey/%s/%s.log",
                      host, vm_name, host);
}

static int open_host(struct logs *logs)
{
    struct covey_host *hosts = NULL;
    const char *host = logs->host ? logs->host : covey_myhost(logs->tool->vm);
    int n = covey_hosts(logs->tool->vm, &hosts);
    bool listed = false;
    for (int i = 0; i < n; i++) {
        if (strcmp(hosts[i].name, host) != 0)
            continue;
        listed = true;
        if (hosts[i].state != COVEY_HOST_DOWN)
            logs->index = hosts[i].index;
    }
    covey_free(hosts);
    if (n < 0)
        return tool_failed(logs->tool, "logs", n);
    return logs->index ? TOOL_OK : open_down(logs, host, listed);
}

static int open_log(struct logs *logs)
{
    int error = tool_try_join(logs->tool);
    if (error == COVEY_EDAEMON && !tool_by_socket(logs->tool)) {
        char latest[64];
        const char *vm_name = logs->tool->vm_name;
        const char *host = logs->host                        ? logs->host
                           : logfile_latest(vm_name, latest) ? latest
                                                             : NULL;
        if (host && open_file(logs, vm_name, host) == 0)
            return TOOL_OK;
        return tool_error("logs",
                          "no VM named %s runs here, and no log of %s is left; logs of a VM that "
                          "was halted are removed",
                          vm_name, host ? host : "it");
    }
    return error < 0 ? tool_failed(logs->tool, "logs", error) : open_host(logs);
}

/* ---- What it says ------------------------------------------------------------------------- */

/* The next bytes; 0: there are no more yet; < 0: it was reported why. */
static int read_piece(struct logs *logs, char *bytes, size_t size)
{
    if (logs->file) {
        clearerr(logs->file);
        size_t n = fread(bytes, 1, size, logs->file);
        return ferror(logs->file)
                   ? -tool_error("logs", "the log cannot be read: %s", strerror(errno))
                   : (int)n;
    }
    int n = covey_log(logs->tool->vm, logs->index, &logs->offset, bytes, size);
    return n < 0 ? -tool_failed(logs->tool, "logs", n) : n;
}

static int print_last(struct logs *logs)
{
    long most = logs->lines * LINE_BYTES;
    char *text = malloc((size_t)most + PIECE_BYTES);
    size_t used = 0;
    int n = 1;
    if (!text)
        return tool_error("logs", "memory is exhausted");
    /* Where the last lines can begin at the earliest. */
    logs->offset = -most;
    if (logs->file && fseek(logs->file, -most, SEEK_END) != 0)
        rewind(logs->file);
    while (used < (size_t)most && (n = read_piece(logs, text + used, PIECE_BYTES)) > 0)
        used += (size_t)n;
    /* The last lines of a text. */
    long lines = logs->lines;
    const char *at = text + used;
    while (at > text && (at[-1] != '\n' || at == text + used || lines-- > 1))
        at--;
    const char *from = at;
    fwrite(from, 1, (size_t)(text + used - from), stdout);
    free(text);
    return n < 0 ? TOOL_FAILED : TOOL_OK;
}

static int print_rest(struct logs *logs)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    char bytes[PIECE_BYTES];
    for (;;) {
        int n = read_piece(logs, bytes, sizeof bytes);
        if (n < 0)
            return TOOL_FAILED;
        fwrite(bytes, 1, (size_t)n, stdout);
        bool more = n > 0 || (logs->follow && !logs->file);
        if (!more || (n == 0 && fflush(stdout) != 0))
            return TOOL_OK;
        if (n == 0)
            nanosleep(&pause, NULL);
    }
}

/* ---- The command -------------------------------------------------------------------------- */

static int take_logs_argument(void *context, int key, const char *value)
{
    struct logs *logs = context;
    if (key == 'n')
        return args_number(value, 1, LINES_MAX, &logs->lines)
                   ? TOOL_OK
                   : tool_usage("logs", "-n %s: must be a number in 1 .. %d", value, LINES_MAX);
    if (logs->host)
        return tool_usage("logs", "%s: one host at a time", value);
    logs->host = value;
    return TOOL_OK;
}

static int logs_command(struct tool *tool, int argc, char **argv)
{
    struct logs logs = {.tool = tool};
    const struct arguments_place places[] = {{'f', .flag = &logs.follow}, {0}};
    int status =
        arguments_read(&(struct arguments){options, places, take_logs_argument, &logs}, argc, argv);
    if (status == TOOL_OK)
        status = open_log(&logs);
    if (status == TOOL_OK && logs.lines)
        status = print_last(&logs);
    if (status == TOOL_OK)
        status = print_rest(&logs);
    if (logs.file)
        fclose(logs.file);
    return status;
}

const struct command cmd_logs = {
    .name = "logs",
    .run = logs_command,
    .usage = "[-f] [-n LINES] [HOST]",
    .help = "print the log of a host's daemon, this host's by default",
    .options = options,
    .operand = "HOST",
};
