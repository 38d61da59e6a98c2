/*
 * manager.c - a resource manager: what it is asked by other tasks, how it has tasks started, and
 * what it is told.
 *
 * The first process is the manager. A client is started by its order (SM_EXEC), and all that the
 * client asks comes here.
 */
#include "tests/pvm3/say.h"

#include <pvmproto.h>
#include <string.h>
#include <sys/wait.h>

#define TAG_REPORT 11
#define TAG_GONE 12
#define TAG_GO 13
#define TEXT 4096

/* ---- the client ------------------------------------------------------------------------------ */

static int client(void)
{
    struct pvmhostinfo *hosts = NULL;
    struct pvmtaskinfo *tasks = NULL;
    char *arguments[] = {"grandchild", NULL}, *names[] = {"new-host"};
    int count = -1, formats = -1, tid = 0, infos[1] = {0}, x = 0;
    SAY(pvm_config(&count, &formats, &hosts));
    printf("%d hosts, %d formats, the first is '%s' of '%s' with speed %d\n", count, formats,
           count > 0 ? hosts[0].hi_name : "", count > 0 ? hosts[0].hi_arch : "",
           count > 0 ? hosts[0].hi_speed : 0);
    SAY(pvm_tasks(0, &count, &tasks));
    printf("%d tasks, the first is '%s', flag %d\n", count, tasks[0].ti_a_out, tasks[0].ti_flag);
    SAY(pvm_addhosts(names, 1, infos));
    SAY(infos[0]);
    SAY(pvm_delhosts(names, 1, infos));
    SAY(infos[0]);
    SAY(pvm_spawn(say_program(), arguments, PvmTaskDefault, "anywhere", 1, &tid));
    SAY(pvm_notify(PvmTaskExit, TAG_GONE, 1, &tid));
    pvm_initsend(PvmDataDefault);
    pvm_send(tid, TAG_GO);
    SAY_SIGN(pvm_recv(tid, TAG_REPORT));
    SAY(pvm_upkint(&x, 1, 1));
    SAY(x == pvm_mytid());
    SAY_SIGN(pvm_recv(-1, TAG_GONE));
    SAY(pvm_upkint(&x, 1, 1));
    SAY(x == tid);
    fflush(stdout);
    pvm_exit();
    return 0;
}

/* It ends only after the manager was asked to watch it, who would have nobody to tell otherwise. */
static int grandchild(void)
{
    int parent = pvm_parent();
    pvm_recv(parent, TAG_GO);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&parent, 1, 1);
    pvm_send(parent, TAG_REPORT);
    pvm_exit();
    return 0;
}

/* ---- the manager ----------------------------------------------------------------------------- */

static void pk(int value)
{
    pvm_pkint(&value, 1, 1);
}

/* Where the answer goes, and which it is: a message with the same wait. */
static void answer(int bufid, int tag)
{
    struct pvmminfo from, to;
    pvm_getminfo(bufid, &from);
    pvm_getminfo(pvm_getsbuf(), &to);
    to.wid = from.wid;
    pvm_setminfo(pvm_getsbuf(), &to);
    pvm_send(from.src, tag);
}

static void pack_host(int tid, char *name)
{
    char arch[] = "SOME";
    pk(tid);
    pvm_pkstr(name);
    pvm_pkstr(arch);
    pk(1234);
    pk(5678);
}

static int waiting; /* the client's request to spawn */
static struct pvmminfo client_info;
static int executed, watched, watcher, watch_tag;

/* Copies a request's strings on. */
static void copy_strings(void)
{
    char text[TEXT];
    int count = upk();
    pk(count);
    for (int i = 0; i < count; i++) {
        pvm_upkstr(text);
        pvm_pkstr(text);
    }
}

static void on_spawn(int bufid)
{
    char program[TEXT], where[TEXT];
    int flags, count;
    pvm_getminfo(bufid, &client_info);
    waiting = 1;
    pvm_upkstr(program);
    flags = upk();
    pvm_upkstr(where);
    count = upk();
    printf("SM_SPAWN flags %d where '%s' count %d\n", flags, where, count);
    pvm_initsend(PvmDataDefault);
    pk(client_info.src);
    pvm_pkstr(program);
    pk(flags);
    pk(count);
    copy_strings();
    for (int i = 0; i < 6; i++)
        pk(upk());
    copy_strings();
    pk(0);
    pk(count);
    SAY(pvm_send(pvm_tidtohost(pvm_mytid()) | (int)0x80000000, SM_EXEC));
}

static void on_execack(void)
{
    int count = upk();
    executed = upk();
    printf("SM_EXECACK count %d\n", count);
    if (!waiting)
        return;
    waiting = 0;
    pvm_initsend(PvmDataDefault);
    pk(count);
    pk(executed);
    struct pvmminfo to;
    pvm_getminfo(pvm_getsbuf(), &to);
    to.wid = client_info.wid;
    pvm_setminfo(pvm_getsbuf(), &to);
    pvm_send(client_info.src, SM_SPAWN);
}

