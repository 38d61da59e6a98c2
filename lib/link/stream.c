/*
 * stream.c - frames over a Unix stream socket, both ends.
 *
 * In: one buffer of IN_BYTES, from which frames are handed on where they lie. A large frame that is
 * not in it as a whole gets memory of its own, into which the rest of it is read; whoever gets the
 * frame may keep that (stream_take()). With the rest comes the beginning of the next one, and so
 * on: in a run of large frames hardly a byte is copied. Descriptors arrive beside the bytes and
 * wait in a queue; a frame's flags say how many of them are its own.
 *
 * Out: a list of chunks; descriptors go with the first byte of a chunk. A large frame is written
 * from where its bytes lie: what waits in chunks is small, or what the socket did not take.
 */
#include "lib/link/stream.h"
#include "proto/wire/list.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define IN_BYTES (32 * 1024)
#define BEHIND_BYTES 1024 /* read behind the rest of a large frame */
#define READ_MAX_BYTES (1024 * 1024)
#define CHUNK_BYTES (64 * 1024)
#define FDS_QUEUE_MAX (2 * STREAM_FDS_MAX) /* a frame has not come whole, and the next begins */
#define IOV_COUNT 16
#define FD_LOST (-1) /* in the queue of descriptors: what followed did not fit below our limit */

_Static_assert(IN_BYTES > FRAME_HEADER_BYTES + STREAM_LARGE_BYTES, "what is not large fits");

struct chunk {
    struct chunk *next;
    size_t used, sent, capacity;
    int fds[STREAM_FDS_MAX];
    int nfds;
    uint8_t bytes[];
};

/* A large frame with its header, of which `used` bytes have come; size 0: none is under way, but
 * there may be memory for one of `capacity` bytes. */
struct large {
    uint8_t *bytes;
    size_t size, used, capacity;
};

struct stream {
    int fd;
    const char *error;
    uint8_t *in;
    size_t in_used;
    struct large large;
    int fds[FDS_QUEUE_MAX];
    int nfds;
    struct chunk *first, *last;
    size_t queued;
    unsigned queued_fds;
    uint64_t put, done; /* bytes of frames ever */
};

struct stream *stream_create(int fd)
{
    struct stream *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->in = malloc(IN_BYTES);
    if (s->in == NULL) {
        free(s);
        return NULL;
    }
    s->fd = fd;
    return s;
}

static void fds_close(const int *fds, int nfds)
{
    for (int i = 0; i < nfds; i++)
        if (fds[i] != FD_LOST)
            close(fds[i]);
}

static void chunk_drop_first(struct stream *s)
{
    struct chunk *chunk = s->first;
    s->first = chunk->next;
    if (s->first == NULL)
        s->last = NULL;
    fds_close(chunk->fds, chunk->nfds);
    free(chunk);
}

void stream_destroy(struct stream *s)
{
    if (s == NULL)
        return;
    int saved = errno;
    while (s->first != NULL)
        chunk_drop_first(s);
    fds_close(s->fds, s->nfds);
    close(s->fd);
    free(s->large.bytes);
    free(s->in);
    free(s);
    errno = saved;
}

int stream_fd(const struct stream *s)
{
    return s->fd;
}

const char *stream_error(const struct stream *s)
{
    return s->error == NULL ? "no error" : s->error;
}

size_t stream_queued(const struct stream *s)
{
    return s->queued;
}

unsigned stream_queued_fds(const struct stream *s)
{
    return s->queued_fds;
}

uint64_t stream_put_bytes(const struct stream *s)
{
    return s->put;
}

uint64_t stream_done_bytes(const struct stream *s)
{
    return s->done;
}

/* ---- in -------------------------------------------------------------------------------------- */

static int broken(struct stream *s, const char *why)
{
    s->error = why;
    return STREAM_BROKEN;
}

static bool queue_fd(struct stream *s, int fd)
{
    if (s->nfds < FDS_QUEUE_MAX) {
        s->fds[s->nfds++] = fd;
        return true;
    }
    fds_close(&fd, 1);
    return false;
}

/* Queues the descriptors of a received control message; too many close at once. Those that the
 * system could not give us, because we have too many, are queued as lost. */
