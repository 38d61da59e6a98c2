/*
 * web_look.c - what is asked of the daemons for the live page, in each look: hosts with their load,
 * tasks with what they do, to whom some of them have sent, bags, locks; every TOPOLOGY_LOOKS looks
 * the network; and of LOG_HOSTS hosts, in turn, what they have logged since they were asked last.
 *
 * A look costs each daemon three answers, and the own daemon as much as `covey top`, `covey ps`,
 * `covey bags` and `covey locks` would: it waits for no host longer than LISTING_PATIENCE_US, and
 * reads no log of a host that is silent.
 */
#include "tools/web/web_look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/list/listing.h"

#define TOPOLOGY_LOOKS 15
#define LOG_HOSTS 8
#define LOG_PIECE_BYTES 4096
#define LOG_TAIL_BYTES                                                                             \
    1024 /* of a log that was not read before, or of which too much is behind                      \
          */

/* How far a log was read. */
struct looker_log {
    int32_t host;
    uint64_t incarnation;
    int64_t offset;
    bool none; /* its daemon runs in the foreground */
};

struct web_looker {
    struct tool *tool;
    uint64_t looks;
    struct looker_log *logs;
    int log_count;
    int log_next; /* the place, among the hosts, of the one whose log is read next */
};

struct web_looker *web_looker_create(struct tool *tool)
{
    struct web_looker *looker = calloc(1, sizeof *looker);
    if (looker != NULL)
        looker->tool = tool;
    return looker;
}

void web_looker_destroy(struct web_looker *looker)
{
    if (looker != NULL)
        free(looker->logs);
    free(looker);
}

void web_look_free(struct web_look *look)
{
    if (look == NULL)
        return;
    covey_free(look->hosts);
    covey_free(look->stats);
    covey_free(look->tasks);
    covey_free(look->task_stats);
    covey_free(look->peers);
    covey_free(look->bags);
    covey_free(look->held);
    covey_free(look->nodes);
    covey_free(look->links);
    free(look->lines);
    free(look);
}

/* The first trouble is kept. Returns the number that a call gave, 0 for an error. */
static int count_of(struct web_look *look, int n)
{
    if (n < 0 && look->trouble[0] == '\0')
        snprintf(look->trouble, sizeof look->trouble, "the VM does not answer: %s",
                 covey_error_text());
    return n < 0 ? 0 : n;
}

/* ---- hosts and tasks ---- */

static void ask_hosts(struct web_look *look, covey_t *vm)
{
    struct covey_task_stats all = {.hosts = NULL};
    look->host_count =
        count_of(look, covey_host_stats(vm, LISTING_PATIENCE_US, &look->hosts, &look->stats));
    count_of(look, covey_task_stats(vm, LISTING_PATIENCE_US, WEB_TASKS_A_LOOK, &all));
    look->tasks = all.tasks;
    look->task_stats = all.stats;
    look->task_count = all.task_count;
    look->tasks_left_out = all.left_out;
    for (int i = 0, k = 0; i < all.host_count && k < look->host_count;
         i++) { /* both are in the order of indices */
        while (k < look->host_count && look->hosts[k].index < all.hosts[i].index)
            k++;
        struct covey_host *host = k < look->host_count ? &look->hosts[k] : NULL;
        if (host != NULL && host->index == all.hosts[i].index && host->state == COVEY_HOST_UP)
            host->state = all.hosts[i].state;
    }
    covey_free(all.hosts);
}

/* ---- the network ---- */

static void ask_topology(struct web_look *look, covey_t *vm)
{
    covey_topology_t *topology = NULL;
    int error = covey_vm_topology(vm, &topology);
    look->has_topology = error == 0 || error == COVEY_ENOENT;
    if (error == 0) {
        look->node_count = count_of(look, covey_topology_nodes(topology, &look->nodes));
        look->link_count = count_of(look, covey_topology_links(topology, &look->links));
    }
    covey_topology_free(&topology);
}

/* ---- logs ---- */

