/*
 * search.h - finds the classes of a code on all networks of this machine, by asking again and again
 * (proto/class/beacon.h).
 */
#ifndef COVEY_TOOLS_CLASS_SEARCH_H
#define COVEY_TOOLS_CLASS_SEARCH_H

#include "proto/class/beacon.h"
#include "tools/class/sockets.h"

#define SEARCH_FOUND_MAX 16

struct search {
    int fd;
    struct beacon question;
    uint16_t port;
    struct interface asked[NETWORKS_MAX];
    int asked_count;
    struct place
        found[SEARCH_FOUND_MAX]; /* those that search_next() has given, the last one last */
    uint8_t ids[SEARCH_FOUND_MAX][BEACON_ID_BYTES];
    bool settled[SEARCH_FOUND_MAX];
    int found_count;
    int64_t ask_ms; /* when it asks again */
};

/* 0, or -1 with errno. */
int search_begin(struct search *search, unsigned label, uint16_t port);
void search_end(struct search *search);

/* Waits for the answer of a class at a place that was not found before, until that time. False:
 * none came. */
bool search_next(struct search *search, int64_t until_ms, struct place *place);

/* The class that was found last is not the one: it is not found at another place either. */
void search_settle(struct search *search);

/* It is to be found once more. */
void search_forget(struct search *search);

#endif