static void on_notify(int bufid)
{
    struct pvmminfo from;
    pvm_getminfo(bufid, &from);
    int what = upk(), context = upk();
    watch_tag = upk();
    int count = upk();
    watched = upk();
    watcher = from.src;
    printf("SM_NOTIFY what %d context %d tag %d count %d, of whom it spawned %d\n", what, context,
           watch_tag, count, watched == executed);
}

static void tell_watcher(int tid)
{
    if (tid != watched)
        return;
    pvm_initsend(PvmDataDefault);
    pk(tid);
    pvm_send(watcher, watch_tag);
    watched = 0;
}

static void on_question(int bufid, int tag)
{
    char name[TEXT] = "some", program[] = "a.out";
    int n = tag == SM_CONFIG ? 0 : upk();
    if (tag == SM_ADDHOST || tag == SM_DELHOST)
        pvm_upkstr(name);
    printf("%s %d %s\n",
           tag == SM_CONFIG    ? "SM_CONFIG"
           : tag == SM_TASK    ? "SM_TASK"
           : tag == SM_ADDHOST ? "SM_ADDHOST"
                               : "SM_DELHOST",
           n, name);
    pvm_initsend(PvmDataDefault);
    pk(tag == SM_TASK ? 0 : 1);
    if (tag == SM_DELHOST)
        pk(PvmNoHost);
    if (tag == SM_CONFIG || tag == SM_ADDHOST)
        pk(1);
    if (tag == SM_CONFIG || tag == SM_ADDHOST)
        pack_host(tag == SM_CONFIG ? 0x40000 : PvmCantStart, name);
    if (tag == SM_TASK) {
        for (int i = 1; i <= 4; i++)
            pk(i);
        pvm_pkstr(program);
        pk(99);
    }
    answer(bufid, tag);
}

/* The client, of which it is said here where its output goes: nowhere. */
static int start_client(void)
{
    char argument[] = "client", mask[64] = "PVMNOTHING=1";
    pvm_initsend(PvmDataDefault);
    pk(pvm_mytid());
    pvm_pkstr(say_program());
    pk(PvmTaskDefault);
    pk(1);
    pk(1);
    pvm_pkstr(argument);
    pk(pvm_mytid()); /* output: this task, which prints it */
    pk(0);
    pk(TAG_REPORT);
    for (int i = 0; i < 3; i++)
        pk(0);
    pk(1);
    pvm_pkstr(mask);
    pk(0);
    pk(1);
    return pvm_send(pvm_tidtohost(pvm_mytid()) | (int)0x80000000, SM_EXEC);
}

static char printed[65536]; /* what the client wrote: it comes when it likes */

static void on_output(void)
{
    char text[TEXT];
    int tid = upk(), length = upk();
    (void)tid;
    if (length > 0 && length < TEXT) {
        pvm_upkbyte(text, length, 1);
        text[length] = '\0';
        strcat(printed, text);
    }
}

static int act(int bufid, int the_client)
{
    int tag, ended = 0;
    pvm_bufinfo(bufid, NULL, &tag, NULL);
    if (tag == SM_SPAWN)
        on_spawn(bufid);
    else if (tag == SM_EXECACK)
        on_execack();
    else if (tag == SM_NOTIFY)
        on_notify(bufid);
    else if (tag == TAG_REPORT)
        on_output();
    else if (tag == SM_TASKX) {
        int tid = upk();
        printf("SM_TASKX of %s, status %d\n", tid == the_client ? "the client" : "the other",
               upk());
        ended = tid == the_client;
        tell_watcher(tid);
    } else
        on_question(bufid, tag);
    return ended;
}

int main(int argc, char **argv)
{
    struct pvmhostinfo *host = NULL;
    struct timeval soon = {0, 300000};
    if (argc > 1)
        return strcmp(argv[1], "client") == 0 ? client() : grandchild();
    say_begin();
    pvm_setopt(PvmResvTids, 1);
    SAY(pvm_reg_rm(&host));
    SAY(host->hi_speed);
    SAY(start_client());
    pvm_recv(-1, SM_EXECACK);
    SAY(upk());
    int the_client = upk(), bufid = 0;
    while (!act(bufid = pvm_recv(-1, -1), the_client))
        ;
    while ((bufid = pvm_trecv(-1, TAG_REPORT, &soon)) > 0)
        on_output();
    printf("the client wrote:\n%s", printed);
    pvm_initsend(PvmDataDefault);
    pk(0); /* to nobody: PVM would go on asking a manager that has ended */
    SAY(pvm_send(pvm_tidtohost(pvm_mytid()) | (int)0x80000000, SM_HANDOFF));
    pvm_exit();
    return 0;
}
