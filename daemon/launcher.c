/*
 * The command lines of the launchers: a template for /bin/sh in which {host}, {user}, {port},
 * {name} and {command} are filled in,
 *   local   {command}
 *   ssh     ssh -o BatchMode=yes ... {host} {command}, quoted once more for the shell over there
 *   exec    the user's own template
 */
#include "daemon/launcher.h"

#include <stdio.h>
#include <string.h>

#include "lib/covey.h"

#define SSH_OPTIONS "-o BatchMode=yes -o ConnectTimeout=20"

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
    const char *config = spec->config;
    if (config[0] == '\0' && spec->launcher == COVEY_LAUNCH_LOCAL && d->options->config != NULL)
        config = d->options->config;
    if (config[0] != '\0') {
        text_word(&t, "--config");
        text_word(&t, config);
    }
    return !t.full;
}

/* Adds what {NAME} at the beginning of `template_` stands for; returns how long {NAME} is, or 0. */
static size_t template_word(struct text *t, const char *template_,
                            const struct control_host_spec *spec, const char *command)
{
    char port[8] = "";
    if (spec->port != 0)
        snprintf(port, sizeof port, "%u", spec->port);
    const struct {
        const char *name, *value;
    } words[] = {{"{host}", spec->hostname},
                 {"{user}", spec->user},
                 {"{port}", port},
                 {"{name}", spec->name}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncmp(template_, words[i].name, strlen(words[i].name)) == 0)
            return text_quote(t, words[i].value), strlen(words[i].name);
    if (strncmp(template_, "{command}", 9) != 0)
        return 0;
    text_add(t, command, strlen(command));
    return 9;
}

static bool template_fill(const char *template_, const struct control_host_spec *spec,
                          const char *command, char *line, size_t size)
{
    struct text t = text_into(line, size);
    while (*template_ != '\0') {
        size_t taken = template_word(&t, template_, spec, command);
        if (taken == 0)
            text_add(&t, template_, taken = 1);
        template_ += taken;
    }
    return !t.full;
}

/* The host's shell reads the command once more. */
static bool ssh_line(const struct control_host_spec *spec, const char *command,
                     char line[LAUNCHER_LINE_MAX])
{
    char quoted[LAUNCHER_LINE_MAX], template_[128];
    struct text t = text_into(quoted, sizeof quoted);
    text_quote(&t, command);
    snprintf(template_, sizeof template_, "exec ssh " SSH_OPTIONS "%s%s {host} {command}",
             spec->user[0] != '\0' ? " -l {user}" : "", spec->port != 0 ? " -p {port}" : "");
    return !t.full && template_fill(template_, spec, quoted, line, LAUNCHER_LINE_MAX);
}

bool launcher_wrap(const struct control_host_spec *spec, const char *command,
                   char line[LAUNCHER_LINE_MAX])
{
    if (spec->launcher == COVEY_LAUNCH_LOCAL)
        return template_fill("exec {command}", spec, command, line, LAUNCHER_LINE_MAX);
    if (spec->launcher == COVEY_LAUNCH_EXEC)
        return template_fill(spec->template_, spec, command, line, LAUNCHER_LINE_MAX);
    return ssh_line(spec, command, line);
}

bool launcher_line(const struct daemon *d, const struct control_host_spec *spec,
                   char line[LAUNCHER_LINE_MAX])
{
    char command[LAUNCHER_LINE_MAX];
    return daemon_command(d, spec, command, sizeof command) && launcher_wrap(spec, command, line);
}
