/* links: tests/chaos/census.c tests/chaos/overseer.c tests/chaos/worker.c libcovey */
/*
 * chaos.c - kills at random instants, by a seed.
 *
 *   chaos tasks SEED KILLS              kills workers of a VM of hosts h0, h1
 *   chaos daemons SEED ROUNDS HOSTS     kills daemons of h0 .. hN-1 with their tasks; its own
 *                                       daemon, that of the last host, lives
 *   chaos --worker SEED, --child        what it starts
 *
 * $COVEY_SOCKET says which daemon it calls. Prints what it did and what every daemon holds before
 * and after; the exit status is 0 when nothing was wrong. Waits are for events, never for a time,
 * but for the random pauses that make the instants random.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/chaos/census.h"
#include "tests/chaos/overseer.h"
#include "tests/chaos/worker.h"

#define CREW 6
#define PING_EVERY 20
#define GROWTH_KIB 16384 /* what a daemon's allocator may keep after the busiest moment */
#define SETTLE_TRIES 100
#define ADD_TRIES 100

static void nap(struct overseer *o, uint32_t most_us)
{
    overseer_attend(o, 1 + dice_below(&o->dice, most_us));
}

/* ---- what is held before and after ---- */

struct account {
    char host[16];
    pid_t pid;
    struct census census;
};

static bool account_take(struct account *a, const char *host)
{
    snprintf(a->host, sizeof a->host, "%s", host);
    a->pid = census_daemon(host);
    return census_take(a->pid, &a->census);
}

/* Descriptors and children as at the very start, memory as after some use. */
static void account_refresh(struct account *a)
{
    struct census now;
    if (census_take(a->pid, &now))
        a->census.rss_kib = now.rss_kib;
}

static bool has_settled(const struct account *before, const struct account *now)
{
    return now->census.descriptors <= before->census.descriptors &&
           now->census.children <= before->census.children &&
           (!CENSUS_MEMORY || now->census.rss_kib <= before->census.rss_kib + GROWTH_KIB);
}

/* The daemon holds no more than before; it may take a moment to end the last connections. */
static void account_compare(struct overseer *o, const struct account *before)
{
    struct account now = {0};
    char was[160], is[160];
    bool settled = false;
    for (int i = 0; i < SETTLE_TRIES && !settled; i++) {
        settled = account_take(&now, before->host) && has_settled(before, &now);
        if (!settled)
            overseer_attend(o, 50000);
    }
    census_print(&before->census, was);
    census_print(&now.census, is);
    printf("%s: %s; after: %s\n", before->host, was, is);
    if (!settled)
        overseer_fail(o, "%s holds more than before", before->host);
}

/* ---- tasks ---- */

static struct mate *victim(struct overseer *o)
{
    return &o->crew[dice_below(&o->dice, (uint32_t)o->count)];
}

static void replace(struct overseer *o, int wanted)
{
    if (o->count < wanted && overseer_hire(o, NULL, wanted - o->count) < wanted - o->count)
        overseer_fail(o, "workers cannot be started: %s", covey_error_text());
}

/* One or two at once; now and then one that has just been started and does not know its name. */
static void strike(struct overseer *o)
{
    nap(o, 25000);
    for (int n = dice_chance(&o->dice, 30) ? 2 : 1; n > 0; n--) {
        struct mate *mate = victim(o);
        if (overseer_lives(mate))
            overseer_kill(o, mate);
    }
    if (dice_chance(&o->dice, 50))
        overseer_await_ends(o);
    replace(o, CREW);
    if (dice_chance(&o->dice, 40) && overseer_lives(&o->crew[o->count - 1])) {
        usleep(dice_below(&o->dice, 3000));
        overseer_kill(o, &o->crew[o->count - 1]);
    }
    overseer_introduce(o);
    overseer_bury(o);
}

static void strike_until(struct overseer *o, int64_t kills)
{
    for (int i = 0; o->kills < kills && o->failures == 0; i++) {
        strike(o);
        if (i % PING_EVERY == 0)
            overseer_ping(o);
    }
    overseer_ping(o);
    overseer_dismiss(o);
}

static void tasks_story(struct overseer *o, int64_t kills)
{
    struct account before[2], self = {.host = "self"};
    account_take(&before[0], "h0");
    account_take(&before[1], "h1");
    replace(o, CREW);
    overseer_introduce(o);
    strike_until(o, kills / 10 + 10); /* buffers and tables have their size then */
    account_refresh(&before[0]);
    account_refresh(&before[1]);
    census_take(getpid(), &self.census);
    replace(o, CREW);
    overseer_introduce(o);
    strike_until(o, o->kills + kills);
    account_compare(o, &before[0]);
    account_compare(o, &before[1]);
    struct census now;
    census_take(getpid(), &now);
    if (now.descriptors > self.census.descriptors || now.rings > self.census.rings)
        overseer_fail(o, "%d descriptors, %d rings of our own are left", now.descriptors,
                      now.rings);
}

