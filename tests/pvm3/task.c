/*
 * task.c - spawning, parents and siblings, output, notices.
 *
 * A child says what it knows of itself, in a message to its parent, and ends as it is told.
 */
#include "tests/pvm3/say.h"

#include <signal.h>
#include <string.h>

#define TAG_REPORT 1
#define TAG_EXIT 2

static int child(const char *how)
{
    int *siblings = NULL, parent = pvm_parent();
    int count = pvm_siblings(&siblings), known = 0;
    for (int i = 0; i < count; i++)
        known += siblings[i] == pvm_mytid();
    const char *variable = getenv("SAY_VARIABLE"), *arch = getenv("PVM_ARCH");
    pvm_packf("%+ %d %d %d %s", PvmDataDefault, count, known, pvm_getcontext(),
              variable == NULL ? "" : variable);
    if (parent > 0)
        pvm_send(parent, TAG_REPORT);
    printf("child %s\n", how);
    printf("its parent %s 0: %d\n", parent < 0 ? "<" : ">", parent < 0 ? parent : 0);
    printf("PVM_ARCH is %s, PVM_ROOT is %s\n", arch == NULL ? "not set" : "set",
           getenv("PVM_ROOT") == NULL ? "not set" : "set");
    fflush(stdout);
    if (strcmp(how, "wait") == 0)
        pvm_recv(-1, 99);
    pvm_exit();
    return 3;
}

static void reports(int count)
{
    char variable[64];
    int siblings, known, context;
    for (int i = 0; i < count; i++) {
        pvm_recv(-1, TAG_REPORT);
        pvm_unpackf("%d %d %d %s", &siblings, &known, &context, variable);
        printf("child: %d siblings, itself among them %d, my context %d, variable '%s'\n", siblings,
               known, context == pvm_getcontext(), variable);
    }
}

static void exits(int count, const int *tids)
{
    for (int i = 0; i < count; i++) {
        int tid = 0, bytes = 0, from = 0, known = 0;
        pvm_bufinfo(pvm_recv(-1, TAG_EXIT), &bytes, NULL, &from);
        pvm_upkint(&tid, 1, 1);
        for (int j = 0; j < count; j++)
            known += tids[j] == tid;
        printf("exit: %d bytes from %x, of a child %d\n", bytes, (unsigned)from, known);
    }
}

static void spawn(void)
{
    char *arguments[] = {"end", NULL};
    int tids[3];
    setenv("SAY_VARIABLE", "value", 1);
    pvm_export("SAY_VARIABLE");
    pvm_setcontext(pvm_newcontext());
    SAY(pvm_parent());
    SAY(pvm_spawn(say_program(), arguments, PvmTaskHost, ".", 3, tids));
    SAY(pvm_notify(PvmTaskExit, TAG_EXIT, 3, tids));
    reports(3);
    exits(3, tids);
    SAY(pvm_pstat(tids[0]));
    SAY(pvm_notify(PvmTaskExit, TAG_EXIT, 1, tids));
    exits(1, tids);
    pvm_setcontext(0);
}

static void refused(void)
{
    int tids[2] = {0, 0};
    pvm_setopt(PvmAutoErr, 0);
    SAY(pvm_spawn("no-such-program", NULL, PvmTaskDefault, "", 2, tids));
    printf("%d %d\n", tids[0], tids[1]);
    SAY(pvm_spawn("hostname", NULL, PvmTaskHost, "no-such-host", 1, tids));
    SAY(tids[0]);
    SAY(pvm_spawn("hostname", NULL, PvmTaskArch, "SUN4", 1, tids));
    SAY(tids[0]);
    SAY(pvm_spawn("hostname", NULL, PvmTaskHost | PvmHostCompl, ".", 1, tids));
    SAY(tids[0]);
    SAY(pvm_spawn("hostname", NULL, PvmHostCompl, "", 1, tids));
    SAY(tids[0]);
    SAY(pvm_spawn("hostname", NULL, PvmHostCompl, "no-such-host", 1, tids));
    SAY(pvm_spawn("hostname", NULL, PvmTaskHost | PvmHostCompl, "", 1, tids));
    SAY(pvm_spawn("hostname", NULL, PvmTaskArch | PvmHostCompl, "", 1, tids));
    SAY(pvm_spawn("hostname", NULL, PvmTaskHost, "", 1, tids));
    SAY(pvm_spawn("hostname", NULL, PvmTaskHost | PvmTaskArch, "SUN4", 1, tids));
    SAY(pvm_spawn("hostname", NULL, PvmTaskHost | PvmTaskArch, ".", 1, tids));
    SAY(pvm_spawn("", NULL, PvmTaskDefault, "", 1, tids));
    SAY(tids[0]);
    SAY(pvm_spawn("hostname", NULL, PvmTaskDefault, "", 0, tids));
    SAY(pvm_notify(9, 5, 1, tids));
    SAY(pvm_notify(PvmTaskExit, 5, 0, tids));
    SAY(pvm_notify(PvmTaskExit, -5, 1, tids));
    pvm_setopt(PvmAutoErr, 1);
}

/* One that is waiting is ended by a signal. */
static void kill_one(void)
{
    char *arguments[] = {"wait", NULL};
    int tid = 0;
    SAY(pvm_spawn(say_program(), arguments, PvmTaskDefault, "", 1, &tid));
    SAY(pvm_notify(PvmTaskExit, TAG_EXIT, 1, &tid));
    reports(1);
    SAY(pvm_pstat(tid));
    SAY(pvm_kill(tid));
    exits(1, &tid);
    pvm_initsend(PvmDataDefault);
    SAY(pvm_send(tid, 1));
    SAY(pvm_spawn(say_program(), arguments, PvmTaskDefault, "", 1, &tid));
    SAY(pvm_notify(PvmTaskExit, TAG_EXIT, 1, &tid));
    reports(1);
    SAY(pvm_sendsig(tid, SIGKILL));
    exits(1, &tid);
}

/* What children write, behind their tids. pvm_exit() waits for it. It may come before pvm_spawn()
 * has returned, so what that returned is said at the end. */
static void output(void)
{
    char *arguments[] = {"end", NULL};
    int tid;
    SAY(pvm_catchout(stdout));
    int spawned =
        pvm_spawn(say_program(), arguments, PvmTaskDefault | PvmNoSpawnParent, "", 1, &tid);
    SAY(say_exit());
    SAY(spawned);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return child(argv[1]);
    say_begin();
    spawn();
    refused();
    kill_one();
    output();
    return 0;
}
