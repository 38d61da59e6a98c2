/*
 * sockets.c - see sockets.h. Addresses are read and written as text by the C library.
 */
#include "tools/class/sockets.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOOPBACK "127."
#define LOOPBACK_BROADCAST "127.255.255.255"
#define BROADCAST "255.255.255.255"

/* ---- places ---------------------------------------------------------------------------------- */

static bool place_find(const char *host, uint16_t port, int flags, struct place *place)
{
    char text[8];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV}, *list;
    snprintf(text, sizeof text, "%u", port);
    if (getaddrinfo(host, text, &hints, &list) != 0)
        return false;
    memset(place, 0, sizeof *place);
    memcpy(&place->at, list->ai_addr, list->ai_addrlen);
    place->size = list->ai_addrlen;
    freeaddrinfo(list);
    return true;
}

bool place_parse(const char *text, uint16_t port, struct place *place)
{
    char host[256];
    unsigned number = port;
    int end = 0;
    if (sscanf(text, "[%255[^]]]%n", host, &end) == 1 && end > 0 &&
        (text[end] == '\0' || (sscanf(text + end, ":%5u%n", &number, &end), number > 0)))
        return number <= UINT16_MAX && place_find(host, (uint16_t)number, 0, place);
    snprintf(host, sizeof host, "%s", text);
    char *colon = strchr(host, ':');
    if (colon != NULL && strchr(colon + 1, ':') == NULL) { /* two are an IPv6 address */
        char rest;
        if (sscanf(colon + 1, "%5u%c", &number, &rest) != 1 || number == 0 || number > UINT16_MAX)
            return false;
        *colon = '\0';
    }
    return host[0] != '\0' && place_find(host, (uint16_t)number, 0, place);
}

void place_print_host(const struct place *place, char text[PLACE_TEXT_MAX])
{
    if (getnameinfo((const struct sockaddr *)&place->at, place->size, text, PLACE_TEXT_MAX, NULL, 0,
                    NI_NUMERICHOST) != 0)
        snprintf(text, PLACE_TEXT_MAX, "?");
    if (strncmp(text, "::ffff:", 7) == 0) /* what came by IPv4 to a socket for both */
        memmove(text, text + 7, strlen(text + 7) + 1);
}

void place_print(const struct place *place, char text[PLACE_TEXT_MAX])
{
    char host[PLACE_TEXT_MAX], port[8] = "?";
    place_print_host(place, host);
    getnameinfo((const struct sockaddr *)&place->at, place->size, NULL, 0, port, sizeof port,
                NI_NUMERICSERV);
    snprintf(text, PLACE_TEXT_MAX, strchr(host, ':') ? "[%.64s]:%s" : "%.64s:%s", host, port);
}

bool place_set_port(struct place *place, uint16_t port)
{
    char host[PLACE_TEXT_MAX];
    place_print_host(place, host);
    return place_find(host, port, AI_NUMERICHOST, place);
}

bool place_is_loopback(const struct place *place)
{
    char host[PLACE_TEXT_MAX];
    place_print_host(place, host);
    return strncmp(host, LOOPBACK, strlen(LOOPBACK)) == 0 || strcmp(host, "::1") == 0;
}

static bool is_listed(const struct interface *networks, int count, unsigned index)
{
    for (int i = 0; i < count; i++)
        if (networks[i].index == index)
            return true;
    return index == 0;
}

int networks_find(struct interface networks[NETWORKS_MAX])
{
    struct ifaddrs *all = NULL;
    int count = 1;
    networks[0] = (struct interface){.name = "lo"};
    if (getifaddrs(&all) != 0)
        return count;
    for (const struct ifaddrs *i = all; i != NULL && count < NETWORKS_MAX; i = i->ifa_next) {
        const unsigned wanted = IFF_UP | IFF_BROADCAST, index = if_nametoindex(i->ifa_name);
        if (i->ifa_addr == NULL || i->ifa_addr->sa_family != AF_INET ||
            (i->ifa_flags & wanted) != wanted || is_listed(networks, count, index))
            continue;
        networks[count] = (struct interface){.index = index};
        snprintf(networks[count++].name, NETWORK_NAME_BYTES, "%s", i->ifa_name);
    }
    freeifaddrs(all);
    return count;
}