/* ---- daemons ---- */

struct pool {
    int count; /* hosts h0 .. */
    int own;   /* is never killed */
};

static void host_name(int i, char name[16])
{
    snprintf(name, 16, "h%d", i);
}

/* The index of a living host, 0: there is none of that name. */
static int host_index(struct overseer *o, const char *name)
{
    struct covey_host *hosts = NULL;
    int index = 0;
    int count = covey_hosts(o->vm, &hosts);
    for (int i = 0; i < count; i++)
        if (hosts[i].state != COVEY_HOST_DOWN && strcmp(hosts[i].name, name) == 0)
            index = hosts[i].index;
    covey_free(hosts);
    return index;
}

/* A process that enrols by itself with that host's daemon and waits for what never comes: it must
 * be told that the daemon ended. */
static int resident_main(const char *host)
{
    char path[256];
    covey_t *vm;
    covey_msg_t *msg;
    snprintf(path, sizeof path, "%s/covey/%s/%s.sock", getenv("XDG_RUNTIME_DIR"),
             getenv("COVEY_VM"), host);
    struct covey_options options = {.socket = path};
    int error = covey_join(&vm, &options);
    if (error == 0)
        error = covey_recv(vm, COVEY_ANY_TASK, COVEY_ANY_TAG, COVEY_FOREVER, &msg);
    _exit(error == COVEY_EDAEMON ? 0 : 1);
}

/* A program anew: what is forked from a process of several threads may not do that much. */
static pid_t resident_start(const char *host)
{
    pid_t pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", "chaos", "--resident", host, (char *)NULL);
        _exit(1);
    }
    return pid;
}

static void resident_check(struct overseer *o, pid_t pid, const char *host)
{
    int status = -1;
    for (int i = 0; i < SETTLE_TRIES; i++) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            break;
        overseer_attend(o, 100000);
        status = -1;
    }
    if (status == 0)
        return;
    overseer_fail(o, "a process enrolled on %s was not told that its daemon ended", host);
    kill(pid, SIGKILL);
}

/* Kills it after a random pause, while the overseer does something else. */
static pid_t assassin_start(struct overseer *o, pid_t pid, uint32_t most_us)
{
    uint32_t pause_us = dice_below(&o->dice, most_us);
    pid_t assassin = fork();
    if (assassin != 0)
        return assassin;
    usleep(pause_us);
    _exit(kill(pid, SIGKILL) == 0 ? 0 : 1);
}

static void expect_ends_on(struct overseer *o, int index)
{
    for (int i = 0; i < o->count; i++)
        if (covey_tid_host(o->crew[i].tid) == index)
            overseer_give_up(&o->crew[i]);
}

static void await_loss(struct overseer *o, int index, const char *host)
{
    int64_t begin_us = overseer_now_us();
    while (o->host_gone[index] == 0 && overseer_now_us() - begin_us < 60000000)
        overseer_attend(o, 20000);
    int64_t took_us = overseer_now_us() - begin_us;
    if (o->host_gone[index] == 0)
        overseer_fail(o, "the loss of %s (%d) is not reported", host, index);
    else if (took_us > o->slowest_us)
        o->slowest_us = took_us;
}

/* Tasks of a daemon that was killed end with it. */
static void expect_dead(struct overseer *o, const pid_t *pids, int count)
{
    for (int i = 0; i < count; i++) {
        for (int tries = 0; tries < SETTLE_TRIES && census_alive(pids[i]); tries++)
            overseer_attend(o, 50000);
        if (census_alive(pids[i]))
            overseer_fail(o, "pid %d outlives its daemon", (int)pids[i]);
    }
}

static int pids_on(const struct overseer *o, int index, pid_t *pids)
{
    int count = 0;
    for (int i = 0; i < o->count; i++)
        if (covey_tid_host(o->crew[i].tid) == index)
            pids[count++] = o->crew[i].pid;
    return count;
}

static void restore(struct overseer *o, const char *host)
{
    struct covey_host_spec spec = {.name = host, .launcher = COVEY_LAUNCH_LOCAL};
    struct covey_host_result result = {.error = -1};
    int joined = 0;
    for (int i = 0; i < ADD_TRIES && joined != 1; i++) {
        joined = covey_add_hosts(o->vm, &spec, 1, &result);
        if (joined != 1)
            overseer_attend(o, 100000);
    }
    if (joined != 1)
        overseer_fail(o, "%s cannot be added again: %s", host,
                      joined < 0 ? covey_error_text() : result.text);
    else if (overseer_hire(o, (const char *const[]){host, NULL}, 2) != 2)
        overseer_fail(o, "no worker on %s: %s", host, covey_error_text());
}

