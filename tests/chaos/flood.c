/* links: proto/wire/contention_config.c lib/link/stream.c proto/wire/frame.c proto/wire/cursor.c proto/wire/control.c proto/contention/contention.c proto/wire/address.c */
/*
 * flood.c - a task that ignores credit, or does not read what it asked for.
 *
 *   flood TID MIB    enrols over $COVEY_SOCKET and sends one endless message to the task, until it
 *                    is told that the task is gone (it says so: status 0) or has sent that much
 *   flood TID MIB --mcast
 *                    the same, as one message to several tasks of that host, of which it is the one
 *   flood HOST COUNT --ask
 *                    sends so many STATS to the daemon of the host (its number) and reads nothing;
 *                    ends, with status 0, when the daemon here does not take them any more
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/link/stream.h"
#include "proto/wire/control.h"

#define QUEUE_BYTES ((size_t)1024 * 1024)
#define MESSAGE_BYTES ((uint64_t)1 << 38)

struct flood {
    struct stream *stream;
    uint32_t self, to;
    bool gone, mcast;
};

static int connect_daemon(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(a.sun_path, sizeof a.sun_path, "%s", getenv("COVEY_SOCKET"));
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) != 0 ||
        fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
        return -1;
    return fd;
}

static int on_frame(void *context, const struct frame *frame, const uint8_t *payload, int *fds,
                    int nfds)
{
    struct flood *f = context;
    struct cursor c = cursor_reader(payload, frame->length);
    for (int i = 0; i < nfds; i++)
        close(fds[i]);
    if (frame->kind == FRAME_REPLY && f->self == 0)
        f->self = frame->destination;
    if (frame->kind == FRAME_GONE && cursor_get_u32(&c) == f->to)
        f->gone = true;
    return 0;
}

/* Writes and reads what can be; false: the daemon hung up. */
static bool turn(struct flood *f)
{
    int left = stream_flush(f->stream);
    struct pollfd p = {.fd = stream_fd(f->stream), .events = POLLIN | (left == 1 ? POLLOUT : 0)};
    if (left < 0)
        return false;
    poll(&p, 1, left == 1 || f->self == 0 ? 1000 : 0);
    return (p.revents & POLLIN) == 0 || stream_read(f->stream, on_frame, f) == 0;
}

static void enrol(struct flood *f)
{
    uint8_t bytes[256];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    struct control_enrol e = {.request = 1, .version = WIRE_VERSION, .pid = getpid()};
    control_put_enrol(&c, &e);
    struct frame frame = {.length = (uint32_t)(c.at - bytes), .kind = FRAME_ENROL};
    stream_put(f->stream, &frame, bytes, NULL, 0);
    while (f->self == 0 && turn(f))
        ;
}

/* As a frame for the daemon of the host: each begins a message, which harms nobody but its reader.
 */
static void frame_mcast(const struct flood *f, struct frame *frame, uint8_t *payload)
{
    uint8_t header[FRAME_MESSAGE_BYTES];
    struct cursor c = cursor_writer(payload, FRAME_PAYLOAD_MAX);
    const struct control_mcast m = {.count = 1, .flags = FRAME_FIRST, .receivers = {{f->to, 0}}};
    memcpy(header, payload, sizeof header);
    control_put_mcast(&c, &m);
    cursor_put_bytes(&c, header, sizeof header);
    frame->kind = FRAME_MCAST;
    frame->destination = tid_make(tid_host(f->to), 0);
}

static uint64_t send_all(struct flood *f, uint64_t bytes)
{
    static uint8_t payload[FRAME_PAYLOAD_MAX];
    const struct message_header header = {
        .size = MESSAGE_BYTES, .tag = 1, .representation = REPRESENTATION_LITTLE};
    struct frame frame = {.length = sizeof payload,
                          .kind = FRAME_DATA,
                          .flags = FRAME_FIRST,
                          .source = f->self,
                          .destination = f->to};
    uint64_t sent = 0;
    message_header_encode(&header, payload);
    if (f->mcast)
        frame_mcast(f, &frame, payload);
    while (sent < bytes && !f->gone && turn(f)) {
        if (stream_queued(f->stream) > QUEUE_BYTES)
            continue;
        stream_put(f->stream, &frame, payload, NULL, 0);
        frame.flags = 0;
        sent += sizeof payload;
    }
    return sent;
}

static int ask_all(struct flood *f, unsigned long count)
{
    const struct frame frame = {
        .length = 4, .kind = FRAME_STATS, .source = f->self, .destination = tid_make(f->to, 0)};
    unsigned long sent = 0;
    struct pollfd p = {.fd = stream_fd(f->stream), .events = POLLOUT};
    for (int left = 0; left == 0 && sent < count; sent++) {
        stream_put(f->stream, &frame, (const uint8_t *)"\0\0\0\2", NULL, 0);
        while ((left = stream_flush(f->stream)) == 1 && poll(&p, 1, 2000) > 0)
            ;
    }
    printf("sent %lu requests of %lu\n", sent, count);
    return sent < count ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct flood f = {0};
    bool asks = argc == 4 && strcmp(argv[3], "--ask") == 0;
    f.mcast = argc == 4 && strcmp(argv[3], "--mcast") == 0;
    int fd = argc == 3 || asks || f.mcast ? connect_daemon() : -1;
    f.stream = fd >= 0 ? stream_create(fd) : NULL;
    if (f.stream == NULL) {
        fprintf(stderr, "usage: COVEY_SOCKET=... flood TID MIB [--mcast] | HOST COUNT --ask: %s\n",
                strerror(errno));
        return 2;
    }
    f.to = (uint32_t)strtoul(argv[1], NULL, 16);
    enrol(&f);
    if (asks)
        return ask_all(&f, strtoul(argv[2], NULL, 10));
    uint64_t sent = send_all(&f, strtoull(argv[2], NULL, 10) * 1024 * 1024);
    printf("sent %llu MiB; %s\n", (unsigned long long)sent / 1024 / 1024,
           f.gone ? "told that the task is gone" : "not told anything");
    stream_destroy(f.stream);
    return f.gone ? 0 : 1;
}
