/*
 * route_shm.c - rings between tasks of one host: the opener's memory and the doorbells of both
 * travel with LINK_OPEN and LINK_ACCEPT.
 */
#include "lib/engine/conn.h"
#include "lib/engine/offer.h"
#include "lib/engine/peer.h"
#include "lib/engine/route.h"
#include "lib/link/link.h"
#include "lib/link/peek.h"
#include "lib/member/routes.h"
#include "lib/member/vm.h"
#include "lib/msg/error.h"
#include "proto/wire/control.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FILES_SPARE 4

/* The doorbell that comes with the answer must find room below the limit, or the link would stay
 * half open. The lowest free number was taken: so many descriptors are in use. */
static bool room_for_answer(int newest)
{
    struct rlimit files;
    return getrlimit(RLIMIT_NOFILE, &files) == 0 && (rlim_t)newest + FILES_SPARE < files.rlim_cur;
}

static int open_shm(struct covey *vm, struct peer *peer, struct route_state *state)
{
    int memory;
    struct link *link = link_shm_open(&memory);
    if (link == NULL)
        return error_set(COVEY_ERESOURCE, "no memory for a ring: %s", strerror(errno));
    if (!room_for_answer(memory)) {
        link->ops->free(link);
        close(memory);
        return error_set(COVEY_ERESOURCE, "out of descriptors");
    }
    state->pending = conn_create(vm, link, peer, COVEY_ROUTE_SHM);
    int error = COVEY_ENOMEM;
    if (vm->links.peeking != PEEKING_NEVER)
        peek_tell(link_shm_other_memory(link));
    if (state->pending != NULL)
        error = route_send_open(vm, peer, COVEY_ROUTE_SHM, (int[]){memory, vm->wait.doorbell}, 2);
    else
        link->ops->free(link);
    close(memory);
    return error;
}

static const char *connect_shm(struct covey *vm, struct peer *peer, struct control_link *l,
                               int *fds, int nfds)
{
    struct conn *pending = peer->routes[l->route].pending;
    if (nfds != 1 || pending == NULL || !link_shm_connect(pending->link, fds[0]))
        return "a wrong answer";
    fds[0] = -1;
    if (vm->links.peeking != PEEKING_NEVER)
        offer_open(pending, link_shm_other_memory(pending->link));
    conn_ready_now(pending);
    return NULL;
}

static const char *accept_shm(struct covey *vm, struct peer *peer, struct control_link *l, int *fds,
                              int nfds)
{
    const char *why;
    if (nfds != 2 || tid_host(peer->tid) != vm->self.host)
        return "it does not take links of that route";
    struct link *link = link_shm_accept(fds[0], fds[1], &why);
    if (link == NULL)
        return why;
    fds[1] = -1; /* the link's now */
    struct conn *conn = conn_create(vm, link, peer, COVEY_ROUTE_SHM);
    if (conn == NULL || route_state_get(peer, COVEY_ROUTE_SHM) == NULL) {
        if (conn == NULL)
            link->ops->free(link);
        return "out of memory";
    }
    if (vm->links.peeking != PEEKING_NEVER) {
        peek_tell(link_shm_other_memory(link));
        offer_open(conn, link_shm_other_memory(link));
    }
    route_answer(vm, peer->tid, l, &vm->wait.doorbell, 1);
    conn_ready_now(conn);
    return NULL;
}

const struct route_ops shm_ops = {
    .open = open_shm, .on_accept = connect_shm, .on_open = accept_shm, .needs_fds = true};
