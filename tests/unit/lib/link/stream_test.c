/* links: lib/link/stream.c proto/wire/frame.c proto/wire/cursor.c tests/sim/network.c proto/session/fault.c */
/*
 * stream_test.c - frames over a Unix stream socket: whole, split, stopped, refused, and with
 * descriptors, none of which may be lost or left open.
 */
#include "lib/link/stream.h"
#include "tests/sim/network.h"
#include "tests/unit/memory.h"
#include "tests/unit/runner.h"

#include <CUnit/CUnit.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- allocations that fail when asked ---- */

static struct {
    bool fails;
} memory;

static bool memory_fails(size_t size)
{
    (void)size;
    return memory.fails;
}

/* ---- what arrives ---- */

enum { FRAMES_MAX = 64, STOP = 7 };

struct arrived {
    struct frame frame;
    uint8_t first, last; /* bytes of the payload */
    int nfds;
    ino_t files[STREAM_FDS_MAX];
};

struct collector {
    struct arrived frames[FRAMES_MAX];
    int count;
    int stop_at; /* on_frame returns STOP for that frame; 0: never */
};

static ino_t file_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

static int collect(void *context, const struct frame *frame, const uint8_t *payload, int *fds,
                   int nfds)
{
    struct collector *c = context;
    struct arrived *a = &c->frames[c->count++ % FRAMES_MAX];
    *a = (struct arrived){.frame = *frame, .nfds = nfds};
    if (frame->length > 0) {
        a->first = payload[0];
        a->last = payload[frame->length - 1];
    }
    for (int i = 0; i < nfds; i++) {
        a->files[i] = file_of(fds[i]);
        CU_ASSERT((fcntl(fds[i], F_GETFD) & FD_CLOEXEC) != 0);
        close(fds[i]);
    }
    return c->count == c->stop_at ? STOP : 0;
}

/* ---- a stream and what is at its other end ---- */

/* Two streams joined, or one and a bare socket. */
struct joined {
    struct stream *a, *b;
    int raw;
    struct collector got; /* what b received */
};

static size_t open_descriptors(void)
{
    size_t count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir != NULL && readdir(dir) != NULL)
        count++;
    if (dir != NULL)
        closedir(dir);
    return count;
}

static void join(struct joined *j, bool two_streams)
{
    int fds[2];
    CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
    *j = (struct joined){.raw = two_streams ? -1 : fds[0]};
    j->a = two_streams ? stream_create(fds[0]) : NULL;
    j->b = stream_create(fds[1]);
    CU_ASSERT_PTR_NOT_NULL_FATAL(j->b);
    CU_ASSERT_EQUAL(stream_fd(j->b), fds[1]);
}

static void part(struct joined *j)
{
    stream_destroy(j->a);
    stream_destroy(j->b);
    if (j->raw >= 0)
        close(j->raw);
}

static int receive(struct joined *j)
{
    return stream_read(j->b, collect, &j->got);
}

static int put(struct stream *s, uint32_t length, uint8_t byte, const int *fds, int nfds)
{
    static uint8_t payload[FRAME_PAYLOAD_MAX];
    const struct frame frame = {
        .length = length, .kind = FRAME_DATA, .flags = FRAME_LAST, .source = byte};
    memset(payload, byte, length);
    return stream_put(s, &frame, payload, fds, nfds);
}

static bool arrived_as(const struct joined *j, int i, uint32_t length, uint8_t byte, int nfds)
{
    const struct arrived *a = &j->got.frames[i % FRAMES_MAX];
    bool payload = length == 0 || (a->first == byte && a->last == byte);
    return a->frame.length == length && a->frame.source == byte && payload && a->nfds == nfds &&
           FRAME_FDS(a->frame.flags) == nfds && (a->frame.flags & FRAME_LAST) != 0;
}

static void files_make(int *fds, int count)
{
    for (int i = 0; i < count; i++) {
        fds[i] = memfd_create("test", 0);
        CU_ASSERT_FATAL(fds[i] >= 0);
    }
}

static void files_close(const int *fds, int count)
{
    for (int i = 0; i < count; i++)
        CU_ASSERT_EQUAL(close(fds[i]), 0);
}

