/*
 * window_call.c - what the program does with a window. With a member in the area of this host the
 * caller does all by itself, without the lock of the library unless it must sleep; to any other it
 * sends orders (window_order.h), and waits for answers where the call says that something is
 * complete.
 *
 * A put is on its way when the call returns, and goes no faster than the receiver takes it; of gets
 * a number may be under way. So neither side keeps more than that, whatever the program does.
 */
#include "lib/calls/way.h"
#include "lib/collective/segment.h"
#include "lib/drive/call.h"
#include "lib/drive/wait.h"
#include "lib/link/shared_memory.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/onesided/onesided.h"
#include "proto/wire/list.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOKS 1000      /* at what others write, before the task sleeps, */
#define LOOKS_CROWDED 8 /* where members are more than processors */

/* ---- arguments ------------------------------------------------------------------------------- */

static int say_broken(const struct covey_window *w, const char *name)
{
    pthread_mutex_lock(&w->team->vm->lock);
    int error = error_set(w->team->broken, "%s: %s", name, w->team->broken_text);
    pthread_mutex_unlock(&w->team->vm->lock);
    return error;
}

static int check_rank(const struct covey_window *w, const char *name, int rank)
{
    if (w == NULL)
        return error_set(COVEY_EINVAL, "%s: NULL", name);
    if (rank < 0 || rank >= w->team->size)
        return error_set(COVEY_EINVAL, "%s: there is no rank %d among %d", name, rank,
                         w->team->size);
    return w->team->broken == COVEY_OK ? COVEY_OK : say_broken(w, name);
}

/* An array that goes to, or comes from, the part of a member. */
static int check_array(const struct covey_window *w, const char *name, int rank,
                       const struct window_order *o, const void *base)
{
    int error = check_rank(w, name, rank);
    if (error != COVEY_OK)
        return error;
    if (!window_order_type_ok(o->type) || (base == NULL && o->count > 0))
        return error_set(COVEY_EINVAL, "%s: NULL array, or type %d", name, o->type);
    if (!window_order_is_within(o->at, o->type, o->count, w->members[rank].bytes))
        return error_set(
            COVEY_EINVAL, "%s: %llu %s at %llu are not within the %llu bytes of member %d", name,
            (unsigned long long)o->count, covey_type_name(o->type), (unsigned long long)o->at,
            (unsigned long long)w->members[rank].bytes, rank);
    return COVEY_OK;
}

/* ---- waiting --------------------------------------------------------------------------------- */

void window_ring(const struct covey_window *w)
{
    if (!area_wants_bell(&w->area))
        return;
    if (w->team->shared.segment != NULL)
        doorbell_ring(w->team->shared.segment->bell);
    else
        wait_ring(w->team->vm);
}

/* How a wait for other members ended, in the name of a call. What they were asked for may still
 * come when the time of the team ran out, so it is over for all then. */
static int outcome(struct covey_window *w, const char *name, int error, bool over)
{
    char why[160];
    if (over)
        return COVEY_OK;
    if (error == COVEY_ETIMEOUT) {
        snprintf(why, sizeof why, "%s: the time of the team ran out", name);
        team_break(w->team, error, why);
    }
    if (w->team->broken != COVEY_OK)
        return error_set(w->team->broken, "%s: %s", name, w->team->broken_text);
    return error;
}

static bool wait_is_over(void *context)
{
    const struct window_wait *wait = context;
    return wait->window->team->broken != COVEY_OK || wait->is_over(wait) ||
           (wait->is_vain != NULL && wait->is_vain(wait->context));
}

/* Waits for what others write into the area. Returns as wait_until(); *over: it is there. */
static int area_wait(struct window_wait *wait, uint64_t deadline_us, bool *over)
{
    struct covey_window *w = wait->window;
    struct covey *vm = w->team->vm;
    *over = wait->is_over(wait);
    for (int i = 1; i < (w->team->shared.crowded ? LOOKS_CROWDED : LOOKS) && !*over; i++)
        *over = wait->is_over(wait);
    if (*over)
        return COVEY_OK;
    struct call call = call_begin(vm);
    wait->next = windows_of(vm)->waits;
    windows_of(vm)->waits = wait;
    vm->wait.looked++;
    int error = call_idle(vm, wait_is_over, wait, deadline_us);
    vm->wait.looked--;
    UNLINK(windows_of(vm)->waits, wait, next);
    *over = wait->is_over(wait);
    return call_end(vm, &call, error);
}

