/*
 * enrol.c - joining and leaving a VM: finding the daemon's socket, enrolling, the progress thread,
 * and the orderly end, also when the program just exits.
 */
#include "lib/root/enrol.h"
#include "lib/drive/request.h"
#include "lib/drive/wait.h"
#include "lib/engine/conn.h"
#include "lib/engine/credit.h"
#include "lib/engine/match.h"
#include "lib/engine/peer.h"
#include "lib/engine/turn.h"
#include "lib/link/barrier.h"
#include "lib/link/ledger.h"
#include "lib/link/link.h"
#include "lib/link/stream.h"
#include "lib/member/ended.h"
#include "lib/member/home.h"
#include "lib/member/part.h"
#include "lib/member/routes.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/root/parts.h"
#include "lib/spawn/printer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define CONNECT_US 5000000u /* for daemons that take nobody in */
#define ENROL_US 10000000u
#define LEAVE_US 10000000u
#define RING_US 1000000u /* until a ring comes; without room for one, none does */
#define JOIN_TRIES 16
#define END_POLL_MS 1000
#define VM_NAME_BYTES 64

/* ---- memberships that exit() must end --------------------------------------------------------
 *
 * Handlers of the program run before and after that of the library, and other threads go on: they
 * still have the handle, and what hangs on it. So a membership that exit() ends is left like any
 * other, but its memory stays, and every call says that the task has left. It stays in the list.
 */

static pthread_mutex_t members_lock = PTHREAD_MUTEX_INITIALIZER;
static struct covey *members;
static bool members_registered;     /* leave_at_exit() will be called */
static _Atomic int32_t members_pid; /* of the process that joined last */

static void leave_at_exit(void);

/* False: exit() ends it, or it is that of the process which this one was forked from. */
static bool members_remove(struct covey *vm)
{
    if (vm->self.pid != getpid())
        return false;
    pthread_mutex_lock(&members_lock);
    struct covey **at = &members;
    while (*at != NULL && *at != vm)
        at = &(*at)->self.next;
    bool taken = *at != NULL && !vm->self.exiting;
    if (taken)
        *at = vm->self.next;
    pthread_mutex_unlock(&members_lock);
    return taken;
}

/* One that exit() has to end, and does from now on; NULL: there is none. */
static struct covey *members_next(void)
{
    pthread_mutex_lock(&members_lock);
    struct covey *vm = members;
    while (vm != NULL && (vm->self.exiting || vm->self.pid != getpid()))
        vm = vm->self.next;
    if (vm != NULL)
        vm->self.exiting = true;
    else
        members_registered = false; /* a handler that comes later may join again */
    pthread_mutex_unlock(&members_lock);
    return vm;
}

/* ---- finding the daemon ---------------------------------------------------------------------- */

/* Looks for a daemon. */
struct search {
    uint64_t until_us;
    int skip;  /* so many daemons that answer, but take no tasks any more, or none yet */
    bool deaf; /* one is there that takes nobody in: it stands still */
};

/* With time to wait in connect(), which else has none, for a daemon that takes nobody in. */
static int connect_socket(int fd, const struct sockaddr_un *address, uint64_t until_us)
{
    int result;
    do {
        uint64_t now_us = clock_us(), left_us = until_us > now_us ? until_us - now_us : 1;
        const struct timeval left = {.tv_sec = (time_t)(left_us / 1000000),
                                     .tv_usec = (suseconds_t)(left_us % 1000000)};
        result = setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &left, sizeof left);
        if (result == 0)
            result = connect(fd, (const struct sockaddr *)address, sizeof *address);
    } while (result != 0 && errno == EINTR);
    return result;
}

/* EAGAIN: the daemon takes nobody in. */
static int connect_path(const char *path, struct search *search)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (connect_socket(fd, &address, search->until_us) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
        return fd;
    int error = errno;
    search->deaf = search->deaf || error == EAGAIN;
    close(fd);
    errno = error;
    return -1;
}

