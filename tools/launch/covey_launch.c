/*
 * covey-launch: any command of coveyd on another host, by that host's launcher, as adding the host
 * would start its daemon. `covey doctor` examines by it hosts that are in no VM yet. It reads the
 * host's fields and covey.conf, puts together the one command line, and becomes it.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/launch/launcher.h"
#include "daemon/launch/launchspec.h"
#include "daemon/process/helper.h"
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

/* Takes the operands up to `run`; returns those behind it, or NULL with *why. */
static char **read_spec(struct control_host_spec *s, char **operands, struct failure *why)
{
    for (; *operands != NULL; operands++) {
        if (strcmp(*operands, "run") == 0)
            return operands + 1;
        if (!set_field(s, *operands)) {
            failure_set(why, "'%.100s' makes no sense; covey-launch --help", *operands);
            return NULL;
        }
    }
    failure_set(why, "there is no `run` and its arguments");
    return NULL;
}

/* What runs coveyd there: by ssh a path may begin with ~/, and where none is named, the one that
 * coveyd has here, `own`, is tried first, then PATH: as adding the host does. */
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

/* The command line over there: the program, then the `arguments`. */
static bool command_line(struct control_host_spec *spec, const char *own, char **arguments,
                         char command[LAUNCHER_LINE_MAX])
{
    char *program[PROGRAM_WORDS];
    size_t used = 0, more = 0;
    find_program(program, spec, own);
    while (arguments[more] != NULL)
        more++;
    char **words = calloc(PROGRAM_WORDS + more + 1, sizeof *words);
    if (words == NULL)
        return false;
    for (; program[used] != NULL; used++)
        words[used] = program[used];
    memcpy(words + used, arguments, more * sizeof *words);
    bool fits = launcher_words(words, command);
    free(words);
    return fits;
}

/* Becomes the launcher; returns only -1, with *why. */
static int launch(char **operands, const char *own, const struct conf *conf, struct failure *why)
{
    static struct control_host_spec spec;
    char command[LAUNCHER_LINE_MAX], line[LAUNCHER_LINE_MAX];
    char **arguments = read_spec(&spec, operands, why);
    if (arguments == NULL)
        return -1;
    launchspec_complete(&spec, &conf->launch);
    const char *refused = launchspec_refused(&spec);
    if (refused != NULL)
        return failure_set(why, "%s", refused);
    if (!command_line(&spec, own, arguments, command) || !launcher_wrap(&spec, command, line))
        return failure_set(why, "the command line is too long");
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    return failure_set(why, "cannot run /bin/sh: %s", strerror(errno));
}

static const char usage[] =
    "usage: covey-launch [--config FILE] [--coveyd PATH] FIELD=VALUE... run [ARG...]\n"
    "\n"
    "Runs coveyd with the arguments on another host, by its launcher; covey doctor calls it.\n"
    "\n"
    "  --config FILE   read FILE instead of the usual covey.conf\n"
    "  --coveyd PATH   where coveyd is here, the first place to look for it there (default: PATH)\n"
    "  name, hostname, user, port, launcher, template, coveyd\n"
    "                  the host, as in covey.hosts(5)\n"
    "  --help, --version\n";

int main(int argc, char **argv)
{
    static const struct option long_options[] = {{"config", required_argument, NULL, 'c'},
                                                 {"coveyd", required_argument, NULL, 'd'},
                                                 {NULL, 0, NULL, 0}};
    struct conf conf;
    struct failure why;
    const char *file = NULL, *own = "coveyd";
    char resolved[PATH_MAX];
    int letter, status = 0;
    if (helper_answer(argc, argv, usage))
        return fflush(stdout) != 0;
    opterr = 0;
    while (status == 0 && (letter = getopt_long(argc, argv, "+", long_options, NULL)) != -1)
        if (letter == 'c')
            file = optarg;
        else if (letter == 'd')
            own = optarg;
        else
            status = failure_set(&why, "bad option %s; covey-launch --help", argv[optind - 1]);
    if (status == 0)
        status = conf_load(&conf, file, &why);
    if (strchr(own, '/') != NULL && realpath(own, resolved) != NULL)
        own = resolved;
    if (status == 0)
        launch(argv + optind, own, &conf, &why);
    fprintf(stderr, "covey-launch: %s\n", why.text);
    return 1;
}
