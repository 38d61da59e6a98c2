/*
 * covey with: a VM for one program. It is started, the program runs in it as by covey run, and it
 * ends with the program, whose exit status is the command's: covey start, run and halt in one.
 *
 * In a step of a batch job every task of the step is the same command. The first one leads: it does
 * all of this, and the engine starts the other hosts for it (batch.c). The others have nothing to
 * bring together, neither a port nor a key, and could end at once; but where the first end counts,
 * as with srun --wait, that would be the end of all. So they wait until the VM has ended, and their
 * status is 0, also when they are told to end: what became of the program is for the leader to
 * tell, and with --kill-on-bad-exit his failure ends them. They know the VM by the step's name.
 *
 * The VM must not outlive its leader, however he ends. He holds a token, and who follows requests
 * it: tasks of the step, and a guard beside the leader. Who gets it, because its holder or his host
 * is gone, halts the VM. Who gets an error instead knows that the VM has ended.
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/base/command.h"
#include "tools/run/run_line.h"
#include "tools/vm/batch.h"

#define TOKEN "covey with" /* has a blank, as no program of a user is expected to have */
#define KEY_NAME 2000
#define LOOK_MS 50
#define LOOKS 800 /* 40 s: in 30 s the hosts have joined, or have not */
#define KEY_UNTIL 2001
#define START_WORDS 14
#define SRUN_WORDS 10

struct with {
    struct tool *tool;
    const char *local, *file, *name, *until; /* of the command line, or NULL */
    char vm_name[64];
    char **run; /* the words for covey run */
    int run_count;
};

static const struct args_option options[] = {
    {"local", 'l', "N", "on N virtual hosts of this machine"},
    {"hosts", 'f', "FILE", "on this host and those that a host file lists"},
    {"name", KEY_NAME, "VM", "name of the virtual machine"},
    {"until", KEY_UNTIL, "TIME", "the hosts' time is over then, as 2027-01-31T23:59:59"},
    RUN_LINE_OPTIONS,
    {NULL, 0, NULL, NULL}};

/* ---- The command line --------------------------------------------------------------------- */

static bool take_own(struct with *with, int key, const char *value)
{
    const char **place = key == 'l'         ? &with->local
                         : key == 'f'       ? &with->file
                         : key == KEY_NAME  ? &with->name
                         : key == KEY_UNTIL ? &with->until
                                            : NULL;
    if (place)
        *place = value;
    return place != NULL;
}

/* What is not ours is for covey run. */
static int read_with_arguments(struct with *with, int argc, char **argv)
{
    struct args args;
    int key, from;
    with->run[with->run_count++] = (char *)"run";
    args_init(&args, options, argc, argv);
    while ((from = args.next, key = args_next(&args)) > 0) {
        for (int i = from; i < args.next && !take_own(with, key, args.value); i++)
            with->run[with->run_count++] = argv[i];
    }
    if (key == ARGS_BAD)
        return tool_usage("with", "%s", args.error);
    if (key == ARGS_END)
        return tool_usage("with", "no program is named");
    if (with->local && with->file)
        return tool_usage("with", "--local does not go with --hosts");
    with->run[with->run_count++] = (char *)"--";
    for (int i = args.next - 1; i < argc; i++)
        with->run[with->run_count++] = argv[i];
    return TOOL_OK;
}

/* Names of VMs that run at the same time on a host must differ, wherever they were started. */
static bool choose_name(struct with *with)
{
    unsigned long long number;
    if (with->name)
        snprintf(with->vm_name, sizeof with->vm_name, "%s", with->name);
    else if (batch_rank() >= 0)
        batch_step_name(with->vm_name, sizeof with->vm_name);
    else if (getrandom(&number, sizeof number, 0) != sizeof number)
        return false;
    else
        snprintf(with->vm_name, sizeof with->vm_name, "with-%016llx", number);
    return true;
}

/* ---- Those who follow --------------------------------------------------------------------- */

/* Until the VM ends, or its leader does. A guard is a child of the leader; a task of the step, with
 * 0, does not see him. */
static void follow(const char *vm_name, pid_t leader)
{
    const struct covey_options join = {.vm = vm_name, .role = COVEY_ROLE_CONSOLE};
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000};
    covey_t *vm = NULL;
    for (int looks = 0; looks < LOOKS; nanosleep(&pause, NULL)) {
        bool gone = leader && getppid() != leader;
        looks += gone || !leader;
        int error = vm ? COVEY_OK : covey_join(&vm, &join);
        if (error != COVEY_OK)
            continue; /* it is not there yet */
        error = covey_token_request(vm, TOKEN, COVEY_FOREVER, NULL);
        if (error == COVEY_OK || (gone && error == COVEY_ENOENT))
            covey_halt(vm);
        if (error != COVEY_ENOENT || gone)
            break;
    }
    covey_leave(&vm);
}

static void end_well(int signal_number)
{
    (void)signal_number;
    _exit(0);
}

/* A task of the step that does not lead. */
static void follow_leader(const char *vm_name)
{
    signal(SIGINT, end_well);
    signal(SIGTERM, end_well);
    follow(vm_name, 0);
}

