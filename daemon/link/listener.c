/*
 * listener.c - one socket for both families where there is IPv6, and one for IPv4 otherwise.
 */
#include "daemon/link/listener.h"

#include <stdbool.h>
#include <unistd.h>

#include "daemon/base/sockaddr.h"

static bool bind_at(int fd, int family, const char *text, uint16_t port)
{
    union sockaddr_any a;
    struct address address;
    const char *any = family == AF_INET6 ? "::" : "0.0.0.0";
    if (!sockaddr_parse(text[0] != '\0' ? text : any, 0, &address))
        return false;
    if (port != 0)
        sockaddr_set_port(&address, port);
    socklen_t size = sockaddr_from_address(&a, &address, family);
    return size != 0 && bind(fd, &a.any, size) == 0;
}

int listener_open(const char *bind_to, uint16_t port, int backlog)
{
    const int families[] = {AF_INET6, AF_INET};
    for (size_t i = 0; i < 2; i++) {
        int off = 0, on = port != 0,
            fd = socket(families[i], SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
            continue;
        if (families[i] == AF_INET6)
            setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on,
                   sizeof on); /* connections of the last who had the port */
        if (bind_at(fd, families[i], bind_to, port) && listen(fd, backlog) == 0)
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
