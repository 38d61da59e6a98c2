/*
 * The command lines of the launchers, for /bin/sh here:
 *   local   the daemon's own
 *   exec    the user's template, with {host}, {user}, {port}, {name} and {command} filled in
 *   ssh     the user's OpenSSH client and configuration, with what must not surprise set aside
 *
 * A login shell may be csh or fish, greet, and read what is not meant for it. So ssh runs one fixed
 * line that all shells read alike: it has no !, no backslash, no newline and no quote of its own
 * kind. It starts /bin/sh, says LAUNCHER_READY, and carries out the line that is written to it
 * then, the one of launcher_script(). That looks for coveyd and says where it is and which version,
 * or where it is not; and then becomes coveyd, which reads the invitation. Before it knows the
 * version the launcher sends nothing that is secret.
 */
#include "daemon/launch/launcher.h"

#include <stdio.h>
#include <string.h>

#include "lib/covey.h"

/* $COVEY_SSH is the client with options, as in "ssh -F FILE". Its own questions are for nobody. */
#define SSH "export SSH_ASKPASS_REQUIRE=never; exec ${COVEY_SSH:-ssh}"

/* The user's configuration decides all but this: nobody is there to answer; a new master would stay
 * behind, a forwarded port could be taken; and the words that say why it failed must be printed. */
#define SSH_OPTIONS                                                                                \
    " -T -a -x -o BatchMode=yes -o ConnectTimeout=12 -o ConnectionAttempts=1 -o ControlMaster=no"  \
    " -o ClearAllForwardings=yes -o PermitLocalCommand=no -o RemoteCommand=none -o LogLevel=INFO"

/* Empty lines are passed over: they are what is fed to shells that read, see launch.c. */
#define SSH_COMMAND                                                                                \
    "exec /bin/sh -c 'echo; echo \"" LAUNCHER_READY "\";"                                          \
    " while read -r c; do case $c in ?*) eval \"$c\"; exit;; esac; done'"

/* Tries each word of the list before it. $c: coveyd, $t: what was tried. */
#define SCRIPT_LOOK                                                                                \
    "; do case $p in \"~/\"*) p=$HOME/${p#??};; esac;"                                             \
    " case $p in */*) if [ -f \"$p\" ] && [ -x \"$p\" ]; then c=$p;"                               \
    " elif [ -e \"$p\" ]; then t=\"$t, $p (it cannot be executed)\"; else t=\"$t, $p\"; fi;;"      \
    " *) c=$(command -v \"$p\") || t=\"$t, $p in PATH=$PATH\";; esac;"                             \
    " [ -z \"$c\" ] || break; done;"                                                               \
    " if [ -z \"$c\" ]; then echo \"" LAUNCHER_NONE "${t#, }\"; exit 127; fi; "

/* systemd with KillUserProcesses=yes ends what a session started with the session, unless it is in
 * the care of the user's own manager, which stays only for users who linger. */
#define SCRIPT_SESSION                                                                             \
    "if [ -n \"$XDG_SESSION_ID\" ] && [ \"$(id -u)\" != 0 ] && [ \"$(busctl --timeout=3"           \
    " get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager"  \
    " KillUserProcesses 2>/dev/null)\" = \"b true\" ]; then"                                       \
    " if [ \"$(loginctl show-user \"$(id -un)\" -p Linger 2>/dev/null)\" = Linger=yes ];"          \
    " then s=\"systemd-run --user --scope -q --\";"                                                \
    " else echo \"" LAUNCHER_SESSION "\"; exit 1; fi; fi; "

#define SCRIPT_START                                                                               \
    "v=$(\"$c\" --version </dev/null 2>&1);"                                                       \
    " echo \"" LAUNCHER_FOUND "$c\"; echo \"" LAUNCHER_SAYS "$v\"; exec $s \"$c\""

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

static void text_string(struct text *t, const char *string)
{
    text_add(t, string, strlen(string));
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

bool launcher_words(char *const *words, char line[LAUNCHER_LINE_MAX])
{
    struct text t = text_into(line, LAUNCHER_LINE_MAX);
    text_quote(&t, words[0]);
    for (size_t i = 1; words[i] != NULL; i++)
        text_word(&t, words[i]);
    return !t.full;
}

/* What the daemon there is told, after its program. */
static void text_options(struct text *t, const struct options *options,
                         const struct control_host_spec *spec)
{
    text_word(t, "--join");
    if (spec->cwd[0] != '\0') {
        text_word(t, "--cwd");
        text_word(t, spec->cwd);
    }
    if (options->verbose)
        text_word(t, "--verbose");
    if (spec->launcher == COVEY_LAUNCH_LOCAL && options->local)
        text_word(t, "--local");
    const char *config = spec->config;
    if (config[0] == '\0' && spec->launcher == COVEY_LAUNCH_LOCAL && options->config != NULL)
        config = options->config;
    if (config[0] != '\0') {
        text_word(t, "--config");
        text_word(t, config);
    }
    if (spec->launcher == COVEY_LAUNCH_LOCAL && options->fault != NULL) {
        text_word(t, "--fault");
        text_word(t, options->fault);
    }
    if (spec->launcher == COVEY_LAUNCH_LOCAL && options->slow != NULL) {
        text_word(t, "--slow");
        text_word(t, options->slow);
    }
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
    char port[8];
    struct text t = text_into(line, LAUNCHER_LINE_MAX);
    text_string(&t, SSH SSH_OPTIONS);
    if (spec->user[0] != '\0') {
        text_word(&t, "-l");
        text_word(&t, spec->user);
    }
    if (spec->port != 0) {
        snprintf(port, sizeof port, "%u", spec->port);
        text_word(&t, "-p");
        text_word(&t, port);
    }
    text_word(&t, "--");
    text_word(&t, spec->hostname);
    text_word(&t, command);
    return !t.full;
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

bool launcher_line(const char *program, const struct options *options,
                   const struct control_host_spec *spec, char line[LAUNCHER_LINE_MAX])
{
    char command[LAUNCHER_LINE_MAX];
    if (spec->launcher == COVEY_LAUNCH_SSH)
        return launcher_wrap(spec, SSH_COMMAND, line);
    struct text t = text_into(command, sizeof command);
    text_quote(&t, spec->coveyd[0] != '\0' ? spec->coveyd : program);
    text_options(&t, options, spec);
    return !t.full && launcher_wrap(spec, command, line);
}

bool launcher_script(const char *program, const struct options *options,
                     const struct control_host_spec *spec, char line[LAUNCHER_LINE_MAX])
{
    struct text t = text_into(line, LAUNCHER_LINE_MAX);
    text_string(&t, "c= t= s=; for p in");
    if (spec->coveyd[0] != '\0') {
        text_word(&t, spec->coveyd);
    } else {
        text_word(&t, program);
        text_word(&t, "coveyd");
    }
    text_string(&t, SCRIPT_LOOK SCRIPT_SESSION SCRIPT_START);
    text_options(&t, options, spec);
    text_string(&t, "\n");
    return !t.full;
}
