/*
 * wait.c - waiting for completions, and progress while the task computes.
 *
 * At any time at most one thread polls (vm->wait.poller): a thread of the program that waits
 * inside the library, or the progress thread while no thread of the program does. The thread that
 * waits first polls; others sleep on `changed` and one of them takes over when it leaves. The
 * progress thread keeps out of the way of a task that communicates: it looks now and then whether
 * calls still come, a millisecond after a call that left something under way, parks while a call
 * waits long, and polls while the task computes. What it takes of the processor then the task
 * lacks: a message of which much is missing is not read at every packet, but when so much should
 * have come that it is worth waking up for.
 *
 * Waiting spins for some tens of microseconds, and only where that has lately paid: a processor
 * that went to sleep takes longer to wake up than most messages take, but where more tasks than
 * processors wait, whoever spins is in the way of the one that is waited for. There a wait for a
 * task of this host gives way again and again before it sleeps, where that has paid. It looks at
 * the rings of links in memory and at the descriptors in turn, and gives way to the daemon and to
 * whoever else needs this processor. Whoever polls also keeps the times of links that have timers.
 */
#include "lib/drive/wait.h"
#include "lib/drive/direct.h"
#include "lib/engine/conn.h"
#include "lib/engine/credit.h"
#include "lib/engine/order.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/engine/rest.h"
#include "lib/link/stream.h"
#include "lib/member/giving.h"
#include "lib/member/home.h"
#include "lib/member/part.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <sys/epoll.h>

#define EVENTS_MAX 32
#define SPIN_US 100
#define CROWD_US 50 /* of giving way again and again, where a task of this host is waited for, */
#define CROWD_OFFERS 32      /* or so many times, if that takes longer */
#define CROWD_TURNS 16       /* of that, between two looks at descriptors */
#define ALONE_TURNS 4        /* in which nobody else wanted the processor */
#define CROWD_LONG_US 500    /* a wait that sleeping ends sooner: others have the processor */
#define CROWD_PAYS 2         /* one time that it ends the wait is worth as many that it does not */
#define MOVED_US 50          /* after bytes of a long message came: the next ones follow soon */
#define LEAVING_BYTES_US 512 /* a microsecond more, where a stream took so many bytes before, */
#define LEAVING_US_MAX 2000  /* but not more than so many: the kernel may need the processor */
#define WANTED_TURNS 3       /* in a row somebody else wanted the processor, not only the kernel */
#define SHORT_US 140  /* a wait that spinning at both ends would shorten to less than SPIN_US */
#define DOUBT_LIMIT 4 /* from here on only one of DOUBT_TURNS waits tries */
#define DOUBT_TURNS 16
#define DOUBT_MAX 8
#define NEIGHBOURS_MAX 4  /* receives that are looked at for a task of this host */
#define RING_LOOKS 256    /* at links in memory, between two at descriptors */
#define RING_TURNS 16     /* so many waits may end by a look at links in memory alone, */
#define STREAM_TURNS 8    /* of looks at the stream that is waited for, all but one */
#define BRIEF_TURNS 64    /* or so many that are brief, */
#define BRIEF_LOOKS 2048  /* with so many looks: some microseconds, for lines come from far away */
#define NAP_US 1000       /* of the progress thread, with something under way */
#define LONG_NAP_US 16000 /* with nothing */
#define SHORT_NAPS 64     /* that follow a long one which was cut short */
#define BLIND_US 1000     /* asleep while the kernel has no memory to watch the port with */
#define BULK_BYTES 32768  /* that wait in a link of ours, so that it must go on */
#define WORTH_BYTES 32768 /* waking up for, of a message of which as much is missing */
#define REST_US 2000      /* until they have come, at most */

/* Whether something is waited for that comes in memory. */
static bool is_memory_watched(const struct covey *vm)
{
    return vm->links.looked_count > 0 || vm->wait.looked > 0;
}

/* Before sleeping; true: something came. */
static bool arm_all(struct covey *vm)
{
    bool came = conn_arm_all(vm);
    return parts_arm(vm) || came;
}

/* What became due meanwhile. The lock may be let go. */
static void settle_parts(struct covey *vm)
{
    if (vm->wait.due != 0)
        parts_settle(vm);
}

