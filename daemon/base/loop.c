/*
 * The loop: libev behind our own small interface. This is the only file that includes ev.h.
 *
 * libev's timers round up to a millisecond, because epoll counts in them; that does for people but
 * not for pacing datagrams. An alarm is therefore a timerfd of its own.
 *
 * A processor that has gone to sleep takes longer to wake up than most events take to handle, so
 * after an event the loop looks for the next one a moment longer before it sleeps, as long as
 * nobody else wants the processor; where that was in vain some times in a row, only after every
 * SPIN_EVERY-th event.
 */
#include "daemon/base/loop.h"

#include <ev.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SPIN_US 30
#define YIELD_US 1 /* a yield that takes longer let somebody else run */
#define SPIN_FAILURES_MAX 4
#define SPIN_EVERY 16
#define PUT_OFF_US 100000

struct loop {
    struct ev_loop *ev;
    ev_prepare prepare;
    ev_idle idle;
    ev_idle spin; /* active while the loop looks for events instead of sleeping */
    uint64_t spin_end_us;
    unsigned spin_failures, rounds;
    bool called; /* a callback ran, or loop_wake(), since settle did */
    bool came;   /* a descriptor was ready since settle ran */
    loop_fn *settle;
    void *settle_context;
};

struct loop_fd {
    ev_io io;
    struct loop *loop;
    loop_fd_fn *fn;
    void *context;
};

struct loop_timer {
    ev_timer timer;
    struct loop *loop;
    loop_fn *fn;
    void *context;
};

struct loop_alarm {
    int fd;
    uint64_t at_us;
    uint64_t armed_us; /* when the timer expires: not after at_us */
    uint64_t set_us;   /* since when it is set so */
    struct loop_fd *watch;
    loop_fn *fn;
    void *context;
};

struct loop_child {
    ev_child child;
    struct loop *loop;
    loop_child_fn *fn;
    void *context;
};

struct loop_signal {
    ev_signal signal;
    struct loop *loop;
    loop_fn *fn;
    void *context;
};

uint64_t loop_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

/* ---- spinning ---- */

/* After an event: looks for the next one, if that has lately paid. */
static void spin_begin(struct loop *loop)
{
    if (ev_is_active(&loop->spin))
        loop->spin_failures = 0;
    if (loop->spin_failures >= SPIN_FAILURES_MAX && ++loop->rounds % SPIN_EVERY != 0)
        return;
    loop->spin_end_us = loop_now_us() + SPIN_US;
    ev_idle_start(loop->ev, &loop->spin);
}

static void on_spin(struct ev_loop *ev, ev_idle *w, int events)
{
    (void)events;
    struct loop *loop = w->data;
    uint64_t before_us = loop_now_us();
    sched_yield();
    uint64_t now_us = loop_now_us();
    bool alone = now_us - before_us <= YIELD_US;
    if (alone && now_us < loop->spin_end_us)
        return;
    loop->spin_failures += alone;
    ev_idle_stop(ev, w);
}

/* ---- rounds ---- */

static void on_prepare(struct ev_loop *ev, ev_prepare *w, int events)
{
    (void)ev, (void)events;
    struct loop *loop = w->data;
    if (ev_is_active(&loop->spin) && !loop->called)
        return;
    bool came = loop->came;
    loop->called = loop->came = false;
    if (loop->settle != NULL)
        loop->settle(loop->settle_context);
    if (came)
        spin_begin(loop);
}

static void called(struct ev_loop *ev)
{
    struct loop *loop = ev_userdata(ev);
    loop->called = true;
}

static void on_idle(struct ev_loop *ev, ev_idle *w, int events)
{
    (void)events;
    ev_idle_stop(ev, w);
}

struct loop *loop_create(void)
{
    struct loop *loop = calloc(1, sizeof *loop);
    if (loop == NULL)
        return NULL;
    loop->ev = ev_default_loop(EVFLAG_AUTO | EVFLAG_NOENV);
    if (loop->ev == NULL) {
        free(loop);
        return NULL;
    }
    ev_prepare_init(&loop->prepare, on_prepare);
    ev_idle_init(&loop->idle, on_idle);
    ev_idle_init(&loop->spin, on_spin);
    ev_set_userdata(loop->ev, loop);
    loop->prepare.data = loop->spin.data = loop;
    ev_prepare_start(loop->ev, &loop->prepare);
    return loop;
}

