/*
 * task_page.c - the page of a task that its daemon reads. A task under an emulator may have another
 * byte order than the daemon, which sees so by the format.
 */
#include "lib/link/task_page.h"
#include "lib/covey.h"
#include "lib/link/shared_memory.h"
#include "proto/trace/trace_record.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FORMAT 0x54706702u /* struct task_page, version 2 */
#define TRIES 8            /* to read what is being written */

_Static_assert(sizeof(struct task_page) <= 4096, "one page");

static struct task_page *page_map(int fd, int protection)
{
    int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void *at = mmap(NULL, sizeof(struct task_page), protection, flags, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

void task_page_close(struct task_page *page)
{
    if (page != NULL)
        munmap(page, sizeof *page);
}

/* ---- the task ---- */

struct task_page *task_page_create(int *fd)
{
    *fd = shared_memory_create("covey-task", sizeof(struct task_page));
    struct task_page *page = page_map(*fd, PROT_READ | PROT_WRITE);
    if (page == NULL && *fd >= 0) {
        close(*fd);
        *fd = -1;
        page = page_map(-1, PROT_READ | PROT_WRITE);
    }
    if (page != NULL)
        page->format = FORMAT;
    return page;
}

static void text_set(char *to, size_t size, const char *from)
{
    size_t n = from == NULL ? 0 : strnlen(from, size - 1);
    memcpy(to, from == NULL ? "" : from, n);
    to[n] = '\0';
}

static void turn_next(struct task_wait *wait)
{
    uint32_t turn = atomic_load_explicit(&wait->turn, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&wait->turn, turn + 1, memory_order_release);
    atomic_thread_fence(memory_order_release);
}

void task_page_wait(struct task_page *page, const struct task_awaits *what, uint64_t now_us)
{
    struct task_wait *wait = &page->wait;
    turn_next(wait);
    wait->kind = what->kind == COVEY_WAITS_NOT ? COVEY_WAITS_CALL : what->kind;
    wait->peer = what->peer;
    wait->tag = what->tag;
    wait->idle = what->idle;
    wait->since_us = now_us;
    text_set(wait->call, sizeof wait->call, what->call);
    text_set(wait->name, sizeof wait->name, what->name);
    turn_next(wait);
}

void task_page_go_on(struct task_page *page)
{
    turn_next(&page->wait);
    page->wait.kind = COVEY_WAITS_NOT;
    turn_next(&page->wait);
}

/* ---- the daemon ---- */

struct task_page *task_page_open(int fd)
{
    struct task_page *page =
        shared_memory_ok(fd, sizeof(struct task_page)) ? page_map(fd, PROT_READ) : NULL;
    if (page == NULL || page->format == FORMAT || page->format == __builtin_bswap32(FORMAT))
        return page;
    task_page_close(page);
    return NULL;
}

static uint32_t word(bool swapped, uint32_t value)
{
    return swapped ? __builtin_bswap32(value) : value;
}

static uint64_t number(bool swapped, uint64_t value)
{
    return swapped ? __builtin_bswap64(value) : value;
}

bool task_page_read_peer(const struct task_page *page, int i, struct task_page_peer *peer)
{
    bool swapped = page->format != FORMAT;
    if (i < 0 || i >= TASK_PAGE_PEERS)
        return false;
    const struct task_peer *from = &page->peers[i];
    peer->tid = word(swapped, atomic_load_explicit(&from->tid, memory_order_relaxed));
    peer->sent = number(swapped, task_count_get(&from->sent));
    peer->bytes = number(swapped, task_count_get(&from->bytes));
    return peer->tid != 0;
}

/* A copy that was not written meanwhile; of one that always is, that it does not wait. */
static void wait_copy(const struct task_page *page, struct task_wait *wait)
{
    for (int i = 0; i < TRIES; i++) {
        uint32_t before = atomic_load_explicit(&page->wait.turn, memory_order_acquire);
        memcpy(wait, &page->wait, sizeof *wait);
        atomic_thread_fence(memory_order_acquire);
        uint32_t odd = word(page->format != FORMAT, before) & 1;
        if (odd == 0 && atomic_load_explicit(&page->wait.turn, memory_order_relaxed) == before)
            return;
    }
    wait->kind = COVEY_WAITS_NOT;
}

static uint64_t since(uint64_t now_us, uint64_t then_us)
{
    return now_us > then_us ? now_us - then_us : 0;
}

/* What holds a send back is known better than that it waits. */
static void look_at_wait(bool swapped, const struct task_wait *wait, uint64_t held,
                         struct task_page_look *look)
{
    look->kind = word(swapped, wait->kind);
    look->peer = word(swapped, wait->peer);
    look->tag = (int32_t)word(swapped, (uint32_t)wait->tag);
    if (look->kind > COVEY_WAITS_CALL)
        look->kind = COVEY_WAITS_CALL;
    if (look->kind == COVEY_WAITS_SEND && held != 0) {
        look->kind = (held & 0xff) == TRACE_HELD_CREDIT ? COVEY_WAITS_CREDIT : COVEY_WAITS_TURN;
        look->peer = (uint32_t)(held >> 8);
    }
    memcpy(look->call, wait->call, sizeof look->call - 1);
    memcpy(look->name, wait->name, sizeof look->name - 1);
}

void task_page_read(const struct task_page *page, uint64_t now_us, struct task_page_look *look)
{
    const struct task_counts *c = &page->counts;
    bool swapped = page->format != FORMAT;
    struct task_wait wait;
    memset(look, 0, sizeof *look);
    wait_copy(page, &wait);
    look->sent = number(swapped, task_count_get(&c->sent));
    look->sent_bytes = number(swapped, task_count_get(&c->sent_bytes));
    look->received = number(swapped, task_count_get(&c->received));
    look->received_bytes = number(swapped, task_count_get(&c->received_bytes));
    look->elapsed_us = since(now_us, number(swapped, task_count_get(&c->joined_us)));
    look->idle_us = number(swapped, task_count_get(&c->idle_us));
    look->communication_us = number(swapped, task_count_get(&c->communication_us));
    look_at_wait(swapped, &wait, number(swapped, task_count_get(&c->held)), look);
    if (look->kind != COVEY_WAITS_NOT)
        look->wait_us = since(now_us, number(swapped, wait.since_us));
    if (look->kind != COVEY_WAITS_NOT && wait.idle != 0)
        look->idle_us += look->wait_us;
    uint64_t call_us = number(swapped, task_count_get(&c->call_us));
    uint64_t idle_us = since(look->idle_us, number(swapped, task_count_get(&c->call_idle_us)));
    if (call_us != 0)
        look->communication_us += since(since(now_us, call_us), idle_us);
}
