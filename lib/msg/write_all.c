/* write_all.c - see write_all.h. */
#include "lib/msg/write_all.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

bool write_all(int fd, const void *bytes, size_t size)
{
    struct pollfd entry = {.fd = fd, .events = POLLOUT};
    const char *at = bytes;
    while (size > 0) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EAGAIN)
            poll(&entry, 1, -1);
        else if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}
