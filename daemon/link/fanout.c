/*
 * Sent in the order in which they come, datagrams to several hosts would change their destination
 * with each, and be a send and a packet through the kernel each. So those for the same hosts are
 * kept, up to what one segmented send takes, and leave host by host.
 */
#include "daemon/link/fanout.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/link/media.h"

#define FANOUT_BYTES 60000
#define FANOUT_COUNT 64

struct fanout {
    struct host_set to;
    unsigned count;
    size_t used;
    size_t sizes[FANOUT_COUNT];
    uint8_t bytes[FANOUT_BYTES];
};

struct fanout *fanout_create(void)
{
    struct fanout *f = malloc(sizeof *f);
    if (f != NULL)
        f->count = 0, f->used = 0; /* the rest is touched only when something is cast */
    return f;
}

void fanout_destroy(struct fanout *f)
{
    free(f);
}

void fanout_add(struct fanout *f, struct daemon *d, const struct host_set *to, const uint8_t *bytes,
                size_t size)
{
    if (size > FANOUT_BYTES)
        return;
    if (f->count == FANOUT_COUNT || f->used + size > FANOUT_BYTES ||
        (f->count > 0 && !host_set_equal(&f->to, to)))
        fanout_flush(f, d);
    f->to = *to;
    memcpy(f->bytes + f->used, bytes, size);
    f->sizes[f->count++] = size;
    f->used += size;
}

void fanout_flush(struct fanout *f, struct daemon *d)
{
    for (uint32_t host = 0; f->count > 0 && (host = host_set_next(&f->to, host)) != 0;) {
        const struct address *path = node_path(d->node, host);
        if (path != NULL) {
            const uint8_t *at = f->bytes;
            for (unsigned i = 0; i < f->count; i++) {
                media_send(d, path, at, f->sizes[i]);
                at += f->sizes[i];
            }
        }
    }
    f->count = 0;
    f->used = 0;
}