static bool take_fds(struct stream *s, struct msghdr *msg)
{
    bool fits = true;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            fits = queue_fd(s, fd) && fits;
        }
    }
    if ((msg->msg_flags & MSG_CTRUNC) != 0)
        fits = queue_fd(s, FD_LOST) && fits;
    return fits;
}

/* Bytes read of *room, 0 when the socket would block, or STREAM_CLOSED, STREAM_BROKEN. */
static ssize_t stream_fill(struct stream *s, size_t *room)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int) * FDS_QUEUE_MAX)];
        struct cmsghdr align;
    } control;
    struct large *l = &s->large;
    size_t missing = l->size - l->used;
    struct iovec iov[2];
    int count = 0;
    if (missing > 0)
        iov[count++] = (struct iovec){l->bytes + l->used, missing};
    iov[count] = (struct iovec){s->in + s->in_used, IN_BYTES - s->in_used};
    if (missing > 0 && iov[count].iov_len > BEHIND_BYTES)
        iov[count].iov_len = BEHIND_BYTES;
    *room = missing + iov[count++].iov_len;
    struct msghdr msg = {.msg_iov = iov,
                         .msg_iovlen = (size_t)count,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof control.bytes};
    ssize_t n = recvmsg(s->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : STREAM_CLOSED;
    if (!take_fds(s, &msg))
        return broken(s, "more descriptors than frames announce");
    if (n == 0)
        return STREAM_CLOSED;
    size_t part = (size_t)n < missing ? (size_t)n : missing;
    l->used += part;
    s->in_used += (size_t)n - part;
    return n;
}

/* Takes `want` descriptors off the queue, or those there are before the mark of lost ones. Returns
 * how many, STREAM_FDS_LOST when some were lost: then none is kept. */
static int unqueue_fds(struct stream *s, int *fds, int want)
{
    int got = 0, used = 0;
    bool lost = false;
    while (got < want && used < s->nfds && !lost) {
        lost = s->fds[used] == FD_LOST;
        if (!lost)
            fds[got++] = s->fds[used];
        used++;
    }
    s->nfds -= used;
    memmove(s->fds, s->fds + used, (size_t)s->nfds * sizeof(int));
    if (lost)
        fds_close(fds, got);
    return lost ? STREAM_FDS_LOST : got;
}

static int stream_deliver(struct stream *s, const struct frame *frame, const uint8_t *payload,
                          stream_frame_fn *on_frame, void *context)
{
    int fds[STREAM_FDS_MAX];
    int want = FRAME_FDS(frame->flags);
    int got = unqueue_fds(s, fds, want);
    if (got != STREAM_FDS_LOST && got < want) {
        fds_close(fds, got);
        return broken(s, "frame announces descriptors that did not come");
    }
    return on_frame(context, frame, payload, fds, got);
}

/* Gives the frame whose first bytes these are memory of its own. */
static bool large_begin(struct stream *s, const uint8_t *bytes, size_t used, size_t size)
{
    struct large *l = &s->large;
    if (l->capacity != size) {
        free(l->bytes);
        *l = (struct large){.bytes = malloc(size)};
        if (l->bytes == NULL)
            return false;
        l->capacity = size;
    }
    memcpy(l->bytes, bytes, used);
    l->size = size;
    l->used = used;
    return true;
}

uint8_t *stream_take(struct stream *s, const uint8_t *payload)
{
    uint8_t *bytes = s->large.bytes;
    if (s->large.size == 0 || payload != bytes + FRAME_HEADER_BYTES)
        return NULL;
    s->large = (struct large){0};
    return bytes;
}

/* Hands on every whole frame and keeps the rest. */
static int stream_parse(struct stream *s, stream_frame_fn *on_frame, void *context)
{
    size_t at = 0;
    int result = 0;
    while (result == 0) {
        bool large = s->large.size > 0; /* what is in the buffer comes behind it */
        const uint8_t *bytes = large ? s->large.bytes : s->in + at;
        size_t used = large ? s->large.used : s->in_used - at;
        struct frame frame;
        if (used < FRAME_HEADER_BYTES)
            break;
        const char *refused = frame_decode(bytes, &frame);
        if (refused != NULL)
            return broken(s, refused);
        size_t size = FRAME_HEADER_BYTES + frame.length;
        if (used < size && !large && frame.length >= STREAM_LARGE_BYTES) {
            if (!large_begin(s, bytes, used, size))
                return broken(s, "memory is exhausted");
            s->in_used = at;
        }
        if (used < size)
            break;
        result = stream_deliver(s, &frame, bytes + FRAME_HEADER_BYTES, on_frame, context);
        if (result == STREAM_KEEP)
            break;
        if (large)
            s->large.size = s->large.used = 0;
        else
            at += size;
        s->done += size;
    }
    s->in_used -= at;
    memmove(s->in, s->in + at, s->in_used);
    return result;
}