/* What the overseer does while a daemon is about to die: it talks, starts tasks there, or adds a
 * host, which a dying coordinator cannot finish. */
static void meanwhile(struct overseer *o, const char *host)
{
    struct covey_host_spec spec = {.name = "extra", .launcher = COVEY_LAUNCH_LOCAL};
    struct covey_host_result result;
    uint32_t kind = dice_below(&o->dice, 3);
    if (kind == 0)
        overseer_hire(o, (const char *const[]){host, NULL}, 4); /* some, all or none of them */
    else if (kind == 1 && covey_add_hosts(o->vm, &spec, 1, &result) == 1)
        covey_remove_hosts(o->vm, &spec.name, 1, &result);
    overseer_attend(o, 1000);
}

static void strike_host(struct overseer *o, const struct pool *pool)
{
    char host[16];
    pid_t pids[CREW_MAX];
    int i = (int)dice_below(&o->dice, (uint32_t)pool->count - 1);
    host_name(i < pool->own ? i : i + 1, host);
    int index = host_index(o, host);
    pid_t daemon = census_daemon(host), resident = resident_start(host);
    if (index == 0 || daemon <= 0) {
        overseer_fail(o, "%s is not there", host);
        return;
    }
    o->dying = index;
    pid_t assassin = assassin_start(o, daemon, 20000);
    meanwhile(o, host);
    waitpid(assassin, NULL, 0);
    o->kills++;
    expect_ends_on(o, index);
    int count = pids_on(o, index, pids);
    await_loss(o, index, host);
    overseer_await_ends(o);
    expect_dead(o, pids, count);
    resident_check(o, resident, host);
    restore(o, host);
    overseer_introduce(o);
    overseer_ping(o);
}

static void daemons_story(struct overseer *o, int64_t rounds, int hosts)
{
    const struct pool pool = {.count = hosts, .own = hosts - 1};
    struct account before = {0};
    char own[16];
    host_name(pool.own, own);
    account_take(&before, own);
    for (int i = 0; i < hosts; i++) {
        char host[16];
        host_name(i, host);
        overseer_hire(o, (const char *const[]){host, NULL}, 2);
    }
    overseer_introduce(o);
    for (int64_t round = 0; round < rounds && o->failures == 0; round++) {
        if (round == rounds / 5 + 1)
            account_refresh(&before);
        strike_host(o, &pool);
    }
    overseer_dismiss(o);
    account_compare(o, &before);
}

/* ---- main ---- */

static int child_main(void)
{
    covey_t *vm;
    if (covey_join(&vm, NULL) != 0)
        return 0; /* whoever started it may be dead */
    covey_leave(&vm);
    return 0;
}

static int worker_begin(const char *program, const char *seed)
{
    covey_t *vm;
    if (covey_join(&vm, NULL) != 0) {
        fprintf(stderr, WORKER_BAD "cannot join: %s\n", covey_error_text());
        return 1;
    }
    return worker_main(vm, program, strtoul(seed, NULL, 10) + (uint32_t)covey_mytid(vm));
}

static int oversee(const char *program, char **argv, int argc)
{
    static struct overseer o;
    uint64_t seed = strtoul(argv[2], NULL, 10);
    int64_t number = strtoll(argv[3], NULL, 10);
    if (overseer_begin(&o, program, seed) != 0)
        return 1;
    if (strcmp(argv[1], "tasks") == 0)
        tasks_story(&o, number);
    else
        daemons_story(&o, number, argc > 4 ? atoi(argv[4]) : 4);
    printf("seed %llu: %lld kills, %lld spawns, %lld messages checked, slowest notice %lld ms, "
           "%d failures\n",
           (unsigned long long)seed, (long long)o.kills, (long long)o.spawns, (long long)o.checked,
           (long long)o.slowest_us / 1000, o.failures);
    covey_leave(&o.vm);
    return o.failures == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    char program[512] = "";
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0)
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1 && strcmp(argv[1], "--child") == 0)
        return child_main();
    if (argc > 2 && strcmp(argv[1], "--worker") == 0)
        return worker_begin(program, argv[2]);
    if (argc > 2 && strcmp(argv[1], "--resident") == 0)
        return resident_main(argv[2]);
    if (argc < 4) {
        fprintf(stderr, "usage: chaos tasks SEED KILLS | daemons SEED ROUNDS HOSTS\n");
        return 2;
    }
    return oversee(program, argv, argc);
}
