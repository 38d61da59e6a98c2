/*
 * routes.c - the program's word in which way messages take.
 */
#include "lib/member/routes.h"
#include "lib/drive/call.h"
#include "lib/engine/peer.h"
#include "lib/engine/route.h"
#include "lib/member/vm.h"
#include "lib/msg/error.h"

static int route_check_argument(const struct covey *vm, covey_tid_t tid, int route)
{
    if (vm == NULL || route < 0 || route >= ROUTES)
        return error_set(COVEY_EINVAL, "route: unknown route %d", route);
    if (tid == COVEY_ANY_TASK)
        return COVEY_OK;
    bool inside = tid_host((uint32_t)tid) == vm->self.host;
    if (inside && !routes[route].inside)
        return error_set(COVEY_EROUTE, "route %s: t%x is on the same host: take shm, tcp or auto",
                         routes[route].name, (unsigned)tid);
    if (!inside && !routes[route].outside)
        return error_set(COVEY_EROUTE, "route %s: t%x is on another host: take udp, tcp or auto",
                         routes[route].name, (unsigned)tid);
    return COVEY_OK;
}

int covey_set_route(covey_t *vm, covey_tid_t tid, int route)
{
    int error = route_check_argument(vm, tid, route);
    if (error != COVEY_OK)
        return error;
    struct call call = call_begin(vm);
    struct peer *peer = tid > 0 && tid != COVEY_ANY_TASK ? peer_get(vm, (uint32_t)tid) : NULL;
    if (tid != COVEY_ANY_TASK && peer == NULL)
        error = error_set(COVEY_EINVAL, "route: bad tid %d", (int)tid);
    else
        route_force(vm, peer, route);
    return call_end(vm, &call, error);
}

int covey_route(covey_t *vm, covey_tid_t tid)
{
    if (vm == NULL || tid <= 0)
        return error_set(COVEY_EINVAL, "route: bad tid %d", (int)tid);
    struct call call = call_begin(vm);
    return call_end(vm, &call, route_taken(vm, (uint32_t)tid));
}
