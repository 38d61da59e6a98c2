/*
 * seen.c - what was round the tasks of a trace: lines of its file (trace_record.h) as tables. Words
 * that are not known here are of a later version and passed over; so is what cannot be.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trace/trace.h"

#define SEEN_MAX 2000000u /* of a kind */
#define NODES_MAX 16384u
#define LOGS_MAX 50000u
#define LINE_MAX_BYTES 2000

static uint32_t host_of(const struct trace *trace, unsigned index)
{
    for (size_t h = 0; h < trace->host_count; h++)
        if (trace->hosts[h].index == index)
            return (uint32_t)h;
    return TRACE_NONE;
}

/* The place of one more in a table; NULL: there are too many, or no memory, which *good tells. */
#define SEEN_ADD(seen, table, noun, most, good)                                                    \
    ((seen)->noun##_count >= (most) ? NULL                                                         \
     : !trace_grow((void **)&(seen)->table, &(seen)->noun##_room, (seen)->noun##_count,            \
                   sizeof *(seen)->table)                                                          \
         ? (*(good) = false, NULL)                                                                 \
         : &(seen)->table[(seen)->noun##_count++])

static bool take_host(struct trace *trace, uint64_t at_ns, const char *line)
{
    unsigned index;
    bool good = true;
    struct seen_host h = {.at_ns = at_ns};
    if (sscanf(line, "host %u %lf %lf %lf %lf %lf", &index, &h.busy, &h.used_bytes, &h.total_bytes,
               &h.received, &h.sent) != 6)
        return true;
    h.host = host_of(trace, index);
    if (h.host == TRACE_NONE || !isfinite(h.busy) || !isfinite(h.used_bytes) ||
        !isfinite(h.total_bytes) || !isfinite(h.received) || !isfinite(h.sent))
        return true;
    struct seen_host *place = SEEN_ADD(&trace->seen, hosts, host, SEEN_MAX, &good);
    if (place != NULL)
        *place = h;
    return good;
}

static bool take_bag(struct trace *trace, uint64_t at_ns, const char *line)
{
    unsigned long long put, done, ready, leased;
    int workers, behind = 0;
    bool good = true;
    if (sscanf(line, "bag %llu %llu %llu %llu %d %n", &put, &done, &ready, &leased, &workers,
               &behind) != 5 ||
        behind == 0 || line[behind] == '\0')
        return true;
    uint32_t name = trace_text(trace, line + behind);
    struct seen_bag *bag = SEEN_ADD(&trace->seen, bags, bag, SEEN_MAX, &good);
    if (bag != NULL)
        *bag = (struct seen_bag){at_ns, put, done, ready, leased, name, workers};
    return good && name != TRACE_NONE;
}

static bool take_node(struct trace *trace, const char *line)
{
    bool good = true;
    int is_switch;
    char name[64];
    if (sscanf(line, "node %d %63s", &is_switch, name) != 2)
        return true;
    struct seen_node *node = SEEN_ADD(&trace->seen, nodes, node, NODES_MAX, &good);
    if (node != NULL) {
        node->is_switch = is_switch != 0;
        memcpy(node->name, name, sizeof name);
    }
    return good;
}

static bool take_link(struct trace *trace, const char *line)
{
    bool good = true;
    struct seen_link l;
    if (sscanf(line, "link %u %u %lf", &l.a, &l.b, &l.bits) != 3 || l.a >= trace->seen.node_count ||
        l.b >= trace->seen.node_count || !isfinite(l.bits) || l.bits <= 0)
        return true;
    struct seen_link *place = SEEN_ADD(&trace->seen, links, link, NODES_MAX, &good);
    if (place != NULL)
        *place = l;
    return good;
}

static bool take_log(struct trace *trace, const char *line)
{
    unsigned index;
    int behind = 0;
    bool good = true;
    if (sscanf(line, "log %u %n", &index, &behind) != 1 || behind == 0)
        return true;
    char *text = strdup(line + behind);
    struct seen_log *log = text == NULL ? NULL : SEEN_ADD(&trace->seen, logs, log, LOGS_MAX, &good);
    if (log != NULL)
        *log = (struct seen_log){host_of(trace, index), text};
    else
        free(text);
    return good && text != NULL;
}

static bool take_line(struct trace *trace, uint64_t at_ns, const char *line)
{
    return take_host(trace, at_ns, line) && take_bag(trace, at_ns, line) &&
           take_node(trace, line) && take_link(trace, line) && take_log(trace, line);
}

bool seen_take(struct trace *trace, uint64_t at_ns, const char *text, size_t size)
{
    const char *end = text + size;
    while (text < end) {
        char line[LINE_MAX_BYTES];
        const char *next = memchr(text, '\n', (size_t)(end - text));
        next = next == NULL ? end : next;
        size_t length =
            (size_t)(next - text) < sizeof line ? (size_t)(next - text) : sizeof line - 1;
        memcpy(line, text, length);
        line[length] = '\0';
        if (!take_line(trace, at_ns < TRACE_TIME_MAX ? at_ns : TRACE_TIME_MAX, line))
            return false;
        text = next + 1;
    }
    return true;
}

/* What was seen before the first task did something is seen at 0. */
void seen_shift(struct trace *trace)
{
    struct trace_seen *seen = &trace->seen;
    uint64_t from_ns = trace->begin_ns;
    for (size_t i = 0; i < seen->host_count; i++)
        seen->hosts[i].at_ns -= seen->hosts[i].at_ns > from_ns ? from_ns : seen->hosts[i].at_ns;
    for (size_t i = 0; i < seen->bag_count; i++)
        seen->bags[i].at_ns -= seen->bags[i].at_ns > from_ns ? from_ns : seen->bags[i].at_ns;
}

void seen_free(struct trace_seen *seen)
{
    for (size_t i = 0; i < seen->log_count; i++)
        free(seen->logs[i].text);
    free(seen->hosts);
    free(seen->bags);
    free(seen->nodes);
    free(seen->links);
    free(seen->logs);
}
