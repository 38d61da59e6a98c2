/*
 * covey doctor: what is wrong with the hosts of a VM, before it is started or while it runs.
 *
 * On every host `coveyd --examine` runs, which is covey-probe: here as a child, on the hosts of a
 * host file by covey-launch, which does what adding the host would do, and in a VM that runs as a
 * task of it, by `covey run`. So the doctor itself makes no connection and knows no launcher: it
 * runs commands and reads lines.
 *
 *   1. each host says what it finds by itself, and goes on as a server of probes
 *   2. each host probes all others, some at a time: a command line has a limit
 *   3. the servers are ended, and what was said is compared
 *
 * A signal ends the servers, so that everything that waits for them returns; clients end soon by
 * themselves.
 *
 * Files: cmd_doctor.c decides which hosts; doctor.c does the three steps; errand.c runs commands;
 * patient.c takes the lines of a host; diagnosis.c compares; finding.c keeps and prints.
 */
#include "tools/doctor/doctor.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/base/command_line.h"
#include "tools/base/interrupt.h"
#include "tools/base/program.h"
#include "tools/doctor/diagnosis.h"
#include "tools/doctor/errand.h"
#include "tools/doctor/patient.h"
#include "tools/vm/launch.h"

#define ASK_MS 28000     /* as long as adding a host may take */
#define PROBE_MS 12000   /* a launcher's way and the probes */
#define SERVE_SECONDS 90 /* longer than all of it */
#define TARGETS_AT_ONCE 12

/* The same coveyd examines that runs there: the daemon tells its tasks where that is. */
#define AS_TASK "exec \"$COVEYD\" \"$@\""

struct doctor {
    struct tool *tool;
    const struct doctor_host *hosts;
    struct patients patients;
    struct findings *findings;
    char launch[PROGRAM_PATH_BYTES]; /* where covey-launch is */
    struct errand *servers, *clients;
    int asked; /* clients that are started */
    pthread_mutex_t
        lock; /* what follows, and the servers' pids, are shared with the signal thread */
    bool stopped;
};

/* ---- Command lines ------------------------------------------------------------------------ */

static void add_field(struct command_line *line, const char *before, const char *value)
{
    if (value)
        command_line_add(line, "%s%s", before, value);
}

static void add_option(struct command_line *line, const char *option, const char *value)
{
    if (!value)
        return;
    command_line_add(line, "%s", option);
    command_line_add(line, "%s", value);
}

static void add_launcher(struct command_line *line, const struct doctor *doctor, const char *coveyd,
                         const struct covey_host_spec *spec)
{
    static const char *const launchers[] = {
        [COVEY_LAUNCH_SSH] = "ssh", [COVEY_LAUNCH_EXEC] = "exec", [COVEY_LAUNCH_LOCAL] = "local"};
    command_line_add(line, "%s", doctor->launch);
    add_option(line, "--coveyd", coveyd);
    command_line_add(line, "name=%s", spec->name);
    if (spec->launcher != COVEY_LAUNCH_DEFAULT)
        command_line_add(line, "launcher=%s", launchers[spec->launcher]);
    add_field(line, "hostname=", spec->hostname);
    add_field(line, "user=", spec->user);
    add_field(line, "template=", spec->template_);
    add_field(line, "coveyd=", spec->coveyd);
    if (spec->port)
        command_line_add(line, "port=%d", spec->port);
    command_line_add(line, "run");
}

static void add_task(struct command_line *line, const struct doctor *doctor, const char *host)
{
    command_line_add(line, "/proc/self/exe");
    if (!tool_by_socket(doctor->tool))
        add_option(line, "--vm", doctor->tool->vm_name);
    command_line_add(line, "run");
    add_option(line, "--host", host);
    add_option(line, "--cwd", "/");
    command_line_add(line, "sh");
    add_option(line, "-c", AS_TASK);
    command_line_add(line, "covey-doctor");
}

