/*
 * web_server.c - one poll() loop over a listening socket and at most WEB_CONNECTIONS others, each
 * of which asks, is answered and is closed, but for at most WEB_VIEWERS that get events without
 * end.
 *
 * Whoever can connect is a stranger until the door (web_door.c) let it in. It may send
 * HTTP_REQUEST_MAX bytes and has REQUEST_MS for them; where another comes and all places are
 * taken, the oldest that is no viewer goes. A viewer has one event under way, made when the last
 * one has left, and a socket buffer of VIEWER_BUFFER_BYTES; one that takes nothing for STALLED_MS
 * is dropped. So no client makes another wait, and none costs more memory than that. An answer
 * without the right token has no content.
 */
#include "tools/web/web_server.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/embed/embed.h"
#include "tools/base/clock.h"
#include "tools/web/web_told.h"

#define REQUEST_MS 5000
#define STALLED_MS 20000
#define LINGER_MS                                                                                  \
    1000              /* what is still on its way here is read, or it would take the answer back   \
                       */
#define PAUSE_MS 1000 /* after an accept() that failed for lack of descriptors */
#define VIEWER_BUFFER_BYTES 65536
#define PLACE_NONCE "@nonce@"

extern const char web_page[];
EMBED(web_page, "tools/web/page/page.html");

/* On every answer. */
#define FIELDS                                                                                     \
    "Cache-Control: no-store\r\n"                                                                  \
    "Referrer-Policy: no-referrer\r\n"                                                             \
    "X-Content-Type-Options: nosniff\r\n"                                                          \
    "Cross-Origin-Resource-Policy: same-origin\r\n"

enum web_client_is { CLIENT_ASKS, CLIENT_ANSWERED, CLIENT_LINGERS, CLIENT_VIEWS };

struct web_client {
    int fd; /* -1: the place is free */
    enum web_client_is is;
    int64_t since_ms; /* it is so; of a viewer: it took the last bytes */
    uint64_t number;  /* the order in which clients came */
    char *out;        /* what is under way to it */
    size_t out_bytes, sent;
    size_t received;
    char request[HTTP_REQUEST_MAX];
    struct web_told told;
    struct web_budget budget;
};

struct web_server {
    struct web_server_settings settings;
    const struct board *board;
    int fd;
    bool local;
    int64_t pause_until_ms;
    uint64_t numbers;
    char at[96]; /* ADDRESS:PORT */
    struct web_client clients[WEB_CONNECTIONS];
};

/* ---- clients ---- */

static void client_end(struct web_client *client)
{
    assert(client->fd >= 0);
    close(client->fd);
    free(client->out);
    *client = (struct web_client){.fd = -1};
}

static void client_becomes(struct web_client *client, enum web_client_is is)
{
    client->is = is;
    client->since_ms = clock_ms();
}

static void client_put(struct web_client *client, char *out, size_t bytes)
{
    free(client->out);
    client->out = out;
    client->out_bytes = bytes;
    client->sent = 0;
}

static int viewers(const struct web_server *server)
{
    int n = 0;
    for (int i = 0; i < WEB_CONNECTIONS; i++)
        n += server->clients[i].fd >= 0 && server->clients[i].is == CLIENT_VIEWS;
    return n;
}

/* ---- answers ---- */

/* The page with a nonce, without which the browser runs no script. */
static char *page_make(const char *nonce, size_t *bytes)
{
    char *page = NULL;
    FILE *out = open_memstream(&page, bytes);
    if (out == NULL)
        return NULL;
    const char *at = web_page;
    for (const char *place; (place = strstr(at, PLACE_NONCE)) != NULL;
         at = place + sizeof PLACE_NONCE - 1)
        fprintf(out, "%.*s%s", (int)(place - at), at, nonce);
    fputs(at, out);
    if (fclose(out) == 0)
        return page;
    free(page);
    return NULL;
}

static bool answer_put(struct web_client *client, enum http_verdict verdict, const char *fields,
                       const char *content, size_t content_bytes)
{
    char head[HTTP_HEAD_BYTES];
    size_t size = http_head(verdict, fields, content_bytes, head);
    size_t body = content_bytes == HTTP_ENDLESS ? 0 : content_bytes;
    char *out = malloc(size + body);
    assert(size > 0);
    if (out == NULL)
        return false;
    memcpy(out, head, size);
    if (body > 0)
        memcpy(out + size, content, body);
    client_put(client, out, size + body);
    return true;
}

