/* links: daemon/agree/agreement.c daemon/base/failure.c proto/state/state.c proto/state/origin.c proto/wire/command.c proto/wire/names.c proto/state/waiters.c proto/state/listeners.c proto/state/lock.c proto/state/token.c proto/state/rendezvous.c proto/state/group.c proto/state/group_engine.c proto/state/view*.c proto/state/leader.c proto/state/consensus.c proto/state/bag_place.c proto/bag/bag_wire.c proto/wire/cursor.c */
/*
 * agreement_test.c - the agreed state in a daemon that leads and has no memory left for it. The
 * node, the tasks and the other daemons are this file's.
 */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/agree/agreement.h"
#include "daemon/agree/services.h"
#include "daemon/base/daemon.h"
#include "daemon/table/ending.h"
#include "tests/daemon/replies.h"
#include "tests/unit/memory.h"
#include "tests/unit/runner.h"

static struct {
    struct daemon daemon;
    bool fails; /* all allocations */
    bool leads;
    unsigned endings, proposed;
    uint64_t asked, confirmed;
} world;

static bool memory_fails(size_t size)
{
    (void)size;
    return world.fails;
}

/* ---- what the daemon around it does ---- */

void ending_begin(struct daemon *d, enum ending_way kind, const char *why)
{
    (void)d, (void)why;
    CU_ASSERT_EQUAL(kind, ENDING_FAILED);
    world.endings++;
}

bool node_leads(const struct node *node)
{
    (void)node;
    return world.leads;
}

uint32_t node_leader(const struct node *node)
{
    (void)node;
    return 1;
}

uint64_t node_generation(const struct node *node)
{
    (void)node;
    return 1;
}

const struct host *node_host(const struct node *node, uint32_t index)
{
    (void)node, (void)index;
    return NULL;
}

int64_t node_propose(struct node *node, const uint8_t *bytes, size_t size, uint64_t now_us)
{
    (void)node, (void)bytes, (void)size, (void)now_us;
    return ++world.proposed;
}

uint64_t node_read(struct node *node, uint64_t now_us)
{
    (void)node, (void)now_us;
    return ++world.asked;
}

bool node_read_ok(const struct node *node, uint64_t number)
{
    (void)node;
    return number <= world.confirmed;
}

uint64_t loop_now_us(void)
{
    return 1;
}

uint32_t daemon_host(const struct daemon *d)
{
    (void)d;
    return 1;
}

void log_line(struct log *log, int level, const char *format, ...)
{
    (void)log, (void)level, (void)format;
}

void services_event(struct daemon *d, const struct event *event)
{
    (void)d, (void)event;
}

void services_applied(struct daemon *d, uint64_t session, uint64_t number)
{
    (void)d, (void)session, (void)number;
}

void post_send_payload(struct daemon *d, uint8_t kind, uint32_t to, const uint8_t *bytes,
                       const struct cursor *c)
{
    (void)d, (void)kind, (void)to, (void)bytes, (void)c;
}

/* ---- the stories ---- */

/* A round of the daemon: the part is stepped if it wants to. */
static void round_go(void)
{
    bool wanted = world.daemon.due[PART_agreement].wanted;
    world.daemon.due[PART_agreement].wanted = false;
    if (wanted)
        agreement_part.settle(&world.daemon, 1);
}

/* The daemon wants all parts when this host begins to lead, or ends. */
static void lead(bool leads)
{
    world.leads = leads;
    part_want(&world.daemon, PART_agreement);
}

static void begin(void)
{
    struct failure why;
    replies_begun = 0;
    memset(&world, 0, sizeof world);
    world.daemon.own.agreement = calloc(1, agreement_part.state_bytes);
    CU_ASSERT_EQUAL_FATAL(agreement_part.create(&world.daemon, &why), 0);
}

static void ask(void)
{
    uint8_t bytes[64];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    cursor_put_text(&c, "lock");
    struct question q = {.task = tid_make(1, 1), .request = 1, .kind = COMMAND_LOCK_OWNER};
    q.body = cursor_reader(bytes, (size_t)(c.at - bytes));
    agreement_ask(&world.daemon, &q);
}

/* All that a daemon does with it while it leads. */
static void go_on(void)
{
    static const uint8_t open[64] = {COMMAND_OPEN};
    round_go();
    agreement_apply(&world.daemon, 1, open, sizeof open);
    ask();
    struct cursor resend = cursor_reader((uint8_t[16]){0}, 16);
    CU_ASSERT_PTR_NULL(agreement_on_resend(&world.daemon, tid_make(2, 0), &resend));
    round_go();
}

static void a_leader_answers(void)
{
    begin();
    agreement_reset(&world.daemon);
    lead(true);
    world.confirmed = 1;
    go_on();
    CU_ASSERT_EQUAL(world.endings, 0);
    CU_ASSERT_EQUAL(replies_begun, 1);
    agreement_part.destroy(&world.daemon);
    free(world.daemon.own.agreement);
}

static void a_leader_answers_when_it_is_sure(void)
{
    begin();
    agreement_reset(&world.daemon);
    lead(true);
    go_on();
    ask();
    round_go();
    CU_ASSERT_EQUAL(replies_begun, 0);
    world.confirmed = 1;
    round_go();
    CU_ASSERT_EQUAL(replies_begun, 1);
    lead(false);
    round_go();
    lead(true);
    world.confirmed = 9;
    round_go();
    CU_ASSERT_EQUAL(replies_begun, 1);
    world.confirmed = 0;
    ask();
    agreement_part.destroy(&world.daemon);
    free(world.daemon.own.agreement);
}

static void a_leader_without_memory_ends(void)
{
    if (!MEMORY_CAN_FAIL) {
        covey_test_skip("no allocation can be made to fail here");
        return;
    }
    begin();
    world.fails = true;
    agreement_reset(&world.daemon);
    world.fails = false;
    CU_ASSERT_EQUAL(world.endings, 1);
    lead(true);
    go_on();
    CU_ASSERT_EQUAL(replies_begun, 0);
    uint8_t *bytes;
    size_t size;
    CU_ASSERT_FALSE(agreement_save(&world.daemon, &bytes, &size));
    agreement_part.destroy(&world.daemon);
    free(world.daemon.own.agreement);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"a leader answers", a_leader_answers},
        {"a leader answers when it is sure", a_leader_answers_when_it_is_sure},
        {"a leader without memory ends", a_leader_without_memory_ends},
    };
    return covey_test_main("agreement", cases, sizeof cases / sizeof cases[0]);
}
