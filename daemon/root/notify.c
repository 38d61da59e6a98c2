/*
 * The part of the service manager that started this daemon: a unit of Type=notify (sd_notify(3)) is
 * told when this host has joined and when it ends. That is a datagram of a few words to the socket
 * that NOTIFY_SOCKET names; systemd's library would be one more that a daemon needs on each host.
 * A daemon in the background is not the process that the manager started, and tells it nothing.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/base/daemon.h"

struct notify {
    struct sockaddr_un address;
    socklen_t bytes; /* of the address; 0: there is nobody to notify */
};

/* Tasks are none of the manager's either: they get no NOTIFY_SOCKET. */
static int notify_create(struct daemon *d, struct failure *why)
{
    (void)why;
    struct notify *n = d->own.notify;
    const char *path = getenv("NOTIFY_SOCKET");
    size_t length = path != NULL ? strlen(path) : 0;
    bool usable = length > 1 && length < sizeof n->address.sun_path && strchr("/@", path[0]);
    if (usable && d->options->foreground) {
        n->address.sun_family = AF_UNIX;
        memcpy(n->address.sun_path, path, length);
        if (path[0] == '@')
            n->address.sun_path[0] = '\0'; /* of the abstract namespace */
        n->bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    }
    unsetenv("NOTIFY_SOCKET");
    return 0;
}

static void notify_send(struct daemon *d, const char *words)
{
    const struct notify *n = d->own.notify;
    if (n->bytes == 0)
        return;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || sendto(fd, words, strlen(words), MSG_NOSIGNAL,
                         (const struct sockaddr *)&n->address, n->bytes) < 0)
        log_line(&d->log, LOG_ERROR, "the service manager cannot be notified: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
}

static void notify_joined(struct daemon *d)
{
    notify_send(d, "READY=1\nSTATUS=This host is in the virtual machine.");
}

static void notify_ending(struct daemon *d, enum part_ending event, const char *text)
{
    (void)text;
    if (event == PART_ENDING_BEGINS)
        notify_send(d, "STOPPING=1\nSTATUS=This host leaves the virtual machine.");
}

const struct part notify_part = {.name = "notify",
                                 .state_bytes = sizeof(struct notify),
                                 .create = notify_create,
                                 .joined = notify_joined,
                                 .ending = notify_ending};
