/*
 * tasker.c - a tasker: what it is told of tasks that are to be started on its host, and what comes
 * of what it says of their ends.
 *
 * The first process is the tasker, and spawns, too: pvm_spawn() does not wait for what the tasker
 * does.
 */
#include "tests/pvm3/say.h"

#include <pvmproto.h>
#include <string.h>
#include <sys/wait.h>

#define TAG_REPORT 11
#define TAG_GONE 12
#define TAG_END 13
#define TEXT 4096
#define STRINGS_MAX 512
#define DAEMON ((int)0x80000000)

/* ---- tasks that are started ------------------------------------------------------------------ */

static int child(char **arguments)
{
    int last = strcmp(arguments[1], "some") == 0;
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&last, 1, 1);
    pvm_send(pvm_parent(), TAG_REPORT);
    pvm_recv(pvm_parent(), TAG_END);
    pvm_exit();
    return 3;
}

/* ---- the tasker ------------------------------------------------------------------------------ */

struct order {
    int tid, flags;
    char path[TEXT];
    char *arguments[STRINGS_MAX], *variables[STRINGS_MAX];
};

static int tag_received(void)
{
    int tag = 0;
    pvm_bufinfo(pvm_getrbuf(), NULL, &tag, NULL);
    return tag;
}

static int upk_strings(char **list, int at)
{
    static char text[65536];
    int count = upk();
    for (int i = 0; i < count && at < STRINGS_MAX - 1; i++) {
        pvm_upkstr(text);
        list[at++] = strdup(text);
    }
    list[at] = NULL;
    return count;
}

static int has(char *const *list, const char *name)
{
    for (; *list != NULL; list++) {
        if (strncmp(*list, name, strlen(name)) == 0)
            return 1;
    }
    return 0;
}

static void say_order(const struct order *o, int spawned)
{
    struct pvmminfo info;
    pvm_getminfo(pvm_getrbuf(), &info);
    printf("order from a daemon: %d, context %d, encoding %d\n", (info.src & DAEMON) != 0, info.ctx,
           info.enc);
    printf("of the task: %d, flags %d, the program: %d, arguments", o->tid == spawned, o->flags,
           strcmp(o->path, say_program()) == 0);
    for (char *const *a = o->arguments + 1; *a != NULL; a++)
        printf(" '%s'", *a);
    printf(", identity: %d, exported: %d\n", has(o->variables, "PVMEPID="),
           has(o->variables, "TASKER_TEST=word"));
}

static void read_order(struct order *o, int spawned)
{
    memset(o, 0, sizeof *o);
    SAY_SIGN(pvm_recv(-1, -1));
    SAY(tag_received() == SM_STTASK);
    o->tid = upk();
    o->flags = upk();
    pvm_upkstr(o->path);
    upk_strings(o->arguments, 0);
    upk_strings(o->variables, 0);
    say_order(o, spawned);
}

static void free_order(struct order *o)
{
    for (int i = 0; o->arguments[i] != NULL; i++)
        free(o->arguments[i]);
    for (int i = 0; o->variables[i] != NULL; i++)
        free(o->variables[i]);
}

static int start(struct order *o)
{
    int pid = fork();
    if (pid == 0) {
        for (char **v = o->variables; *v != NULL; v++)
            putenv(*v);
        execv(o->path, o->arguments);
        _exit(127);
    }
    return pid;
}

static void tell_end(int tid, int status)
{
    int body[6] = {tid, status, 0, 0, 0, 0};
    pvm_initsend(PvmDataDefault);
    pvm_pkint(body, 6, 1);
    SAY(pvm_send(DAEMON | (pvm_mytid() & 0x3ffc0000), SM_TASKX));
}

static int spawn(char **arguments)
{
    int tid = 0;
    SAY(pvm_spawn(say_program(), arguments, PvmTaskDefault, "", 1, &tid));
    SAY_SIGN(tid);
    SAY(pvm_notify(PvmTaskExit, TAG_GONE, 1, &tid));
    return tid;
}

static void await_end(int tid)
{
    SAY_SIGN(pvm_recv(-1, TAG_GONE));
    SAY(upk() == tid);
    SAY(pvm_pstat(tid));
}

static void run_one(void)
{
    struct order order;
    char *arguments[] = {"some", "argument", NULL};
    struct pvmtaskinfo *tasks = NULL;
    int status = 0, count = 0, tid = spawn(arguments);
    read_order(&order, tid);
    int pid = start(&order);
    free_order(&order);
    SAY_SIGN(pvm_recv(tid, TAG_REPORT));
    SAY(upk());
    SAY(pvm_tasks(tid, &count, &tasks));
    printf("%d task, its parent: %d, its program: %d\n", count, tasks[0].ti_ptid == pvm_mytid(),
           strcmp(tasks[0].ti_a_out, say_program()) == 0);
    pvm_initsend(PvmDataDefault);
    SAY(pvm_send(tid, TAG_END));
    SAY(waitpid(pid, &status, 0) == pid);
    SAY(WEXITSTATUS(status));
    tell_end(tid, status);
    await_end(tid);
}

/* One that cannot be started ends at once. */
static void fail_one(void)
{
    struct order order;
    char *arguments[] = {"other", NULL};
    int tid = spawn(arguments);
    read_order(&order, tid);
    free_order(&order);
    tell_end(tid, 127 << 8);
    await_end(tid);
}

/* A program that is not there is no affair of the tasker's. */
static void miss_one(void)
{
    char program[] = "/no/such/program";
    int tid = 0, before = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO); /* Covey says where it looked */
    SAY(pvm_spawn(program, NULL, PvmTaskDefault, "", 1, &tid));
    dup2(before, STDERR_FILENO);
    SAY(tid);
    SAY(pvm_nrecv(-1, SM_STTASK));
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return child(argv);
    setenv("TASKER_TEST", "word", 1);
    say_begin();
    SAY(pvm_export("TASKER_TEST"));
    SAY(pvm_reg_tasker());
    SAY_SIGN(pvm_setopt(PvmResvTids, 1));
    run_one();
    fail_one();
    miss_one();
    SAY(say_exit());
    return 0;
}
