/*
 * gather.c - covey-dial's leader: it waits for the guests, runs the command, and connects each
 * launcher that the VM's first daemon starts with the guest of that name.
 *
 * Anyone may connect. A connection that proves nothing costs one of PLACES beside those of the
 * guests, and the oldest such one goes when there is no room. A guest that went away is forgotten,
 * and one that comes again under its name takes the place of the first. When the last one has come
 * the port is closed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sodium.h>

#include "daemon/base/clock.h"
#include "daemon/launch/launcher.h"
#include "daemon/link/listener.h"
#include "daemon/process/helper.h"
#include "tools/launch/covey_dial.h"

#define PLACES 64   /* for those that have proved nothing */
#define REQUEST_S 5 /* for a launcher to say what it wants */
#define ANSWER_S 29 /* for a daemon to say that it is there, as for any launcher */
#define REQUEST_MAX (DIAL_TEXT_MAX + 256)

struct guest {
    int fd; /* -1: none, or its launcher has it */
    bool proved;
    size_t size; /* of the answer, so far */
    uint64_t number;
    uint8_t answer[DIAL_ANSWER_BYTES];
    struct dial dial;
};

struct gather {
    const struct dial_options *options;
    struct dial *own;
    struct guest *guests;
    struct pollfd *fds; /* one for each guest, and the listener */
    int count, proved, listener;
    bool refused; /* somebody was who does not know the key: that is told once */
    uint64_t came;
    char self[HELPER_PATH_BYTES], folder[64], hosts[96];
    struct sockaddr_un door; /* where launchers come */
};

/* ---- those who come -------------------------------------------------------------------------- */

static void guest_drop(struct gather *g, struct guest *guest)
{
    g->proved -= guest->proved;
    if (guest->fd >= 0)
        close(guest->fd);
    sodium_memzero(guest, sizeof *guest);
    guest->fd = -1;
}

/* A free place, or that of the oldest which has proved nothing. */
static struct guest *guest_place(struct gather *g)
{
    struct guest *oldest = NULL;
    for (int i = 0; i < g->count; i++) {
        struct guest *guest = &g->guests[i];
        if (guest->fd < 0)
            return guest;
        if (!guest->proved && (oldest == NULL || guest->number < oldest->number))
            oldest = guest;
    }
    guest_drop(g, oldest); /* there is one: guests have fewer places than there are */
    return oldest;
}

static void guest_greet(struct gather *g)
{
    uint8_t greeting[DIAL_GREETING_BYTES] = {DIAL_VERSION};
    int fd = accept4(g->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE)
            poll(NULL, 0, 100); /* else it would be tried again and again */
        return;
    }
    struct guest *guest = guest_place(g);
    *guest = (struct guest){.fd = fd, .number = g->came++, .dial = *g->own};
    memset(guest->dial.name, 0, sizeof guest->dial.name);
    dial_begin(&guest->dial, DIAL_LEADER);
    memcpy(greeting + 1, guest->dial.leader, DIAL_POINT_BYTES);
    if (!dial_write(fd, greeting, sizeof greeting))
        guest_drop(g, guest);
}

static struct guest *guest_find(struct gather *g, const char *name)
{
    for (int i = 0; i < g->count; i++)
        if (g->guests[i].proved && strcmp(g->guests[i].dial.name, name) == 0)
            return &g->guests[i];
    return NULL;
}

/* Its answer is whole. */
static void guest_admit(struct gather *g, struct guest *guest)
{
    uint8_t proof[DIAL_PROOF_BYTES];
    if (!dial_take_answer(&guest->dial, guest->answer)) {
        if (!g->refused)
            fprintf(stderr, "covey-dial: one that does not know the key was refused\n");
        g->refused = true;
        guest_drop(g, guest);
        return;
    }
    struct guest *other = guest_find(g, guest->dial.name);
    if (other != NULL)
        guest_drop(g, other);
    if (strcmp(guest->dial.name, g->own->name) == 0 || g->proved == g->options->hosts - 1) {
        fprintf(stderr, "covey-dial: %s was refused: %s\n", guest->dial.name,
                g->proved == g->options->hosts - 1 ? "all hosts are there"
                                                   : "it is this host's name");
        guest_drop(g, guest);
        return;
    }
    dial_proof(&guest->dial, DIAL_LEADER, proof);
    guest->proved =
        dial_agree(&guest->dial, DIAL_LEADER) && dial_write(guest->fd, proof, sizeof proof);
    g->proved += guest->proved;
    if (!guest->proved)
        guest_drop(g, guest);
}

