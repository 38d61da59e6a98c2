/*
 * page_json.c - the surroundings of a trace for its page:
 *
 *   hosts   [host, time, busy, used, total, received, sent]; numbers less than 0 are not known
 *   bags    [name, time, put, done, ready, leased, workers]
 *   links   [from, to, bits a second, bytes, permille of its rate *LINK_BINS], the busiest first
 *   quiet   links, each way, that are left out: they carried less
 *   outside messages between hosts that are not in the network
 *   logs    [host or -1, text]
 *   left    lines of logs that are left out
 *
 * Times are in ns. What is too much for a page is thinned out evenly.
 */
#include "tools/trace/page_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trace/link_use.h"

#define HOST_ROWS 60000u
#define BAG_ROWS 20000u
#define LINK_ROWS 40u
#define LOG_ROWS 5000u

json_t *page_text(const char *text)
{
    json_t *json = json_string(text);
    if (json != NULL)
        return json;
    char *plain = strdup(text);
    for (char *c = plain; c != NULL && *c != '\0'; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    json = plain == NULL ? NULL : json_string(plain);
    free(plain);
    return json;
}

/* Rounds of samples, each of one moment, are taken or left as a whole. */
struct thinning {
    size_t every, round;
    uint64_t at_ns;
    bool first;
};

static struct thinning thinning_begin(size_t rows, size_t most)
{
    return (struct thinning){.every = rows / most + 1, .first = true};
}

static bool thinning_takes(struct thinning *t, uint64_t at_ns)
{
    if (!t->first && at_ns != t->at_ns)
        t->round++;
    t->first = false;
    t->at_ns = at_ns;
    return t->round % t->every == 0;
}

static json_t *hosts_json(const struct trace_seen *seen)
{
    json_t *list = json_array();
    struct thinning t = thinning_begin(seen->host_count, HOST_ROWS);
    for (size_t i = 0; i < seen->host_count; i++) {
        const struct seen_host *h = &seen->hosts[i];
        if (thinning_takes(&t, h->at_ns))
            json_array_append_new(list, json_pack("[I,I,f,f,f,f,f]", (json_int_t)h->host,
                                                  (json_int_t)h->at_ns, h->busy, h->used_bytes,
                                                  h->total_bytes, h->received, h->sent));
    }
    return list;
}

static json_t *bags_json(const struct trace *trace)
{
    const struct trace_seen *seen = &trace->seen;
    json_t *list = json_array();
    struct thinning t = thinning_begin(seen->bag_count, BAG_ROWS);
    for (size_t i = 0; i < seen->bag_count; i++) {
        const struct seen_bag *b = &seen->bags[i];
        if (thinning_takes(&t, b->at_ns))
            json_array_append_new(
                list, json_pack("[o,I,I,I,I,I,i]", page_text(trace->names[b->name]),
                                (json_int_t)b->at_ns, (json_int_t)b->put, (json_int_t)b->done,
                                (json_int_t)b->ready, (json_int_t)b->leased, b->workers));
    }
    return list;
}

/* ---- links ---- */

struct link_row {
    uint32_t link;
    bool back;
    double mean; /* share of its rate */
};

static int by_mean(const void *a, const void *b)
{
    const struct link_row *x = a, *y = b;
    return x->mean < y->mean ? 1 : x->mean > y->mean ? -1 : (int)x->link - (int)y->link;
}

static json_t *link_json(const struct trace_seen *seen, const struct link_use *use,
                         const struct link_row *row)
{
    const struct seen_link *link = &seen->links[row->link];
    json_t *bins = json_array();
    for (size_t i = 0; i < LINK_BINS; i++)
        json_array_append_new(
            bins, json_integer((json_int_t)lroundf(1000 * fminf(use->share[row->back][i], 1000))));
    return json_pack("[o,o,f,f,o]", page_text(seen->nodes[row->back ? link->b : link->a].name),
                     page_text(seen->nodes[row->back ? link->a : link->b].name), link->bits,
                     use->bytes[row->back], bins);
}

static json_t *links_json(const struct trace *trace, size_t *outside, size_t *quiet)
{
    json_t *list = json_array();
    size_t count = 0;
    struct link_use *use = link_use_find(trace, outside);
    struct link_row *rows = calloc(2 * trace->seen.link_count + 1, sizeof *rows);
    for (uint32_t i = 0; use != NULL && rows != NULL && i < 2 * trace->seen.link_count; i++) {
        struct link_row row = {.link = i / 2, .back = i % 2 != 0};
        for (size_t bin = 0; bin < LINK_BINS; bin++)
            row.mean += (double)use[row.link].share[row.back][bin] / LINK_BINS;
        if (row.mean > 0)
            rows[count++] = row;
    }
    if (count > 1)
        qsort(rows, count, sizeof *rows, by_mean);
    for (size_t i = 0; i < count && i < LINK_ROWS; i++)
        json_array_append_new(list, link_json(&trace->seen, &use[rows[i].link], &rows[i]));
    *quiet = count > LINK_ROWS ? count - LINK_ROWS : 0;
    free(rows);
    free(use);
    return list;
}

static json_t *logs_json(const struct trace_seen *seen)
{
    json_t *list = json_array();
    size_t from = seen->log_count > LOG_ROWS ? seen->log_count - LOG_ROWS : 0;
    for (size_t i = from; i < seen->log_count; i++) {
        uint32_t host = seen->logs[i].host;
        json_array_append_new(list, json_pack("[I,o]", host == TRACE_NONE ? -1 : (json_int_t)host,
                                              page_text(seen->logs[i].text)));
    }
    return list;
}

json_t *page_seen(const struct trace *trace)
{
    const struct trace_seen *seen = &trace->seen;
    size_t outside = 0, quiet = 0;
    json_t *links = links_json(trace, &outside, &quiet);
    size_t left = seen->log_count > LOG_ROWS ? seen->log_count - LOG_ROWS : 0;
    return json_pack("{s:o,s:o,s:o,s:I,s:I,s:o,s:I}", "hosts", hosts_json(seen), "bags",
                     bags_json(trace), "links", links, "outside", (json_int_t)outside, "quiet",
                     (json_int_t)quiet, "logs", logs_json(seen), "left", (json_int_t)left);
}
