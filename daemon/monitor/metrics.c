/*
 * The metrics server: the figures and counters of this daemon for Prometheus, over HTTP on a port
 * or a local socket; not unless covey.conf says so. A scraper connects, says GET /metrics, gets one
 * text, and is disconnected.
 *
 * Whoever can connect is a stranger: there are CLIENTS_MAX at once, of which the oldest that has
 * not asked goes when another comes, or else the oldest; each may send HTTP_REQUEST_MAX bytes, has
 * CLIENT_US for everything, and costs one text of some KiB once its request is whole. Nothing that
 * it says changes anything, and what the text says is no secret of the VM's. The default address is
 * the loopback.
 *
 * A client is freed by the event that ends it: its own descriptor's or its timer's, or the
 * listener's.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/base/daemon.h"
#include "daemon/base/sockaddr.h"
#include "daemon/monitor/monitor.h"
#include "daemon/monitor/stats.h"
#include "proto/http/http.h"
#include "proto/model/counter_help.h"
#include "proto/wire/list.h"

#define METRICS_PATH "/metrics"
#define CONTENT_TYPE "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
#define CLIENTS_MAX 16
#define CLIENT_US 5000000u
#define PAUSE_US 1000000u /* after an accept() that failed for lack of descriptors */

struct client {
    struct metrics *metrics;
    struct client *next;
    int fd;
    struct loop_fd *watch;
    struct loop_timer *timer;
    char request[HTTP_REQUEST_MAX];
    size_t received;
    char *answer; /* NULL: the request is not whole */
    size_t answer_bytes, sent;
};

struct metrics {
    struct daemon *daemon;
    int fd;
    struct loop_fd *watch;
    struct loop_timer *pause;
    struct client *clients;
    unsigned count;
    char path[sizeof((struct sockaddr_un *)0)->sun_path]; /* of a local socket; "": a port */
};

/* ---- the text ---- */

struct figure_row {
    enum figure figure;
    const char *name, *help;
};

static const struct figure_row rows[] = {
#define FIGURE_ROW(number, field, name, help) {FIGURE_##field, name, help},
    FIGURES(FIGURE_ROW)
#undef FIGURE_ROW
};

static void put_figures(struct daemon *d, const char *labels, FILE *out)
{
    struct figures figures;
    monitor_look(d, loop_now_us(), &figures);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double value = figures.values[rows[i].figure];
        if (value >= 0)
            fprintf(out,
                    "# HELP covey_host_%s %s\n# TYPE covey_host_%s gauge\ncovey_host_%s%s %.10g\n",
                    rows[i].name, rows[i].help, rows[i].name, rows[i].name, labels, value);
    }
}

struct counter_text {
    FILE *out;
    const char *labels;
};

static void put_counter(void *context, const char *name, uint64_t value)
{
    const struct counter_text *text = context;
    char plain[64];
    snprintf(plain, sizeof plain, "%s", name);
    for (char *c = plain; *c != '\0'; c++)
        *c = *c == '.' || *c == '-' ? '_' : *c;
    const char *help = counter_help(name);
    if (help != NULL)
        fprintf(text->out, "# HELP covey_daemon_%s %s\n", plain, help);
    fprintf(text->out, "# TYPE covey_daemon_%s untyped\ncovey_daemon_%s%s %llu\n", plain, plain,
            text->labels, (unsigned long long)value);
}

/* Everything as one text, which the caller frees; NULL: memory is exhausted. Names of VMs and hosts
 * have no character that a label would have to escape. */
