/*
 * The tasks of a VM with what they do, as `covey top` and `covey ps` show them: asked for, made
 * rates of, sorted, filtered, and put into short texts.
 */
#ifndef COVEY_TOOLS_WORK_H
#define COVEY_TOOLS_WORK_H

#include <stdbool.h>

#include "covey.h"
#include "tools/list/columns.h"

/* Of the time between two looks or, in the first one, since it began. Below 0: not known. */
struct work_rates {
    double cpu;                                        /* processors */
    double computing, communicating, idle;             /* shares of the time, together 1 */
    double sent, sent_bytes, received, received_bytes; /* a second */
};

struct work {
    struct covey_task task;
    struct covey_task_stat stat;
    struct work_rates rates;
    char host[64]; /* its name */
};

struct work_list {
    struct work *rows; /* those that the filter lets pass come first */
    int count;
    int shown;                /* that it lets pass */
    int left_out;             /* tasks that were not asked for */
    struct covey_host *hosts; /* as covey_task_stats() gives them */
    int host_count;
};

/* Asks for all tasks, WORK_TASKS_MAX at most. What the list held before is where rates begin, and
 * is freed. Returns 0 or a negative error code, which leaves the list as it was. */
#define WORK_TASKS_MAX 10000
int work_ask(covey_t *vm, int64_t timeout_us, struct work_list *list);
void work_free(struct work_list *list);

/* The rates between two looks at a task; `base` NULL: since it began. */
void work_rates(const struct covey_task_stat *base, const struct covey_task_stat *last,
                struct work_rates *rates);

/* X(key, name, column): what one can sort by; all but tid, host and command begin with the largest.
 */
#define WORK_ORDERS(X)                                                                             \
    X('t', TID, "tid")                                                                             \
    X('h', HOST, "host")                                                                           \
    X('c', CPU, "cpu")                                                                             \
    X('m', MEMORY, "memory")                                                                       \
    X('p', COMPUTING, "computing")                                                                 \
    X('o', COMMUNICATING, "communicating")                                                         \
    X('i', IDLE, "idle")                                                                           \
    X('g', MESSAGES, "messages")                                                                   \
    X('n', NETWORK, "network")                                                                     \
    X('w', WAIT, "wait")                                                                           \
    X('a', COMMAND, "command")

enum work_order {
#define WORK_ENUM(key, name, text) WORK_BY_##name,
    WORK_ORDERS(WORK_ENUM)
#undef WORK_ENUM
        WORK_ORDER_COUNT
};

/* The order of a key or of a name ("cpu"); -1: none. Its name. */
int work_order_of_key(int key);
int work_order_of_name(const char *name);
const char *work_order_name(enum work_order order);

/* Lets only rows pass that have the text in what is shown of them, whatever its case; NULL or "":
 * all. Then sorts these: who has no such figure comes last, and equals stay in order of tids. */
void work_sort(struct work_list *list, const char *filter, enum work_order order, bool reverse);

/* Its rows are struct work. `work_ps_columns` are those of a list of all tasks. */
extern const struct columns work_columns, work_ps_columns;

const char *work_state_name(int state);

/* What the task waits for: "recv from t40001 tag 11", "-". COLUMN_CELL_BYTES of the cell. */
void work_print_wait(const struct covey_task_stat *stat, char *cell);

/* A command without the folder of its program. COLUMN_CELL_BYTES of the cell. */
void work_print_program(const char *command, char *cell);

#endif