/* Our own directory that nobody else can write to, or a reason why not. */
static const char *directory_check(const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return strerror(errno);
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022) != 0)
        return "not a directory that only you can write to";
    return NULL;
}

static int directory_of(const char *vm, char *path, size_t size)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    int n;
    if (runtime != NULL && runtime[0] == '/')
        n = snprintf(path, size, "%s/covey/%s", runtime, vm);
    else
        n = snprintf(path, size, "/tmp/covey-%u/%s", (unsigned)geteuid(), vm);
    return n > 0 && (size_t)n < size ? 0 : -1;
}

static int is_socket_name(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".sock") == 0;
}

/* The daemon of the VM whose socket has that name, or -1; it counts down *skip instead while that
 * is not 0. */
static int connect_named(const char *directory, const char *name, int *skip, struct search *search)
{
    char path[512];
    int n = snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = n > 0 && (size_t)n < sizeof path ? connect_path(path, search) : -1;
    if (fd < 0 || *skip == 0)
        return fd;
    (*skip)--;
    close(fd);
    return -1;
}

/* Any living daemon of the VM on this host but for the first `skip` that answer, in the order of
 * their names: of virtual hosts the first, which lives longest, comes first. */
static int connect_any(const char *directory, struct search *search)
{
    struct dirent **names = NULL;
    int fd = -1, skip = search->skip;
    int count = scandir(directory, &names, is_socket_name, versionsort);
    for (int i = 0; i < count; i++) {
        if (fd < 0)
            fd = connect_named(directory, names[i]->d_name, &skip, search);
        free(names[i]);
    }
    free(names);
    return fd;
}

static int connect_vm(const char *vm, struct search *search)
{
    char directory[400];
    if (strchr(vm, '/') != NULL || vm[0] == '\0' || strlen(vm) > CONTROL_NAME_MAX)
        return error_set(COVEY_EINVAL, "'%.64s' cannot be a VM's name: 1 to %d bytes, no slash", vm,
                         CONTROL_NAME_MAX);
    if (directory_of(vm, directory, sizeof directory) != 0)
        return error_set(COVEY_EINVAL, "the runtime directory's path is too long");
    if (access(directory, F_OK) == 0) {
        const char *why = directory_check(directory);
        if (why != NULL)
            return error_set(COVEY_EDENIED, "%s: %s", directory, why);
    }
    int fd = connect_any(directory, search);
    if (fd < 0 && search->deaf)
        return error_set(COVEY_ETIMEOUT, "the daemon of VM '%s' takes nobody in: it stands still",
                         vm);
    if (fd < 0)
        return error_set(COVEY_EDAEMON, "no VM named '%s' runs here; start one with: covey start",
                         vm);
    return fd;
}

void enrol_await_end(const char *vm, uint64_t deadline_us)
{
    struct search search = {.until_us = deadline_us};
    char directory[400];
    int fd;
    if (directory_of(vm, directory, sizeof directory) != 0)
        return;
    while (clock_us() < deadline_us && (fd = connect_any(directory, &search)) >= 0) {
        struct pollfd end = {.fd = fd, .events = POLLIN};
        poll(&end, 1, END_POLL_MS); /* it says nothing: this is its end */
        close(fd);
    }
}

static int connect_daemon(const struct covey_options *o, struct search *search)
{
    char vm[VM_NAME_BYTES];
    const char *path = o->socket;
    if (path == NULL && o->vm == NULL)
        path = getenv("COVEY_SOCKET");
    if (path == NULL || path[0] == '\0')
        return connect_vm(o->vm != NULL ? o->vm : covey_vm_default(vm, sizeof vm), search);
    int fd = connect_path(path, search);
    if (fd < 0 && search->deaf)
        return error_set(COVEY_ETIMEOUT, "the daemon at %s takes nobody in: it stands still", path);
    if (fd < 0)
        return error_set(COVEY_EDAEMON, "no daemon at %s: %s", path, strerror(errno));
    return fd;
}

/* ---- enrolling ------------------------------------------------------------------------------- */

