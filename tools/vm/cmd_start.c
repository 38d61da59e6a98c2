/*
 * covey start: the first daemon, then all other hosts, hundreds in one call. When that fails the VM
 * is halted again; a host that merely does not join is reported.
 *
 * Ctrl-C rolls back. While coveyd is starting it is left to finish (a second Ctrl-C ends it);
 * once there is a connection the VM is halted from the signal thread, which makes the call that
 * adds the hosts return.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "tools/base/arguments.h"
#include "tools/base/child.h"
#include "tools/base/command.h"
#include "tools/base/interrupt.h"
#include "tools/base/program.h"
#include "tools/vm/admit.h"
#include "tools/vm/batch.h"
#include "tools/vm/hostfile.h"
#include "tools/vm/hostspec.h"
#include "tools/vm/launch.h"
#include "tools/vm/vm_topology.h"

#define KEY_TOPOLOGY 2000 /* beyond those of HOSTSPEC_OPTIONS */
#define KEY_FAIL_TIMEOUT 2001
#define KEY_LOOPBACK 2002
#define KEY_SERVICE 2003
#define KEY_STEP 2004
#define KEY_SLOW 2005
#define SLOW_BYTES 8192
#define KEY_CLASS 2006
#define KEY_UNTIL 2007
#define KEY_WITHHOLD 2008
#define LOCAL_MAX 4094 /* a tid has 12 bits for the host */
#define PART 2000      /* so many hosts are added at once */

struct network_words {
    const char *topology;  /* path, or NULL */
    const char *slow;      /* rules, or NULL */
    char file[SLOW_BYTES]; /* where these come from */
};

/* What is shared with the signal thread. */
struct shared {
    pthread_mutex_t lock;
    pid_t launching; /* coveyd before it is in the background, or 0 */
    bool joined;
    bool halted;
    int signals;
};

struct start {
    struct tool *tool;
    const char *vm_name;
    char first[64];             /* the first host's name */
    struct covey_host_spec own; /* the first daemon, as far as the host file says */
    struct hostspec common;     /* what the command line says of the hosts it names */
    bool local;
    struct network_words network;
    bool encrypt, loopback, quiet, step;
    bool withhold; /* this host gets tasks by its name alone */
    bool class;    /* students join it by a code */
    bool service;  /* the first daemon is systemd's */
    struct {
        const char *fail_timeout; /* seconds, or NULL: as in covey.conf */
        const char *until;        /* the hosts' time is over, or NULL: as the engine says */
    } said;
    struct hostfile file;
    struct batch batch;            /* the job, whose hosts are added, or reached by its engine */
    char *named;                   /* the hosts of $COVEY_HOSTS, cut at the commas */
    struct covey_host_spec *specs; /* the hosts to add */
    int count;
    char (*names)[24]; /* of local hosts */
    struct covey_host_result *results;
    struct shared shared;
};

static const struct args_option options[] = {
    {"local", 'l', "N", "N virtual hosts h0 .. on this machine"},
    {"slow", KEY_SLOW, "RULES", "of --local: slow hosts and links, or a file of them"},
    {"hosts", 'f', "FILE", "add the hosts that a host file lists"},
    {"name", 'n', "VM", "name of the virtual machine"},
    {"encrypt", 'x', NULL, "encrypt everything between hosts"},
    {"topology", KEY_TOPOLOGY, "FILE", "the network of the hosts, for schedules"},
    {"fail-timeout", KEY_FAIL_TIMEOUT, "S", "silence after which a host is declared gone"},
    {"as", 'a', "NAME", "name of this host in the VM (its host name)"},
    {"loopback", KEY_LOOPBACK, NULL, "be 127.0.0.1 where no network interface has an address"},
    {"service", KEY_SERVICE, NULL, "have systemd keep the daemon of this host, see covey(1)"},
    {"class", KEY_CLASS, NULL, "open it for a class, whose students join by a code"},
    {"quiet", 'q', NULL, "print only which hosts did not join"},
    {"until", KEY_UNTIL, "TIME", "the hosts' time is over then, as 2027-01-31T23:59:59"},
    {"withhold", KEY_WITHHOLD, NULL, "place tasks on this host only if they name it"},
    {"step", KEY_STEP, NULL, "in a job of Slurm: take the hosts of the step, not of the job"},
    HOSTSPEC_OPTIONS,
    {NULL, 0, NULL, NULL}};

/* ---- What to start ------------------------------------------------------------------------ */

static bool append_spec(struct start *start, const struct covey_host_spec *spec)
{
    size_t count = (size_t)start->count + 1;
    struct covey_host_spec *specs = reallocarray(start->specs, count, sizeof *specs);
    if (!specs)
        return false;
    start->specs = specs;
    specs[start->count++] = *spec;
    return true;
}

