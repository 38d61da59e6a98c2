/*
 * covey-in: a task in a container. Instead of `PROGRAM ARG...` the library has each host start
 * `covey-in IMAGE PROGRAM ARG...` (lib/spawn/inside.c): this runs the program by podman, as a
 * process that has of its host what a task needs, and the rest from the image:
 *
 *   the daemon's socket         its folder is mounted
 *   COVEY_VM, _SOCKET, _TASK    go in, as all variables called COVEY_*, and those of --env
 *   network, /dev/shm           are the host's; memory of links is passed over sockets
 *   processes' numbers          are the host's: tasks read each other's memory, and what ends a
 *                               process that handles no signals ends it there, too
 *   user                        the same
 *   working directory           is mounted in its place, unless it would hide a system's folder
 *   descriptors                 as many as here
 *   standard input and output   are passed on
 *
 * Signals come to the process group, so to podman, which passes them on, and to this process, which
 * waits for podman and ends with its status. What cannot be passed on, or the death of the daemon,
 * would leave the container behind: a guard in a session of its own removes it when this process
 * has gone. An image is never fetched here: a thousand tasks would do so at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sodium.h>

#include "daemon/process/helper.h"
#include "daemon/process/process.h"

/* As of a shell. */
enum { PODMAN_FAILED = 125, NOT_EXECUTABLE = 126, NOT_FOUND = 127, BY_SIGNAL = 128 };

#define PATH_WORD (2 * PATH_MAX + 2)
#define SIGNALS 65

struct container {
    struct strings podman; /* the program with its options before a command */
    const char *image;
    char host[64], name[64];
    char socket_folder[PATH_MAX];
};

__attribute__((format(printf, 2, 3), noreturn)) static void fail(int status, const char *format,
                                                                 ...)
{
    va_list values;
    va_start(values, format);
    fputs("covey-in: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    exit(status);
}

/* ---- words ----------------------------------------------------------------------------------- */

static void add_word(struct strings *list, const char *word)
{
    if (strings_add(list, word, strlen(word)) != 0)
        fail(NOT_EXECUTABLE, "memory is exhausted");
}

static void add_words(struct strings *list, const char *const *words)
{
    while (*words != NULL)
        add_word(list, *words++);
}

/* Cuts what a variable has at blanks. */
static void add_cut(struct strings *list, const char *text)
{
    while (text != NULL && *(text += strspn(text, " \t")) != '\0') {
        size_t length = strcspn(text, " \t");
        if (strings_add(list, text, length) != 0)
            fail(NOT_EXECUTABLE, "memory is exhausted");
        text += length;
    }
}

static void add_folder(struct strings *list, const char *host, const char *folder)
{
    char word[PATH_WORD];
    if (strchr(folder, ':') != NULL)
        fail(NOT_EXECUTABLE, "host %s: a folder with a colon cannot be mounted: %s", host, folder);
    snprintf(word, sizeof word, "%s:%s", folder, folder);
    add_words(list, (const char *const[]){"--volume", word, NULL});
}

/* ---- what the host has ----------------------------------------------------------------------- */

/* The socket is called after the host: there may be several on a machine. */
static void look_at_host(struct container *c)
{
    const char *socket = getenv("COVEY_SOCKET"), *own = getenv("COVEY_PODMAN");
    const char *file = socket == NULL ? NULL : strrchr(socket, '/');
    if (file == NULL || (size_t)(file - socket) >= sizeof c->socket_folder)
        fail(NOT_EXECUTABLE, "it runs in a virtual machine, as: covey run --in IMAGE PROGRAM");
    memcpy(c->socket_folder, socket, (size_t)(file - socket));
    const char *end = strrchr(file, '.');
    snprintf(c->host, sizeof c->host, "%.*s", end == NULL ? 63 : (int)(end - file - 1), file + 1);
    snprintf(c->name, sizeof c->name, "covey-%d-%08x", (int)getpid(), randombytes_random());
    add_cut(&c->podman, own);
    if (c->podman.count == 0)
        add_word(&c->podman, "podman");
}

/* Whether a working directory, mounted in its place, would hide what programs in an image need. */
static bool hides_system(const char *folder)
{
    static const char *const roots[] = {"bin",    "boot", "dev",  "etc", "lib", "lib32", "lib64",
                                        "libx32", "proc", "sbin", "sys", "usr", NULL};
    const char *name = folder + 1;
    size_t length = strcspn(name, "/");
    if (length == 0 || strcmp(folder, "/var") == 0 || strcmp(folder, "/run") == 0)
        return true;
    for (size_t i = 0; roots[i] != NULL; i++)
        if (strlen(roots[i]) == length && strncmp(roots[i], name, length) == 0)
            return true;
    return false;
}

/* ---- podman's command line ------------------------------------------------------------------- */

static struct strings podman_command(const struct container *c, const char *const *words)
{
    struct strings list = {0};
    add_words(&list, (const char *const *)c->podman.items);
    add_words(&list, words);
    return list;
}

static void add_folders(struct strings *list, const struct container *c)
{
    char folder[PATH_MAX];
    add_folder(list, c->host, c->socket_folder);
    if (getcwd(folder, sizeof folder) == NULL)
        fail(NOT_EXECUTABLE, "host %s: no working directory: %s", c->host, strerror(errno));
    if (hides_system(folder))
        return;
    add_folder(list, c->host, folder);
    add_words(list, (const char *const[]){"--workdir", folder, NULL});
}

static void add_limits(struct strings *list)
{
    char word[64];
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    snprintf(word, sizeof word, "nofile=%llu:%llu", (unsigned long long)files.rlim_cur,
             (unsigned long long)files.rlim_max);
    add_words(list, (const char *const[]){"--ulimit", word, NULL});
}

static struct strings run_command(const struct container *c, const struct strings *names,
                                  char *const *program)
{
    struct strings list = podman_command(
        c, (const char *const[]){"run", "--rm", "--interactive", "--pull=never", "--name", c->name,
                                 "--network=host", "--ipc=host", "--pid=host", "--log-driver=none",
                                 "--security-opt=label=disable", "--entrypoint=", NULL});
    if (geteuid() != 0)
        add_word(&list, "--userns=keep-id");
    add_limits(&list);
    add_folders(&list, c);
    if (setenv("COVEY_IN", c->image, 1) != 0)
        fail(NOT_EXECUTABLE, "memory is exhausted");
    add_word(&list, "--env=COVEY_*");
    for (size_t i = 0; i < names->count; i++)
        add_words(&list, (const char *const[]){"--env", names->items[i], NULL});
    add_cut(&list, getenv("COVEY_PODMAN_RUN"));
    add_word(&list, c->image);
    add_words(&list, (const char *const *)program);
    return list;
}

/* ---- processes ------------------------------------------------------------------------------- */

static pid_t start(const struct container *c, const struct strings *command)
{
    pid_t self = getpid(), pid = fork();
    if (pid < 0)
        fail(NOT_EXECUTABLE, "host %s: cannot start a process: %s", c->host, strerror(errno));
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self)
        _exit(BY_SIGNAL + SIGKILL);
    execvp(command->items[0], command->items);
    bool missing = errno == ENOENT;
    fprintf(stderr, "covey-in: host %s has no program %s: %s; install podman there\n", c->host,
            command->items[0], strerror(errno));
    _exit(missing ? NOT_FOUND : NOT_EXECUTABLE);
}