/* Sends bytes from the bare socket with these descriptors beside the first of them. */
static void raw_send(const struct joined *j, const uint8_t *bytes, size_t size, const int *fds,
                     int nfds)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int) * 250)];
        struct cmsghdr align;
    } control = {0};
    union {
        const uint8_t *from;
        void *base;
    } u = {.from = bytes};
    struct iovec iov = {u.base, size};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    if (nfds > 0) {
        msg.msg_control = control.bytes;
        msg.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)nfds);
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        *c = (struct cmsghdr){CMSG_LEN(sizeof(int) * (size_t)nfds), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(c), fds, sizeof(int) * (size_t)nfds);
    }
    CU_ASSERT_EQUAL(sendmsg(j->raw, &msg, MSG_NOSIGNAL), (ssize_t)size);
}

/* A frame's bytes as they stand on the wire. */
static size_t wire(uint8_t *bytes, uint32_t length, uint8_t byte, int nfds)
{
    const struct frame frame = {.length = length,
                                .kind = FRAME_DATA,
                                .flags = (uint8_t)(FRAME_LAST | nfds << FRAME_FDS_SHIFT),
                                .source = byte};
    frame_encode(&frame, bytes);
    memset(bytes + FRAME_HEADER_BYTES, byte, length);
    return FRAME_HEADER_BYTES + length;
}

/* ---- frames ---- */

static void frames_come_as_they_went(void)
{
    struct joined j;
    uint64_t random = 5;
    join(&j, true);
    for (int i = 0; i < 2000; i++) {
        uint32_t length = (uint32_t)random_below(&random, i % 5 == 0 ? FRAME_PAYLOAD_MAX + 1 : 100);
        int before = j.got.count;
        CU_ASSERT_EQUAL(put(j.a, length, (uint8_t)i, NULL, 0), 0);
        CU_ASSERT_EQUAL(stream_queued(j.a), FRAME_HEADER_BYTES + length);
        while (stream_flush(j.a) != 0)
            CU_ASSERT_EQUAL(receive(&j), 0);
        CU_ASSERT_EQUAL(receive(&j), 0);
        CU_ASSERT(stream_queued(j.a) == 0 && j.got.count == before + 1);
        CU_ASSERT(arrived_as(&j, before, length, (uint8_t)i, 0));
    }
    part(&j);
}

/* Far more than the socket holds: the flush says so, and goes on when the other end reads. */
static void a_full_socket_is_written_later(void)
{
    struct joined j;
    join(&j, true);
    for (int i = 0; i < 60; i++)
        CU_ASSERT_EQUAL(put(j.a, FRAME_PAYLOAD_MAX, (uint8_t)i, NULL, 0), 0);
    CU_ASSERT_EQUAL(stream_flush(j.a), 1);
    CU_ASSERT_EQUAL(stream_flush(j.a), 1);
    CU_ASSERT(stream_queued(j.a) > 0);
    while (stream_flush(j.a) == 1)
        CU_ASSERT_EQUAL(receive(&j), 0);
    while (j.got.count < 60)
        CU_ASSERT_EQUAL_FATAL(receive(&j), 0);
    CU_ASSERT_EQUAL(stream_queued(j.a), 0);
    for (int i = 0; i < 60; i++)
        CU_ASSERT(arrived_as(&j, i, FRAME_PAYLOAD_MAX, (uint8_t)i, 0));
    part(&j);
}

static void a_stopped_read_goes_on_where_it_stopped(void)
{
    struct joined j;
    join(&j, true);
    for (int i = 0; i < 5; i++)
        put(j.a, 10, (uint8_t)i, NULL, 0);
    CU_ASSERT_EQUAL(stream_flush(j.a), 0);
    j.got.stop_at = 2;
    CU_ASSERT_EQUAL(receive(&j), STOP);
    CU_ASSERT_EQUAL(j.got.count, 2);
    j.got.stop_at = 3;
    CU_ASSERT_EQUAL(receive(&j), STOP);
    CU_ASSERT_EQUAL(j.got.count, 3);
    CU_ASSERT_EQUAL(receive(&j), 0); /* without anything new in the socket */
    CU_ASSERT_EQUAL(j.got.count, 5);
    for (int i = 0; i < 5; i++)
        CU_ASSERT(arrived_as(&j, i, 10, (uint8_t)i, 0));
    part(&j);
}

