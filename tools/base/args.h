/*
 * Options of a subcommand: a table that the parser, `covey help` and completion share. Options
 * and operands may be mixed; `--` ends the options; `--name=value`, `--name value`, `-n value`
 * and `-nvalue` are the same. No globals, so that a console can parse again and again.
 */
#ifndef COVEY_TOOLS_ARGS_H
#define COVEY_TOOLS_ARGS_H

#include <stdbool.h>
#include <stdint.h>

struct args_option {
    const char *name;     /* long name without dashes; NULL ends the table */
    int key;              /* what args_next() returns, > 0; a character is its short name too */
    const char *argument; /* placeholder of its value, NULL: takes none */
    const char *help;     /* one line */
};

enum { ARGS_END = 0, ARGS_OPERAND = -1, ARGS_BAD = -2 };

struct args {
    const struct args_option *options;
    int argc;
    char **argv;
    int next;           /* the first argument not yet taken */
    bool operands_only; /* `--` was seen */
    const char *value;  /* of the option or operand just taken */
    char error[128];    /* for ARGS_BAD */
};

/* argv[0] is the command's name. options may be NULL. */
void args_init(struct args *args, const struct args_option *options, int argc, char **argv);

/* Takes the next argument: the key of an option, ARGS_OPERAND, ARGS_END or ARGS_BAD. */
int args_next(struct args *args);

/* The place of text in a list of words ended by NULL, or -1. */
int args_choice(const char *const *words, const char *text);

/* The whole of text as a decimal number in min .. max; false if it is none. */
bool args_number(const char *text, long min, long max, long *number);

/* The same for a number with a fraction; one that is none (nan) fits nowhere. */
bool args_real(const char *text, double min, double max, double *number);

/* The whole of text as a number such as "4" or "64K" in 1 .. max; K, M and G are powers of 1024.
 */
bool args_size(const char *text, int64_t max, int64_t *size);

#endif
