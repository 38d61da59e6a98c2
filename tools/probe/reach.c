/* The side that probes. */
#include "tools/probe/reach.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/sockaddr.h"
#include "daemon/link/udp.h"

#define PROBE_MS 3000
#define REPEAT_MS 250 /* one datagram may be lost with good reason */

struct probe {
    const char *name;
    struct reach_target *targets;
    int count;
    struct udp *udp;
    bool outside; /* its port is not one of covey.conf: a packet filter may stop answers to it */
    struct pollfd *fds; /* [0]: udp; then HOST_ADDRESSES_MAX connections a target, -1: none */
};

/* ---- targets ---- */

static bool take_address(struct address *list, int *count, const char *text)
{
    if (*count == HOST_ADDRESSES_MAX || !sockaddr_parse(text, 0, &list[*count]))
        return false;
    (*count)++;
    return true;
}

static bool take_text(char *to, size_t size, const char *from)
{
    int n = from == NULL ? 0 : snprintf(to, size, "%s", from);
    return n > 0 && (size_t)n < size;
}

bool reach_target_parse(struct reach_target *t, char *text)
{
    *t = (struct reach_target){.udp_count = 0};
    if (!take_text(t->name, sizeof t->name, strsep(&text, ",")) ||
        !take_text(t->token, sizeof t->token, strsep(&text, ",")) ||
        strlen(t->token) != REACH_TOKEN_BYTES - 1)
        return false;
    for (const char *word; (word = strsep(&text, ",")) != NULL;) {
        bool good = false;
        if (strncmp(word, "udp=", 4) == 0)
            good = take_address(t->udp, &t->udp_count, word + 4);
        else if (strncmp(word, "tcp=", 4) == 0)
            good = take_address(t->tcp, &t->tcp_count, word + 4);
        if (!good)
            return false;
    }
    return true;
}

/* ---- UDP ---- */

static void on_probe_answer(void *context, const struct address *from, const uint8_t *bytes,
                            size_t size)
{
    const struct probe *p = context;
    size_t head = strlen(REACH_PROBE);
    for (int i = 0; i < p->count && size == head + REACH_TOKEN_BYTES - 1; i++) {
        struct reach_target *t = &p->targets[i];
        if (memcmp(bytes + head, t->token, REACH_TOKEN_BYTES - 1) != 0 || t->udp_heard)
            continue;
        t->udp_heard = true;
        t->udp_from = *from;
    }
}

/* ---- TCP ---- */

static struct pollfd *fd_of(const struct probe *p, int target, int address)
{
    return &p->fds[1 + target * HOST_ADDRESSES_MAX + address];
}

static int connect_begin(const struct address *to)
{
    union sockaddr_any a;
    bool six = to->family == ADDRESS_IPV6;
    socklen_t size = sockaddr_from_address(&a, to, six ? AF_INET6 : AF_INET);
    int fd = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && (size == 0 || (connect(fd, &a.any, size) != 0 && errno != EINPROGRESS))) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

/* The connection has something to say: the token, another machine's words, or an error. */
static void connection_read(struct reach_target *t, int address, struct pollfd *f)
{
    char text[REACH_TOKEN_BYTES];
    ssize_t n = read(f->fd, text, sizeof text);
    if (n < 0 && errno == EAGAIN)
        return;
    if (n == REACH_TOKEN_BYTES - 1 && memcmp(text, t->token, (size_t)n) == 0) {
        t->tcp_heard = true;
        t->tcp_from = t->tcp[address];
    } else {
        t->tcp_error = n < 0 ? errno : EPROTO;
    }
    close(f->fd);
    f->fd = -1;
}

/* ---- all of it ---- */

static bool settled(const struct probe *p)
{
    for (int i = 0; i < p->count; i++)
        if (!(p->targets[i].udp_heard || p->targets[i].udp_count == 0) ||
            !(p->targets[i].tcp_heard || p->targets[i].tcp_count == 0))
            return false;
    return true;
}