/* Looks at the links in memory; true when something came. */
static bool look_at_rings(struct covey *vm)
{
    bool moved = conn_poll_all(vm);
    moved = order_settle(vm) || moved;
    moved = parts_look(vm) || moved;
    settle_parts(vm);
    return moved;
}

/* True when something came over a link in memory. */
static bool handle(struct covey *vm, struct epoll_event *events, int count)
{
    for (int i = 0; i < count; i++) {
        struct watch *watch = events[i].data.ptr; /* NULL: a bell, which has woken this thread */
        if (watch != NULL && watch->fd >= 0)
            watch->ready(vm, watch, events[i].events);
    }
    bool moved = conn_read_paused(vm);
    moved = conn_poll_all(vm) || moved;
    moved = order_settle(vm) || moved;
    moved = parts_look(vm) || moved;
    conn_wake_rested(vm);
    conn_step_all(vm);
    uint64_t now_us = vm->wait.check_at_us == 0 ? 0 : clock_us();
    if (vm->wait.check_at_us != 0 && now_us >= vm->wait.check_at_us) {
        vm->wait.check_at_us = 0;
        home_check(vm);
        order_check(vm);
        peer_check(vm, now_us);
        parts_check(vm, now_us);
        credit_reopen(vm);
        wait_changed(vm);
    }
    conn_bury(vm);
    settle_parts(vm);
    return moved;
}

/* In the role of the poller: handling frees links, of which whoever polls may have news. */
static void poller_look(struct covey *vm)
{
    struct epoll_event events[EVENTS_MAX];
    int count = epoll_wait(vm->wait.epoll, events, EVENTS_MAX, 0);
    handle(vm, events, count > 0 ? count : 0);
}

/* The progress thread loses its role, and what it was told while it slept with it. */
void wait_poll(struct covey *vm)
{
    if (vm->wait.poller == POLLER_TASK)
        return;
    vm->wait.poller = POLLER_TASK;
    conn_push_held(vm);
    poller_look(vm);
    assert(vm->wait.poller == POLLER_TASK);
    vm->wait.poller = POLLER_NONE;
    if (vm->wait.threads > 0)
        pthread_cond_broadcast(&vm->wait.changed); /* it began to wait while the lock was let go */
}

/* How long the poller may sleep; UINT64_MAX: for ever. */
static uint64_t timeout_us(const struct covey *vm, uint64_t deadline_us)
{
    if (vm->wait.check_at_us != 0 && vm->wait.check_at_us < deadline_us)
        deadline_us = vm->wait.check_at_us;
    uint64_t now_us = deadline_us == UINT64_MAX ? 0 : clock_us();
    return deadline_us <= now_us ? 0 : deadline_us - now_us;
}

/* Milliseconds, where the kernel counts no finer. */
static int sleep_ms(const struct covey *vm, struct epoll_event *events, uint64_t for_us)
{
    uint64_t ms = for_us / 1000 + (for_us % 1000 != 0);
    return epoll_wait(vm->wait.epoll, events, EVENTS_MAX, ms > INT_MAX ? -1 : (int)ms);
}

static int sleep_events(const struct covey *vm, struct epoll_event *events, uint64_t for_us)
{
    struct timespec time = {.tv_sec = (time_t)(for_us / 1000000),
                            .tv_nsec = (long)(for_us % 1000000) * 1000};
    bool ever = for_us == UINT64_MAX;
    int count = epoll_pwait2(vm->wait.epoll, events, EVENTS_MAX, ever ? NULL : &time, NULL);
    return count < 0 && errno == ENOSYS ? sleep_ms(vm, events, for_us) : count;
}

/* Sleeps until something is ready; the lock is free meanwhile. Whoever lost the role of the poller
 * while asleep leaves what is ready to its successor. Returns as handle() does. */
