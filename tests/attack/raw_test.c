/* links: daemon/link/raw_request.c daemon/base/failure.c proto/wire/cursor.c proto/wire/ether.c */
/*
 * raw_test.c - covey-raw and callers who want more of it than a packet socket: nonsense in its
 * arguments and on its socket, a caller who does not read, who goes away, who sends descriptors
 * along; and what the sockets that it gives let through. It runs between two interfaces in a
 * network namespace of this program. Needs root.
 */
#include "daemon/link/raw_request.h"

#include <CUnit/CUnit.h>
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/wire/ether.h"
#include "tests/unit/runner.h"

enum { TYPE = 0x88b5, OTHER_TYPE = 0x88b6, CHANNEL = 0x40001, VM = 7, DATAGRAM_BYTES = 64 };

struct raw { /* a covey-raw that runs, and the caller's end */
    pid_t pid;
    int fd;
};

/* ---- starting it ---- */

static const char *program(void)
{
    static char path[4096];
    const char *build = getenv("BUILD");
    snprintf(path, sizeof path, "%s/covey-raw", build != NULL ? build : "build");
    return path;
}

/* With descriptor 0 as its standard input; what was open stays open there. */
static pid_t run(int in, char *const argv[])
{
    char *const env[] = {(char *)"HOME=/", NULL};
    pid_t pid = fork();
    if (pid == 0) {
        close(STDERR_FILENO);
        if (dup2(in, 0) == 0)
            execve(program(), argv, env);
        _exit(127);
    }
    CU_ASSERT_FATAL(pid > 0);
    return pid;
}

static struct raw start(const char *interface, const char *type)
{
    int ends[2];
    struct raw raw;
    char *argv[] = {(char *)program(), (char *)interface, (char *)type, NULL};
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    raw.pid = run(ends[1], argv);
    raw.fd = ends[0];
    close(ends[1]);
    return raw;
}

/* How it ended: its exit status. */
static int ended(pid_t pid)
{
    int status;
    CU_ASSERT_EQUAL_FATAL(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int stop(struct raw *raw)
{
    close(raw->fd);
    return ended(raw->pid);
}

static int ask(const struct raw *raw, uint32_t channel, uint32_t vm)
{
    struct failure why = {""};
    CU_ASSERT(raw_request_send(raw->fd, &(struct raw_request){channel, vm}));
    int fd = raw_reply_receive(raw->fd, &why);
    CU_ASSERT_STRING_EQUAL(why.text, "");
    return fd;
}

/* It refuses, in words with these in them, and ends. */
static void refuses(struct raw *raw, const char *words)
{
    struct failure why = {""};
    CU_ASSERT_EQUAL(raw_reply_receive(raw->fd, &why), RAW_REFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, words));
    CU_ASSERT_EQUAL(raw_reply_receive(raw->fd, &why), RAW_SILENT);
    CU_ASSERT_EQUAL(stop(raw), 1);
}

static int descriptors_of(pid_t pid)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(path);
    while (dir != NULL && readdir(dir) != NULL)
        count++;
    if (dir != NULL)
        closedir(dir);
    return count - 2; /* . and .. */
}

/* ---- nonsense ---- */

