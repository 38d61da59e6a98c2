/*
 * The command lines of the launchers: a template for /bin/sh in which {host} and {command} are
 * filled in,
 *   local   {command}
 *   ssh     ssh -o BatchMode=yes ... {host} {command}, quoted once more for the shell over there
 *   exec    the user's own template
 */
#include "daemon/launcher.h"

#include <string.h>

#include "lib/covey.h"

#define SSH_TEMPLATE "exec ssh -o BatchMode=yes -o ConnectTimeout=20 {host} {command}"

struct text {
    char *at, *end;
    bool full;
};

static struct text text_into(char *bytes, size_t size)
{
    return (struct text){.at = bytes, .end = bytes + size};
}

static void text_add(struct text *t, const char *bytes, size_t size)
{
    if ((size_t)(t->end - t->at) <= size) {
        t->full = true;
        return;
    }
    memcpy(t->at, bytes, size);
    t->at += size;
    *t->at = '\0';
}

/* Adds a word so that a shell reads it as it is. */
static void text_quote(struct text *t, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:=@,+";
    if (word[0] != '\0' && strspn(word, plain) == strlen(word)) {
        text_add(t, word, strlen(word));
        return;
    }
    text_add(t, "'", 1);
    for (; *word != '\0'; word++)
        if (*word == '\'')
            text_add(t, "'\\''", 4);
        else
            text_add(t, word, 1);
    text_add(t, "'", 1);
}

static void text_word(struct text *t, const char *word)
{
    text_add(t, " ", 1);
    text_quote(t, word);
}

/* The daemon's own command line there. */
static bool daemon_command(const struct daemon *d, const struct control_host_spec *spec,
                           char *command, size_t size)
{
    struct text t = text_into(command, size);
    text_quote(&t, spec->coveyd[0] != '\0' ? spec->coveyd : d->program);
    text_word(&t, "--join");
    if (spec->cwd[0] != '\0') {
        text_word(&t, "--cwd");
        text_word(&t, spec->cwd);
    }
    if (d->options->verbose)
        text_word(&t, "--verbose");
    if (spec->launcher == COVEY_LAUNCH_LOCAL && d->options->local)
        text_word(&t, "--local");
    if (spec->launcher == COVEY_LAUNCH_LOCAL && d->options->config != NULL) {
        text_word(&t, "--config");
        text_word(&t, d->options->config);
    }
    return !t.full;
}

static bool template_fill(const char *template_, const char *host, const char *command, char *line,
                          size_t size)
{
    struct text t = text_into(line, size);
    while (*template_ != '\0') {
        if (strncmp(template_, "{host}", 6) == 0) {
            text_quote(&t, host);
            template_ += 6;
        } else if (strncmp(template_, "{command}", 9) == 0) {
            text_add(&t, command, strlen(command));
            template_ += 9;
        } else {
            text_add(&t, template_++, 1);
        }
    }
    return !t.full;
}

bool launcher_line(const struct daemon *d, const struct control_host_spec *spec,
                   char line[LAUNCHER_LINE_MAX])
{
    char command[LAUNCHER_LINE_MAX], quoted[LAUNCHER_LINE_MAX];
    if (!daemon_command(d, spec, command, sizeof command))
        return false;
    if (spec->launcher == COVEY_LAUNCH_LOCAL)
        return template_fill("exec {command}", spec->name, command, line, LAUNCHER_LINE_MAX);
    if (spec->launcher == COVEY_LAUNCH_EXEC)
        return template_fill(spec->template_, spec->name, command, line, LAUNCHER_LINE_MAX);
    struct text t = text_into(quoted, sizeof quoted);
    text_quote(&t, command); /* a shell over there reads it once more */
    return !t.full && template_fill(SSH_TEMPLATE, spec->name, quoted, line, LAUNCHER_LINE_MAX);
}
