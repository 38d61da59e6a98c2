/*
 * Starting processes by vfork: the child borrows the parent's memory until it has executed the
 * program, so it needs no pipe to say why it could not, and 10,000 starts copy no page tables.
 * In turn the child may do nothing but system calls, and writes only to struct trouble.
 */
#include "daemon/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/process/helper.h"
#include "lib/covey.h"
#include "proto/wire/grow.h"

#define STRINGS_FIRST 32
#define SIGNALS 65

/* ---- lists of strings ---- */

int strings_add(struct strings *list, const char *bytes, size_t size)
{
    bool room = GROW(list->items, list->capacity, list->count + 2, STRINGS_FIRST);
    char *copy = room ? malloc(size + 1) : NULL;
    if (copy == NULL)
        return -ENOMEM;
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    list->items[list->count++] = copy;
    list->items[list->count] = NULL;
    return 0;
}

int strings_set(struct strings *list, const char *bytes, size_t size)
{
    const char *equals = memchr(bytes, '=', size);
    size_t name = equals == NULL ? size : (size_t)(equals - bytes) + 1;
    int error = strings_add(list, bytes, size);
    for (size_t i = 0; error == 0 && i + 1 < list->count; i++) {
        if (strncmp(list->items[i], bytes, name) != 0)
            continue;
        free(list->items[i]);
        list->items[i] = list->items[--list->count];
        list->items[list->count] = NULL;
        break;
    }
    return error;
}

/* Negative, 0 or positive, as the names stand in alphabetical order. */
static int name_compare(const char *a, const char *b)
{
    while (*a == *b && *a != '\0' && *a != '=') {
        a++;
        b++;
    }
    return (unsigned char)*a - (unsigned char)*b;
}

/* Of one name the later one first. */
static int place_compare(const void *a, const void *b)
{
    char *const *left = *(char *const *const *)a, *const *right = *(char *const *const *)b;
    int order = name_compare(*left, *right);
    return order != 0 ? order : (left < right) - (left > right);
}

int strings_unique(struct strings *list)
{
    size_t kept = 0;
    char ***places = calloc(list->count + 1, sizeof *places);
    if (places == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < list->count; i++)
        places[i] = &list->items[i];
    qsort(places, list->count, sizeof *places, place_compare);
    for (size_t i = list->count; i-- > 1;) {
        if (name_compare(*places[i], *places[i - 1]) != 0)
            continue;
        free(*places[i]);
        *places[i] = NULL;
    }
    free(places);
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i] != NULL)
            list->items[kept++] = list->items[i];
    if (list->items != NULL)
        list->items[kept] = NULL;
    list->count = kept;
    return 0;
}

void strings_free(struct strings *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct strings){0};
}

/* ---- the child's side ---- */

enum step { STEP_NONE = 0, STEP_FORK, STEP_FILES, STEP_CWD, STEP_EXEC };

struct trouble {
    enum step step;
    int error;
    bool exists; /* the program is there, yet executing it gave ENOENT: its interpreter is not */
};

static void child_signals(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int number = 1; number < SIGNALS; number++)
        sigaction(number, &action, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Moves the three descriptors to 0, 1 and 2; ours are all above 2, so none is overwritten. */
static bool child_files(const struct process *p)
{
    int in = p->in >= 0 ? p->in : open("/dev/null", O_RDONLY | O_CLOEXEC);
    return in >= 0 && dup2(in, 0) == 0 && dup2(p->out, 1) == 1 && dup2(p->err, 2) == 2;
}

__attribute__((noreturn)) static void child_fail(volatile struct trouble *trouble, enum step step)
{
    trouble->step = step;
    trouble->error = errno;
    _exit(127);
}

/* The kernel shares processors out to sessions (its autogroups), and sched_yield() gives way within
 * the own one alone: tasks of a host wait for each other by it, and so stay in one session. That of
 * a daemon in the foreground may have a terminal, which is not theirs. */
static void child_session(const struct process *p)
{
    int terminal = p->stays ? open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC) : -1;
    if (p->stays && terminal < 0)
        setpgid(0, 0);
    else
        setsid();
    if (terminal >= 0)
        close(terminal);
}

__attribute__((noreturn)) static void child_run(const struct process *p, const char *path,
                                                pid_t daemon_pid, volatile struct trouble *trouble)
{
    child_signals();
    child_session(p);
    if (p->tethered) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != daemon_pid)
            _exit(127); /* the daemon died before that took effect */
    }
    if (p->files != NULL)
        setrlimit(RLIMIT_NOFILE, p->files);
    if (!child_files(p))
        child_fail(trouble, STEP_FILES);
    if (p->cwd != NULL && p->cwd[0] != '\0' && chdir(p->cwd) != 0)
        child_fail(trouble, STEP_CWD);
    execve(path, p->argv, p->env);
    int error = errno;
    trouble->exists = error == ENOENT && access(path, F_OK) == 0;
    errno = error;
    child_fail(trouble, STEP_EXEC);
}