static void run_probe(struct probe *p)
{
    nfds_t n = 1 + (nfds_t)p->count * HOST_ADDRESSES_MAX;
    int64_t end = clock_ms() + PROBE_MS, next = 0;
    for (int64_t now; !settled(p) && (now = clock_ms()) < end;) {
        if (now >= next) {
            char text[sizeof REACH_PROBE + REACH_TOKEN_BYTES + REACH_NAME_MAX + 1];
            for (int i = 0; i < p->count; i++) {
                const struct reach_target *t = &p->targets[i];
                int size = snprintf(text, sizeof text, REACH_PROBE "%s %.63s", t->token, p->name);
                for (int k = 0; k < t->udp_count && !t->udp_heard; k++)
                    udp_send(p->udp, &t->udp[k], (const uint8_t *)text, (size_t)size);
            }
            udp_flush(p->udp);
            next = now + REPEAT_MS;
        }
        if (poll(p->fds, n, (int)(next - now)) < 0)
            return;
        if (p->fds[0].revents != 0)
            udp_receive(p->udp, on_probe_answer, p);
        for (int i = 0; i < p->count; i++)
            for (int k = 0; k < HOST_ADDRESSES_MAX; k++) {
                struct pollfd *f = fd_of(p, i, k);
                if (f->fd >= 0 && f->revents != 0)
                    connection_read(&p->targets[i], k, f);
            }
    }
}

static const char *tcp_reason(const struct reach_target *t)
{
    if (t->tcp_error == EPROTO)
        return "another machine answers";
    return t->tcp_error == 0 ? "no answer" : strerror(t->tcp_error);
}

static void print_result(const struct reach_target *t, const char *route, const char *result,
                         const struct address *from)
{
    char text[SOCKADDR_TEXT_MAX] = "";
    if (from != NULL)
        sockaddr_print(from, text);
    printf("@reached\t%s\t%s\t%s\t%s\n", t->name, route, result, text);
}

/* A daemon sends from the port on which it receives, so the probes leave from the range, too. Where
 * all its ports are taken, as by the daemons of this host, any other must do. */
static bool probe_open(struct probe *p, const struct conf *conf, struct failure *why)
{
    struct udp_config config = {
        .bind = conf->bind, .port_first = conf->port.first, .port_last = conf->port.last};
    p->udp = udp_create(&config, why);
    p->outside = p->udp == NULL;
    config.port_first = config.port_last = 0;
    if (p->outside)
        p->udp = udp_create(&config, why);
    return p->udp != NULL;
}

int reach_probe(const struct conf *conf, const char *name, struct reach_target *targets, int count,
                struct failure *why)
{
    struct probe p = {.name = name, .targets = targets, .count = count};
    if (!probe_open(&p, conf, why))
        return -1;
    p.fds = calloc(1 + (size_t)count * HOST_ADDRESSES_MAX, sizeof *p.fds);
    if (p.fds != NULL) {
        p.fds[0] = (struct pollfd){.fd = udp_fd(p.udp), .events = POLLIN};
        for (int i = 0; i < p.count; i++) {
            struct reach_target *t = &p.targets[i];
            for (int k = 0; k < HOST_ADDRESSES_MAX; k++) {
                struct pollfd *f = fd_of(&p, i, k);
                *f = (struct pollfd){.fd = -1, .events = POLLIN};
                if (k < t->tcp_count)
                    f->fd = connect_begin(&t->tcp[k]);
                if (k < t->tcp_count && f->fd < 0)
                    t->tcp_error = errno;
            }
        }
        run_probe(&p);
        for (int i = 0; i < p.count; i++) {
            const struct reach_target *t = &p.targets[i];
            if (t->udp_count > 0)
                print_result(t, "udp",
                             t->udp_heard ? "ok"
                             : p.outside  ? "no port"
                                          : "no answer",
                             t->udp_heard ? &t->udp_from : NULL);
            if (t->tcp_count > 0)
                print_result(t, "tcp", t->tcp_heard ? "ok" : tcp_reason(t),
                             t->tcp_heard ? &t->tcp_from : NULL);
        }
        puts("@ready");
    }
    int result = p.fds == NULL ? failure_set(why, "memory is exhausted") : 0;
    for (int i = 0; p.fds != NULL && i < p.count * HOST_ADDRESSES_MAX; i++)
        if (p.fds[1 + i].fd >= 0)
            close(p.fds[1 + i].fd);
    free(p.fds);
    udp_destroy(p.udp);
    return result;
}
