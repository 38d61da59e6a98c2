/*
 * tasks.c - ps, pstat, kill, sig, id, reset: tasks one by one and all of them.
 */
#include "lib/pvm3/console/console.h"

#include "lib/pvm3/include/pvm3.h"

#include <string.h>

/* Flags of a task, in the order of their letters: f a child of the daemon, c connected, a waits to
 * be let in, o is being let go of, s deadlocked; H, R, T and M: hoster, resource manager, tasker
 * and a task without a daemon between. */
static const struct {
    unsigned bit;
    char letter;
} flags[] = {{0x4, 'c'},  {0x2, 'f'},   {0x8, 'a'},   {0x20, 'o'},
             {0x40, 's'}, {0x100, 'H'}, {0x200, 'R'}, {0x400, 'T'}};

static const char *flag_text(unsigned flag, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%x/", flag);
    for (size_t i = 0, n = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if ((flag & flags[i].bit) != 0)
            used += (size_t)snprintf(text + used, size - used, "%s%c", n++ > 0 ? "," : "",
                                     flags[i].letter);
    }
    return text;
}

void task_head(bool is_long)
{
    printf("%24s %8s ", "HOST", "TID");
    if (is_long)
        printf("%8s %6s ", "PTID", "PID");
    printf("%9s %s\n", "FLAG 0x", "COMMAND");
}

void task_print(const struct pvmtaskinfo *task, bool is_long)
{
    char text[32];
    const char *command =
        task->ti_a_out != NULL && task->ti_a_out[0] != '\0' ? task->ti_a_out : "-";
    printf("%24s ", host_name(task->ti_host));
    if (task->ti_tid == pvm_mytid())
        printf("%8s ", "(cons)");
    else
        printf("%8x ", (unsigned)task->ti_tid);
    if (is_long)
        printf("%8x %6d ", (unsigned)task->ti_ptid, task->ti_pid);
    printf("%9s %-12s\n", flag_text((unsigned)task->ti_flag, text, sizeof text), command);
}

/* ---- ps -------------------------------------------------------------------------------------- */

struct ps {
    int where; /* 0: all hosts, else the tid of a daemon */
    bool is_long, all_kinds;
};

static int host_named(const char *name)
{
    int count, formats;
    struct pvmhostinfo *hosts;
    if (pvm_config(&count, &formats, &hosts) < 0)
        return -1;
    for (int i = 0; i < count; i++) {
        if (strcmp(hosts[i].hi_name, name) == 0)
            return hosts[i].hi_tid;
    }
    return -1;
}

/* The letters of one word; false: one of them is none, or names no host. */
static bool ps_word(struct ps *ps, const char *word)
{
    if (*word++ != '-')
        return false;
    for (; *word != '\0'; word++) {
        if (*word == 'h' || *word == 'n') {
            ps->where = *word == 'h' ? words_tid(word + 1) : host_named(word + 1);
            return ps->where > 0;
        }
        ps->where = *word == 'a' ? 0 : ps->where;
        ps->is_long = ps->is_long || *word == 'l';
        ps->all_kinds = ps->all_kinds || *word == 'x';
        if (strchr("alx", *word) == NULL)
            return false;
    }
    return true;
}

static void ps(struct console *c, int argc, char **argv)
{
    struct ps what = {.where = pvm_tidtohost(pvm_mytid())};
    int count;
    struct pvmtaskinfo *tasks;
    (void)c;
    for (int i = 1; i < argc; i++) {
        if (!ps_word(&what, argv[i])) {
            printf("ps: %s: unknown option or no such host\n", argv[i]);
            return;
        }
    }
    if (pvm_tasks(what.where, &count, &tasks) < 0)
        return;
    task_head(what.is_long);
    for (int i = 0; i < count; i++) {
        bool has_name = tasks[i].ti_a_out != NULL && tasks[i].ti_a_out[0] != '\0';
        if (what.all_kinds || (has_name && tasks[i].ti_tid != pvm_mytid()))
            task_print(&tasks[i], what.is_long);
    }
}

/* ---- one by one ------------------------------------------------------------------------------ */

/* A tid, or 0 with the reason said. */
static int tid_of(const char *command, const char *word)
{
    int tid = words_tid(word);
    if (tid > 0)
        return tid;
    printf("%s: %s: not a tid\n", command, word);
    return 0;
}