static void bad_arguments(void)
{
    static const struct {
        const char *interface, *type, *words;
    } BAD[] = {
        {"left", "0x0800", "EtherType 0x88b5 or 0x88b6 alone"},
        {"left", "0x0003", "EtherType"},
        {"left", "0x88b7", "EtherType"},
        {"left", "0x88B5", "EtherType"},
        {"left", "0x88b5 ", "EtherType"},
        {"left", "35061", "EtherType"},
        {"left", "", "EtherType"},
        {"none", "0x88b5", "there is no interface none"},
        {"a-name-that-is-longer-than-interfaces-have", "0x88b5", "there is no interface"},
        {"left%n%n%s", "0x88b5", "there is no interface left%n%n%s"},
        {"lo", "0x88b5", "interface lo is not"},
        {"idle", "0x88b6", "interface idle is not up"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        struct raw raw = start(BAD[i].interface, BAD[i].type);
        refuses(&raw, BAD[i].words);
    }
}

static void nobody_to_answer(void)
{
    char *right[] = {(char *)"covey-raw", (char *)"left", (char *)"0x88b5", NULL};
    char *few[] = {(char *)"covey-raw", (char *)"left", NULL};
    char *many[] = {(char *)"covey-raw", (char *)"left", (char *)"0x88b5", (char *)"x", NULL};
    char *none[] = {(char *)"covey-raw", (char *)"", (char *)"0x88b5", NULL};
    int ends[2], stream[2], ip = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream), 0);
    CU_ASSERT_EQUAL(ended(run(ip, right)), 2);
    CU_ASSERT_EQUAL(ended(run(stream[0], right)), 2);
    CU_ASSERT_EQUAL(ended(run(ends[0], few)), 2);
    CU_ASSERT_EQUAL(ended(run(ends[0], many)), 2);
    CU_ASSERT_EQUAL(ended(run(ends[0], none)), 2);
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        close(stream[i]);
    }
    close(ip);
}

static void bad_requests(void)
{
    static uint8_t bytes[70000] = {0, 0, 0, RAW_REQUEST_VERSION};
    static const size_t SIZES[] = {1, 4, 8, 11, 13, 24, 4096, sizeof bytes};
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
        struct raw raw = start("left", "0x88b5");
        CU_ASSERT_EQUAL(send(raw.fd, bytes, SIZES[i], 0), (ssize_t)SIZES[i]);
        refuses(&raw, "was not asked for a socket");
    }
    for (int version = 0; version < 256; version += 85) {
        struct raw raw = start("left", "0x88b5");
        uint8_t request[RAW_REQUEST_BYTES] = {0, 0, 0, (uint8_t)version};
        CU_ASSERT_EQUAL(send(raw.fd, request, sizeof request, 0), (ssize_t)sizeof request);
        refuses(&raw, "was not asked for a socket");
    }
    struct raw raw = start("left", "0x88b5");
    CU_ASSERT_EQUAL(send(raw.fd, "", 0, 0), 0);
    CU_ASSERT_EQUAL(ended(raw.pid), 0);
    close(raw.fd);
}

/* ---- callers who do not behave ---- */

static void it_keeps_nothing_of_its_caller(void)
{
    int pipe_ends[2];
    char byte;
    CU_ASSERT_EQUAL_FATAL(pipe(pipe_ends), 0); /* is inherited */
    struct raw raw = start("left", "0x88b5");
    uint8_t request[RAW_REQUEST_BYTES] = {0, 0, 0, RAW_REQUEST_VERSION};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } passing = {{0}};
    struct iovec part = {request, sizeof request};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = passing.bytes,
                             .msg_controllen = sizeof passing.bytes};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    struct failure why;
    *head = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(head), &pipe_ends[1], sizeof(int));
    CU_ASSERT_EQUAL(sendmsg(raw.fd, &message, 0), (ssize_t)sizeof request);
    int fd = raw_reply_receive(raw.fd, &why);
    CU_ASSERT(fd >= 0);
    CU_ASSERT_EQUAL(close(pipe_ends[1]), 0);
    CU_ASSERT_EQUAL(read(pipe_ends[0], &byte, 1), 0); /* nobody else has it */
    for (int i = 0; i < 500 && descriptors_of(raw.pid) != 3; i++)
        usleep(10000); /* it answers first, and closes its own then */
    CU_ASSERT_EQUAL(descriptors_of(raw.pid), 3);
    CU_ASSERT_EQUAL(stop(&raw), 0);
    close(pipe_ends[0]);
    close(fd);
}

