/*
 * sockaddr.c - the one place, beside proto/wire/cursor.c, that knows byte orders: addresses of
 * sockets become those of the wire and back. An IPv4 address in an IPv6 socket is the IPv4 address.
 */
#include "daemon/base/sockaddr.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IPV4_BYTES 4
#define IPV6_BYTES 16

static void address_set_ipv4(struct address *to, const void *ip, uint16_t port)
{
    *to = (struct address){.family = ADDRESS_IPV4, .size = IPV4_BYTES + 2};
    struct cursor c = cursor_writer(to->bytes, to->size);
    cursor_put_bytes(&c, ip, IPV4_BYTES);
    cursor_put_u16(&c, port);
}

static void address_set_ipv6(struct address *to, const void *ip, uint16_t port, uint32_t scope)
{
    *to = (struct address){.family = ADDRESS_IPV6, .size = IPV6_BYTES + 6};
    struct cursor c = cursor_writer(to->bytes, to->size);
    cursor_put_bytes(&c, ip, IPV6_BYTES);
    cursor_put_u16(&c, port);
    cursor_put_u32(&c, scope);
}

bool sockaddr_to_address(const union sockaddr_any *from, struct address *to)
{
    if (from->any.sa_family == AF_INET) {
        address_set_ipv4(to, &from->in.sin_addr, ntohs(from->in.sin_port));
        return true;
    }
    if (from->any.sa_family != AF_INET6)
        return false;
    const struct in6_addr *ip = &from->in6.sin6_addr;
    uint16_t port = ntohs(from->in6.sin6_port);
    if (IN6_IS_ADDR_V4MAPPED(ip))
        address_set_ipv4(to, ip->s6_addr + 12, port);
    else
        address_set_ipv6(to, ip->s6_addr, port,
                         IN6_IS_ADDR_LINKLOCAL(ip) ? from->in6.sin6_scope_id : 0);
    return true;
}

static socklen_t from_ipv4(union sockaddr_any *to, struct cursor *c, int family)
{
    uint8_t ip[IPV4_BYTES];
    cursor_get_bytes(c, ip, sizeof ip);
    in_port_t port = htons(cursor_get_u16(c));
    if (!cursor_ok(c))
        return 0;
    if (family == AF_INET) {
        to->in = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = port};
        memcpy(&to->in.sin_addr, ip, sizeof ip);
        return sizeof to->in;
    }
    to->in6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = port};
    memset(to->in6.sin6_addr.s6_addr + 10, 0xff, 2);
    memcpy(to->in6.sin6_addr.s6_addr + 12, ip, sizeof ip);
    return sizeof to->in6;
}

static socklen_t from_ipv6(union sockaddr_any *to, struct cursor *c, int family)
{
    if (family != AF_INET6)
        return 0;
    to->in6 = (struct sockaddr_in6){.sin6_family = AF_INET6};
    cursor_get_bytes(c, to->in6.sin6_addr.s6_addr, IPV6_BYTES);
    to->in6.sin6_port = htons(cursor_get_u16(c));
    to->in6.sin6_scope_id = cursor_get_u32(c);
    return cursor_ok(c) ? sizeof to->in6 : 0;
}

socklen_t sockaddr_from_address(union sockaddr_any *to, const struct address *from, int family)
{
    struct cursor c = cursor_reader(from->bytes, from->size);
    if (from->family == ADDRESS_IPV4)
        return from_ipv4(to, &c, family);
    return from->family == ADDRESS_IPV6 ? from_ipv6(to, &c, family) : 0;
}

/* Splits "[host]:port" and "host:port"; what has several colons and no brackets is all host. */
static bool split_port(const char *text, char *host, size_t size, const char **port)
{
    const char *end = strchr(text, ':');
    *port = end == NULL || strchr(end + 1, ':') != NULL ? NULL : end + 1;
    if (*port == NULL)
        end = text + strlen(text);
    if (*text == '[') {
        end = strchr(++text, ']');
        if (end == NULL || (end[1] != '\0' && end[1] != ':'))
            return false;
        *port = end[1] == ':' ? end + 2 : NULL;
    }
    if ((size_t)(end - text) >= size)
        return false;
    memcpy(host, text, (size_t)(end - text));
    host[end - text] = '\0';
    return true;
}

bool sockaddr_parse(const char *text, uint16_t port, struct address *address)
{
    char host[INET6_ADDRSTRLEN];
    const char *digits;
    uint8_t ip[IPV6_BYTES];
    if (!split_port(text, host, sizeof host, &digits))
        return false;
    if (digits != NULL) {
        char *end;
        unsigned long number = strtoul(digits, &end, 10);
        if (end == digits || *end != '\0' || number == 0 || number > 65535)
            return false;
        port = (uint16_t)number;
    }
    if (inet_pton(AF_INET, host, ip) == 1)
        address_set_ipv4(address, ip, port);
    else if (inet_pton(AF_INET6, host, ip) == 1)
        address_set_ipv6(address, ip, port, 0);
    else
        return false;
    return true;
}

static size_t port_offset(const struct address *address)
{
    return address->family == ADDRESS_IPV6 ? IPV6_BYTES : IPV4_BYTES;
}

uint16_t sockaddr_port(const struct address *address)
{
    struct cursor c = cursor_reader(address->bytes + port_offset(address), 2);
    return cursor_get_u16(&c);
}

void sockaddr_set_port(struct address *address, uint16_t port)
{
    struct cursor c = cursor_writer(address->bytes + port_offset(address), 2);
    cursor_put_u16(&c, port);
}

void sockaddr_print(const struct address *address, char *text)
{
    char ip[INET6_ADDRSTRLEN] = "?";
    struct cursor c = cursor_reader(address->bytes, address->size);
    bool six = address->family == ADDRESS_IPV6;
    const uint8_t *view = cursor_get_view(&c, six ? IPV6_BYTES : IPV4_BYTES);
    unsigned port = cursor_get_u16(&c);
    if (!cursor_ok(&c) || (!six && address->family != ADDRESS_IPV4)) {
        snprintf(text, SOCKADDR_TEXT_MAX, "unknown");
        return;
    }
    inet_ntop(six ? AF_INET6 : AF_INET, view, ip, sizeof ip);
    snprintf(text, SOCKADDR_TEXT_MAX, six ? "[%s]:%u" : "%s:%u", ip, port);
}