/* Three frames, the second with two descriptors, cut once at each byte. */
static void frames_may_be_split_anywhere(void)
{
    uint8_t bytes[256];
    int files[2];
    files_make(files, 2);
    size_t second = wire(bytes, 5, 1, 0);
    size_t third = second + wire(bytes + second, 3, 2, 2);
    size_t size = third + wire(bytes + third, 0, 3, 0);
    for (size_t cut = 0; cut <= size; cut++) {
        struct joined j;
        size_t at = 0;
        join(&j, false);
        const size_t ends[] = {cut < second ? cut : second, cut < second ? second : cut, size};
        for (int i = 0; i < 3; i++) {
            bool carries = at == second && ends[i] > at;
            if (ends[i] > at)
                raw_send(&j, bytes + at, ends[i] - at, files, carries ? 2 : 0);
            at = ends[i] > at ? ends[i] : at;
            CU_ASSERT_EQUAL(receive(&j), 0);
        }
        CU_ASSERT_EQUAL(j.got.count, 3);
        CU_ASSERT(arrived_as(&j, 0, 5, 1, 0) && arrived_as(&j, 1, 3, 2, 2));
        CU_ASSERT(arrived_as(&j, 2, 0, 3, 0));
        part(&j);
    }
    files_close(files, 2);
}

static void single_bytes_make_frames_too(void)
{
    uint8_t bytes[256];
    struct joined j;
    size_t size = wire(bytes, 100, 1, 0);
    size += wire(bytes + size, 0, 2, 0);
    join(&j, false);
    for (size_t i = 0; i < size; i++) {
        raw_send(&j, bytes + i, 1, NULL, 0);
        CU_ASSERT_EQUAL(receive(&j), 0);
    }
    CU_ASSERT(j.got.count == 2 && arrived_as(&j, 0, 100, 1, 0) && arrived_as(&j, 1, 0, 2, 0));
    part(&j);
}

/* ---- descriptors ---- */

static void descriptors_travel_with_their_frames(void)
{
    int files[6];
    struct joined j;
    size_t before = open_descriptors();
    files_make(files, 6);
    join(&j, true);
    put(j.a, 100, 1, NULL, 0);
    put(j.a, 10, 2, files, 3);
    put(j.a, 10, 3, files + 3, 1);
    put(j.a, FRAME_PAYLOAD_MAX, 4, NULL, 0);
    put(j.a, 0, 5, files + 4, 2);
    put(j.a, 7, 6, NULL, 0);
    ino_t expected[6];
    for (int i = 0; i < 6; i++)
        expected[i] = file_of(files[i]);
    files_close(files, 6); /* the stream has its own */
    while (stream_flush(j.a) != 0)
        CU_ASSERT_EQUAL(receive(&j), 0);
    for (int i = 0; i < 6; i++) /* the kernel ends a read at each descriptor */
        CU_ASSERT_EQUAL(receive(&j), 0);
    CU_ASSERT_EQUAL(j.got.count, 6);
    CU_ASSERT(arrived_as(&j, 0, 100, 1, 0) && arrived_as(&j, 1, 10, 2, 3));
    CU_ASSERT(arrived_as(&j, 2, 10, 3, 1) && arrived_as(&j, 3, FRAME_PAYLOAD_MAX, 4, 0));
    CU_ASSERT(arrived_as(&j, 4, 0, 5, 2) && arrived_as(&j, 5, 7, 6, 0));
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(j.got.frames[1].files[i], expected[i]);
    CU_ASSERT_EQUAL(j.got.frames[2].files[0], expected[3]);
    CU_ASSERT_EQUAL(j.got.frames[4].files[1], expected[5]);
    part(&j);
    CU_ASSERT_EQUAL(open_descriptors(), before);
}

