/* links: proto/cast/cast.c proto/cast/cast_flush.c proto/cast/cast_order.c proto/cast/cast_receive.c proto/cast/cast_ring.c proto/cast/cast_send.c proto/cast/cast_wire.c proto/wire/host_set.c proto/auth/handshake.c proto/wire/datagram.c proto/auth/auth.c cipher/cipher*.c proto/wire/frame.c proto/wire/cursor.c */
/*
 * cast_names_test.c - a host casts to more sets of hosts than channels have names, and than there
 * are tombs for those that ended.
 */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "proto/cast/cast_state.h"
#include "tests/unit/proto/cast/side.h"
#include "tests/unit/runner.h"

enum { SENDER = 1, MEMBER = 2, OTHER = 3, HOSTS = 3, FRAMES = 4096, ABSENT = 100, STEP_US = 1000 };

struct bytes {
    uint32_t from, to;
    size_t size;
    uint8_t *at;
};

struct story {
    struct cast *casts[HOSTS + 1];
    struct side sides[HOSTS + 1];
    struct bytes frames[FRAMES];
    size_t count;
    struct bytes last; /* the last datagram */
    bool deaf;         /* the third host gets no frames for now */
    uint64_t now_us;
};

static struct bytes copy_of(uint32_t from, uint32_t to, const uint8_t *bytes, size_t size)
{
    struct bytes copy = {from, to, size, malloc(size)};
    CU_ASSERT_PTR_NOT_NULL_FATAL(copy.at);
    memcpy(copy.at, bytes, size);
    return copy;
}

static void on_multicast(void *context, const struct host_set *to, const uint8_t *bytes,
                         size_t size)
{
    struct side *side = context;
    struct story *s = side->story;
    free(s->last.at);
    s->last = copy_of(side->host, 0, bytes, size);
    for (uint32_t host = 0; (host = host_set_next(to, host)) != 0;)
        cast_on_datagram(s->casts[host], bytes, size, s->now_us);
}

static void on_unicast(void *context, uint32_t host, const uint8_t *bytes, size_t size)
{
    struct side *side = context;
    cast_on_datagram(side->story->casts[host], bytes, size, side->story->now_us);
}

static void on_control(void *context, uint32_t host, const uint8_t *payload, size_t size)
{
    struct side *side = context;
    CU_ASSERT_FATAL(side->story->count < FRAMES);
    side->story->frames[side->story->count++] = copy_of(side->host, host, payload, size);
}

static struct story *begin(uint64_t first_id)
{
    struct story *s = calloc(1, sizeof *s);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    for (uint32_t i = 1; i <= HOSTS; i++) {
        s->sides[i] = (struct side){.story = s, .host = i};
        struct cast_config config = {.vm = "story", .self = host_of(i), .buffer_bytes = 1};
        struct cast_owner owner = {&s->sides[i], on_multicast, on_unicast,
                                   on_control,   on_deliver,   NULL};
        s->casts[i] = cast_create(&config, &owner);
        CU_ASSERT_PTR_NOT_NULL_FATAL(s->casts[i]);
        s->casts[i]->next_id = first_id;
        for (uint32_t k = 1; k <= HOSTS; k++) {
            struct host host = host_of(k);
            cast_host_up(s->casts[i], &host, 0);
        }
    }
    return s;
}

static void forget_frames(struct story *s)
{
    while (s->count > 0)
        free(s->frames[--s->count].at);
}

static void end(struct story *s)
{
    for (uint32_t i = 1; i <= HOSTS; i++)
        cast_destroy(s->casts[i]);
    forget_frames(s);
    free(s->last.at);
    free(s);
}

/* Hands over what is under way, in its order; frames for the third host wait while it is deaf. */
static void carry(struct story *s)
{
    size_t kept = 0, count = s->count;
    for (size_t i = 0; i < count; i++) {
        struct bytes f = s->frames[i];
        if (s->deaf && f.to == OTHER) {
            s->frames[kept++] = f;
            continue;
        }
        if (s->casts[f.to] != NULL)
            CU_ASSERT_PTR_NULL(cast_on_control(s->casts[f.to], f.from, f.at, f.size, s->now_us));
        free(f.at);
    }
    memmove(s->frames + kept, s->frames + count, (s->count - count) * sizeof s->frames[0]);
    s->count -= count - kept;
}

static void run(struct story *s, unsigned steps)
{
    for (; steps > 0; steps--) {
        s->now_us += STEP_US;
        carry(s);
        for (uint32_t i = 1; i <= HOSTS; i++) {
            if (s->casts[i] != NULL)
                cast_step(s->casts[i], s->now_us);
        }
    }
}

