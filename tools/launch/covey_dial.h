/*
 * covey_dial.h - what the files of covey-dial share: its options, texts on sockets that block, and
 * the leader's part.
 */
#ifndef COVEY_TOOLS_COVEY_DIAL_H
#define COVEY_TOOLS_COVEY_DIAL_H

#include <sys/types.h>

#include "tools/launch/dial.h"

struct dial_options {
    const char *leader, *key, *name;
    int hosts, index, wait_s;
    uint16_t port;
};

/* Prints the one line and ends. */
void dial_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* All bytes, or false. Reads until a time of clock_ms(), however slowly they come; what is written
 * waits for as long as dial_patience() said. */
bool dial_write(int fd, const void *bytes, size_t size);
bool dial_read(int fd, void *bytes, size_t size, int64_t until_ms);
void dial_patience(int fd, int seconds);

/* A sealed text. dial_hear() returns its size; 0: none came, or not of the one who has the key. */
bool dial_say(int fd, struct dial *dial, enum dial_side by, const char *text, size_t size);
size_t dial_hear(int fd, struct dial *dial, enum dial_side by, char text[DIAL_TEXT_MAX + 1],
                 int64_t until_ms);

/* SIGTERM, SIGINT and SIGHUP go to that process. */
void dial_pass_signals(pid_t to);
int dial_status(int status); /* as of a shell */

/* The leader: gathers the guests, forgets the file's key, runs the command, and returns its status.
 */
int dial_lead(const struct dial_options *options, struct dial *own, char **command);
/* The launcher: `SOCKET NAME WORD...`, with the invitation on standard input. */
int dial_take(int count, char **words);

#endif