static void pstat(struct console *c, int argc, char **argv)
{
    (void)c;
    for (int i = 1; i < argc; i++) {
        int tid = tid_of(argv[0], argv[i]);
        int status = tid == 0 ? 0 : pvm_pstat(tid);
        if (tid != 0)
            printf("t%8x  %s\n", (unsigned)tid, status < 0 ? error_of(status) : "run");
    }
}

static void kill_children(int parent)
{
    int count;
    struct pvmtaskinfo *tasks;
    if (pvm_tasks(0, &count, &tasks) < 0)
        return;
    for (int i = 0; i < count; i++) {
        if (tasks[i].ti_ptid == parent)
            pvm_kill(tasks[i].ti_tid);
    }
}

static void kill_tasks(struct console *c, int argc, char **argv)
{
    bool children = strcmp(argv[1], "-c") == 0;
    (void)c;
    for (int i = children ? 2 : 1; i < argc; i++) {
        int tid = tid_of(argv[0], argv[i]);
        if (tid != 0 && children)
            kill_children(tid);
        else if (tid != 0)
            pvm_kill(tid);
    }
}

static void sig(struct console *c, int argc, char **argv)
{
    int number;
    (void)c;
    if (!words_number(argv[1], &number)) {
        printf("sig: %s: not the number of a signal\n", argv[1]);
        return;
    }
    for (int i = 2; i < argc; i++) {
        int tid = tid_of(argv[0], argv[i]);
        if (tid != 0)
            pvm_sendsig(tid, number);
    }
}

static void id(struct console *c, int argc, char **argv)
{
    (void)c, (void)argc, (void)argv;
    printf("t%x\n", (unsigned)pvm_mytid());
}

static void version(struct console *c, int argc, char **argv)
{
    (void)c, (void)argc, (void)argv;
    printf("%s\n", pvm_version());
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool tids_contain(const int *tids, int count, int tid)
{
    for (int i = 0; i < count; i++) {
        if (tids[i] == tid)
            return true;
    }
    return false;
}

static void kill_all(void)
{
    int count, *kept = NULL, kept_count = 0;
    struct pvmtaskinfo *tasks;
    if (pvm_getnoresets(&kept, &kept_count) < 0)
        kept_count = 0;
    if (pvm_tasks(0, &count, &tasks) < 0)
        return;
    for (int i = 0; i < count; i++) {
        if (tasks[i].ti_tid != pvm_mytid() && !tids_contain(kept, kept_count, tasks[i].ti_tid))
            pvm_kill(tasks[i].ti_tid);
    }
}

static void delete_entries(const struct pvmmboxinfo *box)
{
    for (int i = 0; i < box->mi_nentries; i++) {
        if ((box->mi_flags[i] & PvmMboxPersistent) != 0)
            pvm_delinfo(box->mi_name, box->mi_indices[i], PvmMboxDefault);
    }
}

static void reset(struct console *c, int argc, char **argv)
{
    char all[] = "*";
    int count;
    struct pvmmboxinfo *boxes;
    (void)c, (void)argc, (void)argv;
    kill_all();
    if (pvm_getmboxinfo(all, &count, &boxes) < 0)
        return;
    for (int i = 0; i < count; i++) {
        if (strncmp(boxes[i].mi_name, "###_PVM_", 8) != 0)
            delete_entries(&boxes[i]);
    }
}

const struct command task_commands[] = {
    {"id", id, 0, 0, "Print the console's own tid", "id"},
    {"kill", kill_tasks, 1, -1, "End tasks", "kill [-c] TID ...\n-c  the tasks that it started"},
    {"ps", ps, 0, -1, "List tasks",
     "ps [-alx] [-hDTID] [-nHOST]\n"
     "-a      of all hosts, not only of this one\n-hDTID  of the host with that tid\n"
     "-nHOST  of the host with that name\n-l      with the parent and the process id\n"
     "-x      consoles and tasks without a name, too\n"
     "FLAG: f started by the daemon, c connected, H hoster, R resource manager, T tasker"},
    {"pstat", pstat, 1, -1, "Tell whether tasks are there", "pstat TID ..."},
    {"reset", reset, 0, 0, "End all tasks and delete what they left in mailboxes", "reset"},
    {"sig", sig, 2, -1, "Send a signal to tasks", "sig NUMBER TID ..."},
    {"version", version, 0, 0, "Print the version of PVM that the library is like", "version"},
    {.name = NULL},
};
