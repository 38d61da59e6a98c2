/* links: proto/wire/contention_config.c daemon/post/casting.c proto/wire/host.c daemon/link/fanout.c proto/wire/control.c proto/contention/contention.c proto/wire/cursor.c proto/wire/address.c proto/wire/host_set.c */
/*
 * casting_test.c - what a daemon does while the engine that casts takes no more. The engine and the
 * loop are this file's.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <string.h>

#include "daemon/link/ether.h"
#include "daemon/link/media.h"
#include "daemon/link/segment.h"
#include "daemon/post/backlog.h"
#include "daemon/post/casting.h"
#include "daemon/post/post.h"
#include "daemon/post/watch.h"
#include "daemon/table/connection.h"
#include "proto/auth/auth.h"
#include "proto/cast/cast.h"
#include "tests/daemon/replies.h"
#include "tests/unit/runner.h"

enum { HOST = 1, OTHER = 2, SENT_MAX = 16, CUT_OFF = 9 };

static struct {
    struct daemon daemon;
    int error;                       /* of cast_send(): it takes nothing */
    uint64_t now_us, sent[SENT_MAX]; /* sequence numbers of the casts that the engine took */
    unsigned sent_count, frames;
    bool passed, settled, told;
    uint32_t here[SENT_MAX]; /* tasks of this host that were handed one */
    unsigned here_count;
} world;

/* ---- the engine ---- */

struct cast *cast_create(const struct cast_config *config, const struct cast_owner *owner)
{
    (void)config, (void)owner;
    return (struct cast *)&world;
}

void cast_destroy(struct cast *cast)
{
    (void)cast;
}

int cast_send(struct cast *cast, const struct host_set *to, const uint8_t *bytes, size_t size,
              uint64_t now_us)
{
    struct cursor c = cursor_reader(bytes, size);
    struct control_mcast m;
    (void)cast, (void)now_us;
    if (world.error != 0)
        return world.error;
    cursor_get_u32(&c);
    control_get_mcast(&c, &m);
    CU_ASSERT_TRUE_FATAL(cursor_ok(&c) && host_set_has(to, OTHER) && world.sent_count < SENT_MAX);
    world.sent[world.sent_count++] = m.receivers[0].sequence;
    return 0;
}

int cast_send_total(struct cast *cast, const uint8_t *bytes, size_t size, uint64_t now_us)
{
    (void)cast, (void)bytes, (void)size, (void)now_us;
    return 0;
}

uint64_t cast_mark(const struct cast *cast)
{
    (void)cast;
    return world.sent_count;
}

bool cast_passed(const struct cast *cast, uint64_t mark)
{
    (void)cast, (void)mark;
    return world.passed;
}

uint64_t cast_step(struct cast *cast, uint64_t now_us)
{
    (void)cast, (void)now_us;
    return UINT64_MAX;
}

size_t cast_queued(const struct cast *cast)
{
    (void)cast;
    return 0;
}

void cast_host_up(struct cast *cast, const struct host *host, uint64_t now_us)
{
    (void)cast, (void)host, (void)now_us;
}

void cast_host_gone(struct cast *cast, uint32_t host, uint64_t now_us)
{
    (void)cast, (void)host, (void)now_us;
}

bool cast_settled(const struct cast *cast, uint32_t host)
{
    (void)cast, (void)host;
    return world.settled;
}

bool cast_is_datagram(const uint8_t *bytes, size_t size)
{
    (void)bytes, (void)size;
    return false;
}

void cast_on_datagram(struct cast *cast, const uint8_t *bytes, size_t size, uint64_t now_us)
{
    (void)cast, (void)bytes, (void)size, (void)now_us;
}

const char *cast_on_control(struct cast *cast, uint32_t host, const uint8_t *payload, size_t size,
                            uint64_t now_us)
{
    (void)cast, (void)host, (void)payload, (void)size, (void)now_us;
    return NULL;
}

const char *cast_stat(const struct cast *cast, size_t i, uint64_t *value)
{
    (void)cast, (void)i, (void)value;
    return NULL;
}

/* ---- the daemon around it ---- */

uint64_t loop_now_us(void)
{
    return world.now_us;
}

uint32_t daemon_host(const struct daemon *d)
{
    (void)d;
    return HOST;
}

uint32_t daemon_tid(const struct daemon *d)
{
    (void)d;
    return tid_make(HOST, 0);
}

void media_send(struct daemon *d, const struct address *to, const uint8_t *bytes, size_t size)
{
    (void)d, (void)to, (void)bytes, (void)size;
}

