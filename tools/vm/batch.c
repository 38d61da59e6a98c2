/*
 * batch.c - what a batch engine says of the job that this process is part of.
 *
 * A host of the job is one more host that the launcher exec starts (covey.hosts(5)): an engine is a
 * row with the template, and with the place of its list of hosts. So the key goes, as by ssh, over
 * the standard input of the program that the engine gives for this, and through nothing that others
 * could read. pbs_tmrsh has no standard input: there the new host fetches the key itself, sealed
 * for it alone (coveyd --offer). The daemon stays attached to that program, for an engine ends, or
 * does not account for, what goes to the background.
 *
 * A daemon shall have all that the job has on its host. srun would take from its environment that
 * it is to have less, or that its output has another place or form: these variables are unset.
 *
 * Nothing is asked of an engine but the list: there is no PMI, and no port that jobs could share.
 */
#include "tools/vm/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/base/args.h"
#include "tools/vm/hostspec.h"

#define HOSTS_MAX 4094 /* a tid has 12 bits for the host */
#define LINE_BYTES 1024
#define STEP_MAX 0x7fffffffL /* above are the batch script and the like, which no srun started */

#define SLURM_UNSET                                                                                \
    "-u SLURM_CPUS_PER_TASK -u SLURM_TRES_PER_TASK -u SLURM_EXACT -u SLURM_EXCLUSIVE "             \
    "-u SLURM_MEM_PER_CPU -u SLURM_MEM_PER_GPU -u SLURM_MEM_PER_NODE -u SLURM_HOSTFILE "           \
    "-u SLURM_DISTRIBUTION -u SLURM_NTASKS_PER_CORE -u SLURM_MULTI_PROG -u SLURM_LABELIO "         \
    "-u SLURM_STDINMODE -u SLURM_STDOUTMODE -u SLURM_STDERRMODE "

#define SLURM_TEMPLATE                                                                             \
    "exec env " SLURM_UNSET "srun --overlap --export=ALL -N1 -n1 --ntasks-per-node=1 --mem=0 "     \
    "--cpu-bind=none --mpi=none --quiet -w {host} {command} --attached"

#define PBS_TEMPLATE                                                                               \
    "exec \"$COVEYD\" --offer /bin/sh -c 'exec pbs_tmrsh \"$0\" /bin/sh -c \"$2\"' {host} run "    \
    "{command} --attached"

static const struct engine {
    const char *name;
    const char *job;     /* a variable that processes of a job have */
    const char *list;    /* the variable with the path of its list of hosts; NULL: Slurm's way */
    const char *starter; /* without it in PATH hosts are reached by the usual launcher */
    const char *template_;
} engines[] = {
    {"Slurm", "SLURM_JOB_ID", NULL, "srun", SLURM_TEMPLATE},
    {"PBS", "PBS_JOBID", "PBS_NODEFILE", "pbs_tmrsh", PBS_TEMPLATE},
    {"LSF", "LSB_JOBID", "LSB_DJOB_HOSTFILE", "blaunch",
     "exec blaunch {host} {command} --attached"},
    {"Grid Engine", "JOB_ID", "PE_HOSTFILE", "qrsh",
     "exec qrsh -inherit {host} {command} --attached"},
};

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool in_path(const char *program)
{
    const char *path = variable("PATH");
    while (path) {
        char file[LINE_BYTES];
        size_t length = strcspn(path, ":");
        snprintf(file, sizeof file, "%.*s/%s", (int)length, path, program);
        if (access(file, X_OK) == 0)
            return true;
        path = path[length] ? path + length + 1 : NULL;
    }
    return false;
}

/* ---- The list ----------------------------------------------------------------------------- */

static bool append_host(struct batch *batch, const char *name)
{
    for (int i = 0; i < batch->count; i++) {
        if (strcmp(batch->hosts[i], name) == 0)
            return true;
    }
    if (!hostspec_name_ok(name) || batch->count == HOSTS_MAX) {
        snprintf(batch->error, sizeof batch->error, "the job's list of hosts: %.60s: %s", name,
                 batch->count == HOSTS_MAX ? "there are too many" : "not a host name");
        return false;
    }
    char **hosts = reallocarray(batch->hosts, (size_t)batch->count + 1, sizeof *hosts);
    if (hosts)
        batch->hosts = hosts;
    char *copy = hosts ? strdup(name) : NULL;
    if (!copy)
        return false;
    hosts[batch->count++] = copy;
    return true;
}

bool batch_read(struct batch *batch, FILE *in)
{
    char line[LINE_BYTES];
    while (fgets(line, sizeof line, in)) {
        char *rest = line + strspn(line, " \t");
        rest[strcspn(rest, " \t\r\n")] = '\0';
        if (*rest && !append_host(batch, rest))
            return false;
    }
    return true;
}

/* Slurm writes hosts as n[1-4,7]; its own program spells them out. */
static FILE *open_slurm_list(bool step)
{
    return popen(step ? "exec scontrol show hostnames \"$SLURM_STEP_NODELIST\""
                      : "exec scontrol show hostnames \"$SLURM_JOB_NODELIST\"",
                 "re");
}

static int fail(struct batch *batch, const char *what, const char *why)
{
    if (!batch->error[0])
        snprintf(batch->error, sizeof batch->error, "%s: %.100s", what, why);
    return -1;
}

