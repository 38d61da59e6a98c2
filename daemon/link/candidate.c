/*
 * candidate.c - which addresses are advertised, the best first: IPv4, then IPv6; link-local ones
 * where there is nothing better, for they are good on one segment alone.
 */
#include "daemon/link/candidate.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#include "daemon/base/sockaddr.h"

/* How good an interface address is: the ranks are listed in this order. */
enum rank { RANK_IPV4 = 0, RANK_IPV6 = 1, RANK_LINK_LOCAL = 2, RANK_NONE };

static enum rank rank_of(const struct ifaddrs *i, const struct candidate_wish *wish)
{
    bool named = wish->interface != NULL && wish->interface[0] != '\0';
    if (i->ifa_addr == NULL || !(i->ifa_flags & IFF_UP) || (i->ifa_flags & IFF_LOOPBACK))
        return RANK_NONE;
    if (named && strcmp(i->ifa_name, wish->interface) != 0)
        return RANK_NONE;
    const union sockaddr_any *a = (const union sockaddr_any *)(const void *)i->ifa_addr;
    if (a->any.sa_family == AF_INET) {
        uint32_t ip = ntohl(a->in.sin_addr.s_addr);
        if (ip >> 24 == 127 || ip == 0)
            return RANK_NONE;
        return ip >> 16 == 0xa9fe ? RANK_LINK_LOCAL : RANK_IPV4;
    }
    if (a->any.sa_family == AF_INET6 && wish->ipv6) {
        if (IN6_IS_ADDR_LOOPBACK(&a->in6.sin6_addr) || IN6_IS_ADDR_UNSPECIFIED(&a->in6.sin6_addr) ||
            IN6_IS_ADDR_MULTICAST(&a->in6.sin6_addr))
            return RANK_NONE;
        return IN6_IS_ADDR_LINKLOCAL(&a->in6.sin6_addr) ? RANK_LINK_LOCAL : RANK_IPV6;
    }
    return RANK_NONE;
}

static bool candidate_set(const struct ifaddrs *i, uint16_t port, struct address *address)
{
    union sockaddr_any a;
    memset(&a, 0, sizeof a);
    bool six = i->ifa_addr->sa_family == AF_INET6;
    memcpy(&a, i->ifa_addr, six ? sizeof a.in6 : sizeof a.in);
    if (six)
        a.in6.sin6_port = htons(port);
    else
        a.in.sin_port = htons(port);
    return sockaddr_to_address(&a, address);
}

static int candidates_of_rank(const struct ifaddrs *first, const struct candidate_wish *wish,
                              enum rank rank, struct address *list, int count)
{
    for (const struct ifaddrs *i = first; i != NULL && count < HOST_ADDRESSES_MAX; i = i->ifa_next)
        if (rank_of(i, wish) == rank && candidate_set(i, wish->port, &list[count]))
            count++;
    return count;
}

int candidate_list(const struct candidate_wish *wish, struct address *list, struct failure *why)
{
    const char *given = wish->address;
    if (given == NULL || given[0] == '\0')
        given = wish->bind;
    if ((given == NULL || given[0] == '\0') && !wish->local) {
        struct ifaddrs *first;
        if (getifaddrs(&first) != 0)
            return failure_set(why, "cannot list the network interfaces: %s", strerror(errno));
        int count = candidates_of_rank(first, wish, RANK_IPV4, list, 0);
        count = candidates_of_rank(first, wish, RANK_IPV6, list, count);
        if (count == 0)
            count = candidates_of_rank(first, wish, RANK_LINK_LOCAL, list, count);
        freeifaddrs(first);
        if (count > 0)
            return count;
        if (wish->interface != NULL && wish->interface[0] != '\0')
            return failure_set(why, "interface '%s' is not up or has no address", wish->interface);
        if (wish->loopback && sockaddr_parse("127.0.0.1", wish->port, &list[0]))
            return 1;
        return failure_set(why, "no network interface has an address that others can reach; "
                                "--loopback does without");
    }
    if (given == NULL || given[0] == '\0')
        given = "127.0.0.1";
    if (sockaddr_parse(given, wish->port, &list[0]))
        return 1;
    return failure_set(why, "'%s' is not an IP address", given);
}
