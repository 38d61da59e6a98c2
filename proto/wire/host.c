/* host.c - hosts in rooms, and the names of a host's states, from the one table of host.h. */
#include "proto/wire/host.h"

#include <assert.h>
#include <string.h>

const char *host_state_name(int state)
{
#define HOST_STATE_TEXT(name, number, text) [number] = text,
    static const char *const texts[] = {[0] = "unknown", HOST_STATES(HOST_STATE_TEXT)};
#undef HOST_STATE_TEXT
    return texts[state > 0 && state < (int)(sizeof texts / sizeof *texts) ? state : 0];
}

void host_keep(struct host *host, struct host_room *room, const struct host *source)
{
    size_t name = strlen(source->name), arch = strlen(source->arch);

    assert(name < sizeof room->name && arch < sizeof room->arch);
    assert(source->address_count <= HOST_ADDRESSES_MAX);
    memmove(room->name, source->name, name + 1);
    memmove(room->arch, source->arch, arch + 1);
    if (source->address_count > 0)
        memmove(room->addresses, source->addresses,
                source->address_count * sizeof room->addresses[0]);
    *host = *source;
    host->name = room->name;
    host->arch = room->arch;
    host->addresses = room->addresses;
}