static bool sleep_and_handle(struct covey *vm, enum poller role, uint64_t deadline_us)
{
    struct epoll_event events[EVENTS_MAX];
    uint64_t due_us = conn_step_all(vm), rested_us = conn_rest_due_us(vm);
    due_us = rested_us < due_us ? rested_us : due_us;
    uint64_t for_us = timeout_us(vm, due_us < deadline_us ? due_us : deadline_us);
    int count;
    if (vm->links.paused_count > 0 || arm_all(vm) || for_us == 0) {
        count = epoll_wait(vm->wait.epoll, events, EVENTS_MAX, 0);
    } else {
        vm->wait.asleep_until_us[role] = for_us == UINT64_MAX ? for_us : clock_us() + for_us;
        if (!direct_sleep(vm) && for_us > BLIND_US)
            for_us = BLIND_US;
        pthread_mutex_unlock(&vm->lock);
        count = sleep_events(vm, events, for_us);
        pthread_mutex_lock(&vm->lock);
        direct_wake(vm);
        vm->wait.asleep_until_us[role] = 0;
    }
    if (vm->wait.asleep_until_us[POLLER_TASK] == 0 &&
        vm->wait.asleep_until_us[POLLER_PROGRESS] == 0)
        conn_awake(vm);
    if (vm->wait.poller == role)
        return handle(vm, events, count > 0 ? count : 0);
    if (count > 0 && vm->wait.looked > 0)
        wait_ring(vm); /* a bell that rings once may have been among them */
    return false;
}

/* Looks at the links in memory alone, which costs no system call; true when what is waited for
 * came. *moved: something did. Where others wanted this processor last time, perhaps the task that
 * is waited for, one look is enough. */
static bool spin_on_rings(struct covey *vm, bool (*done)(void *), void *context, bool *moved)
{
    bool came = false;
    int times = vm->wait.crowded ? 1 : RING_LOOKS;
    for (int i = 0; i < times && is_memory_watched(vm) && !came; i++) {
        if (look_at_rings(vm)) {
            *moved = true;
            came = done(context);
        }
    }
    return came;
}

/* Lets whoever else needs this processor have it; true when somebody did, or would keep it. */
static bool give_way(struct covey *vm)
{
    if (!giving_may(&vm->wait.giving))
        return true;
    uint64_t ns = giving_offer();
    giving_learn(&vm->wait.giving, ns);
    return giving_wanted(ns);
}

/* One read of the stream that is waited for costs as much as asking which ones are ready, and then
 * needs no second call. But it takes the lock of the socket, in which the kernel of a sender puts
 * packet after packet of a long message. False: that is so, there is none, or this task sends, too,
 * which comes to a stop where it reads alone. */
static bool look_at_stream(struct covey *vm)
{
    if (vm->out.sending != NULL || vm->inbox.arriving > 0 || !conn_read_awaited(vm))
        return false;
    order_settle(vm);
    settle_parts(vm);
    return true;
}

/* Looks again and again for so long, and while bytes come; true when what is waited for did. */
static bool spin(struct covey *vm, bool (*done)(void *), void *context, uint64_t for_us,
                 uint64_t deadline_us)
{
    uint64_t now_us = clock_us(), end_us = now_us + for_us;
    bool came = false, taken = false;
    int wanted = 0;
    direct_look(vm);
    for (int turn = 1; !taken && vm->home.lost == 0 && now_us < end_us && now_us < deadline_us;
         turn++) {
        bool moved = false;
        uint64_t arrived_bytes = vm->inbox.arrived_bytes;
        came = spin_on_rings(vm, done, context, &moved);
        if (!came && turn % STREAM_TURNS != 0 && look_at_stream(vm)) {
            came = done(context);
        } else if (!came) {
            vm->wait.crowded = give_way(vm);
            wanted = vm->wait.crowded ? wanted + 1 : 0;
            taken = wanted == WANTED_TURNS;
            poller_look(vm);
            came = done(context);
        }
        if (came)
            break; /* it goes on at once, without a look at the clock */
        now_us = clock_us();
        if ((moved || vm->inbox.arrived_bytes != arrived_bytes) && end_us < now_us + MOVED_US)
            end_us = now_us + MOVED_US;
    }
    return came;
}

/* Whether a task of this host may end the wait: one of those that posted receives name first. */
static bool awaits_neighbour(const struct covey *vm)
{
    const struct covey_req *req = vm->inbox.posted;
    if (vm->wait.looked > 0)
        return true; /* in a segment that its team shares */
    for (int i = 0; i < NEIGHBOURS_MAX && req != NULL; i++, req = req->next) {
        uint32_t source = req->receive.source;
        if (source == (uint32_t)COVEY_ANY_TASK || tid_host(source) == vm->self.host)
            return vm->links.looked_count > 0;
    }
    return false;
}

