/*
 * dialogue.c - lines between this daemon and the child that starts a host. The key of the VM
 * passes here, so that buffers are wiped and never moved by realloc(); lines from the other end
 * are made harmless before anybody reads them, for they end up on terminals.
 */
#include "daemon/launch/dialogue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#define READ_BYTES 4096
#define READS_MAX 16

struct dialogue {
    dialogue_fn *on_line;
    loop_fn *on_end; /* or NULL */
    void *context;
    int in, out; /* our ends of the child's input and output; -1: closed */
    struct loop_fd *in_watch, *out_watch;
    char *unsaid; /* what the child has not read yet */
    size_t unsaid_size;
    bool ending; /* the input is closed when all is said */
    char line[DIALOGUE_LINE_MAX + 1];
    size_t used;
};

/* ---- saying ---- */

static void in_close(struct dialogue *g)
{
    loop_fd_remove(&g->in_watch);
    if (g->in >= 0)
        close(g->in);
    g->in = -1;
    if (g->unsaid != NULL)
        sodium_memzero(g->unsaid, g->unsaid_size);
    free(g->unsaid);
    g->unsaid = NULL;
    g->unsaid_size = 0;
}

/* Writes what the pipe takes; the watch stays until all is written. */
static void in_write(struct dialogue *g)
{
    while (g->unsaid_size > 0) {
        ssize_t n = write(g->in, g->unsaid, g->unsaid_size);
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0 && errno != EINTR) {
            in_close(g); /* the child has ended, and its status will say why */
            return;
        }
        size_t said = n < 0 ? 0 : (size_t)n;
        memmove(g->unsaid, g->unsaid + said, g->unsaid_size - said);
        sodium_memzero(g->unsaid + g->unsaid_size - said, said);
        g->unsaid_size -= said;
    }
    if (g->ending)
        in_close(g);
    else
        loop_fd_set(g->in_watch, 0);
}

static void on_in(void *context, int events)
{
    (void)events;
    in_write(context);
}

/* Not by realloc(), which might leave a copy of the key behind. */
bool dialogue_say(struct dialogue *g, const char *bytes, size_t size)
{
    if (g->in < 0)
        return true;
    char *all = malloc(g->unsaid_size + size);
    if (all == NULL)
        return false;
    if (g->unsaid != NULL) {
        memcpy(all, g->unsaid, g->unsaid_size);
        sodium_memzero(g->unsaid, g->unsaid_size);
        free(g->unsaid);
    }
    memcpy(all + g->unsaid_size, bytes, size);
    g->unsaid = all;
    g->unsaid_size += size;
    loop_fd_set(g->in_watch, LOOP_WRITE);
    in_write(g);
    return true;
}

void dialogue_end(struct dialogue *g)
{
    g->ending = true;
    if (g->unsaid_size == 0)
        in_close(g);
}

/* ---- hearing ---- */

static void line_end(struct dialogue *g)
{
    g->line[g->used] = '\0';
    if (g->used > 0) {
        g->used = 0;
        g->on_line(g->context, g->line);
    }
}

/* The line ends up on somebody's terminal, and comes from anywhere: nothing may control that. */
static char harmless(unsigned char byte, char before)
{
    bool c1 = (unsigned char)before == 0xc2 && byte >= 0x80 && byte < 0xa0; /* of UTF-8 */
    if (byte == '\t')
        return ' ';
    return byte < ' ' || byte == 0x7f || c1 ? '?' : (char)byte;
}

static void out_close(struct dialogue *g)
{
    loop_fd_remove(&g->out_watch);
    if (g->out >= 0)
        close(g->out);
    g->out = -1;
}

/* At most a full pipe at a time: a child that writes without end shall not keep the daemon. */
static void out_read(struct dialogue *g)
{
    unsigned char bytes[READ_BYTES];
    ssize_t n = -1;
    errno = EAGAIN;
    for (int round = 0; round < READS_MAX && g->out >= 0; round++) {
        n = read(g->out, bytes, sizeof bytes);
        for (ssize_t i = 0; i < n; i++) {
            unsigned char byte = bytes[i];
            if (byte == '\n' || byte == '\r')
                line_end(g);
            else if (g->used < DIALOGUE_LINE_MAX) {
                g->line[g->used] = harmless(byte, g->used > 0 ? g->line[g->used - 1] : ' ');
                g->used++;
            }
        }
        if (n <= 0)
            break;
    }
    if (n != 0 && (n > 0 || errno == EAGAIN || errno == EINTR))
        return;
    line_end(g);
    out_close(g);
    if (g->on_end != NULL)
        g->on_end(g->context);
}

void dialogue_on_end(struct dialogue *g, loop_fn *fn)
{
    g->on_end = fn;
}

static void on_out(void *context, int events)
{
    (void)events;
    out_read(context);
}

void dialogue_finish(struct dialogue *g)
{
    if (g->out >= 0)
        out_read(g);
    line_end(g);
    out_close(g);
    in_close(g);
}

/* ---- open and close ---- */

static int pipes_open(struct dialogue *g, int ends[2])
{
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0)
        return -1;
    ends[0] = in[0];
    g->in = in[1];
    if (pipe2(out, O_CLOEXEC) != 0)
        return -1;
    g->out = out[0];
    ends[1] = out[1];
    /* our ends alone: each is an open file of its own */
    return fcntl(g->in, F_SETFL, O_NONBLOCK) | fcntl(g->out, F_SETFL, O_NONBLOCK);
}

struct dialogue *dialogue_open(struct loop *loop, dialogue_fn *on_line, void *context, int ends[2])
{
    ends[0] = ends[1] = -1;
    struct dialogue *g = calloc(1, sizeof *g);
    if (g == NULL)
        return NULL;
    *g = (struct dialogue){.on_line = on_line, .context = context, .in = -1, .out = -1};
    if (pipes_open(g, ends) == 0) {
        g->in_watch = loop_fd_add(loop, g->in, 0, on_in, g);
        g->out_watch = loop_fd_add(loop, g->out, LOOP_READ, on_out, g);
        if (g->in_watch != NULL && g->out_watch != NULL)
            return g;
        errno = ENOMEM;
    }
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    ends[0] = ends[1] = -1;
    dialogue_close(&g);
    return NULL;
}

void dialogue_close(struct dialogue **dialogue)
{
    struct dialogue *g = *dialogue;
    int error = errno;
    *dialogue = NULL;
    if (g == NULL)
        return;
    in_close(g);
    out_close(g);
    free(g);
    errno = error;
}