/* `coveyd --examine` on a host, with what its daemon is told; the operands follow. */
static struct command_line examine_line(const struct doctor *doctor, int host)
{
    char coveyd[4096];
    struct command_line line = {0};
    const struct covey_host_spec *spec = &doctor->hosts[host].spec;
    launch_find(coveyd, sizeof coveyd);
    if (doctor->hosts[host].way == DOCTOR_TASK)
        add_task(&line, doctor, spec->name);
    else if (doctor->hosts[host].way == DOCTOR_LAUNCH)
        add_launcher(&line, doctor, coveyd, spec);
    else
        command_line_add(&line, "%s", coveyd);
    command_line_add(&line, "--examine");
    if (doctor->hosts[host].local)
        command_line_add(&line, "--local");
    add_option(&line, "--name", spec->name);
    add_option(&line, "--config", spec->config);
    add_option(&line, "--bind", spec->bind);
    add_option(&line, "--interface", spec->interface);
    add_option(&line, "--address", spec->address);
    return line;
}

static size_t put_addresses(char *text, size_t size, const char *route,
                            const struct patient_addresses *addresses)
{
    size_t used = 0;
    for (int i = 0; i < addresses->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, ",%s=%s", route, addresses->list[i]);
    return used < size ? used : size - 1;
}

/* ---- The steps ---------------------------------------------------------------------------- */

static void on_line(void *context, int owner, char *line)
{
    struct doctor *doctor = context;
    patient_line(&doctor->patients, &doctor->patients.list[owner], line, doctor->findings);
}

static bool all_ready(const void *context)
{
    const struct doctor *doctor = context;
    for (int i = 0; i < doctor->patients.count; i++) {
        if (!doctor->patients.list[i].ready && doctor->servers[i].out >= 0)
            return false;
    }
    return true;
}

static bool clients_ended(const void *context)
{
    const struct doctor *doctor = context;
    for (int i = 0; i < doctor->asked; i++) {
        if (doctor->clients[i].out >= 0)
            return false;
    }
    return true;
}

static long long clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void stop_servers(void *context, int signal_number, int count)
{
    (void)signal_number, (void)count;
    struct doctor *doctor = context;
    pthread_mutex_lock(&doctor->lock);
    doctor->stopped = true;
    errands_signal(doctor->servers, doctor->patients.count, SIGTERM);
    pthread_mutex_unlock(&doctor->lock);
}

static void start_errand(struct doctor *doctor, struct errand *errand, int host,
                         struct command_line *line)
{
    struct patient *patient = &doctor->patients.list[host];
    int error = line->lost ? ENOMEM : 0;
    pthread_mutex_lock(&doctor->lock);
    if (!error && !doctor->stopped)
        error = errand_start(errand, host, line->words);
    pthread_mutex_unlock(&doctor->lock);
    if (error)
        snprintf(patient->words, sizeof patient->words, "%s: %s", line->lost ? "" : line->words[0],
                 strerror(error));
    command_line_free(line);
}

static void start_server(struct doctor *doctor, int host)
{
    struct patient *patient = &doctor->patients.list[host];
    struct command_line line = examine_line(doctor, host);
    snprintf(patient->name, sizeof patient->name, "%s", doctor->hosts[host].spec.name);
    if (doctor->patients.count > 1)
        command_line_add(&line, "serve=%d", SERVE_SECONDS);
    if (host == 0) {
        /* Whom ssh would call is looked up where it would be. */
        for (int i = 0; i < doctor->patients.count; i++) {
            const struct covey_host_spec *spec = &doctor->hosts[i].spec;
            bool ssh = spec->launcher == COVEY_LAUNCH_SSH ||
                       (spec->launcher == COVEY_LAUNCH_DEFAULT && !spec->template_);
            if (doctor->hosts[i].way == DOCTOR_LAUNCH && ssh)
                command_line_add(&line, "resolve=%s", spec->hostname ? spec->hostname : spec->name);
        }
    }
    patient->asked_us = clock_us();
    start_errand(doctor, &doctor->servers[host], host, &line);
}

