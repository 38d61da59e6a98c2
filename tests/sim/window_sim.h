/*
 * window_sim.h - windows over the simulated network. A pair of ends is one window each way; every
 * end writes a known pattern and checks what comes out, byte by byte, after every step.
 */
#ifndef COVEY_TESTS_SIM_WINDOW_SIM_H
#define COVEY_TESTS_SIM_WINDOW_SIM_H

#include "proto/window/window.h"
#include "tests/sim/network.h"

struct sim_config {
    struct network_config network;
    struct window_config window;
    uint64_t write_bytes;    /* what each end writes in all */
    size_t write_chunk;      /* at most so much in one call; 0: no bound */
    uint64_t write_pause_us; /* pause after a write, at random up to this */
    uint64_t read_pause_us;  /* likewise after a read: a slow reader */
    uint64_t freeze_us;      /* a host runs for run_us, then stands still for freeze_us ... */
    uint64_t run_us;         /* ... as under a CPU quota; 0: it always runs */
    bool one_way;            /* only the lower end of a pair writes */
    bool gaps;               /* packet numbers skip now and then */
};

struct sim_end {
    struct window *window;
    uint32_t port, peer_port, peer; /* peer: index of the other end */
    uint64_t number;                /* next packet number */
    uint64_t to_write, written, read;
    uint64_t write_us, read_us; /* not before */
    uint64_t finished_us;       /* when all had been read */
    uint64_t due_us;            /* when something is to be done here */
};

/* Datagrams that wait for a host that stands still. */
struct sim_inbox {
    struct network_datagram **at;
    size_t count, capacity;
};

struct sim {
    struct sim_config config;
    struct network *network;
    struct sim_end *ends;
    uint32_t count;
    struct sim_inbox *inboxes; /* one a port */
    uint64_t random;
    uint64_t steps;
    const char *failure; /* the first broken promise */
    bool quiet;          /* after sim_run(): nothing is under way and nobody has a deadline */
    bool trace;
};

/* A pair of ends for every pair of ports; NULL: no memory. */
struct sim *sim_create(const struct sim_config *config, bool trace);
void sim_destroy(struct sim *s);

/* Runs until the time, or until nothing is left to happen; true when everything written was read
 * and acknowledged and no promise was broken. */
bool sim_run(struct sim *s, uint64_t until_us);
bool sim_complete(const struct sim *s);

#endif
