/*
 * loop.h - the event loop as the rest of the daemon sees it: descriptors, timers, children and
 * signals. loop.c alone knows which library stands behind it. One loop a process.
 *
 * Watchers may be removed from inside their own callback. Callbacks run one after the other; after
 * all that were due, and before the loop sleeps, the settle function runs once.
 */
#ifndef COVEY_DAEMON_LOOP_H
#define COVEY_DAEMON_LOOP_H

#include <stdint.h>
#include <sys/types.h>

enum { LOOP_READ = 1, LOOP_WRITE = 2 };

struct loop;
struct loop_fd;
struct loop_timer;
struct loop_alarm;
struct loop_child;
struct loop_signal;

typedef void loop_fn(void *context);
typedef void loop_fd_fn(void *context, int events);
typedef void loop_child_fn(void *context, int status); /* status as of waitpid() */

struct loop *loop_create(void); /* NULL: no memory or descriptors */
void loop_destroy(struct loop *loop);
void loop_run(struct loop *loop); /* until loop_stop() */
void loop_stop(struct loop *loop);

/* Monotonic time in microseconds, read anew by each call. */
uint64_t loop_now_us(void);

void loop_set_settle(struct loop *loop, loop_fn *settle, void *context);
/* Makes the loop go round once more before it sleeps. */
void loop_wake(struct loop *loop);

/* Watches a descriptor, which stays the caller's. NULL: no memory. events may be 0. */
struct loop_fd *loop_fd_add(struct loop *loop, int fd, int events, loop_fd_fn *fn, void *context);
void loop_fd_set(struct loop_fd *watch, int events);
void loop_fd_remove(struct loop_fd **watch); /* sets it to NULL; NULL is fine */

/* A timer for humans' times, precise to a millisecond; not running until it is started. */
struct loop_timer *loop_timer_add(struct loop *loop, loop_fn *fn, void *context);
void loop_timer_start(struct loop_timer *timer, uint64_t delay_us); /* once; again: anew */
void loop_timer_stop(struct loop_timer *timer);
void loop_timer_remove(struct loop_timer **timer);

/* An alarm for protocols' times: absolute, precise to some microseconds. UINT64_MAX: never. */
struct loop_alarm *loop_alarm_add(struct loop *loop, loop_fn *fn, void *context);
void loop_alarm_set(struct loop_alarm *alarm, uint64_t at_us);
void loop_alarm_remove(struct loop_alarm **alarm);

/* Reaps a child. The watcher frees itself after the call. Must be added before the loop goes
 * round again. */
struct loop_child *loop_child_add(struct loop *loop, pid_t pid, loop_child_fn *fn, void *context);
void loop_child_remove(struct loop_child **child); /* the child is then reaped unseen */

struct loop_signal *loop_signal_add(struct loop *loop, int number, loop_fn *fn, void *context);
void loop_signal_remove(struct loop_signal **watch);

#endif
