/* links: libcovey */
/*
 * alltoall.c - an all-to-all by a schedule gives what any all-to-all gives.
 *
 * `alltoall check MEMBERS SEED` spawns the others, on all hosts in turn; the program's own topology
 * is a random tree of the VM's hosts, made from the seed. `alltoall die MEMBERS SEED`: one member
 * ends in the middle; the others get an error, and soon. `alltoall owe 3 0`: one ends that owes
 * another a hand-over and nothing else; `alltoall cut 3 0`: one goes with its stream. `alltoall
 * plain MEMBERS 0`: as the library chooses, on one host by boxes where tasks outnumber processors.
 * `alltoall vm MEMBERS SEED`: the team takes the VM's topology, and says what it has.
 *
 * Prints a line a test, "ok ..." or "not ok ...", from the first member.
 */
#include <arpa/inet.h>
#include <covey.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TAG_TEAM = 1, TAG_GO = 2, MEMBERS_MAX = 64, HOSTS_MAX = 32 };
enum { KIND_SYNC = 9 }; /* frame.h */
enum { TIMEOUT_US = 250000000 };

struct member {
    covey_t *vm;
    covey_team_t *team;
    int rank, size;
    covey_tid_t tids[MEMBERS_MAX];
    bool failed;
};

static void say(const struct member *m, bool good, const char *what)
{
    if (m->rank == 0 || !good)
        printf("%s %s%s%s\n", good ? "ok" : "not ok", what, good ? "" : ": ",
               good ? "" : covey_error_text());
    fflush(stdout);
}

/* Whether all members say so. */
static bool all_good(struct member *m, bool good)
{
    int32_t own = good, least = 0;
    int error = covey_allreduce(m->team, COVEY_OP_MIN, COVEY_INT32, &own, &least, 1);
    m->failed = m->failed || error < 0 || least == 0;
    return error >= 0 && least == 1;
}

/* ---- topologies -------------------------------------------------------------------------- */

static uint32_t below(uint64_t *random, uint32_t limit)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*random >> 33) % limit;
}

static const char *random_rate(uint64_t *random, bool equal)
{
    static const char *const rates[] = {"1G", "2.5G", "10G"};
    return rates[equal ? 0 : below(random, 3)];
}

/* Each switch hangs on an earlier one, each host on any. */
static covey_topology_t *random_tree(covey_t *vm, uint64_t seed)
{
    char text[8192];
    struct covey_host *hosts = NULL;
    covey_topology_t *topology = NULL;
    uint64_t random = seed * 2654435761u + 1;
    int count = covey_hosts(vm, &hosts), switches = 1 + (int)below(&random, 5), at = 0;
    for (int i = 0; i < switches; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "switch s%d\n", i);
    for (int i = 1; i < switches; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "link s%d s%u %s\n", i,
                       below(&random, (uint32_t)i), random_rate(&random, seed % 2));
    for (int i = 0; i < count; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "host %s s%u %s\n", hosts[i].name,
                       below(&random, (uint32_t)switches), random_rate(&random, seed % 2));
    covey_free(hosts);
    if (covey_topology_parse(text, (size_t)at, "random", &topology) < 0)
        return NULL;
    return topology;
}

/* ---- exchanges --------------------------------------------------------------------------- */

static int32_t element(int from, int to, size_t i)
{
    return from * 1000003 + to * 10007 + (int32_t)i;
}

static bool block_is(const int32_t *block, int from, int to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (block[i] != element(from, to, i))
            return false;
    }
    return true;
}

static bool check_equal(struct member *m, size_t count)
{
    size_t all = (size_t)m->size * count;
    int32_t *send = calloc(all + 1, sizeof *send), *recv = calloc(all + 1, sizeof *recv);
    for (int to = 0; to < m->size; to++)
        for (size_t i = 0; i < count; i++)
            send[(size_t)to * count + i] = element(m->rank, to, i);
    bool good = covey_alltoall(m->team, COVEY_INT32, send, recv, count) == 0;
    for (int from = 0; from < m->size && good; from++)
        good = block_is(recv + (size_t)from * count, from, m->rank, count);
    free(send);
    free(recv);
    return good;
}

