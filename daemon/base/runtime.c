/*
 * The runtime directory. Starting and ending daemons of one VM take the lock of its directory
 * (flock on the directory itself), so that two that start at once see each other and none removes
 * what another has just made. A lock on a directory that was removed meanwhile is worth nothing:
 * then it is tried again.
 */
#include "daemon/base/runtime.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define BACKLOG 4096
#define LOCK_TRIES 100
#define PREDECESSOR_TRIES 300
#define PREDECESSOR_US 20000

/* ---- directories ---- */

static int directory_check(const char *path, struct failure *why)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return failure_set(why, "cannot use %s: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return failure_set(why, "%s is not a directory", path);
    if (st.st_uid != geteuid())
        return failure_set(why, "%s belongs to user %u, not to us", path, (unsigned)st.st_uid);
    if ((st.st_mode & 077) != 0)
        return failure_set(why, "%s is open to others (mode %03o), it must have mode 0700", path,
                           (unsigned)st.st_mode & 0777u);
    return 0;
}

static int directory_make(const char *path, struct failure *why)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return failure_set(why, "cannot make %s: %s", path, strerror(errno));
    return directory_check(path, why);
}

static void base_name(char *path, size_t size)
{
    const char *xdg = getenv("XDG_RUNTIME_DIR");
    if (xdg != NULL && xdg[0] == '/')
        snprintf(path, size, "%s/covey", xdg);
    else
        snprintf(path, size, "/tmp/covey-%u", (unsigned)geteuid());
}

static int runtime_names(struct runtime *runtime, const char *vm, const char *host,
                         struct failure *why)
{
    char *base = runtime->base;
    base_name(base, sizeof runtime->base);
    if (directory_make(base, why) != 0)
        return -1;
    int d = snprintf(runtime->directory, sizeof runtime->directory, "%s/%s", base, vm);
    int s = snprintf(runtime->socket, sizeof runtime->socket, "%s/%s/%s.sock", base, vm, host);
    snprintf(runtime->log, sizeof runtime->log, "%s/%s.log", runtime->directory, host);
    if ((size_t)d >= sizeof runtime->directory || (size_t)s >= sizeof runtime->socket)
        return failure_set(why, "the socket's path would have %d bytes, at most %zu fit: %s/%s/...",
                           s, sizeof runtime->socket - 1, base, vm);
    return 0;
}

