/*
 * The subcommands. A command is one file cmd_NAME.c (or shares the file of its subject) with one
 * `const struct command cmd_NAME`, and one row here.
 */
#ifndef COVEY_TOOLS_COMMAND_H
#define COVEY_TOOLS_COMMAND_H

#include <stddef.h>

#include "tools/base/args.h"
#include "tools/base/tool.h"

struct command {
    const char *name;
    int (*run)(struct tool *tool, int argc, char **argv); /* argv[0] is the name; exit status */
    const char *usage;                                    /* what follows the name */
    const char *help;                                     /* one line */
    const struct args_option *options;                    /* NULL: none */
    const char
        *operand; /* for completion: what its operands are, "HOST", "start|stop|FILE"; or NULL */
};

#define COMMANDS(ROW)                                                                              \
    ROW(start)                                                                                     \
    ROW(halt)                                                                                      \
    ROW(add)                                                                                       \
    ROW(remove)                                                                                    \
    ROW(class)                                                                                     \
    ROW(join)                                                                                      \
    ROW(drain)                                                                                     \
    ROW(hosts)                                                                                     \
    ROW(ps)                                                                                        \
    ROW(locks)                                                                                     \
    ROW(bags)                                                                                      \
    ROW(bag)                                                                                       \
    ROW(run)                                                                                       \
    ROW(map)                                                                                       \
    ROW(with)                                                                                      \
    ROW(kill)                                                                                      \
    ROW(stats)                                                                                     \
    ROW(logs)                                                                                      \
    ROW(top)                                                                                       \
    ROW(web)                                                                                       \
    ROW(trace)                                                                                     \
    ROW(measure)                                                                                   \
    ROW(doctor)                                                                                    \
    ROW(sniff)                                                                                     \
    ROW(schedule)                                                                                  \
    ROW(topology)                                                                                  \
    ROW(bench)                                                                                     \
    ROW(calibrate)                                                                                 \
    ROW(predict)                                                                                   \
    ROW(console)                                                                                   \
    ROW(completion)                                                                                \
    ROW(help)                                                                                      \
    ROW(version)

#define COMMAND_DECLARE(name) extern const struct command cmd_##name;
COMMANDS(COMMAND_DECLARE)

#endif