/* Block from i to j: (7 i + 3 j) mod 11 times some; so some are empty. Or all nearly alike. */
static size_t uneven(int from, int to, size_t scale, bool alike)
{
    size_t kind = (size_t)((7 * from + 3 * to) % 11);
    return alike ? 5 * scale + kind * scale / 20 : kind * scale;
}

static int alltoallv(struct member *m, const int32_t *send, const size_t *sends, int32_t *recv,
                     const size_t *recvs, bool blocking)
{
    covey_req_t *req = NULL;
    size_t out[MEMBERS_MAX], in[MEMBERS_MAX]; /* the program's again when the call returns */
    if (blocking)
        return covey_alltoallv(m->team, COVEY_INT32, send, sends, NULL, recv, recvs, NULL);
    memcpy(out, sends, (size_t)m->size * sizeof *out);
    memcpy(in, recvs, (size_t)m->size * sizeof *in);
    int error = covey_ialltoallv(m->team, COVEY_INT32, send, out, NULL, recv, in, NULL, &req);
    memset(out, 0, sizeof out);
    memset(in, 0, sizeof in);
    if (error == 0)
        error = covey_wait(req, TIMEOUT_US);
    covey_req_free(&req);
    return error;
}

static bool check_uneven(struct member *m, size_t scale, bool alike, bool blocking)
{
    size_t sends[MEMBERS_MAX], recvs[MEMBERS_MAX], out = 0, in = 0;
    for (int i = 0; i < m->size; i++) {
        out += sends[i] = uneven(m->rank, i, scale, alike);
        in += recvs[i] = uneven(i, m->rank, scale, alike);
    }
    int32_t *send = calloc(out + 1, sizeof *send), *recv = calloc(in + 1, sizeof *recv);
    out = in = 0;
    for (int to = 0; to < m->size; to++)
        for (size_t i = 0; i < sends[to]; i++)
            send[out++] = element(m->rank, to, i);
    bool good = alltoallv(m, send, sends, recv, recvs, blocking) == 0;
    for (int from = 0; from < m->size && good; in += recvs[from++])
        good = block_is(recv + in, from, m->rank, recvs[from]);
    free(send);
    free(recv);
    return good;
}

/* Members that tell each other all counts: small and large blocks, nearly alike and not, by calls
 * of both kinds in any order; some of them go without telling. */
static void adapt(struct member *m)
{
    static const size_t scales[] = {2000, 1, 1, 1, 2000, 1, 2000, 2000, 1, 4000, 1, 1, 2000, 2000};
    bool good = covey_team_force(m->team, "alltoallv", "adaptive") >= 0;
    for (size_t i = 0; i < 3 * sizeof scales / sizeof scales[0] && good; i++)
        good =
            check_uneven(m, scales[i % (sizeof scales / sizeof scales[0])], i % 3 == 0, i % 5 > 1);
    good = all_good(m, good);
    say(m, good, "calls that adapt to what the members tell");
    covey_team_force(m->team, "alltoallv", "scheduled");
}

/* Blocks of all sizes without a schedule, of which between hosts some are asked for; members have
 * several at a time or one, as their own blocks are. */
static void without_schedule(struct member *m)
{
    static const size_t scales[] = {100, 1000, 2000, 4000};
    bool good = covey_team_force(m->team, "alltoallv", "linear") >= 0;
    for (size_t i = 0; i < 4 * sizeof scales / sizeof scales[0] && good; i++)
        good = check_uneven(m, scales[i / 4], i % 2 == 0, i % 4 > 1);
    good = all_good(m, good);
    say(m, good, "blocks without a schedule");
    covey_team_force(m->team, "alltoallv", "scheduled");
}

