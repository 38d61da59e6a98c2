/*
 * self.c - who this daemon is in the VM. The node knows it; all rooms ask here, so that none of
 * them needs the daemon's root to say where a frame comes from.
 */
#include "daemon/base/self.h"

#include "daemon/base/daemon.h"

uint32_t daemon_host(const struct daemon *d)
{
    return d->node == NULL ? 0 : node_self(d->node)->index;
}

uint32_t daemon_tid(const struct daemon *d)
{
    return tid_make(daemon_host(d), 0);
}

bool daemon_coordinates(const struct daemon *d)
{
    return node_coordinator(d->node) == daemon_host(d) && daemon_host(d) != 0;
}
