/*
 * listener.c - one socket for both families where there is IPv6, and one for IPv4 otherwise.
 */
#include "daemon/link/listener.h"

#include <stdbool.h>
#include <unistd.h>

#include "daemon/base/sockaddr.h"

static bool bind_at(int fd, int family, const char *text)
{
    union sockaddr_any a;
    struct address address;
    const char *any = family == AF_INET6 ? "::" : "0.0.0.0";
    if (!sockaddr_parse(text[0] != '\0' ? text : any, 0, &address))
        return false;
    socklen_t size = sockaddr_from_address(&a, &address, family);
    return size != 0 && bind(fd, &a.any, size) == 0;
}

int listener_open(const char *bind_to, int backlog)
{
    const int families[] = {AF_INET6, AF_INET};
    for (size_t i = 0; i < 2; i++) {
        int off = 0, fd = socket(families[i], SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
            continue;
        if (families[i] == AF_INET6)
            setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        if (bind_at(fd, families[i], bind_to) && listen(fd, backlog) == 0)
            return fd;
        close(fd);
    }
    return -1;
}

uint16_t listener_port(int fd)
{
    union sockaddr_any a;
    socklen_t size = sizeof a;
    struct address address;
    bool known = getsockname(fd, &a.any, &size) == 0 && sockaddr_to_address(&a, &address);
    return known ? sockaddr_port(&address) : 0;
}