static void it_has_one_capability_lowered(void)
{
    struct raw raw = start("left", "0x88b5");
    char path[64], line[256];
    int seen = 0;
    close(ask(&raw, 0, 0));
    snprintf(path, sizeof path, "/proc/%d/status", (int)raw.pid);
    FILE *status = fopen(path, "re");
    CU_ASSERT_PTR_NOT_NULL_FATAL(status);
    while (fgets(line, sizeof line, status) != NULL) {
        seen += strcmp(line, "CapPrm:\t0000000000002000\n") == 0;
        seen += strcmp(line, "CapEff:\t0000000000000000\n") == 0;
        seen += strcmp(line, "CapInh:\t0000000000000000\n") == 0;
        seen += strcmp(line, "CapAmb:\t0000000000000000\n") == 0;
        seen += strcmp(line, "NoNewPrivs:\t1\n") == 0;
    }
    fclose(status);
    CU_ASSERT_EQUAL(seen, 5);
    CU_ASSERT_EQUAL(stop(&raw), 0);
}

/* As many as there is room for; returns how many. */
static int ask_until_full(const struct raw *raw)
{
    uint8_t request[RAW_REQUEST_BYTES] = {0, 0, 0, RAW_REQUEST_VERSION};
    int count = 0, rest = 0;
    while (rest < 50) { /* it answers meanwhile, until there is no room for answers either */
        if (send(raw->fd, request, sizeof request, MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
            count++;
            continue;
        }
        rest++;
        usleep(10000);
    }
    return count;
}

static void one_who_asks_and_does_not_read(void)
{
    struct raw raw = start("left", "0x88b5");
    int asked = ask_until_full(&raw), got = 0;
    CU_ASSERT(asked > 10);
    CU_ASSERT(descriptors_of(raw.pid) <= 4);
    for (int i = 0; i < asked; i++) {
        struct failure why;
        int fd = raw_reply_receive(raw.fd, &why);
        got += fd >= 0;
        if (fd >= 0)
            close(fd);
    }
    CU_ASSERT_EQUAL(got, asked);
    close(ask(&raw, 0, 0));
    CU_ASSERT_EQUAL(stop(&raw), 0);
}

static void one_who_goes_away(void)
{
    struct raw raw = start("left", "0x88b5");
    CU_ASSERT(ask_until_full(&raw) > 10);
    CU_ASSERT_EQUAL(stop(&raw), 0);
    raw = start("left", "0x88b5");
    CU_ASSERT_EQUAL(stop(&raw), 0);
}

static void no_descriptors_left(void)
{
    struct raw raw = start("left", "0x88b5");
    struct failure why = {""};
    const struct rlimit none = {3, 3};
    close(ask(&raw, 0, 0));
    CU_ASSERT_EQUAL(prlimit(raw.pid, RLIMIT_NOFILE, &none, NULL), 0);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT(raw_request_send(raw.fd, &(struct raw_request){CHANNEL, VM}));
        CU_ASSERT_EQUAL(raw_reply_receive(raw.fd, &why), RAW_REFUSED);
        CU_ASSERT_STRING_EQUAL(why.text, "no packet socket: Too many open files");
    }
    CU_ASSERT_EQUAL(stop(&raw), 0);
}

/* ---- what its sockets let through ---- */

static int wire; /* a socket on the other end, which sends */
static struct address left_mac, right_mac;

struct sample {
    struct address to;
    uint16_t type;
    uint32_t channel, vm;
    bool daemon, task; /* whose socket gets it */
};

static void send_sample(const struct sample *s, uint8_t mark)
{
    uint8_t bytes[ETHER_LINK_BYTES + ETHER_HEADER_BYTES + DATAGRAM_BYTES] = {0};
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    ether_put_link(&c, &s->to, &right_mac, s->type);
    ether_put(&c, &(struct ether){.channel = s->channel, .size = DATAGRAM_BYTES});
    cursor_put_u32(&c, 0xc04e0100);
    cursor_put_u32(&c, s->vm);
    bytes[sizeof bytes - 1] = mark;
    CU_ASSERT_EQUAL(send(wire, bytes, sizeof bytes, 0), (ssize_t)sizeof bytes);
}

/* The marks of what comes by the socket, up to the one that both kinds let through. */
static uint64_t marks_of(int fd, uint8_t last)
{
    uint64_t marks = 0;
    uint8_t bytes[2048];
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    while ((marks >> last & 1) == 0 && poll(&poll_fd, 1, 5000) == 1) {
        ssize_t size = recv(fd, bytes, sizeof bytes, 0);
        if (size > 0)
            marks |= UINT64_C(1) << bytes[size - 1];
    }
    return marks;
}