void auth_derive(uint8_t out[AUTH_KEY_BYTES], const uint8_t secret[AUTH_KEY_BYTES],
                 const char *label, const void *context, size_t size)
{
    (void)secret, (void)label, (void)context, (void)size;
    memset(out, 0, AUTH_KEY_BYTES);
}

const struct host *node_self(const struct node *node)
{
    static const struct host self = {.index = HOST};
    (void)node;
    return &self;
}

const struct host *node_host_at(const struct node *node, size_t i)
{
    (void)node, (void)i;
    return NULL;
}

const struct address *node_path(const struct node *node, uint32_t host)
{
    (void)node, (void)host;
    return NULL;
}

const struct address *node_ether_path(const struct node *node, uint32_t host)
{
    (void)node, (void)host;
    return NULL;
}

enum node_ether node_ether_state(const struct node *node, uint32_t host)
{
    (void)node, (void)host;
    return NODE_ETHER_NONE;
}

void node_open_ether(struct node *node, uint32_t host, uint64_t now_us)
{
    (void)node, (void)host, (void)now_us;
}

int node_send(struct node *node, uint32_t host, const struct frame *frame, const uint8_t *payload,
              uint64_t now_us)
{
    (void)node, (void)host, (void)frame, (void)payload, (void)now_us;
    return 0;
}

int node_send_behind(struct node *node, uint32_t host, const struct frame *frame,
                     const uint8_t *payload, uint64_t now_us)
{
    (void)node, (void)host, (void)frame, (void)payload, (void)now_us;
    world.frames++;
    return 0;
}

struct ether_link *segment_link(const struct daemon *d)
{
    (void)d;
    return NULL;
}

size_t node_datagram_bytes(const struct node *node, uint32_t host)
{
    (void)node, (void)host;
    return 0;
}

size_t ether_datagram_bytes(const struct ether_link *link)
{
    (void)link;
    return 0;
}

int ether_join(struct ether_link *link, const struct address *group, bool join)
{
    (void)link, (void)group, (void)join;
    return 0;
}

void log_line(struct log *log, int level, const char *format, ...)
{
    (void)log, (void)level, (void)format;
}

void post_send(struct daemon *d, const struct frame *frame, const uint8_t *payload)
{
    (void)d, (void)payload;
    CU_ASSERT_TRUE_FATAL(frame->kind == FRAME_CAST_DATA && world.here_count < SENT_MAX);
    world.here[world.here_count++] = frame->destination;
}

struct task *task_find(const struct tasks *tasks, uint32_t tid)
{
    static struct task task;
    (void)tasks;
    task.tid = tid;
    return tid_local(tid) == CUT_OFF ? &task : NULL;
}

bool backlog_admit(struct task *to, const struct frame *frame)
{
    (void)to, (void)frame;
    return false;
}

void watch_host_event(struct daemon *d, const struct host *host, int event)
{
    (void)d, (void)host;
    world.told = world.told || event == NODE_HOST_GONE;
}

/* ---- the stories' words ---- */

static void begin(void)
{
    static const struct options options;
    memset(&world, 0, sizeof world);
    world.daemon.options = &options;
    world.passed = world.settled = true;
    casting_part.joined(&world.daemon);
    CU_ASSERT_PTR_NOT_NULL_FATAL(world.daemon.own.casting);
}

static void cast_to(const struct control_mcast *m)
{
    uint8_t bytes[64];
    struct cursor out = cursor_writer(bytes, sizeof bytes);
    cursor_put_u32(&out, 0);
    control_put_mcast(&out, m);
    struct cursor in = cursor_reader(bytes, (size_t)(out.at - bytes));
    CU_ASSERT_PTR_NULL(casting_on_cast(&world.daemon, tid_make(HOST, 1), &in));
}

static void cast(uint64_t sequence)
{
    struct control_mcast m = {.count = 1, .receivers = {{tid_make(OTHER, 1), sequence}}};
    cast_to(&m);
}

/* ---- stories ---- */

