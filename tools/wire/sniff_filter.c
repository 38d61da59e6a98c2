/*
 * sniff_filter.c - reads what the user wants to see, and judges sightings by it.
 */
#include "tools/wire/sniff_filter.h"

#include <stdlib.h>
#include <string.h>

#include "proto/wire/datagram.h"

static int refuse_more(struct failure *why)
{
    return failure_set(why, "more than %d filters of a sort", SNIFF_FILTER_MAX);
}

int sniff_filter_add_host(struct sniff_filter *f, const char *text, struct failure *why)
{
    if (f->host_count == SNIFF_FILTER_MAX)
        return refuse_more(why);
    if (*text == '\0')
        return failure_set(why, "a host has a name, an index or an address");
    f->hosts[f->host_count++] = text;
    return 0;
}

int sniff_filter_add_tid(struct sniff_filter *f, const char *text, struct failure *why)
{
    char *end;
    unsigned long tid = strtoul(*text == 't' ? text + 1 : text, &end, *text == 't' ? 16 : 0);
    if (f->tid_count == SNIFF_FILTER_MAX)
        return refuse_more(why);
    if (end == text || *end != '\0' || tid == 0 || tid > INT32_MAX)
        return failure_set(why, "'%.40s' is no tid; covey ps shows them, as t40001", text);
    f->tids[f->tid_count++] = (uint32_t)tid;
    return 0;
}

int sniff_filter_add_kind(struct sniff_filter *f, const char *text, struct failure *why)
{
    for (int kind = 0; kind <= UINT8_MAX; kind++) {
        const char *datagram = datagram_kind_name(kind), *frame = frame_kind_name(kind);
        if (f->datagram_kind_count == SNIFF_FILTER_MAX || f->frame_kind_count == SNIFF_FILTER_MAX)
            return refuse_more(why);
        if (datagram != NULL && strcmp(datagram, text) == 0)
            return f->datagram_kinds[f->datagram_kind_count++] = (uint8_t)kind, 0;
        if (frame != NULL && strcmp(frame, text) == 0)
            return f->frame_kinds[f->frame_kind_count++] = (uint8_t)kind, 0;
    }
    return failure_set(why,
                       "'%.40s' is no kind: of datagrams hello, data ..., of frames DATA, SPAWN "
                       "... as covey-sniff(1) lists them",
                       text);
}

int sniff_filter_add_lane(struct sniff_filter *f, const char *text, struct failure *why)
{
    for (int lane = 0; lane < SNIFF_LANES; lane++)
        if (strcmp(sniff_lane_name(lane), text) == 0)
            return f->lanes |= 1u << lane, 0;
    return failure_set(why, "'%.40s' is no lane: udp, ether or tcp", text);
}

/* ---- judging ---- */

/* "10.0.0.1:7000" is meant by itself, and by "10.0.0.1"; "[::1]:7000" by "::1" too. */
static bool address_fits(const struct address *address, const char *text)
{
    char whole[ADDRESS_TEXT_BYTES];
    const char *host = whole;
    if (address->family == ADDRESS_NONE)
        return false;
    address_text(address, whole);
    if (strcmp(whole, text) == 0 || address->family == ADDRESS_ETHER)
        return strcasecmp(whole, text) == 0;
    char *colon = strrchr(whole, ':');
    *colon = '\0';
    if (*host == '[') {
        host++;
        colon[-1] = '\0';
    }
    return strcmp(host, text) == 0;
}

static bool index_fits(uint32_t index, const char *text)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    return index != 0 && *end == '\0' && number == index;
}

static bool hosts_fit(const struct sniff_filter *f, const struct sighting *g)
{
    for (int i = 0; i < f->host_count; i++) {
        const char *text = f->hosts[i];
        if ((g->from_name != NULL && strcmp(g->from_name, text) == 0) ||
            (g->to_name != NULL && strcmp(g->to_name, text) == 0) ||
            index_fits(g->from_host, text) || index_fits(g->to_host, text) ||
            address_fits(&g->from, text) || address_fits(&g->to, text))
            return true;
    }
    return f->host_count == 0;
}

static bool has_tid(const struct sighting *g, uint32_t tid)
{
    if (g->from_task == tid || g->to_task == tid)
        return true;
    for (size_t i = 0; i < g->frame_count; i++)
        if (g->frames[i].frame.source == tid || g->frames[i].frame.destination == tid)
            return true;
    return false;
}

static bool tids_fit(const struct sniff_filter *f, const struct sighting *g)
{
    for (int i = 0; i < f->tid_count; i++)
        if (has_tid(g, f->tids[i]))
            return true;
    return f->tid_count == 0;
}

static bool has_frame(const struct sighting *g, uint8_t kind)
{
    for (size_t i = 0; i < g->frame_count; i++)
        if (g->frames[i].frame.kind == kind)
            return true;
    return false;
}

static bool kinds_fit(const struct sniff_filter *f, const struct sighting *g)
{
    for (int i = 0; i < f->datagram_kind_count; i++)
        if (g->what == SNIFF_DATAGRAM && g->head.kind == f->datagram_kinds[i])
            return true;
    for (int i = 0; i < f->frame_kind_count; i++)
        if (has_frame(g, f->frame_kinds[i]))
            return true;
    return f->datagram_kind_count + f->frame_kind_count == 0;
}

bool sniff_filter_passes(const struct sniff_filter *f, const struct sighting *g)
{
    return (f->lanes == 0 || (f->lanes >> g->lane & 1)) && kinds_fit(f, g) && tids_fit(f, g) &&
           hosts_fit(f, g);
}