/* Where reading goes on; the row is the host's from then on. NULL: memory is exhausted. */
static struct looker_log *log_of(struct web_looker *looker, const struct covey_host *host)
{
    struct looker_log *log = NULL;
    for (int i = 0; i < looker->log_count && log == NULL; i++)
        if (looker->logs[i].host == host->index)
            log = &looker->logs[i];
    if (log != NULL && log->incarnation == host->incarnation)
        return log;
    if (log == NULL) {
        size_t n = (size_t)looker->log_count + 1;
        struct looker_log *more = reallocarray(looker->logs, n, sizeof *more);
        if (more == NULL)
            return NULL;
        looker->logs = more;
        log = &more[looker->log_count++];
    }
    *log = (struct looker_log){
        .host = host->index, .incarnation = host->incarnation, .offset = -LOG_TAIL_BYTES};
    return log;
}

static void add_line(struct web_look *look, const char *host, const char *text, size_t size)
{
    struct web_line *line = &look->lines[look->line_count++];
    snprintf(line->host, sizeof line->host, "%s", host);
    snprintf(line->text, sizeof line->text, "%.*s", (int)size, text);
}

/* The whole lines that have come since the last time, as far as there is room for them. */
static void read_log(struct web_look *look, covey_t *vm, const struct covey_host *host,
                     struct looker_log *log)
{
    char text[LOG_PIECE_BYTES + 1];
    bool tail = log->offset < 0;
    int n = log->none ? 0 : covey_log(vm, host->index, &log->offset, text, LOG_PIECE_BYTES);
    log->none = log->none || n == COVEY_EINVAL;
    if (n <= 0)
        return;
    const char *at = text, *end = text + n, *newline;
    newline = tail ? memchr(at, '\n', (size_t)n) : NULL; /* it may begin within a line */
    if (newline != NULL)
        at = newline + 1;
    while (look->line_count < WEB_LINES_A_LOOK &&
           (newline = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        add_line(look, host->name, at, (size_t)(newline - at));
        at = newline + 1;
    }
    if (n == LOG_PIECE_BYTES) {
        if (look->line_count < WEB_LINES_A_LOOK)
            add_line(look, host->name, "(lines are left out; see: covey logs)", LOG_PIECE_BYTES);
        log->offset = -LOG_TAIL_BYTES;
    } else {
        log->offset -= end - at;
    }
}

static void ask_logs(struct web_looker *looker, struct web_look *look)
{
    int n = look->host_count < LOG_HOSTS ? look->host_count : LOG_HOSTS;
    look->lines = calloc(WEB_LINES_A_LOOK, sizeof *look->lines);
    for (int i = 0; i < n && look->lines != NULL; i++) {
        looker->log_next = (looker->log_next + 1) % look->host_count;
        const struct covey_host *host = &look->hosts[looker->log_next];
        struct looker_log *log = host->state == COVEY_HOST_UP ? log_of(looker, host) : NULL;
        if (log != NULL)
            read_log(look, looker->tool->vm, host, log);
    }
}

/* ---- a look ---- */

struct web_look *web_look_take(struct web_looker *looker)
{
    struct web_look *look = calloc(1, sizeof *look);
    if (look == NULL)
        return NULL;
    if (count_of(look, tool_try_join(looker->tool)) == 0 && looker->tool->vm != NULL) {
        covey_t *vm = looker->tool->vm;
        ask_hosts(look, vm);
        int peers = covey_task_peers(vm, LISTING_PATIENCE_US, WEB_PEERS_A_LOOK, &look->peers);
        look->has_peers = peers >= 0;
        look->peer_count = count_of(look, peers);
        look->bag_count = count_of(look, covey_bags(vm, &look->bags));
        look->held_count = count_of(look, covey_held(vm, &look->held));
        if (looker->looks++ % TOPOLOGY_LOOKS == 0)
            ask_topology(look, vm);
        ask_logs(looker, look);
    }
    if (look->trouble[0] != '\0' && look->host_count == 0)
        tool_leave(looker->tool); /* the next look joins again */
    return look;
}
