/* links: lib/link/stream.c proto/wire/frame.c proto/wire/cursor.c */
/*
 * stream_fuzz.c - a hostile task at the other end of a stream.
 *
 * The input is a list of writes: a byte that chooses (descriptors sent along, whether the reader
 * stops in the middle), a byte of length, the bytes. Whatever comes, frames are whole, a broken
 * stream stays broken, and no descriptor is left open.
 */
#include "lib/link/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

enum { STOP = 1, FDS_SENT_MAX = 20 };

struct reader {
    struct stream *stream;
    int stop_after; /* frames; 0: never */
    int frames;
};

/* The lowest number that is free: grows when a descriptor is left open. */
static int descriptor_mark(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(fd);
    return fd;
}

static int on_frame(void *context, const struct frame *frame, const uint8_t *payload, int *fds,
                    int nfds)
{
    static volatile uint8_t sum;
    struct reader *r = context;
    for (uint32_t i = 0; i < frame->length; i++)
        sum = (uint8_t)(sum + payload[i]);
    REQUIRE(frame->length <= FRAME_PAYLOAD_MAX && frame_kind_name(frame->kind) != NULL);
    REQUIRE(nfds == FRAME_FDS(frame->flags));
    for (int i = 0; i < nfds; i++)
        REQUIRE(close(fds[i]) == 0);
    if (r->frames % 2 == 0)
        free(stream_take(r->stream, payload)); /* the memory of a large frame */
    return ++r->frames == r->stop_after ? STOP : 0;
}

/* Returns false, and writes nothing, when the socket takes no more bytes, pieces or descriptors. */
static bool write_some(int fd, const uint8_t *bytes, size_t size, int nfds)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int) * FDS_SENT_MAX)];
        struct cmsghdr align;
    } control = {0};
    union {
        const uint8_t *from;
        void *base;
    } u = {.from = bytes};
    /* not the socket itself: it would then never be seen to end */
    int sent = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct iovec iov = {u.base, size};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    if (nfds > 0) {
        msg.msg_control = control.bytes;
        msg.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)nfds);
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        *c = (struct cmsghdr){CMSG_LEN(sizeof(int) * (size_t)nfds), SOL_SOCKET, SCM_RIGHTS};
        for (int i = 0; i < nfds; i++)
            memcpy(CMSG_DATA(c) + sizeof sent * (size_t)i, &sent, sizeof sent);
    }
    ssize_t n = sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
    REQUIRE(n == (ssize_t)size || (n < 0 && (errno == EAGAIN || errno == ETOOMANYREFS)));
    close(sent);
    return n >= 0;
}

/* Reads until there is nothing, a piece with descriptors was read, or the stream ended; returns how
 * it ended, 0: it did not. */
static int read_all(struct reader *r)
{
    int result = STOP;
    while (result == STOP)
        result = stream_read(r->stream, on_frame, r);
    REQUIRE(result != STREAM_BROKEN || stream_read(r->stream, on_frame, r) == STREAM_BROKEN);
    return result;
}

static int play(struct reader *r, int raw, const uint8_t *data, size_t size)
{
    int result = 0;
    while (result == 0 && size > 2) {
        uint8_t choice = data[0];
        size_t part = data[1] < size - 2 ? data[1] : size - 2;
        int nfds = (choice & 12) == 12 ? FDS_SENT_MAX : (choice & 12) >> 2;
        r->stop_after = (choice & 1) != 0 ? r->frames + 1 : 0;
        while (result == 0 && part > 0 && !write_some(raw, data + 2, part, nfds))
            result = read_all(r);
        if (result == 0 && (choice & 2) != 0)
            result = read_all(r);
        data += 2 + part;
        size -= 2 + part;
    }
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fds[2], before = descriptor_mark();
    if (size > 16384) /* enough, and it bounds the reads below */
        return 0;
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    struct reader reader = {.stream = stream_create(fds[1])};
    REQUIRE(reader.stream != NULL);
    int result = play(&reader, fds[0], data, size);
    close(fds[0]);
    for (int i = 0; result == 0 && i < 16384; i++)
        result = read_all(&reader);
    REQUIRE(result == STREAM_CLOSED || result == STREAM_BROKEN);
    stream_destroy(reader.stream);
    REQUIRE(descriptor_mark() == before);
    return 0;
}