static void queued_descriptors_are_closed_with_the_stream(void)
{
    int files[3];
    struct joined j;
    size_t before = open_descriptors();
    files_make(files, 3);
    join(&j, true);
    put(j.a, 10, 1, files, 3); /* never flushed */
    put(j.b, 10, 2, files, 3); /* flushed, never read */
    CU_ASSERT_EQUAL(stream_flush(j.b), 0);
    part(&j);
    files_close(files, 3);
    CU_ASSERT_EQUAL(open_descriptors(), before);
}

static void announced_descriptors_must_come(void)
{
    uint8_t bytes[64];
    int files[1];
    struct joined j;
    size_t before = open_descriptors();
    files_make(files, 1);
    join(&j, false);
    raw_send(&j, bytes, wire(bytes, 4, 1, 2), files, 1);
    CU_ASSERT_EQUAL(receive(&j), STREAM_BROKEN);
    CU_ASSERT_STRING_EQUAL(stream_error(j.b), "frame announces descriptors that did not come");
    CU_ASSERT_EQUAL(j.got.count, 0);
    part(&j);
    files_close(files, 1);
    CU_ASSERT_EQUAL(open_descriptors(), before);
}

/* Descriptors that no frame announces wait, as their frame may follow; but not without bound. */
static void too_many_descriptors_are_refused(void)
{
    uint8_t bytes[64];
    int files[3];
    int result = 0, frames = 0;
    struct joined j;
    size_t before = open_descriptors();
    files_make(files, 3);
    join(&j, false);
    for (; result == 0 && frames < 100; frames++) {
        raw_send(&j, bytes, wire(bytes, 4, 1, 0), files, 3);
        result = receive(&j);
    }
    CU_ASSERT(result == STREAM_BROKEN && frames <= 3);
    CU_ASSERT_PTR_NOT_NULL(strstr(stream_error(j.b), "descriptors"));
    CU_ASSERT_EQUAL(receive(&j), STREAM_BROKEN);
    part(&j);
    files_close(files, 3);
    CU_ASSERT_EQUAL(open_descriptors(), before);
}

static void very_many_descriptors_at_once_are_refused(void)
{
    static int files[250];
    uint8_t bytes[64];
    struct joined j;
    size_t before = open_descriptors();
    files_make(files, 1);
    for (int i = 1; i < 250; i++)
        files[i] = files[0];
    join(&j, false);
    raw_send(&j, bytes, wire(bytes, 4, 1, 3), files, 250);
    CU_ASSERT_EQUAL(receive(&j), STREAM_BROKEN);
    part(&j);
    files_close(files, 1);
    if (getenv("CHECK_RUNNER") != NULL)
        covey_test_skip("an emulator keeps the descriptors that do not fit");
    else
        CU_ASSERT_EQUAL(open_descriptors(), before);
}

static void what_cannot_be_queued_leaves_nothing(void)
{
    int files[4];
    struct rlimit limit, low;
    struct joined j;
    files_make(files, 4);
    join(&j, true);
    size_t before = open_descriptors();
    CU_ASSERT_EQUAL(put(j.a, 4, 1, files, 4), -EINVAL);
    getrlimit(RLIMIT_NOFILE, &limit);
    low = limit;
    /* the next free number is the first that is not allowed, but for one */
    int next = dup(files[0]);
    close(next);
    low.rlim_cur = (rlim_t)next + 1;
    setrlimit(RLIMIT_NOFILE, &low);
    CU_ASSERT_EQUAL(put(j.a, 4, 1, files, 2), -EMFILE);
    setrlimit(RLIMIT_NOFILE, &limit);
    CU_ASSERT_EQUAL(stream_queued(j.a), 0);
    CU_ASSERT_EQUAL(open_descriptors(), before);
    CU_ASSERT_EQUAL(put(j.a, 4, 1, files, 2), 0);
    CU_ASSERT_EQUAL(stream_flush(j.a), 0);
    CU_ASSERT(receive(&j) == 0 && j.got.count == 1);
    part(&j);
    files_close(files, 4);
}

