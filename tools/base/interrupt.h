/*
 * SIGINT and SIGTERM while a command waits in the library: both are blocked and a thread of its
 * own waits for them, so that nothing polls and a covey_ call can be made in answer.
 */
#ifndef COVEY_TOOLS_INTERRUPT_H
#define COVEY_TOOLS_INTERRUPT_H

struct interrupt;

/* Called in the waiting thread with the signal and how often one has come so far (1, 2, ...). */
typedef void interrupt_fn(void *context, int signal_number, int count);

/* Starts to watch; NULL when no thread can be had. Threads started from here on do not get the
 * two signals. */
struct interrupt *interrupt_start(interrupt_fn *on_signal, void *context);

/* Ends watching (a call of on_signal under way is finished first) and returns the first signal
 * that came, or 0. Sets *interrupt to NULL; NULL in it is fine. */
int interrupt_stop(struct interrupt **interrupt);

#endif
