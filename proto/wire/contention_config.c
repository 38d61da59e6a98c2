/*
 * contention_config.c - the configuration of contention as bytes, and what holds where nothing is
 * configured.
 */
#include "proto/wire/contention_config.h"

#define THRESHOLD_BYTES 65536u
#define QUANTUM_BYTES (8u << 20)
#define RATE UINT64_C(100000000)

void contention_config_init(struct contention_config *config)
{
    *config = (struct contention_config){
        .threshold_bytes = THRESHOLD_BYTES, .quantum_bytes = QUANTUM_BYTES, .rate = RATE};
}

void contention_config_put(struct cursor *c, const struct contention_config *config)
{
    cursor_put_u8(c, config->mode);
    cursor_put_u8(c, config->turns);
    cursor_put_u32(c, config->threshold_bytes);
    cursor_put_u32(c, config->quantum_bytes);
    cursor_put_u64(c, config->rate);
}

void contention_config_get(struct cursor *c, struct contention_config *config)
{
    uint8_t mode = cursor_get_u8(c), turns = cursor_get_u8(c);
    *config = (struct contention_config){.mode = mode, .turns = turns == 1};
    config->threshold_bytes = cursor_get_u32(c);
    config->quantum_bytes = cursor_get_u32(c);
    config->rate = cursor_get_u64(c);
    if (mode > CONTENTION_TOPOLOGY || turns > 1 || config->threshold_bytes == 0 ||
        config->quantum_bytes == 0)
        c->bad = true;
}
