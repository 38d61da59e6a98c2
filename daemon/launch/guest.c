/*
 * guest.c - a daemon that was started by others' hands joins the VM by its ticket: it connects to
 * all addresses of the ticket at once, takes the first that answers, and reads the sealed
 * invitation. All waits end at one deadline.
 */
#include "daemon/launch/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/sockaddr.h"

#define FETCH_MS 29000
#define TRY_MS 3000  /* for one round of all addresses */
#define PAUSE_MS 200 /* between two */

int guest_begin(struct guest *guest, const char *ticket, struct failure *why)
{
    char line[TICKET_LINE_MAX];
    if (ticket_parse(ticket, &guest->ticket, why) != 0)
        return -1;
    if (!ticket_keys_make(&guest->keys))
        return failure_set(why, "libsodium could not be initialised");
    ticket_line_print(guest->keys.own, line);
    return puts(line) >= 0 && fflush(stdout) == 0
               ? 0
               : failure_set(why, "cannot write to standard output: %s", strerror(errno));
}

/* ---- connecting ------------------------------------------------------------------------------ */

static int call(const struct address *address)
{
    union sockaddr_any a;
    int family = AF_INET;
    socklen_t size = sockaddr_from_address(&a, address, family);
    if (size == 0)
        size = sockaddr_from_address(&a, address, family = AF_INET6);
    int fd = size == 0 ? -1 : socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, &a.any, size) != 0 && errno != EINPROGRESS) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool is_connected(int fd)
{
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

/* The first of them that is connected; one that cannot be is given up. */
static int first_connected(struct pollfd *fds, int count)
{
    for (int i = 0; i < count; i++) {
        if (fds[i].fd < 0 || fds[i].revents == 0)
            continue;
        if (is_connected(fds[i].fd))
            return i;
        close(fds[i].fd);
        fds[i].fd = -1;
    }
    return -1;
}

/* All addresses at once; the first that answers. -1: none does in time. */
static int connect_any(const struct ticket *ticket, int64_t end_ms)
{
    struct pollfd fds[TICKET_ADDRESSES_MAX];
    int chosen = -1, left = 0;
    int64_t round_ms = clock_ms() + TRY_MS;
    for (int i = 0; i < ticket->count; i++) {
        fds[i] = (struct pollfd){.fd = call(&ticket->at[i]), .events = POLLOUT};
        left += fds[i].fd >= 0;
    }
    if (end_ms < round_ms)
        round_ms = end_ms;
    while (chosen < 0 && left > 0 && clock_ms() < round_ms) {
        poll(fds, (nfds_t)ticket->count, (int)(round_ms - clock_ms()) + 1);
        chosen = first_connected(fds, ticket->count);
        left = 0;
        for (int i = 0; i < ticket->count; i++)
            left += fds[i].fd >= 0;
    }
    for (int i = 0; i < ticket->count; i++)
        if (i != chosen && fds[i].fd >= 0)
            close(fds[i].fd);
    return chosen < 0 ? -1 : fds[chosen].fd;
}

/* ---- the invitation -------------------------------------------------------------------------- */

/* To its end. Returns the size, 0 when there is none in time. */
static size_t read_sealed(int fd, uint8_t sealed[TICKET_SEALED_MAX], int64_t end_ms)
{
    size_t used = 0;
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    while (used < TICKET_SEALED_MAX && clock_ms() < end_ms) {
        if (poll(&readable, 1, (int)(end_ms - clock_ms()) + 1) <= 0)
            continue;
        ssize_t n = read(fd, sealed + used, TICKET_SEALED_MAX - used);
        if (n == 0)
            return used;
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return 0;
        used += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int invitation_read(struct guest *guest, const uint8_t *sealed, size_t size,
                           struct control_bootstrap *invitation, struct failure *why)
{
    char text[BOOTSTRAP_LINE_MAX];
    if (ticket_open(&guest->keys, guest->ticket.key, sealed, size, text) != 0)
        return failure_set(why, "what came is not from who made the ticket");
    FILE *in = fmemopen(text, strlen(text), "r");
    int status =
        in == NULL ? failure_set(why, "memory is exhausted") : bootstrap_read(invitation, in, why);
    if (in != NULL)
        fclose(in);
    sodium_memzero(text, sizeof text);
    return status;
}

static int fetch_once(struct guest *guest, struct control_bootstrap *invitation, int64_t end_ms,
                      struct failure *why)
{
    uint8_t sealed[TICKET_SEALED_MAX];
    int fd = connect_any(&guest->ticket, end_ms);
    if (fd < 0)
        return failure_set(why, "none of the ticket's addresses answers");
    size_t size = 0;
    if (send(fd, guest->keys.own, TICKET_KEY_BYTES, MSG_NOSIGNAL) == TICKET_KEY_BYTES)
        size = read_sealed(fd, sealed, end_ms);
    if (size == 0)
        failure_set(why, "who made the ticket does not answer");
    if (size > 0 && invitation_read(guest, sealed, size, invitation, why) == 0)
        return fd;
    close(fd);
    return -1;
}

int guest_fetch(struct guest *guest, struct control_bootstrap *invitation, int *connection,
                struct failure *why)
{
    int64_t end_ms = clock_ms() + FETCH_MS;
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000};
    int fd;
    while ((fd = fetch_once(guest, invitation, end_ms, why)) < 0 && clock_ms() < end_ms)
        nanosleep(&pause, NULL);
    sodium_memzero(guest->keys.secret, sizeof guest->keys.secret);
    if (fd < 0)
        return -1;
    fcntl(fd, F_SETFL, 0); /* it is written to as a pipe is */
    *connection = fd;
    return 0;
}