static int append_local(struct start *start, long n)
{
    start->names = calloc((size_t)n, sizeof *start->names);
    if (!start->names)
        return tool_error("start", "memory is exhausted");
    for (long i = 1; i < n; i++) {
        snprintf(start->names[i], sizeof *start->names, "h%ld", i);
        struct covey_host_spec spec = {.name = start->names[i], .launcher = COVEY_LAUNCH_LOCAL};
        if (!append_spec(start, &spec))
            return tool_error("start", "memory is exhausted");
    }
    start->local = true;
    snprintf(start->first, sizeof start->first, "h0");
    return TOOL_OK;
}

/* Whether this machine is what the line of the first host says. */
static bool is_of_arch(const struct covey_host_spec *spec)
{
    struct utsname here;
    if (!spec->arch || uname(&here) != 0 || strcmp(here.machine, spec->arch) == 0)
        return true;
    tool_error("start", "host %s: it is %s, not %s", spec->name, here.machine, spec->arch);
    return false;
}

/* This host may stand in the file too: its line is then about the first daemon. */
static int append_file(struct start *start, const char *path)
{
    if (hostfile_load(&start->file, path) < 0)
        return tool_error("start", "%s", start->file.error);
    for (int i = 0; i < start->file.count; i++) {
        struct covey_host_spec spec = hostspec_done(&start->file.hosts[i].host);
        if (strcmp(spec.name, start->first) == 0 && !is_of_arch(&spec))
            return TOOL_FAILED;
        if (strcmp(spec.name, start->first) == 0)
            start->own = spec;
        else if (!start->file.hosts[i].later && !append_spec(start, &spec))
            return tool_error("start", "memory is exhausted");
    }
    return TOOL_OK;
}

static int append_named(struct start *start, const char *name)
{
    char error[HOSTSPEC_ERROR_BYTES];
    start->common.spec.name = name;
    if (!hostspec_check(&start->common, error))
        return tool_usage("start", "%s", error);
    struct covey_host_spec spec = hostspec_done(&start->common);
    batch_reach(&start->batch, &spec);
    return append_spec(start, &spec) ? TOOL_OK : tool_error("start", "memory is exhausted");
}

/* The hosts of the job that this process is part of. Those of Slurm's may be others than the one
 * that has the job, where people are logged in: then that is one more host, to which no tasks go
 * that do not name it, for it is not the job's. */
static int append_job(struct start *start)
{
    struct batch *batch = &start->batch;
    if (batch_find(batch, start->step) < 0)
        return tool_error("start", "%s", batch->error);
    if (batch->self)
        snprintf(start->first, sizeof start->first, "%s", batch->self);
    else if (batch->count)
        tool_error("start", "%s is none of the job's hosts: tasks go there only by its name",
                   start->first);
    start->withhold |= batch->count > 0 && !batch->self;
    for (int i = 0; i < batch->count; i++) {
        struct covey_host_spec spec = {.name = batch->hosts[i]};
        batch_reach(batch, &spec);
        if (batch->hosts[i] != batch->self && !append_spec(start, &spec))
            return tool_error("start", "memory is exhausted");
    }
    return TOOL_OK;
}

/* What a site sets where it has its own way to give hosts: names, or the path of a host file. */
static int append_variable(struct start *start, const char *value)
{
    int most = (int)strlen(value) / 2 + 1, status = TOOL_OK;
    if (strchr(value, '/'))
        return append_file(start, value);
    const char **names = calloc((size_t)most, sizeof *names);
    int count = names ? hostspec_names(value, most, &start->named, names) : -1;
    if (count < 0)
        status = tool_error("start", "COVEY_HOSTS: must be host names with commas between, or the "
                                     "path of a host file with a slash");
    for (int i = 0; status == TOOL_OK && i < count; i++)
        status = strcmp(names[i], start->first) ? append_named(start, names[i]) : TOOL_OK;
    free(names);
    return status;
}

/* Rules as they are, which have a "=" in them, or the path of a file of them. What they mean coveyd
 * knows, and says what is wrong. */
static int take_slow(struct start *start, const char *value)
{
    if (strchr(value, '=')) {
        start->network.slow = value;
        return TOOL_OK;
    }
    FILE *file = fopen(value, "re");
    if (!file)
        return tool_usage("start",
                          "--slow %s: neither rules such as '* alpha=1ms rate=10Mbit' nor "
                          "a file: %s",
                          value, strerror(errno));
    size_t n = fread(start->network.file, 1, sizeof start->network.file, file);
    bool bad = ferror(file) || n == sizeof start->network.file || memchr(start->network.file, 0, n);
    fclose(file);
    start->network.slow = start->network.file;
    return bad ? tool_usage("start", "--slow %s: it is no text of at most %d bytes", value,
                            SLOW_BYTES - 1)
               : TOOL_OK;
}

