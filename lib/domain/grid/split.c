/*
 * split.c - all ways to divide three axes into so many parts are compared: their number is small,
 * for it is that of the ways to write the members as a product of three.
 *
 * When all hosts have as many members, hosts are blocks of the grid of parts: the axes are divided
 * among hosts first, and each host's block among its members. Otherwise ranks are put in the order
 * of their hosts, row by row. Members that no product can use have no points: 7 members and 2 x 3
 * points give 6 parts.
 */
#include "lib/domain/grid/split.h"

#include <stdlib.h>
#include <string.h>

#define WITHIN 2  /* what a point of the halo costs beside one of the part */
#define BETWEEN 8 /* the same from another host */

int split_part_of(int64_t n, int parts, int64_t at)
{
    int i = (int)((double)at / (double)n * parts);
    while (i > 0 && split_offset(n, parts, i) > at)
        i--;
    while (i + 1 < parts && split_offset(n, parts, i + 1) <= at)
        i++;
    return i;
}

void split_place(const struct grid_split *split, int rank, int place[GRID_AXES])
{
    int at = split->places[rank];
    for (int d = GRID_AXES - 1; d >= 0; d--) {
        place[d] = at % split->parts[d];
        at /= split->parts[d];
    }
}

static int64_t begin_of(const struct grid_split *split, int axis, int part)
{
    return split->slabs != NULL && axis == split->slab_axis
               ? split->slabs[part]
               : split_offset(split->n[axis], split->parts[axis], part);
}

void split_box(const struct grid_split *split, int rank, struct grid_box *box)
{
    int place[GRID_AXES];
    memset(box, 0, sizeof *box);
    if (split->places[rank] < 0)
        return;
    split_place(split, rank, place);
    for (int d = 0; d < GRID_AXES; d++) {
        box->low[d] = begin_of(split, d, place[d]);
        box->size[d] = begin_of(split, d, place[d] + 1) - box->low[d];
    }
}

int split_owner(const struct grid_split *split, const int64_t at[GRID_AXES])
{
    int place[GRID_AXES];
    for (int d = 0; d < GRID_AXES; d++) {
        place[d] = split_part_of(split->n[d], split->parts[d], at[d]);
        while (begin_of(split, d, place[d]) > at[d])
            place[d]--;
        while (begin_of(split, d, place[d] + 1) <= at[d])
            place[d]++;
    }
    return split->ranks[(place[0] * split->parts[1] + place[1]) * split->parts[2] + place[2]];
}

int64_t grid_box_common(const struct grid_box *a, const struct grid_box *b,
                        const int64_t moved[GRID_AXES], struct grid_box *common)
{
    for (int d = 0; d < GRID_AXES; d++) {
        int64_t low = b->low[d] + moved[d], end = low + b->size[d];
        common->low[d] = low > a->low[d] ? low : a->low[d];
        common->size[d] = end < a->low[d] + a->size[d] ? end : a->low[d] + a->size[d];
        common->size[d] -= common->low[d];
        if (common->size[d] < 0)
            common->size[d] = 0;
    }
    return grid_box_count(common);
}

int64_t split_cost(const int64_t n[GRID_AXES], const int parts[GRID_AXES],
                   const int hosts[GRID_AXES])
{
    int64_t size[GRID_AXES], points = 1, cost = 0;
    for (int d = 0; d < GRID_AXES; d++) {
        size[d] = (n[d] + parts[d] - 1) / parts[d];
        points *= size[d];
    }
    for (int d = 0; d < GRID_AXES; d++) {
        int64_t face = points / size[d];
        if (parts[d] > hosts[d])
            cost += face * WITHIN * (parts[d] > 2 * hosts[d] && hosts[d] == 1 ? 2 : 1);
        if (hosts[d] > 1)
            cost += face * BETWEEN * (hosts[d] > 2 && parts[d] == hosts[d] ? 2 : 1);
    }
    return points + cost;
}

/* ---- The search ------------------------------------------------------------------------------ */

struct search {
    const int64_t *n;
    int width;
    int used, hosts; /* hosts: 1 where they are no blocks */
    int64_t least;   /* -1: nothing found */
    int parts[GRID_AXES], host_parts[GRID_AXES];
};