int stream_read(struct stream *s, stream_frame_fn *on_frame, void *context)
{
    if (s->error != NULL)
        return STREAM_BROKEN;
    /* Frames are left when on_frame stopped the last read. */
    int kept = stream_parse(s, on_frame, context);
    if (kept != 0)
        return kept;
    for (size_t total = 0; total < READ_MAX_BYTES;) {
        size_t room;
        ssize_t n = stream_fill(s, &room);
        if (n <= 0)
            return (int)n;
        int result = stream_parse(s, on_frame, context);
        if (result != 0)
            return result;
        if ((size_t)n < room)
            return 0; /* nothing more for now, or descriptors came with what was read */
        total += (size_t)n;
    }
    return 0;
}

/* ---- out ------------------------------------------------------------------------------------- */

static struct chunk *chunk_add(struct stream *s, size_t size)
{
    size_t capacity = size > CHUNK_BYTES ? size : CHUNK_BYTES;
    struct chunk *chunk = malloc(sizeof *chunk + capacity);
    if (chunk == NULL)
        return NULL;
    *chunk = (struct chunk){.capacity = capacity};
    LINK_LAST(s->first, s->last, chunk, next);
    return chunk;
}

static int fds_duplicate(int *copies, const int *fds, int nfds)
{
    for (int i = 0; i < nfds; i++) {
        copies[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 0);
        if (copies[i] < 0) {
            fds_close(copies, i);
            return -EMFILE;
        }
    }
    return 0;
}

int stream_put(struct stream *s, const struct frame *frame, const uint8_t *payload, const int *fds,
               int nfds)
{
    int copies[STREAM_FDS_MAX];
    int error = nfds > STREAM_FDS_MAX ? -EINVAL : fds_duplicate(copies, fds, nfds);
    if (error != 0)
        return error;
    size_t size = FRAME_HEADER_BYTES + frame->length;
    struct chunk *chunk = s->last;
    if (nfds > 0 || chunk == NULL || chunk->capacity - chunk->used < size)
        chunk = chunk_add(s, size);
    if (chunk == NULL) {
        fds_close(copies, nfds);
        return -ENOMEM;
    }
    struct frame f = *frame;
    f.flags = (uint8_t)((f.flags & FRAME_FLAGS_CARRIED) | nfds << FRAME_FDS_SHIFT);
    frame_encode(&f, chunk->bytes + chunk->used);
    if (f.length > 0)
        memcpy(chunk->bytes + chunk->used + FRAME_HEADER_BYTES, payload, f.length);
    chunk->used += size;
    if (nfds > 0) {
        memcpy(chunk->fds, copies, (size_t)nfds * sizeof(int));
        chunk->nfds = nfds;
        s->queued_fds += (unsigned)nfds;
    }
    s->queued += size;
    s->put += size;
    return 0;
}

/* Chunks up to the next one with descriptors of its own as one vector. */
static int stream_gather(const struct stream *s, struct iovec *iov)
{
    int count = 0;
    for (struct chunk *chunk = s->first; chunk != NULL && count < IOV_COUNT; chunk = chunk->next) {
        if (count > 0 && chunk->nfds > 0)
            break;
        iov[count].iov_base = chunk->bytes + chunk->sent;
        iov[count++].iov_len = chunk->used - chunk->sent;
    }
    return count;
}