/* One that was proved has nothing to say, and can only have gone. */
static void guest_ready(struct gather *g, struct guest *guest)
{
    size_t left = DIAL_ANSWER_BYTES - guest->size;
    ssize_t n = read(guest->fd, guest->answer + guest->size, guest->proved ? 1 : left);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0 || guest->proved) {
        guest_drop(g, guest);
        return;
    }
    guest->size += (size_t)n;
    if (guest->size == DIAL_ANSWER_BYTES)
        guest_admit(g, guest);
}

static void gather_all(struct gather *g)
{
    int64_t end_ms = clock_ms() + (int64_t)g->options->wait_s * 1000, left_ms;
    while (g->proved < g->options->hosts - 1) {
        if ((left_ms = end_ms - clock_ms()) <= 0)
            dial_fail("%d of %d hosts came within %d s", g->proved + 1, g->options->hosts,
                      g->options->wait_s);
        for (int i = 0; i < g->count; i++)
            g->fds[i] = (struct pollfd){.fd = g->guests[i].fd, .events = POLLIN};
        g->fds[g->count] = (struct pollfd){.fd = g->listener, .events = POLLIN};
        if (poll(g->fds, (nfds_t)g->count + 1, (int)left_ms) < 0 && errno != EINTR)
            dial_fail("poll: %s", strerror(errno));
        for (int i = 0; i < g->count; i++)
            if (g->fds[i].revents != 0 && g->fds[i].fd == g->guests[i].fd)
                guest_ready(g, &g->guests[i]);
        if (g->fds[g->count].revents != 0)
            guest_greet(g);
    }
    close(g->listener);
    for (int i = 0; i < g->count; i++)
        if (!g->guests[i].proved)
            guest_drop(g, &g->guests[i]);
    sodium_memzero(g->own, sizeof *g->own);
}

/* ---- launchers ------------------------------------------------------------------------------- */

/* Name, command and invitation, each with its newline. */
static bool read_request(int fd, char *text, char *parts[3])
{
    const int64_t until_ms = clock_ms() + REQUEST_S * 1000;
    size_t used = 0;
    int lines = 0;
    parts[0] = text;
    while (lines < 3) {
        if (used == REQUEST_MAX || !dial_read(fd, text + used, 1, until_ms))
            return false;
        if (text[used++] != '\n')
            continue;
        text[used - 1] = '\0';
        if (++lines < 3)
            parts[lines] = text + used;
    }
    return true;
}

/* In a process of its own: so many hosts start at once. */
__attribute__((noreturn)) static void pass_invitation(struct guest *guest, int fd, char *parts[3])
{
    static char text[DIAL_TEXT_MAX + 1];
    int size = snprintf(text, sizeof text, "%s%c%s\n", parts[1], '\0', parts[2]);
    bool passed = size > 0 && (size_t)size < sizeof text;
    fcntl(guest->fd, F_SETFL, 0);
    dial_patience(guest->fd, ANSWER_S);
    passed = passed && dial_say(guest->fd, &guest->dial, DIAL_LEADER, text, (size_t)size);
    size_t answer =
        passed ? dial_hear(guest->fd, &guest->dial, DIAL_GUEST, text, clock_ms() + ANSWER_S * 1000)
               : 0;
    _exit(answer > 0 && dial_write(fd, text, answer) ? 0 : 1);
}

