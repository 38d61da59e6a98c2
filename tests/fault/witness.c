/* links: libcovey */
/*
 * witness.c - kills and stops the daemons of a VM of local hosts, and lets tasks on all hosts say
 * what they are told of it.
 *
 *   witness --kill N --timeout S    N times: one daemon is killed with -9; all others must hear
 * that its host is gone within S + 1 seconds, and not before S witness --stop N --timeout S    N
 * times: one or several daemons stand still for S / 2; nobody may be told that a host is gone, and
 * all still answer witness --hogs N ...            N processes compute meanwhile
 *
 * S is the fail timeout of the VM. The program itself must run on a host that is not killed: the
 * last. How late this process itself was woken up meanwhile is measured and allowed for: a machine
 * that is busy makes everybody late. Prints a line a trial and `N passed, N failed, N skipped`.
 */
#include <covey.h>

#include <getopt.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define TAG_HELLO 1  /* witness -> driver: its daemon's pid */
#define TAG_GONE 2   /* witness -> driver: host, time */
#define TAG_ASK 3    /* driver -> witness: say hello again */
#define TAG_NOTICE 4 /* to whoever asked for it */

#define HOSTS_MAX 16
#define HOGS_MAX 64
#define SECOND 1000000ll
#define HEARING_US (30 * SECOND) /* what is not heard by then is not reported at all */
#define METER_US 5000

struct witness {
    covey_tid_t tid;
    int host;
    pid_t daemon;
    char name[64];
};

struct driver {
    covey_t *vm;
    const char *program;
    struct witness witnesses[HOSTS_MAX];
    int count;
    int64_t timeout_us;
    uint64_t random;
    pid_t hogs[HOGS_MAX];
    int hog_count;
    int passed, failed;
    int64_t worst_us;
};

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND + t.tv_nsec / 1000;
}

static void die(const char *what)
{
    fprintf(stderr, "witness: %s: %s\n", what, covey_error_text());
    exit(1);
}

static void check(int result, const char *what)
{
    if (result < 0)
        die(what);
}

/* ---- how late this machine is ---------------------------------------------------------------- */

static atomic_llong late_us;

static void *meter_main(void *context)
{
    (void)context;
    for (;;) {
        int64_t before = now_us();
        usleep(METER_US);
        atomic_fetch_add(&late_us, now_us() - before - METER_US);
    }
    return NULL;
}

static void meter_start(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, meter_main, NULL) != 0)
        die("no thread");
    pthread_detach(thread);
}

/* ---- a witness ------------------------------------------------------------------------------- */

static void send_two(covey_t *vm, covey_tid_t to, int tag, int64_t a, int64_t b)
{
    const int64_t numbers[2] = {a, b};
    check(covey_send_array(vm, to, tag, COVEY_INT64, numbers, 2), "send");
}

static void witness_main(covey_t *vm)
{
    covey_tid_t driver = covey_parent(vm);
    check(covey_notify(vm, COVEY_NOTIFY_HOST_GONE, TAG_NOTICE, NULL, 0), "notify");
    send_two(vm, driver, TAG_HELLO, covey_tid_host(covey_mytid(vm)), getppid());
    for (;;) {
        covey_msg_t *msg;
        struct covey_info info;
        struct covey_notice notice;
        check(covey_recv(vm, COVEY_ANY_TASK, COVEY_ANY_TAG, COVEY_FOREVER, &msg), "receive");
        covey_msg_info(msg, &info);
        if (info.tag == TAG_NOTICE && covey_unpack_notice(msg, &notice) == 0)
            send_two(vm, driver, TAG_GONE, notice.host, now_us());
        else if (info.tag == TAG_ASK)
            send_two(vm, driver, TAG_HELLO, covey_tid_host(covey_mytid(vm)), getppid());
        covey_msg_free(msg);
    }
}

/* ---- the driver ------------------------------------------------------------------------------ */

static uint64_t any_below(struct driver *d, uint64_t bound)
{
    uint64_t z = d->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) % bound;
}

static void hear_hello(struct driver *d, struct witness *w)
{
    int64_t hello[2];
    check(covey_recv_array(d->vm, w->tid, TAG_HELLO, HEARING_US, COVEY_INT64, hello, 2, NULL, NULL),
          "a witness does not answer");
    w->host = (int)hello[0];
    w->daemon = (pid_t)hello[1];
}

