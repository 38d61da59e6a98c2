/*
 * covey web: a page for a browser that shows the VM while it runs.
 *
 *   cmd_web.c      the command: a thread that looks, and the server that it hands its looks to
 *   web_look.c     asks the daemons
 *   web_board.c    keeps ten minutes of what they said, in rows and samples
 *   web_work.c     what a task does as bytes of them
 *   web_waits.c    who waits for what, the longest first
 *   web_told.c     what one viewer is told of it next, as events, and how much of that a second
 *   web_door.c     who may have what
 *   web_server.c   sockets
 *   page/          the page
 *
 * It is a command, which joins the VM as any console does, and no part of coveyd: every daemon can
 * be asked for the whole VM anyway, so that it runs on any host; a port is open only while a user
 * wants one, and bytes of strangers on it never reach a daemon, which has the VM's key and its
 * tasks. The daemons do nothing for it between two looks. The ten minutes begin with the command.
 *
 * HTTP is Covey's own (proto/http): the daemon's metrics need a parser of requests anyway, and what
 * a page needs besides is a query, one field, and answers that end with the connection. A library
 * (libmicrohttpd) would do that and much more, behind limits of its own; here each limit is ours:
 * bytes of a request, connections, bytes a second, and what is kept for a reader that is slow.
 *
 * The looker's thread has the connection to the VM to itself; a VM that is slow or silent holds up
 * no viewer. Looks go over one by one: while the last one was not taken there is no other.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "tools/base/arguments.h"
#include "tools/base/clock.h"
#include "tools/base/command.h"
#include "tools/base/interrupt.h"
#include "tools/web/web_server.h"

#define PERIOD_MS 2000
#define BYTES_PER_S                                                                                \
    48000 /* with a burst, and an event under way, less than 100 kB in any second                  \
           */
#define FOR_S_MAX 31536000.0

struct web {
    struct tool *tool;
    const char *listen; /* NULL: by default */
    double for_s;       /* 0: until it is interrupted */
    struct board *board;
    struct web_server *server;
    struct web_looker *looker;
    int wake_fd; /* written to when there is a look, or it is to end */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct web_look *look; /* taken, and not yet on the board */
    bool ending;
};

static const struct args_option options[] = {
    {"listen", 'l', "ADDRESS:PORT", "where to listen (127.0.0.1, a port that is free)"},
    {"for", 'f', "SECONDS", "end after so long"},
    {NULL, 0, NULL, NULL}};

/* ---- looking ---- */

static void wake(struct web *web)
{
    eventfd_write(web->wake_fd, 1);
}

/* Waits until it is time for the next look and the last one was taken; false: it is to end. */
static bool wait_for_look(struct web *web, struct timespec *at)
{
    int error = 0;
    at->tv_sec += PERIOD_MS / 1000;
    pthread_mutex_lock(&web->lock);
    while (!web->ending && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&web->changed, &web->lock, at);
    while (!web->ending && web->look != NULL)
        pthread_cond_wait(&web->changed, &web->lock);
    bool goes_on = !web->ending;
    pthread_mutex_unlock(&web->lock);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec > at->tv_sec + PERIOD_MS / 1000)
        *at = now; /* looks that took too long are not made up for */
    return goes_on;
}

static void *look_again(void *argument)
{
    struct web *web = argument;
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    do {
        struct web_look *look = web_look_take(web->looker);
        pthread_mutex_lock(&web->lock);
        web->look = look;
        pthread_mutex_unlock(&web->lock);
        wake(web);
    } while (wait_for_look(web, &at));
    return NULL;
}

static void on_interrupt(void *context, int signal_number, int count)
{
    struct web *web = context;
    (void)signal_number;
    (void)count;
    pthread_mutex_lock(&web->lock);
    web->ending = true;
    pthread_cond_broadcast(&web->changed);
    pthread_mutex_unlock(&web->lock);
    wake(web);
}

/* ---- serving ---- */