static void on_launcher(struct gather *g, int door)
{
    static char text[REQUEST_MAX];
    char *parts[3];
    int fd = accept4(door, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    struct guest *guest = read_request(fd, text, parts) ? guest_find(g, parts[0]) : NULL;
    pid_t pid = guest != NULL && guest->fd >= 0 ? fork() : -1;
    if (pid == 0)
        pass_invitation(guest, fd, parts);
    if (pid > 0) {
        close(guest->fd);
        guest->fd = -1; /* there is one invitation for each */
    }
    sodium_memzero(text, sizeof text);
    close(fd);
}

int dial_take(int count, char **words)
{
    static char request[REQUEST_MAX], invitation[DIAL_TEXT_MAX], command[LAUNCHER_LINE_MAX];
    struct sockaddr_un door = {.sun_family = AF_UNIX};
    if (count < 3 || strlen(words[0]) >= sizeof door.sun_path)
        dial_fail("--take is for covey-dial itself");
    strcpy(door.sun_path, words[0]);
    setvbuf(stdin, NULL, _IONBF, 0); /* no copy of the VM's key stays in a buffer */
    if (fgets(invitation, sizeof invitation, stdin) == NULL)
        dial_fail("there is no invitation on standard input");
    invitation[strcspn(invitation, "\n")] = '\0';
    if (!launcher_words(words + 2, command) || strchr(command, '\n') != NULL)
        dial_fail("the command line is too long, or has a newline");
    int size = snprintf(request, sizeof request, "%s\n%s\n%s\n", words[1], command, invitation);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (size < 0 || (size_t)size >= sizeof request || fd < 0 ||
        connect(fd, (struct sockaddr *)&door, sizeof door) != 0 ||
        !dial_write(fd, request, (size_t)size))
        dial_fail("the leader cannot be asked: %s", strerror(errno));
    sodium_memzero(request, sizeof request);
    sodium_memzero(invitation, sizeof invitation);
    ssize_t n = read(fd, request, sizeof request - 1);
    if (n <= 0)
        dial_fail("%s has gone, or is a host already", words[1]);
    return fwrite(request, 1, (size_t)n, stdout) == (size_t)n && fflush(stdout) == 0 ? 0 : 1;
}

/* ---- the command ----------------------------------------------------------------------------- */

static void write_hosts(struct gather *g)
{
    FILE *out = fopen(g->hosts, "w");
    if (out == NULL)
        dial_fail("%s: %s", g->hosts, strerror(errno));
    for (int i = 0; i < g->count; i++)
        if (g->guests[i].proved)
            fprintf(out, "%s template='exec \"%s\" --take %s {name} {command} --attached'\n",
                    g->guests[i].dial.name, g->self, g->door.sun_path);
    if (fclose(out) != 0)
        dial_fail("%s: %s", g->hosts, strerror(errno));
}

/* Returns where launchers come. */
static int open_door(struct gather *g)
{
    struct failure why;
    if (helper_find("covey-dial", g->self, &why) != 0)
        dial_fail("%s", why.text);
    if (strpbrk(g->self, "'\"$`\\{") != NULL)
        dial_fail("a quote in the path of this program: %s", g->self);
    snprintf(g->folder, sizeof g->folder, "/tmp/covey-dial.XXXXXX");
    if (mkdtemp(g->folder) == NULL)
        dial_fail("%s: %s", g->folder, strerror(errno));
    snprintf(g->hosts, sizeof g->hosts, "%s/hosts", g->folder);
    g->door.sun_family = AF_UNIX;
    snprintf(g->door.sun_path, sizeof g->door.sun_path, "%s/door", g->folder);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&g->door, sizeof g->door) != 0 ||
        listen(fd, SOMAXCONN) != 0)
        dial_fail("%s: %s", g->door.sun_path, strerror(errno));
    write_hosts(g);
    return fd;
}

static void on_child(int number)
{
    (void)number; /* ppoll() returns */
}

static int run_command(struct gather *g, int door, char **command)
{
    const struct sigaction action = {.sa_handler = on_child};
    sigset_t children, before;
    int status = 0;
    sigaction(SIGCHLD, &action, NULL);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, &before);
    setenv("COVEY_HOSTS", g->hosts, 1);
    pid_t pid = fork(), ended;
    if (pid < 0)
        dial_fail("cannot start a process: %s", strerror(errno));
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        execvp(command[0], command);
        fprintf(stderr, "covey-dial: %s: %s\n", command[0], strerror(errno));
        _exit(errno == ENOENT ? 127 : 126);
    }
    dial_pass_signals(pid);
    while (true) {
        struct pollfd at = {.fd = door, .events = POLLIN};
        while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
            if (ended == pid)
                return dial_status(status);
        if (ppoll(&at, 1, NULL, &before) > 0)
            on_launcher(g, door);
    }
}

int dial_lead(const struct dial_options *options, struct dial *own, char **command)
{
    struct gather g = {.options = options, .own = own, .count = options->hosts - 1 + PLACES};
    g.guests = calloc((size_t)g.count, sizeof *g.guests);
    g.fds = calloc((size_t)g.count + 1, sizeof *g.fds);
    if (g.guests == NULL || g.fds == NULL)
        dial_fail("memory is exhausted");
    for (int i = 0; i < g.count; i++)
        g.guests[i].fd = -1;
    g.listener = listener_open("", options->port, SOMAXCONN);
    if (g.listener < 0)
        dial_fail("port %u: %s", options->port, strerror(errno));
    gather_all(&g);
    int door = open_door(&g);
    int status = run_command(&g, door, command);
    unlink(g.door.sun_path);
    unlink(g.hosts);
    rmdir(g.folder);
    for (int i = 0; i < g.count; i++)
        guest_drop(&g, &g.guests[i]);
    free(g.guests);
    free(g.fds);
    return status;
}