static void own_command(char *command, size_t size)
{
    FILE *f = fopen("/proc/self/cmdline", "re");
    size_t n = f == NULL ? 0 : fread(command, 1, size - 1, f);
    if (f != NULL)
        fclose(f);
    for (size_t i = 0; i + 1 < n; i++) {
        if (command[i] == '\0')
            command[i] = ' ';
    }
    command[n] = '\0';
}

static uint64_t own_cookie(void)
{
    const char *text = getenv("COVEY_TASK");
    return text == NULL ? 0 : strtoull(text, NULL, 16);
}

/* A program that nobody spawned decides itself where the output of its tasks goes. */
static void set_output(struct covey *vm, const struct control_enrolled *r,
                       const struct covey_options *o)
{
    bool prints = o->output == COVEY_OUTPUT_INHERIT && o->role == COVEY_ROLE_TASK;
    vm->self.sink = r->sink;
    if (r->parent != 0) {
        output_of(vm)->printing = r->print ? PRINTING_ABOVE : PRINTING_NOT;
        return;
    }
    output_of(vm)->printing = prints ? (enum printing)printer_printing() : PRINTING_NOT;
    vm->self.sink = o->output == COVEY_OUTPUT_SELF || output_of(vm)->printing != PRINTING_NOT
                        ? vm->self.tid
                        : 0;
}

static int enrol(struct covey *vm, const struct covey_options *o, uint64_t deadline_us)
{
    uint8_t body[512];
    uint8_t *content;
    size_t size;
    struct control_enrol e = {
        .version = WIRE_VERSION, .role = (uint8_t)o->role, .pid = getpid(), .cookie = own_cookie()};
    if (o->command != NULL)
        snprintf(e.command, sizeof e.command, "%s", o->command);
    else
        own_command(e.command, sizeof e.command);
    struct cursor c = cursor_writer(body, sizeof body);
    control_put_enrol(&c, &e); /* begins with a request number, which request_begin_fd() puts */
    struct request *asked =
        request_begin_fd(vm, FRAME_ENROL, 0, body + 4, (size_t)(c.at - body) - 4, vm->self.page_fd);
    if (asked == NULL)
        return request_refused(vm);
    int error = request_end(vm, &asked, deadline_us, &content, &size);
    if (error != COVEY_OK)
        return error;
    struct control_enrolled r;
    struct cursor reply = cursor_reader(content, size);
    control_get_enrolled(&reply, &r);
    free(content);
    if (!cursor_ok(&reply))
        return error_set(COVEY_EPROTO, "the daemon's answer makes no sense");
    if (vm->home.ledger == NULL)
        return error_set(COVEY_ERESOURCE, "out of memory or descriptors for the daemon's ledger");
    if (vm->self.page_fd >= 0)
        close(vm->self.page_fd);
    vm->self.page_fd = -1;
    vm->self.tid = r.tid;
    vm->self.parent = r.parent;
    set_output(vm, &r, o);
    vm->self.host = r.host;
    vm->self.coordinator = r.coordinator;
    vm->self.direct = r.direct;
    if (vm->self.route == COVEY_ROUTE_AUTO && r.route < ROUTES)
        vm->self.route = r.route;
    vm->out.contention = r.contention;
    memcpy(vm->self.host_name, r.host_name, sizeof vm->self.host_name);
    memcpy(vm->self.vm_name, r.vm, sizeof vm->self.vm_name);
    home_ready(vm, &vm->home.watch, 0); /* frames that came right behind the answer */
    return COVEY_OK;
}

/* At the end it rings on: whoever polls must not silence it before the progress thread has heard.
 */
static void on_doorbell(struct covey *vm, struct watch *watch, uint32_t events)
{
    uint64_t count;
    (void)events;
    if (vm->wait.closing)
        return;
    ssize_t n = read(watch->fd, &count, sizeof count);
    (void)n; /* what it rang for is looked at after every wake-up */
}

