/*
 * web_flights.h - which messages flew between two looks at a VM, by pairs of tasks: the pairs with
 * most of them, and how many there are in all. Pure.
 */
#ifndef COVEY_TOOLS_WEB_FLIGHTS_H
#define COVEY_TOOLS_WEB_FLIGHTS_H

#include "tools/web/web_look.h"

#define WEB_FLIGHTS 64

struct web_flight {
    covey_tid_t from, to;
    uint64_t messages, bytes;
};

struct web_flights {
    int count, pairs;                    /* pairs is that of all */
    uint64_t messages, bytes;            /* of all */
    bool some_left_out;                  /* not all tasks were asked */
    struct web_flight rows[WEB_FLIGHTS]; /* the most messages first */
    struct web_flight *all;              /* `pairs` of them, in no order; NULL: none */
    struct covey_task_peer *before;      /* the counts of the last look; NULL: there was none */
    int before_count;
};

/* What was counted since the look before. A look that could not ask has no flights, and keeps the
 * counts; the first one has none either. */
void web_flights_take(struct web_flights *flights, const struct web_look *look);
void web_flights_end(struct web_flights *flights); /* frees what it keeps */

#endif
