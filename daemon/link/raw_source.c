/*
 * Packet sockets by one's own privilege, or by another's. covey-raw is found where the other
 * programs beside coveyd are; that this user may execute it, and that it has its capability, is
 * what root decides by. It gets our end of a socket pair as its only descriptor, and no
 * environment. It ends when our end is closed, with us or before.
 *
 * Who asks waits for the answer, some ten microseconds. Whoever did not answer once within the time
 * is not asked again, so that the daemon stands still once at most.
 */
#include "daemon/link/raw_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/link/raw_request.h"
#include "daemon/link/raw_socket.h"
#include "daemon/process/helper.h"
#include "daemon/process/process.h"

#define ANSWER_SECONDS 2

struct raw_source {
    struct nic nic;
    uint16_t type;
    int fd; /* to covey-raw; -1: there is none */
    bool own;
    pid_t pid;
};

static int covey_raw_start(struct raw_source *s, struct failure *why)
{
    const struct timeval wait = {.tv_sec = ANSWER_SECONDS};
    char path[HELPER_PATH_BYTES], type[8];
    int ends[2];
    if (helper_find("covey-raw", path, why) != 0)
        return -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return failure_set(why, "cannot start covey-raw: %s", strerror(errno));
    snprintf(type, sizeof type, "0x%04x", s->type);
    char *argv[] = {path, s->nic.name, type, NULL}, *env[] = {NULL};
    const struct process process = {
        .program = path, .argv = argv, .env = env, .in = ends[1], .out = ends[1], .err = ends[1]};
    s->pid = process_start(&process, why);
    close(ends[1]);
    s->fd = ends[0];
    setsockopt(s->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    setsockopt(s->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    return s->pid > 0 ? 0 : -1;
}

struct raw_source *raw_source_open(const struct nic *nic, uint16_t type, bool own,
                                   struct failure *why)
{
    struct raw_source *s = malloc(sizeof *s);
    if (s == NULL) {
        failure_memory(why);
        return NULL;
    }
    *s = (struct raw_source){.nic = *nic, .type = type, .fd = -1, .own = own};
    if (own || covey_raw_start(s, why) == 0)
        return s;
    raw_source_close(s);
    return NULL;
}

static void covey_raw_leave(struct raw_source *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

void raw_source_close(struct raw_source *s)
{
    if (s == NULL)
        return;
    covey_raw_leave(s);
    free(s);
}

pid_t raw_source_child(const struct raw_source *s)
{
    return s->pid > 0 ? s->pid : 0;
}

int raw_source_get(struct raw_source *s, uint32_t channel, uint32_t vm, struct failure *why)
{
    int fd;
    if (s->own) {
        fd = raw_socket_open(&s->nic, s->type, channel, vm);
        return fd >= 0 ? fd : failure_set(why, "no packet socket: %s", strerror(errno));
    }
    if (s->fd < 0)
        return failure_set(why, "covey-raw has ended");
    /* if it does not read any more, why not is there to be received */
    raw_request_send(s->fd, &(struct raw_request){channel, vm});
    fd = raw_reply_receive(s->fd, why);
    if (fd == RAW_SILENT)
        covey_raw_leave(s);
    return fd < 0 ? -1 : fd;
}