static int fits(const struct search *s, const int parts[GRID_AXES])
{
    for (int d = 0; d < GRID_AXES; d++)
        if (parts[d] > 1 && s->n[d] / parts[d] < s->width)
            return 0;
    return 1;
}

/* Of equal costs the first one counts, whose slow axes have the most parts. */
static void try_hosts(struct search *s, const int parts[GRID_AXES])
{
    for (int a = s->hosts; a >= 1; a--) {
        if (s->hosts % a != 0 || parts[0] % a != 0)
            continue;
        for (int b = s->hosts / a; b >= 1; b--) {
            int hosts[GRID_AXES] = {a, b, s->hosts / a / b};
            if (s->hosts / a % b != 0 || parts[1] % b != 0 || parts[2] % hosts[2] != 0)
                continue;
            int64_t cost = split_cost(s->n, parts, hosts);
            if (s->least >= 0 && cost >= s->least)
                continue;
            s->least = cost;
            memcpy(s->parts, parts, sizeof s->parts);
            memcpy(s->host_parts, hosts, sizeof s->host_parts);
        }
    }
}

static void try_all(struct search *s)
{
    for (int a = s->used; a >= 1; a--) {
        if (s->used % a != 0)
            continue;
        for (int b = s->used / a; b >= 1; b--) {
            int parts[GRID_AXES] = {a, b, s->used / a / b};
            if (s->used / a % b == 0 && fits(s, parts))
                try_hosts(s, parts);
        }
    }
}

/* ---- Who gets what --------------------------------------------------------------------------- */

/* Ranks in the order of hosts, a host where its first rank stands. Returns the hosts, or 0 when
 * they have different numbers of members. */
static int order_ranks(const struct split_members *members, int *order)
{
    int count = 0, hosts = 0, each = 0, is_even = 1;
    for (int i = 0; i < members->count; i++) {
        int earlier = 0, begin = count;
        while (earlier < i && members->hosts[earlier] != members->hosts[i])
            earlier++;
        if (earlier < i)
            continue;
        for (int j = i; j < members->count; j++)
            if (members->hosts[j] == members->hosts[i])
                order[count++] = j;
        each = hosts++ == 0 ? count - begin : each;
        is_even &= count - begin == each;
    }
    return is_even ? hosts : 0;
}

/* The place of the i-th rank in the order of hosts. */
static int place_of(const struct grid_split *split, const int hosts[GRID_AXES], int i)
{
    int inner[GRID_AXES], at[GRID_AXES];
    for (int d = 0; d < GRID_AXES; d++)
        inner[d] = split->parts[d] / hosts[d];
    for (int d = GRID_AXES - 1; d >= 0; d--) {
        at[d] = i % inner[d];
        i /= inner[d];
    }
    for (int d = GRID_AXES - 1; d >= 0; d--) {
        at[d] += i % hosts[d] * inner[d];
        i /= hosts[d];
    }
    return (at[0] * split->parts[1] + at[1]) * split->parts[2] + at[2];
}

static void assign(struct grid_split *split, const int *order, const int hosts[GRID_AXES])
{
    for (int i = 0; i < split->members; i++) {
        split->places[i] = -1;
        split->ranks[i] = -1;
    }
    for (int i = 0; i < split->used; i++) {
        int place = place_of(split, hosts, i);
        split->places[order[i]] = place;
        split->ranks[place] = order[i];
    }
}

static int choose(struct search *s, int most, int hosts)
{
    for (s->used = most; s->used >= 1; s->used--) {
        s->hosts = s->used == most && hosts > 0 ? hosts : 1;
        try_all(s);
        if (s->least < 0 && s->hosts > 1) { /* these blocks do not fit */
            s->hosts = 1;
            try_all(s);
        }
        if (s->least >= 0)
            return 0;
    }
    return -1;
}

