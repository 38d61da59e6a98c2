/*
 * The figures of a VM, as covey calibrate takes them.
 *
 * cmd_calibrate.c reads the command line, calibrate_route.c has messages go between two hosts (by
 * covey bench), calibrate_speed.c has the demo programs measure their arithmetic on all hosts,
 * calibrate_print.c shows it all.
 */
#ifndef COVEY_TOOLS_CALIBRATE_H
#define COVEY_TOOLS_CALIBRATE_H

#include <stdbool.h>

#include "tools/base/tool.h"

struct calibrate {
    struct tool *tool;
    bool json;
    int route;          /* between hosts; COVEY_ROUTE_AUTO: all that work */
    char *host_text;    /* of --host, cut at the commas; NULL: all hosts */
    const char **names; /* hosts that are measured */
    int name_count;
    bool one_machine; /* they are virtual: all have one address */
    int turns;        /* of calibrate_speeds() and calibrate_speeds_again() so far */
    struct covey_calibration *result;
};

/* The name of the host at that place of the calibration. */
const char *calibrate_host(const struct calibrate *calibrate, int at);

/* alpha and beta of each route that works, between the first two hosts and within the first, and
 * what messages and computations do to each other. After calibrate_speeds(); an exit status. */
int calibrate_routes(struct calibrate *calibrate);

/* The route after that one of which a calibration has a place for figures; 0: there are no more. */
int calibrate_next_route(int route);

/* The times of T_mult + T_add, T_oper and the rest on each host, and how many tasks it runs at
 * once. Returns an exit status. */
int calibrate_speeds(struct calibrate *calibrate);

/* A further turn of the arithmetic, at a later time: its figures are the means of all turns. */
int calibrate_speeds_again(struct calibrate *calibrate);

/* Print it for people or for scripts; path is where it was written. An exit status. */
int calibrate_print(const struct covey_calibration *calibration, const char *path);
int calibrate_print_json(const struct covey_calibration *calibration, const char *path);

#endif