void loop_destroy(struct loop *loop)
{
    if (loop == NULL)
        return;
    ev_prepare_stop(loop->ev, &loop->prepare);
    ev_idle_stop(loop->ev, &loop->idle);
    ev_idle_stop(loop->ev, &loop->spin);
    ev_loop_destroy(loop->ev);
    free(loop);
}

void loop_run(struct loop *loop)
{
    ev_run(loop->ev, 0);
}

void loop_stop(struct loop *loop)
{
    ev_break(loop->ev, EVBREAK_ALL);
}

void loop_set_settle(struct loop *loop, loop_fn *settle, void *context)
{
    loop->settle = settle;
    loop->settle_context = context;
}

void loop_wake(struct loop *loop)
{
    loop->called = true;
    ev_idle_start(loop->ev, &loop->idle);
}

/* ---- descriptors ---- */

static void on_io(struct ev_loop *ev, ev_io *w, int events)
{
    struct loop_fd *watch = w->data;
    called(ev);
    watch->loop->came = true;
    int ours = ((events & EV_READ) ? LOOP_READ : 0) | ((events & EV_WRITE) ? LOOP_WRITE : 0);
    watch->fn(watch->context, ours);
}

static int ev_events(int events)
{
    return ((events & LOOP_READ) ? EV_READ : 0) | ((events & LOOP_WRITE) ? EV_WRITE : 0);
}

struct loop_fd *loop_fd_add(struct loop *loop, int fd, int events, loop_fd_fn *fn, void *context)
{
    struct loop_fd *watch = calloc(1, sizeof *watch);
    if (watch == NULL)
        return NULL;
    *watch = (struct loop_fd){.loop = loop, .fn = fn, .context = context};
    ev_io_init(&watch->io, on_io, fd, ev_events(events));
    watch->io.data = watch;
    if (events != 0)
        ev_io_start(loop->ev, &watch->io);
    return watch;
}

void loop_fd_set(struct loop_fd *watch, int events)
{
    int wanted = ev_events(events);
    int now = ev_is_active(&watch->io) ? watch->io.events & (EV_READ | EV_WRITE) : 0;
    if (wanted == now)
        return;
    ev_io_stop(watch->loop->ev, &watch->io);
    ev_io_set(&watch->io, watch->io.fd, wanted);
    if (wanted != 0)
        ev_io_start(watch->loop->ev, &watch->io);
}

void loop_fd_remove(struct loop_fd **watch)
{
    if (*watch == NULL)
        return;
    ev_io_stop((*watch)->loop->ev, &(*watch)->io);
    free(*watch);
    *watch = NULL;
}

/* ---- timers ---- */

static void on_timer(struct ev_loop *ev, ev_timer *w, int events)
{
    (void)events;
    struct loop_timer *timer = w->data;
    called(ev);
    timer->fn(timer->context);
}

struct loop_timer *loop_timer_add(struct loop *loop, loop_fn *fn, void *context)
{
    struct loop_timer *timer = calloc(1, sizeof *timer);
    if (timer == NULL)
        return NULL;
    *timer = (struct loop_timer){.loop = loop, .fn = fn, .context = context};
    ev_timer_init(&timer->timer, on_timer, 0., 0.);
    timer->timer.data = timer;
    return timer;
}

void loop_timer_start(struct loop_timer *timer, uint64_t delay_us)
{
    ev_timer_stop(timer->loop->ev, &timer->timer);
    ev_now_update(timer->loop->ev);
    ev_timer_set(&timer->timer, (double)delay_us / 1e6, 0.);
    ev_timer_start(timer->loop->ev, &timer->timer);
}

void loop_timer_stop(struct loop_timer *timer)
{
    if (timer != NULL)
        ev_timer_stop(timer->loop->ev, &timer->timer);
}

void loop_timer_remove(struct loop_timer **timer)
{
    if (*timer == NULL)
        return;
    loop_timer_stop(*timer);
    free(*timer);
    *timer = NULL;
}

/* ---- alarms ---- */

