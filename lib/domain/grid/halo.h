/*
 * halo.h - the exchange of halos: what goes to which neighbour, planned once.
 */
#ifndef COVEY_LIB_DOMAIN_GRID_HALO_H
#define COVEY_LIB_DOMAIN_GRID_HALO_H

#include "lib/domain/covey_domain/base.h"
#include "lib/domain/grid/field.h"

#define HALO_DIRECTIONS 26

struct halo_link {
    int rank;
    int tag_out, tag_in;
    struct grid_box out, in; /* points of the part; points of its halo */
    size_t at;               /* in the buffer: what comes in, and behind it what goes out */
    size_t count;            /* doubles, each way */
};

/* What a halo is: how wide, which neighbours, around which axes. */
struct halo_kind {
    int width[GRID_AXES]; /* 0: the axis has no halo */
    int is_box;
    int periodic[GRID_AXES];
};

struct halo {
    covey_team_t *team; /* NULL: this member alone has all points */
    struct grid_field field;
    int links_count;
    struct halo_link links[HALO_DIRECTIONS];
    covey_req_t *requests[2 * HALO_DIRECTIONS];
    double *buffer;
    double *data;   /* the field whose exchange runs; NULL: none does */
    double seconds; /* that exchanges took this member */
    int rank;
};

/* Plans for this rank's part of the split. Its messages have tags from `tag` to tag + 26. Returns 0
 * or ENOMEM. Freed with halo_free() in each case. */
int halo_make(struct halo *halo, covey_team_t *team, const struct grid_split *split,
              const struct halo_kind *kind, int tag);
void halo_free(struct halo *halo);

/* Sends what neighbours need; between the two the points of the part may be read. Errors: those of
 * messages. The team is not broken by them. */
int halo_begin(struct halo *halo, double *data);
int halo_end(struct halo *halo);

/* Both. */
int halo_exchange(struct halo *halo, double *data);

#endif