/* To the member; of sets that differ in a host that is not there each has a channel of its own. */
static void cast_to(struct story *s, uint32_t absent, bool other)
{
    struct host_set to = {{0}};
    host_set_add(&to, MEMBER);
    if (other)
        host_set_add(&to, OTHER);
    if (absent > 0)
        host_set_add(&to, ABSENT + absent);
    CU_ASSERT_EQUAL(cast_send(s->casts[SENDER], &to, (const uint8_t *)"message", 7, s->now_us), 0);
}

static void names_come_again(void)
{
    struct story *s = begin(CAST_NAME_MAX - 3);
    for (unsigned i = 1; i <= 10; i++) {
        cast_to(s, i, false);
        run(s, 10);
        CU_ASSERT_EQUAL(s->sides[MEMBER].given, i);
    }
    CU_ASSERT(s->casts[SENDER]->next_id > CAST_NAME_MAX);
    end(s);
}

/* The name of a channel that is open is not given to another. */
static void a_name_in_use_is_passed_over(void)
{
    struct story *s = begin(7);
    cast_to(s, 1, false);
    cast_to(s, 2, false);
    run(s, 10);
    s->casts[SENDER]->next_id = (uint64_t)CAST_NAME_MAX + 1 + 7; /* ids 7 and 8 are open */
    cast_to(s, 3, false);
    run(s, 10);
    CU_ASSERT_EQUAL(s->casts[SENDER]->next_id, (uint64_t)CAST_NAME_MAX + 1 + 10);
    cast_to(s, 1, false);
    cast_to(s, 2, false);
    cast_to(s, 3, false);
    run(s, 10);
    CU_ASSERT_EQUAL(s->sides[MEMBER].given, 6);
    CU_ASSERT_EQUAL(s->casts[MEMBER]->counters.refused, 0);
    end(s);
}

/* A datagram of an earlier channel of the same name comes late. */
static void a_late_fragment_is_refused(void)
{
    struct story *s = begin(7);
    cast_to(s, 1, false);
    run(s, 10);
    struct bytes late = s->last;
    s->last.at = NULL;
    cast_close(s->casts[SENDER], s->casts[SENDER]->channels[SENDER]);
    s->casts[SENDER]->next_id = (uint64_t)CAST_NAME_MAX + 1 + 7;
    cast_to(s, 2, false);
    run(s, 10);
    CU_ASSERT_EQUAL(s->sides[MEMBER].given, 2);
    cast_to(s, 2, false);
    cast_on_datagram(s->casts[MEMBER], late.at, late.size, s->now_us);
    CU_ASSERT_EQUAL(s->casts[MEMBER]->counters.refused, 1);
    run(s, 10);
    CU_ASSERT_EQUAL(s->sides[MEMBER].given, 3);
    free(late.at);
    end(s);
}

/* A channel's end comes late to one member, after another has seen the end of more than it keeps
 * tombs of, and the sender dies: they agree all the same. */
static void tombs_come_to_their_end(void)
{
    struct story *s = begin(0);
    cast_to(s, 0, true);
    run(s, 20);
    CU_ASSERT_EQUAL(s->sides[OTHER].given, 1);
    s->deaf = true;
    for (unsigned i = 1; i <= CAST_TOMBS + 2 * CAST_OWN_MAX; i++) {
        cast_to(s, i, false);
        run(s, 10);
    }
    CU_ASSERT_EQUAL(s->sides[MEMBER].given, 1 + CAST_TOMBS + 2 * CAST_OWN_MAX);
    cast_destroy(s->casts[SENDER]);
    s->casts[SENDER] = NULL;
    forget_frames(s); /* with the news of the end */
    s->deaf = false;
    cast_host_gone(s->casts[MEMBER], SENDER, s->now_us);
    cast_host_gone(s->casts[OTHER], SENDER, s->now_us);
    run(s, 20);
    CU_ASSERT_TRUE(cast_settled(s->casts[MEMBER], SENDER));
    CU_ASSERT_TRUE(cast_settled(s->casts[OTHER], SENDER));
    end(s);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"names come again", names_come_again},
        {"a name in use is passed over", a_name_in_use_is_passed_over},
        {"a late fragment is refused", a_late_fragment_is_refused},
        {"tombs come to their end", tombs_come_to_their_end},
    };
    return covey_test_main("cast names", cases, sizeof cases / sizeof cases[0]);
}