static void no_memory_leaves_nothing(void)
{
    int files[2];
    struct joined j;
    if (!MEMORY_CAN_FAIL) {
        covey_test_skip("a sanitizer owns malloc in this build");
        return;
    }
    files_make(files, 2);
    join(&j, true);
    size_t before = open_descriptors();
    memory.fails = true;
    int error = put(j.a, 4, 1, files, 2), other = put(j.a, 4, 1, NULL, 0);
    struct stream *none = stream_create(files[0]);
    memory.fails = false;
    CU_ASSERT(error == -ENOMEM && other == -ENOMEM && none == NULL);
    CU_ASSERT_EQUAL(stream_queued(j.a), 0);
    CU_ASSERT_EQUAL(open_descriptors(), before);
    part(&j);
    files_close(files, 2);
}

/* ---- refusals and ends ---- */

static void refused_headers_break_the_stream(void)
{
    static const struct {
        size_t at;
        uint8_t value;
        const char *why;
    } wrong[] = {{1, 2, "FRAME_PAYLOAD_MAX"},
                 {0, 0xff, "FRAME_PAYLOAD_MAX"},
                 {4, 0, "kind"},
                 {4, 200, "kind"},
                 {5, 0x40, "flags"},
                 {6, 1, "reserved"},
                 {8, 0xff, "30 bits"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint8_t bytes[64];
        struct joined j;
        join(&j, false);
        CU_ASSERT_STRING_EQUAL(stream_error(j.b), "no error");
        size_t second = wire(bytes, 4, 1, 0);
        size_t size = second + wire(bytes + second, 4, 2, 0);
        bytes[second + wrong[i].at] = wrong[i].value;
        raw_send(&j, bytes, size, NULL, 0);
        for (int again = 0; again < 3; again++)
            CU_ASSERT_EQUAL(receive(&j), STREAM_BROKEN);
        CU_ASSERT_PTR_NOT_NULL(strstr(stream_error(j.b), wrong[i].why));
        CU_ASSERT(j.got.count == 1 && arrived_as(&j, 0, 4, 1, 0)); /* once */
        part(&j);
    }
}

static void an_end_is_seen_after_the_last_frame(void)
{
    struct joined j;
    join(&j, true);
    put(j.a, 10, 1, NULL, 0);
    put(j.a, 0, 2, NULL, 0);
    CU_ASSERT_EQUAL(stream_flush(j.a), 0);
    put(j.a, 10, 3, NULL, 0); /* not flushed: lost */
    stream_destroy(j.a);
    j.a = NULL;
    int result = 0;
    for (int i = 0; i < 3 && result == 0; i++)
        result = receive(&j);
    CU_ASSERT_EQUAL(result, STREAM_CLOSED);
    CU_ASSERT(j.got.count == 2 && arrived_as(&j, 1, 0, 2, 0));
    CU_ASSERT_EQUAL(receive(&j), STREAM_CLOSED);
    CU_ASSERT_EQUAL(put(j.b, 10, 4, NULL, 0), 0);
    CU_ASSERT_EQUAL(stream_flush(j.b), STREAM_CLOSED);
    part(&j);
    stream_destroy(NULL);
}

static void an_end_within_a_frame_is_an_end(void)
{
    uint8_t bytes[64];
    size_t size = wire(bytes, 9, 1, 0);
    for (size_t cut = 0; cut < size; cut++) {
        struct joined j;
        join(&j, false);
        if (cut > 0)
            raw_send(&j, bytes, cut, NULL, 0);
        close(j.raw);
        j.raw = -1;
        int result = receive(&j);
        CU_ASSERT(result == STREAM_CLOSED || (result == 0 && receive(&j) == STREAM_CLOSED));
        CU_ASSERT_EQUAL(j.got.count, 0);
        part(&j);
    }
}

static void destroying_keeps_errno(void)
{
    struct joined j;
    join(&j, true);
    errno = EXDEV;
    part(&j);
    CU_ASSERT_EQUAL(errno, EXDEV);
}

/* ---- frames in pieces ---- */

static int put_pieces(struct stream *s, uint32_t length, uint8_t byte)
{
    static uint8_t payload[FRAME_PAYLOAD_MAX];
    const struct frame frame = {
        .length = length, .kind = FRAME_DATA, .flags = FRAME_LAST, .source = byte};
    const struct iovec pieces[] = {
        {payload, length / 3}, {payload, 0}, {payload, length - length / 3}};
    memset(payload, byte, length);
    return stream_put_pieces(s, &frame, pieces, 3);
}

/* None of its bytes is kept in the stream; what was queued goes before it. */
static void large_frames_go_from_where_they_lie(void)
{
    struct joined j;
    int file;
    join(&j, true);
    files_make(&file, 1);
    CU_ASSERT_EQUAL(put_pieces(j.a, STREAM_LARGE_BYTES, 0), 0);
    CU_ASSERT_EQUAL(stream_queued(j.a), 0);
    CU_ASSERT_EQUAL(put_pieces(j.a, STREAM_LARGE_BYTES - 1, 1), 0);
    CU_ASSERT_EQUAL(stream_queued(j.a), FRAME_HEADER_BYTES + STREAM_LARGE_BYTES - 1);
    CU_ASSERT_EQUAL(put(j.a, 10, 2, &file, 1), 0);
    CU_ASSERT_EQUAL(put_pieces(j.a, STREAM_LARGE_BYTES, 3), 0); /* behind a file: it waits, too */
    CU_ASSERT_TRUE(stream_queued(j.a) > 2 * STREAM_LARGE_BYTES);
    CU_ASSERT_EQUAL(stream_flush(j.a), 0);
    CU_ASSERT_EQUAL(put(j.a, 20, 4, &file, 1), 0);
    CU_ASSERT_EQUAL(put_pieces(j.a, 2 * STREAM_LARGE_BYTES, 5), 0);
    CU_ASSERT_EQUAL(stream_queued(j.a), 0);
    CU_ASSERT_EQUAL(stream_queued_fds(j.a), 0);
    while (j.got.count < 6)
        CU_ASSERT_EQUAL_FATAL(receive(&j), 0);
    static const uint32_t lengths[] = {
        STREAM_LARGE_BYTES,    STREAM_LARGE_BYTES - 1, 10, STREAM_LARGE_BYTES, 20,
        2 * STREAM_LARGE_BYTES};
    for (int i = 0; i < 6; i++)
        CU_ASSERT_TRUE(arrived_as(&j, i, lengths[i], (uint8_t)i, i == 2 || i == 4));
    files_close(&file, 1);
    part(&j);
}

/* Of the frame that the socket takes in part, only the rest is kept. */
static void the_rest_of_a_large_frame_waits(void)
{
    struct joined j;
    int count = 0;
    join(&j, true);
    while (stream_queued(j.a) == 0)
        CU_ASSERT_EQUAL_FATAL(put_pieces(j.a, FRAME_PAYLOAD_MAX, (uint8_t)count++), 0);
    CU_ASSERT_TRUE(stream_queued(j.a) <= FRAME_HEADER_BYTES + FRAME_PAYLOAD_MAX);
    size_t queued = stream_queued(j.a);
    CU_ASSERT_EQUAL(put_pieces(j.a, FRAME_PAYLOAD_MAX, (uint8_t)count++), 0);
    CU_ASSERT_EQUAL(stream_queued(j.a), queued + FRAME_HEADER_BYTES + FRAME_PAYLOAD_MAX);
    CU_ASSERT_EQUAL(stream_put_bytes(j.a),
                    (uint64_t)count * (FRAME_HEADER_BYTES + FRAME_PAYLOAD_MAX));
    while (stream_flush(j.a) != 0)
        CU_ASSERT_EQUAL_FATAL(receive(&j), 0);
    while (j.got.count < count)
        CU_ASSERT_EQUAL_FATAL(receive(&j), 0);
    for (int i = 0; i < count; i++)
        CU_ASSERT_TRUE(arrived_as(&j, i, FRAME_PAYLOAD_MAX, (uint8_t)i, 0));
    part(&j);
}

struct taker {
    struct stream *stream;
    uint8_t *taken[8];
    unsigned count;
};

static int take(void *context, const struct frame *frame, const uint8_t *payload, int *fds,
                int nfds)
{
    struct taker *t = context;
    (void)fds, (void)nfds;
    uint8_t *bytes = stream_take(t->stream, payload);
    CU_ASSERT_TRUE(bytes == NULL || bytes + FRAME_HEADER_BYTES == payload);
    CU_ASSERT_PTR_NULL(stream_take(t->stream, payload));
    CU_ASSERT_TRUE(payload[0] == frame->source && payload[frame->length - 1] == frame->source);
    t->taken[t->count++] = bytes;
    return 0;
}

/* Who gets a large frame may keep its memory; a small one lies in the stream's own. */
static void large_frames_can_be_kept(void)
{
    static const uint32_t lengths[] = {100, FRAME_PAYLOAD_MAX, FRAME_PAYLOAD_MAX, 7, 40000, 5};
    struct joined j;
    join(&j, true);
    struct taker t = {.stream = j.b};
    for (uint8_t i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(put(j.a, lengths[i], i, NULL, 0), 0);
    for (int rounds = 0; rounds < 100 && t.count < 6; rounds++) {
        stream_flush(j.a);
        CU_ASSERT_EQUAL_FATAL(stream_read(j.b, take, &t), 0);
    }
    CU_ASSERT_EQUAL(t.count, 6);
    CU_ASSERT_EQUAL(stream_done_bytes(j.b), stream_put_bytes(j.a));
    for (uint8_t i = 0; i < t.count; i++) {
        CU_ASSERT_EQUAL(t.taken[i] != NULL, lengths[i] >= STREAM_LARGE_BYTES);
        CU_ASSERT_TRUE(t.taken[i] == NULL || t.taken[i][FRAME_HEADER_BYTES] == i);
        free(t.taken[i]);
    }
    part(&j);
}

/* A large frame that is not taken yet is offered again, and what is behind it waits. */
static void a_large_frame_may_wait(void)
{
    struct joined j;
    join(&j, true);
    j.got.stop_at = 1;
    CU_ASSERT_EQUAL(put(j.a, FRAME_PAYLOAD_MAX, 1, NULL, 0), 0);
    CU_ASSERT_EQUAL(put(j.a, 3, 2, NULL, 0), 0);
    stream_flush(j.a);
    CU_ASSERT_EQUAL(receive(&j), STOP);
    CU_ASSERT_EQUAL(j.got.count, 1);
    CU_ASSERT_EQUAL(receive(&j), 0);
    CU_ASSERT_EQUAL(j.got.count, 2);
    CU_ASSERT_TRUE(arrived_as(&j, 0, FRAME_PAYLOAD_MAX, 1, 0) && arrived_as(&j, 1, 3, 2, 0));
    part(&j);
}

static int keep(void *context, const struct frame *frame, const uint8_t *payload, int *fds,
                int nfds)
{
    (void)frame, (void)fds, (void)nfds;
    ++*(int *)context;
    return payload[0] == 1 ? STREAM_KEEP : 0;
}

static void a_large_frame_may_be_kept(void)
{
    struct joined j;
    int calls = 0;
    join(&j, true);
    CU_ASSERT_EQUAL(put(j.a, FRAME_PAYLOAD_MAX, 1, NULL, 0), 0);
    CU_ASSERT_EQUAL(put(j.a, 3, 2, NULL, 0), 0);
    stream_flush(j.a);
    CU_ASSERT_EQUAL(stream_read(j.b, keep, &calls), STREAM_KEEP);
    CU_ASSERT_EQUAL(stream_read(j.b, keep, &calls), STREAM_KEEP);
    CU_ASSERT_EQUAL(calls, 2);
    CU_ASSERT_EQUAL(stream_done_bytes(j.b), 0);
    CU_ASSERT_EQUAL(receive(&j), 0);
    CU_ASSERT_EQUAL(j.got.count, 2);
    CU_ASSERT_TRUE(arrived_as(&j, 0, FRAME_PAYLOAD_MAX, 1, 0) && arrived_as(&j, 1, 3, 2, 0));
    part(&j);
}

/* In a process of an ordinary user's: 0 when a stream says STREAM_LATER while that user has more
 * descriptors on their way than the process may open, and goes on when they have arrived. */
static int many_on_their_way(void)
{
    struct joined j;
    int file, flushed = 0, count = 0;
    join(&j, true);
    files_make(&file, 1);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){40, 40});
    while (flushed == 0 && count < 100) {
        if (put(j.a, 10, (uint8_t)count++, &file, 1) != 0)
            return 1;
        flushed = stream_flush(j.a);
    }
    if (flushed != STREAM_LATER || stream_queued_fds(j.a) != 1)
        return 2;
    for (int i = 0; i < 1000 && (flushed != 0 || j.got.count < count); i++) {
        if (receive(&j) != 0)
            return 3;
        flushed = stream_flush(j.a);
        usleep(flushed == STREAM_LATER ? STREAM_LATER_US : 0);
    }
    return flushed == 0 && j.got.count == count &&
                   arrived_as(&j, count - 1, 10, (uint8_t)(count - 1), 1)
               ? 0
               : 4;
}

