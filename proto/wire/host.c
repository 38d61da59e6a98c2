/* host.c - the names of a host's states, from the one table of host.h. */
#include "proto/wire/host.h"

const char *host_state_name(int state)
{
#define HOST_STATE_TEXT(name, number, text) [number] = text,
    static const char *const texts[] = {[0] = "unknown", HOST_STATES(HOST_STATE_TEXT)};
#undef HOST_STATE_TEXT
    return texts[state > 0 && state < (int)(sizeof texts / sizeof *texts) ? state : 0];
}
