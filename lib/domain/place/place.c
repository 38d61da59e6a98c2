/*
 * place.c - what members of one host, and others there, make of the speed of each.
 */
#include "lib/domain/place/place.h"

#include "lib/domain/base/error.h"

#include <math.h>
#include <string.h>

#define SLICE_S 3e-3 /* of who computes, until a member goes on that was woken */

/* Of the members of a host, which may be more than its processors. */
static double crowd(const struct covey_domain_place *place)
{
    const struct covey_domain_network *network = &place->network;
    double on_host = ceil((double)network->members / network->hosts);
    return place->processors > 0 ? fmax(on_host / place->processors, 1) : 1;
}

double domain_slower(const struct covey_domain_place *place)
{
    return crowd(place) * fmax(place->load, 1);
}

double domain_slower_even(const struct covey_domain_place *place)
{
    double members = place->network.members;
    return place->capacity > 0 ? crowd(place) * fmax(members / place->capacity, 1)
                               : domain_slower(place);
}

double domain_slower_root(const struct covey_domain_place *place)
{
    return fmax(place->load_root, 1);
}

double domain_wait_s(const struct covey_domain_place *place)
{
    return place->load >= DOMAIN_LOADED ? (place->load - 1) * SLICE_S : 0;
}

struct covey_domain_place domain_place_at_rest(const struct covey_domain_place *place)
{
    struct covey_domain_place rest = *place;
    rest.network = place->at_rest;
    rest.load = 1;
    rest.capacity = place->at_rest.members;
    rest.at_rest = (struct covey_domain_network){.members = 0};
    return rest;
}

/* ---- Out of a calibration -------------------------------------------------------------------- */

static const struct covey_calibration_host *find(const struct covey_calibration *calibration,
                                                 const char *name)
{
    for (int i = 0; name != NULL && i < calibration->host_count; i++)
        if (strcmp(calibration->hosts[i].name, name) == 0)
            return &calibration->hosts[i];
    return NULL;
}

/* Who else computes there takes part of the processors, and where there are not enough for all as
 * much as each of the tasks. */
static double load_of(const struct covey_calibration_host *host, double members)
{
    double own = fmax(1, members / host->processors);
    return fmax(1, (members + host->demand) / host->processors / own);
}

int covey_domain_place_of(const struct covey_calibration *calibration, int route, int members,
                          const char *const *hosts, int host_count,
                          struct covey_domain_place *place)
{
    struct covey_domain_place made = {.load = 1, .load_root = 1};
    int rest = 0, rest_hosts = 0;
    if (calibration == NULL || hosts == NULL || place == NULL || host_count < 1)
        return domain_fail(COVEY_EINVAL, "the calibration, the hosts or the place is NULL");
    int error = covey_domain_network_of(calibration, route, members, host_count, &made.network);
    for (int i = 0; error == 0 && i < host_count; i++) {
        const struct covey_calibration_host *host = find(calibration, hosts[i]);
        if (host == NULL || !(host->processors > 0))
            return domain_fail(COVEY_ENOHOST, "host %s was not calibrated",
                               hosts[i] != NULL ? hosts[i] : "NULL");
        int on_host = members / host_count + (i < members % host_count);
        if (i == 0 || host->processors < made.processors)
            made.processors = host->processors;
        made.touch_s = fmax(made.touch_s, host->touch_s);
        made.load = fmax(made.load, load_of(host, on_host));
        made.capacity += on_host / load_of(host, on_host);
        if (load_of(host, on_host) < DOMAIN_LOADED && on_host > 0) {
            rest += on_host;
            rest_hosts++;
        }
        if (i == 0)
            made.load_root = load_of(host, 1);
    }
    if (error == 0 && rest > 0 && rest < members &&
        covey_domain_network_of(calibration, route, rest, rest_hosts, &made.at_rest) < 0)
        made.at_rest.members = 0; /* one host, whose inside was not calibrated */
    if (error == 0)
        *place = made;
    return error;
}
