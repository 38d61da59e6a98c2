/* links: libcovey */
/*
 * parted.c - the stream between two tasks ends between two messages, while both live: what was
 * written to it and never read is an error to who waits for it, and does not hold it up for ever.
 *
 *   parted HOST    the receiver, which starts the sender on that host
 */
#include <covey.h>

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TAG_FIRST = 1, TAG_GO = 2, TAG_LOST = 3 };

static int passed, failed;

static void expect(bool good, const char *what)
{
    printf("%s: %s%s%s\n", good ? "ok" : "FAILED", what, good ? "" : ": ",
           good ? "" : covey_error_text());
    passed += good;
    failed += !good;
}

static int send_int(covey_t *vm, covey_tid_t tid, int tag, int32_t value)
{
    covey_msg_t *msg = covey_msg_new();
    int error = covey_pack_int32(msg, &value, 1, 1);
    if (error == 0)
        error = covey_send(vm, tid, tag, msg);
    covey_msg_free(msg);
    return error;
}

static int receive_int(covey_t *vm, covey_tid_t tid, int tag, int64_t timeout_us, int32_t *value)
{
    covey_msg_t *msg = NULL;
    int error = covey_recv(vm, tid, tag, timeout_us, &msg);
    if (error == 0)
        error = covey_unpack_int32(msg, value, 1, 1);
    covey_msg_free(msg);
    return error;
}

/* ---- the sender ---- */

static bool is_stream(int fd)
{
    int family = 0, type = 0;
    socklen_t size = sizeof family;
    struct sockaddr_storage peer;
    socklen_t peer_size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0)
        return false;
    return (family == AF_INET || family == AF_INET6) && type == SOCK_STREAM &&
           getpeername(fd, (struct sockaddr *)&peer, &peer_size) == 0;
}

/* In the place of all streams a pipe that ends nowhere: the other end sees an orderly close, and
 * what is written here is never read. Returns its end, which is to be closed. */
static int part(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int ends[2];
    if (!folder || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0)
        return -1;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        int fd = atoi(entry->d_name);
        if (is_stream(fd))
            dup2(ends[0], fd);
    }
    closedir(folder);
    close(ends[0]);
    return ends[1];
}

static int be_sender(covey_t *vm)
{
    covey_tid_t parent = covey_parent(vm);
    int32_t value = 0;
    covey_set_route(vm, parent, COVEY_ROUTE_TCP);
    send_int(vm, parent, TAG_FIRST, 1);
    receive_int(vm, parent, TAG_GO, COVEY_FOREVER, &value);
    int nowhere = part();
    send_int(vm, parent, TAG_LOST, 2); /* as if it had gone well */
    close(nowhere);
    send_int(vm, parent, TAG_LOST, 3);
    receive_int(vm, parent, TAG_GO, COVEY_FOREVER, &value); /* it lives on */
    return 0;
}

/* ---- the receiver ---- */

static int be_receiver(covey_t *vm, const char *program, const char *host)
{
    struct covey_spawn what = {.argv = (const char *const[]){program, NULL},
                               .hosts = (const char *const[]){host, NULL},
                               .where = COVEY_WHERE_HOSTS,
                               .tether = 1};
    covey_tid_t tid;
    int32_t value = 0;
    if (covey_spawn(vm, &what, 1, &tid) != 1) {
        fprintf(stderr, "parted: %s\n", covey_error_text());
        return 1;
    }
    covey_set_route(vm, tid, COVEY_ROUTE_TCP);
    expect(receive_int(vm, tid, TAG_FIRST, COVEY_FOREVER, &value) == 0 && value == 1,
           "a message comes over a stream");
    expect(send_int(vm, tid, TAG_GO, 0) == 0, "one goes back");
    expect(receive_int(vm, tid, TAG_LOST, 30000000, &value) == COVEY_EROUTE &&
               strstr(covey_error_text(), "lost"),
           "the next one is lost with the stream, which is an error");
    expect(receive_int(vm, tid, TAG_LOST, 30000000, &value) == COVEY_EROUTE,
           "so are those after it");
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed > 0;
}

int main(int argc, char **argv)
{
    covey_t *vm;
    if (covey_join(&vm, NULL) < 0) {
        fprintf(stderr, "parted: %s\n", covey_error_text());
        return 1;
    }
    int status = argc > 1 ? be_receiver(vm, argv[0], argv[1]) : be_sender(vm);
    covey_leave(&vm);
    return status;
}
