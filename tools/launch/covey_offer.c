/*
 * covey-offer: a launcher that has another program start the daemon, one that runs a command on a
 * host and gives back its first line, but cannot write to it. The VM's key does not pass through
 * that program; see ticket.h. Templates of users call it as `coveyd --offer`.
 *
 * One offer: a listener, a program that is to return a line, and those who connect. Anyone may
 * connect: who does not present the key of the line is disconnected, and who does without being its
 * owner gets what he cannot read; so there may be several. When there are too many the oldest goes
 * that was not served: the guest comes again. It ends with the first that says "ok", or with time.
 *
 *   program: line -> the guest's key is known
 *   client:  key -> (once that is known) the sealed invitation -> a line, which is passed on
 *
 * It holds the VM's key for less than a minute, as every launcher does, and needs no privilege.
 */
#include <errno.h>
#include <poll.h>
#include <sodium.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/sockaddr.h"
#include "daemon/launch/launcher.h"
#include "daemon/launch/ticket.h"
#include "daemon/link/listener.h"
#include "daemon/process/helper.h"
#include "proto/wire/frame.h"

#define OFFER_MS 29000
#define CLIENTS_MAX 64
#define ACCEPT_AGAIN_MS 100
#define SAID_MAX 256
#define TID_TEXT_MAX 16

struct client {
    int fd;          /* -1: none */
    uint64_t number; /* counts those that came */
    uint8_t key[TICKET_KEY_BYTES];
    size_t key_size;
    bool served;
    char said[SAID_MAX];
    size_t said_size;
};

struct offer {
    struct ticket_keys keys;
    struct control_bootstrap invitation;
    char line[BOOTSTRAP_LINE_MAX]; /* the same, as it is sent */
    int listener;
    int program; /* its standard output; -1: it has ended or said enough */
    pid_t pid;
    char said[SAID_MAX];
    size_t said_size;
    bool known; /* the guest's key */
    uint8_t guest[TICKET_KEY_BYTES];
    struct client clients[CLIENTS_MAX];
    uint64_t came;
    int64_t accept_ms; /* not before then: descriptors are exhausted */
};

/* ---- where it is offered --------------------------------------------------------------------- */

/* The daemon that invites runs here: its addresses are those by which others reach this host. */
static int ticket_make(struct offer *o, struct ticket *ticket, struct failure *why)
{
    const struct host *here = &o->invitation.coordinator;
    o->listener = listener_open("", 0, CLIENTS_MAX);
    uint16_t port = o->listener < 0 ? 0 : listener_port(o->listener);
    if (port == 0)
        return failure_set(why, "cannot listen: %s", strerror(errno));
    memcpy(ticket->key, o->keys.own, sizeof ticket->key);
    for (size_t i = 0; i < here->address_count; i++) {
        if (here->addresses[i].family == ADDRESS_ETHER)
            continue;
        ticket->at[ticket->count] = here->addresses[i];
        sockaddr_set_port(&ticket->at[ticket->count++], port);
    }
    return ticket->count > 0 ? 0 : failure_set(why, "this host has no address");
}

/* ---- the program ----------------------------------------------------------------------------- */