static char *text_make(struct daemon *d, size_t *size)
{
    char *text = NULL, labels[256];
    FILE *out = open_memstream(&text, size);
    if (out == NULL)
        return NULL;
    snprintf(labels, sizeof labels, "{vm=\"%s\",host=\"%s\"}", d->node_config.vm, d->self.name);
    put_figures(d, labels, out);
    stats_walk(d, put_counter, &(struct counter_text){.out = out, .labels = labels});
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* ---- one client ---- */

static void client_end(struct client *client)
{
    struct metrics *m = client->metrics;
    assert(m->count > 0);
    UNLINK(m->clients, client, next);
    loop_fd_remove(&client->watch);
    loop_timer_remove(&client->timer);
    close(client->fd);
    free(client->answer);
    free(client);
    m->count--;
}

static void on_client_late(void *context)
{
    client_end(context);
}

static bool answer_make(struct client *client, enum http_verdict verdict)
{
    size_t size = 0;
    bool good = verdict == HTTP_GET || verdict == HTTP_HEAD;
    char head[HTTP_HEAD_BYTES], *text = good ? text_make(client->metrics->daemon, &size) : NULL;
    if (good && text == NULL)
        return false;
    const char *fields = good ? CONTENT_TYPE : verdict == HTTP_METHOD ? "Allow: GET, HEAD\r\n" : "";
    size_t head_bytes = http_head(verdict, fields, size, head);
    size_t body_bytes = verdict == HTTP_GET ? size : 0;
    client->answer = malloc(head_bytes + body_bytes + 1);
    if (client->answer != NULL) {
        memcpy(client->answer, head, head_bytes);
        memcpy(client->answer + head_bytes, text == NULL ? "" : text, body_bytes);
        client->answer_bytes = head_bytes + body_bytes;
    }
    free(text);
    return client->answer != NULL;
}

/* Sends what the socket takes; false: the client is done with, or lost. */
static bool client_send(struct client *client)
{
    while (client->sent < client->answer_bytes) {
        ssize_t n = send(client->fd, client->answer + client->sent,
                         client->answer_bytes - client->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN)
            return true;
        if (n <= 0)
            return false;
        client->sent += (size_t)n;
    }
    return false;
}

/* Reads what has come; false: the client is lost. */
static bool client_read(struct client *client)
{
    ssize_t n = recv(client->fd, client->request + client->received,
                     HTTP_REQUEST_MAX - client->received, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN)
        return true;
    if (n <= 0)
        return false;
    client->received += (size_t)n;
    enum http_verdict verdict = http_judge(client->request, client->received, METRICS_PATH);
    if (verdict == HTTP_MORE)
        return true;
    if (!answer_make(client, verdict))
        return false;
    loop_fd_set(client->watch, LOOP_WRITE);
    return client_send(client);
}

static void on_client(void *context, int events)
{
    struct client *client = context;
    (void)events;
    if (!(client->answer == NULL ? client_read(client) : client_send(client)))
        client_end(client);
}

/* ---- accepting ---- */

/* Of those that have not asked the oldest, or else of all; the first in the list is the latest. */
static struct client *client_oldest(const struct metrics *m)
{
    struct client *oldest = m->clients;
    for (struct client *c = oldest; c != NULL; c = c->next) {
        if (c->answer == NULL || oldest->answer != NULL)
            oldest = c;
    }
    return oldest;
}

static void client_begin(struct metrics *m, int fd)
{
    if (m->count == CLIENTS_MAX)
        client_end(client_oldest(m));
    struct client *client = calloc(1, sizeof *client);
    if (client == NULL) {
        close(fd);
        return;
    }
    *client = (struct client){.metrics = m, .fd = fd, .next = m->clients};
    client->watch = loop_fd_add(m->daemon->loop, fd, LOOP_READ, on_client, client);
    client->timer = loop_timer_add(m->daemon->loop, on_client_late, client);
    m->clients = client;
    m->count++;
    if (client->watch == NULL || client->timer == NULL)
        client_end(client);
    else
        loop_timer_start(client->timer, CLIENT_US);
}

static void on_pause_over(void *context)
{
    struct metrics *m = context;
    loop_fd_set(m->watch, LOOP_READ);
}

static void on_metrics_caller(void *context, int events)
{
    struct metrics *m = context;
    (void)events;
    int fd = accept4(m->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
        client_begin(m, fd);
        return;
    }
    if (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR)
        return;
    if (m->clients != NULL) {
        client_end(client_oldest(m));
        return;
    }
    loop_fd_set(m->watch, 0);
    loop_timer_start(m->pause, PAUSE_US);
}

/* ---- listening ---- */

static int listen_local(struct metrics *m, const struct runtime *runtime)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    size_t stem = strlen(runtime->socket) - strlen(".sock");
    int size =
        snprintf(a.sun_path, sizeof a.sun_path, "%.*s" RUNTIME_METRICS, (int)stem, runtime->socket);
    if (size < 0 || (size_t)size >= sizeof a.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    unlink(a.sun_path); /* the daemon has its host's name here for itself */
    m->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (m->fd < 0 || bind(m->fd, (struct sockaddr *)&a, sizeof a) != 0)
        return -1;
    memcpy(m->path, a.sun_path, sizeof m->path);
    return chmod(m->path, 0600) == 0 && listen(m->fd, CLIENTS_MAX) == 0 ? 0 : -1;
}

static int listen_port(struct metrics *m, const char *bind_to, uint16_t port)
{
    struct address address;
    union sockaddr_any a;
    int on = 1;
    if (!sockaddr_parse(bind_to, port, &address))
        return -1;
    int family = address.family == ADDRESS_IPV6 ? AF_INET6 : AF_INET;
    socklen_t size = sockaddr_from_address(&a, &address, family);
    m->fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (m->fd < 0)
        return -1;
    setsockopt(m->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (size > 0 && bind(m->fd, &a.any, size) == 0 && listen(m->fd, CLIENTS_MAX) == 0)
        return 0;
    int error = errno;
    close(m->fd);
    m->fd = -1;
    errno = error;
    return -1;
}

/* The first port that is free. */
static int listen_ports(struct metrics *m, struct failure *why)
{
    struct daemon *d = m->daemon;
    const struct conf_monitor *conf = &d->conf.monitor;
    for (unsigned port = conf->metrics.ports.first; port <= conf->metrics.ports.last; port++) {
        if (listen_port(m, conf->metrics_bind, (uint16_t)port) == 0) {
            log_line(&d->log, LOG_INFO, "metrics: port %u of %s", port, conf->metrics_bind);
            return 0;
        }
    }
    return failure_set(why, "metrics: cannot listen on port %u-%u of %s: %s",
                       conf->metrics.ports.first, conf->metrics.ports.last, conf->metrics_bind,
                       strerror(errno));
}

static int metrics_listen(struct metrics *m, struct failure *why)
{
    struct daemon *d = m->daemon;
    if (d->conf.monitor.metrics.where == CONF_METRICS_PORT)
        return listen_ports(m, why);
    if (listen_local(m, &d->runtime) != 0)
        return failure_set(why, "metrics: cannot listen beside %s: %s", d->runtime.socket,
                           strerror(errno));
    log_line(&d->log, LOG_INFO, "metrics: %s", m->path);
    return 0;
}

/* Listens, if that is wanted. */
static int metrics_create(struct daemon *d, struct failure *why)
{
    if (d->conf.monitor.metrics.where == CONF_METRICS_OFF)
        return 0;
    struct metrics *m = calloc(1, sizeof *m);
    d->own.metrics = m;
    if (m == NULL)
        return failure_memory(why);
    m->daemon = d;
    m->fd = -1;
    if (metrics_listen(m, why) != 0)
        return -1;
    m->watch = loop_fd_add(d->loop, m->fd, LOOP_READ, on_metrics_caller, m);
    m->pause = loop_timer_add(d->loop, on_pause_over, m);
    return m->watch == NULL || m->pause == NULL ? failure_memory(why) : 0;
}

static void metrics_destroy(struct daemon *d)
{
    struct metrics *m = d->own.metrics;
    if (m == NULL)
        return;
    while (m->clients != NULL)
        client_end(m->clients);
    loop_fd_remove(&m->watch);
    loop_timer_remove(&m->pause);
    if (m->fd >= 0)
        close(m->fd);
    if (m->path[0] != '\0')
        unlink(m->path);
    free(m);
}

const struct part metrics_part = {
    .name = "metrics", .create = metrics_create, .destroy = metrics_destroy};
