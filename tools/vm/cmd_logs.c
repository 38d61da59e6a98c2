/*
 * covey logs: what the daemons of the VM have logged, line by line in the order of time, or what
 * that of one host has. A daemon that runs is asked, piece by piece; of one that does not, the log
 * may be on this host. Nothing tells when there is more: to follow a log is to look again.
 *
 * Each host writes its own time in its own zone. Of several hosts the times are shown as the clock
 * here has them: how far the clocks are apart is asked once for each host.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/base/arguments.h"
#include "tools/base/command.h"
#include "tools/base/logfile.h"
#include "tools/list/listing.h"
#include "tools/list/table.h"
#include "tools/vm/log_source.h"

#define LINE_BYTES 1024 /* of a daemon's lines, at most */
#define LINES_MAX 10000
#define LOOK_MS 300
#define LOOK_EACH_MS 5 /* more for each host */
#define LIST_LOOKS 8   /* until it is looked whether hosts have joined */
#define HOSTS_MAX 64
#define CLOCKS_AGREE_US 1000

static const struct args_option options[] = {
    {"follow", 'f', NULL, "go on with what is logged from now on"},
    {"lines", 'n', "LINES", "the last lines alone"},
    {"since", 's', "TIME", "what was logged since then: 10m, 2h, 18:40, 2026-11-22 18:40"},
    {"level", 'l', "LEVEL", "error, info or debug: these lines and graver ones"},
    {NULL, 0, NULL, NULL}};

/* A log, and where it is read. */
struct origin {
    struct logs *logs;
    char host[64];
    int index;  /* of the host whose daemon is asked; 0: it is a file */
    FILE *file; /* that a daemon has left */
    int64_t offset;
    bool dry; /* nothing more came in this look */
    struct log_source source;
};

struct logs {
    struct tool *tool;
    const char *names[HOSTS_MAX]; /* of hosts; none: all */
    int name_count;
    bool follow;
    long lines; /* 0: all */
    int64_t since_us;
    int level;
    struct origin **origins;
    int count, capacity;
    bool raw;    /* one log alone, as it is */
    int width;   /* of the names of hosts */
    char **last; /* the last `lines` lines: a ring */
    long at;     /* lines that were put there, ever */
    int status;  /* of those that could not be read */
};

/* ---- Where they are ----------------------------------------------------------------------- */

static int read_piece(void *context, char *bytes, size_t size)
{
    struct origin *o = context;
    if (o->file) {
        clearerr(o->file);
        size_t n = fread(bytes, 1, size, o->file);
        return ferror(o->file) ? -tool_error("logs", "the log cannot be read: %s", strerror(errno))
                               : (int)n;
    }
    int n = covey_log(o->logs->tool->vm, o->index, &o->offset, bytes, size);
    return n < 0 ? -tool_failed(o->logs->tool, "logs", n) : n;
}

/* How far the local time of its host is behind the time here; without the host's figures both are
 * taken to have one zone. */
static int64_t ahead_us(struct logs *logs, int index, const struct covey_host_stat *stat)
{
    time_t now = time(NULL);
    struct tm local;
    int64_t ahead = 0;
    localtime_r(&now, &local);
    int64_t zone_us = (int64_t)local.tm_gmtoff * 1000000;
    if (stat && stat->clock_s >= 0 && stat->local_clock_s >= 0)
        zone_us = llround(stat->local_clock_s - stat->clock_s) * 1000000;
    if (index && covey_host_clock(logs->tool->vm, index, NULL, &ahead) < 0)
        ahead = 0;
    if (llabs(ahead) < CLOCKS_AGREE_US) /* lines are not shifted by what cannot be measured */
        ahead = 0;
    return ahead - zone_us;
}

