#include "tools/outlet.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/tid.h"

static int wait_writable(int fd)
{
    struct pollfd entry = {.fd = fd, .events = POLLOUT};
    return poll(&entry, 1, -1) < 0 && errno != EINTR ? errno : 0;
}

/* Standard output may have been made non-blocking by someone who shares it. */
static int write_all(int fd, const char *text, size_t bytes)
{
    int error = 0;
    while (error == 0 && bytes > 0) {
        ssize_t written = write(fd, text, bytes);
        if (written >= 0) {
            text += written;
            bytes -= (size_t)written;
        } else if (errno == EAGAIN) {
            error = wait_writable(fd);
        } else if (errno != EINTR) {
            error = errno;
        }
    }
    return error;
}

static bool append(struct outlet *outlet, const char *text, size_t bytes)
{
    size_t wanted = outlet->used + bytes;
    if (wanted > outlet->capacity) {
        char *larger = realloc(outlet->text, 2 * wanted);
        if (!larger)
            return false;
        outlet->text = larger;
        outlet->capacity = 2 * wanted;
    }
    memcpy(outlet->text + outlet->used, text, bytes);
    outlet->used = wanted;
    return true;
}

static size_t line_bytes(const char *text, size_t bytes)
{
    const char *end = memchr(text, '\n', bytes);
    return end ? (size_t)(end - text) + 1 : bytes;
}

static bool append_tagged(struct outlet *outlet, int stream, covey_tid_t tid, const char *text,
                          size_t bytes)
{
    char name[TID_TEXT_BYTES], tag[TID_TEXT_BYTES + 4];
    int tag_bytes = snprintf(tag, sizeof tag, "[%s] ", tid_format(tid, name));
    bool fits = true;
    bool fresh = outlet->open[stream] != tid;
    while (fits && bytes > 0) {
        size_t line = line_bytes(text, bytes);
        fits = (!fresh || append(outlet, tag, (size_t)tag_bytes)) && append(outlet, text, line);
        text += line;
        bytes -= line;
        fresh = true;
    }
    return fits;
}

int outlet_write(struct outlet *outlet, int stream, covey_tid_t tid, const char *text, size_t bytes)
{
    if (stream < 1 || stream > 2 || bytes == 0)
        return 0;
    bool torn = outlet->open[stream] && outlet->open[stream] != tid;
    bool fits = true;
    int error;
    outlet->used = 0;
    if (torn)
        fits = append(outlet, "\n", 1);
    if (fits && outlet->tagged)
        fits = append_tagged(outlet, stream, tid, text, bytes);
    else if (fits && torn)
        fits = append(outlet, text, bytes);
    if (!fits)
        return ENOMEM;
    if (outlet->used)
        error = write_all(stream, outlet->text, outlet->used);
    else
        error = write_all(stream, text, bytes);
    outlet->open[stream] = text[bytes - 1] == '\n' ? 0 : tid;
    return error;
}

void outlet_fini(struct outlet *outlet)
{
    free(outlet->text);
    outlet->text = NULL;
}