static bool same_file(int fd, const char *path)
{
    struct stat a, b;
    return fstat(fd, &a) == 0 && lstat(path, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Makes the VM's directory and locks it; the descriptor holds the lock. */
static int runtime_lock(const struct runtime *runtime, struct failure *why)
{
    for (int i = 0; i < LOCK_TRIES; i++) {
        mkdir(runtime->base, 0700); /* the last daemon of another VM may just have removed it */
        if (mkdir(runtime->directory, 0700) != 0 && errno == ENOENT)
            continue;
        if (directory_make(runtime->directory, why) != 0)
            return -1;
        int fd = open(runtime->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (fd >= 0 && flock(fd, LOCK_EX) == 0 && same_file(fd, runtime->directory))
            return fd;
        if (fd >= 0)
            close(fd);
    }
    return failure_set(why, "cannot lock %s", runtime->directory);
}

/* ---- sockets ---- */

static bool socket_address(struct sockaddr_un *a, const char *path)
{
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof a->sun_path)
        return false;
    memcpy(a->sun_path, path, strlen(path) + 1);
    return true;
}

/* The process that listens on a socket: > 0; -1 when somebody does but cannot be named; 0 when
 * nobody does (a dead daemon's socket, or none). */
static pid_t socket_owner(const char *path)
{
    struct sockaddr_un a;
    struct ucred peer = {.pid = -1};
    socklen_t size = sizeof peer;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || !socket_address(&a, path)) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    bool dead = connect(fd, (struct sockaddr *)&a, sizeof a) != 0 &&
                (errno == ECONNREFUSED || errno == ENOENT);
    if (!dead && (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 0))
        peer.pid = -1;
    close(fd);
    return dead ? 0 : peer.pid;
}

static int runtime_listen(struct runtime *runtime, struct failure *why)
{
    struct sockaddr_un a;
    if (!socket_address(&a, runtime->socket))
        return failure_set(why, "the socket's path is too long");
    unlink(runtime->socket); /* nobody listens there: that was asked under the lock */
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0 ||
        chmod(runtime->socket, 0600) != 0 || listen(fd, BACKLOG) != 0) {
        failure_set(why, "cannot listen on %s: %s", runtime->socket, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    runtime->listener = fd;
    return 0;
}

/* ---- the directory's other daemons ---- */

/* Returns whether to go on with the next file. */
typedef bool entry_fn(const char *path, const char *name, void *context);

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

static void each_file(const char *directory, const char *end, entry_fn *fn, void *context)
{
    DIR *d = opendir(directory);
    if (d == NULL)
        return;
    bool more = true;
    for (struct dirent *e; more && (e = readdir(d)) != NULL;) {
        char path[RUNTIME_PATH_MAX * 2 + 8];
        snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
        if (ends_with(e->d_name, end))
            more = fn(path, e->d_name, context);
    }
    closedir(d);
}

struct living {
    char host[RUNTIME_PATH_MAX];
    pid_t pid;
    int count;
};

static bool note_living(const char *path, const char *host, void *context)
{
    struct living *living = context;
    pid_t owner = socket_owner(path);
    if (owner == 0)
        return true;
    living->count++;
    living->pid = owner;
    snprintf(living->host, sizeof living->host, "%.*s", (int)(strlen(host) - strlen(".sock")),
             host);
    return true;
}

static int refuse_living(const struct runtime *runtime, const char *vm, const char *host,
                         bool first, struct failure *why)
{
    pid_t pid = socket_owner(runtime->socket);
    if (pid != 0)
        return failure_set(why,
                           "a daemon of VM '%s' for host '%s' already runs here (pid %d); halt it "
                           "first, or give the VM another name",
                           vm, host, (int)pid);
    struct living living = {.count = 0};
    if (first)
        each_file(runtime->directory, ".sock", note_living, &living);
    if (living.count > 0)
        return failure_set(why,
                           "VM '%s' already runs here: a daemon for host '%s' (pid %d); halt it "
                           "first, or give the VM another name",
                           vm, living.host, (int)living.pid);
    return 0;
}

static void remove_if_empty(const struct runtime *runtime)
{
    rmdir(runtime->directory);
    rmdir(runtime->base); /* that of all VMs: only if this was the last */
}

/* Goes on until one lives. Each daemon that ends looks like this: it must not ask thousands of
 * others, which end, too. The last finds none that lives, and removes what all dead ones left. */
static bool remove_dead(const char *path, const char *host, void *context)
{
    (void)host;
    bool *living = context;
    char metrics[RUNTIME_PATH_MAX * 2 + 16];
    *living = socket_owner(path) != 0;
    if (*living)
        return false;
    unlink(path);
    snprintf(metrics, sizeof metrics, "%.*s" RUNTIME_METRICS, (int)(strlen(path) - strlen(".sock")),
             path);
    unlink(metrics);
    return true;
}

/* Whether the log is that of a daemon that has a socket. */
static bool has_socket(const char *log)
{
    char path[RUNTIME_PATH_MAX * 2 + 16];
    snprintf(path, sizeof path, "%.*s.sock", (int)(strlen(log) - strlen(".log")), log);
    return access(path, F_OK) == 0;
}

static bool remove_old_log(const char *path, const char *name, void *context)
{
    (void)name, (void)context;
    if (!has_socket(path))
        unlink(path);
    return true;
}

/* What daemons left that ended without a word; their logs only when no other daemon lives. */
static void remove_left(const struct runtime *runtime, bool logs)
{
    bool living = false;
    each_file(runtime->directory, ".sock", remove_dead, &living);
    if (logs && !living)
        each_file(runtime->directory, ".log", remove_old_log, NULL);
}

static int runtime_claim(struct runtime *runtime, const char *vm, const char *host, bool first,
                         struct failure *why)
{
    if (runtime_names(runtime, vm, host, why) != 0)
        return -1;
    if (!first) {
        /* The daemon of a host that is added again may find its predecessor still ending its tasks:
         * the coordinator, which lets no two hosts have one name, has let go of it already. */
        for (int i = 0; i < PREDECESSOR_TRIES && socket_owner(runtime->socket) != 0; i++)
            usleep(PREDECESSOR_US);
    }
    int lock = runtime_lock(runtime, why);
    if (lock < 0)
        return -1;
    int result = refuse_living(runtime, vm, host, first, why);
    if (result == 0 && first)
        remove_left(runtime, true);
    if (result == 0) {
        unlink(runtime->log);
        result = runtime_listen(runtime, why);
    }
    close(lock);
    return result;
}

int runtime_open(struct runtime *runtime, const char *vm, const char *host, bool first,
                 struct failure *why)
{
    *runtime = (struct runtime){.listener = -1};
    int result = runtime_claim(runtime, vm, host, first, why);
    if (result != 0)
        remove_if_empty(runtime);
    return result;
}

void runtime_close(struct runtime *runtime, enum runtime_logs kept)
{
    struct failure unused;
    if (runtime->listener < 0)
        return;
    int lock = runtime_lock(runtime, &unused);
    if (kept != RUNTIME_LOGS_ALL)
        unlink(runtime->log);
    unlink(runtime->socket);
    remove_left(runtime, kept == RUNTIME_LOGS_NONE);
    remove_if_empty(runtime);
    if (lock >= 0)
        close(lock);
    close(runtime->listener); /* who waits for the end of this daemon finds nothing of it */
    runtime->listener = -1;
}

/* ---- survey ---- */

struct survey {
    runtime_flaw_fn *fn;
    void *context;
};

static void survey_directory(const struct survey *s, const char *path)
{
    struct failure why;
    struct stat st;
    if (lstat(path, &st) != 0 && errno == ENOENT)
        return;
    if (directory_check(path, &why) != 0)
        s->fn(s->context, RUNTIME_BAD_DIRECTORY, path, why.text);
}

static bool survey_dead(const char *path, const char *host, void *context)
{
    (void)host;
    const struct survey *s = context;
    if (socket_owner(path) == 0)
        s->fn(s->context, RUNTIME_DEAD_SOCKET, path, "");
    return true;
}

static bool survey_log(const char *path, const char *name, void *context)
{
    (void)name;
    const struct survey *s = context;
    if (!has_socket(path))
        s->fn(s->context, RUNTIME_OLD_LOG, path, "");
    return true;
}

/* The directory of one VM, unless a daemon is at work in it. */
static void survey_vm(const struct survey *s, const char *path)
{
    struct failure unused;
    survey_directory(s, path);
    if (directory_check(path, &unused) != 0)
        return;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0) {
        each_file(path, ".sock", survey_dead, (void *)s);
        each_file(path, ".log", survey_log, (void *)s);
    }
    if (fd >= 0)
        close(fd);
}

void runtime_survey(runtime_flaw_fn *fn, void *context)
{
    const struct survey s = {.fn = fn, .context = context};
    char base[RUNTIME_PATH_MAX];
    base_name(base, sizeof base);
    survey_directory(&s, base);
    DIR *d = opendir(base);
    if (d == NULL)
        return;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char path[RUNTIME_PATH_MAX * 2];
        snprintf(path, sizeof path, "%s/%s", base, e->d_name);
        if (e->d_name[0] != '.')
            survey_vm(&s, path);
    }
    closedir(d);
}
