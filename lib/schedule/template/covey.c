/*
 * template/covey.c - what `covey schedule --emit covey` writes below the tables.
 *
 * All receives are posted first; then a rank sends in its order, and what must wait does so for a
 * byte from each receiver of a message before it. It is the receiver that hands over, when the
 * message has arrived: the return of a send proves nothing.
 *
 * The file is printed from below the line with `template` on. It reads the tables that
 * schedule_code.h names; here they are those of tables.h, with which it is compiled so that
 * compilers and linters see it.
 */
#include "lib/covey.h"
#include "lib/schedule/template/tables.h"

#include <string.h>

int covey_scheduled_alltoall(covey_t *vm, const covey_tid_t *tids, int me, int tag,
                             const void *send, void *recv, size_t bytes);

/* ---- template ---- */
struct exchange {
    covey_t *vm;
    const covey_tid_t *tids;
    int me, tag;
    const char *send;
    char *recv;
    size_t bytes;
    covey_req_t *reqs[RANKS + SENDS + SYNCS_IN_MAX]; /* from each rank; syncs; sends */
    char heard[SYNCS_IN_MAX];
    int sync_of[SYNCS_IN_MAX]; /* the message that waits for it */
    int syncs, waits[RANKS];   /* by receiver of what this rank sends */
    int next, sent;
};

/* Tag + 1 + receiver of the message that waits. */
static int sync_tag(const struct exchange *x, int i)
{
    return x->tag + 1 + messages[syncs[i].after].to;
}

static int post(struct exchange *x)
{

    int error = 0;

    for (int i = 0; i < RANKS && error >= 0; i++)
        if (i != x->me)
            error = covey_irecv_array(x->vm, x->tids[i], x->tag, COVEY_BYTES,
                                      x->recv + (size_t)i * x->bytes, x->bytes, &x->reqs[i]);
    for (int i = 0; i < SYNCS && error >= 0; i++) {
        if (messages[syncs[i].after].from != x->me)
            continue;
        x->waits[messages[syncs[i].after].to]++;
        x->sync_of[x->syncs] = syncs[i].after;
        error = covey_irecv_array(x->vm, x->tids[messages[syncs[i].before].to], sync_tag(x, i),
                                  COVEY_BYTES, &x->heard[x->syncs], 1, &x->reqs[RANKS + x->syncs]);
        x->syncs++;
    }
    return error;
}

/* Starts what may start: the messages of this rank in their order. */
static int start_sends(struct exchange *x)
{
    covey_req_t **slots = x->reqs + RANKS + SYNCS_IN_MAX;
    int error = 0;

    while (error >= 0) {
        while (x->next < MESSAGES && messages[x->next].from != x->me)
            x->next++;
        if (x->next == MESSAGES || x->waits[messages[x->next].to] > 0)
            return 0;
        int slot = x->sent % lanes[x->me]; /* each is a chain of its own */
        if (slots[slot] != NULL)
            return 0;
        int to = messages[x->next++].to;
        x->sent++;
        error = covey_isend_array(x->vm, x->tids[to], x->tag, COVEY_BYTES,
                                  x->send + (size_t)to * x->bytes, x->bytes, &slots[slot]);
    }
    return error;
}

/* A message has arrived: those that waited for it are told. */
static int hand_over(struct exchange *x, int from)
{
    int error = 0, i = 0;

    while (messages[i].from != from || messages[i].to != x->me)
        i++;
    for (int k = 0; k < SYNCS && error >= 0; k++)
        if (syncs[k].before == i)
            error = covey_send_array(x->vm, x->tids[messages[syncs[k].after].from], sync_tag(x, k),
                                     COVEY_BYTES, "", 1);
    return error;
}

static int on_done(struct exchange *x, int at)
{
    int error = covey_test(x->reqs[at]);

    covey_req_free(&x->reqs[at]);
    if (error < 0)
        return error;
    if (at < RANKS)
        error = hand_over(x, at);
    else if (at < RANKS + SYNCS_IN_MAX)
        x->waits[messages[x->sync_of[at - RANKS]].to]--;
    return error < 0 ? error : start_sends(x);
}

/* Sends block i of send to rank i and receives block i of recv from it, blocks of `bytes`;
 * tids[i] is rank i, me the caller's rank. Uses the tags tag .. tag + RANKS. Returns 0 or
 * an error. */
int covey_scheduled_alltoall(covey_t *vm, const covey_tid_t *tids, int me, int tag,
                             const void *send, void *recv, size_t bytes)
{
    struct exchange x = {
        .vm = vm, .tids = tids, .me = me, .tag = tag, .send = send, .recv = recv, .bytes = bytes};
    int count = (int)(sizeof x.reqs / sizeof x.reqs[0]), error;

    memcpy(x.recv + (size_t)me * bytes, x.send + (size_t)me * bytes, bytes);
    error = post(&x);
    if (error >= 0)
        error = start_sends(&x);
    while (error >= 0) {
        int left = 0, at;
        for (int i = 0; i < count; i++)
            left += x.reqs[i] != NULL;
        if (left == 0)
            break;
        at = covey_wait_any(x.reqs, (size_t)count, COVEY_FOREVER);
        error = at < 0 ? at : on_done(&x, at);
    }
    for (int i = 0; i < count; i++)
        covey_req_free(&x.reqs[i]);
    return error < 0 ? error : 0;
}
