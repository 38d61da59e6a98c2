/*
 * watch.c - the descriptors of a task, and what wakes whoever sleeps on them. It stands apart from
 * the poll loop (wait.c), which calls all of the engine, for all of the engine calls this.
 */
#include "lib/member/watch.h"
#include "lib/member/vm.h"
#include "lib/msg/error.h"

#include <sys/epoll.h>
#include <unistd.h>

int watch_add(struct covey *vm, struct watch *watch)
{
    struct epoll_event event = {.events = watch->events, .data = {.ptr = watch}};
    if (epoll_ctl(vm->wait.epoll, EPOLL_CTL_ADD, watch->fd, &event) != 0)
        return error_set(COVEY_ERESOURCE, "no room to watch another descriptor");
    return COVEY_OK;
}

int watch_bell(struct covey *vm, int fd)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data = {.ptr = NULL}};
    if (epoll_ctl(vm->wait.epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        return error_set(COVEY_ERESOURCE, "no room to watch another descriptor");
    return COVEY_OK;
}

void watch_bell_end(struct covey *vm, int fd)
{
    epoll_ctl(vm->wait.epoll, EPOLL_CTL_DEL, fd, NULL);
}

void watch_change(struct covey *vm, struct watch *watch, uint32_t events)
{
    struct epoll_event event = {.events = events, .data = {.ptr = watch}};
    if (watch->events == events || watch->fd < 0)
        return;
    watch->events = events;
    epoll_ctl(vm->wait.epoll, EPOLL_CTL_MOD, watch->fd, &event);
}

void watch_pause(struct covey *vm, struct watch *watch)
{
    if (watch->fd >= 0)
        epoll_ctl(vm->wait.epoll, EPOLL_CTL_DEL, watch->fd, NULL);
}

void watch_remove(struct covey *vm, struct watch *watch)
{
    watch_pause(vm, watch);
    watch->fd = -1;
}

void wait_ring(struct covey *vm)
{
    const uint64_t one = 1;
    ssize_t n = write(vm->wait.doorbell, &one, sizeof one);
    (void)n; /* EAGAIN: it rings already */
}

/* The thread that polls may wait for what another one did. */
void wait_changed(struct covey *vm)
{
    if (vm->wait.threads > 1)
        pthread_cond_broadcast(&vm->wait.changed);
    if (vm->wait.asleep_until_us[POLLER_TASK] > 0)
        wait_ring(vm);
}

void wait_check_at(struct covey *vm, uint64_t at_us)
{
    if (vm->wait.check_at_us == 0 || at_us < vm->wait.check_at_us)
        vm->wait.check_at_us = at_us;
}
