/*
 * rest.c - streams that bring a message of a schedule are read now and then, not at every segment.
 *
 * The kernel acknowledges what was read, and where that is two segments at a time acknowledgements
 * take three percent of a link that carries as much data the other way. So a stream rests when it
 * was read empty, for as long as the link needs for some segments more (its owner's rest_us()), and
 * is not watched meanwhile. It does not rest beyond where the message hands over, for which the
 * next one waits, and little while its sender, who was silent for long, may have few segments under
 * way.
 *
 * Invariant: conn->rest_until_us is not 0 exactly while conn is in vm->resting.
 */
#include "lib/engine/rest.h"

#include <assert.h>

#include "lib/engine/conn.h"
#include "lib/link/link.h"
#include "lib/member/vm.h"
#include "lib/msg/clock.h"
#include "proto/wire/list.h"

bool conn_rest(struct conn *conn, uint64_t for_us)
{
    struct covey *vm = conn->vm;
    if (for_us == 0 || conn->closed || conn->rest_until_us != 0 ||
        link_tcp_is_within_machine(conn->link))
        return false;
    conn->rest_until_us = clock_us() + for_us;
    conn->rest_next = vm->links.resting;
    vm->links.resting = conn;
    return true;
}

void conn_rest_end(struct conn *conn)
{
    if (conn->rest_until_us == 0)
        return;
    UNLINK(conn->vm->links.resting, conn, rest_next);
    conn->rest_until_us = 0;
}

struct conn *conn_rested(const struct covey *vm, uint64_t now_us)
{
    struct conn *conn = vm->links.resting;
    assert(conn == NULL || conn->rest_until_us != 0);
    while (conn != NULL && conn->rest_until_us > now_us)
        conn = conn->rest_next;
    return conn;
}

uint64_t conn_rest_due_us(const struct covey *vm)
{
    uint64_t due_us = UINT64_MAX;
    for (const struct conn *conn = vm->links.resting; conn != NULL; conn = conn->rest_next)
        due_us = conn->rest_until_us < due_us ? conn->rest_until_us : due_us;
    return due_us;
}