static bool has_answers(void *context)
{
    const struct covey_window *w = context;
    return w->awaiting == 0 || w->team->broken != COVEY_OK;
}

static int await_answers(struct covey_window *w, const char *name)
{
    struct covey *vm = w->team->vm;
    struct call call = call_begin(vm);
    int error = call_idle(vm, has_answers, w, clock_deadline(w->team->timeout_us));
    return call_end(vm, &call, outcome(w, name, error, w->awaiting == 0));
}

/* ---- orders ---------------------------------------------------------------------------------- */

static int send_order(struct covey_window *w, int rank, const struct window_order *o,
                      const void *array)
{
    const struct way to = {.vm = w->team->vm,
                           .tid = w->team->tids[rank],
                           .tag = o->kind,
                           .context = window_context(w),
                           .closed = &w->team->broken,
                           .closed_text = w->team->broken_text};
    covey_msg_t *msg = window_order_message(o, array, true);
    if (msg == NULL)
        return error_code(COVEY_ENOMEM);
    w->members[rank].unflushed = true;
    int error = send_message(&to, msg);
    covey_msg_free(msg);
    return error;
}

/* An order whose answer await_answers() awaits; of one member one at a time. */
static int ask(struct covey_window *w, int rank, struct window_order *o)
{
    struct covey *vm = w->team->vm;
    struct window_member *m = &w->members[rank];
    pthread_mutex_lock(&vm->lock);
    o->number = m->awaited = ++w->number;
    w->awaiting++;
    pthread_mutex_unlock(&vm->lock);
    int error = send_order(w, rank, o, NULL);
    if (error == COVEY_OK)
        return error;
    pthread_mutex_lock(&vm->lock);
    w->awaiting -= m->awaited != 0;
    m->awaited = 0;
    pthread_mutex_unlock(&vm->lock);
    return error;
}

/* The elements from `from` on that go in one order. */
static struct window_order part_of(const struct window_order *o, uint64_t from)
{
    struct window_order part = *o;
    uint64_t most = WINDOW_ORDER_BYTES / covey_type_size(o->type);
    part.at += from * covey_type_size(o->type);
    part.count = o->count - from < most ? o->count - from : most;
    return part;
}

/* ---- put and get ----------------------------------------------------------------------------- */

int covey_window_put(covey_window_t *window, int rank, size_t displacement, int type,
                     const void *base, size_t count)
{
    const struct window_order put = {
        .kind = WINDOW_PUT, .type = type, .at = displacement, .count = count};
    int error = check_array(window, "window put", rank, &put, base);
    if (error != COVEY_OK || count == 0)
        return error;
    int place = window->members[rank].place;
    if (place >= 0) {
        memmove(area_data(&window->area, place) + displacement, base,
                count * covey_type_size(type));
        return COVEY_OK;
    }
    for (uint64_t from = 0; from < count && error == COVEY_OK;) {
        const struct window_order part = part_of(&put, from);
        error =
            send_order(window, rank, &part, (const uint8_t *)base + from * covey_type_size(type));
        from += part.count;
    }
    return error;
}

static bool has_room(void *context)
{
    const struct covey_window *w = context;
    return w->get_count < WINDOW_GETS_MAX || w->team->broken != COVEY_OK;
}

/* Takes note that the data of the order will come. */
static int expect_data(struct covey_window *w, int rank, struct window_order *o, void *base)
{
    struct covey *vm = w->team->vm;
    struct window_get *get = calloc(1, sizeof *get);
    if (get == NULL)
        return error_code(COVEY_ENOMEM);
    struct call call = call_begin(vm);
    int error = call_idle(vm, has_room, w, clock_deadline(w->team->timeout_us));
    error = outcome(w, "window get", error, w->get_count < WINDOW_GETS_MAX);
    if (error == COVEY_OK) {
        o->number = ++w->number;
        *get = (struct window_get){.next = w->gets, .order = *o, .rank = rank, .base = base};
        w->gets = get;
        w->get_count++;
    } else {
        free(get);
    }
    return call_end(vm, &call, error);
}

