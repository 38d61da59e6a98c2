/*
 * link_sealed.c - records over a non-blocking socket.
 *
 * Out: one record at a time. What the caller offers is gathered into it and sealed; the bytes count
 * as taken only when the whole record is with the kernel, until then he offers them again. In: a
 * buffer of at least two records. A record that fits where the caller wants it is opened straight
 * into his memory; otherwise it is opened where it lies and given from there.
 */
#include "lib/link/link_sealed.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define IN_BYTES (2 * RECORD_BYTES(RECORD_BODY_MAX))

struct sealed {
    struct record_way out, in;
    size_t body;             /* of the record on its way, 0: none */
    size_t sent;             /* bytes of that record */
    size_t start, end;       /* in buffer: what came and is not opened */
    size_t opened, open_end; /* in buffer: what was opened and is not given */
    uint8_t record[RECORD_BYTES(RECORD_BODY_MAX)];
    uint8_t buffer[IN_BYTES];
};

struct sealed *sealed_create(const struct stream_auth *auth, bool opener)
{
    struct sealed *s = malloc(sizeof *s);
    if (s == NULL)
        return NULL;
    memset(s, 0, offsetof(struct sealed, record));
    uint8_t key[2][AUTH_KEY_BYTES];
    stream_auth_keys(auth, key[!opener], key[opener]);
    bool good = record_way_begin(&s->out, key[0]);
    good = record_way_begin(&s->in, key[1]) && good;
    sodium_memzero(key, sizeof key);
    if (good)
        return s;
    sealed_destroy(s);
    return NULL;
}

void sealed_destroy(struct sealed *s)
{
    if (s == NULL)
        return;
    record_way_end(&s->out);
    record_way_end(&s->in);
    sodium_memzero(s, sizeof *s); /* what was in the clear */
    free(s);
}

/* ---- out ------------------------------------------------------------------------------------- */

ssize_t sealed_send(struct sealed *s, int fd, const struct iovec *iov, int count,
                    const char **error)
{
    if (s->body == 0) {
        s->body = s->sent = 0;
        for (int i = 0; i < count; i++) {
            size_t room = RECORD_BODY_MAX - s->body;
            size_t part = iov[i].iov_len < room ? iov[i].iov_len : room;
            if (part > 0)
                memcpy(s->record + RECORD_HEAD_BYTES + s->body, iov[i].iov_base, part);
            s->body += part;
        }
        if (s->body > 0)
            record_seal(&s->out, s->record, s->body);
    }
    while (s->body > 0 && s->sent < RECORD_BYTES(s->body)) {
        ssize_t n = send(fd, s->record + s->sent, RECORD_BYTES(s->body) - s->sent,
                         MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
            return LINK_CLOSED;
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return *error = NULL, LINK_BROKEN;
        if (n < 0)
            return 0;
        s->sent += (size_t)n;
    }
    size_t taken = s->body, offered = 0;
    for (int i = 0; i < count; i++)
        offered += iov[i].iov_len;
    s->body = 0;
    if (offered < taken)
        return *error = "what was offered is no longer what was sealed", LINK_BROKEN;
    return (ssize_t)taken;
}

/* ---- in -------------------------------------------------------------------------------------- */

/* Bytes of body of the whole record that is next, 0: it is not whole. *error: it cannot be one. */
static size_t next_body(const struct sealed *s, const char **error)
{
    if (s->end - s->start < RECORD_HEAD_BYTES)
        return 0;
    size_t body = record_body_bytes(s->buffer + s->start);
    if (body == 0)
        *error = "a record of no possible length";
    return s->end - s->start < RECORD_BYTES(body) ? 0 : body;
}

/* Reads once into the buffer, behind what is there. */
static ssize_t refill(struct sealed *s, int fd, const char **error)
{
    memmove(s->buffer, s->buffer + s->start, s->end - s->start);
    s->end -= s->start;
    s->start = 0;
    ssize_t n = recv(fd, s->buffer + s->end, sizeof s->buffer - s->end, MSG_DONTWAIT);
    if (n > 0) {
        s->end += (size_t)n;
        return n;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n < 0 && errno != ECONNRESET)
        return *error = NULL, LINK_BROKEN;
    if (s->end == 0)
        return LINK_CLOSED;
    *error = "it ended in the middle of a record";
    return LINK_BROKEN;
}

static size_t sealed_give(struct sealed *s, void *bytes, size_t size)
{
    size_t part = s->open_end - s->opened < size ? s->open_end - s->opened : size;
    memcpy(bytes, s->buffer + s->opened, part);
    s->opened += part;
    return part;
}

static ssize_t open_next(struct sealed *s, size_t body, void *bytes, size_t size)
{
    uint8_t *record = s->buffer + s->start;
    bool direct = size >= body;
    if (!record_open(&s->in, direct ? bytes : record + RECORD_HEAD_BYTES, record))
        return LINK_BROKEN;
    if (!direct) {
        s->opened = s->start + RECORD_HEAD_BYTES;
        s->open_end = s->opened + body;
    }
    s->start += RECORD_BYTES(body);
    return (ssize_t)(direct ? body : sealed_give(s, bytes, size));
}

ssize_t sealed_recv(struct sealed *s, int fd, void *bytes, size_t size, const char **error)
{
    const char *refused = NULL;
    size_t body;
    if (s->opened < s->open_end)
        return (ssize_t)sealed_give(s, bytes, size);
    while ((body = next_body(s, &refused)) == 0 && refused == NULL) {
        ssize_t n = refill(s, fd, error);
        if (n <= 0)
            return n;
    }
    ssize_t given = refused == NULL ? open_next(s, body, bytes, size) : LINK_BROKEN;
    if (given == LINK_BROKEN)
        *error = refused != NULL ? refused : "a record that is not authentic";
    return given;
}

bool sealed_holds(const struct sealed *s)
{
    const char *refused = NULL;
    return s->opened < s->open_end || next_body(s, &refused) > 0 || refused != NULL;
}
