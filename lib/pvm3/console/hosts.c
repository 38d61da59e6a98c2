/*
 * hosts.c - conf, add, delete, mstat, halt: the hosts of the virtual machine.
 */
#include "lib/pvm3/console/console.h"

#include "lib/pvm3/include/pvm3.h"

#include <stdlib.h>

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

static void add(struct console *c, int argc, char **argv)
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

const struct command host_commands[] = {
    {"add", add, 1, -1, "Start daemons on hosts and take them in",
     "add HOST ...\nadd 'HOST OPTION=VALUE ...' ...   (options as in a hostfile)"},
    {"conf", conf, 0, 0, "List the hosts",
     "conf\nHOST its name, DTID the tid of its daemon, ARCH, SPEED relative to 1000,\n"
     "DSIG how it represents data"},
    {"delete", delete, 1, -1, "Let hosts go, with the tasks on them", "delete HOST ..."},
    {"halt", halt, 0, 0, "End the virtual machine with all its tasks", "halt"},
    {"mstat", mstat, 1, -1, "Tell whether hosts are there", "mstat HOST ..."},
    {.name = NULL},
};
