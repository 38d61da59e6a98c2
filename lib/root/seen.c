/*
 * seen.c - the surroundings of a trace, asked of the daemons as any program can ask them. A
 * question that fails leaves its lines out: a trace is not lost for want of them.
 */
#include "lib/root/seen.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_US 500000
#define HOSTS_MAX 1024      /* whose logs are read */
#define LOG_BYTES_MAX 65536 /* of one daemon */
#define LOG_BYTES_ALL 4194304

struct seen {
    covey_t *vm;
    int hosts;
    struct {
        int index;
        int64_t offset; /* where its log ended; negative: it has none */
    } logs[HOSTS_MAX];
};

struct seen *seen_create(covey_t *vm)
{
    struct seen *seen = calloc(1, sizeof *seen);
    struct covey_host *hosts = NULL;
    if (seen == NULL)
        return NULL;
    seen->vm = vm;
    int count = covey_hosts(vm, &hosts);
    for (int i = 0; i < count && seen->hosts < HOSTS_MAX; i++) {
        char last[1];
        int64_t offset = -1;
        if (hosts[i].state != COVEY_HOST_UP)
            continue;
        int error = covey_log(vm, hosts[i].index, &offset, last, sizeof last);
        seen->logs[seen->hosts].index = hosts[i].index;
        seen->logs[seen->hosts++].offset = error < 0 ? -1 : offset;
    }
    covey_free(hosts);
    return seen;
}

void seen_destroy(struct seen *seen)
{
    free(seen);
}

/* ---- lines ---- */

static void put_hosts(struct seen *seen, FILE *out)
{
    struct covey_host *hosts = NULL;
    struct covey_host_stat *stats = NULL;
    int count = covey_host_stats(seen->vm, PATIENCE_US, &hosts, &stats);
    for (int i = 0; i < count; i++)
        if (stats[i].known)
            fprintf(out, "host %d %.4f %.0f %.0f %.0f %.0f\n", hosts[i].index, stats[i].cpu_busy,
                    stats[i].memory_used_bytes, stats[i].memory_total_bytes,
                    stats[i].net_received_bytes_per_s, stats[i].net_sent_bytes_per_s);
    covey_free(hosts);
    covey_free(stats);
}

static void put_bags(struct seen *seen, FILE *out)
{
    struct covey_bag_info *bags = NULL;
    int count = covey_bags(seen->vm, &bags);
    for (int i = 0; i < count; i++)
        fprintf(out, "bag %llu %llu %llu %llu %d %s\n", (unsigned long long)bags[i].put,
                (unsigned long long)bags[i].done, (unsigned long long)bags[i].ready,
                (unsigned long long)bags[i].leased, (int)bags[i].tasks, bags[i].name);
    covey_free(bags);
}

static void put_network(struct seen *seen, FILE *out)
{
    covey_topology_t *topology = NULL;
    struct covey_topology_node *nodes = NULL;
    struct covey_topology_link *links = NULL;
    if (covey_vm_topology(seen->vm, &topology) < 0)
        return;
    int node_count = covey_topology_nodes(topology, &nodes);
    int link_count = covey_topology_links(topology, &links);
    for (int i = 0; i < node_count && link_count >= 0; i++)
        fprintf(out, "node %d %s\n", (int)nodes[i].is_switch, nodes[i].name);
    for (int i = 0; i < link_count && node_count >= 0; i++)
        fprintf(out, "link %d %d %llu\n", (int)links[i].a, (int)links[i].b,
                (unsigned long long)links[i].rate_bps);
    covey_free(nodes);
    covey_free(links);
    covey_topology_free(&topology);
}

/* A log is a text of lines; the last may be without its end. */
static void put_lines(int index, char *text, FILE *out)
{
    for (char *rest = NULL, *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        fprintf(out, "log %d %s\n", index, line);
}

static size_t put_log(struct seen *seen, int index, int64_t offset, FILE *out)
{
    char *text = malloc(LOG_BYTES_MAX + 1);
    size_t bytes = 0;
    int n = 1;
    while (text != NULL && n > 0 && bytes < LOG_BYTES_MAX) {
        n = covey_log(seen->vm, index, &offset, text + bytes, LOG_BYTES_MAX - bytes);
        bytes += n > 0 ? (size_t)n : 0;
    }
    if (text != NULL) {
        for (size_t i = 0; i < bytes; i++)
            text[i] = text[i] == '\0' ? '?' : text[i];
        text[bytes] = '\0';
        put_lines(index, text, out);
    }
    if (bytes == LOG_BYTES_MAX)
        fprintf(out, "log %d (what it logged after that is left out)\n", index);
    free(text);
    return bytes;
}

/* ---- the interface ---- */

static FILE *lines_open(char **text, size_t *bytes)
{
    *text = NULL;
    *bytes = 0;
    return open_memstream(text, bytes);
}

static void lines_close(FILE *out, char **text, const size_t *bytes)
{
    bool good = fclose(out) == 0;
    if (!good || *bytes == 0) {
        free(*text);
        *text = NULL;
    }
}

void seen_now(struct seen *seen, char **text, size_t *bytes)
{
    FILE *out = lines_open(text, bytes);
    if (out == NULL)
        return;
    put_hosts(seen, out);
    put_bags(seen, out);
    lines_close(out, text, bytes);
}

void seen_last(struct seen *seen, char **text, size_t *bytes)
{
    FILE *out = lines_open(text, bytes);
    size_t logged = 0;
    if (out == NULL)
        return;
    put_network(seen, out);
    for (int i = 0; i < seen->hosts && logged < LOG_BYTES_ALL; i++)
        if (seen->logs[i].offset >= 0)
            logged += put_log(seen, seen->logs[i].index, seen->logs[i].offset, out);
    if (logged >= LOG_BYTES_ALL)
        fprintf(out, "log 0 (the logs of the other hosts are left out)\n");
    lines_close(out, text, bytes);
}