static void serve(struct web *web)
{
    int64_t until = clock_ms() + (int64_t)(web->for_s * 1000);
    for (bool ending = false; !ending;) {
        int64_t left = web->for_s > 0 ? until - clock_ms() : PERIOD_MS;
        eventfd_t times;
        web_server_run(web->server, web->wake_fd, left < PERIOD_MS ? (int)left : PERIOD_MS);
        eventfd_read(web->wake_fd, &times);
        pthread_mutex_lock(&web->lock);
        struct web_look *look = web->look;
        web->look = NULL;
        pthread_cond_broadcast(&web->changed);
        ending = web->ending;
        pthread_mutex_unlock(&web->lock);
        if (look != NULL) {
            board_take(web->board, look);
            web_look_free(look);
            web_server_tell(web->server);
        }
        ending = ending || (web->for_s > 0 && clock_ms() >= until);
    }
}

static int serve_beside_looker(struct web *web)
{
    pthread_t thread;
    struct interrupt *interrupt = interrupt_start(on_interrupt, web);
    int error = interrupt == NULL ? EAGAIN : pthread_create(&thread, NULL, look_again, web);
    if (error == 0) {
        serve(web);
        on_interrupt(web, 0, 0);
        pthread_join(thread, NULL);
    }
    interrupt_stop(&interrupt);
    return error == 0 ? TOOL_OK : tool_error("web", "no thread can be had: %s", strerror(error));
}

static int open_server(struct web *web)
{
    struct web_address address = {"127.0.0.1", "0"};
    struct web_server_settings settings = {.bytes_per_s = BYTES_PER_S};
    char why[WEB_WHY_BYTES], url[WEB_URL_BYTES];
    if (web->listen != NULL && !web_address_parse(web->listen, &address))
        return tool_usage("web", "--listen %s: must be ADDRESS:PORT, ADDRESS or PORT", web->listen);
    int status = tool_join(web->tool, "web");
    if (status != TOOL_OK)
        return status;
    web_token_make(settings.token);
    web->board = board_create(covey_vm_name(web->tool->vm), PERIOD_MS);
    web->looker = web_looker_create(web->tool);
    web->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (web->board == NULL || web->looker == NULL || web->wake_fd < 0)
        return tool_error("web", "memory is exhausted");
    web->server = web_server_create(&address, &settings, web->board, why);
    if (web->server == NULL)
        return tool_error("web", "%s", why);
    web_server_url(web->server, url);
    printf("%s\n", url);
    fflush(stdout);
    if (!web_server_is_local(web->server))
        fprintf(stderr, "covey: web: what is shown, and the token in the address, can be read by "
                        "all that is on the way there; ssh -L keeps both\n");
    return TOOL_OK;
}

static int take_web_argument(void *context, int key, const char *value)
{
    struct web *web = context;
    if (key == 'f')
        return args_real(value, 0.001, FOR_S_MAX, &web->for_s)
                   ? TOOL_OK
                   : tool_usage("web", "--for %s: must be seconds above 0, at most a year", value);
    return tool_usage("web", "%s: takes no such argument", value);
}

static int web_command(struct tool *tool, int argc, char **argv)
{
    struct web web = {.tool = tool, .wake_fd = -1};
    const struct arguments_place places[] = {{'l', .text = &web.listen}, {0}};
    int status =
        arguments_read(&(struct arguments){options, places, take_web_argument, &web}, argc, argv);
    pthread_mutex_init(&web.lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&web.changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (status == TOOL_OK)
        status = open_server(&web);
    if (status == TOOL_OK)
        status = serve_beside_looker(&web);
    web_server_destroy(web.server);
    web_looker_destroy(web.looker);
    web_look_free(web.look);
    board_destroy(web.board);
    if (web.wake_fd >= 0)
        close(web.wake_fd);
    pthread_cond_destroy(&web.changed);
    pthread_mutex_destroy(&web.lock);
    return status;
}

const struct command cmd_web = {
    .name = "web",
    .run = web_command,
    .usage = "[--listen ADDRESS:PORT] [--for SECONDS]",
    .help = "serve a page that shows the VM while it runs",
    .options = options,
};
