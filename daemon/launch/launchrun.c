#include "daemon/launch/launchrun.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/launch/launcher.h"
#include "daemon/launch/launchspec.h"
#include "lib/covey.h"

#define PROGRAM_WORDS 5

static bool set_text(char *field, size_t size, const char *value)
{
    int n = snprintf(field, size, "%s", value);
    return n >= 0 && (size_t)n < size;
}

static bool set_launcher(struct control_host_spec *s, const char *value)
{
    static const char *const names[] = {
        [COVEY_LAUNCH_SSH] = "ssh", [COVEY_LAUNCH_EXEC] = "exec", [COVEY_LAUNCH_LOCAL] = "local"};
    for (int i = COVEY_LAUNCH_SSH; i <= COVEY_LAUNCH_LOCAL; i++)
        if (strcmp(names[i], value) == 0)
            return s->launcher = (uint8_t)i, true;
    return false;
}

static bool set_field(struct control_host_spec *s, const char *word)
{
    const struct {
        const char *key;
        char *field;
        size_t size;
    } texts[] = {
        {"name=", s->name, sizeof s->name},       {"hostname=", s->hostname, sizeof s->hostname},
        {"user=", s->user, sizeof s->user},       {"template=", s->template_, sizeof s->template_},
        {"coveyd=", s->coveyd, sizeof s->coveyd},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strncmp(word, texts[i].key, strlen(texts[i].key)) == 0)
            return set_text(texts[i].field, texts[i].size, word + strlen(texts[i].key));
    if (strncmp(word, "launcher=", 9) == 0)
        return set_launcher(s, word + 9);
    if (strncmp(word, "port=", 5) == 0)
        return s->port = (uint16_t)atoi(word + 5), s->port != 0;
    return false;
}

/* Returns the index of the first argument after `run`, or -1. */
static int read_spec(struct control_host_spec *s, const struct options *options,
                     struct failure *why)
{
    for (int i = 0; i < options->operand_count; i++) {
        if (strcmp(options->operands[i], "run") == 0)
            return i + 1;
        if (!set_field(s, options->operands[i]))
            return failure_set(why, "--launch: '%.100s' makes no sense", options->operands[i]);
    }
    return failure_set(why, "--launch: there is no `run` and its arguments");
}

/* What runs coveyd there: by ssh a path may begin with ~/, and where none is named, the one that
 * coveyd has here is tried first, then PATH: as adding the host does. */
static void find_program(char *words[PROGRAM_WORDS], struct control_host_spec *spec,
                         const char *own)
{
    static const char named[] = "p=$0; case $p in \"~/\"*) p=$HOME/${p#??};; esac; "
                                "exec \"$p\" \"$@\"";
    static const char any[] = "p=$0; [ -x \"$p\" ] || p=coveyd; exec \"$p\" \"$@\"";
    bool known = spec->coveyd[0] != '\0';
    int n = 0;
    if (spec->launcher == COVEY_LAUNCH_SSH) {
        words[n++] = (char *)"/bin/sh";
        words[n++] = (char *)"-c";
        words[n++] = (char *)(known ? named : any);
    }
    words[n++] = known ? spec->coveyd : (char *)own;
    words[n] = NULL;
}

/* The command line over there: the program, then the operands from `first` on. */
static bool command_line(struct control_host_spec *spec, const struct options *options, int first,
                         char command[LAUNCHER_LINE_MAX])
{
    char own[256], *program[PROGRAM_WORDS];
    ssize_t size = readlink("/proc/self/exe", own, sizeof own - 1);
    own[size > 0 ? size : 0] = '\0';
    find_program(program, spec, own);
    size_t used = 0, more = (size_t)(options->operand_count - first);
    char **words = calloc(PROGRAM_WORDS + more + 1, sizeof *words);
    if (words == NULL)
        return false;
    for (; program[used] != NULL; used++)
        words[used] = program[used];
    memcpy(words + used, options->operands + first, more * sizeof *words);
    bool fits = launcher_words(words, command);
    free(words);
    return fits;
}

int launchrun(const struct options *options, const struct conf *conf, struct failure *why)
{
    static struct control_host_spec spec;
    char command[LAUNCHER_LINE_MAX], line[LAUNCHER_LINE_MAX];
    int first = read_spec(&spec, options, why);
    if (first < 0)
        return -1;
    launchspec_complete(&spec, &conf->launch);
    const char *refused = launchspec_refused(&spec);
    if (refused != NULL)
        return failure_set(why, "%s", refused);
    if (!command_line(&spec, options, first, command) || !launcher_wrap(&spec, command, line))
        return failure_set(why, "the command line is too long");
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    return failure_set(why, "cannot run /bin/sh: %s", strerror(errno));
}
