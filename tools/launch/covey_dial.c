/*
 * covey-dial: a virtual machine of hosts that nobody can start from elsewhere, but which are all
 * started alike with one command and one key, as the pods of an indexed job of Kubernetes are.
 * Called as `coveyd --dial`.
 *
 * Number 0 leads: it waits until all others have come, and then runs the command, for which
 * COVEY_HOSTS is a host file of them. Each of the others dials the leader, at growing intervals
 * until it is there, and waits for an invitation into the VM, by which it becomes a host. The
 * launcher in that host file is this program again (--take), which passes the invitation on:
 *
 *   covey with -> coveyd -> covey-dial --take ~> covey-dial of the leader -> that of a guest ->
 * coveyd
 *
 * What is said between the last two but one: dial.h. A guest ends with its daemon, and so when the
 * VM is halted; the leader with its command. Both are the first process of a container, and reap
 * what others leave. This file is the guest and the options; the leader is gather.c.
 */
#include "tools/launch/covey_dial.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sodium.h>

#include "daemon/base/clock.h"
#include "daemon/process/helper.h"

#define TRY_S 5
#define ASIDE_S 75 /* silence after which the kernel asks whether the leader is there */

/* ---- common ---------------------------------------------------------------------------------- */

void dial_fail(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fputs("covey-dial: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    exit(1);
}

bool dial_write(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        ssize_t n = send(fd, at, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

bool dial_read(int fd, void *bytes, size_t size, int64_t until_ms)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    char *at = bytes;
    while (size > 0) {
        int64_t left_ms = until_ms - clock_ms();
        ssize_t n = 0;
        if (left_ms > 0 && poll(&readable, 1, (int)left_ms) != 0)
            n = recv(fd, at, size, MSG_DONTWAIT);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

void dial_patience(int fd, int seconds)
{
    const struct timeval limit = {.tv_sec = seconds};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

bool dial_say(int fd, struct dial *dial, enum dial_side by, const char *text, size_t size)
{
    static uint8_t bytes[4 + DIAL_SEALED_MAX];
    size_t sealed = dial_seal(dial, by, text, size, bytes + 4);
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(sealed >> (24 - 8 * i));
    return sealed > 0 && dial_write(fd, bytes, 4 + sealed);
}

size_t dial_hear(int fd, struct dial *dial, enum dial_side by, char text[DIAL_TEXT_MAX + 1],
                 int64_t until_ms)
{
    static uint8_t bytes[DIAL_SEALED_MAX];
    uint8_t head[4];
    if (!dial_read(fd, head, sizeof head, until_ms))
        return 0;
    size_t sealed = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
    if (sealed > sizeof bytes || !dial_read(fd, bytes, sealed, until_ms))
        return 0;
    size_t size = dial_open(dial, by, bytes, sealed, text);
    text[size] = '\0';
    return size;
}

/* ---- the guest ------------------------------------------------------------------------------- */

/* The socket to the leader, or -1 with *why. */
static int call(const struct dial_options *o, const char **why)
{
    char port[16];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    snprintf(port, sizeof port, "%u", o->port);
    int error = getaddrinfo(o->leader, port, &hints, &list), fd = -1;
    if (error != 0) {
        *why = gai_strerror(error);
        return -1;
    }
    for (struct addrinfo *at = list; at != NULL && fd < 0; at = at->ai_next) {
        fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, 0);
        if (fd >= 0)
            dial_patience(fd, TRY_S);
        if (fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen) != 0) {
            *why = strerror(errno);
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(list);
    return fd;
}

/* True: the leader has proved that it knows the key, and has got that we do. */
static bool introduce(int fd, struct dial *dial, const char **why)
{
    uint8_t greeting[DIAL_GREETING_BYTES], answer[DIAL_ANSWER_BYTES], proof[DIAL_PROOF_BYTES];
    const int64_t until_ms = clock_ms() + TRY_S * 1000;
    dial_begin(dial, DIAL_GUEST);
    *why = "what answers there is not covey-dial";
    if (!dial_read(fd, greeting, sizeof greeting, until_ms))
        return false;
    if (greeting[0] != DIAL_VERSION) {
        *why = "it speaks another version of covey-dial";
        return false;
    }
    memcpy(dial->leader, greeting + 1, sizeof dial->leader);
    memcpy(answer, dial->guest, DIAL_POINT_BYTES);
    memcpy(answer + DIAL_POINT_BYTES, dial->name, DIAL_NAME_BYTES);
    dial_proof(dial, DIAL_GUEST, answer + DIAL_POINT_BYTES + DIAL_NAME_BYTES);
    *why = "it has another key, or has its hosts";
    return dial_write(fd, answer, sizeof answer) && dial_read(fd, proof, sizeof proof, until_ms) &&
           dial_proved(dial, DIAL_LEADER, proof) && dial_agree(dial, DIAL_GUEST);
}

/* Dials until there is an invitation, a command and a line with a zero between; its size. */
static size_t fetch(const struct dial_options *o, const struct dial *own, struct dial *dial,
                    int *fd, char *text)
{
    int64_t end_ms = clock_ms() + (int64_t)o->wait_s * 1000;
    const char *why = "";
    for (unsigned tries = 0;; tries++) {
        *fd = call(o, &why);
        *dial = *own;
        if (*fd >= 0 && introduce(*fd, dial, &why)) {
            const int on = 1, idle = ASIDE_S;
            setsockopt(*fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
            setsockopt(*fd, SOL_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
            size_t size = dial_hear(*fd, dial, DIAL_LEADER, text, end_ms);
            if (size > 0)
                return size;
            why = "it went away before all hosts were there";
        }
        if (*fd >= 0)
            close(*fd);
        int64_t pause_ms = dial_backoff_ms(tries, randombytes_random());
        if (clock_ms() + pause_ms >= end_ms)
            dial_fail("%s, port %u, did not take this host in within %d s: %s", o->leader, o->port,
                      o->wait_s, why);
        usleep((useconds_t)pause_ms * 1000);
    }
}

static pid_t child; /* what signals are passed on to */

static void pass_on(int number)
{
    if (child > 0)
        kill(child, number);
}

void dial_pass_signals(pid_t to)
{
    const struct sigaction action = {.sa_handler = pass_on};
    child = to;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

int dial_status(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The daemon, attached: its standard input is the invitation, its first line goes to *answer. */
static pid_t start_daemon(const char *command, const char *invitation, char *answer, size_t size)
{
    int in[2], out[2];
    size_t length = strlen(invitation), used = 0;
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        dial_fail("descriptors are exhausted");
    pid_t pid = fork();
    if (pid < 0)
        dial_fail("cannot start a process: %s", strerror(errno));
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    if (write(in[1], invitation, length) != (ssize_t)length) /* it fits a pipe */
        dial_fail("the invitation cannot be passed on");
    close(in[1]);
    ssize_t n;
    while (used + 1 < size && memchr(answer, '\n', used) == NULL &&
           (n = read(out[0], answer + used, size - used - 1)) != 0) {
        if (n < 0 && errno != EINTR)
            break;
        used += n > 0 ? (size_t)n : 0;
    }
    answer[used] = '\0';
    close(out[0]);
    return pid;
}

static int guest(const struct dial_options *o, struct dial *own)
{
    static char text[DIAL_TEXT_MAX + 1];
    struct dial dial;
    char answer[512] = "";
    int fd, status = 0;
    pid_t ended;
    size_t size = fetch(o, own, &dial, &fd, text), command = strlen(text) + 1;
    sodium_memzero(own, sizeof *own);
    if (command >= size)
        dial_fail("the invitation makes no sense");
    pid_t pid = start_daemon(text, text + command, answer, sizeof answer);
    dial_pass_signals(pid);
    sodium_memzero(text, sizeof text);
    const char *said = answer[0] != '\0' ? answer : "coveyd there ended without a word\n";
    dial_say(fd, &dial, DIAL_GUEST, said, strlen(said));
    sodium_memzero(&dial, sizeof dial);
    close(fd);
    while ((ended = waitpid(-1, &status, 0)) != pid)
        if (ended < 0 && errno != EINTR)
            dial_fail("coveyd cannot be waited for: %s", strerror(errno));
    return dial_status(status);
}

/* ---- the launcher in the host file ----------------------------------------------------------- */

static void read_key(const char *path, uint8_t key[DIAL_KEY_BYTES])
{
    char text[2 * DIAL_KEY_BYTES + 8] = "";
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0)
        dial_fail("the key: %s: %s", path, strerror(errno));
    if ((st.st_mode & 07) != 0)
        dial_fail("the key: %s: others may read it; its mode should be 0400", path);
    ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    if (size < 0 || !dial_key_parse(text, key))
        dial_fail("the key: %s: must be 64 hexadecimal digits; try: openssl rand -hex 32", path);
    sodium_memzero(text, sizeof text);
}

static const char usage[] =
    "usage: covey-dial --leader NAME --hosts N --key FILE [--index I] [--name HOST]\n"
    "                  [--port P] [--wait S] [--] COMMAND [ARG...]\n"
    "\n"
    "Brings N hosts together, each of which runs this: number 0 runs the command, such as covey\n"
    "with, when the others have come; they dial it by NAME, and are hosts until the virtual\n"
    "machine ends. Called as coveyd --dial; see coveyd(8).\n"
    "\n"
    "  --leader NAME  by which the others reach number 0\n"
    "  --hosts N      how many there are, number 0 included\n"
    "  --key FILE     64 hexadecimal digits, the same on all; mode 0400\n"
    "  --index I      which one this is (default $JOB_COMPLETION_INDEX)\n"
    "  --name HOST    this host's name (default: the machine's own, up to the first dot)\n"
    "  --port P       TCP port of number 0 (7153)\n"
    "  --wait S       so long for all to come (600)\n";

static long number_of(const char *option, const char *text, long least, long most)
{
    char *end = NULL;
    errno = 0;
    long number = text == NULL ? 0 : strtol(text, &end, 10);
    if (text == NULL || end == text || *end != '\0' || errno != 0 || number < least ||
        number > most)
        dial_fail("%s %s: must be a number in %ld .. %ld", option, text == NULL ? "" : text, least,
                  most);
    return number;
}

/* Returns where the command begins. */
static int read_options(struct dial_options *o, int argc, char **argv)
{
    const char *index = getenv("JOB_COMPLETION_INDEX"), *hosts = NULL, *port = NULL, *wait = NULL;
    const struct {
        const char *name, **value;
    } rows[] = {{"--leader", &o->leader}, {"--hosts", &hosts},  {"--key", &o->key},
                {"--index", &index},      {"--name", &o->name}, {"--port", &port},
                {"--wait", &wait}};
    int at = 1;
    for (; at < argc && argv[at][0] == '-' && strcmp(argv[at], "--") != 0; at += 2) {
        size_t i = 0;
        while (i < sizeof rows / sizeof rows[0] && strcmp(rows[i].name, argv[at]) != 0)
            i++;
        if (i == sizeof rows / sizeof rows[0] || at + 1 >= argc)
            dial_fail("%s: %s; covey-dial --help", argv[at],
                      at + 1 >= argc ? "it needs a value" : "there is no such option");
        *rows[i].value = argv[at + 1];
    }
    at += at < argc && strcmp(argv[at], "--") == 0;
    if (o->leader == NULL || o->key == NULL || at >= argc)
        dial_fail("it needs --leader, --hosts, --key and a command; covey-dial --help");
    o->hosts = (int)number_of("--hosts", hosts, 1, 4094);
    o->index = (int)number_of("--index", index, 0, o->hosts - 1);
    o->port = port == NULL ? 7153 : (uint16_t)number_of("--port", port, 1, 65535);
    o->wait_s = wait == NULL ? 600 : (int)number_of("--wait", wait, 1, 86400);
    return at;
}

static void read_name(const struct dial_options *o, char name[DIAL_NAME_BYTES])
{
    char own[256] = "";
    if (gethostname(own, sizeof own - 1) != 0)
        own[0] = '\0';
    own[strcspn(own, ".")] = '\0';
    const char *chosen = o->name != NULL ? o->name : own;
    if (chosen[0] == '\0' || strlen(chosen) >= DIAL_NAME_BYTES)
        dial_fail("--name %.80s: must have 1 to %d characters", chosen, DIAL_NAME_BYTES - 1);
    memset(name, 0, DIAL_NAME_BYTES);
    memcpy(name, chosen, strlen(chosen));
}

int main(int argc, char **argv)
{
    struct dial_options options = {0};
    struct dial dial = {0};
    if (helper_answer(argc, argv, usage))
        return fflush(stdout) != 0;
    if (sodium_init() < 0)
        dial_fail("libsodium could not be initialised");
    if (argc > 1 && strcmp(argv[1], "--take") == 0)
        return dial_take(argc - 2, argv + 2);
    int command = read_options(&options, argc, argv);
    read_key(options.key, dial.key);
    read_name(&options, dial.name);
    return options.index > 0 ? guest(&options, &dial) : dial_lead(&options, &dial, argv + command);
}