static void written(struct stream *s, size_t size)
{
    assert(s->first != NULL && size <= s->queued);
    assert(s->queued_fds >= (unsigned)s->first->nfds);
    s->queued -= size;
    fds_close(s->first->fds, s->first->nfds); /* they went with the first byte */
    s->queued_fds -= (unsigned)s->first->nfds;
    s->first->nfds = 0;
    while (size > 0) {
        struct chunk *chunk = s->first;
        size_t part = chunk->used - chunk->sent < size ? chunk->used - chunk->sent : size;
        chunk->sent += part;
        size -= part;
        if (chunk->sent == chunk->used)
            chunk_drop_first(s);
    }
}

/* What sendmsg() returns; the descriptors of the first chunk go with it. */
static ssize_t write_vector(struct stream *s, struct iovec *iov, int count)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int) * STREAM_FDS_MAX)];
        struct cmsghdr align;
    } control = {0};
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = (size_t)count, .msg_control = control.bytes};
    if (s->first != NULL && s->first->nfds > 0) {
        const struct chunk *chunk = s->first;
        size_t size = (size_t)chunk->nfds * sizeof(int);
        msg.msg_controllen = CMSG_SPACE(size);
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(c), chunk->fds, size);
    } else
        msg.msg_control = NULL;
    return sendmsg(s->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int stream_flush(struct stream *s)
{
    while (s->first != NULL) {
        struct iovec iov[IOV_COUNT];
        ssize_t n = write_vector(s, iov, stream_gather(s, iov));
        if (n < 0 && errno == ETOOMANYREFS)
            return STREAM_LATER;
        if (n < 0)
            return errno == EAGAIN || errno == EINTR ? 1 : STREAM_CLOSED;
        written(s, (size_t)n);
    }
    return 0;
}

/* Writes what is queued and, behind that, the pieces. Returns how many bytes of the pieces went. */
static size_t write_through(struct stream *s, const struct iovec *pieces, int count)
{
    struct iovec iov[IOV_COUNT + STREAM_PIECES_MAX + 1];
    size_t queued = 0;
    int gathered = stream_gather(s, iov);
    for (int i = 0; i < gathered; i++)
        queued += iov[i].iov_len;
    if (queued < s->queued)
        return 0; /* it takes more than one call */
    memcpy(iov + gathered, pieces, (size_t)count * sizeof *pieces);
    ssize_t n = write_vector(s, iov, gathered + count);
    if (n <= 0)
        return 0;
    size_t part = (size_t)n < queued ? (size_t)n : queued;
    if (gathered > 0)
        written(s, part);
    return (size_t)n - part;
}

/* Queues what is behind the first `skip` bytes of the pieces, `size` bytes. */
static int queue_rest(struct stream *s, const struct iovec *pieces, int count, size_t skip,
                      size_t size)
{
    struct chunk *chunk = s->last;
    if (chunk == NULL || chunk->capacity - chunk->used < size)
        chunk = chunk_add(s, size);
    if (chunk == NULL)
        return -ENOMEM;
    for (int i = 0; i < count; i++) {
        size_t gone = pieces[i].iov_len < skip ? pieces[i].iov_len : skip;
        size_t part = pieces[i].iov_len - gone;
        skip -= gone;
        if (part > 0)
            memcpy(chunk->bytes + chunk->used, (const uint8_t *)pieces[i].iov_base + gone, part);
        chunk->used += part;
    }
    s->queued += size;
    return 0;
}

int stream_put_pieces(struct stream *s, const struct frame *frame, const struct iovec *pieces,
                      int count)
{
    uint8_t header[FRAME_HEADER_BYTES];
    struct iovec whole[STREAM_PIECES_MAX + 1] = {{header, sizeof header}};
    struct frame f = *frame;
    size_t size = FRAME_HEADER_BYTES + f.length, gone = 0;
    assert(count <= STREAM_PIECES_MAX);
    memcpy(whole + 1, pieces, (size_t)count * sizeof *pieces);
    f.flags &= FRAME_FLAGS_CARRIED;
    frame_encode(&f, header);
    if (f.length >= STREAM_LARGE_BYTES)
        gone = write_through(s, whole, count + 1);
    if (gone < size && queue_rest(s, whole, count + 1, gone, size - gone) != 0) {
        if (gone > 0)
            shutdown(s->fd, SHUT_RDWR); /* the other end must not wait for the rest */
        return -ENOMEM;
    }
    s->put += size;
    return 0;
}
