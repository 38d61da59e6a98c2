/*
 * wait.h - waiting, polling and the progress thread.
 */
#ifndef COVEY_LIB_DRIVE_WAIT_H
#define COVEY_LIB_DRIVE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct covey;

/* Waits until done(context) is true. 0, COVEY_ETIMEOUT, or the reason why the daemon is gone. */
int wait_until(struct covey *vm, bool (*done)(void *context), void *context, uint64_t deadline_us);
/* Looks at links in memory for about a microsecond, once where looking has not paid lately or
 * `once`. take() does all there is to do: > 0, it is done; 0, there is nothing yet; < 0, it is not
 * done this way. True when it is done, else wait_until() is next: so descriptors have their turn,
 * too. *waited: not at the first look. */
bool wait_briefly(struct covey *vm, int (*take)(void *context), void *context, bool once,
                  bool *waited);
/* Looks once at everything that is ready, without waiting, unless another thread of the program
 * polls. */
void wait_poll(struct covey *vm);
void *wait_progress_main(void *vm);
void wait_left(struct covey *vm); /* at the end of a call: what is under way needs progress */

#endif