__attribute__((noinline)) static pid_t fork_and_run(const struct process *p, const char *path,
                                                    volatile struct trouble *trouble)
{
    pid_t self = getpid();
    pid_t pid = vfork(); /* NOLINT: see above, posix_spawn() cannot say which step failed */
    if (pid == 0)
        child_run(p, path, self, trouble); /* NOLINT: system calls alone */
    return pid;
}

/* ---- the parent's side ---- */

/* A program of Covey's own, such as covey-domain-worker, that no PATH leads to. */
static bool find_beside(const char *name, char *path, size_t size)
{
    char found[HELPER_PATH_BYTES];
    struct failure why;
    return strncmp(name, "covey-", 6) == 0 && helper_find(name, found, &why) == 0 &&
           (size_t)snprintf(path, size, "%s", found) < size;
}

/* Looks a name up in $PATH and then, if it begins with "covey-", beside coveyd; *path is what to
 * execute, or the name when it has a slash. A file that may not be executed is remembered: then the
 * error is about it. Returns 0 or an errno. */
static int path_find(const char *name, char *path, size_t size)
{
    int error = ENOENT;
    const char *list = getenv("PATH");
    if (strchr(name, '/') != NULL)
        return (size_t)snprintf(path, size, "%s", name) < size ? 0 : ENAMETOOLONG;
    for (const char *at = list == NULL ? "/usr/bin:/bin" : list, *end; *name != '\0';
         at = end + 1) {
        struct stat st;
        end = strchrnul(at, ':');
        snprintf(path, size, "%.*s/%s", (int)(end - at), at, name);
        if (end > at && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
            if (access(path, X_OK) == 0)
                return 0;
            error = EACCES;
        }
        if (*end == '\0')
            break;
    }
    return error == ENOENT && find_beside(name, path, size) ? 0 : error;
}

static bool exhausted(int error)
{
    return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
}

static bool is_missing(int error)
{
    return error == ENOENT || error == ENOTDIR;
}

static int trouble_error(const struct process *p, const struct trouble *t, struct failure *why)
{
    const char *cause = strerror(t->error);
    if (t->step == STEP_FORK && t->error == EAGAIN)
        cause = "the limit on processes is reached";
    if (exhausted(t->error) || t->step == STEP_FORK || t->step == STEP_FILES) {
        failure_set(why, "cannot start '%s': %s", p->program, cause);
        return COVEY_ERESOURCE;
    }
    if (t->step == STEP_CWD) {
        failure_set(why, "working directory '%s': %s", p->cwd, cause);
        return is_missing(t->error) ? COVEY_ENOENT : COVEY_EEXEC;
    }
    if (t->exists)
        failure_set(why, "program '%s': its interpreter is not there", p->program);
    else
        failure_set(why, "program '%s': %s", p->program, cause);
    return is_missing(t->error) && !t->exists ? COVEY_ENOENT : COVEY_EEXEC;
}

/* Runs it with all signals blocked around the fork: no handler of ours may run in the child. */
static pid_t start_blocked(const struct process *process, const char *path, struct trouble *result)
{
    /* volatile: the compiler sees no return from where the child writes it */
    volatile struct trouble trouble = {.step = STEP_NONE};
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork_and_run(process, path, &trouble);
    int fork_error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    *result = (struct trouble){trouble.step, trouble.error, trouble.exists};
    if (pid < 0)
        *result = (struct trouble){.step = STEP_FORK, .error = fork_error};
    return pid;
}

int process_find(const char *program, char *path, struct failure *why)
{
    const struct process process = {.program = program};
    struct trouble trouble = {.step = STEP_EXEC};
    trouble.error = path_find(program, path, PATH_MAX);
    if (trouble.error == 0 && access(path, X_OK) != 0)
        trouble.error = errno;
    return trouble.error == 0 ? 0 : trouble_error(&process, &trouble, why);
}

pid_t process_start(const struct process *process, struct failure *why)
{
    char path[PATH_MAX];
    struct trouble trouble = {.step = STEP_EXEC};
    trouble.error = path_find(process->program, path, sizeof path);
    if (trouble.error != 0)
        return trouble_error(process, &trouble, why);
    pid_t pid = start_blocked(process, path, &trouble);
    if (trouble.step == STEP_NONE)
        return pid;
    if (pid > 0)
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    return trouble_error(process, &trouble, why);
}