/* As of a shell. */
static int status_of(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return NOT_EXECUTABLE;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : BY_SIGNAL + WTERMSIG(status);
}

/* Ends the program when podman has told why it cannot even look. */
static void require_image(const struct container *c)
{
    struct strings command =
        podman_command(c, (const char *const[]){"image", "exists", c->image, NULL});
    int status = status_of(start(c, &command));
    if (status == 1)
        fail(NOT_FOUND, "host %s has no image %s; there: podman pull, build or load", c->host,
             c->image);
    if (status != 0)
        exit(status == NOT_FOUND ? NOT_FOUND : NOT_EXECUTABLE);
    strings_free(&command);
}

/* Removes the container when this process has ended without. */
static pid_t start_guard(const struct container *c)
{
    struct strings command = podman_command(
        c, (const char *const[]){"rm", "--force", "--ignore", "--time=0", c->name, NULL});
    sigset_t set;
    int number, null;
    pid_t self = getpid(), pid = fork();
    if (pid != 0) {
        strings_free(&command);
        return pid;
    }
    setsid();
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2; fd++)
        dup2(null, fd);
    if (getppid() == self)
        sigwait(&set, &number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    execvp(command.items[0], command.items);
    _exit(NOT_FOUND);
}

/* The end of podman is waited for, whatever signal comes; those that stop a process do. */
static void ignore_signals(void)
{
    for (int number = 1; number < SIGNALS; number++)
        if (number != SIGCHLD && number != SIGTSTP && number != SIGTTIN && number != SIGTTOU)
            signal(number, SIG_IGN);
}

static const char usage[] = "usage: covey-in [--env NAME]... [--] IMAGE PROGRAM [ARG...]\n"
                            "\n"
                            "Runs a task in a container, by podman; the library calls it for covey "
                            "run --in, see coveyd(8).\n";

int main(int argc, char **argv)
{
    struct container c = {0};
    struct strings names = {0};
    int at = 1;
    if (helper_answer(argc, argv, usage))
        return fflush(stdout) != 0;
    for (; at + 1 < argc && strcmp(argv[at], "--env") == 0; at += 2)
        add_word(&names, argv[at + 1]);
    at += at < argc && strcmp(argv[at], "--") == 0;
    if (at + 1 >= argc || argv[at][0] == '-' || argv[at][0] == '\0')
        fail(NOT_EXECUTABLE, "it needs an image and a program; covey-in --help");
    c.image = argv[at];
    look_at_host(&c);
    require_image(&c);
    struct strings command = run_command(&c, &names, argv + at + 1);
    pid_t guard = start_guard(&c);
    if (guard < 0)
        fail(NOT_EXECUTABLE, "host %s: cannot start a process: %s", c.host, strerror(errno));
    pid_t podman = start(&c, &command);
    ignore_signals();
    int status = status_of(podman);
    /* podman that failed, or was ended before it could pass the signal on, may have left it */
    kill(guard, status < PODMAN_FAILED ? SIGKILL : SIGTERM);
    status_of(guard);
    strings_free(&command);
    strings_free(&c.podman);
    strings_free(&names);
    return status;
}
