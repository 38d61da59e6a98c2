/*
 * covey completion: the scripts that make shells complete covey, and what these ask. The scripts
 * know no command: for each word they call `covey completion words`, which looks where the console
 * does. So they are right for the covey that is called, and hosts and tasks are those of the
 * running VM.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/embed/embed.h"
#include "tools/console/commands.h"
#include "tools/console/complete.h"

#define PATIENCE_S 1 /* who types waits no longer for a VM that does not answer */

extern const char completion_bash[], completion_zsh[], completion_fish[];
EMBED(completion_bash, "share/completion/covey.bash");
EMBED(completion_zsh, "share/completion/covey.zsh");
EMBED(completion_fish, "share/completion/covey.fish");

static void give_up(int signal_number)
{
    (void)signal_number;
    _exit(TOOL_FAILED);
}

/* A line for each candidate: all of the word, and after a tab its help. The line "/" stands for
 * names of files, which shells find better themselves: it is none of a candidate. */
static int print_words(struct tool *tool, char *const *words, int count)
{
    struct complete complete = {.for_shell = true};
    signal(SIGALRM, give_up);
    alarm(PATIENCE_S);
    complete_words(&complete, tool, words, count);
    alarm(0);
    const char *word = words[count - 1];
    int head = complete.prefix ? (int)(strlen(word) - strlen(complete.prefix)) : 0;
    for (int i = 0; i < complete.count; i++) {
        const struct complete_candidate *c = &complete.list[i];
        printf("%.*s%s%s%s\n", head, word, c->text, c->help ? "\t" : "", c->help ? c->help : "");
    }
    if (complete.wants_files)
        puts("/");
    complete_free(&complete);
    return TOOL_OK;
}

static int completion_command(struct tool *tool, int argc, char **argv)
{
    static const char *const shells[] = {"bash", "zsh", "fish", NULL};
    const char *const scripts[] = {completion_bash, completion_zsh, completion_fish};
    if (argc > 2 && strcmp(argv[1], "words") == 0)
        return print_words(tool, &argv[2], argc - 2);
    if (argc != 2)
        return tool_usage("completion", "one shell is needed: bash, zsh or fish");
    int shell = args_choice(shells, argv[1]);
    if (shell < 0)
        return tool_usage("completion", "%s: must be bash, zsh or fish", argv[1]);
    fputs(scripts[shell], stdout);
    return TOOL_OK;
}

const struct command cmd_completion = {
    .name = "completion",
    .run = completion_command,
    .usage = "bash|zsh|fish | words WORD...",
    .help = "print a script by which a shell completes covey",
    .operand = "bash|zsh|fish",
};