static void witness_start(struct driver *d, struct witness *w, const char *host)
{
    const char *const argv[] = {d->program, "--watch", NULL}, *const hosts[] = {host, NULL};
    struct covey_spawn what = {
        .argv = argv, .hosts = hosts, .where = COVEY_WHERE_HOSTS, .tether = 1};
    if (covey_spawn(d->vm, &what, 1, &w->tid) != 1)
        die("spawn");
    snprintf(w->name, sizeof w->name, "%s", host);
    hear_hello(d, w);
}

static void witnesses_start(struct driver *d)
{
    struct covey_host *hosts;
    int n = covey_hosts(d->vm, &hosts);
    check(n, "hosts");
    for (int i = 0; i < n && d->count < HOSTS_MAX; i++) {
        if (hosts[i].state == COVEY_HOST_UP)
            witness_start(d, &d->witnesses[d->count++], hosts[i].name);
    }
    covey_free(hosts);
}

static void report(struct driver *d, bool good, const char *what)
{
    printf("%s %s\n", good ? "ok" : "not ok", what);
    fflush(stdout);
    d->passed += good;
    d->failed += !good;
}

/* ---- kill -9 --------------------------------------------------------------------------------- */

/* When the last of the others was told; INT64_MAX: not at all, or something else. */
static int64_t hear_of_death(struct driver *d, const struct witness *dead, int64_t *first_us)
{
    int64_t last_us = 0, gone[2];
    *first_us = INT64_MAX;
    for (int i = 0; i < d->count; i++) {
        const struct witness *w = &d->witnesses[i];
        if (w == dead)
            continue;
        if (covey_recv_array(d->vm, w->tid, TAG_GONE, HEARING_US, COVEY_INT64, gone, 2, NULL,
                             NULL) != 0 ||
            gone[0] != dead->host)
            return INT64_MAX;
        last_us = gone[1] > last_us ? gone[1] : last_us;
        *first_us = gone[1] < *first_us ? gone[1] : *first_us;
    }
    return last_us;
}

static void come_back(struct driver *d, struct witness *w)
{
    char name[sizeof w->name];
    struct covey_host_result result;
    memcpy(name, w->name, sizeof name);
    struct covey_host_spec spec = {.name = name, .launcher = COVEY_LAUNCH_LOCAL};
    if (covey_add_hosts(d->vm, &spec, 1, &result) != 1) {
        fprintf(stderr, "witness: %s does not come back: %s\n", name, result.text);
        exit(1);
    }
    witness_start(d, w, name);
}

static bool coordinates(struct driver *d, int host)
{
    struct covey_host *hosts;
    bool found = false;
    int n = covey_hosts(d->vm, &hosts);
    check(n, "hosts");
    for (int i = 0; i < n; i++)
        found |= hosts[i].index == host && hosts[i].coordinator;
    covey_free(hosts);
    return found;
}

/* One that is not on this host: in every second trial the one that coordinates, if it may be. */
static struct witness *choose_victim(struct driver *d, int trial)
{
    struct witness *w;
    for (int i = 0; i < d->count && trial % 2 == 0; i++) {
        w = &d->witnesses[i];
        if (strcmp(w->name, covey_myhost(d->vm)) != 0 && coordinates(d, w->host))
            return w;
    }
    do
        w = &d->witnesses[any_below(d, (uint64_t)d->count)];
    while (strcmp(w->name, covey_myhost(d->vm)) == 0);
    return w;
}

static void kill_once(struct driver *d, int trial)
{
    char what[256];
    int64_t first_us;
    struct witness *w = choose_victim(d, trial);
    bool first = coordinates(d, w->host);
    long long late_before_us = atomic_load(&late_us);
    int64_t killed_us = now_us();
    kill(w->daemon, SIGKILL);
    int64_t last_us = hear_of_death(d, w, &first_us);
    int64_t busy_us = atomic_load(&late_us) - late_before_us;
    bool in_time = last_us != INT64_MAX && last_us - killed_us <= d->timeout_us + SECOND + busy_us;
    bool not_early = first_us - killed_us >= d->timeout_us;
    int64_t took_us = last_us == INT64_MAX ? INT64_MAX : last_us - killed_us;
    d->worst_us = took_us > d->worst_us ? took_us : d->worst_us;
    snprintf(what, sizeof what,
             "%s%s killed: told to all within %.3f s, to the first after %.3f s (late by %.3f s)",
             w->name, first ? ", which coordinates," : "", (double)took_us / 1e6,
             (double)(first_us - killed_us) / 1e6, (double)busy_us / 1e6);
    report(d, in_time && not_early, what);
    come_back(d, w);
}

/* ---- stop ------------------------------------------------------------------------------------ */

