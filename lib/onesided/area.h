/*
 * area.h - the memory of a window at one host: the parts of its members there, and beside each part
 * a lock and counters. The members of a host map the same area where they share memory; otherwise
 * each has one of its own part.
 *
 * All members can write to all of it, so nothing in it is believed: each computes the layout by
 * itself, from what the members said when the window was made.
 */
#ifndef COVEY_LIB_ONESIDED_AREA_H
#define COVEY_LIB_ONESIDED_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one member has in it. */
struct area_part {
    size_t bytes;
    uint32_t signals;
    size_t lock_at, signals_at, data_at; /* in the area: set by area_layout() */
};

struct area {
    uint8_t *memory;
    size_t bytes;
    int places, me; /* numbers of members at this host are 0 .. places - 1 */
    struct area_part *parts;
};

/* Sets the layout of area->parts, and area->bytes. False: it would be too large to address. */
bool area_layout(struct area *area);
/* Maps it: memory behind the descriptor, or memory of its own (-1). False: it cannot be. */
bool area_map(struct area *area, int fd);
void area_unmap(struct area *area); /* frees the parts, too */

uint8_t *area_data(const struct area *area, int place);

/* A lock has numbered tickets; kinds are those of covey_window_lock(). It is served to those with
 * lesser ones before. */
uint32_t area_ticket(const struct area *area, int place);
/* Whether it is the ticket's turn. */
bool area_is_served(const struct area *area, int place, int kind, uint32_t ticket);
/* Who is served has it, up to area_leave(). */
void area_enter(const struct area *area, int place, int kind);
void area_leave(const struct area *area, int place, int kind);

void area_signal(const struct area *area, int place, uint32_t signal, uint64_t by);
uint64_t area_signals(const struct area *area, int place, uint32_t signal);

/* The caller is about to sleep until something happens here; it looks once more behind this call.
 */
void area_ask_bell(const struct area *area);
/* Something happened: whether anybody asked for the bell since, so that the caller rings it. */
bool area_wants_bell(const struct area *area);

#endif
