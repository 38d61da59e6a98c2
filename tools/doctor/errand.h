/*
 * Commands that run side by side while the lines they print are taken, each with its own standard
 * input and in a process group of its own; standard error comes with standard output.
 */
#ifndef COVEY_TOOLS_ERRAND_H
#define COVEY_TOOLS_ERRAND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define ERRAND_LINE_BYTES 1024

struct errand {
    pid_t pid;  /* 0: not running */
    int in;     /* its standard input, -1 */
    int out;    /* what it prints, -1 once that has ended */
    int owner;  /* the caller's number for it */
    int status; /* exit status, or 128 + a signal, once `out` has ended and errands_end() ran */
    char line[ERRAND_LINE_BYTES];
    size_t used;
};

/* Takes a line, without its newline, of the errand with that owner. */
typedef void errand_line_fn(void *context, int owner, char *line);

/* Starts argv; 0, or an errno. */
int errand_start(struct errand *errand, int owner, char *const *argv);

/* Reads lines until done(context) says so, all errands have ended, or `ms` have passed. */
void errands_run(struct errand *errands, int n, int ms, errand_line_fn *fn,
                 bool (*done)(const void *context), void *context);

/* Sends a signal to the groups of all that run and have not closed what they print. */
void errands_signal(const struct errand *errands, int n, int signal_number);

/* Ends them: standard input first, then SIGTERM (at once where `hurry`), after 3 s SIGKILL; their
 * last lines are taken. */
void errands_end(struct errand *errands, int n, bool hurry, errand_line_fn *fn, void *context);

#endif