static bool answer_page(struct web_client *client)
{
    char nonce[WEB_TOKEN_BYTES], fields[HTTP_HEAD_BYTES / 2 + sizeof FIELDS];
    size_t bytes = 0;
    web_token_make(nonce);
    char *page = page_make(nonce, &bytes);
    snprintf(fields, sizeof fields,
             FIELDS "Content-Type: text/html; charset=utf-8\r\n"
                    "Content-Security-Policy: default-src 'none'; script-src 'nonce-%s'; "
                    "style-src 'nonce-%s'; img-src data:; connect-src 'self'; base-uri 'none'; "
                    "form-action 'none'; frame-ancestors 'none'\r\n",
             nonce, nonce);
    bool made = page != NULL && answer_put(client, HTTP_GET, fields, page, bytes);
    free(page);
    return made;
}

static bool answer_events(struct web_server *server, struct web_client *client)
{
    int bytes = VIEWER_BUFFER_BYTES;
    if (!answer_put(client, HTTP_GET, FIELDS "Content-Type: text/event-stream\r\n", NULL,
                    HTTP_ENDLESS))
        return false;
    setsockopt(client->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    web_told_begin(&client->told, server->board);
    web_budget_begin(&client->budget, server->settings.bytes_per_s, clock_ms());
    return true;
}

/* Answers a request that is whole; false: memory is exhausted. */
static bool client_answer(struct web_server *server, struct web_client *client,
                          enum http_verdict verdict, enum web_wish wish)
{
    bool events = verdict == HTTP_GET && wish == WEB_EVENTS;
    if (events && viewers(server) == WEB_VIEWERS) {
        verdict = HTTP_BUSY;
        events = false;
    }
    client_becomes(client, events ? CLIENT_VIEWS : CLIENT_ANSWERED);
    if (events)
        return answer_events(server, client);
    if (verdict == HTTP_GET)
        return answer_page(client);
    return answer_put(client, verdict, verdict == HTTP_METHOD ? FIELDS "Allow: GET\r\n" : FIELDS,
                      NULL, 0);
}

/* Reads what has come; false: the client is lost. */
static bool client_read(struct web_server *server, struct web_client *client)
{
    enum web_wish wish = WEB_PAGE;
    ssize_t n = recv(client->fd, client->request + client->received,
                     HTTP_REQUEST_MAX - client->received, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (n <= 0)
        return false;
    if (client->is == CLIENT_LINGERS)
        return true;
    if (client->is != CLIENT_ASKS)
        return false; /* there is nothing more to be said */
    client->received += (size_t)n;
    enum http_verdict verdict =
        web_door_judge(server->settings.token, client->request, client->received, &wish);
    return verdict == HTTP_MORE || client_answer(server, client, verdict, wish);
}

/* Sends what the socket takes; false: the client is lost. */
static bool client_send(struct web_client *client)
{
    while (client->sent < client->out_bytes) {
        ssize_t n = send(client->fd, client->out + client->sent, client->out_bytes - client->sent,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return true;
        if (n <= 0)
            return false;
        client->sent += (size_t)n;
        if (client->is == CLIENT_VIEWS)
            client->since_ms = clock_ms();
    }
    client_put(client, NULL, 0);
    if (client->is == CLIENT_ANSWERED) {
        shutdown(client->fd, SHUT_WR);
        client->received = 0;
        client_becomes(client, CLIENT_LINGERS);
    }
    return true;
}

/* Sends a viewer what it may have now; false: it is lost. */
static bool viewer_tell(struct web_server *server, struct web_client *client, int64_t now_ms)
{
    while (client->out == NULL && web_budget_wait(&client->budget, now_ms) == 0) {
        size_t bytes = 0;
        char *event = web_told_next(&client->told, server->board, &bytes);
        if (event == NULL)
            return true;
        web_budget_spend(&client->budget, bytes);
        client_put(client, event, bytes);
        client->since_ms = now_ms;
        if (!client_send(client))
            return false;
    }
    return true;
}

/* When a client is late, in the time of clock_ms(). */
static int64_t client_end_ms(const struct web_client *client)
{
    switch (client->is) {
    case CLIENT_LINGERS:
        return client->since_ms + LINGER_MS;
    case CLIENT_VIEWS:
        return client->out == NULL ? INT64_MAX : client->since_ms + STALLED_MS;
    default:
        return client->since_ms + REQUEST_MS;
    }
}

/* ---- accepting ---- */

/* A place for another: one that is free, or that of the oldest client that is no viewer. There is
 * one, for there are fewer viewers than connections. */
static struct web_client *place_make(struct web_server *server)
{
    struct web_client *oldest = NULL;
    for (int i = 0; i < WEB_CONNECTIONS; i++) {
        struct web_client *client = &server->clients[i];
        if (client->fd < 0)
            return client;
        if (client->is != CLIENT_VIEWS && (oldest == NULL || client->number < oldest->number))
            oldest = client;
    }
    assert(oldest != NULL);
    client_end(oldest);
    return oldest;
}

static void client_accept(struct web_server *server)
{
    int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
        struct web_client *client = place_make(server);
        client->fd = fd;
        client->number = server->numbers++;
        client_becomes(client, CLIENT_ASKS);
    } else if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR) {
        server->pause_until_ms = clock_ms() + PAUSE_MS;
    }
}

/* ---- the loop ---- */

static void client_serve(struct web_server *server, struct web_client *client, int events,
                         int64_t now_ms)
{
    bool good = true;
    if (events & (POLLIN | POLLHUP | POLLERR))
        good = client_read(server, client);
    if (good && client->out != NULL)
        good = client_send(client);
    if (good && client->is == CLIENT_VIEWS)
        good = viewer_tell(server, client, now_ms);
    if (!good || now_ms >= client_end_ms(client))
        client_end(client);
}

/* How long nothing has to be done unless something comes. */
static int64_t idle_ms(struct web_server *server, int64_t now_ms)
{
    int64_t least = server->pause_until_ms > now_ms ? server->pause_until_ms - now_ms : INT64_MAX;
    for (int i = 0; i < WEB_CONNECTIONS; i++) {
        struct web_client *client = &server->clients[i];
        if (client->fd < 0)
            continue;
        int64_t end = client_end_ms(client), left = end == INT64_MAX ? end : end - now_ms;
        if (client->is == CLIENT_VIEWS && client->out == NULL) {
            int wait = web_budget_wait(&client->budget, now_ms);
            left = wait > 0 ? wait : left;
        }
        least = left < least ? left : least;
    }
    return least < 0 ? 0 : least;
}

/* One round; whether wake_fd has something. */
static bool serve_once(struct web_server *server, int wake_fd, int64_t until_ms)
{
    struct pollfd fds[WEB_CONNECTIONS + 2];
    int64_t now = clock_ms(), wait = idle_ms(server, now);
    if (wait > until_ms - now)
        wait = until_ms > now ? until_ms - now : 0;
    for (int i = 0; i < WEB_CONNECTIONS; i++) {
        const struct web_client *client = &server->clients[i];
        short events = client->out != NULL ? POLLIN | POLLOUT : POLLIN;
        fds[i] = (struct pollfd){.fd = client->fd, .events = events};
    }
    fds[WEB_CONNECTIONS] =
        (struct pollfd){.fd = now < server->pause_until_ms ? -1 : server->fd, .events = POLLIN};
    fds[WEB_CONNECTIONS + 1] = (struct pollfd){.fd = wake_fd, .events = POLLIN};
    if (poll(fds, WEB_CONNECTIONS + 2, (int)wait) < 0)
        return false;
    now = clock_ms();
    for (int i = 0; i < WEB_CONNECTIONS; i++)
        if (server->clients[i].fd >= 0)
            client_serve(server, &server->clients[i], fds[i].revents, now);
    if (fds[WEB_CONNECTIONS].revents != 0)
        client_accept(server);
    return fds[WEB_CONNECTIONS + 1].revents != 0;
}

void web_server_run(struct web_server *server, int wake_fd, int timeout_ms)
{
    int64_t until = clock_ms() + timeout_ms;
    while (!serve_once(server, wake_fd, until) && clock_ms() < until)
        continue;
}

void web_server_tell(struct web_server *server)
{
    int64_t now = clock_ms();
    for (int i = 0; i < WEB_CONNECTIONS; i++) {
        struct web_client *client = &server->clients[i];
        if (client->fd < 0 || client->is != CLIENT_VIEWS)
            continue;
        web_told_look(&client->told, server->board);
        if (!viewer_tell(server, client, now))
            client_end(client);
    }
}

/* ---- listening ---- */

bool web_address_parse(const char *text, struct web_address *address)
{
    const char *host = text, *colon = strrchr(text, ':'), *port = NULL;
    size_t host_bytes = strlen(text);
    if (*text == '\0')
        return false;
    *address = (struct web_address){"127.0.0.1", "0"};
    if (text[strspn(text, "0123456789")] == '\0') {
        port = text;
        host_bytes = 0;
    } else if (*text == '[') {
        const char *end = strchr(text, ']');
        if (end == NULL || (end[1] != '\0' && end[1] != ':'))
            return false;
        host = text + 1;
        host_bytes = (size_t)(end - host);
        port = end[1] == ':' ? end + 2 : NULL;
    } else if (colon != NULL && strchr(text, ':') == colon) {
        host_bytes = (size_t)(colon - text);
        port = colon + 1;
    }
    if (port != NULL && (strlen(port) > 5 || *port == '\0' ||
                         port[strspn(port, "0123456789")] != '\0' || atol(port) > 65535))
        return false;
    if (host_bytes >= sizeof address->host)
        return false;
    if (host_bytes > 0)
        snprintf(address->host, sizeof address->host, "%.*s", (int)host_bytes, host);
    if (port != NULL)
        snprintf(address->port, sizeof address->port, "%s", port);
    return true;
}

/* What is bound, as a browser writes it. */
static bool name_address(struct web_server *server)
{
    struct sockaddr_storage a;
    socklen_t size = sizeof a;
    char host[64], port[8];
    if (getsockname(server->fd, (struct sockaddr *)&a, &size) != 0 ||
        getnameinfo((struct sockaddr *)&a, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return false;
    server->local = strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0;
    snprintf(server->at, sizeof server->at, strchr(host, ':') != NULL ? "[%s]:%s" : "%s:%s", host,
             port);
    return true;
}

static bool server_listen(struct web_server *server, const struct web_address *address,
                          char why[WEB_WHY_BYTES])
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    int on = 1;
    if (getaddrinfo(address->host, address->port, &hints, &found) != 0) {
        snprintf(why, WEB_WHY_BYTES, "%s is no address", address->host);
        return false;
    }
    server->fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (server->fd >= 0)
        setsockopt(server->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bool good = server->fd >= 0 && bind(server->fd, found->ai_addr, found->ai_addrlen) == 0 &&
                listen(server->fd, WEB_CONNECTIONS) == 0 && name_address(server);
    if (!good)
        snprintf(why, WEB_WHY_BYTES, "cannot listen on port %s of %s: %s", address->port,
                 address->host, strerror(errno));
    freeaddrinfo(found);
    return good;
}

struct web_server *web_server_create(const struct web_address *address,
                                     const struct web_server_settings *settings,
                                     const struct board *board, char why[WEB_WHY_BYTES])
{
    struct web_server *server = calloc(1, sizeof *server);
    if (server == NULL) {
        snprintf(why, WEB_WHY_BYTES, "memory is exhausted");
        return NULL;
    }
    *server = (struct web_server){.settings = *settings, .board = board, .fd = -1};
    for (int i = 0; i < WEB_CONNECTIONS; i++)
        server->clients[i].fd = -1;
    if (!server_listen(server, address, why)) {
        web_server_destroy(server);
        return NULL;
    }
    return server;
}

void web_server_destroy(struct web_server *server)
{
    if (server == NULL)
        return;
    for (int i = 0; i < WEB_CONNECTIONS; i++)
        if (server->clients[i].fd >= 0)
            client_end(&server->clients[i]);
    if (server->fd >= 0)
        close(server->fd);
    free(server);
}

void web_server_url(const struct web_server *server, char url[WEB_URL_BYTES])
{
    snprintf(url, WEB_URL_BYTES, "http://%s/?token=%s", server->at, server->settings.token);
}

bool web_server_is_local(const struct web_server *server)
{
    return server->local;
}
