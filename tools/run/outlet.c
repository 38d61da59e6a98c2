/*
 * outlet.c - lines of different tasks on one standard output never mix: a line that comes in
 * pieces is held back until it is whole or its task has ended, up to a limit.
 */
#include "tools/run/outlet.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/tid.h"

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
            struct pollfd entry = {.fd = fd, .events = POLLOUT};
            error = poll(&entry, 1, -1) < 0 && errno != EINTR ? errno : 0;
        } else if (errno != EINTR) {
            error = errno;
        }
    }
    return error;
}

static bool append_text(struct outlet_text *to, const char *text, size_t bytes)
{
    size_t wanted = to->used + bytes;
    if (wanted > to->capacity) {
        char *larger = realloc(to->bytes, 2 * wanted);
        if (!larger)
            return false;
        to->bytes = larger;
        to->capacity = 2 * wanted;
    }
    memcpy(to->bytes + to->used, text, bytes);
    to->used = wanted;
    return true;
}

static bool append_tagged(struct outlet *outlet, int stream, covey_tid_t tid, const char *text,
                          size_t bytes)
{
    char name[TID_TEXT_BYTES], tag[TID_TEXT_BYTES + 4];
    int tag_bytes = snprintf(tag, sizeof tag, "[%s] ", tid_format(tid, name));
    bool fits = true;
    bool fresh = outlet->open[stream] != tid;
    while (fits && bytes > 0) {
        const char *end = memchr(text, '\n', bytes);
        size_t line = end ? (size_t)(end - text) + 1 : bytes;
        fits = (!fresh || append_text(&outlet->text, tag, (size_t)tag_bytes)) &&
               append_text(&outlet->text, text, line);
        text += line;
        bytes -= line;
        fresh = true;
    }
    return fits;
}

/* Writes a piece as it is now, with what must stand before it. */
static int emit(struct outlet *outlet, int stream, covey_tid_t tid, const char *text, size_t bytes)
{
    if (bytes == 0)
        return 0;
    bool torn = outlet->open[stream] && outlet->open[stream] != tid;
    bool fits = true;
    outlet->text.used = 0;
    if (torn)
        fits = append_text(&outlet->text, "\n", 1);
    if (fits && outlet->tagged)
        fits = append_tagged(outlet, stream, tid, text, bytes);
    else if (fits && torn)
        fits = append_text(&outlet->text, text, bytes);
    if (!fits)
        return ENOMEM;
    outlet->open[stream] = text[bytes - 1] == '\n' ? 0 : tid;
    return outlet->text.used ? write_all(stream, outlet->text.bytes, outlet->text.used)
                             : write_all(stream, text, bytes);
}

/* ---- Lines held back ---------------------------------------------------------------------- */

struct outlet_held {
    struct outlet_held *next;
    covey_tid_t tid;
    int stream;
    struct outlet_text text;
};

/* The place where what is held of this task and stream is linked, or would be. */
static struct outlet_held **find_held(struct outlet *outlet, int stream, covey_tid_t tid)
{
    struct outlet_held **held = &outlet->held;
    while (*held && ((*held)->tid != tid || (*held)->stream != stream))
        held = &(*held)->next;
    return held;
}

static void drop_held(struct outlet_held **held)
{
    struct outlet_held *dropped = *held;
    *held = dropped->next;
    free(dropped->text.bytes);
    free(dropped);
}

static int emit_held(struct outlet *outlet, struct outlet_held **held)
{
    int error =
        emit(outlet, (*held)->stream, (*held)->tid, (*held)->text.bytes, (*held)->text.used);
    drop_held(held);
    return error;
}

/* Puts a piece behind what is held at that place. */
static int hold(struct outlet_held **held, int stream, covey_tid_t tid, const char *text,
                size_t bytes)
{
    if (!*held)
        *held = calloc(1, sizeof **held);
    if (!*held)
        return ENOMEM;
    (*held)->tid = tid;
    (*held)->stream = stream;
    return append_text(&(*held)->text, text, bytes) ? 0 : ENOMEM;
}

int outlet_write(struct outlet *outlet, int stream, covey_tid_t tid, const char *text, size_t bytes)
{
    if (stream < 1 || stream > 2)
        return 0;
    int error = 0;
    /* The bytes up to the last newline. */
    const char *end = bytes ? memrchr(text, '\n', bytes) : NULL;
    size_t whole = end ? (size_t)(end - text) + 1 : 0;
    size_t rest = bytes - whole;
    struct outlet_held **held = find_held(outlet, stream, tid);
    if (*held && (*held)->text.used + bytes > OUTLET_HELD_MAX)
        error = emit_held(outlet, held);
    if (error == 0 && whole && *held) {
        error = hold(held, stream, tid, text, whole);
        error = error ? error : emit_held(outlet, held);
    } else if (error == 0) {
        error = emit(outlet, stream, tid, text, whole);
    }
    if (error == 0 && rest)
        error = hold(find_held(outlet, stream, tid), stream, tid, text + whole, rest);
    return error;
}

int outlet_end(struct outlet *outlet, covey_tid_t tid)
{
    int error = 0;
    for (int stream = 1; stream <= 2; stream++) {
        struct outlet_held **held = find_held(outlet, stream, tid);
        if (*held && error == 0)
            error = emit_held(outlet, held);
    }
    return error;
}

int outlet_end_all(struct outlet *outlet)
{
    int error = 0;
    while (outlet->held && error == 0)
        error = emit_held(outlet, &outlet->held);
    return error;
}

void outlet_fini(struct outlet *outlet)
{
    while (outlet->held)
        drop_held(&outlet->held);
    free(outlet->text.bytes);
    outlet->text = (struct outlet_text){0};
}