static void expect_no_data(struct covey_window *w, uint64_t number)
{
    struct covey *vm = w->team->vm;
    pthread_mutex_lock(&vm->lock);
    struct window_get *get = w->gets;
    while (get != NULL && get->order.number != number)
        get = get->next;
    if (get != NULL) {
        UNLINK(w->gets, get, next);
        w->get_count--;
    }
    pthread_mutex_unlock(&vm->lock);
    free(get);
}

int covey_window_get(covey_window_t *window, int rank, size_t displacement, int type, void *base,
                     size_t count)
{
    const struct window_order get = {
        .kind = WINDOW_GET, .type = type, .at = displacement, .count = count};
    int error = check_array(window, "window get", rank, &get, base);
    if (error != COVEY_OK || count == 0)
        return error;
    int place = window->members[rank].place;
    if (place >= 0) {
        memmove(base, area_data(&window->area, place) + displacement,
                count * covey_type_size(type));
        return COVEY_OK;
    }
    for (uint64_t from = 0; from < count && error == COVEY_OK;) {
        struct window_order part = part_of(&get, from);
        error = expect_data(window, rank, &part, (uint8_t *)base + from * covey_type_size(type));
        if (error != COVEY_OK)
            break;
        error = send_order(window, rank, &part, NULL);
        if (error != COVEY_OK)
            expect_no_data(window, part.number);
        from += part.count;
    }
    return error;
}

/* ---- completion ------------------------------------------------------------------------------ */

static int flush_range(struct covey_window *w, const char *name, int first, int end)
{
    int error = COVEY_OK;
    bool asked = false;
    for (int i = first; i < end && error == COVEY_OK; i++) {
        struct window_order flush = {.kind = WINDOW_FLUSH};
        if (!w->members[i].unflushed)
            continue;
        error = ask(w, i, &flush);
        w->members[i].unflushed = error != COVEY_OK;
        asked = true;
    }
    atomic_thread_fence(memory_order_seq_cst);
    if (error != COVEY_OK || !asked)
        return error;
    return await_answers(w, name);
}

int window_flush_all(struct covey_window *w, const char *name)
{
    if (w->team->broken != COVEY_OK)
        return say_broken(w, name);
    return flush_range(w, name, 0, w->by_orders ? w->team->size : 0);
}

int covey_window_flush(covey_window_t *window, int rank)
{
    static const char name[] = "window flush";
    bool all = window != NULL && rank == COVEY_ALL_RANKS;
    int error = check_rank(window, name, all ? 0 : rank);
    if (error != COVEY_OK)
        return error;
    return all ? window_flush_all(window, name) : flush_range(window, name, rank, rank + 1);
}

int covey_window_fence(covey_window_t *window)
{
    if (window == NULL)
        return error_set(COVEY_EINVAL, "window fence: NULL");
    int error = window_flush_all(window, "window fence");
    return error != COVEY_OK ? error : covey_barrier(window->team);
}

/* ---- locks ----------------------------------------------------------------------------------- */

static bool lock_is_served(const struct window_wait *wait)
{
    return area_is_served(&wait->window->area, wait->place, wait->kind, wait->ticket);
}

static int lock_here(struct covey_window *w, int place, int kind)
{
    bool served = false;
    struct window_wait wait = {.window = w,
                               .is_over = lock_is_served,
                               .place = place,
                               .kind = kind,
                               .ticket = area_ticket(&w->area, place)};
    int error = area_wait(&wait, clock_deadline(w->team->timeout_us), &served);
    if (served) {
        area_enter(&w->area, place, kind);
        if (kind == COVEY_LOCK_SHARED)
            window_ring(w); /* the next reader may come in */
        return COVEY_OK;
    }
    struct call call = call_begin(w->team->vm);
    return call_end(w->team->vm, &call, outcome(w, "window lock", error, false));
}

