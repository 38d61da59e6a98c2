/*
 * spread.h - leaving a processor that this task shares while another one is idle.
 *
 * A task that is woken may be put on the processor of the one that woke it, or of any other that
 * computes: the kernel looks only as far for an idle one as it expects to find one, which is not at
 * all on a machine of few processors that are busy for more than half of the time. Two tasks that
 * wait for each other run one after the other then, until the kernel balances its queues, which
 * takes it 10 to 20 ms; and where they sleep and wake in between it happens again and again.
 *
 * Who offers its processor while it waits sees that somebody takes it each time. When no more tasks
 * want to run than this one may use processors, one of these is idle: it moves there. Where more
 * tasks than processors work together, those that do not want to run do so the next moment, and the
 * kernel has better reasons.
 */
#ifndef COVEY_LIB_MEMBER_SPREAD_H
#define COVEY_LIB_MEMBER_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

/* Of a thread; all 0 at first. */
struct spread {
    unsigned taken;    /* offers in a row that somebody took */
    uint64_t next_ns;  /* no look whether a processor is idle before, */
    uint64_t pause_ns; /* and not so soon after one in vain */
};

/* An offer of the processor was taken, or not: whether it is time to look for an idle one. */
bool spread_is_due(struct spread *spread, bool taken, uint64_t now_ns);
/* Where there was none, or it is soon again that it had to look, the next one is later. */
void spread_looked(struct spread *spread, bool found, uint64_t now_ns);

/* Whether /proc/loadavg says that no more want to run than so many. */
bool spread_is_room(const char *loadavg, int processors);

/* Moves the calling thread to another of its processors, all of which it may use afterwards; false:
 * it has no other, or the kernel refuses. */
bool spread_move(void);

/* So many tasks, with this one, work together on this host, as a team or over links in memory. */
void spread_beside(int tasks);
/* All of this, after an offer. */
void spread_offered(bool taken);

#endif
