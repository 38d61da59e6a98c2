/* The side that answers probes. */
#include <ctype.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "daemon/base/clock.h"
#include "daemon/base/sockaddr.h"
#include "daemon/link/candidate.h"
#include "daemon/link/listener.h"
#include "daemon/link/udp.h"
#include "tools/probe/examine.h"
#include "tools/probe/reach.h"

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
    s->tcp = listener_open(conf->bind, 0, BACKLOG);
    if (s->tcp >= 0)
        print_addresses(s, conf, local, "tcp", listener_port(s->tcp));
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
static void on_probe(void *context, const struct address *from, const uint8_t *bytes, size_t size)
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

void reach_server_run(struct reach_server *s, int seconds)
{
    int64_t end = clock_ms() + (int64_t)seconds * 1000, left;
    struct pollfd fds[] = {{.fd = s->udp == NULL ? -1 : udp_fd(s->udp), .events = POLLIN},
                           {.fd = s->tcp, .events = POLLIN},
                           {.fd = s->input_ends ? STDIN_FILENO : -1, .events = POLLIN}};
    while ((left = end - clock_ms()) > 0 && poll(fds, 3, (int)left) >= 0) {
        if (fds[0].revents != 0) {
            udp_receive(s->udp, on_probe, s);
            udp_flush(s->udp);
        }
        if (fds[1].revents != 0) {
            /* Whoever connects is told the token, so that it knows whom it has reached. */
            int fd;
            while ((fd = accept4(s->tcp, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
                if (send(fd, s->token, REACH_TOKEN_BYTES - 1, MSG_NOSIGNAL) < 0)
                    fflush(stdout); /* it is gone already */
                close(fd);
            }
        }
        char bytes[256];
        if (fds[2].revents != 0 && (read(STDIN_FILENO, bytes, sizeof bytes) <= 0))
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
