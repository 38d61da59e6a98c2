/*
 * network.h - the simulated network: datagrams between numbered ports under a virtual clock and a
 * seed. Everything that happens follows from the seed and the calls, so a run can be replayed.
 *
 * A datagram goes out of its sender's port (rate, queue), may be lost, doubled, corrupted or held
 * back (so that later ones overtake it) by the lots of proto/session/fault.h, takes the delay, and
 * comes in at its receiver's port (rate, queue again: where several senders meet). A queue that is
 * full drops what comes.
 *
 * The caller owns time: he looks at network_next(), at the deadlines of his own engines, moves the
 * clock to the earliest by network_advance() and takes what is due by network_take().
 */
#ifndef COVEY_TESTS_SIM_NETWORK_H
#define COVEY_TESTS_SIM_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NETWORK_MILLION 1000000u

struct network_config {
    uint64_t seed;
    uint32_t ports;    /* numbered 0 .. ports-1 */
    uint32_t loss_ppm; /* chances in a million, per datagram */
    uint32_t duplicate_ppm;
    uint32_t reorder_ppm; /* held back by up to reorder_us more */
    uint32_t corrupt_ppm; /* one bit is flipped */
    uint64_t delay_us;    /* one way */
    uint64_t jitter_us;   /* up to so much more, without overtaking */
    uint64_t reorder_us;
    uint64_t rate_bytes_s; /* of each port, each way; 0: unlimited */
    size_t queue_bytes;    /* of each port, each way; 0: unlimited */
    size_t datagram_bytes; /* larger ones vanish; 0: no limit */
    size_t overhead_bytes; /* what headers add to each datagram on the wire */
};

struct network_datagram {
    uint32_t from, to;
    size_t size;
    uint8_t bytes[];
};

struct network_stats {
    uint64_t sent, delivered, lost, duplicated, reordered, corrupted, overflowed, too_large, cut;
};

struct network *network_create(const struct network_config *config); /* NULL: no memory */
void network_destroy(struct network *n);

/* Changes chances, delays and sizes from now on; seed and ports stay. */
void network_configure(struct network *n, const struct network_config *config);

uint64_t network_now(const struct network *n);
void network_advance(struct network *n, uint64_t now_us); /* never back */

/* Sends at the present time. The bytes are copied. */
void network_send(struct network *n, uint32_t from, uint32_t to, const void *bytes, size_t size);

/* When the next datagram is due, UINT64_MAX for never. */
uint64_t network_next(const struct network *n);

/* Takes a datagram that is due by now; the caller frees it. NULL: none is due. */
struct network_datagram *network_take(struct network *n);

/* Cuts or heals both directions between two ports, one direction, or a port from all others.
 * Datagrams under way arrive; new ones vanish. */
void network_cut(struct network *n, uint32_t a, uint32_t b, bool cut);
void network_cut_one_way(struct network *n, uint32_t from, uint32_t to, bool cut);
void network_isolate(struct network *n, uint32_t port, bool cut);

void network_stats(const struct network *n, struct network_stats *stats);

/* Seeded numbers for whoever simulates (splitmix64): any, below a bound, true with a chance. */
uint64_t random_next(uint64_t *state);
uint64_t random_below(uint64_t *state, uint64_t bound);
bool random_chance(uint64_t *state, uint32_t ppm);

#endif