static void check(struct member *m, uint64_t seed)
{
    static const size_t counts[] = {0, 1, 3, 1000, 16384, 100000};
    char what[100];
    covey_topology_t *tree = random_tree(m->vm, seed);
    bool good = tree != NULL && covey_team_set_topology(m->team, tree) == 0 &&
                covey_team_force(m->team, "alltoall", "scheduled") == 0 &&
                covey_team_force(m->team, "alltoallv", "scheduled") == 0;
    covey_topology_free(&tree);
    good = all_good(m, good);
    say(m, good, "a team has a topology");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0] && !m->failed; i++) {
        good = check_equal(m, counts[i]);
        good = all_good(m, good);
        snprintf(what, sizeof what, "%zu elements to each", counts[i]);
        say(m, good, what);
    }
    for (size_t scale = 1; scale <= 10000 && !m->failed; scale *= 100) {
        good = check_uneven(m, scale, false, false);
        good = all_good(m, good);
        snprintf(what, sizeof what, "uneven blocks of up to %zu", 10 * scale);
        say(m, good, what);
    }
    adapt(m);
    without_schedule(m);
    for (int i = 0; i < 20 && good; i++) /* one right after the other */
        good = check_equal(m, (size_t)i * 37);
    good = all_good(m, good);
    say(m, good, "twenty, one right after the other");
}

/* Up to blocks of which all together are larger than a cache, at places of all kinds. */
static void plain(struct member *m)
{
    static const size_t counts[] = {0, 1, 5000, 70001, 300000, 1000003};
    char what[100];
    for (size_t i = 0; i < sizeof counts / sizeof counts[0] && !m->failed; i++) {
        bool good = all_good(m, check_equal(m, counts[i]));
        snprintf(what, sizeof what, "%zu elements to each, as chosen", counts[i]);
        say(m, good, what);
    }
}

static void fill_with_ones(int32_t *array, size_t count)
{
    for (size_t i = 0; i < count; i++)
        array[i] = 1;
}

/* The last one knows it: were it to end before, who still waits for its team would not get one. */
static void all_have_the_team(const struct member *m)
{
    int32_t go = 0;
    if (m->rank != m->size - 1)
        covey_send_array(m->vm, m->tids[m->size - 1], TAG_GO, COVEY_INT32, &go, 1);
    for (int i = 0; i < m->size - 1 && m->rank == m->size - 1; i++)
        covey_recv_array(m->vm, m->tids[i], TAG_GO, TIMEOUT_US, COVEY_INT32, &go, 1, NULL, NULL);
}

/* The last member begins and ends. The first one takes part when it has heard of that: so nobody
 * can be through before. */
static void die(struct member *m, uint64_t seed)
{
    size_t count = 1 << 20;
    int32_t *send = calloc((size_t)m->size * count, sizeof *send);
    int32_t *recv = calloc((size_t)m->size * count, sizeof *recv);
    covey_topology_t *tree = random_tree(m->vm, seed);
    covey_req_t *req = NULL;
    all_have_the_team(m);
    covey_team_set_timeout(m->team, TIMEOUT_US);
    if (covey_team_set_topology(m->team, tree) < 0 ||
        covey_team_force(m->team, "alltoall", "scheduled") < 0)
        say(m, false, "a team has a topology");
    covey_topology_free(&tree);
    if (m->rank == m->size - 1) {
        covey_ialltoall(m->team, COVEY_INT32, send, recv, count, &req);
        covey_test(req);
        _exit(0);
    }
    if (m->rank == 0)
        say(m, covey_probe(m->vm, m->tids[m->size - 1], TAG_GO, TIMEOUT_US, NULL) == COVEY_ENOTASK,
            "a member ends");
    int error = covey_alltoall(m->team, COVEY_INT32, send, recv, count);
    say(m, error == COVEY_ENOTASK || error == COVEY_ECANCELED,
        "a member that ends in the middle is an error for the others");
    error = covey_barrier(m->team);
    say(m, error < 0, "and the team is broken");
    free(send);
    free(recv);
}

/* The hosts of the members, each on a link of its own switch's; they are different ones. */
static covey_topology_t *one_switch(const struct member *m)
{
    char text[1024] = "switch s\n";
    struct covey_host *hosts = NULL;
    covey_topology_t *topology = NULL;
    int count = covey_hosts(m->vm, &hosts);
    for (int i = 0; i < m->size; i++)
        for (int k = 0; k < count; k++)
            if (hosts[k].index == covey_tid_host(m->tids[i]))
                snprintf(text + strlen(text), sizeof text - strlen(text), "host %s s\n",
                         hosts[k].name);
    covey_free(hosts);
    return covey_topology_parse(text, strlen(text), "one switch", &topology) < 0 ? NULL : topology;
}

