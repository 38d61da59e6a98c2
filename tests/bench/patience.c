/*
 * patience.c - preloaded into programs that poll: lets them wait for an event instead.
 *
 * MPI libraries ask their sockets for events without end, for a rank is alone on a processor as a
 * rule. In a lab dozens of ranks share this machine's processors, and those that ask keep the
 * network itself from its work. So a call that asks and does not wait, epoll_wait() or poll() with
 * a timeout of 0, waits up to a millisecond here once nothing was found a few times; an event ends
 * the wait at once.
 */
#include <dlfcn.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>

#define PATIENCE 4 /* times that nothing is found before it waits */
#define WAIT_MS 1

static _Thread_local int found_nothing;

static int timeout_of(int timeout)
{
    return timeout == 0 && found_nothing >= PATIENCE ? WAIT_MS : timeout;
}

static int note(int count)
{
    found_nothing = count == 0 ? found_nothing + 1 : 0;
    return count;
}

int epoll_wait(int fd, struct epoll_event *events, int most, int timeout)
{
    static int (*original)(int, struct epoll_event *, int, int);

    if (!original)
        *(void **)&original = dlsym(RTLD_NEXT, "epoll_wait");
    return note(original(fd, events, most, timeout_of(timeout)));
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
    static int (*original)(struct pollfd *, nfds_t, int);

    if (!original)
        *(void **)&original = dlsym(RTLD_NEXT, "poll");
    return note(original(fds, count, timeout_of(timeout)));
}