/* More tasks than processors wait for each other: a task that gives way passes the processor on in
 * a microsecond, and one that sleeps, and is woken by a doorbell, in five to ten. Where that has
 * not paid lately, and nobody else wants the processor, it is over soon. Other threads of this task
 * may have the lock meanwhile. */
static bool give_way_again(struct covey *vm, bool (*done)(void *), void *context,
                           uint64_t deadline_us)
{
    uint64_t now_us = clock_us(), end_us = now_us + CROWD_US;
    bool came = false;
    bool kept = !giving_may(&vm->wait.giving);
    int alone = vm->wait.crowd_doubt < DOUBT_LIMIT ? INT_MIN : 0;
    bool near = awaits_neighbour(vm);
    end_us = end_us < deadline_us ? end_us : deadline_us;
    for (int turn = 1; !came && !kept && alone < ALONE_TURNS && vm->home.lost == 0 &&
                       (now_us < end_us || (turn <= CROWD_OFFERS && now_us < deadline_us));
         turn++) {
        pthread_mutex_unlock(&vm->lock);
        uint64_t ns = giving_offer();
        pthread_mutex_lock(&vm->lock);
        kept = giving_learn(&vm->wait.giving, ns);
        alone += !giving_wanted(ns);
        if (near && turn % CROWD_TURNS != 0)
            look_at_rings(vm);
        else if (near || turn % STREAM_TURNS == 0 || !look_at_stream(vm))
            poller_look(vm);
        came = done(context);
        if (!came)
            now_us = clock_us();
    }
    return came;
}

/* What has come to a link in memory, or was read and not looked at, needs no system call; the
 * descriptors have their turn all the same. */
static bool look_first(struct covey *vm, bool (*done)(void *), void *context)
{
    bool own_turn = vm->wait.calls % RING_TURNS == 0;
    if (!own_turn && conn_read_paused(vm) && done(context))
        return true;
    if (!own_turn && is_memory_watched(vm) && look_at_rings(vm) && done(context))
        return true;
    if (!own_turn && look_at_stream(vm))
        return done(context);
    poller_look(vm);
    return done(context);
}

/* How long to look. What a stream took before leaves as acknowledgements come, by the processor of
 * whoever looks: if this task sleeps, that is the receiver's alone. */
static uint64_t spin_us(struct covey *vm)
{
    uint64_t more_us = vm->links.leaving_bytes / LEAVING_BYTES_US;
    vm->links.leaving_bytes = 0;
    return SPIN_US + (more_us < LEAVING_US_MAX ? more_us : LEAVING_US_MAX);
}

/* A counter that saturates, as predictors of branches have it. */
static void learn(int *doubt, int by)
{
    int sum = *doubt + by;
    *doubt = sum < 0 ? 0 : sum > DOUBT_MAX ? DOUBT_MAX : sum;
}

/* Polls in the role of a waiting task until done, lost or late. */
static void poll_until(struct covey *vm, bool (*done)(void *), void *context, uint64_t deadline_us)
{
    bool tries = vm->wait.polls++ % DOUBT_TURNS == 0;
    uint64_t for_us = spin_us(vm);
    bool hopeful = vm->wait.doubt < DOUBT_LIMIT || tries || for_us > 2 * SPIN_US;
    bool may_crowd = vm->wait.crowd_doubt < DOUBT_LIMIT || tries;
    uint64_t start_us = clock_us(), now_us = start_us;
    assert(vm->wait.poller != POLLER_TASK && vm->wait.threads > 0);
    vm->wait.poller = POLLER_TASK;
    conn_push_held(vm);
    if (tries) /* who has found all at the first look since does not know better */
        vm->wait.crowded = false;
    bool came = hopeful || deadline_us <= start_us ? look_first(vm, done, context) : done(context);
    came = came || (hopeful && spin(vm, done, context, for_us, deadline_us));
    bool gives_way = !came && vm->wait.crowded && may_crowd;
    if (gives_way)
        came = give_way_again(vm, done, context, deadline_us);
    bool soon = came;
    while (!came && vm->home.lost == 0 && now_us < deadline_us) {
        bool moved = sleep_and_handle(vm, POLLER_TASK, deadline_us) || vm->inbox.arriving > 0;
        came = done(context) || (moved && spin(vm, done, context, MOVED_US, deadline_us));
        now_us = clock_us();
    }
    /* One wait of another kind changes no habit, but a spin that was of use does. */
    uint64_t took_us = clock_us() - start_us;
    if (gives_way)
        learn(&vm->wait.crowd_doubt, soon && took_us < CROWD_LONG_US ? -CROWD_PAYS : 1);
    bool quick = soon || (took_us < SHORT_US && !hopeful);
    if (hopeful && quick)
        vm->wait.doubt = 0;
    else
        learn(&vm->wait.doubt, quick ? -1 : 1);
    assert(vm->wait.poller == POLLER_TASK);
    vm->wait.poller = POLLER_NONE;
}

