/*
 * alpha and beta between each two hosts, by each route: what covey calibrate measured and covey
 * hosts --peers shows. Spawning places by them, too.
 */
#ifndef COVEY_TOOLS_PEERS_H
#define COVEY_TOOLS_PEERS_H

#include <jansson.h>

#include "covey.h"

/* A line for each pair; nothing where none was measured. An exit status. */
int peers_print(const struct covey_calibration *calibration);

/* An array with an object for each pair and route; NULL: memory is exhausted. */
json_t *peers_json(const struct covey_calibration *calibration);

#endif