static struct origin *origin_add(struct logs *logs, const char *host)
{
    if (logs->count == logs->capacity) {
        int capacity = 2 * logs->capacity + 8;
        struct origin **grown = realloc(logs->origins, (size_t)capacity * sizeof(struct origin *));
        if (!grown)
            return NULL;
        logs->origins = grown;
        logs->capacity = capacity;
    }
    struct origin *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    o->logs = logs;
    o->source.read = read_piece;
    o->source.context = o;
    snprintf(o->host, sizeof o->host, "%s", host);
    int width = (int)strlen(o->host);
    logs->width = width > logs->width ? width : logs->width;
    logs->origins[logs->count++] = o;
    return o;
}

/* Where the last lines can begin at the earliest. A line that is cut there is not among them, for
 * no line is longer. */
static void origin_begin(struct origin *o)
{
    long most = o->logs->lines * LINE_BYTES;
    if (most == 0)
        return;
    o->offset = -most;
    if (o->file && fseek(o->file, -most, SEEK_END) != 0)
        rewind(o->file);
}

static void origin_free(struct origin *o)
{
    if (o->file)
        fclose(o->file);
    free(o);
}

static int add_asked(struct logs *logs, const struct covey_host *host,
                     const struct covey_host_stat *stat)
{
    struct origin *o = origin_add(logs, host->name);
    if (!o)
        return tool_error("logs", "memory is exhausted");
    o->index = host->index;
    o->source.ahead_us = ahead_us(logs, host->index, stat);
    origin_begin(o);
    return TOOL_OK;
}

/* The log of a daemon that runs here no more; TOOL_FAILED: there is none, *why is the cause. */
static int add_file(struct logs *logs, const char *host, int *why)
{
    char path[LOGFILE_PATH_BYTES];
    const char *vm_name = logs->tool->vm ? covey_vm_name(logs->tool->vm) : logs->tool->vm_name;
    logfile_path(vm_name, host, path);
    FILE *file = strchr(host, '/') ? NULL : fopen(path, "re");
    struct origin *o = file ? origin_add(logs, host) : NULL;
    *why = errno;
    if (file && !o)
        fclose(file);
    if (!o)
        return TOOL_FAILED;
    o->file = file;
    o->source.ahead_us = ahead_us(logs, 0, NULL);
    origin_begin(o);
    return TOOL_OK;
}

static bool is_open(const struct logs *logs, const char *host)
{
    for (int i = 0; i < logs->count; i++) {
        if (strcmp(logs->origins[i]->host, host) == 0)
            return true;
    }
    return false;
}

/* A virtual host, or one that was started on this machine, may be down and its log here. */
static int open_down(struct logs *logs, const char *host, bool listed)
{
    int why;
    if (add_file(logs, host, &why) == TOOL_OK)
        return TOOL_OK;
    if (!listed)
        return tool_error("logs", "no host '%s' is in this VM; see: covey hosts", host);
    return tool_error("logs",
                      "host %s is down; what its daemon logged is there, in "
                      "$XDG_RUNTIME_DIR/covey/%s/%s.log",
                      host, covey_vm_name(logs->tool->vm), host);
}

/* What there is of the VM. */
struct found {
    struct covey_host *hosts;
    struct covey_host_stat *stats;
    int count;
};

static int open_named(struct logs *logs, const char *name, const struct found *found)
{
    for (int i = 0; i < found->count; i++) {
        if (strcmp(found->hosts[i].name, name) != 0)
            continue;
        return found->hosts[i].state == COVEY_HOST_DOWN
                   ? open_down(logs, name, true)
                   : add_asked(logs, &found->hosts[i], &found->stats[i]);
    }
    return open_down(logs, name, false);
}

/* All that are there and not open yet; of one that is down, its log if that is here. */
static int open_all(struct logs *logs, const struct found *found)
{
    int status = TOOL_OK, why;
    for (int i = 0; i < found->count && status == TOOL_OK; i++) {
        const struct covey_host *host = &found->hosts[i];
        if (is_open(logs, host->name))
            continue;
        if (host->state == COVEY_HOST_DOWN)
            (void)add_file(logs, host->name, &why);
        else
            status = add_asked(logs, host, &found->stats[i]);
    }
    return status;
}