/* Sends all samples, and then one for the socket; exactly what is for it must come. */
static void must_pass(int fd, const struct sample *samples, size_t count, bool daemon)
{
    uint64_t expected = UINT64_C(1) << count;
    const struct sample last = {left_mac, TYPE, daemon ? ETHER_CHANNEL_DAEMON : CHANNEL, VM, 0, 0};
    for (size_t i = 0; i < count; i++) {
        send_sample(&samples[i], (uint8_t)i);
        if (daemon ? samples[i].daemon : samples[i].task)
            expected |= UINT64_C(1) << i;
    }
    send_sample(&last, (uint8_t)count);
    CU_ASSERT_EQUAL(marks_of(fd, (uint8_t)count), expected);
}

static void listen_to_all(int fd)
{
    struct sockaddr_ll at = {.sll_family = AF_PACKET,
                             .sll_ifindex = (int)if_nametoindex("left"),
                             .sll_protocol = htons(3)}; /* ETH_P_ALL */
    struct packet_mreq all = {.mr_ifindex = at.sll_ifindex, .mr_type = PACKET_MR_PROMISC};
    CU_ASSERT_EQUAL(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    CU_ASSERT_EQUAL(setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all), 0);
}

static void filters_hold(void)
{
    static const uint8_t MANY[] = {3, 0, 0, 0, 0, 9}, OTHER[] = {2, 9, 9, 9, 9, 9};
    const struct address many = ether_address(MANY), other = ether_address(OTHER);
    const struct sample samples[] = {
        {left_mac, TYPE, ETHER_CHANNEL_DAEMON, VM, true, false},
        {left_mac, TYPE, ETHER_CHANNEL_DAEMON, VM + 1, true, false},
        {many, TYPE, ETHER_CHANNEL_DAEMON, VM, true, false},
        {other, TYPE, ETHER_CHANNEL_DAEMON, VM, false, false},
        {left_mac, OTHER_TYPE, ETHER_CHANNEL_DAEMON, VM, false, false},
        {left_mac, 0x0800, ETHER_CHANNEL_DAEMON, VM, false, false},
        {left_mac, TYPE, CHANNEL, VM, false, true},
        {left_mac, TYPE, CHANNEL, VM + 1, false, false},
        {left_mac, TYPE, CHANNEL + 1, VM, false, false},
        {many, TYPE, CHANNEL, VM, false, false},
        {other, TYPE, CHANNEL, VM, false, false},
        {left_mac, OTHER_TYPE, CHANNEL, VM, false, false},
    };
    const size_t count = sizeof samples / sizeof samples[0];
    struct raw raw = start("left", "0x88b5");
    int of_daemon = ask(&raw, ETHER_CHANNEL_DAEMON, 0), of_task = ask(&raw, CHANNEL, VM);
    CU_ASSERT_FATAL(of_daemon >= 0 && of_task >= 0);
    must_pass(of_daemon, samples, count, true);
    must_pass(of_task, samples, count, false);
    listen_to_all(of_daemon); /* whatever they do to it */
    listen_to_all(of_task);
    while (recv(of_task, &(char){0}, 1, MSG_DONTWAIT) >= 0 ||
           recv(of_daemon, &(char){0}, 1, MSG_DONTWAIT) >= 0)
        ;
    must_pass(of_daemon, samples, count, true);
    must_pass(of_task, samples, count, false);
    CU_ASSERT_EQUAL(stop(&raw), 0);
    close(of_daemon);
    close(of_task);
}

static void filters_are_locked(void)
{
    struct raw raw = start("left", "0x88b5");
    struct sock_filter all = BPF_STMT(BPF_RET, UINT32_MAX);
    const struct sock_fprog filter = {1, &all};
    for (uint32_t channel = 0; channel <= CHANNEL; channel += CHANNEL) {
        int fd = ask(&raw, channel, VM), off = 0;
        CU_ASSERT(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) != 0 &&
                  errno == EPERM);
        CU_ASSERT(setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &off, sizeof off) != 0 &&
                  errno == EPERM);
        CU_ASSERT(setsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &off, sizeof off) != 0 &&
                  errno == EPERM);
        close(fd);
    }
    CU_ASSERT_EQUAL(stop(&raw), 0);
}