/* Until the other one's elements are there; they are not zero. */
static bool has_come(const struct member *m, covey_req_t *req, const volatile int32_t *block)
{
    for (int i = 0; i < 2000 && *block == 0; i++) {
        if (covey_test(req) < 0)
            return false;
        covey_probe(m->vm, COVEY_ANY_TASK, TAG_GO, 5000, NULL);
    }
    return *block != 0;
}

static void schedule_on_one_switch(struct member *m)
{
    covey_topology_t *topology = one_switch(m);
    covey_team_set_timeout(m->team, TIMEOUT_US);
    if (covey_team_set_topology(m->team, topology) < 0 ||
        covey_team_force(m->team, "alltoall", "scheduled") < 0)
        say(m, false, "a team has a topology");
    covey_topology_free(&topology);
}

/* Of three on one switch: in the second phase 0 -> 2, when 2 has handed over, which it does when
 * 1 -> 2 has come. But 1 does not take part yet, and 2 ends when 2 -> 0 has come: all that it still
 * owes 0 is the hand-over. */
static void owe(struct member *m)
{
    int32_t send[3 * 2048], recv[3 * 2048] = {0}, go = 0;
    covey_req_t *req = NULL;
    fill_with_ones(send, sizeof send / sizeof *send);
    schedule_on_one_switch(m);
    if (m->rank != 1)
        covey_ialltoall(m->team, COVEY_INT32, send, recv, 2048, &req);
    if (m->rank == 1) /* its team is there */
        covey_send_array(m->vm, m->tids[0], TAG_GO, COVEY_INT32, &go, 1);
    if (m->rank != 0)
        covey_recv_array(m->vm, m->tids[0], TAG_GO, TIMEOUT_US, COVEY_INT32, &go, 1, NULL, NULL);
    if (m->rank == 2)
        _exit(0);
    if (m->rank == 1)
        return;
    covey_recv_array(m->vm, m->tids[1], TAG_GO, TIMEOUT_US, COVEY_INT32, &go, 1, NULL, NULL);
    say(m, has_come(m, req, &recv[2 * 2048]), "all but the hand-over of one is there");
    covey_send_array(m->vm, m->tids[2], TAG_GO, COVEY_INT32, &go, 1);
    int error = covey_wait(req, 10000000);
    say(m, error == COVEY_ENOTASK, "who ends owing a hand-over is an error for who waits for it");
    covey_send_array(m->vm, m->tids[1], TAG_GO, COVEY_INT32, &go, 1);
    covey_req_free(&req);
}

/* The stream takes the first hand-over for that task and breaks before it has left. */
static uint32_t cut_before;

static bool is_cut(int fd, const void *bytes, size_t size)
{
    const struct sockaddr none = {.sa_family = AF_UNSPEC};
    struct sockaddr_storage peer;
    socklen_t peer_size = sizeof peer;
    const uint8_t *head = bytes;
    uint32_t to = 0;
    if (cut_before == 0 || size < 16 || head[4] != KIND_SYNC)
        return false;
    memcpy(&to, head + 12, sizeof to);
    if (ntohl(to) != cut_before || getpeername(fd, (struct sockaddr *)&peer, &peer_size) != 0 ||
        peer.ss_family == AF_UNIX)
        return false;
    cut_before = 0;
    (void)connect(fd, &none, sizeof none);
    return true;
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
    if (msg->msg_iovlen > 0 && is_cut(fd, msg->msg_iov->iov_base, msg->msg_iov->iov_len))
        return (ssize_t)msg->msg_iov->iov_len;
    return syscall(SYS_sendmsg, fd, msg, flags);
}

ssize_t send(int fd, const void *bytes, size_t size, int flags)
{
    if (is_cut(fd, bytes, size))
        return (ssize_t)size;
    return syscall(SYS_sendto, fd, bytes, size, flags, NULL, 0);
}