static void too_many_on_their_way_are_sent_later(void)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) { /* root may send any number: a user that nobody is */
        bool ordinary = geteuid() != 0 || setuid(1000000 + (uid_t)getpid()) == 0;
        _exit(ordinary ? many_on_their_way() : 5);
    }
    CU_ASSERT(waitpid(pid, &status, 0) == pid);
    CU_ASSERT(WIFEXITED(status));
    CU_ASSERT_EQUAL(WEXITSTATUS(status), 0);
}

/* A frame of which a part is written cannot be taken back: the stream ends with it. */
static void no_memory_for_the_rest_is_an_end(void)
{
    struct joined j;
    int count = 0, result = 0;
    if (!MEMORY_CAN_FAIL) {
        covey_test_skip("a sanitizer owns malloc in this build");
        return;
    }
    join(&j, true);
    memory.fails = true;
    while (result == 0 && count < 1000)
        result = put_pieces(j.a, FRAME_PAYLOAD_MAX, (uint8_t)count++);
    memory.fails = false;
    CU_ASSERT_EQUAL(result, -ENOMEM);
    CU_ASSERT_EQUAL(stream_queued(j.a), 0);
    result = 0;
    for (int rounds = 0; rounds < 1000 && result == 0; rounds++)
        result = receive(&j);
    CU_ASSERT_EQUAL(result, STREAM_CLOSED);
    CU_ASSERT_EQUAL(j.got.count, count - 1);
    part(&j);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"frames come as they went", frames_come_as_they_went},
        {"a full socket is written later", a_full_socket_is_written_later},
        {"a stopped read goes on where it stopped", a_stopped_read_goes_on_where_it_stopped},
        {"frames may be split anywhere", frames_may_be_split_anywhere},
        {"single bytes make frames too", single_bytes_make_frames_too},
        {"descriptors travel with their frames", descriptors_travel_with_their_frames},
        {"queued descriptors are closed with the stream",
         queued_descriptors_are_closed_with_the_stream},
        {"too many descriptors on their way are sent later", too_many_on_their_way_are_sent_later},
        {"announced descriptors must come", announced_descriptors_must_come},
        {"too many descriptors are refused", too_many_descriptors_are_refused},
        {"very many descriptors at once are refused", very_many_descriptors_at_once_are_refused},
        {"what cannot be queued leaves nothing", what_cannot_be_queued_leaves_nothing},
        {"no memory leaves nothing", no_memory_leaves_nothing},
        {"refused headers break the stream", refused_headers_break_the_stream},
        {"an end is seen after the last frame", an_end_is_seen_after_the_last_frame},
        {"an end within a frame is an end", an_end_within_a_frame_is_an_end},
        {"destroying keeps errno", destroying_keeps_errno},
        {"large frames go from where they lie", large_frames_go_from_where_they_lie},
        {"the rest of a large frame waits", the_rest_of_a_large_frame_waits},
        {"large frames can be kept", large_frames_can_be_kept},
        {"a large frame may wait", a_large_frame_may_wait},
        {"a large frame may be kept for later", a_large_frame_may_be_kept},
        {"no memory for the rest is an end", no_memory_for_the_rest_is_an_end},
    };
    return covey_test_main("stream", cases, sizeof cases / sizeof cases[0]);
}
