/* links: lib/link/task_page.c lib/link/shared_memory.c */
/* task_page_test.c - what a task counts and waits for, as its daemon reads it. */
#include <CUnit/CUnit.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/covey.h"
#include "lib/link/shared_memory.h"
#include "lib/link/task_page.h"
#include "proto/trace/trace_record.h"
#include "tests/unit/runner.h"

static struct task_page *both(struct task_page **task)
{
    int fd = -1;
    *task = task_page_create(&fd);
    CU_ASSERT_PTR_NOT_NULL_FATAL(*task);
    CU_ASSERT_TRUE_FATAL(fd >= 0);
    struct task_page *daemon = task_page_open(fd);
    CU_ASSERT_PTR_NOT_NULL_FATAL(daemon);
    close(fd);
    return daemon;
}

static void end(struct task_page *task, struct task_page *daemon)
{
    task_page_close(task);
    task_page_close(daemon);
}

static void counts_are_seen(void)
{
    struct task_page *task, *daemon = both(&task);
    struct task_page_look look;
    task_count_set(&task->counts.joined_us, 1000);
    task_count_sent(task, 0x40001, 100);
    task_count_sent(task, 0x40002, 50);
    task_count_received(task, 7);
    task_count_add(&task->counts.idle_us, 300);
    task_count_add(&task->counts.communication_us, 20);
    task_page_read(daemon, 5000, &look);
    CU_ASSERT(look.sent == 2 && look.sent_bytes == 150);
    CU_ASSERT(look.received == 1 && look.received_bytes == 7);
    CU_ASSERT(look.elapsed_us == 4000 && look.idle_us == 300 && look.communication_us == 20);
    CU_ASSERT_EQUAL(look.kind, COVEY_WAITS_NOT);
    end(task, daemon);
}

static uint64_t sent_to(const struct task_page *page, uint32_t tid, int *peers)
{
    struct task_page_peer peer;
    uint64_t sent = 0;
    *peers = 0;
    for (int i = 0; i < TASK_PAGE_PEERS; i++) {
        if (!task_page_read_peer(page, i, &peer))
            continue;
        ++*peers;
        if (peer.tid == tid) {
            CU_ASSERT_EQUAL(peer.bytes, peer.sent * 10);
            sent += peer.sent;
        }
    }
    return sent;
}

/* Of few peers each is counted; of very many those that were sent to of late have a place. */
static void peers_are_seen(void)
{
    struct task_page *task, *daemon = both(&task);
    struct task_page_peer none;
    int peers;
    for (uint32_t host = 1; host <= 4; host++)
        for (uint32_t n = 0; n < host; n++)
            task_count_sent(task, host << 18 | 1, 10);
    for (uint32_t host = 1; host <= 4; host++)
        CU_ASSERT_EQUAL(sent_to(daemon, host << 18 | 1, &peers), host);
    CU_ASSERT_EQUAL(peers, 4);
    for (uint32_t i = 1; i <= 10000; i++)
        task_count_sent(task, 5u << 18 | i, 10);
    CU_ASSERT_EQUAL(sent_to(daemon, 5u << 18 | 10000, &peers), 1);
    CU_ASSERT_TRUE(peers > TASK_PAGE_PEERS / 2 && peers <= TASK_PAGE_PEERS);
    CU_ASSERT_FALSE(task_page_read_peer(daemon, -1, &none));
    CU_ASSERT_FALSE(task_page_read_peer(daemon, TASK_PAGE_PEERS, &none));
    end(task, daemon);
}

/* A wait that has lasted until now counts, though its call has not ended. */
static void a_wait_under_way_counts(void)
{
    struct task_page *task, *daemon = both(&task);
    struct task_page_look look;
    task_count_set(&task->counts.idle_us, 10);
    task_count_set(&task->counts.call_idle_us, 10);
    task_count_set(&task->counts.call_us, 1000);
    task_page_wait(
        task,
        &(struct task_awaits){
            .kind = COVEY_WAITS_MESSAGE, .peer = 0x40001, .tag = 11, .idle = true, .call = "recv"},
        1100);
    task_page_read(daemon, 3000, &look);
    CU_ASSERT(look.idle_us == 1910 && look.communication_us == 100 && look.wait_us == 1900);
    CU_ASSERT(look.kind == COVEY_WAITS_MESSAGE && look.peer == 0x40001 && look.tag == 11);
    CU_ASSERT_STRING_EQUAL(look.call, "recv");
    task_page_go_on(task);
    task_page_read(daemon, 3000, &look);
    CU_ASSERT(look.kind == COVEY_WAITS_NOT && look.idle_us == 10 && look.wait_us == 0);
    CU_ASSERT_EQUAL(look.communication_us, 2000);
    end(task, daemon);
}

