/*
 * credit.c - how much each peer may have outstanding: the one place that bounds memory.
 *
 * A peer may send up to the limit it was granted, counted in bytes of data payload since the first
 * message. The limit is moved on as data come in, as long as what waits unexpected (matched by no
 * receive) stays below a bound: buffer_bytes while the task computes, and half of the machine's
 * memory while it waits inside the library, so that two tasks that send each other any amount
 * before either receives both finish. Data for a posted receive do not count.
 */
#include "lib/task.h"

#define CREDIT_WINDOW_MAX ((uint64_t)4 * CREDIT_INITIAL_BYTES)

static bool open_for_more(const struct covey *vm)
{
    uint64_t bound = vm->buffer_bytes;
    if (vm->waiting > 0 && vm->memory_bytes / 2 > bound)
        bound = vm->memory_bytes / 2;
    return vm->unexpected_bytes < bound;
}

/* A peer whose data are taken as they come may have more under way: a way through two daemons holds
 * several hundred KiB. */
static void widen(const struct covey *vm, struct peer *peer)
{
    bool taken = vm->unexpected_bytes < vm->buffer_bytes / 8;
    if (taken && peer->credit_window < CREDIT_WINDOW_MAX)
        peer->credit_window *= 2;
}

void credit_update(struct covey *vm, struct peer *peer)
{
    uint64_t target = peer->received_bytes + peer->credit_window;
    if (target - peer->granted_bytes < peer->credit_window / 4 || peer->gone)
        return;
    if (!open_for_more(vm)) {
        vm->starved += !peer->starved;
        peer->starved = true;
        return;
    }
    peer->granted_bytes = target;
    peer->grant_due = true;
    widen(vm, peer);
    outgo_pump(vm, peer);
}

void credit_reopen(struct covey *vm)
{
    for (int i = 0; vm->starved > 0 && i < PEER_BUCKETS && open_for_more(vm); i++) {
        for (struct peer *peer = vm->peers[i]; peer != NULL; peer = peer->next) {
            if (!peer->starved)
                continue;
            peer->starved = false;
            vm->starved--;
            credit_update(vm, peer);
        }
    }
}
