/*
 * The hosts of a VM with their load, as `covey top` shows them: asked for, sorted, and put into
 * short texts.
 */
#ifndef COVEY_TOOLS_LOAD_H
#define COVEY_TOOLS_LOAD_H

#include <stdbool.h>

#include "covey.h"
#include "tools/list/columns.h"

struct load {
    struct covey_host host;
    struct covey_host_stat stat;
};

struct load_list {
    struct load *rows;
    int count;
};

/* The hosts that are there now. Returns 0 or a negative error code; frees what the list held. */
int load_ask(covey_t *vm, int64_t timeout_us, struct load_list *list);
void load_free(struct load_list *list);

/* X(key, name, column): what one can sort by; all but `host` begin with the largest. */
#define LOAD_ORDERS(X)                                                                             \
    X('h', HOST, "host")                                                                           \
    X('c', CPU, "cpu")                                                                             \
    X('l', LOAD, "load")                                                                           \
    X('m', MEMORY, "memory")                                                                       \
    X('n', NETWORK, "network")                                                                     \
    X('d', DISK, "disk")                                                                           \
    X('t', TASKS, "tasks")

enum load_order {
#define LOAD_ENUM(key, name, text) LOAD_BY_##name,
    LOAD_ORDERS(LOAD_ENUM)
#undef LOAD_ENUM
        LOAD_ORDER_COUNT
};

/* The order of a key or of a name ("cpu"); -1: none. Its name. */
int load_order_of_key(int key);
int load_order_of_name(const char *name);
const char *load_order_name(enum load_order order);

/* Sorts; who has no such figure comes last, and equals stay in the order of their names. */
void load_sort(struct load_list *list, enum load_order order, bool reverse);

/* Its rows are struct load; the second one is the state. */
extern const struct columns load_columns;

#endif