static int open_hosts(struct logs *logs)
{
    struct found found = {.hosts = NULL};
    int status = TOOL_OK;
    found.count = covey_host_stats(logs->tool->vm, LISTING_PATIENCE_US, &found.hosts, &found.stats);
    if (found.count < 0)
        return tool_failed(logs->tool, "logs", found.count);
    if (logs->name_count == 0)
        status = open_all(logs, &found);
    for (int i = 0; i < logs->name_count && status == TOOL_OK; i++)
        status = open_named(logs, logs->names[i], &found);
    covey_free(found.hosts);
    covey_free(found.stats);
    return status;
}

/* Of a VM that is not there any more the log that was written last. */
static int open_left(struct logs *logs)
{
    char latest[64];
    const char *vm_name = logs->tool->vm_name;
    const char *host = logs->name_count > 0              ? logs->names[0]
                       : logfile_latest(vm_name, latest) ? latest
                                                         : NULL;
    int why;
    for (int i = 0; i < logs->name_count; i++) {
        host = logs->names[i];
        if (add_file(logs, host, &why) != TOOL_OK)
            break;
        if (i + 1 == logs->name_count)
            return TOOL_OK;
    }
    if (logs->name_count == 0 && host && add_file(logs, host, &why) == TOOL_OK)
        return TOOL_OK;
    return tool_error("logs",
                      "no VM named %s runs here, and no log of %s is left; logs of a VM that was "
                      "halted are removed",
                      vm_name, host ? host : "it");
}

static int open_logs(struct logs *logs)
{
    int error = tool_try_join(logs->tool);
    int status = error == COVEY_EDAEMON && !tool_by_socket(logs->tool) ? open_left(logs)
                 : error < 0 ? tool_failed(logs->tool, "logs", error)
                             : open_hosts(logs);
    logs->raw =
        status == TOOL_OK && logs->count == 1 && (logs->name_count == 1 || logs->origins[0]->file);
    return status;
}

/* ---- What they say ------------------------------------------------------------------------ */

/* A line as it is printed; the caller frees it. NULL: memory is exhausted. */
static char *line_format(const struct logs *logs, const struct origin *o)
{
    const struct log_line *line = &o->source.line;
    time_t at = (time_t)(line->at_us / 1000000);
    char stamp[32], *text = NULL;
    struct tm local;
    if (logs->raw) {
        text = strdup(line->text);
    } else {
        localtime_r(&at, &local);
        strftime(stamp, sizeof stamp, "%Y-%m-%d %H:%M:%S", &local);
        if (asprintf(&text, "%-*s  %s.%03d %s", logs->width, o->host, stamp,
                     (int)(line->at_us / 1000 % 1000), line->said) < 0)
            text = NULL;
    }
    if (text)
        table_hide_controls(text);
    return text;
}

/* Prints a line, or keeps it among the last. */
static int line_put(struct logs *logs, const struct origin *o, bool keep)
{
    const struct log_line *line = &o->source.line;
    if (line->at_us < logs->since_us || (int)line->level > logs->level)
        return TOOL_OK;
    char *text = line_format(logs, o);
    if (!text)
        return tool_error("logs", "memory is exhausted");
    if (!keep) {
        puts(text);
        free(text);
        return TOOL_OK;
    }
    char **place = &logs->last[logs->at++ % logs->lines];
    free(*place);
    *place = text;
    return TOOL_OK;
}

/* The next line of each; one that cannot be read any more is left out from now on. */
static struct origin *earliest(struct logs *logs, bool end)
{
    struct origin *first = NULL;
    for (int i = 0; i < logs->count;) {
        struct origin *o = logs->origins[i];
        int there = o->dry ? 0 : log_source_next(&o->source, end);
        o->dry = there == 0;
        if (there < 0) {
            logs->status = TOOL_FAILED;
            origin_free(o);
            logs->origins[i] = logs->origins[--logs->count];
            continue;
        }
        if (o->source.has_line && (!first || o->source.line.at_us < first->source.line.at_us))
            first = o;
        i++;
    }
    return first;
}