/* ---- coveyd's end ---- */

static void replies_that_are_none(void)
{
    const struct timeval soon = {.tv_usec = 10000};
    struct failure why = {"a reason"}, said;
    int ends[2];
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
    CU_ASSERT_EQUAL(raw_reply_receive(ends[0], &said), RAW_SILENT);
    CU_ASSERT_STRING_EQUAL(said.text, "covey-raw does not answer");
    CU_ASSERT(raw_reply_send(ends[1], -1, &why));
    CU_ASSERT_EQUAL(raw_reply_receive(ends[0], &said), RAW_REFUSED);
    CU_ASSERT_STRING_EQUAL(said.text, "a reason");
    CU_ASSERT_EQUAL(send(ends[1], "\0", 1, 0), 1); /* granted, but nothing */
    CU_ASSERT_EQUAL(raw_reply_receive(ends[0], &said), RAW_REFUSED);
    CU_ASSERT(raw_request_send(ends[0], &(struct raw_request){0}));
    CU_ASSERT(raw_reply_send(ends[1], -1, &why));
    close(ends[1]); /* the request is not read */
    CU_ASSERT_EQUAL(raw_reply_receive(ends[0], &said), RAW_REFUSED);
    CU_ASSERT_STRING_EQUAL(said.text, "a reason");
    CU_ASSERT_EQUAL(raw_reply_receive(ends[0], &said), RAW_SILENT);
    CU_ASSERT_STRING_EQUAL(said.text, "covey-raw has ended");
    close(ends[0]);
}

/* ---- the namespace ---- */

static struct address mac_of(int fd)
{
    struct sockaddr_ll at;
    socklen_t size = sizeof at;
    getsockname(fd, (struct sockaddr *)&at, &size);
    return ether_address(at.sll_addr);
}

static int socket_on(const char *interface)
{
    struct sockaddr_ll at = {.sll_family = AF_PACKET,
                             .sll_ifindex = (int)if_nametoindex(interface)};
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    return fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 ? fd : -1;
}

static bool namespace_enter(void)
{
    if (geteuid() != 0 || unshare(CLONE_NEWNET) != 0 ||
        system("{ ip link add left type veth peer name right && ip link set left up && "
               "ip link set right up && ip link set lo up && "
               "ip link add idle type veth peer name idler; } 2>/dev/null") != 0)
        return false;
    int left = socket_on("left");
    wire = socket_on("right");
    if (left < 0 || wire < 0)
        return false;
    left_mac = mac_of(left);
    right_mac = mac_of(wire);
    close(left);
    return true;
}

static void no_namespace(void)
{
    covey_test_skip("needs root, for a network namespace with two interfaces");
}

int main(void)
{
    static const struct test_case cases[] = {
        {"replies that are none", replies_that_are_none},
        {"bad arguments", bad_arguments},
        {"nobody to answer", nobody_to_answer},
        {"bad requests", bad_requests},
        {"it keeps nothing of its caller", it_keeps_nothing_of_its_caller},
        {"it has one capability, lowered", it_has_one_capability_lowered},
        {"one who asks and does not read", one_who_asks_and_does_not_read},
        {"one who goes away", one_who_goes_away},
        {"no descriptors left", no_descriptors_left},
        {"filters hold", filters_hold},
        {"filters are locked", filters_are_locked},
    };
    static const struct test_case none[] = {{"replies that are none", replies_that_are_none},
                                            {"covey-raw", no_namespace}};
    signal(SIGPIPE, SIG_IGN);
    if (namespace_enter())
        return covey_test_main("raw", cases, sizeof cases / sizeof cases[0]);
    return covey_test_main("raw", none, sizeof none / sizeof none[0]);
}