static int read_list(struct batch *batch, const struct engine *engine, bool step)
{
    const char *path = engine->list ? variable(engine->list) : NULL;
    FILE *in = engine->list ? fopen(path, "re") : open_slurm_list(step);
    if (!in)
        return fail(batch, path ? path : "scontrol", strerror(errno));
    bool good = batch_read(batch, in);
    int closed = engine->list ? fclose(in) : pclose(in);
    if (!good)
        return fail(batch, "the job's list of hosts", "memory is exhausted");
    if (batch->count == 0 || closed != 0)
        return fail(batch, engine->name, "there is a job, but no list of its hosts");
    return 0;
}

/* ---- Which of them this machine is -------------------------------------------------------- */

/* The engine may write the name with or without the domain. */
static bool same_machine(const char *a, const char *b)
{
    size_t length = strcspn(a, ".");
    bool short_one = a[length] == '\0' || b[strcspn(b, ".")] == '\0';
    return strcmp(a, b) == 0 ||
           (short_one && length == strcspn(b, ".") && strncmp(a, b, length) == 0);
}

/* Slurm's nodes may have other names than their machines. Where none is said, this is a machine
 * that jobs are submitted from. */
static void find_self(struct batch *batch, bool by_slurm)
{
    char own[256] = "";
    const char *name = by_slurm ? variable("SLURMD_NODENAME") : own;
    if (!by_slurm && gethostname(own, sizeof own - 1) != 0)
        return;
    for (int i = 0; name && i < batch->count && !batch->self; i++) {
        if (by_slurm ? strcmp(batch->hosts[i], name) == 0 : same_machine(batch->hosts[i], name))
            batch->self = batch->hosts[i];
    }
}

/* ---- The whole ---------------------------------------------------------------------------- */

/* Whether srun started this process: numbers at the end are of what Slurm calls steps, too. */
static bool in_step(void)
{
    long number;
    const char *step = variable("SLURM_STEP_ID");
    return step && args_number(step, 0, STEP_MAX, &number) && variable("SLURM_STEP_NODELIST");
}

int batch_find(struct batch *batch, bool step)
{
    *batch = (struct batch){0};
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        const struct engine *engine = &engines[i];
        if (!variable(engine->job) || (engine->list && !variable(engine->list)))
            continue;
        batch->engine = engine->name;
        batch->template_ = in_path(engine->starter) ? engine->template_ : NULL;
        int status = read_list(batch, engine, step && in_step());
        if (status == 0)
            find_self(batch, !engine->list);
        return status;
    }
    return 0;
}

void batch_reach(const struct batch *batch, struct covey_host_spec *spec)
{
    bool known = false;
    for (int i = 0; i < batch->count && !known; i++)
        known = strcmp(batch->hosts[i], spec->name) == 0;
    if (!known || !batch->template_ || spec->template_ || spec->launcher != COVEY_LAUNCH_DEFAULT)
        return;
    spec->launcher = COVEY_LAUNCH_EXEC;
    spec->template_ = batch->template_;
}

/* ---- When it is over ---------------------------------------------------------------------- */

#define UNTIL_MAX 253402300799L /* the year 9999 */

/* Seconds since 1970, or the time of day here: 2027-01-31T23:59:59. */
bool batch_time(const char *text, long *until)
{
    struct tm day = {.tm_isdst = -1};
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &day);
    if (args_number(text, 0, UNTIL_MAX, until))
        return true;
    *until = rest && *rest == '\0' ? (long)mktime(&day) : -1;
    return *until >= 0;
}

/* Newer ones say it in the environment; the others, when they are asked. */
static bool slurm_until(long *until)
{
    const char *end = variable("SLURM_JOB_END_TIME");
    char word[LINE_BYTES];
    bool found = end && args_number(end, 1, UNTIL_MAX, until);
    if (found || !variable("SLURM_JOB_ID") || !in_path("scontrol"))
        return found;
    FILE *in = popen("exec scontrol --oneliner show job \"$SLURM_JOB_ID\" 2>/dev/null", "re");
    while (in && !found && fscanf(in, "%1023s", word) == 1)
        found = strncmp(word, "EndTime=", 8) == 0 && batch_time(word + 8, until);
    if (in)
        pclose(in);
    return found;
}

int batch_until(const char *said, long *until)
{
    const char *text = said ? said : variable("COVEY_UNTIL");
    if (text)
        return batch_time(text, until) ? 1 : -1;
    return slurm_until(until) ? 1 : 0;
}

void batch_free(struct batch *batch)
{
    for (int i = 0; i < batch->count; i++)
        free(batch->hosts[i]);
    free(batch->hosts);
    *batch = (struct batch){0};
}

int batch_rank(void)
{
    long rank;
    const char *text = in_step() ? variable("SLURM_PROCID") : NULL;
    return text && args_number(text, 0, HOSTS_MAX * 1024L, &rank) ? (int)rank : -1;
}

void batch_step_name(char *name, size_t size)
{
    const char *job = variable("SLURM_JOB_ID"), *step = variable("SLURM_STEP_ID");
    snprintf(name, size, "job-%.20s.%.20s", job ? job : "", step ? step : "");
}
