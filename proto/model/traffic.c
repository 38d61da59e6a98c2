/* traffic.c - to whom a task has sent, as bytes. */
#include "proto/model/traffic.h"

#include <assert.h>

void traffic_put(struct cursor *c, const struct traffic *t)
{
    assert(t->count >= 0 && t->count <= TRAFFIC_PEERS);
    cursor_put_u32(c, t->tid);
    cursor_put_u8(c, (uint8_t)t->count);
    for (int i = 0; i < t->count; i++) {
        cursor_put_u32(c, t->peers[i].tid);
        cursor_put_u64(c, t->peers[i].sent);
        cursor_put_u64(c, t->peers[i].bytes);
    }
}

void traffic_get(struct cursor *c, struct traffic *t)
{
    t->tid = cursor_get_u32(c);
    t->count = cursor_get_u8(c);
    if (t->count > TRAFFIC_PEERS) {
        t->count = 0;
        c->bad = true;
    }
    for (int i = 0; i < t->count; i++) {
        t->peers[i].tid = cursor_get_u32(c); /* one after another: an initializer has no order */
        t->peers[i].sent = cursor_get_u64(c);
        t->peers[i].bytes = cursor_get_u64(c);
    }
}
