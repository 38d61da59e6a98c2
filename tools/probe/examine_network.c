/* Interfaces and the addresses that this host would offer to others. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/link/candidate.h"
#include "daemon/link/nic.h"
#include "daemon/link/raw_source.h"
#include "proto/wire/ether.h"
#include "tools/probe/examine.h"

#define LIST_BYTES 256

/* "192.0.2.1" of an interface that is up and could serve; false for all others. */
static bool usable(const struct ifaddrs *i, char text[INET6_ADDRSTRLEN])
{
    if (i->ifa_addr == NULL || !(i->ifa_flags & IFF_UP) || (i->ifa_flags & IFF_LOOPBACK))
        return false;
    const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)i->ifa_addr;
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)i->ifa_addr;
    if (i->ifa_addr->sa_family == AF_INET)
        return inet_ntop(AF_INET, &in->sin_addr, text, INET6_ADDRSTRLEN) != NULL;
    if (i->ifa_addr->sa_family != AF_INET6 || IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr))
        return false;
    return inet_ntop(AF_INET6, &in6->sin6_addr, text, INET6_ADDRSTRLEN) != NULL;
}

/* Prints all addresses; counts the interfaces and lists one address of each. */
static int list_interfaces(const struct ifaddrs *first, char list[LIST_BYTES])
{
    char text[INET6_ADDRSTRLEN], seen[LIST_BYTES] = " ", name[IF_NAMESIZE + 2];
    int count = 0;
    size_t used = 0;
    for (const struct ifaddrs *i = first; i != NULL; i = i->ifa_next) {
        if (!usable(i, text))
            continue;
        printf("@address\t%s\t%s\n", i->ifa_name, text);
        snprintf(name, sizeof name, " %s ", i->ifa_name);
        size_t end = strlen(seen);
        if (strstr(seen, name) != NULL || end + strlen(name) >= sizeof seen)
            continue;
        snprintf(seen + end, sizeof seen - end, "%s ", i->ifa_name);
        int n = snprintf(list + used, LIST_BYTES - used, "%s%s %s", count++ > 0 ? ", " : "",
                         i->ifa_name, text);
        used = (size_t)n < LIST_BYTES - used ? used + (size_t)n : used;
    }
    return count;
}

/* Whether covey-raw has a socket for this user. */
static bool covey_raw_gives(const struct nic *nic, uint16_t type, struct failure *why)
{
    struct raw_source *source = raw_source_open(nic, type, false, why);
    int fd = source == NULL ? -1 : raw_source_get(source, ETHER_CHANNEL_DAEMON, 0, why);
    raw_source_close(source);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Raw Ethernet is missed by nobody unless covey.conf wants it. */
static void examine_ether(const struct conf *conf, const struct address *ip, bool raw)
{
    struct nic nic;
    struct failure why;
    if (conf->ether.enabled != CONF_YES)
        return;
    if (nic_find(&nic, conf->ether.interface, ip, &why) != 0)
        examine_finding("no-ether", "correct interface under [ether] in covey.conf", "%s",
                        why.text);
    else if (!raw && !covey_raw_gives(&nic, conf->ether.type, &why))
        examine_finding(
            "no-ether", "as root, as covey-raw(8) says; or enabled = auto in covey.conf",
            "coveyd has no CAP_NET_RAW, which [ether] in covey.conf wants, and %s", why.text);
}

void examine_network(const struct conf *conf, bool local, bool raw)
{
    struct address addresses[HOST_ADDRESSES_MAX];
    struct candidate_wish wish = {
        .ipv6 = true, .bind = conf->bind, .address = conf->address, .interface = conf->interface};
    char list[LIST_BYTES] = "";
    struct ifaddrs *first;
    struct failure why;
    /* Two hosts that print the same here share their addresses with good reason. */
    char boot[64] = "?", space[64] = "?";
    FILE *in = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (in != NULL && fscanf(in, "%63s", boot) != 1)
        boot[0] = '?';
    if (in != NULL)
        fclose(in);
    ssize_t size = readlink("/proc/self/ns/net", space, sizeof space - 1);
    space[size > 0 ? size : 0] = '\0';
    printf("@machine\t%s %s\n", boot, space);
    if (local)
        return;
    if (candidate_list(&wish, addresses, &why) > 0)
        examine_ether(conf, &addresses[0], raw);
    else
        examine_finding("no-address",
                        "bring an interface up, or correct address, bind and "
                        "interface in covey.conf",
                        "%s", why.text);
    if (getifaddrs(&first) != 0)
        return;
    int count = list_interfaces(first, list);
    freeifaddrs(first);
    if (count > 1 && conf->bind[0] == '\0' && conf->address[0] == '\0' &&
        conf->interface[0] == '\0')
        examine_finding("several-interfaces",
                        "choose one: interface = NAME in covey.conf, or interface=NAME in the "
                        "host file",
                        "%d interfaces are offered to other hosts: %s", count, list);
}