static void signal_some(const struct driver *d, unsigned who, int number)
{
    for (int i = 0; i < d->count; i++) {
        if (who >> i & 1)
            kill(d->witnesses[i].daemon, number);
    }
}

static bool all_answer(struct driver *d)
{
    for (int i = 0; i < d->count; i++) {
        struct witness *w = &d->witnesses[i];
        const pid_t before = w->daemon;
        send_two(d->vm, w->tid, TAG_ASK, 0, 0);
        hear_hello(d, w);
        if (w->daemon != before)
            return false;
    }
    return covey_probe(d->vm, COVEY_ANY_TASK, TAG_GONE, COVEY_POLL, NULL) == COVEY_ETIMEOUT;
}

/* Nobody can hold a process still for a given time on a busy machine: it is measured. */
static void stop_once(struct driver *d, unsigned who)
{
    char what[128];
    int64_t from_us = now_us();
    signal_some(d, who, SIGSTOP);
    usleep((useconds_t)(d->timeout_us / 2));
    signal_some(d, who, SIGCONT);
    int64_t stood_us = now_us() - from_us;
    usleep((useconds_t)any_below(d, (uint64_t)d->timeout_us / 2));
    snprintf(what, sizeof what, "daemons %x stood still for %.3f s: nobody is gone", who,
             (double)stood_us / 1e6);
    if (stood_us < d->timeout_us * 9 / 10)
        report(d, all_answer(d), what);
}

/* One after the other, the first of which coordinates, then several at once. */
static unsigned whom_to_stop(struct driver *d, int trial)
{
    unsigned all = (1u << d->count) - 1;
    if (trial % 2 == 0)
        return 1u << trial / 2 % d->count;
    return 1 + (unsigned)any_below(d, all);
}

/* ---- hogs ------------------------------------------------------------------------------------ */

static void hogs_start(struct driver *d, int count)
{
    for (int i = 0; i < count && d->hog_count < HOGS_MAX; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (volatile unsigned n = 0;; n++)
                ;
        }
        if (pid > 0)
            d->hogs[d->hog_count++] = pid;
    }
}

static void hogs_end(struct driver *d)
{
    for (int i = 0; i < d->hog_count; i++)
        kill(d->hogs[i], SIGKILL);
}

struct wish {
    int kills, stops, hogs;
    double timeout_s;
    bool watch;
};

static int drive(covey_t *vm, const struct wish *wish, const char *program)
{
    struct driver d = {.vm = vm,
                       .program = program,
                       .timeout_us = (int64_t)(wish->timeout_s * 1e6),
                       .random = (uint64_t)getpid()};
    witnesses_start(&d);
    hogs_start(&d, wish->hogs);
    meter_start();
    for (int i = 0; i < wish->kills; i++)
        kill_once(&d, i);
    for (int i = 0; i < wish->stops; i++)
        stop_once(&d, whom_to_stop(&d, i));
    hogs_end(&d);
    if (wish->kills > 0)
        printf("# the slowest of %d took %.3f s, fail timeout %.3f s\n", wish->kills,
               (double)d.worst_us / 1e6, wish->timeout_s);
    printf("%d passed, %d failed, 0 skipped\n", d.passed, d.failed);
    return d.failed > 0 || d.passed == 0;
}

static bool wish_parse(struct wish *wish, int argc, char **argv)
{
    static const struct option options[] = {
        {"kill", required_argument, NULL, 'k'},    {"stop", required_argument, NULL, 's'},
        {"timeout", required_argument, NULL, 't'}, {"hogs", required_argument, NULL, 'h'},
        {"watch", no_argument, NULL, 'w'},         {NULL, 0, NULL, 0}};
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (o == 'k')
            wish->kills = atoi(optarg);
        else if (o == 's')
            wish->stops = atoi(optarg);
        else if (o == 't')
            wish->timeout_s = strtod(optarg, NULL);
        else if (o == 'h')
            wish->hogs = atoi(optarg);
        else if (o == 'w')
            wish->watch = true;
        else
            return false;
    }
    return wish->watch || wish->timeout_s > 0;
}

int main(int argc, char **argv)
{
    struct wish wish = {.kills = 0};
    char program[PATH_MAX];
    covey_t *vm;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0 || !wish_parse(&wish, argc, argv))
        return 2;
    program[length] = '\0';
    check(covey_join(&vm, NULL), "join");
    if (wish.watch)
        witness_main(vm);
    int status = drive(vm, &wish, program);
    covey_leave(&vm);
    return status;
}