/* Casts to more sets of hosts than have channels: none is lost, and their order stays. */
static void what_finds_no_channel_waits(void)
{
    begin();
    cast(1);
    world.error = -EBUSY;
    cast(2);
    CU_ASSERT_TRUE(casting_part.full(&world.daemon));
    CU_ASSERT(casting_part.settle(&world.daemon, 0) <= 1000);
    world.error = 0;
    cast(3); /* not before the second */
    CU_ASSERT_EQUAL(world.sent_count, 1);
    CU_ASSERT_EQUAL(casting_part.settle(&world.daemon, 1000), UINT64_MAX);
    CU_ASSERT_EQUAL_FATAL(world.sent_count, 3);
    for (unsigned i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(world.sent[i], i + 1);
    CU_ASSERT_FALSE(casting_part.full(&world.daemon));
    casting_part.destroy(&world.daemon);
}

static void what_there_is_no_memory_for_waits(void)
{
    begin();
    world.error = -ENOMEM;
    cast(1);
    CU_ASSERT_TRUE(casting_part.full(&world.daemon));
    CU_ASSERT(casting_part.settle(&world.daemon, 0) <= 1000);
    world.error = 0;
    cast(2);
    casting_part.settle(&world.daemon, 1000);
    CU_ASSERT_EQUAL_FATAL(world.sent_count, 2);
    CU_ASSERT_EQUAL(world.sent[0], 1);
    casting_part.destroy(&world.daemon);
}

static void news_of_an_end_wait_behind_it(void)
{
    const struct frame gone = {.kind = FRAME_GONE, .length = 1, .destination = tid_make(OTHER, 0)};
    begin();
    CU_ASSERT_FALSE(casting_keeps(&world.daemon, &gone, (const uint8_t *)"x"));
    world.error = -EBUSY;
    cast(1);
    CU_ASSERT_TRUE(casting_keeps(&world.daemon, &gone, (const uint8_t *)"x"));
    casting_part.settle(&world.daemon, 0);
    CU_ASSERT_EQUAL(world.frames, 0);
    world.error = 0;
    casting_part.settle(&world.daemon, 1000);
    CU_ASSERT_EQUAL(world.frames, 1);
    casting_part.destroy(&world.daemon);
}

/* Receivers of the sender's own host: at once, the engine is not asked for them. */
static void tasks_of_this_host_get_theirs_here(void)
{
    struct control_mcast both = {.count = 3,
                                 .receivers = {{tid_make(HOST, 2), 1},
                                               {tid_make(OTHER, 1), 1},
                                               {tid_make(HOST, CUT_OFF), 1}}};
    struct control_mcast here = {.count = 1, .receivers = {{tid_make(HOST, 3), 1}}};
    begin();
    cast_to(&both);
    CU_ASSERT_EQUAL(world.sent_count, 1);
    CU_ASSERT_EQUAL(world.here_count, 1); /* not the one that is cut off */
    CU_ASSERT_EQUAL(world.here[0], tid_make(HOST, 2));
    cast_to(&here);
    CU_ASSERT_EQUAL(world.sent_count, 1);
    CU_ASSERT_EQUAL(world.here_count, 2);
    CU_ASSERT_EQUAL(world.here[1], tid_make(HOST, 3));
    casting_part.destroy(&world.daemon);
}

static void the_end_of_a_host_is_told_behind_its_casts(void)
{
    const struct host other = {.index = OTHER, .name = "other", .arch = ""};
    begin();
    world.daemon.conf.fail_timeout_us = 1000;
    world.settled = false;
    CU_ASSERT_FALSE(casting_host_event(&world.daemon, &other, NODE_HOST_GONE));
    CU_ASSERT_TRUE(casting_is_late(&world.daemon, OTHER));
    CU_ASSERT_FALSE(casting_is_late(&world.daemon, HOST));
    casting_part.settle(&world.daemon, 5000); /* survivors may have to find out who else is gone */
    CU_ASSERT_FALSE(world.told);
    world.settled = true;
    casting_part.settle(&world.daemon, 5001);
    CU_ASSERT_TRUE(world.told);
    CU_ASSERT_FALSE(casting_is_late(&world.daemon, OTHER));
    casting_part.destroy(&world.daemon);
}

static void what_waits_is_freed_with_it(void)
{
    begin();
    world.error = -EBUSY;
    cast(1);
    casting_part.destroy(&world.daemon);
    CU_ASSERT_PTR_NULL(world.daemon.own.casting);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"what finds no channel waits", what_finds_no_channel_waits},
        {"what there is no memory for waits", what_there_is_no_memory_for_waits},
        {"news of an end wait behind it", news_of_an_end_wait_behind_it},
        {"tasks of this host get theirs here", tasks_of_this_host_get_theirs_here},
        {"the end of a host is told behind its casts", the_end_of_a_host_is_told_behind_its_casts},
        {"what waits is freed with it", what_waits_is_freed_with_it},
    };
    return covey_test_main("casting", cases, sizeof cases / sizeof cases[0]);
}
