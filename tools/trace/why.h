/*
 * why.h - why it took so long: what is behind the waits of a trace.
 */
#ifndef COVEY_TOOLS_TRACE_WHY_H
#define COVEY_TOOLS_TRACE_WHY_H

#include <stdio.h>

#include "tools/trace/trace.h"

enum why_kind {
    WHY_TASK,    /* others waited for what a task did, outside of calls or in them */
    WHY_HOST,    /* likewise, of all tasks of a host, which compute longer than those of others */
    WHY_LINK,    /* messages between two hosts were on their way */
    WHY_CREDIT,  /* a receiver does not take what comes */
    WHY_TURN,    /* links that are shared */
    WHY_LOCK,    /* who: the task that has it longest */
    WHY_ITEMS,   /* bags were empty */
    WHY_RESULTS, /* bags had too few workers */
    WHY_NEVER    /* a task waits for ever */
};

struct why {
    enum why_kind kind;
    uint64_t cost_ns;   /* that tasks waited for this */
    uint32_t who, whom; /* a task or host (index); of a link: two hosts; TRACE_NONE */
    uint32_t name;      /* of a lock or call */
    double ratio;       /* of a task or host: computes so many times as long as the middle one */
    double rate, usual; /* of a link: bytes a second, and what the others do */
};

/* The causes, the worst first; free them. NULL: no memory. */
struct why *why_find(const struct trace *trace, size_t *count);

/* In sentences, `most` at most; false: no memory. */
bool why_print(const struct trace *trace, size_t most, FILE *out);

#endif
