/*
 * errand.c - runs commands side by side and takes their lines as they come. One that writes
 * without end is read a little at a time, so that the others go on, and all of them end at one
 * deadline.
 */
#include "tools/doctor/errand.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/base/child.h"
#include "tools/base/clock.h"

#define POLITE_MS 1500 /* to end by itself, then again after SIGTERM */

/* ---- Starting ----------------------------------------------------------------------------- */

static int spawn(struct errand *errand, char *const *argv, int in, int out)
{
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDERR_FILENO);
    return child_spawn(&errand->pid, &files, argv, environ);
}

static void close_pair(const int pair[2])
{
    if (pair[0] >= 0)
        close(pair[0]);
    if (pair[1] >= 0)
        close(pair[1]);
}

int errand_start(struct errand *errand, int owner, char *const *argv)
{
    int in[2] = {-1, -1};
    int out[2] = {-1, -1};
    *errand = (struct errand){.in = -1, .out = -1, .owner = owner};
    int error = pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) ? errno : 0;
    if (!error)
        error = spawn(errand, argv, in[0], out[1]);
    if (error) {
        errand->pid = 0;
        close_pair(in);
        close_pair(out);
        return error;
    }
    close(in[0]);
    close(out[1]);
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    errand->in = in[1];
    errand->out = out[0];
    return 0;
}

/* ---- Lines -------------------------------------------------------------------------------- */

static void take_line(struct errand *errand, errand_line_fn *fn, void *context)
{
    errand->line[errand->used] = '\0';
    errand->used = 0;
    fn(context, errand->owner, errand->line);
}

/* What is there at most once: one that prints without end must not keep the others waiting. */
static void read_errand(struct errand *errand, errand_line_fn *fn, void *context)
{
    char bytes[4096];
    ssize_t n = read(errand->out, bytes, sizeof bytes);
    for (ssize_t i = 0; i < n; i++) {
        if (bytes[i] == '\n')
            take_line(errand, fn, context);
        else if (bytes[i] && bytes[i] != '\r' && errand->used < ERRAND_LINE_BYTES - 1)
            errand->line[errand->used++] = bytes[i];
    }
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        if (errand->used > 0)
            take_line(errand, fn, context);
        close(errand->out);
        errand->out = -1;
    }
}

static int fill_fds(struct pollfd *fds, const struct errand *errands, int n)
{
    int open = 0;
    for (int i = 0; i < n; i++) {
        fds[i] = (struct pollfd){.fd = errands[i].out, .events = POLLIN};
        open += errands[i].out >= 0;
    }
    return open;
}

static bool never(const void *context)
{
    (void)context;
    return false;
}

void errands_run(struct errand *errands, int n, int ms, errand_line_fn *fn,
                 bool (*done)(const void *context), void *context)
{
    struct pollfd *fds = calloc((size_t)n + 1, sizeof *fds);
    long long end = clock_ms() + ms;
    long long left;
    while (fds && !done(context) && fill_fds(fds, errands, n) && (left = end - clock_ms()) > 0) {
        if (poll(fds, (nfds_t)n, (int)left) < 0 && errno != EINTR)
            break;
        for (int i = 0; i < n; i++) {
            if (fds[i].revents)
                read_errand(&errands[i], fn, context);
        }
    }
    free(fds);
}

/* ---- Ending ------------------------------------------------------------------------------- */

void errands_signal(const struct errand *errands, int n, int signal_number)
{
    for (int i = 0; i < n; i++) {
        if (errands[i].pid > 0 && errands[i].out >= 0)
            kill(-errands[i].pid, signal_number);
    }
}

void errands_end(struct errand *errands, int n, bool hurry, errand_line_fn *fn, void *context)
{
    for (int i = 0; i < n; i++) {
        if (errands[i].pid > 0 && errands[i].in >= 0)
            close(errands[i].in);
        errands[i].in = -1;
    }
    if (!hurry)
        errands_run(errands, n, POLITE_MS, fn, never, context);
    errands_signal(errands, n, SIGTERM);
    errands_run(errands, n, 2 * POLITE_MS, fn, never, context);
    for (int i = 0; i < n; i++) {
        struct errand *errand = &errands[i];
        int status = 0;
        if (errand->pid > 0) {
            if (errand->out >= 0)
                close(errand->out);
            errand->out = -1;
            kill(-errand->pid, SIGKILL);
            while (waitpid(errand->pid, &status, 0) < 0 && errno == EINTR)
                continue;
            errand->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            errand->pid = 0;
        }
    }
}
