/*
 * window.c - making a window, which all members do together, and freeing it.
 *
 * Each member tells all others what it brings. The first one on a host makes the memory of all
 * members there and passes it to them, where their team shares memory; otherwise each has its own
 * part alone, and the others reach it by orders. What one member lacks none of them uses: all agree
 * that they have it, and nobody puts anything before.
 */
#include "lib/collective/shared.h"
#include "lib/drive/call.h"
#include "lib/engine/peer.h"
#include "lib/link/shared_memory.h"
#include "lib/msg/error.h"
#include "lib/onesided/onesided.h"
#include "proto/wire/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- what members bring ---------------------------------------------------------------------- */

static int members_meet(struct covey_window *w, size_t bytes, int signals)
{
    const struct covey_team *team = w->team;
    const uint64_t own[2] = {bytes, (uint64_t)signals};
    uint64_t *all = calloc((size_t)team->size, sizeof own);
    w->members = calloc((size_t)team->size, sizeof *w->members);
    int error = all == NULL || w->members == NULL ? COVEY_ENOMEM : COVEY_OK;
    if (error == COVEY_OK)
        error = covey_allgather(w->team, COVEY_UINT64, own, all, 2);
    else
        error_code(error);
    for (int i = 0; i < team->size && error == COVEY_OK; i++) {
        w->members[i].bytes = all[2 * i];
        w->members[i].signals = (uint32_t)all[2 * i + 1];
        if (all[2 * i + 1] > COVEY_WINDOW_SIGNALS_MAX)
            error = error_set(COVEY_EPROTO, "window: member %d has too many signals", i);
    }
    free(all);
    return error;
}

/* Places in the area are in the order of ranks. */
static int make_places(struct covey_window *w)
{
    const struct covey_team *team = w->team;
    bool shares = team->shared.segment != NULL;
    struct area *area = &w->area;
    area->parts = calloc((size_t)team->size, sizeof *area->parts);
    if (area->parts == NULL)
        return error_code(COVEY_ENOMEM);
    for (int i = 0; i < team->size; i++) {
        struct window_member *m = &w->members[i];
        bool here =
            i == team->rank || (shares && team->host_lead[i] == team->host_lead[team->rank]);
        m->place = here ? area->places++ : -1;
        w->by_orders = w->by_orders || !here;
        if (i == team->rank)
            area->me = m->place;
        if (here && !addressable(m->bytes))
            return error_code(COVEY_ENOMEM);
        if (here)
            area->parts[m->place] =
                (struct area_part){.bytes = (size_t)m->bytes, .signals = m->signals};
    }
    return area_layout(area) ? COVEY_OK : error_code(COVEY_ENOMEM);
}

/* All members on the host come here, for they have one layout. */
static int make_memory(struct covey_window *w)
{
    int fd = -1;
    bool shares = w->team->shared.segment != NULL;
    if (shares && w->area.me == 0)
        fd = shared_memory_create("covey-window", w->area.bytes);
    if (shares)
        shared_pass_memory(w->team, &fd);
    bool good = !shares || (fd >= 0 && shared_memory_ok(fd, w->area.bytes));
    good = good && area_map(&w->area, fd);
    if (fd >= 0)
        close(fd);
    return good ? COVEY_OK : error_set(COVEY_ENOMEM, "window: memory or descriptors are exhausted");
}

/* Whether all members could. */
static int window_agree(const struct covey_window *w, int error)
{
    char why[160];
    int32_t own = error, least = 0;
    snprintf(why, sizeof why, "%s", covey_error_text());
    int failed = covey_allreduce(w->team, COVEY_OP_MIN, COVEY_INT32, &own, &least, 1);
    if (error != COVEY_OK)
        return error_set(error, "%s", why);
    if (failed != COVEY_OK)
        return failed;
    return least == 0 ? COVEY_OK : error_set(least, "window: another member could not");
}

/* ---- making ---------------------------------------------------------------------------------- */

static void window_destroy(struct covey_window *w)
{
    if (w == NULL)
        return;
    area_unmap(&w->area);
    covey_team_free(&w->team);
    free(w->members);
    free(w);
}