static void what_holds_a_send_back_is_seen(void)
{
    struct task_page *task, *daemon = both(&task);
    struct task_page_look look;
    task_page_wait(task, &(struct task_awaits){.kind = COVEY_WAITS_SEND, .peer = 0x40001}, 5);
    task_page_hold(task, 0x80002, TRACE_HELD_CREDIT);
    task_page_read(daemon, 9, &look);
    CU_ASSERT(look.kind == COVEY_WAITS_CREDIT && look.peer == 0x80002 && look.idle_us == 0);
    task_page_hold(task, 0x80002, TRACE_HELD_TURN);
    task_page_read(daemon, 9, &look);
    CU_ASSERT_EQUAL(look.kind, COVEY_WAITS_TURN);
    task_page_hold(task, 0x80002, 0);
    task_page_read(daemon, 9, &look);
    CU_ASSERT(look.kind == COVEY_WAITS_SEND && look.peer == 0x40001);
    end(task, daemon);
}

static void texts_are_cut(void)
{
    struct task_page *task, *daemon = both(&task);
    struct task_page_look look;
    char text[200];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    task_page_wait(task, &(struct task_awaits){.call = text, .name = text}, 5);
    task_page_read(daemon, 9, &look);
    CU_ASSERT_EQUAL(look.kind, COVEY_WAITS_CALL);
    CU_ASSERT_EQUAL(strlen(look.call), TASK_PAGE_CALL - 1);
    CU_ASSERT_EQUAL(strlen(look.name), TASK_PAGE_NAME - 1);
    end(task, daemon);
}

/* Whatever a task writes: texts end, kinds are those that there are, times are not of the future,
 * and nobody waits for a page that is being written for ever. */
static void a_hostile_task(void)
{
    struct task_page *task, *daemon = both(&task);
    struct task_page_look look;
    memset((char *)task + sizeof task->format, 0xff, sizeof *task - sizeof task->format);
    task_page_read(daemon, 9, &look);
    CU_ASSERT_EQUAL(look.kind, COVEY_WAITS_NOT);
    atomic_store(&task->wait.turn, 2);
    task_page_read(daemon, 9, &look);
    CU_ASSERT(look.kind == COVEY_WAITS_CALL && look.wait_us == 0 && look.elapsed_us == 0);
    CU_ASSERT(strlen(look.call) < TASK_PAGE_CALL && strlen(look.name) < TASK_PAGE_NAME);
    end(task, daemon);
}

static void another_order_of_bytes(void)
{
    struct task_page *task, *daemon = both(&task);
    struct task_page_look look;
    task->format = __builtin_bswap32(task->format);
    task_count_set(&task->counts.sent, __builtin_bswap64(5));
    task->wait.kind = __builtin_bswap32(COVEY_WAITS_MESSAGE);
    task->wait.peer = __builtin_bswap32(0x40001);
    atomic_store(&task->wait.turn, __builtin_bswap32(2));
    task_page_read(daemon, 9, &look);
    CU_ASSERT(look.sent == 5 && look.kind == COVEY_WAITS_MESSAGE && look.peer == 0x40001);
    end(task, daemon);
}

static void what_is_no_page_is_refused(void)
{
    int pipes[2], small = shared_memory_create("small", 64);
    int other = shared_memory_create("other", sizeof(struct task_page));
    int unsealed = memfd_create("unsealed", MFD_CLOEXEC);
    CU_ASSERT_EQUAL_FATAL(pipe(pipes), 0);
    CU_ASSERT_EQUAL(ftruncate(unsealed, sizeof(struct task_page)), 0);
    CU_ASSERT_PTR_NULL(task_page_open(pipes[0]));
    CU_ASSERT_PTR_NULL(task_page_open(small));
    CU_ASSERT_PTR_NULL(task_page_open(other)); /* of no format */
    CU_ASSERT_PTR_NULL(task_page_open(unsealed));
    CU_ASSERT_PTR_NULL(task_page_open(-1));
    const int all[] = {pipes[0], pipes[1], small, other, unsealed};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        close(all[i]);
    task_page_close(NULL);
}

static const struct test_case cases[] = {
    {"counts are seen", counts_are_seen},
    {"peers are seen", peers_are_seen},
    {"a wait under way counts", a_wait_under_way_counts},
    {"what holds a send back is seen", what_holds_a_send_back_is_seen},
    {"texts are cut", texts_are_cut},
    {"a hostile task", a_hostile_task},
    {"another order of bytes", another_order_of_bytes},
    {"what is no page is refused", what_is_no_page_is_refused},
};

int main(void)
{
    return covey_test_main("task_page", cases, sizeof cases / sizeof cases[0]);
}