/* Host probes the others from `first` on, as many as go into one command line. */
static void start_client(struct doctor *doctor, int host, int first)
{
    const struct patients *patients = &doctor->patients;
    struct command_line line = examine_line(doctor, host);
    size_t without = line.count;
    for (int i = first; i < patients->count && i < first + TARGETS_AT_ONCE; i++) {
        if (i != host && patients->list[i].ready) {
            const struct patient *target = &patients->list[i];
            char text[2 * PATIENT_ADDRESSES * (PATIENT_TEXT_BYTES + 8)];
            size_t used = put_addresses(text, sizeof text, "udp", &target->udp);
            put_addresses(text + used, sizeof text - used, "tcp", &target->tcp);
            if (target->udp.count + target->tcp.count > 0)
                command_line_add(&line, "reach=%s,%s%s", target->name, target->token, text);
        }
    }
    if (line.count > without)
        start_errand(doctor, &doctor->clients[doctor->asked++], host, &line);
    else
        command_line_free(&line);
}

/* The servers' lines are read, too: they say whom they hear. */
static void probe_from(struct doctor *doctor, int first)
{
    int n = doctor->patients.count;
    doctor->asked = 0;
    for (int i = 0; i < n; i++) {
        if (doctor->patients.list[i].ready)
            start_client(doctor, i, first);
    }
    errands_run(doctor->servers, 2 * n, PROBE_MS, on_line, clients_ended, doctor);
    errands_end(doctor->clients, doctor->asked, true, on_line, doctor);
}

static void end_servers(struct doctor *doctor)
{
    bool tasks = doctor->hosts[0].way == DOCTOR_TASK; /* they have no standard input */
    int n = doctor->patients.count;
    int status[n]; /* a launcher that is ended here has no status of its own */
    for (int i = 0; i < n; i++)
        status[i] = doctor->servers[i].out >= 0 ? -1 : 0;
    errands_end(doctor->servers, n, tasks, on_line, doctor);
    for (int i = 0; i < n; i++) {
        if (!doctor->patients.list[i].ready && !doctor->stopped)
            diagnosis_launch(&doctor->patients.list[i],
                             status[i] < 0 ? -1 : doctor->servers[i].status, doctor->findings);
    }
}

/* Servers and clients lie in one array, so that they can be read together. */
static bool create_doctor(struct doctor *doctor, int n)
{
    bool created = patients_create(&doctor->patients, n);
    doctor->servers = calloc(2 * (size_t)n, sizeof *doctor->servers);
    if (!created || !doctor->servers)
        return false;
    doctor->clients = doctor->servers + n;
    for (int i = 0; i < 2 * n; i++)
        doctor->servers[i] = (struct errand){.in = -1, .out = -1};
    return true;
}

static int examine_all(struct doctor *doctor)
{
    int n = doctor->patients.count;
    struct interrupt *interrupt = interrupt_start(stop_servers, doctor);
    if (!interrupt)
        return tool_error("doctor", "no thread can be started; free memory or processes");
    for (int i = 0; i < doctor->patients.count; i++)
        start_server(doctor, i);
    errands_run(doctor->servers, doctor->patients.count, ASK_MS, on_line, all_ready, doctor);
    for (int first = 0; n > 1 && first < n; first += TARGETS_AT_ONCE)
        probe_from(doctor, first);
    int signal_number = interrupt_stop(&interrupt);
    end_servers(doctor);
    diagnosis_compare(&doctor->patients, doctor->findings);
    if (!signal_number)
        return TOOL_OK;
    tool_error("doctor", "interrupted; nothing was left running");
    return 128 + signal_number;
}

int doctor_examine(struct tool *tool, const struct doctor_host *hosts, int n,
                   struct findings *findings)
{
    struct doctor doctor = {
        .tool = tool, .hosts = hosts, .findings = findings, .lock = PTHREAD_MUTEX_INITIALIZER};
    int status = TOOL_OK;
    for (int i = 0; i < n && status == TOOL_OK && doctor.launch[0] == '\0'; i++)
        if (hosts[i].way == DOCTOR_LAUNCH)
            status = program_find("doctor", "covey-launch", doctor.launch, sizeof doctor.launch);
    if (status == TOOL_OK)
        status = create_doctor(&doctor, n) ? examine_all(&doctor)
                                           : tool_error("doctor", "memory is exhausted");
    free(doctor.servers);
    patients_free(&doctor.patients);
    return status;
}