static int open_descriptors(struct covey *vm, int socket)
{
    vm->wait.epoll = epoll_create1(EPOLL_CLOEXEC);
    vm->wait.doorbell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (vm->wait.epoll < 0 || vm->wait.doorbell < 0)
        return error_set(COVEY_ERESOURCE, "out of descriptors");
    vm->wait.doorbell_watch =
        (struct watch){.ready = on_doorbell, .fd = vm->wait.doorbell, .events = EPOLLIN};
    vm->home.watch = (struct watch){.ready = home_ready, .fd = socket, .events = EPOLLIN};
    vm->links.listener_watch.fd = -1;
    int error = watch_add(vm, &vm->wait.doorbell_watch);
    return error != COVEY_OK ? error : watch_add(vm, &vm->home.watch);
}

static void page_end(struct covey *vm)
{
    if (vm->self.page_fd >= 0)
        close(vm->self.page_fd);
    task_page_close(vm->self.page);
}

static struct covey *vm_create(int socket)
{
    struct covey *vm = calloc(1, sizeof *vm);
    bool made = vm != NULL && parts_create(vm);
    if (made) {
        vm->home.daemon = stream_create(socket);
        vm->self.page = task_page_create(&vm->self.page_fd);
    }
    if (!made || vm->home.daemon == NULL || vm->self.page == NULL) {
        if (vm != NULL)
            parts_destroy(vm);
        if (made)
            page_end(vm);
        free(vm);
        close(socket);
        error_code(COVEY_ENOMEM);
        return NULL;
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&vm->lock, NULL);
    pthread_cond_init(&vm->wait.changed, &monotonic);
    pthread_cond_init(&vm->wait.progress_wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    ended_init(vm);
    vm->wait.epoll = vm->wait.doorbell = -1;
    vm->links.listener_watch.fd = -1;
    vm->self.pid = getpid();
    task_count_set(&vm->self.page->counts.joined_us, clock_us());
    vm->memory.file = "/proc/meminfo";
    vm->memory.bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGE_SIZE);
    return vm;
}

static void vm_destroy(struct covey *vm)
{
    conn_drop_all(vm);
    turn_free_all(vm);
    peer_free_all(vm);
    conn_bury(vm);
    while (vm->inbox.unexpected != NULL)
        match_free(vm, vm->inbox.unexpected);
    ended_free_all(vm);
    parts_destroy(vm);
    stream_destroy(vm->home.daemon);
    ledger_close(vm->home.ledger);
    page_end(vm);
    if (vm->links.listener_watch.fd >= 0)
        close(vm->links.listener_watch.fd);
    ether_port_destroy(vm->links.ether_port);
    if (vm->wait.doorbell >= 0)
        close(vm->wait.doorbell);
    if (vm->inbox.ready_on)
        close(vm->inbox.ready_fd);
    if (vm->wait.epoll >= 0)
        close(vm->wait.epoll);
    pthread_mutex_destroy(&vm->lock);
    pthread_cond_destroy(&vm->wait.changed);
    pthread_cond_destroy(&vm->wait.progress_wake);
    free(vm);
}

/* The thread takes no signal: those are the program's. Links in memory will want to take part in
 * barriers, which is done at once as long as there is one thread. */
static int progress_start(struct covey *vm)
{
    sigset_t all, before;
    (void)barrier_join();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&vm->wait.progress_thread, NULL, wait_progress_main, vm);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return error_set(COVEY_ERESOURCE, "no thread for progress: %s", strerror(error));
    return COVEY_OK;
}

static int options_route(const struct covey_options *o)
{
    const char *name = getenv("COVEY_ROUTE");
    if (o->route < 0 || o->route >= ROUTES)
        return error_set(COVEY_EINVAL, "join: unknown route %d", o->route);
    if (o->route != COVEY_ROUTE_AUTO)
        return o->route;
    int route = name == NULL || name[0] == '\0' ? COVEY_ROUTE_AUTO : covey_route_parse(name);
    return route >= 0
               ? route
               : error_set(COVEY_EINVAL,
                           "COVEY_ROUTE is '%.40s', and not auto, shm, udp, tcp or ether", name);
}