/* Signals to all of a terminal's or a job's processes are not for it. -1: there can be none. */
static pid_t guard_start(const char *vm_name)
{
    pid_t leader = getpid(), pid = fork();
    if (pid != 0)
        return pid;
    setpgid(0, 0);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    follow(vm_name, leader);
    _exit(0);
}

static void guard_stop(pid_t guard)
{
    kill(guard, SIGKILL);
    waitpid(guard, NULL, 0);
}

/* ---- The leader --------------------------------------------------------------------------- */

static int start_vm(struct with *with)
{
    char *words[START_WORDS] = {"start", "--quiet", "--step", "--name", with->vm_name};
    int count = 5;
    if (with->local || with->file) {
        words[count++] = with->local ? "--local" : "--hosts";
        words[count++] = (char *)(with->local ? with->local : with->file);
    }
    if (with->until) {
        words[count++] = "--until";
        words[count++] = (char *)with->until;
    }
    if (!with->local)
        words[count++] = "--loopback";
    return cmd_start.run(with->tool, count, words);
}

/* A host that did not join is an error: a program that was to have them all would take longer than
 * the job has, or not fit. */
static int lead(struct with *with)
{
    struct tool *tool = with->tool;
    int status = start_vm(with);
    int error = status == TOOL_OK ? covey_token_create(tool->vm, TOKEN, NULL) : COVEY_OK;
    if (error < 0)
        status = tool_failed(tool, "with", error);
    if (status == TOOL_OK)
        status = cmd_run.run(tool, with->run_count, with->run);
    if (tool->vm && tool_halt(tool) < 0)
        tool_error("with", "the VM may not have ended; try: covey --vm %s halt", with->vm_name);
    return status;
}

/* A task of a step may be bound to a part of what the step has of its host; the VM has it all. */
static void unbind(void)
{
    cpu_set_t all;
    memset(&all, 0xff, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
}

static int lead_guarded(struct with *with)
{
    struct tool *tool = with->tool;
    const char *name_before = tool->vm_name;
    bool named_before = tool->named;
    if (batch_rank() >= 0)
        unbind();
    tool_leave(tool);
    pid_t guard = guard_start(with->vm_name);
    if (guard < 0)
        return tool_error("with", "cannot start a process: %s", strerror(errno));
    int status = lead(with);
    guard_stop(guard);
    tool_leave(tool);
    tool->vm_name = name_before;
    tool->named = named_before;
    return status;
}

/* In a job, on a machine that is none of its hosts: becomes srun, which calls it on each of them.
 * Returns only on failure. */
static int become_step(const struct with *with, const struct batch *batch, int argc, char **argv)
{
    char program[PATH_MAX], count[16];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    char **words = calloc((size_t)argc + SRUN_WORDS, sizeof *words);
    if (length <= 0 || !words) {
        free(words);
        return tool_error("with", "cannot find this program: %s", strerror(errno));
    }
    program[length] = '\0';
    snprintf(count, sizeof count, "%d", batch->count);
    char *first[] = {"srun", "--overlap", "--ntasks-per-node=1", "-N", count, "-n", count, program};
    size_t used = sizeof first / sizeof *first;
    memcpy(words, first, sizeof first);
    if (with->tool->named) {
        words[used++] = "--vm";
        words[used++] = (char *)with->tool->vm_name;
    }
    memcpy(words + used, argv, (size_t)argc * sizeof *words);
    execvp(words[0], words);
    free(words);
    return tool_error("with", "srun: %s", strerror(errno));
}

/* Without any word about hosts those of the job are taken; outside of a job, this machine. */
static int choose_hosts(struct with *with, int argc, char **argv)
{
    struct batch batch;
    const char *hosts = getenv("COVEY_HOSTS");
    if (with->local || with->file || (hosts && *hosts))
        return TOOL_OK;
    int status = TOOL_OK;
    if (batch_find(&batch, true) < 0)
        status = tool_error("with", "%s", batch.error);
    else if (!batch.engine)
        with->local = "1";
    else if (!batch.self && batch_rank() < 0 && strcmp(batch.engine, "Slurm") == 0)
        status = become_step(with, &batch, argc, argv);
    batch_free(&batch);
    return status;
}

static int with_command(struct tool *tool, int argc, char **argv)
{
    struct with with = {.tool = tool, .name = tool->named ? tool->vm_name : NULL};
    with.run = calloc((size_t)argc + 3, sizeof *with.run);
    if (!with.run)
        return tool_error("with", "memory is exhausted");
    int status = read_with_arguments(&with, argc, argv);
    if (status == TOOL_OK && !choose_name(&with))
        status = tool_error("with", "no random number: %s", strerror(errno));
    if (status == TOOL_OK && batch_rank() > 0)
        follow_leader(with.vm_name);
    else if (status == TOOL_OK && (status = choose_hosts(&with, argc, argv)) == TOOL_OK)
        status = lead_guarded(&with);
    free(with.run);
    return status;
}

const struct command cmd_with = {
    .name = "with",
    .run = with_command,
    .usage =
        "[--local N | --hosts FILE] [--name VM] [--until TIME] [OPTION of run]... PROG [ARG...]",
    .help = "run a program in a virtual machine of its own, which ends with it",
    .options = options,
    .operand = "PROG",
};
