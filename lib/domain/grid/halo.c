/*
 * halo.c - every neighbour is sent its points in one message, and all messages are under way at
 * once, those across edges and corners, too: an exchange takes one latency in the place of one for
 * each axis. Where the neighbour across a periodic axis is the member itself, points are copied.
 *
 * Receives are started before sends, so that what arrives finds its place. A field is packed before
 * it is sent: it may change while messages are under way, but for what others need.
 */
#include "lib/domain/grid/halo.h"

#include "lib/domain/base/clock.h"

#include <stdlib.h>
#include <string.h>

static int direction_tag(const int d[GRID_AXES])
{
    return ((d[0] + 1) * 3 + d[1] + 1) * 3 + d[2] + 1;
}

/* The rank on that side of the part, or -1 outside of the grid. */
static int neighbour(const struct grid_split *split, const struct halo_kind *kind, int rank,
                     const int d[GRID_AXES])
{
    int place[GRID_AXES];
    split_place(split, rank, place);
    for (int a = 0; a < GRID_AXES; a++) {
        place[a] += d[a];
        if ((place[a] < 0 || place[a] >= split->parts[a]) && !kind->periodic[a])
            return -1;
        place[a] = (place[a] + split->parts[a]) % split->parts[a];
    }
    return split->ranks[(place[0] * split->parts[1] + place[1]) * split->parts[2] + place[2]];
}

static int is_wanted(const struct halo_kind *kind, const int d[GRID_AXES])
{
    int moved = 0;
    for (int a = 0; a < GRID_AXES; a++) {
        moved += d[a] != 0;
        if (d[a] != 0 && kind->width[a] == 0)
            return 0;
    }
    return kind->is_box ? moved > 0 : moved == 1;
}

static void link_boxes(const struct grid_box *own, const struct halo_kind *kind,
                       const int d[GRID_AXES], struct halo_link *link)
{
    link->count = 1;
    for (int a = 0; a < GRID_AXES; a++) {
        int64_t low = own->low[a], end = low + own->size[a], w = kind->width[a];
        link->out.low[a] = d[a] > 0 ? end - w : low;
        link->in.low[a] = d[a] > 0 ? end : d[a] < 0 ? low - w : low;
        link->out.size[a] = link->in.size[a] = d[a] == 0 ? own->size[a] : w;
        link->count *= (size_t)link->in.size[a];
    }
}

/* Goes through all directions in an order that both ends have. */
static void add_links(struct halo *halo, const struct grid_split *split,
                      const struct halo_kind *kind, int tag)
{
    size_t at = 0;
    for (int t = 0; t < 27; t++) {
        const int d[GRID_AXES] = {t / 9 - 1, t / 3 % 3 - 1, t % 3 - 1};
        const int back[GRID_AXES] = {-d[0], -d[1], -d[2]};
        int rank = is_wanted(kind, d) ? neighbour(split, kind, halo->rank, d) : -1;
        if (rank < 0)
            continue;
        struct halo_link *link = &halo->links[halo->links_count++];
        *link = (struct halo_link){.rank = rank,
                                   .tag_out = tag + direction_tag(d),
                                   .tag_in = tag + direction_tag(back),
                                   .at = at};
        link_boxes(&halo->field.box, kind, d, link);
        at += 2 * link->count;
    }
}

int halo_make(struct halo *halo, covey_team_t *team, const struct grid_split *split,
              const struct halo_kind *kind, int tag)
{
    struct grid_box box;
    size_t doubles = 1;
    *halo = (struct halo){.team = team, .rank = team == NULL ? 0 : covey_team_rank(team)};
    split_box(split, halo->rank, &box);
    field_make(&halo->field, &box, kind->width);
    if (halo->field.count > 0)
        add_links(halo, split, kind, tag);
    for (int i = 0; i < halo->links_count; i++)
        doubles += 2 * halo->links[i].count;
    halo->buffer = malloc(doubles * sizeof *halo->buffer);
    return halo->buffer == NULL ? COVEY_ENOMEM : 0;
}

/* Requests that did not end are given up. */
static void drop_requests(struct halo *halo)
{
    for (int i = 0; i < 2 * halo->links_count; i++)
        covey_req_free(&halo->requests[i]);
    halo->data = NULL;
}

void halo_free(struct halo *halo)
{
    drop_requests(halo);
    free(halo->buffer);
    halo->buffer = NULL;
}

/* Of the member itself: its halo in direction d is what it would send in the opposite one. */
static void copy_around(struct halo *halo, const struct halo_link *link)
{
    struct grid_box from = link->in;
    for (int a = 0; a < GRID_AXES; a++) {
        int64_t low = halo->field.box.low[a], size = halo->field.box.size[a];
        from.low[a] += from.low[a] < low ? size : from.low[a] >= low + size ? -size : 0;
    }
    field_pack(&halo->field, &from, halo->data, halo->buffer + link->at);
    field_unpack(&halo->field, &link->in, halo->buffer + link->at, halo->data);
}

static int start(struct halo *halo)
{
    int n = halo->links_count, error = 0;
    for (int i = 0; error == 0 && i < n; i++) {
        const struct halo_link *link = &halo->links[i];
        if (link->rank != halo->rank)
            error =
                covey_team_irecv_array(halo->team, link->rank, link->tag_in, COVEY_DOUBLE,
                                       halo->buffer + link->at, link->count, &halo->requests[i]);
    }
    for (int i = 0; error == 0 && i < n; i++) {
        const struct halo_link *link = &halo->links[i];
        double *out = halo->buffer + link->at + link->count;
        if (link->rank == halo->rank)
            continue;
        field_pack(&halo->field, &link->out, halo->data, out);
        error = covey_team_isend_array(halo->team, link->rank, link->tag_out, COVEY_DOUBLE, out,
                                       link->count, &halo->requests[n + i]);
    }
    return error;
}

int halo_begin(struct halo *halo, double *data)
{
    double begin = domain_now_s();
    halo->data = data;
    int error = start(halo);
    if (error < 0)
        drop_requests(halo);
    halo->seconds += domain_now_s() - begin;
    return error;
}

int halo_end(struct halo *halo)
{
    int n = halo->links_count;
    double begin = domain_now_s();
    int error = n > 0 ? covey_wait_all(halo->requests, 2 * (size_t)n, COVEY_FOREVER) : 0;
    for (int i = 0; error == 0 && i < n; i++) {
        const struct halo_link *link = &halo->links[i];
        if (link->rank == halo->rank)
            copy_around(halo, link);
        else
            field_unpack(&halo->field, &link->in, halo->buffer + link->at, halo->data);
    }
    drop_requests(halo);
    halo->seconds += domain_now_s() - begin;
    return error;
}

int halo_exchange(struct halo *halo, double *data)
{
    int error = halo_begin(halo, data);
    return error < 0 ? error : halo_end(halo);
}