/* 2 hands over to 0, and that is lost. */
static void cut(struct member *m)
{
    int32_t send[3 * 2048] = {0}, recv[3 * 2048];
    schedule_on_one_switch(m);
    say(m, covey_alltoall(m->team, COVEY_INT32, send, recv, 2048) == 0, "the streams are there");
    if (m->rank == 2)
        cut_before = (uint32_t)m->tids[0];
    int error = covey_alltoall(m->team, COVEY_INT32, send, recv, 2048);
    say(m, m->rank != 0 || error == COVEY_EROUTE, /* the others may be through */
        "a hand-over that is lost with its stream is an error");
    say(m, m->rank != 2 || cut_before == 0, "it was lost");
}

static void vm_topology(struct member *m)
{
    double made_s = -1;
    const covey_schedule_t *schedule = covey_team_schedule(m->team, &made_s);
    struct covey_schedule_info info = {0};
    if (schedule == NULL) {
        if (m->rank == 0)
            printf("unscheduled: %s\n", covey_error_text());
        return;
    }
    covey_schedule_info(schedule, &info);
    if (m->rank == 0)
        printf("scheduled: %u phases, %s %s\n", info.phases,
               covey_team_algorithm(m->team, "alltoall", 1 << 20),
               covey_team_algorithm(m->team, "alltoall", 1));
    fflush(stdout);
    say(m, all_good(m, check_equal(m, 20000) && made_s >= 0), "it is carried out");
}

/* ---- a member ---------------------------------------------------------------------------- */

/* Whoever owes must be on a host of its own: the first ones of a local virtual machine. */
static bool spawn_others(struct member *m, char **argv)
{
    bool apart = strcmp(argv[1], "owe") == 0 || strcmp(argv[1], "cut") == 0;
    struct covey_spawn what = {
        .argv = (const char *[]){argv[0], argv[1], argv[2], argv[3], "member", NULL},
        .hosts = apart ? (const char *[]){"h1", "h2", NULL} : NULL,
        .where = apart ? COVEY_WHERE_HOSTS : COVEY_WHERE_ANY};
    m->tids[0] = covey_mytid(m->vm);
    if (m->size > 1 && covey_spawn(m->vm, &what, m->size - 1, m->tids + 1) != m->size - 1)
        return false;
    for (int i = 1; i < m->size; i++) {
        if (covey_send_array(m->vm, m->tids[i], TAG_TEAM, COVEY_INT32, m->tids, (size_t)m->size) <
            0)
            return false;
    }
    return true;
}

/* argv: program, what, members, seed, and "member" of one that was spawned */
static bool assemble(struct member *m, char **argv)
{
    covey_tid_t parent = covey_parent(m->vm);
    bool first = argv[4] == NULL;
    if (first && !spawn_others(m, argv))
        return false;
    if (!first && covey_recv_array(m->vm, parent, TAG_TEAM, TIMEOUT_US, COVEY_INT32, m->tids,
                                   MEMBERS_MAX, NULL, NULL) < 0)
        return false;
    if (covey_team_create(m->vm, m->tids, m->size, TIMEOUT_US, &m->team) < 0)
        return false;
    m->rank = covey_team_rank(m->team);
    return true;
}

int main(int argc, char **argv)
{
    struct member m = {.size = argc > 3 ? atoi(argv[2]) : 0};
    if (argc < 4 || m.size < 1 || m.size > MEMBERS_MAX || covey_join(&m.vm, NULL) < 0 ||
        !assemble(&m, argv)) {
        printf("not ok it begins: %s\n", covey_error_text());
        return 1;
    }
    if (strcmp(argv[1], "die") == 0)
        die(&m, strtoull(argv[3], NULL, 10));
    else if (strcmp(argv[1], "owe") == 0)
        owe(&m);
    else if (strcmp(argv[1], "cut") == 0)
        cut(&m);
    else if (strcmp(argv[1], "vm") == 0)
        vm_topology(&m);
    else if (strcmp(argv[1], "plain") == 0)
        plain(&m);
    else
        check(&m, strtoull(argv[3], NULL, 10));
    covey_team_free(&m.team);
    covey_leave(&m.vm);
    return m.failed;
}