/* enum peeking, or an error. */
static int options_peek(void)
{
    const char *text = getenv("COVEY_SINGLE_COPY");
    if (text == NULL || text[0] == '\0' || strcmp(text, "auto") == 0)
        return PEEKING_WHERE_FASTER;
    if (strcmp(text, "yes") == 0)
        return PEEKING_ALWAYS;
    if (strcmp(text, "no") == 0)
        return PEEKING_NEVER;
    return error_set(COVEY_EINVAL, "COVEY_SINGLE_COPY is '%.40s', and not yes, no or auto", text);
}

/* Enrols over that socket and takes it over. */
static int join_by(covey_t **vm, int socket, const struct covey_options *o, int route,
                   uint64_t deadline_us)
{
    struct covey *created = vm_create(socket);
    if (created == NULL)
        return COVEY_ENOMEM;
    created->self.route = route;
    created->links.peeking = (enum peeking)options_peek();
    created->memory.buffer_bytes = o->buffer_bytes != 0 ? o->buffer_bytes : BUFFER_BYTES_DEFAULT;
    int error = open_descriptors(created, socket);
    if (error == COVEY_OK) {
        pthread_mutex_lock(&created->lock);
        error = enrol(created, o, deadline_us);
        pthread_mutex_unlock(&created->lock);
    }
    if (error == COVEY_OK)
        error = progress_start(created);
    if (error != COVEY_OK) {
        vm_destroy(created);
        return error;
    }
    pthread_mutex_lock(&members_lock);
    struct covey **last = &members; /* exit() ends the first one first, and with it its trace */
    while (*last != NULL)
        last = &(*last)->self.next;
    *last = created;
    members_pid = created->self.pid;
    if (!members_registered)
        members_registered = atexit(leave_at_exit) == 0;
    pthread_mutex_unlock(&members_lock);
    *vm = created;
    return COVEY_OK;
}

static bool is_recorded(void *context)
{
    return ((struct covey *)context)->trace != NULL;
}

/* A program that was started by hand is traced if the environment says so: it, and what it starts.
 * The first membership of a process stands for it. */
static int record(struct covey **vm, const struct covey_options *o)
{
    const char *file = getenv("COVEY_TRACE");
    struct covey_options options = {.vm = o->vm, .socket = o->socket};
    bool wanted = file != NULL && file[0] != '\0' && o->role == COVEY_ROLE_TASK;
    if (!wanted || (*vm)->self.parent != 0)
        return COVEY_OK;
    pthread_mutex_lock(&members_lock);
    for (const struct covey *other = members; other != NULL; other = other->self.next)
        wanted = wanted && other->recorder == NULL;
    pthread_mutex_unlock(&members_lock);
    int error =
        wanted ? covey_trace_open(&(*vm)->recorder, &options, file, covey_mytid(*vm)) : COVEY_OK;
    if (error == COVEY_OK) {
        /* The ring is on its way to this task: what it does first is recorded, too. */
        pthread_mutex_lock(&(*vm)->lock);
        if (wanted)
            (void)wait_until(*vm, is_recorded, *vm, clock_us() + RING_US);
        pthread_mutex_unlock(&(*vm)->lock);
        return COVEY_OK;
    }
    char why[160];
    snprintf(why, sizeof why, "%s", covey_error_text());
    covey_leave(vm);
    return error_set(error, "%s", why);
}