/* The ends of all members are told from now on, and what ended before breaks the window. Orders of
 * a member that is ahead wait for the receive. */
static void window_open(struct covey_window *w)
{
    struct covey *vm = w->team->vm;
    struct call call = call_begin(vm);
    w->next = windows_of(vm)->first;
    windows_of(vm)->first = w;
    for (int i = 0; i < w->team->size; i++) {
        struct peer *peer = peer_get(vm, (uint32_t)w->team->tids[i]);
        if (peer != NULL && peer->gone)
            window_task_gone(vm, peer);
    }
    if (w->by_orders)
        window_listen(w);
    call_end(vm, &call, COVEY_OK);
}

int covey_window_create(covey_team_t *team, size_t bytes, int signals, void **base,
                        covey_window_t **window)
{
    if (team == NULL || base == NULL || window == NULL)
        return error_set(COVEY_EINVAL, "window: NULL");
    if (signals < 0 || signals > COVEY_WINDOW_SIGNALS_MAX)
        return error_set(COVEY_EINVAL, "window: %d signals are not 0 .. %d", signals,
                         COVEY_WINDOW_SIGNALS_MAX);
    struct covey_window *w = calloc(1, sizeof *w);
    if (w == NULL)
        return error_code(COVEY_ENOMEM);
    int error = covey_team_split(team, 0, team->rank, &w->team);
    if (error == COVEY_OK) {
        w->team->timeout_us = team->timeout_us;
        error = members_meet(w, bytes, signals);
    }
    if (error == COVEY_OK)
        error = make_places(w);
    if (error == COVEY_OK)
        error = make_memory(w);
    if (w->team != NULL)
        error = window_agree(w, error);
    if (error != COVEY_OK) {
        window_destroy(w);
        return error;
    }
    window_open(w);
    *base = area_data(&w->area, w->area.me);
    *window = w;
    return COVEY_OK;
}

/* ---- freeing --------------------------------------------------------------------------------- */

void window_let_leave(struct covey_window *w)
{
    pthread_mutex_lock(&w->team->vm->lock);
    w->closing = true;
    pthread_mutex_unlock(&w->team->vm->lock);
}

/* From the barrier on members may leave: a barrier that needs one that has ended finds that by
 * itself. */
static int window_close(struct covey_window *w)
{
    int error = window_flush_all(w, "window free");
    if (error != COVEY_OK)
        return error;
    window_let_leave(w);
    return covey_barrier(w->team);
}

void window_discard(struct covey_window **window)
{
    struct covey_window *w = *window;
    *window = NULL;
    if (w == NULL)
        return;
    struct covey *vm = w->team->vm;
    struct call call = call_begin(vm);
    UNLINK(windows_of(vm)->first, w, next);
    window_drop(w);
    call_end(vm, &call, COVEY_OK);
    window_destroy(w);
}

int covey_window_free(covey_window_t **window)
{
    if (window == NULL || *window == NULL)
        return COVEY_OK;
    char why[160];
    int error = window_close(*window);
    snprintf(why, sizeof why, "%s", covey_error_text());
    window_discard(window);
    return error == COVEY_OK ? error : error_set(error, "%s", why);
}

/* Its team is freed with all others. */
void window_free_all(struct covey *vm)
{
    for (struct covey_window *w; (w = windows_of(vm)->first) != NULL;) {
        windows_of(vm)->first = w->next;
        window_drop(w);
        area_unmap(&w->area);
        free(w->members);
        free(w);
    }
    for (struct window_reply *reply; (reply = windows_of(vm)->replies) != NULL;) {
        windows_of(vm)->replies = reply->next;
        covey_msg_free(reply->req.owned);
        free(reply);
    }
}

void *covey_window_part(const covey_window_t *window, int rank, size_t *bytes)
{
    if (window == NULL || rank < 0 || rank >= window->team->size)
        return NULL;
    const struct window_member *m = &window->members[rank];
    if (bytes != NULL)
        *bytes = (size_t)m->bytes;
    return m->place < 0 ? NULL : area_data(&window->area, m->place);
}
