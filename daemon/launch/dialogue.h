/*
 * dialogue.h - what a launcher's child and this daemon say to each other: lines over the child's
 * standard input, and those of its standard output and error.
 */
#ifndef COVEY_DAEMON_DIALOGUE_H
#define COVEY_DAEMON_DIALOGUE_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/loop.h"

#define DIALOGUE_LINE_MAX 511 /* of a longer line the beginning counts */

struct dialogue;

/* A whole line that is not empty, without its end; control characters in it are '?'. */
typedef void dialogue_fn(void *context, const char *line);

/* Makes both pipes. ends[0] is for the child to read from, ends[1] for it to write to: the caller
 * closes them when the child has started. NULL with errno set on failure. */
struct dialogue *dialogue_open(struct loop *loop, dialogue_fn *on_line, void *context, int ends[2]);

/* fn is called when nobody can say anything any more, after the last line: for a child that is not
 * the caller's own, whose end no signal tells. */
void dialogue_on_end(struct dialogue *dialogue, loop_fn *fn);

/* Says something: it is written as fast as the child reads, and wiped from memory afterwards.
 * False when memory is exhausted. Words to a child that has ended are lost. */
bool dialogue_say(struct dialogue *dialogue, const char *bytes, size_t size);

/* Nothing more will be said: the child's input ends after what was. */
void dialogue_end(struct dialogue *dialogue);

/* Takes what has arrived by now, and a last line without an end: the child has ended. */
void dialogue_finish(struct dialogue *dialogue);

void dialogue_close(struct dialogue **dialogue); /* sets it to NULL; NULL is fine */

#endif
