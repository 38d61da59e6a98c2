/*
 * web_waits.h - who waits in a look at a VM: the longest waits, how many there are, and which task
 * most others wait for. Pure.
 */
#ifndef COVEY_TOOLS_WEB_WAITS_H
#define COVEY_TOOLS_WEB_WAITS_H

#include "tools/web/web_look.h"

#define WEB_WAITS 20
#define WEB_PROGRAM_BYTES 48

struct web_wait {
    covey_tid_t tid;
    char host[64];
    char program[WEB_PROGRAM_BYTES];
    char what[136]; /* as `covey ps` says it */
    double since_s; /* for so long */
};

struct web_waits {
    struct web_wait rows[WEB_WAITS]; /* the longest first */
    int count;                       /* of rows */
    int all;                         /* tasks that wait */
    int unknown;                     /* tasks whose programs do not use the library */
    int left_out;                    /* tasks that were not asked what they wait for */
    int for_first;                   /* tasks that wait for `first`; 0: nobody waits for a task */
    struct web_wait first;           /* the task that most others wait for; what: "" if it does not
                                        wait, its host and program: "" if it is not in the look */
};

/* Who waits for a lock or a token waits for the one who holds it. Memory that is exhausted leaves
 * `first` out. */
void web_waits_take(struct web_waits *waits, const struct web_look *look);

#endif