static int spawn_program(struct offer *o, char **argv, struct failure *why)
{
    int ends[2];
    posix_spawn_file_actions_t actions;
    if (pipe(ends) != 0 || posix_spawn_file_actions_init(&actions) != 0)
        return failure_set(why, "out of descriptors or memory");
    int error = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_addclose(&actions, ends[0]);
    if (error == 0)
        error = posix_spawnp(&o->pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    o->program = ends[0];
    return error == 0 ? 0 : failure_set(why, "%s: %s", argv[0], strerror(error));
}

/* The program's own words, the host's tid and the command with the ticket. */
static int start_program(struct offer *o, char **operands, int count, int run,
                         const struct ticket *ticket, struct failure *why)
{
    char text[TICKET_TEXT_MAX], tid[TID_TEXT_MAX], line[LAUNCHER_LINE_MAX];
    int rest = count - run - 1;
    char **words = calloc((size_t)count + 3, sizeof *words);
    if (words == NULL)
        return failure_set(why, "memory is exhausted");
    ticket_print(ticket, text);
    for (int i = 0; i < rest; i++)
        words[i] = operands[run + 1 + i];
    words[rest] = (char *)"--guest";
    words[rest + 1] = text;
    words[rest + 2] = NULL;
    bool fits = launcher_words(words, line);
    memcpy(words, operands, (size_t)run * sizeof *words);
    snprintf(tid, sizeof tid, "%d", (int)tid_make(o->invitation.index, 0));
    words[run] = tid;
    words[run + 1] = line;
    words[run + 2] = NULL;
    int status =
        fits ? spawn_program(o, words, why) : failure_set(why, "the command line is too long");
    free(words);
    return status;
}

/* Reads into a line; true when it is whole: by its end, or because no more comes or fits. */
static bool read_offer_line(int fd, char *line, size_t *used, bool *ended)
{
    ssize_t n = read(fd, line + *used, SAID_MAX - 1 - *used);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    *ended = n <= 0;
    *used += n > 0 ? (size_t)n : 0;
    line[*used] = '\0';
    char *end = strchr(line, '\n');
    if (end != NULL)
        *end = '\0';
    return end != NULL || *ended || *used == SAID_MAX - 1;
}

static int program_says(struct offer *o, struct failure *why)
{
    bool ended = false;
    if (!read_offer_line(o->program, o->said, &o->said_size, &ended))
        return 0;
    close(o->program);
    o->program = -1;
    if (o->said[0] == '\0')
        return failure_set(why, "the program that should have started it said nothing");
    o->known = ticket_line_parse(o->said, o->guest, why) == 0;
    return o->known ? 0 : -1;
}

/* ---- clients --------------------------------------------------------------------------------- */

static void client_close(struct client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    *c = (struct client){.fd = -1};
}

/* Whether the one goes before the other when there is no room. */
static bool goes_before(const struct client *a, const struct client *b)
{
    return a->served != b->served ? b->served : a->number < b->number;
}

/* A place that is free, or else is freed. */
static struct client *client_place(struct offer *o)
{
    struct client *place = &o->clients[0];
    for (int i = 0; i < CLIENTS_MAX; i++) {
        struct client *c = &o->clients[i];
        if (c->fd < 0)
            return c;
        if (goes_before(c, place))
            place = c;
    }
    client_close(place);
    return place;
}

/* It fits the socket's buffer at once. */
static void client_serve(struct offer *o, struct client *c)
{
    uint8_t sealed[TICKET_SEALED_MAX];
    if (c->key_size < TICKET_KEY_BYTES || !o->known || c->served)
        return;
    size_t size = sodium_memcmp(c->key, o->guest, TICKET_KEY_BYTES) != 0
                      ? 0
                      : ticket_seal(&o->keys, o->guest, o->line, sealed);
    c->served = size > 0 && send(c->fd, sealed, size, MSG_NOSIGNAL) == (ssize_t)size &&
                shutdown(c->fd, SHUT_WR) == 0;
    if (!c->served)
        client_close(c);
}

static int client_ready(struct client *c)
{
    if (c->served) {
        /* Returns 1 when the guest has said its line, which is passed on. */
        bool ended = false;
        if (!read_offer_line(c->fd, c->said, &c->said_size, &ended))
            return 0;
        bool said = c->said_size > 0 && puts(c->said) >= 0 && fflush(stdout) == 0;
        client_close(c);
        return said;
    }
    ssize_t n = read(c->fd, c->key + c->key_size, TICKET_KEY_BYTES - c->key_size);
    if (n > 0)
        c->key_size += (size_t)n;
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        client_close(c);
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* One round. Returns 1 when the guest has spoken, 0, or -1 with *why. */
static int offer_step(struct offer *o, int timeout_ms, struct failure *why)
{
    bool pause = clock_ms() < o->accept_ms;
    struct pollfd fds[CLIENTS_MAX + 2] = {{.fd = pause ? -1 : o->listener, .events = POLLIN},
                                          {.fd = o->program, .events = POLLIN}};
    int status = 0;
    if (pause && timeout_ms > ACCEPT_AGAIN_MS)
        timeout_ms = ACCEPT_AGAIN_MS;
    for (int i = 0; i < CLIENTS_MAX; i++) { /* a key that came early waits */
        struct client *c = &o->clients[i];
        bool waits = c->key_size == TICKET_KEY_BYTES && !c->served;
        fds[i + 2] = (struct pollfd){.fd = waits ? -1 : c->fd, .events = POLLIN};
    }
    if (poll(fds, CLIENTS_MAX + 2, timeout_ms) < 0)
        return errno == EINTR ? 0 : failure_set(why, "poll: %s", strerror(errno));
    if (fds[0].revents != 0) {
        /* Without descriptors accept() would fail again and again: there is a pause. */
        int fd = accept4(o->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0)
            *client_place(o) = (struct client){.fd = fd, .number = o->came++};
        else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            o->accept_ms = clock_ms() + ACCEPT_AGAIN_MS;
    }
    if (fds[1].revents != 0)
        status = program_says(o, why);
    for (int i = 0; i < CLIENTS_MAX && status == 0; i++) {
        if (fds[i + 2].revents != 0 && o->clients[i].fd == fds[i + 2].fd)
            status = client_ready(&o->clients[i]);
        if (o->clients[i].fd >= 0)
            client_serve(o, &o->clients[i]);
    }
    return status;
}

static int offer_run(struct offer *o, struct failure *why)
{
    int64_t end_ms = clock_ms() + OFFER_MS, left_ms;
    int status = 0;
    while (status == 0 && (left_ms = end_ms - clock_ms()) > 0)
        status = offer_step(o, (int)left_ms, why);
    if (status == 0)
        failure_set(why, "%s",
                    o->known ? "coveyd there does not connect to this host"
                             : "the program that should start it has not answered");
    return status == 1 ? 0 : -1;
}

static int offer_open(struct offer *o, char **operands, int count, struct failure *why)
{
    struct ticket ticket = {.count = 0};
    int run = 0;
    while (run < count && strcmp(operands[run], "run") != 0)
        run++;
    if (run == 0 || run + 1 >= count)
        return failure_set(why, "it needs a program, `run` and a command; covey-offer --help");
    if (bootstrap_read(&o->invitation, stdin, why) != 0)
        return -1;
    if (bootstrap_print(&o->invitation, o->line) < 0 || !ticket_keys_make(&o->keys))
        return failure_set(why, "the invitation cannot be passed on");
    if (ticket_make(o, &ticket, why) != 0)
        return -1;
    return start_program(o, operands, count, run, &ticket, why);
}

/* The operands are the program with its arguments, then the word `run` and the words of the command
 * that starts coveyd there. The program gets two more: the host's tid, and the command as one line
 * for a shell. Standard input has the invitation, as for coveyd there. 0, or -1 with *why. */
static int offer(char **operands, int count, struct failure *why)
{
    struct offer *o = calloc(1, sizeof *o);
    if (o == NULL)
        return failure_set(why, "memory is exhausted");
    o->program = o->listener = -1;
    for (int i = 0; i < CLIENTS_MAX; i++)
        o->clients[i].fd = -1;
    int status = offer_open(o, operands, count, why);
    if (status == 0)
        status = offer_run(o, why);
    for (int i = 0; i < CLIENTS_MAX; i++)
        client_close(&o->clients[i]);
    if (o->listener >= 0)
        close(o->listener);
    if (o->program >= 0)
        close(o->program);
    sodium_memzero(o, sizeof *o);
    free(o);
    return status;
}

static const char usage[] =
    "usage: covey-offer PROGRAM [ARG...] run COMMAND [ARG...]\n"
    "\n"
    "Has a program start coveyd on another host, with the invitation on standard input; templates\n"
    "of the launcher exec call it as coveyd --offer, see coveyd(8).\n";

int main(int argc, char **argv)
{
    struct failure why;
    if (helper_answer(argc, argv, usage))
        return fflush(stdout) != 0;
    if (offer(argv + 1, argc - 1, &why) == 0)
        return 0;
    fprintf(stderr, "covey-offer: %s\n", why.text);
    return 1;
}