/* All lines that there are. */
static int put_all(struct logs *logs, bool keep, bool end)
{
    struct origin *o;
    int status = TOOL_OK;
    for (int i = 0; i < logs->count; i++)
        logs->origins[i]->dry = false;
    while (status == TOOL_OK && (o = earliest(logs, end))) {
        status = line_put(logs, o, keep);
        o->source.has_line = false;
    }
    return status;
}

static int print_last(struct logs *logs)
{
    logs->last = calloc((size_t)logs->lines, sizeof *logs->last);
    if (!logs->last)
        return tool_error("logs", "memory is exhausted");
    int status = put_all(logs, true, !logs->follow);
    for (long i = 0; i < logs->lines; i++) {
        char **place = &logs->last[(logs->at + i) % logs->lines];
        if (*place)
            puts(*place);
        free(*place);
    }
    free(logs->last);
    return status;
}

static void pause_until_next(const struct logs *logs)
{
    int ms = LOOK_MS > LOOK_EACH_MS * logs->count ? LOOK_MS : LOOK_EACH_MS * logs->count;
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&pause, NULL);
}

/* What is logged from now on, of hosts that join as well if all are meant. */
static int print_follow(struct logs *logs)
{
    int status = TOOL_OK;
    logs->lines = 0; /* a host that joins is read from its beginning */
    for (int looks = 1; status == TOOL_OK && logs->count > 0 && fflush(stdout) == 0; looks++) {
        pause_until_next(logs);
        if (looks % LIST_LOOKS == 0 && logs->name_count == 0)
            status = open_hosts(logs);
        if (status == TOOL_OK)
            status = put_all(logs, false, false);
    }
    return status;
}

static int print_logs(struct logs *logs)
{
    bool runs = logs->tool->vm != NULL;
    logs->follow = logs->follow && runs;
    int status = logs->lines > 0 ? print_last(logs) : put_all(logs, false, !logs->follow);
    if (status == TOOL_OK && logs->follow)
        status = print_follow(logs);
    return status == TOOL_OK ? logs->status : status;
}

/* ---- The command -------------------------------------------------------------------------- */

static int take_since(struct logs *logs, const char *value)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (log_since_parse(value, (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000, &logs->since_us))
        return TOOL_OK;
    return tool_usage("logs", "--since %s: must be such as 90s, 10m, 2h, 18:40 or 2026-11-22 18:40",
                      value);
}

static int take_logs_argument(void *context, int key, const char *value)
{
    struct logs *logs = context;
    switch (key) {
    case 'n':
        return args_number(value, 1, LINES_MAX, &logs->lines)
                   ? TOOL_OK
                   : tool_usage("logs", "-n %s: must be a number in 1 .. %d", value, LINES_MAX);
    case 's':
        return take_since(logs, value);
    case 'l':
        logs->level = log_level_of_name(value);
        return logs->level >= 0
                   ? TOOL_OK
                   : tool_usage("logs", "--level %s: must be error, info or debug", value);
    default:
        if (logs->name_count == HOSTS_MAX)
            return tool_usage("logs", "%s: more than %d hosts", value, HOSTS_MAX);
        logs->names[logs->name_count++] = value;
        return TOOL_OK;
    }
}

static int logs_command(struct tool *tool, int argc, char **argv)
{
    struct logs logs = {.tool = tool, .since_us = INT64_MIN, .level = LOG_LEVEL_DEBUG};
    const struct arguments_place places[] = {{'f', .flag = &logs.follow}, {0}};
    int status =
        arguments_read(&(struct arguments){options, places, take_logs_argument, &logs}, argc, argv);
    if (status == TOOL_OK)
        status = open_logs(&logs);
    if (status == TOOL_OK)
        status = print_logs(&logs);
    for (int i = 0; i < logs.count; i++)
        origin_free(logs.origins[i]);
    free(logs.origins);
    return status;
}

const struct command cmd_logs = {
    .name = "logs",
    .run = logs_command,
    .usage = "[-f] [-n LINES] [--since TIME] [--level LEVEL] [HOST...]",
    .help = "print what the daemons have logged, in the order of time",
    .options = options,
    .operand = "HOST",
};
