/*
 * An exchange in virtual time, on the machine that Wang & Ranka assume (section 2): a rank sends
 * one message and receives one at a time, which takes alpha and bytes times beta. Without a
 * topology nothing but these ports is contended; with one a message has all links of its way, too.
 *
 *   AC, S2   a rank sends its messages in their order; one whose receiver or a link is busy waits
 * in line, and holds up those behind it S1       and it waits for the receiver's signal, which
 * takes another alpha: given when what the receiver gets before has arrived and, where there are
 * phases, what it sends in earlier ones has left
 */
#ifndef COVEY_TOOLS_EXCHANGE_MODEL_H
#define COVEY_TOOLS_EXCHANGE_MODEL_H

#include <stdbool.h>

#include "covey.h"

struct exchange_model {
    double alpha_us; /* of a message, and of a signal */
    double us_byte;  /* beta, on a link of the slowest rate */
    int ranks;
    int edges; /* directed ones */
    int path_max;
    int *paths;  /* by pair of ranks, path_max edges each, the rest -1 */
    int *widths; /* by edge: messages at a time */
};

/* Sets up a model of so many ports, or of a topology with one rank on each of its hosts. Returns 0,
 * or -1 when memory is exhausted. exchange_model_destroy() frees it in either case. */
int exchange_model_create(struct exchange_model *model, int ranks, covey_topology_t *topology);
void exchange_model_destroy(struct exchange_model *model);

/* The microseconds that the messages, as covey_exchange_order() left them, take; < 0: memory is
 * exhausted. */
double exchange_model_run(const struct exchange_model *model,
                          const struct covey_exchange_message *messages, size_t count,
                          int synchrony);

#endif
