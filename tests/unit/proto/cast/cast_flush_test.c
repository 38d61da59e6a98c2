/* links: proto/cast/cast.c proto/cast/cast_flush.c proto/cast/cast_order.c proto/cast/cast_receive.c proto/cast/cast_ring.c proto/cast/cast_send.c proto/cast/cast_wire.c proto/wire/host_set.c proto/auth/handshake.c proto/wire/datagram.c proto/auth/auth.c cipher/cipher*.c proto/wire/frame.c proto/wire/cursor.c */
/*
 * cast_flush_test.c - a sender dies, and then a survivor, in the one order in which a survivor that
 * counted statements of an earlier round would end without a message that another has got.
 */
#include "proto/cast/cast.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/proto/cast/side.h"
#include "tests/unit/runner.h"

enum { SENDER = 1, FIRST = 2, DYING = 3, LAST = 4, HOSTS = 4, FRAMES = 64 };

struct frame_copy {
    uint32_t from, to;
    size_t size;
    uint8_t bytes[2048];
};

struct story {
    struct cast *casts[HOSTS + 1];
    struct side sides[HOSTS + 1];
    struct frame_copy frames[FRAMES], datagram;
    size_t count;
    uint64_t now_us;
};

static void on_multicast(void *context, const struct host_set *to, const uint8_t *bytes,
                         size_t size)
{
    struct side *side = context;
    (void)to;
    side->story->datagram.size = size;
    memcpy(side->story->datagram.bytes, bytes, size);
}

static void on_unicast(void *context, uint32_t host, const uint8_t *bytes, size_t size)
{
    (void)context, (void)host, (void)bytes, (void)size;
}

static void on_control(void *context, uint32_t host, const uint8_t *payload, size_t size)
{
    struct side *side = context;
    struct frame_copy *f = &side->story->frames[side->story->count++];
    *f = (struct frame_copy){.from = side->host, .to = host, .size = size};
    memcpy(f->bytes, payload, size);
}

static void begin(struct story *s)
{
    memset(s, 0, sizeof *s);
    for (uint32_t i = 1; i <= HOSTS; i++) {
        s->sides[i] = (struct side){.story = s, .host = i};
        struct cast_config config = {.vm = "story", .self = host_of(i)};
        struct cast_owner owner = {&s->sides[i], on_multicast, on_unicast,
                                   on_control,   on_deliver,   NULL};
        s->casts[i] = cast_create(&config, &owner);
        for (uint32_t k = 1; k <= HOSTS; k++) {
            struct host host = host_of(k);
            cast_host_up(s->casts[i], &host, 0);
        }
    }
}

static void step(struct story *s)
{
    s->now_us += 100;
    for (uint32_t i = 1; i <= HOSTS; i++) {
        if (s->casts[i] != NULL)
            cast_step(s->casts[i], s->now_us);
    }
}

/* Hands over all frames under way from one host to another; `to` 0: to all; so many at most. */
static void carry(struct story *s, uint32_t from, uint32_t to, unsigned most)
{
    for (size_t i = 0; i < s->count && most > 0; i++) {
        struct frame_copy f = s->frames[i];
        if (f.size == 0 || f.from != from || (to != 0 && f.to != to))
            continue;
        s->frames[i].size = 0;
        most--;
        if (s->casts[f.to] != NULL)
            CU_ASSERT_PTR_NULL(cast_on_control(s->casts[f.to], from, f.bytes, f.size, s->now_us));
    }
    step(s);
}

static void die(struct story *s, uint32_t host)
{
    cast_destroy(s->casts[host]);
    s->casts[host] = NULL;
    for (size_t i = 0; i < s->count; i++) {
        if (s->frames[i].from == host)
            s->frames[i].size = 0;
    }
}

static void tell(struct story *s, uint32_t who, uint32_t gone)
{
    cast_host_gone(s->casts[who], gone, s->now_us);
    step(s);
}

/* The message comes to the host that will die alone, and its sender dies. */
static void sender_dies(struct story *s)
{
    struct host_set to = {{1 << FIRST | 1 << DYING | 1 << LAST}};
    CU_ASSERT_EQUAL(cast_send(s->casts[SENDER], &to, (const uint8_t *)"message", 7, 0), 0);
    step(s);
    carry(s, SENDER, 0, FRAMES);
    for (uint32_t i = FIRST; i <= LAST; i++)
        carry(s, i, SENDER, FRAMES);
    CU_ASSERT(s->datagram.size > 0);
    cast_on_datagram(s->casts[DYING], s->datagram.bytes, s->datagram.size, s->now_us);
    step(s);
    CU_ASSERT_EQUAL(s->sides[DYING].given, 1);
    die(s, SENDER);
    for (uint32_t i = FIRST; i <= LAST; i++)
        tell(s, i, SENDER);
}

static void test_rounds(void)
{
    struct story s;
    begin(&s);
    sender_dies(&s);
    carry(&s, FIRST, 0, 2); /* what they state; */
    carry(&s, LAST, 0, 2);
    carry(&s, DYING, FIRST, FRAMES); /* of this one all, and the message, to one alone */
    CU_ASSERT_EQUAL(s.sides[FIRST].given, 1);
    die(&s, DYING);
    tell(&s, LAST, DYING);
    CU_ASSERT_FALSE(cast_settled(s.casts[LAST], SENDER));
    tell(&s, FIRST, DYING);
    for (int i = 0; i < 4; i++) {
        carry(&s, FIRST, LAST, FRAMES);
        carry(&s, LAST, FIRST, FRAMES);
    }
    CU_ASSERT_EQUAL(s.sides[LAST].given, 1);
    CU_ASSERT(cast_settled(s.casts[LAST], SENDER));
    CU_ASSERT(cast_settled(s.casts[FIRST], SENDER));
    die(&s, FIRST);
    die(&s, LAST);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"statements count in their round alone", test_rounds},
    };
    return covey_test_main("cast flush", cases, sizeof cases / sizeof cases[0]);
}
