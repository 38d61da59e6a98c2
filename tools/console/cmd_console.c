/*
 * covey console: the same commands, one connection, until `quit` or the end of input. On a
 * terminal with line editing; otherwise the lines are a script, which goes on after a command
 * that failed, as a shell does.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/words.h"
#include "tools/console/commands.h"
#include "tools/console/edit.h"

struct console {
    struct tool *tool;
    bool quit;
    int status; /* of the last command */
};

static bool is_quit(const char *word)
{
    return strcmp(word, "quit") == 0 || strcmp(word, "exit") == 0;
}

static int run_words(struct console *console, const struct words *words)
{
    if (strcmp(words->list[0], "console") == 0)
        return tool_error("console", "this is the console already; leave it with: quit");
    return command_run(console->tool, words->count, words->list);
}

static void run_line(struct console *console, const char *line)
{
    const char *why;
    struct words words;
    if (words_split(&words, line, &why) < 0) {
        tool_error("console", "%s", why);
        console->status = TOOL_USAGE;
        return;
    }
    console->quit = words.count > 0 && is_quit(words.list[0]);
    if (words.count > 0 && !console->quit)
        console->status = run_words(console, &words);
    words_free(&words);
}

static int run_terminal(struct console *console)
{
    struct edit *edit = edit_open(console->tool);
    if (!edit)
        return tool_error("console", "this terminal cannot be used for editing; see $TERM");
    puts("covey " COVEY_VERSION ": `help` lists the commands, `quit` leaves");
    const char *line;
    while (!console->quit && (line = edit_line(edit)))
        run_line(console, line);
    if (!console->quit)
        putchar('\n');
    edit_close(edit);
    return console->status;
}

static int run_script(struct console *console)
{
    char *line = NULL;
    size_t capacity = 0;
    while (!console->quit && getline(&line, &capacity, stdin) >= 0)
        run_line(console, line);
    free(line);
    return console->status;
}

static int console_command(struct tool *tool, int argc, char **argv)
{
    struct console console = {.tool = tool};
    tool->reads_lines = true;
    if (argc > 1)
        return tool_usage("console", "%s: takes no argument", argv[1]);
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
        return run_terminal(&console);
    return run_script(&console);
}

const struct command cmd_console = {
    .name = "console",
    .run = console_command,
    .usage = "",
    .help = "type commands with editing, history and completion",
};