/* ---- sockets --------------------------------------------------------------------------------- */

static int close_with(int fd)
{
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static int socket_open(int family, int type, int option)
{
    const int on = 1;
    int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, option, &on, sizeof on) != 0)
        return close_with(fd);
    return fd;
}

int socket_hear(uint16_t port)
{
    struct place any;
    int fd = socket_open(AF_INET, SOCK_DGRAM, SO_REUSEADDR);
    if (fd < 0)
        return -1;
    if (!place_find("0.0.0.0", port, AI_NUMERICHOST, &any))
        errno = EINVAL;
    else if (bind(fd, (struct sockaddr *)&any.at, any.size) == 0)
        return fd;
    return close_with(fd);
}

int socket_ask(void)
{
    return socket_open(AF_INET, SOCK_DGRAM, SO_BROADCAST);
}

/* The address that means all, through an interface that is named: an interface's own broadcast
 * address may not be set. */
void socket_broadcast(int fd, const struct interface *network, uint16_t port, const void *bytes,
                      size_t size)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(struct in_pktinfo))];
    } room = {0};
    const struct in_pktinfo through = {.ipi_ifindex = (int)network->index};
    struct place to;
    if (!place_find(network->index == 0 ? LOOPBACK_BROADCAST : BROADCAST, port, AI_NUMERICHOST,
                    &to))
        return;
    struct iovec text = {(void *)bytes, size};
    struct msghdr head = {
        .msg_name = &to.at, .msg_namelen = to.size, .msg_iov = &text, .msg_iovlen = 1};
    if (network->index != 0) {
        head.msg_control = &room;
        head.msg_controllen = sizeof room;
        struct cmsghdr *c = CMSG_FIRSTHDR(&head);
        c->cmsg_level = IPPROTO_IP;
        c->cmsg_type = IP_PKTINFO;
        c->cmsg_len = CMSG_LEN(sizeof through);
        memcpy(CMSG_DATA(c), &through, sizeof through);
    }
    sendmsg(fd, &head, MSG_DONTWAIT);
}

static int listen_at(const char *host, int family, uint16_t port, int backlog)
{
    struct place any;
    const int off = 0;
    int fd = socket_open(family, SOCK_STREAM, SO_REUSEADDR);
    if (fd < 0)
        return -1;
    if (family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (!place_find(host, port, AI_NUMERICHOST, &any))
        errno = EINVAL;
    else if (bind(fd, (struct sockaddr *)&any.at, any.size) == 0 && listen(fd, backlog) == 0)
        return fd;
    return close_with(fd);
}

int socket_listen(uint16_t *port, int backlog)
{
    const uint16_t ports[] = {*port, 0};
    int fd = -1;
    for (int i = 0; i < 2 && fd < 0; i++) {
        fd = listen_at("::", AF_INET6, ports[i], backlog);
        if (fd < 0)
            fd = listen_at("0.0.0.0", AF_INET, ports[i], backlog);
    }
    struct place own = {.size = sizeof own.at};
    char text[8];
    unsigned number = 0;
    if (fd < 0)
        return -1;
    if (getsockname(fd, (struct sockaddr *)&own.at, &own.size) != 0)
        return close_with(fd);
    if (getnameinfo((struct sockaddr *)&own.at, own.size, NULL, 0, text, sizeof text,
                    NI_NUMERICSERV) == 0)
        sscanf(text, "%5u", &number);
    *port = (uint16_t)number;
    return fd;
}

int socket_accept(int listener, struct place *from)
{
    *from = (struct place){.size = sizeof from->at};
    return accept4(listener, (struct sockaddr *)&from->at, &from->size,
                   SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int socket_connect(const struct place *to)
{
    int fd = socket(to->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (connect(fd, (const struct sockaddr *)&to->at, to->size) == 0 || errno == EINPROGRESS)
        return fd;
    return close_with(fd);
}

int socket_error(int fd)
{
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 ? errno : error;
}
