/*
 * options.c - getopt, setopt, and the environment that spawned tasks get: setenv, export, unexport.
 */
#include "lib/pvm3/console/console.h"

#include "lib/pvm3/include/pvm3.h"

#include <stdlib.h>
#include <string.h>

extern char **environ;

#define OPTION(name)                                                                               \
    {                                                                                              \
#name, name                                                                                \
    }

static const struct {
    const char *name;
    int what;
} options[] = {OPTION(PvmRoute),
               OPTION(PvmDebugMask),
               OPTION(PvmAutoErr),
               OPTION(PvmOutputTid),
               OPTION(PvmOutputCode),
               OPTION(PvmTraceTid),
               OPTION(PvmTraceCode),
               OPTION(PvmTraceBuffer),
               OPTION(PvmTraceOptions),
               OPTION(PvmFragSize),
               OPTION(PvmResvTids),
               OPTION(PvmSelfOutputTid),
               OPTION(PvmSelfOutputCode),
               OPTION(PvmSelfTraceTid),
               OPTION(PvmSelfTraceCode),
               OPTION(PvmSelfTraceBuffer),
               OPTION(PvmSelfTraceOptions),
               OPTION(PvmShowTids),
               OPTION(PvmOutputContext),
               OPTION(PvmTraceContext),
               OPTION(PvmSelfOutputContext),
               OPTION(PvmSelfTraceContext),
               OPTION(PvmNoReset)};

#define OPTIONS (int)(sizeof options / sizeof options[0])

/* Its place in the table, or -1 with the reason said. */
static int option_named(const char *name)
{
    for (int i = 0; i < OPTIONS; i++) {
        if (strcmp(options[i].name, name) == 0)
            return i;
    }
    printf("PVM Option \"%s\" Unknown.\n", name);
    return -1;
}

static void get_option(struct console *c, int argc, char **argv)
{
    int only = argc > 1 ? option_named(argv[1]) : -1;
    (void)c;
    for (int i = 0; i < OPTIONS; i++) {
        if (argc == 1 || i == only)
            printf("%s Currently Set to %d\n", options[i].name, pvm_getopt(options[i].what));
    }
}

static void set_option(struct console *c, int argc, char **argv)
{
    int value, at = option_named(argv[1]);
    (void)c, (void)argc;
    if (at < 0)
        return;
    if (!words_number(argv[2], &value)) {
        printf("setopt: %s: not a number\n", argv[2]);
        return;
    }
    int before = pvm_setopt(options[at].what, value);
    if (before >= 0 || pvm_getopt(options[at].what) == value)
        printf("%s Changed from %d to %d\n", options[at].name, before, value);
}

/* ---- environment ----------------------------------------------------------------------------- */

static void set_environment(struct console *c, int argc, char **argv)
{
    (void)c;
    if (argc == 1) {
        for (char **at = environ; *at != NULL; at++)
            puts(*at);
    } else if (argc == 2) {
        const char *value = getenv(argv[1]);
        if (value != NULL)
            puts(value);
    } else if (setenv(argv[1], argv[2], 1) != 0) {
        perror("setenv");
    }
}

static void export_names(struct console *c, int argc, char **argv)
{
    (void)c;
    for (int i = 1; i < argc; i++)
        pvm_export(argv[i]);
    const char *names = getenv("PVM_EXPORT");
    if (argc == 1)
        printf("PVM_EXPORT=%s\n", names != NULL ? names : "");
}

static void unexport_names(struct console *c, int argc, char **argv)
{
    (void)c;
    for (int i = 1; i < argc; i++)
        pvm_unexport(argv[i]);
}

const struct command option_commands[] = {
    {"export", export_names, 0, -1, "Name variables that spawned tasks get, or list them",
     "export [NAME ...]"},
    {"getopt", get_option, 0, 1, "Show the console's options", "getopt [OPTION]"},
    {"setenv", set_environment, 0, 2, "Show or set variables of the environment",
     "setenv [NAME [VALUE]]"},
    {"setopt", set_option, 2, 2, "Set an option of the console alone", "setopt OPTION NUMBER"},
    {"unexport", unexport_names, 0, -1, "Undo export", "unexport [NAME ...]"},
    {.name = NULL},
};
