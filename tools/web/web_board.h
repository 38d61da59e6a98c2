/*
 * web_board.h - what the live page shows, kept over ten minutes in a room of fixed size: so many
 * hosts and tasks have a row, and each look at the VM becomes a sample, some bytes a row. What has
 * no row is counted. Pure: no VM and no clock.
 */
#ifndef COVEY_TOOLS_WEB_BOARD_H
#define COVEY_TOOLS_WEB_BOARD_H

#include "tools/web/web_flights.h"
#include "tools/web/web_matrix.h"
#include "tools/web/web_waits.h"
#include "tools/web/web_work.h"

#define BOARD_HOSTS 256
#define BOARD_TASKS 512
#define BOARD_ROWS (BOARD_HOSTS + BOARD_TASKS) /* those of hosts come first */
#define BOARD_SAMPLES 300                      /* ten minutes of looks every two seconds */
#define BOARD_LINES 200
#define BOARD_BAGS 64
#define BOARD_HELD 64
#define BOARD_NODES 512 /* of the network; as many links */

/* A sample of a host. What is not known is WEB_UNKNOWN, and both bytes of the number of tasks. */
enum board_host_byte {
    BOARD_CPU,     /* busy share of the cores, in 200th */
    BOARD_MEMORY,  /* used share, in 200th */
    BOARD_NET_IN,  /* bytes a second as web_rate_byte() */
    BOARD_NET_OUT, /* likewise */
    BOARD_TASKS_LOW,
    BOARD_TASKS_HIGH,
    BOARD_HOST_BYTES
};

struct board_host {
    bool used;
    bool pages;
    uint64_t last; /* the number of the look that saw it last */
    double cores, memory_bytes, net_rate;
    struct covey_host is;
};

struct board_task {
    bool used;
    bool ended;
    uint64_t first, last; /* the numbers of the looks that saw it first and last */
    char host[64];
    struct covey_task is;
    struct covey_task_stat did; /* when it was seen last: where rates begin */
    uint8_t figures[WEB_FIGURES];
};

struct board_bag {
    struct covey_bag_info is;
    char holder[64];
    double rate; /* items done a second, since the look before */
};

struct board_bags {
    struct board_bag rows[BOARD_BAGS];
    int count, left_out;
};

struct board_held { /* locks and tokens */
    struct covey_held rows[BOARD_HELD];
    int count, left_out;
};

struct board {
    char vm[64];
    int period_ms;  /* between two looks */
    uint64_t count; /* looks; sample n is kept at n % BOARD_SAMPLES */
    char trouble[200];
    int host_count, task_count;         /* of the VM, those without a row, too */
    int hosts_left_out, tasks_left_out; /* of those */
    int hosts_used, tasks_used;         /* rows below which all that are in use lie */
    struct board_host hosts[BOARD_HOSTS];
    struct board_task tasks[BOARD_TASKS];
    bool changed[BOARD_ROWS];                     /* by the last look */
    uint8_t all[BOARD_SAMPLES][BOARD_HOST_BYTES]; /* means of shares, and sums, of all hosts */
    uint8_t host_samples[BOARD_SAMPLES][BOARD_HOSTS][BOARD_HOST_BYTES];
    uint8_t task_samples[BOARD_SAMPLES][BOARD_TASKS]; /* a byte each: enum web_task_byte */
    struct web_waits waits;
    struct web_flights flights;
    struct web_matrix matrix; /* of the rows of hosts */
    struct board_bags bags;
    struct board_held held;
    struct web_line lines[BOARD_LINES]; /* line n is kept at n % BOARD_LINES */
    uint64_t line_count;
    struct board_network *network;
};

/* The network, NULL in the board if the VM has none. Links name nodes that are kept, too. */
struct board_network {
    uint64_t version;
    int node_count, link_count, left_out; /* left_out: nodes */
    struct covey_topology_node nodes[BOARD_NODES];
    struct covey_topology_link links[BOARD_NODES];
};

/* NULL: memory is exhausted. */
struct board *board_create(const char *vm, int period_ms);
void board_destroy(struct board *board);

/* A look becomes a sample. At most BOARD_NEW_ROWS rows go from what ended to something new in one
 * look, so that what a viewer must be told at once is bounded; others have to wait. */
#define BOARD_NEW_ROWS 64
void board_take(struct board *board, const struct web_look *look);

#endif
