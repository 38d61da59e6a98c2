/*
 * The daemon's log for whoever asks, on this host or another one. A piece goes in one answer, and
 * the asker says where the next one begins: the daemon keeps nothing of it, and is busy no longer
 * than a read of a file in memory takes.
 */
#include <errno.h>
#include <string.h>

#include "daemon/base/daemon.h"
#include "daemon/post/reply.h"
#include "lib/covey.h"

static const char *logs_on_log(struct daemon *d, uint32_t source, struct cursor *payload)
{
    uint32_t request = cursor_get_u32(payload);
    int64_t from = (int64_t)cursor_get_u64(payload);
    uint8_t bytes[CONTROL_LOG_BYTES];
    uint64_t at = 0;
    if (!cursor_done(payload))
        return "bad payload";
    ssize_t n = log_read(&d->log, from, bytes, sizeof bytes, &at);
    if (n < 0) {
        reply_error(d, source, request, COVEY_EINVAL, "the daemon of host %s %s%s", d->self.name,
                    n == -ENOTSUP ? "runs in the foreground: its log is its standard error"
                                  : "cannot read its log: ",
                    n == -ENOTSUP ? "" : strerror((int)-n));
        return NULL;
    }
    struct reply reply;
    reply_begin(&reply, d, source, request);
    struct cursor c = reply_room(&reply, 8 + (size_t)n);
    cursor_put_u64(&c, at);
    cursor_put_bytes(&c, bytes, (size_t)n);
    reply_add(&reply, &c);
    reply_send(&reply, 0);
    return NULL;
}

const struct part logs_part = {
    .name = "logs", .kinds = (const struct part_kind[]){{FRAME_LOG, logs_on_log, true}, {0}}};
