/* links: daemon/agree/services.c daemon/base/failure.c daemon/base/log.c proto/state/client.c proto/wire/command.c proto/wire/cursor.c */
/*
 * services_test.c - a daemon as a client of whoever leads: which commands it sends when. The loop,
 * the leader and the tasks are this file's.
 */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/agree/agreement.h"
#include "daemon/agree/bags.h"
#include "daemon/agree/services.h"
#include "daemon/base/daemon.h"
#include "daemon/table/task.h"
#include "tests/daemon/replies.h"
#include "tests/unit/runner.h"

enum { HOST = 2, LEADER = 1, SESSION = 70001, SENT_MAX = 4096 };

struct loop_timer {
    bool runs;
    uint64_t at_us;
};

static struct {
    struct daemon daemon;
    struct tasks tasks;
    struct task task;
    struct loop_timer timer;
    loop_fn *on_timer;
    void *timer_context;
    uint64_t now_us, generation;
    uint32_t leader;
    uint64_t sent[SENT_MAX]; /* numbers of commands */
    uint8_t kinds[SENT_MAX];
    unsigned sent_count, lost_told;
} world;

/* ---- what the daemon around it does ---- */

struct loop_timer *loop_timer_add(struct loop *loop, loop_fn *fn, void *context)
{
    (void)loop;
    world.on_timer = fn;
    world.timer_context = context;
    return &world.timer;
}

void loop_timer_start(struct loop_timer *timer, uint64_t delay_us)
{
    *timer = (struct loop_timer){true, world.now_us + delay_us};
}

void loop_timer_stop(struct loop_timer *timer)
{
    timer->runs = false;
}

void loop_timer_remove(struct loop_timer **timer)
{
    *timer = NULL;
}

bool bags_any(const struct daemon *d)
{
    (void)d;
    return false;
}

void bags_state_lost(struct daemon *d)
{
    (void)d;
}

void bags_on_notice(struct daemon *d, const struct event *event)
{
    (void)d, (void)event;
}

void loop_wake(struct loop *loop)
{
    (void)loop;
}

uint32_t daemon_host(const struct daemon *d)
{
    (void)d;
    return HOST;
}

const struct host *node_self(const struct node *node)
{
    static const struct host self = {.index = HOST, .incarnation = 1};
    (void)node;
    return &self;
}

uint32_t agreement_leader(const struct daemon *d)
{
    (void)d;
    return world.leader;
}

uint64_t agreement_generation(const struct daemon *d)
{
    (void)d;
    return world.generation;
}

uint64_t agreement_session_first(uint64_t incarnation)
{
    (void)incarnation;
    return SESSION;
}

void agreement_propose(struct daemon *d, const struct command *command)
{
    (void)d, (void)command;
}

void agreement_ask(struct daemon *d, struct question *question)
{
    (void)d, (void)question;
}

struct task *task_find(const struct tasks *tasks, uint32_t tid)
{
    (void)tasks;
    return tid == world.task.tid ? &world.task : NULL;
}

void post_send_payload(struct daemon *d, uint8_t kind, uint32_t to, const uint8_t *bytes,
                       const struct cursor *c)
{
    struct cursor in = cursor_reader(bytes, (size_t)(c->at - bytes));
    struct command command;
    (void)d, (void)to;
    world.lost_told += kind == FRAME_NOTICE;
    if (kind != FRAME_PROPOSE)
        return;
    command_get(&in, &command);
    CU_ASSERT_TRUE_FATAL(cursor_ok(&in) && world.sent_count < SENT_MAX);
    world.kinds[world.sent_count] = command.kind;
    world.sent[world.sent_count++] = command.number;
}

/* ---- the stories' words ---- */

/* A round of the daemon: the part is stepped if it wants to. */
static void round_go(void)
{
    bool wanted = world.daemon.due[PART_services].wanted;
    world.daemon.due[PART_services].wanted = false;
    if (wanted)
        services_part.settle(&world.daemon, world.now_us);
}

/* Another host leads, or another generation has begun: the daemon wants all parts then. */
static void leads(uint32_t leader, uint64_t generation)
{
    world.leader = leader;
    world.generation = generation;
    part_want(&world.daemon, PART_services);
}

static void begin(uint32_t leader)
{
    struct failure why;
    memset(&world, 0, sizeof world);
    world.task.tid = tid_make(HOST, 1);
    world.daemon.joined = true;
    world.tasks.first = &world.task;
    world.daemon.tasks = &world.tasks;
    world.generation = leader == 0 ? 0 : 1;
    world.leader = leader;
    world.daemon.own.services = calloc(1, services_part.state_bytes);
    CU_ASSERT_EQUAL_FATAL(services_part.create(&world.daemon, &why), 0);
    part_want(&world.daemon, PART_services);
    round_go();
}

static void end(void)
{
    services_part.destroy(&world.daemon);
    free(world.daemon.own.services);
}

static void task_asks(void)
{
    uint8_t bytes[16];
    struct cursor out = cursor_writer(bytes, sizeof bytes);
    cursor_put_u32(&out, 1);
    cursor_put_u8(&out, COMMAND_LOCK_ACQUIRE);
    cursor_put_text(&out, "lock");
    struct cursor in = cursor_reader(bytes, (size_t)(out.at - bytes));
    CU_ASSERT_PTR_NULL(services_on_service(&world.daemon, world.task.tid, &in));
    round_go();
}

