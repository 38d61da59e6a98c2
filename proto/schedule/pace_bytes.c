/* pace_bytes.c - see pace_bytes.h. */
#include "proto/schedule/pace_bytes.h"

#define EARLY_BYTES 8192
#define EARLY_US 100
#define EARLY_LONG_BYTES 12288
#define REST_BYTES_MIN 1448

uint64_t pace_early_bytes(uint64_t rate)
{
    return EARLY_BYTES + rate * EARLY_US / 1000000;
}

uint64_t pace_mark_bytes(uint64_t early, uint64_t bytes)
{
    uint64_t part = bytes / 4 < EARLY_LONG_BYTES ? bytes / 4 : EARLY_LONG_BYTES;
    uint64_t most = part > early ? part : early;
    return bytes > most ? bytes - most : 1;
}

uint64_t pace_rest_bytes(uint64_t mark, uint64_t received, uint64_t size)
{
    uint64_t most = received / 2 < REST_BYTES_MIN ? REST_BYTES_MIN : received / 2;
    uint64_t left = (received < mark ? mark : size) - received;
    most = most < PACE_REST_BYTES_MAX ? most : PACE_REST_BYTES_MAX;
    return left < most ? left : most;
}