/* A daemon that ends just as it was found does not mean that none is left here. */
int covey_join(covey_t **vm, const struct covey_options *options)
{
    static const struct covey_options defaults;
    const struct covey_options *o = options != NULL ? options : &defaults;
    int route = options_route(o), printing = printer_printing(), peek = options_peek();
    if (vm == NULL || o->output < COVEY_OUTPUT_INHERIT || o->output > COVEY_OUTPUT_DISCARD)
        return error_set(COVEY_EINVAL, "join: NULL or no such output");
    if (route < 0 || printing < 0 || peek < 0)
        return route < 0 ? route : printing < 0 ? printing : peek;
    /* A standard descriptor that is closed would be the next socket, and what the program prints go
     * to a daemon. There nothing can be written, so that who tries is told. */
    int fd;
    while ((fd = open("/dev/null", O_RDONLY)) >= 0 && fd <= STDERR_FILENO)
        continue;
    if (fd > STDERR_FILENO)
        close(fd);
    if (auth_init() != 0)
        return error_set(COVEY_ESYS, "libsodium could not be initialised");
    int error = COVEY_EDAEMON;
    struct search search = {.until_us = clock_us() + CONNECT_US};
    uint64_t deadline_us = search.until_us + ENROL_US;
    for (int i = 0; i < JOIN_TRIES && (error == COVEY_EDAEMON || error == COVEY_EHALT); i++) {
        int socket = connect_daemon(o, &search);
        if (socket < 0 && search.skip == 0)
            return socket;
        if (socket < 0) { /* some of them have gone: who is left was skipped for them */
            error = socket;
            search.skip = 0;
            continue;
        }
        error = join_by(vm, socket, o, route, deadline_us);
        search.skip += error == COVEY_EHALT;
    }
    return error == COVEY_OK ? record(vm, o) : error;
}

/* ---- leaving --------------------------------------------------------------------------------- */

/* Whether closing it could lose bytes which the other end has not got. */
static bool has_unsent(const struct conn *conn)
{
    int unacknowledged;
    if (conn->link->ops->unsent != NULL && conn->link->ops->unsent(conn->link) > 0)
        return true;
    return conn->watch.fd >= 0 && ioctl(conn->watch.fd, SIOCOUTQ, &unacknowledged) == 0 &&
           unacknowledged > 0;
}

static bool all_sent(void *context)
{
    const struct covey *vm = context;
    if (vm->out.sending != NULL || stream_queued(vm->home.daemon) > 0)
        return false;
    for (const struct conn *conn = vm->links.conns; conn != NULL; conn = conn->next) {
        if (!conn->closed && has_unsent(conn))
            return false;
    }
    return true;
}

/* Acknowledgements of a stream wake nobody, so this looks again every millisecond. */
static void flush_all(struct covey *vm)
{
    uint64_t end_us = clock_us() + LEAVE_US;
    while (vm->home.lost == 0 && !all_sent(vm) && clock_us() < end_us)
        wait_until(vm, all_sent, vm, clock_us() + 1000);
}

/* The memory stays, and nobody works for it any more. */
static void membership_end(struct covey *vm)
{
    pthread_mutex_lock(&vm->lock);
    vm->self.awaits = (struct task_awaits){.call = "leave"}; /* what the last call named is gone */
    parts_leave(vm);
    flush_all(vm);
    printer_gather(vm);
    if (vm->home.lost == 0) {
        home_send(vm, FRAME_LEAVE, 0, NULL, 0);
        flush_all(vm);
    }
    printer_destroy(vm);
    vm->wait.closing = true;
    if (vm->wait.poller == POLLER_PROGRESS)
        vm->wait.poller = POLLER_NONE;
    pthread_cond_signal(&vm->wait.progress_wake);
    pthread_mutex_unlock(&vm->lock);
    wait_ring(vm);
    pthread_join(vm->wait.progress_thread, NULL);
    covey_trace_close(&vm->recorder, NULL);
}

void covey_leave(covey_t **vm)
{
    if (vm == NULL || *vm == NULL)
        return;
    struct covey *leaving = *vm;
    *vm = NULL;
    if (!members_remove(leaving))
        return;
    membership_end(leaving);
    vm_destroy(leaving);
}

/* Another thread may poll still: it learns that all is over, and closed links stay until it has. */
static void leave_at_exit(void)
{
    if (members_pid != getpid())
        return; /* a forked child: in its copy the lock may be held for ever */
    for (struct covey *vm; (vm = members_next()) != NULL;) {
        membership_end(vm);
        pthread_mutex_lock(&vm->lock);
        home_lost(vm, COVEY_EDAEMON, "the task has left the virtual machine: its program exits");
        conn_drop_all(vm);
        pthread_mutex_unlock(&vm->lock);
    }
}
