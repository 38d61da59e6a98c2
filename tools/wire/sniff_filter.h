/*
 * sniff_filter.h - which sightings are shown. Nothing of a sort given lets all of it pass; of
 * several, one must fit; all sorts that are given must.
 */
#ifndef COVEY_DAEMON_SNIFF_FILTER_H
#define COVEY_DAEMON_SNIFF_FILTER_H

#include "daemon/base/failure.h"
#include "tools/wire/sniffer.h"

#define SNIFF_FILTER_MAX 64 /* of each sort */

struct sniff_filter {
    const char *hosts[SNIFF_FILTER_MAX]; /* name, index, address with or without port, MAC */
    uint32_t tids[SNIFF_FILTER_MAX];
    uint8_t datagram_kinds[SNIFF_FILTER_MAX], frame_kinds[SNIFF_FILTER_MAX];
    unsigned lanes; /* bits by enum sniff_lane; 0: all */
    int host_count, tid_count, datagram_kind_count, frame_kind_count;
};

/* Each adds one; texts must outlive the filter. 0, or -1 with what is wrong with it. */
int sniff_filter_add_host(struct sniff_filter *f, const char *text, struct failure *why);
int sniff_filter_add_tid(struct sniff_filter *f, const char *text, struct failure *why);
int sniff_filter_add_kind(struct sniff_filter *f, const char *text, struct failure *why);
int sniff_filter_add_lane(struct sniff_filter *f, const char *text, struct failure *why);

bool sniff_filter_passes(const struct sniff_filter *f, const struct sighting *sighting);

#endif