/* The command line as it stands. */
struct request {
    long local; /* 0: not asked for */
    const char *file;
    const char **names;
    int name_count;
    struct start *start;
};

static int take_start_argument(void *context, int key, const char *value)
{
    char error[HOSTSPEC_ERROR_BYTES];
    struct request *request = context;
    struct start *start = request->start;
    switch (key) {
    case 'l':
        return args_number(value, 1, LOCAL_MAX, &request->local)
                   ? TOOL_OK
                   : tool_usage("start", "--local %s: must be a number in 1 .. %d", value,
                                LOCAL_MAX);
    case 'n':
        start->vm_name = value;
        return *value ? TOOL_OK : tool_usage("start", "--name '': must be a name");
    case KEY_SLOW:
        return take_slow(start, value);
    case KEY_TOPOLOGY:
        start->network.topology = value;
        return vm_topology_check("start", value);
    case 'a':
        snprintf(start->first, sizeof start->first, "%s", value);
        return hostspec_name_ok(value) ? TOOL_OK
                                       : tool_usage("start", "--as %s: not a host name", value);
    default:
        return hostspec_set(&start->common, key, value, error) ? TOOL_OK
                                                               : tool_usage("start", "%s", error);
    }
}

static int read_start_arguments(struct start *start, struct request *request, int argc, char **argv)
{
    const struct arguments_place places[] = {
        {'f', .text = &request->file},
        {KEY_FAIL_TIMEOUT, .text = &start->said.fail_timeout},
        {KEY_UNTIL, .text = &start->said.until},
        {'x', .flag = &start->encrypt},
        {'q', .flag = &start->quiet},
        {KEY_STEP, .flag = &start->step},
        {KEY_WITHHOLD, .flag = &start->withhold},
        {KEY_CLASS, .flag = &start->class},
        {KEY_LOOPBACK, .flag = &start->loopback},
        {KEY_SERVICE, .flag = &start->service},
        {ARGS_OPERAND, .text = request->names, .count = &request->name_count},
        {0}};
    const struct covey_host_spec *common = &start->common.spec;
    int status = arguments_read(&(struct arguments){options, places, take_start_argument, request},
                                argc, argv);
    if (status == TOOL_OK && request->local && (request->file || request->name_count))
        return tool_usage("start", "--local goes with neither --hosts nor host names");
    if (status == TOOL_OK && start->network.slow && !request->local)
        return tool_usage("start", "--slow goes with --local alone: it is for virtual hosts");
    if (status == TOOL_OK && request->local && start->service)
        return tool_usage("start", "--local goes not with --service: virtual hosts are not kept");
    if (status == TOOL_OK && request->local && start->class)
        return tool_usage("start", "--local goes not with --class: no other machine reaches "
                                   "virtual hosts");
    if (status == TOOL_OK && start->said.until && start->service)
        return tool_usage("start", "--until goes not with --service: systemd starts the daemon "
                                   "again after that time");
    bool alone = common->address || common->bind || common->hostname;
    if (status == TOOL_OK && alone && request->name_count > 1)
        return tool_usage("start",
                          "one --address, --bind or --hostname cannot serve several hosts");
    return status;
}

static int collect_hosts(struct start *start, const struct request *request)
{
    const char *hosts = getenv("COVEY_HOSTS");
    if (request->local)
        return append_local(start, request->local);
    if (!request->file && !request->name_count)
        return hosts && *hosts ? append_variable(start, hosts) : append_job(start);
    int status = request->file ? append_file(start, request->file) : TOOL_OK;
    if (request->name_count)
        batch_find(&start->batch, start->step); /* a list that is bad is not asked for here */
    start->withhold |= start->batch.count > 0 && !start->batch.self;
    for (int i = 0; status == TOOL_OK && i < request->name_count; i++)
        status = append_named(start, request->names[i]);
    return status;
}

static int plan_hosts(struct start *start, int argc, char **argv)
{
    struct request request = {.names = calloc((size_t)argc, sizeof(char *)), .start = start};
    if (!request.names)
        return tool_error("start", "memory is exhausted");
    int status = read_start_arguments(start, &request, argc, argv);
    if (status == TOOL_OK)
        status = collect_hosts(start, &request);
    if (status == TOOL_OK && start->service && start->own.env)
        status = tool_error("start",
                            "--service: the host file gives host %s an environment, which "
                            "systemd does not pass on; take env away",
                            start->first);
    free(request.names);
    if (status != TOOL_OK)
        return status;
    start->results = calloc((size_t)start->count + 1, sizeof *start->results);
    return start->results ? TOOL_OK : tool_error("start", "memory is exhausted");
}