int covey_window_lock(covey_window_t *window, int rank, int kind)
{
    static const char name[] = "window lock";
    struct window_order lock = {.kind = WINDOW_LOCK, .type = kind};
    int error = check_rank(window, name, rank);
    if (error != COVEY_OK)
        return error;
    struct window_member *m = &window->members[rank];
    if (kind != COVEY_LOCK_SHARED && kind != COVEY_LOCK_EXCLUSIVE)
        return error_set(COVEY_EINVAL, "%s: unknown kind %d", name, kind);
    if (m->held != 0)
        return error_set(COVEY_EINVAL, "%s: the caller has the lock of member %d already", name,
                         rank);
    if (m->place >= 0) {
        error = lock_here(window, m->place, kind);
    } else {
        error = ask(window, rank, &lock);
        if (error == COVEY_OK)
            error = await_answers(window, name);
    }
    m->held = error == COVEY_OK ? (uint8_t)kind : 0;
    return error;
}

int covey_window_unlock(covey_window_t *window, int rank)
{
    static const char name[] = "window unlock";
    struct window_order unlock = {.kind = WINDOW_UNLOCK};
    int error = check_rank(window, name, rank);
    if (error != COVEY_OK)
        return error;
    struct window_member *m = &window->members[rank];
    if (m->held == 0)
        return error_set(COVEY_EINVAL, "%s: the caller has no lock of member %d", name, rank);
    if (m->place >= 0) {
        area_leave(&window->area, m->place, m->held);
        window_ring(window);
    } else {
        error = ask(window, rank, &unlock);
        if (error == COVEY_OK)
            error = await_answers(window, name);
        m->unflushed = error != COVEY_OK;
    }
    m->held = 0;
    return error;
}

/* ---- signals --------------------------------------------------------------------------------- */

static int check_signal(const struct covey_window *w, const char *name, int rank, int signal)
{
    int error = check_rank(w, name, rank);
    if (error != COVEY_OK)
        return error;
    if (signal < 0 || (uint32_t)signal >= w->members[rank].signals)
        return error_set(COVEY_EINVAL, "%s: member %d has no signal %d among %u", name, rank,
                         signal, (unsigned)w->members[rank].signals);
    return COVEY_OK;
}

void window_tell(const struct covey_window *w, int rank, int signal)
{
    area_signal(&w->area, w->members[rank].place, (uint32_t)signal, 1);
    window_ring(w);
}

int covey_window_signal(covey_window_t *window, int rank, int signal)
{
    int error = check_signal(window, "window signal", rank, signal);
    if (error != COVEY_OK)
        return error;
    const struct window_order o = {.kind = WINDOW_SIGNAL, .at = (uint64_t)signal, .count = 1};
    int place = window->members[rank].place;
    if (place < 0)
        return send_order(window, rank, &o, NULL);
    window_tell(window, rank, signal);
    return COVEY_OK;
}

static bool signal_is_there(const struct window_wait *wait)
{
    return area_signals(&wait->window->area, wait->place, wait->signal) >= wait->count;
}

int window_await(struct covey_window *w, const struct window_hope *hope, uint64_t deadline_us,
                 bool *there)
{
    struct window_wait wait = {.window = w,
                               .is_over = signal_is_there,
                               .place = w->area.me,
                               .signal = (uint32_t)hope->signal,
                               .count = hope->count,
                               .is_vain = hope->is_vain,
                               .context = hope->context};
    return area_wait(&wait, deadline_us, there);
}

int covey_window_wait(covey_window_t *window, int signal, uint64_t count, int64_t timeout_us)
{
    static const char name[] = "window wait";
    bool there = false;
    int error = window == NULL ? error_set(COVEY_EINVAL, "%s: NULL", name)
                               : check_signal(window, name, window->team->rank, signal);
    if (error != COVEY_OK)
        return error;
    if (timeout_us < 0 && timeout_us != COVEY_FOREVER)
        return error_set(COVEY_EINVAL, "%s: a bad timeout", name);
    struct window_wait wait = {.window = window,
                               .is_over = signal_is_there,
                               .place = window->area.me,
                               .signal = (uint32_t)signal,
                               .count = count};
    if (signal_is_there(&wait))
        return COVEY_OK;
    error = area_wait(&wait, clock_deadline(timeout_us), &there);
    if (there)
        return COVEY_OK;
    if (window->team->broken != COVEY_OK)
        return say_broken(window, name);
    return error == COVEY_ETIMEOUT ? error_set(error, "%s: signal %d is not yet %llu", name, signal,
                                               (unsigned long long)count)
                                   : error;
}
