/* The side that answers probes. */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <sodium.h>

#include "daemon/candidate.h"
#include "daemon/examine.h"
#include "daemon/reach.h"
#include "daemon/sockaddr.h"
#include "daemon/udp.h"

#define BACKLOG 256
#define HEARD_MAX 100000 /* lines that anyone could make it print */

struct reach_server {
    char token[REACH_TOKEN_BYTES];
    struct udp *udp;
    int tcp; /* listening, or -1 */
    int heard;
    bool input_ends; /* standard input is a pipe whose end is the end */
};

/* ---- opening ---- */

static int tcp_bind(int fd, int family, const struct conf *conf)
{
    union sockaddr_any a;
    struct address address;
    const char *any = family == AF_INET6 ? "::" : "0.0.0.0";
    if (!sockaddr_parse(conf->bind[0] != '\0' ? conf->bind : any, 0, &address))
        return -1;
    socklen_t size = sockaddr_from_address(&a, &address, family);
    return size == 0 ? -1 : bind(fd, &a.any, size);
}

/* A listener for both families, or IPv4 alone where there is no IPv6. */
static int tcp_listen(const struct conf *conf)
{
    const int families[] = {AF_INET6, AF_INET};
    for (size_t i = 0; i < 2; i++) {
        int off = 0, fd = socket(families[i], SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
            continue;
        if (families[i] == AF_INET6)
            setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        if (tcp_bind(fd, families[i], conf) == 0 && listen(fd, BACKLOG) == 0)
            return fd;
        close(fd);
    }
    return -1;
}

static uint16_t tcp_port(int fd)
{
    union sockaddr_any a;
    socklen_t size = sizeof a;
    struct address address;
    if (getsockname(fd, &a.any, &size) != 0 || !sockaddr_to_address(&a, &address))
        return 0;
    return sockaddr_port(&address);
}

/* The addresses by which others are told to reach this host, with the port. */
static void print_addresses(const struct reach_server *s, const struct conf *conf, bool local,
                            const char *route, uint16_t port)
{
    struct address list[HOST_ADDRESSES_MAX];
    struct failure why;
    struct candidate_wish wish = {.local = local,
                                  .ipv6 = s->udp == NULL || udp_ipv6(s->udp),
                                  .bind = conf->bind,
                                  .address = conf->address,
                                  .interface = conf->interface,
                                  .port = port};
    int count = candidate_list(&wish, list, &why);
    for (int i = 0; i < count; i++) {
        char text[SOCKADDR_TEXT_MAX];
        if (strcmp(route, "tcp") == 0) /* a forwarded port is that of the daemon */
            sockaddr_set_port(&list[i], port);
        sockaddr_print(&list[i], text);
        printf("@%s\t%s\t%s\n", route, s->token, text);
    }
}

static void open_udp(struct reach_server *s, const struct conf *conf, bool local)
{
    struct udp_config config = {.local = local,
                                .bind = conf->bind,
                                .port_first = conf->port.first,
                                .port_last = conf->port.last};
    struct failure why;
    s->udp = udp_create(&config, &why);
    if (s->udp != NULL)
        print_addresses(s, conf, local, "udp", udp_port(s->udp));
    else if (conf->port.first == 0)
        examine_finding("udp-socket", "correct bind in covey.conf or the host file", "%s",
                        why.text);
    /* otherwise the ports of the range may all be taken by daemons that run */
}

static void open_tcp(struct reach_server *s, const struct conf *conf, bool local)
{
    s->tcp = tcp_listen(conf);
    if (s->tcp >= 0)
        print_addresses(s, conf, local, "tcp", tcp_port(s->tcp));
}

struct reach_server *reach_server_create(const struct conf *conf, bool local)
{
    uint8_t random[(REACH_TOKEN_BYTES - 1) / 2];
    struct reach_server *s = calloc(1, sizeof *s);
    struct stat input;
    if (s == NULL || sodium_init() < 0) {
        free(s);
        return NULL;
    }
    randombytes_buf(random, sizeof random);
    sodium_bin2hex(s->token, sizeof s->token, random, sizeof random);
    s->input_ends =
        fstat(STDIN_FILENO, &input) == 0 && (S_ISFIFO(input.st_mode) || S_ISSOCK(input.st_mode));
    open_udp(s, conf, local);
    open_tcp(s, conf, local);
    return s;
}

/* ---- answering ---- */

static bool name_ok(const char *name)
{
    size_t size = strlen(name);
    for (const char *at = name; *at != '\0'; at++)
        if (!isgraph((unsigned char)*at))
            return false;
    return size > 0 && size <= REACH_NAME_MAX;
}

/* A probe is "covey-probe TOKEN NAME"; the answer is its beginning. */
static void on_datagram(void *context, const struct address *from, const uint8_t *bytes,
                        size_t size)
{
    struct reach_server *s = context;
    char text[sizeof REACH_PROBE + REACH_TOKEN_BYTES + REACH_NAME_MAX + 1];
    size_t head = strlen(REACH_PROBE) + REACH_TOKEN_BYTES - 1;
    if (size >= sizeof text || size < head + 2)
        return;
    memcpy(text, bytes, size);
    text[size] = '\0';
    if (memcmp(text, REACH_PROBE, strlen(REACH_PROBE)) != 0 ||
        memcmp(text + strlen(REACH_PROBE), s->token, REACH_TOKEN_BYTES - 1) != 0 ||
        text[head] != ' ' || !name_ok(text + head + 1))
        return;
    udp_send(s->udp, from, bytes, head);
    if (s->heard++ < HEARD_MAX)
        printf("@heard\t%s\n", text + head + 1);
}

/* Whoever connects is told the token, so that it knows whom it has reached. */
static void on_connect(const struct reach_server *s)
{
    int fd;
    while ((fd = accept4(s->tcp, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        if (send(fd, s->token, REACH_TOKEN_BYTES - 1, MSG_NOSIGNAL) < 0)
            fflush(stdout); /* it is gone already */
        close(fd);
    }
}

static bool input_ended(void)
{
    char bytes[256];
    return read(STDIN_FILENO, bytes, sizeof bytes) <= 0;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void reach_server_run(struct reach_server *s, int seconds)
{
    int64_t end = now_ms() + (int64_t)seconds * 1000, left;
    struct pollfd fds[] = {{.fd = s->udp == NULL ? -1 : udp_fd(s->udp), .events = POLLIN},
                           {.fd = s->tcp, .events = POLLIN},
                           {.fd = s->input_ends ? STDIN_FILENO : -1, .events = POLLIN}};
    while ((left = end - now_ms()) > 0 && poll(fds, 3, (int)left) >= 0) {
        if (fds[0].revents != 0) {
            udp_receive(s->udp, on_datagram, s);
            udp_flush(s->udp);
        }
        if (fds[1].revents != 0)
            on_connect(s);
        if (fds[2].revents != 0 && input_ended())
            return;
    }
}

void reach_server_destroy(struct reach_server *s)
{
    if (s == NULL)
        return;
    udp_destroy(s->udp);
    if (s->tcp >= 0)
        close(s->tcp);
    free(s);
}
