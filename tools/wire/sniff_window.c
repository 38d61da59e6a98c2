/*
 * sniff_window.c - the streams of the windows that were overheard, the last heard first.
 */
#include "tools/wire/sniff_window.h"

#include <stdlib.h>

#define STREAMS_MAX 256

/* One direction of a window. */
struct window_stream {
    struct window_stream *next; /* the last heard is first */
    uint32_t vm, channel, from, to;
    uint32_t session;
    struct address to_address;
    enum sniff_lane lane;
    struct sniff_stream stream;
};

struct sniff_windows {
    struct window_stream *first;
    size_t count;
};

struct sniff_windows *sniff_windows_create(void)
{
    return calloc(1, sizeof(struct sniff_windows));
}

/* The lane of its session, whichever way it went. */
static enum sniff_lane lane_of(const struct sighting *g)
{
    return g->detour ? SNIFF_ETHER : g->lane;
}

/* A stream belongs to two hosts, whatever sessions they make. While the receiver is not known, and
 * in a channel, it is told by session and address. */
static bool is_stream_of(const struct window_stream *w, const struct sighting *g, uint32_t session)
{
    if (w->vm != g->head.vm || w->lane != lane_of(g) || w->channel != g->channel ||
        w->from != g->from_host)
        return false;
    if (w->to != 0)
        return w->to == g->to_host;
    return w->session == session && address_equal(&w->to_address, &g->to);
}

static void drop_stream(struct sniff_windows *all, struct window_stream **at)
{
    struct window_stream *w = *at;
    *at = w->next;
    sniff_stream_clear(&w->stream);
    free(w);
    all->count--;
}

struct sniff_stream *sniff_windows_stream(struct sniff_windows *all, const struct sighting *g,
                                          uint32_t session)
{
    struct window_stream *w;
    for (struct window_stream **at = &all->first; *at != NULL; at = &(*at)->next) {
        w = *at;
        if (!is_stream_of(w, g, session))
            continue;
        *at = w->next;
        w->next = all->first;
        all->first = w;
        w->to = g->to_host;
        return &w->stream;
    }
    struct sniff_stream_ends ends = {g->from_host, g->to_host, false};
    if (g->channel != 0) /* it is the receiver's tid */
        ends = (struct sniff_stream_ends){0, g->channel, true};
    if (all->count == STREAMS_MAX) {
        struct window_stream **at = &all->first;
        while ((*at)->next != NULL)
            at = &(*at)->next;
        drop_stream(all, at);
    }
    w = calloc(1, sizeof *w);
    if (w == NULL)
        return NULL;
    w->vm = g->head.vm;
    w->channel = g->channel;
    w->from = g->from_host;
    w->to = g->to_host;
    w->lane = lane_of(g);
    w->session = session;
    w->to_address = g->to;
    sniff_stream_init(&w->stream, &ends, 0);
    w->stream.synced = g->pieces.offset == 0;
    w->next = all->first;
    all->first = w;
    all->count++;
    return &w->stream;
}

void sniff_windows_forget(struct sniff_windows *all, uint32_t vm, uint32_t index)
{
    struct window_stream **at = &all->first;
    while (*at != NULL)
        if ((*at)->vm == vm && ((*at)->from == index || (*at)->to == index))
            drop_stream(all, at);
        else
            at = &(*at)->next;
}

void sniff_windows_destroy(struct sniff_windows *all)
{
    while (all != NULL && all->first != NULL)
        drop_stream(all, &all->first);
    free(all);
}
