/*
 * input.h - the standard input of tasks that get one: from their parent into a pipe.
 */
#ifndef COVEY_DAEMON_INPUT_H
#define COVEY_DAEMON_INPUT_H

#include "daemon/post/post.h"

/* Takes over the writing end of the pipe. 0, or -ENOMEM and it does not. */
int input_start(struct task *task, int fd);

/* Nothing more comes: the task reads the end. */
void input_end(struct task *task);

#endif