/* ---- Starting ----------------------------------------------------------------------------- */

static void roll_back(void *context, int signal_number, int count)
{
    (void)signal_number;
    struct start *start = context;
    pthread_mutex_lock(&start->shared.lock);
    start->shared.signals = count;
    bool halt = start->shared.joined && !start->shared.halted;
    start->shared.halted |= halt;
    if (start->shared.launching && count > 1)
        kill(start->shared.launching, SIGTERM);
    pthread_mutex_unlock(&start->shared.lock);
    if (halt)
        covey_halt(start->tool->vm);
}

static bool interrupted(struct start *start)
{
    pthread_mutex_lock(&start->shared.lock);
    bool yes = start->shared.signals > 0;
    pthread_mutex_unlock(&start->shared.lock);
    return yes;
}

static void set_launching(struct start *start, pid_t pid)
{
    pthread_mutex_lock(&start->shared.lock);
    start->shared.launching = pid;
    pthread_mutex_unlock(&start->shared.lock);
}

#define DAEMON_WORDS 28
#define SPEED_BYTES 16

/* argv[0] is left for launch_daemon(). */
static void daemon_words(const struct start *start, const char *argv[DAEMON_WORDS],
                         char speed[SPEED_BYTES])
{
    const struct {
        const char *option;
        const char *value;
    } settings[] = {{"--vm", start->vm_name},
                    {"--name", start->first},
                    {"--address", start->own.address},
                    {"--bind", start->own.bind},
                    {"--interface", start->own.interface},
                    {"--speed", start->own.speed ? speed : NULL},
                    {"--config", start->own.config},
                    {"--fail-timeout", start->said.fail_timeout},
                    {"--slow", start->network.slow},
                    {"--cwd", start->own.cwd}};
    int count = 1;
    snprintf(speed, SPEED_BYTES, "%d", start->own.speed);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (settings[i].value) {
            argv[count++] = settings[i].option;
            argv[count++] = settings[i].value;
        }
    }
    if (start->local)
        argv[count++] = "--local";
    if (start->encrypt)
        argv[count++] = "--encrypt";
    if (start->loopback)
        argv[count++] = "--loopback";
    if (start->withhold)
        argv[count++] = "--withhold";
    argv[count] = NULL;
}

/* coveyd itself has printed why it could not start, or systemctl. */
static int start_daemon(struct start *start)
{
    const char *argv[DAEMON_WORDS];
    char speed[SPEED_BYTES];
    daemon_words(start, argv, speed);
    fflush(stdout);
    pid_t pid = start->service ? launch_service("start", start->vm_name, (char **)argv)
                               : launch_daemon("start", (char **)argv, start->own.env);
    if (pid < 0)
        return TOOL_FAILED;
    set_launching(start, pid);
    int status = launch_wait(pid);
    set_launching(start, 0);
    if (status != 0 && start->service)
        launch_service_drop(start->vm_name);
    if (status != 0 && start->service && !interrupted(start))
        return tool_error("start", "systemd did not start it; see: journalctl --user -u covey@%s",
                          start->vm_name);
    if (status > 128 && !interrupted(start))
        return tool_error("start", "coveyd was ended by signal %d", status - 128);
    return status == 0 ? TOOL_OK : TOOL_FAILED;
}

static int bring_up(struct start *start)
{
    int status = start_daemon(start);
    if (status == TOOL_OK)
        status = tool_join(start->tool, "start");
    if (status != TOOL_OK)
        return status;
    /* From here on a signal halts the VM. */
    pthread_mutex_lock(&start->shared.lock);
    start->shared.joined = true;
    pthread_mutex_unlock(&start->shared.lock);
    /* Many hosts are added part by part, so that something is said meanwhile. */
    for (int i = 0; i < start->count && !interrupted(start); i += PART) {
        int n = start->count - i < PART ? start->count - i : PART;
        int joined = covey_add_hosts(start->tool->vm, &start->specs[i], n, &start->results[i]);
        if (joined < 0 && !interrupted(start))
            return tool_failed(start->tool, "start", joined);
        if (i + n < start->count && !interrupted(start))
            fprintf(stderr, "covey: start: %d of %d hosts were started\n", i + n + 1,
                    start->count + 1);
    }
    return TOOL_OK;
}

