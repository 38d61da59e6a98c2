/*
 * window_mtu.h - path MTU discovery (RFC 8899, reduced): the largest payload that arrives, searched
 * upwards by probes while there is bulk to send; a black hole falls back to the floor.
 */
#ifndef COVEY_PROTO_WINDOW_MTU_H
#define COVEY_PROTO_WINDOW_MTU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mtu {
    size_t floor, ceiling; /* from the configuration */
    size_t size;           /* known to arrive */
    size_t high;           /* nothing larger is tried */
    size_t probe;          /* size of the probe under way, 0: none */
    unsigned failures;     /* probes of that size that were lost */
    bool done;
    uint64_t done_us;
    uint64_t acked_bytes; /* since the search began: no bulk, no probe */
    unsigned large_lost;  /* packets above the floor lost since one arrived */
    uint64_t large_acked_us;
};

void mtu_init(struct mtu *m, size_t floor, size_t ceiling);

/* The size of the probe that should be sent now, 0: none. */
size_t mtu_probe_wanted(struct mtu *m, uint64_t now_us);
void mtu_probe_sent(struct mtu *m, size_t size);
void mtu_probe_acked(struct mtu *m, size_t size, uint64_t now_us);
void mtu_probe_lost(struct mtu *m, size_t size, uint64_t now_us);

/* What happened to ordinary packets. mtu_lost() returns true when it fell back to the floor. */
void mtu_acked(struct mtu *m, size_t size, uint64_t now_us);
bool mtu_lost(struct mtu *m, size_t size, uint64_t patience_us, uint64_t now_us);

#endif
