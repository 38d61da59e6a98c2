/*
 * main.c - pvm, the console of a virtual machine for those who know PVM's: commands from ~/.pvmrc
 * and then from standard input, a line each, and what the tasks of its jobs write between. It is a
 * task like others and rests on pvm3.h alone; `covey` is the console that knows all of Covey.
 *
 *   pvm [-nHOSTNAME] [HOSTFILE]
 */
#include "lib/pvm3/console/console.h"

#include "lib/pvm3/include/pvm3.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 16384
#define LOOK_MS 50 /* between two looks at the output of jobs */

static void help(struct console *c, int argc, char **argv);

/* ---- commands that are the console's own ----------------------------------------------------- */

static void alias(struct console *c, int argc, char **argv)
{
    if (argc == 1)
        alias_list(c);
    else if (argc == 2)
        printf("alias: wrong #args\n");
    else
        alias_set(c, argv[1], argc - 2, argv + 2);
}

static void unalias(struct console *c, int argc, char **argv)
{
    (void)argc;
    alias_remove(c, argv[1]);
}

static void echo(struct console *c, int argc, char **argv)
{
    (void)c;
    for (int i = 1; i < argc; i++)
        printf("%s%s", argv[i], i + 1 < argc ? " " : "");
    putchar('\n');
}

static void quit(struct console *c, int argc, char **argv)
{
    (void)argc, (void)argv;
    c->over = true;
}

static const struct command own_commands[] = {
    {"alias", alias, 0, -1, "Give a command another name, or list those",
     "alias [NAME COMMAND ...]"},
    {"echo", echo, 0, -1, "Print words", "echo [WORD ...]"},
    {"help", help, 0, 1, "List the commands, or explain one", "help [COMMAND]"},
    {"quit", quit, 0, 0, "Leave the console; the virtual machine goes on", "quit"},
    {"unalias", unalias, 1, 1, "Forget an alias", "unalias NAME"},
    {.name = NULL},
};

static const struct command *const tables[] = {own_commands,   host_commands, task_commands,
                                               spawn_commands, job_commands,  option_commands,
                                               box_commands,   trace_commands};

#define TABLES (sizeof tables / sizeof tables[0])

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < TABLES; i++) {
        for (const struct command *command = tables[i]; command->name != NULL; command++) {
            if (strcmp(command->name, name) == 0)
                return command;
        }
    }
    return NULL;
}

/* ---- help ------------------------------------------------------------------------------------ */

static int by_name(const void *a, const void *b)
{
    const struct command *const *left = a, *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

static void list_commands(void)
{
    const struct command *all[64];
    size_t count = 0;
    for (size_t i = 0; i < TABLES; i++) {
        for (const struct command *command = tables[i]; command->name != NULL; command++)
            all[count++] = command;
    }
    qsort(all, count, sizeof all[0], by_name);
    printf("Commands are:\n");
    for (size_t i = 0; i < count; i++)
        printf("  %-11s %s\n", all[i]->name, all[i]->summary);
}

static void help(struct console *c, int argc, char **argv)
{
    const struct command *command = command_find(argc > 1 ? argv[1] : "help");
    (void)c;
    if (command == NULL) {
        printf("help: %s: not a command\n", argv[1]);
        return;
    }
    printf("%-11s %s\nSyntax:  %s\n", command->name, command->summary, command->usage);
    if (argc == 1)
        list_commands();
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Runs the command of a line, or says why not. */
static void console_run_line(struct console *c, const char *line)
{
    char text[LINE_MAX_BYTES], alias_text[LINE_MAX_BYTES], *words[WORDS_MAX];
    snprintf(text, sizeof text, "%s", line);
    int count = words_split(text, words, WORDS_MAX);
    if (count < 0)
        printf("a quote is not closed, or there are too many words\n");
    if (count <= 0 || words[0][0] == '#')
        return;
    count = alias_expand(c, count, words, alias_text, sizeof alias_text);
    const struct command *command = command_find(words[0]);
    if (command == NULL)
        printf("%s: not found\n", words[0]);
    else if (count - 1 < command->least || (command->most >= 0 && count - 1 > command->most))
        printf("%s: wrong #args\n", words[0]);
    else
        command->run(c, count, words);
    fflush(stdout);
}

static void run_startup(struct console *c)
{
    char path[4096];
    const char *home = getenv("HOME");
    FILE *file = NULL;
    if (home != NULL && (size_t)snprintf(path, sizeof path, "%s/.pvmrc", home) < sizeof path)
        file = fopen(path, "re");
    if (file == NULL)
        return;
    char *line = NULL;
    size_t size = 0;
    while (!c->over && getline(&line, &size, file) >= 0)
        console_run_line(c, line);
    free(line);
    fclose(file);
}

/* Waits for input and shows meanwhile what jobs write; false: it ends. */
static bool await_input(struct console *c)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    for (;;) {
        bool more = job_poll(c);
        int ready = poll(&input, 1, more ? 0 : c->jobs != NULL ? LOOK_MS : -1);
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
    }
}

/* Standard input is not buffered, or poll() would not see what a buffer holds. */
static void run_input(struct console *c)
{
    char *line = NULL;
    size_t size = 0;
    bool echoed = !isatty(STDIN_FILENO);
    setvbuf(stdin, NULL, _IONBF, 0);
    while (!c->over) {
        printf("pvm> ");
        fflush(stdout);
        if (!await_input(c) || getline(&line, &size, stdin) < 0)
            break;
        if (echoed)
            printf("%s%s", line, strchr(line, '\n') == NULL ? "\n" : "");
        console_run_line(c, line);
    }
    if (!c->over)
        putchar('\n');
    free(line);
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Enrols, starting the virtual machine where there is none; false: neither can be done. */
static bool enrol(int argc, char **argv)
{
    int automatic = pvm_setopt(PvmAutoErr, 0);
    bool here = pvm_mytid() >= 0;
    pvm_setopt(PvmAutoErr, automatic);
    if (here) {
        printf("pvmd already running.\n");
        return true;
    }
    int started = pvm_start_pvmd(argc - 1, argv + 1, 1);
    if (started < 0 && started != PvmDupHost) {
        fprintf(stderr, "pvm: the virtual machine does not start: %s\n", error_of(started));
        return false;
    }
    return pvm_mytid() >= 0;
}

int main(int argc, char **argv)
{
    struct console c = {.over = false};
    if (argc == 6 && strcmp(argv[1], "--host") == 0)
        return hoster_ask(argv + 2);
    if (!enrol(argc, argv))
        return 1;
    pvm_setopt(PvmResvTids, 1);
    pvm_setopt(PvmNoReset, 1);
    pvm_setopt(PvmTraceOptions, PvmTraceFull);
    trace_begin();
    run_startup(&c);
    run_input(&c);
    if (!c.quiet) {
        printf("\nConsole: exit handler called\npvmd still running.\n");
        pvm_exit();
    }
    job_free_all(&c);
    alias_free_all(&c);
    return 0;
}
