/*
 * hosts.c - conf, add, delete, mstat, tickle, halt: the hosts of the virtual machine.
 */
#include "lib/pvm3/console/console.h"

#include "lib/pvm3/include/pvm3.h"

#include <stdlib.h>
#include <string.h>

#define TICKLE_MAX 10

extern char *pvm_errlist[];
extern int pvm_nerr;

const char *error_of(int code)
{
    return code < 0 && -code < pvm_nerr && pvm_errlist[-code] != NULL ? pvm_errlist[-code] : "?";
}

const char *host_name(int dtid)
{
    int count, formats;
    struct pvmhostinfo *hosts;
    if (pvm_config(&count, &formats, &hosts) < 0)
        return "?";
    for (int i = 0; i < count; i++) {
        if (hosts[i].hi_tid == dtid)
            return hosts[i].hi_name;
    }
    return "?";
}

static void conf(struct console *c, int argc, char **argv)
{
    int count, formats;
    struct pvmhostinfo *hosts;
    (void)c, (void)argc, (void)argv;
    if (pvm_config(&count, &formats, &hosts) < 0)
        return;
    printf("%d host%s, %d data format%s\n", count, count == 1 ? "" : "s", formats,
           formats == 1 ? "" : "s");
    printf("%24s %8s %8s %7s %10s\n", "HOST", "DTID", "ARCH", "SPEED", "DSIG");
    for (int i = 0; i < count; i++)
        printf("%24s %8x %8s %7d 0x%08x\n", hosts[i].hi_name, (unsigned)hosts[i].hi_tid,
               hosts[i].hi_arch, hosts[i].hi_speed, (unsigned)hosts[i].hi_dsig);
}

/* Calls for all the words behind the command; the results, which the caller frees. NULL: none. */
static int *each(int (*call)(char **names, int count, int *infos), int argc, char **argv)
{
    int *infos = calloc((size_t)argc, sizeof *infos);
    int done = infos == NULL ? PvmNoMem : call(argv + 1, argc - 1, infos);
    if (done < 0) {
        free(infos);
        return NULL;
    }
    printf("%d successful\n", done);
    return infos;
}

static void hosts_add(struct console *c, int argc, char **argv)
{
    int *infos = each(pvm_addhosts, argc, argv);
    (void)c;
    if (infos == NULL)
        return;
    printf("%24s %8s\n", "HOST", "DTID");
    for (int i = 1; i < argc; i++) {
        if (infos[i - 1] < 0)
            printf("%24s %s\n", argv[i], error_of(infos[i - 1]));
        else
            printf("%24s %8x\n", argv[i], (unsigned)infos[i - 1]);
    }
    free(infos);
}

static void delete (struct console *c, int argc, char **argv)
{
    int *infos = each(pvm_delhosts, argc, argv);
    (void)c;
    if (infos == NULL)
        return;
    printf("%24s %7s\n", "HOST", "STATUS");
    for (int i = 1; i < argc; i++)
        printf("%24s  %s\n", argv[i], infos[i - 1] < 0 ? error_of(infos[i - 1]) : "deleted");
    free(infos);
}

static void mstat(struct console *c, int argc, char **argv)
{
    (void)c;
    for (int i = 1; i < argc; i++) {
        int status = pvm_mstat(argv[i]);
        printf("%24s  %s\n", argv[i], status < 0 ? error_of(status) : "ok");
    }
}

static void halt(struct console *c, int argc, char **argv)
{
    (void)argc, (void)argv;
    c->over = c->quiet = true;
    pvm_halt();
}

/* A tid is written as PVM does, t80000, or 0x80000. */
static bool tickle_number(const char *word, int *number)
{
    bool is_tid = word[0] == 't' || strncmp(word, "0x", 2) == 0;
    *number = is_tid ? words_tid(word) : 0;
    return is_tid ? *number >= 0 : words_number(word, number);
}

static void tickle(struct console *c, int argc, char **argv)
{
    int numbers[TICKLE_MAX], results[TICKLE_MAX], count = 0;
    (void)c;
    for (int i = 1; i < argc; i++) {
        if (!tickle_number(argv[i], &numbers[i - 1])) {
            printf("tickle: %s: not a number\n", argv[i]);
            return;
        }
    }
    if (pvm_tickle(argc - 1, numbers, &count, results) < 0)
        return;
    printf("(");
    for (int i = 0; i < count; i++)
        printf(" %d", results[i]);
    printf(" )\n");
}

const struct command host_commands[] = {
    {"add", hosts_add, 1, -1, "Start daemons on hosts and take them in",
     "add HOST ...\nadd 'HOST OPTION=VALUE ...' ...   (options as in a hostfile)"},
    {"conf", conf, 0, 0, "List the hosts",
     "conf\nHOST its name, DTID the tid of its daemon, ARCH, SPEED relative to 1000,\n"
     "DSIG how it represents data"},
    {"delete", delete, 1, -1, "Let hosts go, with the tasks on them", "delete HOST ..."},
    {"halt", halt, 0, 0, "End the virtual machine with all its tasks", "halt"},
    {"mstat", mstat, 1, -1, "Tell whether hosts are there", "mstat HOST ..."},
    {"tickle", tickle, 1, TICKLE_MAX, "Ask the daemon what PVM's maintainers do",
     "tickle WHAT [NUMBER ...]\n5         get the mask of the log, which does nothing here\n"
     "6 MASK    set it\n8 DTID    let that host go as if it had failed\n"
     "0-4, 7, 9 nothing: what there is is shown by covey(1)"},
    {.name = NULL},
};
