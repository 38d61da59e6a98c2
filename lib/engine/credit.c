/*
 * credit.c - how much each peer may have outstanding: the one place that bounds memory.
 *
 * A peer may send up to the limit it was granted, counted in bytes of data payload since the first
 * message. The limit is moved on as data come in, as long as what the task keeps stays below a
 * bound. It keeps what waits unexpected (matched by no receive), and what the program took and put
 * aside (covey_keep()). Data for a posted receive do not count.
 *
 * The bound is buffer_bytes while the task computes. While it waits inside the library it takes
 * more, so that two tasks that send each other any amount before either receives both finish: as
 * long as it keeps less than the host has left. However many tasks of a host wait, they leave it
 * some, and none takes more than half of it.
 */
#include "lib/engine/credit.h"
#include "lib/engine/outgo.h"
#include "lib/engine/peer.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CREDIT_WINDOW_MAX ((uint64_t)4 * CREDIT_INITIAL_BYTES)
#define LOOK_BYTES ((uint64_t)16 * 1024 * 1024) /* that more is kept until memory is looked at */
#define LOOK_AGAIN_US 200000                    /* others may have given some back */

/* What the host could give to its tasks. */
static uint64_t memory_available(const struct covey *vm)
{
    char text[512];
    int fd = open(vm->memory.file, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[size < 0 ? 0 : size] = '\0';
    const char *line = strstr(text, "MemAvailable:");
    return line == NULL ? vm->memory.bytes : strtoull(strchr(line, ':') + 1, NULL, 10) * 1024;
}

static bool memory_left(struct covey *vm, uint64_t keeps)
{
    if (keeps >= vm->memory.looked_bytes + LOOK_BYTES || keeps < vm->memory.looked_bytes ||
        !vm->memory.left) {
        vm->memory.looked_bytes = keeps;
        vm->memory.left = keeps < memory_available(vm);
    }
    if (!vm->memory.left)
        wait_check_at(vm, clock_us() + LOOK_AGAIN_US);
    return vm->memory.left;
}

bool credit_has_room(struct covey *vm, uint64_t bytes)
{
    uint64_t keeps = vm->inbox.unexpected_bytes + vm->memory.kept_bytes + bytes;
    if (keeps < vm->memory.buffer_bytes)
        return true;
    return vm->wait.threads > 0 && keeps < vm->memory.bytes / 2 && memory_left(vm, keeps);
}

void credit_update(struct covey *vm, struct peer *peer)
{
    uint64_t target = peer->in.received_bytes + peer->in.credit_window;
    if (target - peer->in.granted_bytes < peer->in.credit_window / 4 || peer->gone)
        return;
    if (!credit_has_room(vm, 0)) {
        vm->memory.starved += !peer->in.starved;
        peer->in.starved = true;
        return;
    }
    peer->in.granted_bytes = target;
    peer->in.grant_due = true;
    /* A peer whose data are taken as they come may have more under way: a way through two daemons
     * holds several hundred KiB. */
    bool taken = vm->inbox.unexpected_bytes < vm->memory.buffer_bytes / 8;
    if (taken && peer->in.credit_window < CREDIT_WINDOW_MAX)
        peer->in.credit_window *= 2;
    outgo_pump(vm, peer);
}

void credit_keep(struct covey *vm, int64_t bytes)
{
    bool all = bytes < 0 && (uint64_t)-bytes > vm->memory.kept_bytes;
    vm->memory.kept_bytes = all ? 0 : vm->memory.kept_bytes + (uint64_t)bytes;
    credit_reopen(vm);
}

void credit_reopen(struct covey *vm)
{
    for (int i = 0; vm->memory.starved > 0 && i < PEER_BUCKETS && credit_has_room(vm, 0); i++) {
        for (struct peer *peer = vm->known.peers[i]; peer != NULL; peer = peer->next) {
            if (!peer->in.starved)
                continue;
            assert(vm->memory.starved > 0);
            peer->in.starved = false;
            vm->memory.starved--;
            credit_update(vm, peer);
        }
    }
}
