/*
 * nic.c - an interface is asked for all that raw Ethernet needs of it in one place, so that each
 * reason why it does not fit is said by name.
 */
#include "daemon/link/nic.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/sockaddr.h"
#include "proto/wire/ether.h"

/* Whether an interface's address is that one, whatever the port. */
static bool has_ip(const struct ifaddrs *i, const struct address *ip)
{
    const union sockaddr_any *a = (const union sockaddr_any *)(const void *)i->ifa_addr;
    struct address own;
    size_t size = ip->family == ADDRESS_IPV6 ? sizeof a->in6.sin6_addr : sizeof a->in.sin_addr;
    return a != NULL && sockaddr_to_address(a, &own) && own.family == ip->family &&
           memcmp(own.bytes, ip->bytes, size) == 0;
}

static int name_by_ip(struct nic *nic, const struct address *ip, struct failure *why)
{
    struct ifaddrs *first;
    char text[SOCKADDR_TEXT_MAX];
    if (getifaddrs(&first) != 0)
        return failure_set(why, "cannot list the network interfaces: %s", strerror(errno));
    for (const struct ifaddrs *i = first; i != NULL && nic->name[0] == '\0'; i = i->ifa_next)
        if (has_ip(i, ip))
            memcpy(nic->name, i->ifa_name, strnlen(i->ifa_name, sizeof nic->name - 1));
    freeifaddrs(first);
    sockaddr_print(ip, text);
    return nic->name[0] != '\0'
               ? 0
               : failure_set(why, "no interface has the address %s; name one in covey.conf", text);
}

static int nic_ask(int fd, const struct nic *nic, unsigned long what, struct ifreq *request)
{
    memset(request, 0, sizeof *request);
    memcpy(request->ifr_name, nic->name, sizeof request->ifr_name);
    return ioctl(fd, what, request);
}

static int nic_ask_all(struct nic *nic, int fd, struct failure *why)
{
    struct ifreq request;
    if (nic_ask(fd, nic, SIOCGIFINDEX, &request) != 0)
        return failure_set(why, "there is no interface %s", nic->name);
    nic->index = request.ifr_ifindex;
    if (nic_ask(fd, nic, SIOCGIFFLAGS, &request) != 0 || (request.ifr_flags & IFF_UP) == 0)
        return failure_set(why, "interface %s is not up", nic->name);
    if (nic_ask(fd, nic, SIOCGIFHWADDR, &request) != 0 ||
        request.ifr_hwaddr.sa_family != ARPHRD_ETHER)
        return failure_set(why, "interface %s is not Ethernet", nic->name);
    uint8_t mac[ETHER_MAC_BYTES];
    memcpy(mac, request.ifr_hwaddr.sa_data, sizeof mac);
    nic->mac = ether_address(mac);
    if (nic_ask(fd, nic, SIOCGIFMTU, &request) != 0)
        return failure_set(why, "interface %s has no MTU: %s", nic->name, strerror(errno));
    nic->mtu = (size_t)request.ifr_mtu;
    return 0;
}

int nic_find(struct nic *nic, const char *name, const struct address *ip, struct failure *why)
{
    *nic = (struct nic){0};
    if (name != NULL && strlen(name) >= sizeof nic->name)
        return failure_set(why, "there is no interface %s", name);
    if (name != NULL && name[0] != '\0')
        memcpy(nic->name, name, strlen(name));
    else if (name_by_ip(nic, ip, why) != 0)
        return -1;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return failure_set(why, "cannot ask about interface %s: %s", nic->name, strerror(errno));
    int error = nic_ask_all(nic, fd, why);
    close(fd);
    return error;
}
