/*
 * web_door.c - who may have what. The token keeps out other users of the machine and other pages
 * of the browser. A page from elsewhere, whose name its owner turned into this address once it was
 * loaded (DNS rebinding), would still have to know the token; its requests also name the host as
 * it is called there, and are refused for that. An address as the host cannot be turned into
 * another, so any is let through, with any port: the page may be seen through ssh -L.
 */
#include "tools/web/web_door.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#define HOST_BYTES 64 /* of an address as text, at most */

void web_token_make(char token[WEB_TOKEN_BYTES])
{
    uint8_t random[(WEB_TOKEN_BYTES - 1) / 2];
    while (getrandom(random, sizeof random, 0) != sizeof random)
        continue; /* only a signal before the kernel has random bits keeps it from giving so few */
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(token + 2 * i, 3, "%02x", random[i]);
}

static bool is_port(const char *text)
{
    return strlen(text) <= 5 && text[strspn(text, "0123456789")] == '\0';
}

/* Whether a field Host is an address or localhost, with or without a port. */
static bool is_literal(struct http_text text)
{
    char host[HOST_BYTES];
    uint8_t address[16];
    if (text.size == 0 || text.size >= sizeof host || memchr(text.at, '\0', text.size) != NULL)
        return false;
    snprintf(host, sizeof host, "%.*s", (int)text.size, text.at);
    char *end = host[0] == '[' ? strchr(host, ']') : host + strcspn(host, ":");
    if (end == NULL)
        return false;
    bool is_ipv6 = *end == ']';
    if (is_ipv6)
        *end++ = '\0';
    if (*end != '\0' && *end != ':')
        return false;
    if (*end == ':' && !is_port(end + 1))
        return false;
    *end = '\0';
    return is_ipv6 ? inet_pton(AF_INET6, host + 1, address) == 1
                   : inet_pton(AF_INET, host, address) == 1 || strcasecmp(host, "localhost") == 0;
}

/* The value of a field of a query; of the size 0: it is not there. */
static struct http_text query_field(struct http_text query, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = query.at, *end = at + query.size; query.size > 0 && at < end; at++) {
        const char *next = memchr(at, '&', (size_t)(end - at));
        next = next == NULL ? end : next;
        if ((size_t)(next - at) > size && memcmp(at, name, size) == 0 && at[size] == '=')
            return (struct http_text){at + size + 1, (size_t)(next - at) - size - 1};
        at = next;
    }
    return (struct http_text){"", 0};
}

enum http_verdict web_door_judge(const char *token, const char *bytes, size_t size,
                                 enum web_wish *wish)
{
    struct http_request request;
    enum http_verdict verdict = http_read(bytes, size, &request);
    if (verdict == HTTP_HEAD)
        return HTTP_METHOD;
    if (verdict != HTTP_GET)
        return verdict;
    if (!is_literal(request.host) || !http_is_secret(query_field(request.query, "token"), token))
        return HTTP_FORBIDDEN;
    *wish = http_is(request.path, "/events") ? WEB_EVENTS : WEB_PAGE;
    return *wish == WEB_EVENTS || http_is(request.path, "/") ? HTTP_GET : HTTP_NOT_FOUND;
}