static int report_hosts(struct start *start)
{
    struct covey_host *hosts;
    int count = covey_hosts(start->tool->vm, &hosts);
    if (count < 0)
        return tool_failed(start->tool, "start", count);
    if (!start->quiet)
        admit_print_joined(hosts, count, start->first);
    covey_free(hosts);
    int status = TOOL_OK;
    if (start->network.topology)
        status = vm_topology_use(start->tool, "start", start->network.topology);
    if (status != TOOL_OK)
        return status;
    return admit_report(start->tool, "start", start->specs, start->count, start->results,
                        start->quiet);
}

/* As the command does it that can be typed later, too. */
static int open_class(struct start *start)
{
    char path[PROGRAM_PATH_BYTES];
    const char *argv[] = {path, "--vm", start->vm_name, "class", "open", NULL};
    posix_spawn_file_actions_t files;
    pid_t pid;
    int status = program_find("start", "covey", path, sizeof path);
    if (status != TOOL_OK)
        return status;
    fflush(stdout);
    posix_spawn_file_actions_init(&files);
    int error = child_spawn(&pid, &files, (char *const *)argv, environ);
    if (error != 0)
        return tool_error("start", "cannot run %s: %s", path, strerror(error));
    return launch_wait(pid) == 0 ? TOOL_OK : TOOL_FAILED;
}

/* What was started ends again: through the first daemon, or another one if that died. */
static int undo(struct start *start)
{
    bool there = start->tool->vm || tool_join(start->tool, "start") == TOOL_OK;
    if (there && tool_halt(start->tool) == 0)
        return tool_error("start", "nothing was left running");
    return tool_error("start", "the VM may not have ended; try: covey halt");
}

/* The first daemon has it from this process, and tells the hosts that it starts. */
static int tell_until(const struct start *start)
{
    static char word[64];
    long until;
    int told = batch_until(start->said.until, &until);
    if (told < 0)
        return tool_error("start", "%s: %s is no time such as 2027-01-31T23:59:59",
                          start->said.until ? "--until" : "COVEY_UNTIL",
                          start->said.until ? start->said.until : getenv("COVEY_UNTIL"));
    if (told == 0)
        return TOOL_OK;
    snprintf(word, sizeof word, "COVEY_UNTIL=%ld", until);
    return putenv(word) == 0 ? TOOL_OK : tool_error("start", "memory is exhausted");
}

static int run_start(struct start *start)
{
    struct interrupt *interrupt = interrupt_start(roll_back, start);
    if (!interrupt)
        return tool_error("start", "no thread can be started; free memory or processes");
    int status = bring_up(start);
    int signal_number = interrupt_stop(&interrupt);
    if (signal_number) {
        /* The signal thread has halted the VM if there was a connection by then. */
        bool gone = true;
        if (start->shared.joined && !start->shared.halted)
            gone = tool_halt(start->tool) == 0;
        tool_leave(start->tool);
        if (start->shared.halted)
            gone = tool_wait_gone(start->vm_name);
        tool_error("start", gone ? "interrupted; nothing was left running"
                                 : "interrupted, but the VM did not end; try: covey halt");
        return 128 + signal_number;
    }
    if (status == TOOL_OK && start->service)
        status = launch_service_keep("start", start->vm_name);
    if (status == TOOL_OK) {
        status = report_hosts(start);
        if (start->class && open_class(start) != TOOL_OK)
            status = TOOL_FAILED;
        return status;
    }
    return start->shared.joined ? undo(start) : status;
}

static int start_command(struct tool *tool, int argc, char **argv)
{
    struct start start = {
        .tool = tool, .vm_name = tool->vm_name, .shared.lock = PTHREAD_MUTEX_INITIALIZER};
    hostspec_own_name(start.first, sizeof start.first);
    int status = plan_hosts(&start, argc, argv);
    if (status == TOOL_OK)
        status = tell_until(&start);
    if (status == TOOL_OK) {
        tool_set_vm(tool, start.vm_name);
        status = run_start(&start);
    }
    free(start.results);
    free(start.specs);
    free(start.names);
    free(start.named);
    batch_free(&start.batch);
    hostfile_free(&start.file);
    return status;
}

const struct command cmd_start = {
    .name = "start",
    .run = start_command,
    .usage = "[--local N | --hosts FILE] [--name VM] [--as NAME] [--loopback] [--encrypt] "
             "[--class] [--quiet] [--step] [--withhold] [--fail-timeout S] [--topology FILE] "
             "[--until TIME] "
             "[--service] [HOST...] [OPTION of add]...",
    .help = "start a virtual machine on this host and others",
    .options = options,
};
