/*
 * fault.h - what a bad network does to a datagram, drawn from a seed: loss, duplication,
 * reordering, delay, corruption. It decides and touches nothing; fault_line.h carries it out in the
 * daemon, tests/sim/network.c in the simulator.
 *
 * As text: `loss=0.05,dup=0.01,reorder=0.05,corrupt=0.001,delay=0.001,hold=0.002,seed=7`, any of
 * them, chances in 0 .. 1, times in seconds.
 */
#ifndef COVEY_PROTO_FAULT_H
#define COVEY_PROTO_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAULT_MILLION 1000000u
#define FAULT_COPIES_MAX 2
#define FAULT_TEXT_MAX 160
#define FAULT_INTACT SIZE_MAX

struct fault_config {
    uint32_t loss_ppm, duplicate_ppm; /* chances in a million, per datagram */
    uint32_t reorder_ppm;             /* of being held back by up to hold_us, per copy */
    uint32_t corrupt_ppm;             /* of one flipped bit, per copy */
    uint32_t delay_us;                /* of every copy */
    uint32_t hold_us;
    uint64_t seed;
};

struct fault_stats {
    uint64_t lost, duplicated, reordered, corrupted;
};

struct fault {
    struct fault_config config;
    struct fault_stats stats;
    uint64_t random;
};

/* What becomes of one copy. */
struct fault_copy {
    uint64_t after_us; /* it goes on so much later */
    bool reordered;    /* ... than those that are sent after it may */
    size_t bit;        /* this bit of it is flipped; FAULT_INTACT: none */
};

/* Reads the text over *config. Returns 0, or -1 and leaves *config. */
int fault_parse(const char *text, struct fault_config *config);
/* Writes what fault_parse() reads; text has FAULT_TEXT_MAX bytes. Empty: nothing goes wrong. */
void fault_print(const struct fault_config *config, char *text);
bool fault_any(const struct fault_config *config);

void fault_init(struct fault *fault, const struct fault_config *config);
/* Draws the lot of a datagram of `size` bytes: how many copies of it go on, 0 .. FAULT_COPIES_MAX.
 */
unsigned fault_draw(struct fault *fault, size_t size, struct fault_copy copies[FAULT_COPIES_MAX]);

#endif
