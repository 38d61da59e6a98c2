/*
 * task_figure.h - what is known of what a task does: a daemon answers TASK_STAT with such rows.
 *
 *   request = number=u32 behind=u32 most=u16 ; so many tasks with higher tids, or fewer
 *   answer  = left *row          ; left=u32: so many tasks with higher tids were left out
 *   row     = tid parent sink=u32 pid=i32 state=u8 command=text
 *             waits=u8 peer=u32 tag=i32 call=text name=text list
 *   list    = as in figure.h
 *
 * A figure that is not known is FIGURE_UNKNOWN, and is left out on the wire. Numbers are
 * big-endian. Counts and times are those since the task joined (of the processor: since its process
 * began), so that two answers make rates.
 */
#ifndef COVEY_PROTO_TASK_FIGURE_H
#define COVEY_PROTO_TASK_FIGURE_H

#include "proto/model/figure.h"
#include "proto/wire/control.h"

/* X(number, field of struct covey_task_stat) */
#define TASK_FIGURES(X)                                                                            \
    X(1, at_s)            /* when this was so, by a clock of the host's that never goes back */    \
    X(2, elapsed_s)       /* since it joined */                                                    \
    X(3, cpu_s)           /* of processors, its own and the kernel's for it */                     \
    X(4, memory_bytes)    /* of the host's that it holds */                                        \
    X(5, idle_s)          /* waiting for messages and the like */                                  \
    X(6, communication_s) /* in other calls */                                                     \
    X(7, sent)            /* messages */                                                           \
    X(8, sent_bytes)                                                                               \
    X(9, received)                                                                                 \
    X(10, received_bytes)                                                                          \
    X(11, waits_s) /* it waits for so long */                                                      \
    X(12, age_s)   /* since it was started or, who started by itself, joined */

enum task_figure {
#define TASK_FIGURE_ENUM(number, field) TASK_FIGURE_##field,
    TASK_FIGURES(TASK_FIGURE_ENUM)
#undef TASK_FIGURE_ENUM
        TASK_FIGURE_COUNT
};

#define TASK_FIGURE_CALL 31
#define TASK_FIGURE_NAME 71

struct task_figures {
    struct control_task task;
    uint8_t waits; /* enum covey_task_wait */
    uint32_t peer;
    int32_t tag;
    char call[TASK_FIGURE_CALL + 1], name[TASK_FIGURE_NAME + 1];
    double values[TASK_FIGURE_COUNT];
};

/* All is zero or unknown. */
void task_figures_init(struct task_figures *f);

#define TASK_FIGURES_BYTES_MAX                                                                     \
    (4 * 4 + 1 + 2 + CONTROL_COMMAND_MAX + 1 + 4 + 4 + 2 + TASK_FIGURE_CALL + 2 +                  \
     TASK_FIGURE_NAME + FIGURE_LIST_BYTES_MAX(TASK_FIGURE_COUNT))
void task_figures_put(struct cursor *c, const struct task_figures *f);
/* Refuses what ends early, and a figure that is negative or no number. */
void task_figures_get(struct cursor *c, struct task_figures *f);

#endif