static int force(struct search *s, int most, int hosts, const int parts[GRID_AXES])
{
    if (parts[0] < 1 || parts[1] < 1 || parts[2] < 1 || parts[0] > most || parts[1] > most ||
        parts[2] > most || (int64_t)parts[0] * parts[1] > most ||
        (int64_t)parts[0] * parts[1] * parts[2] > most || !fits(s, parts))
        return -1;
    s->used = parts[0] * parts[1] * parts[2];
    s->hosts = s->used == most && hosts > 0 ? hosts : 1;
    try_hosts(s, parts);
    if (s->least < 0) {
        s->hosts = 1;
        try_hosts(s, parts);
    }
    return 0;
}

/* What a split has in any case. */
static int begin(struct grid_split *split, const int64_t n[GRID_AXES], int members)
{
    *split = (struct grid_split){.n = {n[0], n[1], n[2]}, .members = members};
    split->places = calloc((size_t)members, sizeof *split->places);
    split->ranks = calloc((size_t)members, sizeof *split->ranks);
    return split->places == NULL || split->ranks == NULL ? -2 : 0;
}

int split_make(struct grid_split *split, const int64_t n[GRID_AXES], int width,
               const struct split_members *members, const int parts[GRID_AXES])
{
    int count = members->count;
    int *order = calloc((size_t)count, sizeof *order);
    struct search s = {.n = n, .width = width, .least = -1};
    int error = begin(split, n, count) < 0 || order == NULL ? -2 : 0;
    int hosts = error == 0 ? order_ranks(members, order) : 0;
    int most = members->most > 0 && members->most < count ? members->most : count;
    if (most < count)
        hosts = 0;
    if (error == 0)
        error = parts[0] == 0 ? choose(&s, most, hosts) : force(&s, most, hosts, parts);
    if (error == 0) {
        memcpy(split->parts, s.parts, sizeof split->parts);
        split->used = s.used;
        assign(split, order, s.host_parts);
    }
    free(order);
    return error;
}

/* Slabs in the order of the ranks in `order`: each ends where its share and all before it do,
 * rounded up. */
static void cut(struct grid_split *split, int axis, const unsigned char *shares, const int *order)
{
    int all = 0, before = 0;
    for (int i = 0; i < split->members; i++)
        all += shares[i];
    split->slab_axis = axis;
    for (int i = 0; i < split->members; i++) {
        int rank = order[i];
        before += shares[rank];
        int64_t end = split->n[axis] - split_offset(split->n[axis], all, all - before);
        split->places[rank] = end > split->slabs[split->used] ? split->used : -1;
        if (split->places[rank] < 0)
            continue;
        split->ranks[split->used++] = rank;
        split->slabs[split->used] = end;
    }
    for (int i = split->used; i < split->members; i++)
        split->ranks[i] = -1;
    for (int d = 0; d < GRID_AXES; d++)
        split->parts[d] = d == axis ? split->used : 1;
}

int split_make_slabs(struct grid_split *split, const int64_t n[GRID_AXES], int axis,
                     const struct split_members *members, const unsigned char *shares)
{
    int *order = calloc((size_t)members->count, sizeof *order);
    int error = begin(split, n, members->count) < 0 || order == NULL ? -2 : 0;
    if (error == 0) {
        split->slabs = calloc((size_t)members->count + 1, sizeof *split->slabs);
        error = split->slabs == NULL ? -2 : 0;
    }
    if (error == 0) {
        order_ranks(members, order);
        cut(split, axis, shares, order);
    }
    free(order);
    return error;
}

static void *copy_of(const void *from, size_t bytes)
{
    void *copy = from == NULL ? NULL : malloc(bytes);
    return copy == NULL ? NULL : memcpy(copy, from, bytes);
}

int split_copy(struct grid_split *copy, const struct grid_split *split)
{
    size_t members = (size_t)split->members;
    *copy = *split;
    copy->places = copy_of(split->places, members * sizeof *split->places);
    copy->ranks = copy_of(split->ranks, members * sizeof *split->ranks);
    copy->slabs = copy_of(split->slabs, (members + 1) * sizeof *split->slabs);
    int is_whole = copy->places != NULL && copy->ranks != NULL &&
                   (copy->slabs != NULL) == (split->slabs != NULL);
    return is_whole ? 0 : -2;
}

void split_free(struct grid_split *split)
{
    free(split->places);
    free(split->ranks);
    free(split->slabs);
    split->places = NULL;
    split->ranks = NULL;
    split->slabs = NULL;
}
