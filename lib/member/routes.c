/*
 * routes.c - what the routes are and can, by their numbers; and their names.
 */
#include "lib/member/routes.h"
#include "lib/msg/error.h"

#include <strings.h>

#define ROW(number, functions, ...) [number] = {__VA_ARGS__},
const struct route routes[ROUTES] = {ROUTE_TABLE(ROW)};
#undef ROW

const char *covey_route_name(int route)
{
    return route < 0 || route >= ROUTES ? "unknown" : routes[route].name;
}

int covey_route_parse(const char *name)
{
    for (int route = 0; name != NULL && route < ROUTES; route++) {
        if (strcasecmp(name, routes[route].name) == 0)
            return route;
    }
    return error_set(COVEY_EINVAL, "unknown route '%s': auto, shm, udp, tcp or ether",
                     name == NULL ? "" : name);
}

int covey_route_reach(int route)
{
    if (route < 0 || route >= ROUTES)
        return 0;
    return (routes[route].inside ? COVEY_REACH_INSIDE : 0) |
           (routes[route].outside ? COVEY_REACH_OUTSIDE : 0);
}
