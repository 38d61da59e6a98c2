/*
 * siblings.c - the tasks of one covey_spawn() call: who made it keeps the list, and a task that
 * wants to know asks that one's library.
 *
 * The lists of late calls are kept, as long as they are not too large together. A question that
 * comes while the call still goes on waits for its end.
 */
#include "lib/spawn/siblings.h"
#include "lib/drive/call.h"
#include "lib/engine/peer.h"
#include "lib/member/home.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_TASKS 16384
#define ASK_US 60000000u /* a spawn takes no longer */
#define FRAME_TIDS 16000

enum { FAMILY_ASK = 1, FAMILY_ANSWER = 2 };

struct family_batch {
    struct family_batch *next; /* an older one */
    uint32_t count;
    covey_tid_t tids[];
};

struct family_ask {
    struct family_ask *next;
    uint32_t who;
};

/* ---- who spawned ----------------------------------------------------------------------------- */

static const struct family_batch *batch_of(const struct covey *vm, covey_tid_t tid)
{
    for (const struct family_batch *b = family_of(vm)->batches; b != NULL; b = b->next) {
        for (uint32_t i = 0; i < b->count; i++) {
            if (b->tids[i] == tid)
                return b;
        }
    }
    return NULL;
}

static void send_part(struct covey *vm, uint32_t to, const struct family_batch *b, uint32_t from)
{
    static const struct family_batch none;
    uint8_t bytes[16 + 4 * FRAME_TIDS];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    if (b == NULL)
        b = &none;
    cursor_put_u8(&c, FAMILY_ANSWER);
    cursor_put_u32(&c, b->count);
    cursor_put_u32(&c, from);
    for (uint32_t i = from; i < b->count && i < from + FRAME_TIDS; i++)
        cursor_put_u32(&c, (uint32_t)b->tids[i]);
    home_send(vm, FRAME_FAMILY, to, bytes, (size_t)(c.at - bytes));
}

/* A list of nobody: it is not known (any more). */
static void siblings_answer(struct covey *vm, uint32_t to)
{
    const struct family_batch *b = batch_of(vm, (covey_tid_t)to);
    uint32_t at = 0;
    do {
        send_part(vm, to, b, at);
        at += FRAME_TIDS;
    } while (b != NULL && at < b->count);
}

static void on_siblings_ask(struct covey *vm, uint32_t who)
{
    struct family_ask *ask = NULL;
    if (family_of(vm)->spawning > 0 && batch_of(vm, (covey_tid_t)who) == NULL)
        ask = malloc(sizeof *ask);
    if (ask == NULL) {
        siblings_answer(vm, who);
        return;
    }
    *ask = (struct family_ask){.next = family_of(vm)->asks, .who = who};
    family_of(vm)->asks = ask;
}

void siblings_spawning(struct covey *vm)
{
    family_of(vm)->spawning++;
}

void siblings_spawned(struct covey *vm, const covey_tid_t *tids, int n)
{
    struct family_batch *b = n < 1 ? NULL : malloc(sizeof *b + (size_t)n * sizeof *tids);
    if (b != NULL) {
        *b = (struct family_batch){.next = family_of(vm)->batches};
        for (int i = 0; i < n; i++) {
            if (tids[i] > 0)
                b->tids[b->count++] = tids[i];
        }
        family_of(vm)->batches = b;
        /* Drops the oldest lists behind those that are kept. */
        uint32_t kept = 0;
        struct family_batch **at = &family_of(vm)->batches;
        for (; *at != NULL; at = &(*at)->next) {
            kept += (*at)->count;
            if (kept > KEPT_TASKS && at != &family_of(vm)->batches)
                break;
        }
        while (*at != NULL) {
            struct family_batch *old = *at;
            *at = old->next;
            free(old);
        }
    }
    if (--family_of(vm)->spawning == 0) {
        while (family_of(vm)->asks != NULL) {
            struct family_ask *ask = family_of(vm)->asks;
            family_of(vm)->asks = ask->next;
            siblings_answer(vm, ask->who);
            free(ask);
        }
    }
}