static void alarm_arm(struct loop_alarm *alarm)
{
    struct itimerspec spec = {0};
    alarm->armed_us = alarm->at_us;
    alarm->set_us = loop_now_us();
    if (alarm->at_us != UINT64_MAX) { /* 0 would disarm it */
        spec.it_value.tv_sec = (time_t)(alarm->at_us / 1000000u);
        spec.it_value.tv_nsec = (long)(alarm->at_us % 1000000u) * 1000 + 1;
    }
    timerfd_settime(alarm->fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

static void on_alarm(void *context, int events)
{
    (void)events;
    struct loop_alarm *alarm = context;
    uint64_t expirations;
    if (read(alarm->fd, &expirations, sizeof expirations) < 0)
        return; /* it was set anew since */
    alarm->armed_us = UINT64_MAX;
    if (loop_now_us() < alarm->at_us) {
        if (alarm->at_us != UINT64_MAX)
            alarm_arm(alarm);
        return;
    }
    alarm->at_us = UINT64_MAX;
    alarm->fn(alarm->context);
}

struct loop_alarm *loop_alarm_add(struct loop *loop, loop_fn *fn, void *context)
{
    struct loop_alarm *alarm = calloc(1, sizeof *alarm);
    if (alarm == NULL)
        return NULL;
    *alarm = (struct loop_alarm){
        .at_us = UINT64_MAX, .armed_us = UINT64_MAX, .fn = fn, .context = context};
    alarm->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (alarm->fd >= 0)
        alarm->watch = loop_fd_add(loop, alarm->fd, LOOP_READ, on_alarm, alarm);
    if (alarm->watch == NULL)
        loop_alarm_remove(&alarm);
    return alarm;
}

/* An alarm that is put off again and again, as one that waits for a loss is, costs no call each
 * time: the timer expires when it was first to, and then is set anew. One that is put off now and
 * then, as one that waits for a heartbeat is, costs a call each time, but wakes nobody: thousands
 * of idle daemons may share a machine. */
void loop_alarm_set(struct loop_alarm *alarm, uint64_t at_us)
{
    alarm->at_us = at_us;
    bool later = alarm->armed_us != UINT64_MAX && at_us > alarm->armed_us &&
                 at_us - alarm->armed_us >= PUT_OFF_US;
    if (at_us < alarm->armed_us || (later && loop_now_us() - alarm->set_us >= PUT_OFF_US))
        alarm_arm(alarm);
}

void loop_alarm_remove(struct loop_alarm **alarm)
{
    if (*alarm == NULL)
        return;
    loop_fd_remove(&(*alarm)->watch);
    if ((*alarm)->fd >= 0)
        close((*alarm)->fd);
    free(*alarm);
    *alarm = NULL;
}

/* ---- children and signals ---- */

static void on_child(struct ev_loop *ev, ev_child *w, int events)
{
    (void)events;
    struct loop_child *child = w->data;
    called(ev);
    ev_child_stop(ev, w);
    child->fn(child->context, w->rstatus);
    free(child);
}

struct loop_child *loop_child_add(struct loop *loop, pid_t pid, loop_child_fn *fn, void *context)
{
    struct loop_child *child = calloc(1, sizeof *child);
    if (child == NULL)
        return NULL;
    *child = (struct loop_child){.loop = loop, .fn = fn, .context = context};
    ev_child_init(&child->child, on_child, pid, 0);
    child->child.data = child;
    ev_child_start(loop->ev, &child->child);
    return child;
}

void loop_child_remove(struct loop_child **child)
{
    if (*child == NULL)
        return;
    ev_child_stop((*child)->loop->ev, &(*child)->child);
    free(*child);
    *child = NULL;
}

static void on_signal(struct ev_loop *ev, ev_signal *w, int events)
{
    (void)events;
    struct loop_signal *watch = w->data;
    called(ev);
    watch->fn(watch->context);
}

struct loop_signal *loop_signal_add(struct loop *loop, int number, loop_fn *fn, void *context)
{
    struct loop_signal *watch = calloc(1, sizeof *watch);
    if (watch == NULL)
        return NULL;
    *watch = (struct loop_signal){.loop = loop, .fn = fn, .context = context};
    ev_signal_init(&watch->signal, on_signal, number);
    watch->signal.data = watch;
    ev_signal_start(loop->ev, &watch->signal);
    return watch;
}

void loop_signal_remove(struct loop_signal **watch)
{
    if (*watch == NULL)
        return;
    ev_signal_stop((*watch)->loop->ev, &(*watch)->signal);
    free(*watch);
    *watch = NULL;
}