/* Whoever polls sleeps until what was due when it went to sleep, and is woken for what is due
 * before. The progress thread sleeps on when a thread of the program took its role and has left
 * again: what the rings had been asked to wake it for may have been taken meanwhile, so they are
 * asked anew. */
static void wake_poller(struct covey *vm)
{
    uint64_t until_us =
        vm->wait.asleep_until_us[vm->wait.poller == POLLER_TASK ? POLLER_TASK : POLLER_PROGRESS];
    if (until_us == 0)
        return;
    bool due = vm->wait.check_at_us != 0 && vm->wait.check_at_us < until_us;
    bool steps = vm->links.stepped_count > 0 && conn_step_all(vm) < until_us;
    bool rested = conn_rest_due_us(vm) < until_us;
    bool came = vm->wait.poller == POLLER_NONE && is_memory_watched(vm) && arm_all(vm);
    /* what another thread waits for now, whoever polls has not asked for */
    came = (vm->wait.looked > 0 && parts_arm(vm)) || came;
    if (due || steps || rested || came)
        wait_ring(vm);
}

bool wait_briefly(struct covey *vm, int (*take)(void *context), void *context, bool once,
                  bool *waited)
{
    bool hopeful = vm->wait.doubt < DOUBT_LIMIT && !vm->wait.crowded && !once;
    int looks = hopeful ? BRIEF_LOOKS : 1, i = 0, taken = 0;
    *waited = false;
    if (++vm->wait.briefs % BRIEF_TURNS == 0)
        return false;
    for (; i < looks && taken == 0; i++)
        taken = take(context);
    *waited = i > 1;
    if (taken > 0 && *waited)
        vm->wait.doubt = 0;
    return taken > 0;
}

static void sleep_until_changed(struct covey *vm, uint64_t deadline_us)
{
    wake_poller(vm);
    if (deadline_us == UINT64_MAX) {
        pthread_cond_wait(&vm->wait.changed, &vm->lock);
        return;
    }
    struct timespec at = {.tv_sec = (time_t)(deadline_us / 1000000),
                          .tv_nsec = (long)(deadline_us % 1000000) * 1000};
    pthread_cond_timedwait(&vm->wait.changed, &vm->lock, &at);
}

int wait_until(struct covey *vm, bool (*done)(void *context), void *context, uint64_t deadline_us)
{
    int error = COVEY_OK;
    vm->wait.calls++;
    if (done(context))
        return error;
    settle_parts(vm); /* of which the caller's own calls finished something */
    vm->wait.threads++;
    task_page_wait(vm->self.page, &vm->self.awaits, clock_us());
    credit_reopen(vm);
    for (bool looked = false; !done(context) && error == COVEY_OK; looked = true) {
        if (vm->home.lost != 0)
            error = error_set(vm->home.lost, "%s", vm->home.lost_text);
        else if (looked && deadline_us != UINT64_MAX && clock_us() >= deadline_us)
            error = COVEY_ETIMEOUT;
        else if (vm->wait.poller == POLLER_TASK)
            sleep_until_changed(vm, deadline_us);
        else
            poll_until(vm, done, context, deadline_us);
    }
    assert(vm->wait.threads > 0);
    vm->wait.threads--;
    if (vm->wait.threads == 0)
        task_page_go_on(vm->self.page);
    if (vm->wait.threads > 0)
        pthread_cond_broadcast(&vm->wait.changed); /* one of them polls from now on */
    else if (vm->wait.progress_parked)
        pthread_cond_signal(&vm->wait.progress_wake);
    return error;
}

