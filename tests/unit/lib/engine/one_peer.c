#include "tests/unit/lib/engine/one_peer.h"
#include "lib/engine/conn.h"
#include "lib/engine/match.h"
#include "lib/engine/peer.h"
#include "lib/link/link.h"
#include "lib/link/stream.h"
#include "lib/root/parts.h"

#include <CUnit/CUnit.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

void one_peer_begin(struct one_peer *t, uint32_t tid, uint32_t peer, struct link *link, int route)
{
    t->vm = calloc(1, sizeof *t->vm);
    t->page = (struct task_page){0};
    CU_ASSERT_PTR_NOT_NULL_FATAL(t->vm);
    CU_ASSERT_TRUE_FATAL(parts_create(t->vm));
    t->vm->self.tid = tid;
    t->vm->self.page = &t->page;
    t->vm->wait.epoll = epoll_create1(0);
    t->vm->home.daemon = stream_create(-1);
    pthread_mutex_init(&t->vm->lock, NULL);
    pthread_cond_init(&t->vm->wait.changed, NULL);
    t->peer = peer_get(t->vm, peer);
    t->conn = conn_create(t->vm, link, t->peer, route);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t->conn);
}

void one_peer_end(struct one_peer *t)
{
    conn_drop_all(t->vm);
    conn_bury(t->vm);
    while (t->vm->inbox.unexpected != NULL)
        match_free(t->vm, t->vm->inbox.unexpected);
    peer_free_all(t->vm);
    parts_destroy(t->vm);
    stream_destroy(t->vm->home.daemon);
    close(t->vm->wait.epoll);
    pthread_mutex_destroy(&t->vm->lock);
    pthread_cond_destroy(&t->vm->wait.changed);
    free(t->vm);
}

int one_peer_no_fd(const struct link *link, bool *write_wanted)
{
    (void)link;
    *write_wanted = false;
    return -1;
}

bool one_peer_no_arm(struct link *link)
{
    (void)link;
    return false;
}

void one_peer_no_free(struct link *link)
{
    (void)link;
}

static int no_ready(struct link *link)
{
    (void)link;
    return 0;
}

const struct link_ops one_peer_no_ops = {.name = "none",
                                         .arm = one_peer_no_arm,
                                         .fd = one_peer_no_fd,
                                         .ready = no_ready,
                                         .free = one_peer_no_free};