static void applied(uint64_t number)
{
    services_applied(&world.daemon, SESSION, number);
    round_go();
}

static void pass(uint64_t us)
{
    world.now_us += us;
    if (!world.timer.runs || world.timer.at_us > world.now_us)
        return;
    world.timer.runs = false;
    world.on_timer(world.timer_context);
    round_go();
}

static unsigned times_sent(uint64_t number)
{
    unsigned times = 0;
    for (unsigned i = 0; i < world.sent_count; i++)
        times += world.sent[i] == number;
    return times;
}

/* ---- stories ---- */

/* The leader lost command 2; tasks go on asking, twice a second. */
static void what_was_lost_is_sent_again_however_much_is_asked(void)
{
    begin(LEADER);
    applied(1);
    for (int i = 0; i < 8; i++) {
        task_asks();
        applied(1); /* later commands are confirmed by how far the first ones got */
        pass(500000);
    }
    CU_ASSERT(times_sent(2) >= 3);
    end();
}

static void while_commands_are_applied_none_is_sent_again(void)
{
    begin(LEADER);
    for (uint64_t number = 1; number < 20; number++) {
        task_asks();
        pass(700000);
        applied(number);
    }
    CU_ASSERT_EQUAL(times_sent(19), 1);
    applied(20);
    end();
}

/* A task that was started at once asks before anybody said who leads. */
static void what_is_asked_before_a_leader_is_known_waits(void)
{
    begin(0);
    task_asks();
    CU_ASSERT_EQUAL(world.sent_count, 0);
    leads(LEADER, 1);
    round_go();
    CU_ASSERT_EQUAL_FATAL(world.sent_count, 2);
    CU_ASSERT_EQUAL(world.kinds[0], COMMAND_OPEN);
    CU_ASSERT_EQUAL(world.kinds[1], COMMAND_LOCK_ACQUIRE);
    CU_ASSERT_EQUAL(world.lost_told, 0);
    end();
}

static void another_generation_drops_what_waits_and_tells(void)
{
    begin(LEADER);
    task_asks();
    leads(world.leader, 2);
    round_go();
    CU_ASSERT_EQUAL(world.lost_told, 1);
    CU_ASSERT_EQUAL(world.kinds[world.sent_count - 1], COMMAND_OPEN);
    end();
}

/* The leader does not answer: what is sent to it, again and again, does not grow with the queue. */
static void so_many_are_under_way_and_no_more(void)
{
    begin(LEADER);
    for (int i = 0; i < 2000; i++)
        task_asks();
    CU_ASSERT_EQUAL(world.sent_count, 128);
    CU_ASSERT_TRUE(services_part.full(&world.daemon));
    pass(1000000);
    CU_ASSERT_EQUAL(world.sent_count, 256);
    for (uint64_t number = 1; number <= 2001; number++)
        applied(number);
    CU_ASSERT_EQUAL(world.sent_count, 128 + 2001);
    CU_ASSERT_EQUAL(world.sent[world.sent_count - 1], 2001);
    CU_ASSERT_FALSE(services_part.full(&world.daemon));
    end();
}

/* What the daemon itself proposes is a command like a task's, and its answer is nobody's. */
static void the_daemon_itself_proposes(void)
{
    begin(LEADER);
    services_propose(&world.daemon, &(struct command){.kind = COMMAND_CONSENSUS_PROPOSE,
                                                      .task = tid_make(HOST, TASK_LOCAL_DAEMON),
                                                      .body = (uint8_t[]){1},
                                                      .size = 1});
    round_go();
    CU_ASSERT_EQUAL_FATAL(world.sent_count, 2);
    CU_ASSERT_EQUAL(world.kinds[1], COMMAND_CONSENSUS_PROPOSE);
    const struct event answer = {.kind = EVENT_ANSWER,
                                 .host = HOST,
                                 .session = SESSION,
                                 .sequence = 1,
                                 .applied = 2,
                                 .task = tid_make(HOST, TASK_LOCAL_DAEMON)};
    services_event(&world.daemon, &answer);
    round_go();
    for (unsigned i = 0; i < world.sent_count; i++)
        CU_ASSERT_NOT_EQUAL(world.kinds[i], COMMAND_TASK_GONE);
    end();
}

int main(void)
{
    static const struct test_case cases[] = {
        {"what was lost is sent again, however much is asked",
         what_was_lost_is_sent_again_however_much_is_asked},
        {"while commands are applied, none is sent again",
         while_commands_are_applied_none_is_sent_again},
        {"what is asked before a leader is known waits",
         what_is_asked_before_a_leader_is_known_waits},
        {"another generation drops what waits, and tells",
         another_generation_drops_what_waits_and_tells},
        {"so many are under way, and no more", so_many_are_under_way_and_no_more},
        {"the daemon itself proposes", the_daemon_itself_proposes},
    };
    return covey_test_main("services", cases, sizeof cases / sizeof cases[0]);
}
