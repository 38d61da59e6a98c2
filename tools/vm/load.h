/*
 * The hosts of a VM with their load, as `covey top` shows them: asked for, sorted, and put into
 * short texts.
 */
#ifndef COVEY_TOOLS_LOAD_H
#define COVEY_TOOLS_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "covey.h"

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

/* Asks again after a moment where daemons could not tell rates of the last seconds yet. */
int load_ask_twice(covey_t *vm, int64_t timeout_us, struct load_list *list);
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

/* A column. */
#define LOAD_CELL_BYTES 72
struct load_column {
    const char *heading;
    int width;
    int worth; /* where there is room for few, those that are worth more are shown */
    bool left; /* aligned to the left */
    void (*print)(const struct load *row, char cell[LOAD_CELL_BYTES]);
};
extern const struct load_column load_columns[];
extern const size_t load_column_count;

/* Chooses the columns for a line of that many characters, one blank between them: shown[i] says
 * whether the i-th is. The first always is. */
void load_layout(int width, bool *shown);

/* A number in four or five characters: "999", "1.5K", "12M"; "-" for one that is not known. */
void load_print_bytes(double bytes, char cell[LOAD_CELL_BYTES]);

#endif
