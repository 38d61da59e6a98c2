/*
 * contention_config.h - how bulk messages take turns in a VM (contention.h says why and how): what
 * covey.conf says of it, and what is handed to every host and task that joins.
 */
#ifndef COVEY_PROTO_CONTENTION_CONFIG_H
#define COVEY_PROTO_CONTENTION_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "proto/wire/cursor.h"

enum contention_mode {
    CONTENTION_OFF = 0,
    CONTENTION_STAGGER = 1,
    CONTENTION_TOKEN = 2,
    CONTENTION_TOPOLOGY = 3 /* of a VM: off but for what the topology says */
};

/* Of a whole VM: its first daemon has it from covey.conf and hands it to all that join. */
struct contention_config {
    uint8_t mode;             /* of domains of which the topology says nothing else */
    bool turns;               /* receivers take bulk messages one after the other */
    uint32_t threshold_bytes; /* what is smaller passes */
    uint32_t quantum_bytes;
    uint64_t rate; /* bits per second of a domain that has none in the topology */
};
#define CONTENTION_CONFIG_BYTES 18
void contention_config_init(struct contention_config *config); /* off, and defaults */
void contention_config_put(struct cursor *c, const struct contention_config *config);
void contention_config_get(struct cursor *c, struct contention_config *config);

/* NULL for others. */
static inline const char *contention_mode_name(int mode)
{
    static const char *const names[] = {"off", "stagger", "token", "topology"};
    return mode < CONTENTION_OFF || mode > CONTENTION_TOPOLOGY ? NULL : names[mode];
}
/* -1 for others. */
static inline int contention_mode_parse(const char *text, size_t length)
{
    int mode = CONTENTION_TOPOLOGY;
    while (mode >= 0 && (strlen(contention_mode_name(mode)) != length ||
                         memcmp(contention_mode_name(mode), text, length) != 0))
        mode--;
    return mode;
}

#endif