/* ---- the progress thread --------------------------------------------------------------------- */

static bool anything_under_way(const struct covey *vm)
{
    return vm->out.sending != NULL || vm->inbox.posted != NULL ||
           stream_queued(vm->home.daemon) > 0 || vm->links.held_count > 0 ||
           conn_waiting(vm, BULK_BYTES);
}

void wait_left(struct covey *vm)
{
    settle_parts(vm);
    wake_poller(vm);
    if (!vm->wait.long_nap || vm->wait.threads > 0 || !anything_under_way(vm))
        return;
    vm->wait.long_nap = false;
    pthread_cond_signal(&vm->wait.progress_wake);
}

/* So many bytes came in the last so many microseconds. */
static void progress_rest(struct covey *vm, uint64_t bytes, uint64_t us)
{
    uint64_t wanted = vm->inbox.arriving < WORTH_BYTES ? vm->inbox.arriving : WORTH_BYTES;
    if (bytes == 0 || bytes >= wanted || vm->wait.threads > 0 || vm->wait.closing)
        return;
    uint64_t for_us = us * wanted / bytes;
    uint64_t at_us = clock_us() + (for_us < REST_US ? for_us : REST_US);
    struct timespec at = {.tv_sec = (time_t)(at_us / 1000000),
                          .tv_nsec = (long)(at_us % 1000000) * 1000};
    pthread_cond_timedwait(&vm->wait.progress_wake, &vm->lock, &at);
}

void *wait_progress_main(void *context)
{
    struct covey *vm = context;
    uint64_t polled_us = clock_us();
    int short_naps = 0;
    pthread_mutex_lock(&vm->lock);
    for (uint64_t seen = vm->wait.calls; !vm->wait.closing;) {
        bool active = vm->wait.calls != seen;
        seen = vm->wait.calls;
        if (vm->home.lost != 0 || (vm->wait.threads > 0 && !active)) {
            vm->wait.progress_parked = true;
            pthread_cond_wait(&vm->wait.progress_wake, &vm->lock);
            vm->wait.progress_parked = false;
        } else if (active || vm->wait.poller == POLLER_TASK) {
            /* A call that does not wait polls, too, and lets the lock go while it computes for a
             * collective: the role stays its own. To cut a nap short costs the program more than
             * a message, and where it is done once it is done in call after call. */
            bool is_long = short_naps == 0 && (vm->wait.threads > 0 || !anything_under_way(vm));
            vm->wait.long_nap = is_long;
            uint64_t at_us = clock_us() + (is_long ? LONG_NAP_US : NAP_US);
            struct timespec at = {.tv_sec = (time_t)(at_us / 1000000),
                                  .tv_nsec = (long)(at_us % 1000000) * 1000};
            bool held = vm->links.held_count > 0;
            pthread_cond_timedwait(&vm->wait.progress_wake, &vm->lock, &at);
            if (is_long && !vm->wait.long_nap)
                short_naps = SHORT_NAPS;
            else if (short_naps > 0)
                short_naps--;
            vm->wait.long_nap = false;
            if (held)
                conn_push_held(vm);
        } else {
            /* Polls once; returns when it began to rest. */
            uint64_t arrived = vm->inbox.arrived_bytes;
            assert(vm->wait.poller == POLLER_NONE && vm->wait.threads == 0);
            vm->wait.poller = POLLER_PROGRESS;
            sleep_and_handle(vm, POLLER_PROGRESS, UINT64_MAX);
            if (vm->wait.poller == POLLER_PROGRESS)
                vm->wait.poller = POLLER_NONE;
            uint64_t now_us = clock_us();
            progress_rest(vm, vm->inbox.arrived_bytes - arrived, now_us - polled_us);
            polled_us = now_us;
        }
    }
    pthread_mutex_unlock(&vm->lock);
    return NULL;
}