/* ---- who was spawned ------------------------------------------------------------------------- */

static void on_answer(struct covey *vm, struct cursor *c)
{
    struct family *f = family_of(vm);
    uint32_t total = cursor_get_u32(c), from = cursor_get_u32(c);
    uint32_t count = (uint32_t)(cursor_left(c) / 4);
    bool fits = from == f->got && from <= total && count <= total - from;
    bool goes_on = f->tids == NULL || total == f->total; /* there is room for what came first */
    if (!cursor_ok(c) || total > TID_LOCAL_MAX || !fits || !goes_on || f->told)
        return;
    if (f->tids == NULL)
        f->tids = malloc(((size_t)total + 1) * sizeof *f->tids);
    if (f->tids == NULL)
        return;
    f->total = total;
    for (uint32_t i = 0; i < count; i++)
        f->tids[f->got++] = (covey_tid_t)cursor_get_u32(c);
    f->told = f->got == f->total;
    if (f->told)
        wait_changed(vm);
}

/* Answers count from the parent alone. */
void siblings_on_family(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct cursor c = cursor_reader(payload, frame->length);
    uint8_t what = cursor_get_u8(&c);
    if (what == FAMILY_ASK && cursor_done(&c))
        on_siblings_ask(vm, frame->source);
    else if (what == FAMILY_ANSWER && frame->source == vm->self.parent)
        on_answer(vm, &c);
}

void siblings_free(struct covey *vm)
{
    while (family_of(vm)->batches != NULL) {
        struct family_batch *b = family_of(vm)->batches;
        family_of(vm)->batches = b->next;
        free(b);
    }
    while (family_of(vm)->asks != NULL) {
        struct family_ask *ask = family_of(vm)->asks;
        family_of(vm)->asks = ask->next;
        free(ask);
    }
    free(family_of(vm)->tids);
}

struct told_wait {
    const struct covey *vm;
    const struct peer *parent;
};

static bool told(void *context)
{
    const struct told_wait *w = context;
    return family_of(w->vm)->told || w->parent->gone;
}

static int ask_parent(struct covey *vm)
{
    const uint8_t what = FAMILY_ASK;
    struct told_wait w = {.vm = vm, .parent = peer_get(vm, vm->self.parent)};
    if (w.parent == NULL)
        return COVEY_ENOMEM;
    int error = home_send(vm, FRAME_FAMILY, vm->self.parent, &what, sizeof what);
    if (error == COVEY_OK)
        error = call_idle(vm, told, &w, clock_us() + ASK_US);
    if (error != COVEY_OK || family_of(vm)->told)
        return error;
    return error_set(COVEY_ENOTASK, "siblings: the task that spawned this one has ended");
}

static int own_list(const struct covey *vm, covey_tid_t **tids)
{
    const struct family *f = family_of(vm);
    bool alone = vm->self.parent == 0;
    if (!alone && f->total == 0)
        return error_set(COVEY_ENOENT, "siblings: the task that spawned this one has spawned so "
                                       "many since that it has forgotten");
    uint32_t count = alone ? 1 : f->total;
    covey_tid_t own = (covey_tid_t)vm->self.tid, *list = malloc(count * sizeof *list);
    if (list == NULL)
        return error_code(COVEY_ENOMEM);
    memcpy(list, alone ? &own : f->tids, count * sizeof *list);
    *tids = list;
    return (int)count;
}

int covey_siblings(covey_t *vm, covey_tid_t **tids)
{
    if (vm == NULL || tids == NULL)
        return error_set(COVEY_EINVAL, "siblings: NULL");
    struct call call = call_begin(vm);
    int result = vm->self.parent == 0 || family_of(vm)->told ? COVEY_OK : ask_parent(vm);
    if (result == COVEY_OK)
        result = own_list(vm, tids);
    return call_end(vm, &call, result);
}
