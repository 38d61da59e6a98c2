/* links: proto/wire/contention_config.c lib/link/stream.c proto/wire/frame.c proto/wire/cursor.c proto/wire/control.c proto/contention/contention.c proto/wire/address.c */
/*
 * The daemon as raw clients see it: what it answers, what it refuses, in which order. Each case
 * starts a coveyd of its own ($BUILD/coveyd) and speaks frames to it.
 */
#include <CUnit/CUnit.h>
#include <dirent.h>
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

#include "lib/covey.h"
#include "lib/link/stream.h"
#include "proto/wire/control.h"
#include "tests/unit/runner.h"

#define WAIT_MS 20000
#define QUEUE_MAX_BYTES ((size_t)64 * 1024 * 1024) /* as in daemon/table/connection.h */

/* ---- a daemon ---- */

struct vm {
    char directory[64], socket[128], conf[128];
    pid_t pid;
};

/* With that text as its configuration. */
static void vm_start_with(struct vm *vm, const char *text)
{
    const char *build = getenv("BUILD");
    char program[512];
    int ends[2];
    char line[64] = "";
    snprintf(program, sizeof program, "%s/coveyd", build == NULL ? "build" : build);
    snprintf(vm->directory, sizeof vm->directory, "/tmp/covey-protocol-test.XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(vm->directory));
    snprintf(vm->socket, sizeof vm->socket, "%s/covey/raw/h0.sock", vm->directory);
    snprintf(vm->conf, sizeof vm->conf, "%s/covey.conf", vm->directory);
    FILE *conf = fopen(vm->conf, "we");
    CU_ASSERT_TRUE_FATAL(conf != NULL && fputs(text, conf) >= 0 && fclose(conf) == 0);
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    vm->pid = fork();
    if (vm->pid == 0) {
        setenv("XDG_RUNTIME_DIR", vm->directory, 1);
        dup2(ends[1], 2);
        execl(program, program, "--local", "--vm", "raw", "--foreground", "--config", vm->conf,
              (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *said = fdopen(ends[0], "r");
    while (fgets(line, sizeof line, said) != NULL && strstr(line, "socket") == NULL)
        ;
    CU_ASSERT_EQUAL_FATAL(access(vm->socket, F_OK), 0);
    fcntl(ends[0], F_SETFL,
          O_NONBLOCK); /* later lines are nobody's; the pipe is closed at the end */
}

static void vm_start(struct vm *vm)
{
    vm_start_with(vm, "");
}

static void vm_stop(struct vm *vm)
{
    int status = -1;
    kill(vm->pid, SIGTERM);
    waitpid(vm->pid, &status, 0);
    CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    unlink(vm->conf);
    CU_ASSERT_EQUAL(rmdir(vm->directory), 0); /* nothing is left in it */
}

/* ---- a raw client ---- */

struct client {
    struct stream *stream;
    uint32_t tid;
    /* the last frame that came */
    struct frame frame;
    uint8_t payload[FRAME_PAYLOAD_MAX];
    int fds[FRAME_FDS_MAX];
    int nfds;
};

static void client_call(struct client *c, const struct vm *vm)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    *c = (struct client){.stream = NULL};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memcpy(a.sun_path, vm->socket, strlen(vm->socket) + 1);
    CU_ASSERT_EQUAL_FATAL(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    c->stream = stream_create(fd);
}

static void client_end(struct client *c)
{
    stream_destroy(c->stream);
    c->stream = NULL;
}

static void client_put(struct client *c, uint8_t kind, uint32_t to, const void *payload,
                       size_t size)
{
    struct frame frame = {
        .length = (uint32_t)size, .kind = kind, .source = c->tid, .destination = to};
    CU_ASSERT_EQUAL(stream_put(c->stream, &frame, payload, NULL, 0), 0);
    while (stream_flush(c->stream) == 1) {
        struct pollfd p = {.fd = stream_fd(c->stream), .events = POLLOUT};
        if (poll(&p, 1, WAIT_MS) <= 0)
            break;
    }
}

static int on_frame(void *context, const struct frame *frame, const uint8_t *payload, int *fds,
                    int nfds)
{
    struct client *c = context;
    c->frame = *frame;
    memcpy(c->payload, payload, frame->length);
    memcpy(c->fds, fds, (size_t)nfds * sizeof fds[0]);
    c->nfds = nfds;
    return 1;
}

/* Waits for the next frame. False: the daemon closed the connection, or nothing came. */
static bool client_get(struct client *c)
{
    for (;;) {
        int result = stream_read(c->stream, on_frame, c);
        if (result != 0)
            return result == 1;
        struct pollfd p = {.fd = stream_fd(c->stream), .events = POLLIN};
        if (poll(&p, 1, WAIT_MS) <= 0)
            return false;
    }
}

static bool client_gets(struct client *c, uint8_t kind)
{
    bool got = client_get(c);
    CU_ASSERT_TRUE(got);
    CU_ASSERT_EQUAL(got ? c->frame.kind : 0, kind);
    return got && c->frame.kind == kind;
}

static void client_enrol(struct client *c, const struct vm *vm)
{
    uint8_t bytes[256];
    struct control_reply reply;
    struct control_enrolled enrolled;
    struct cursor w = cursor_writer(bytes, sizeof bytes);
    struct control_enrol enrol = {.request = 7, .version = WIRE_VERSION, .pid = getpid()};
    control_put_enrol(&w, &enrol);
    client_call(c, vm);
    client_put(c, FRAME_ENROL, 0, bytes, (size_t)(w.at - bytes));
    CU_ASSERT_TRUE_FATAL(client_gets(c, FRAME_REPLY));
    struct cursor r = cursor_reader(c->payload, c->frame.length);
    control_get_reply(&r, &reply);
    control_get_enrolled(&r, &enrolled);
    CU_ASSERT_TRUE_FATAL(cursor_done(&r) && reply.request == 7 && reply.status == 0);
    c->tid = enrolled.tid;
}

static void check_reply(const struct client *c, uint32_t request, int32_t status)
{
    struct control_reply reply = {0};
    CU_ASSERT_EQUAL_FATAL(c->frame.kind, FRAME_REPLY);
    struct cursor r = cursor_reader(c->payload, c->frame.length);
    control_get_reply(&r, &reply);
    CU_ASSERT_EQUAL(reply.request, request);
    CU_ASSERT_EQUAL(reply.status, status);
}

static void expect_reply(struct client *c, uint32_t request, int32_t status)
{
    if (client_gets(c, FRAME_REPLY))
        check_reply(c, request, status);
}

/* Returns the exit status. */
static int32_t expect_gone(struct client *c, uint32_t tid, uint8_t kind)
{
    struct control_gone gone = {0};
    if (!client_gets(c, FRAME_GONE))
        return -1;
    struct cursor r = cursor_reader(c->payload, c->frame.length);
    control_get_gone(&r, &gone);
    CU_ASSERT_EQUAL(gone.tid, tid);
    CU_ASSERT_EQUAL(gone.kind, kind);
    return gone.value;
}

static void put_tid(uint8_t bytes[4], uint32_t tid)
{
    struct cursor w = cursor_writer(bytes, 4);
    cursor_put_u32(&w, tid);
}

/* ---- cases ---- */

static void tids_count_up(void)
{
    struct vm vm;
    struct client a, b;
    vm_start(&vm);
    client_enrol(&a, &vm);
    client_enrol(&b, &vm);
    CU_ASSERT_EQUAL(tid_host(a.tid), 1);
    CU_ASSERT_EQUAL(b.tid, a.tid + 1);
    client_end(&b);
    client_enrol(&b, &vm);
    CU_ASSERT_EQUAL(b.tid, a.tid + 2);
    client_end(&a);
    client_end(&b);
    vm_stop(&vm);
}

static void another_version_is_refused_by_name(void)
{
    struct vm vm;
    struct client c;
    uint8_t bytes[64];
    struct control_enrol enrol = {.request = 7, .version = WIRE_VERSION + 1};
    struct cursor w = cursor_writer(bytes, sizeof bytes);
    control_put_enrol(&w, &enrol);
    vm_start(&vm);
    client_call(&c, &vm);
    client_put(&c, FRAME_ENROL, 0, bytes, (size_t)(w.at - bytes));
    expect_reply(&c, 7, COVEY_EVERSION);
    c.payload[c.frame.length] = '\0';
    char said[64];
    snprintf(said, sizeof said, "version %d, this daemon version %d", WIRE_VERSION + 1,
             WIRE_VERSION);
    CU_ASSERT_PTR_NOT_NULL(strstr((char *)c.payload + 10, said));
    CU_ASSERT_FALSE(client_get(&c));
    client_end(&c);
    vm_stop(&vm);
}

/* Sends one frame as a new task, or as a caller that has not enrolled; the daemon must hang up. */
static void hangs_up(const struct vm *vm, bool enrolled, uint8_t kind, uint32_t source, uint32_t to)
{
    struct client c;
    uint8_t bytes[16] = {0};
    if (enrolled)
        client_enrol(&c, vm);
    else
        client_call(&c, vm);
    if (source != 0)
        c.tid = source;
    client_put(&c, kind, to, bytes, sizeof bytes);
    if (!enrolled)
        client_get(&c); /* the reason */
    CU_ASSERT_FALSE(client_get(&c));
    client_end(&c);
}

static void who_breaks_the_protocol_is_disconnected(void)
{
    struct vm vm;
    struct client witness;
    vm_start(&vm);
    client_enrol(&witness, &vm);
    uint32_t daemon = tid_make(1, 0), other = witness.tid;
    hangs_up(&vm, false, FRAME_DATA, 0, other);     /* not enrolled */
    hangs_up(&vm, true, FRAME_ENROL, 0, 0);         /* twice */
    hangs_up(&vm, true, FRAME_DATA, other, other);  /* as somebody else */
    hangs_up(&vm, true, FRAME_DATA, daemon, other); /* as the daemon */
    hangs_up(&vm, true, FRAME_DATA, 0, daemon);     /* data for a daemon */
    hangs_up(&vm, true, FRAME_HOSTS, 0, other);     /* a request to a task */
    hangs_up(&vm, true, FRAME_MCAST, 0, other);
    hangs_up(&vm, true, FRAME_REPLY, 0, other); /* only daemons answer */
    hangs_up(&vm, true, FRAME_GONE, 0, other);
    hangs_up(&vm, true, FRAME_HOST_EVENT, 0, other);
    hangs_up(&vm, true, FRAME_SHUTDOWN, 0, daemon); /* between daemons */
    hangs_up(&vm, true, FRAME_JOIN, 0, tid_make(2, 0));
    client_put(&witness, FRAME_HOSTS, 0, "\0\0\0\5", 4); /* others go on, and saw nothing */
    expect_reply(&witness, 5, 0);
    client_end(&witness);
    vm_stop(&vm);
}

static void nonsense_is_answered(void)
{
    struct vm vm;
    struct client c;
    static const uint8_t kinds[] = {FRAME_HOSTS,  FRAME_TASKS,     FRAME_SPAWN,
                                    FRAME_SIGNAL, FRAME_ADD_HOSTS, FRAME_REMOVE_HOSTS,
                                    FRAME_HALT,   FRAME_STATS,     FRAME_SERVICE};
    uint8_t bytes[9] = {0, 0, 0, 9, 0xff, 0xff, 0xff, 0xff, 0xff};
    vm_start(&vm);
    client_enrol(&c, &vm);
    for (size_t i = 0; i < sizeof kinds; i++) {
        client_put(&c, kinds[i], 0, bytes, sizeof bytes);
        expect_reply(&c, 9, COVEY_EPROTO);
    }
    client_put(&c, FRAME_TASKS, tid_make(77, 0), bytes, 4); /* no such host */
    expect_reply(&c, 9, COVEY_EHOSTFAIL);
    client_end(&c);
    vm_stop(&vm);
}

static void refuses_mcast(struct client *c, struct control_mcast m, size_t data)
{
    uint8_t bytes[256] = {0};
    struct cursor w = cursor_writer(bytes, sizeof bytes);
    control_put_mcast(&w, &m);
    client_put(c, FRAME_MCAST, 0, bytes, (size_t)(w.at - bytes) + data);
}

/* All of them have it in their queues before any of them gets it. */
static void a_multicast_on_one_host_reaches_all(void)
{
    struct vm vm;
    struct client a, b;
    uint8_t bytes[256];
    const struct message_header header = {
        .sequence = 9, .tag = 3, .representation = REPRESENTATION_LITTLE};
    vm_start(&vm);
    client_enrol(&a, &vm);
    client_enrol(&b, &vm);
    struct control_mcast m = {
        .count = 2, .flags = FRAME_FIRST | FRAME_LAST, .receivers = {{b.tid, 4}, {a.tid, 5}}};
    struct cursor w = cursor_writer(bytes, sizeof bytes);
    control_put_mcast(&w, &m);
    message_header_encode(&header, w.at);
    client_put(&a, FRAME_MCAST, 0, bytes, (size_t)(w.at - bytes) + FRAME_MESSAGE_BYTES);
    struct client *receivers[] = {&b, &a};
    uint64_t stamp = 0;
    for (unsigned i = 0; i < 2; i++) {
        struct message_header got;
        CU_ASSERT_TRUE_FATAL(client_gets(receivers[i], FRAME_DATA));
        CU_ASSERT_PTR_NULL_FATAL(
            message_header_decode(receivers[i]->payload, receivers[i]->frame.length, &got));
        CU_ASSERT(got.tag == 3 && got.sequence == 4 + i);
        /* one stamp for all: what a receiver sends because of the message is later for all */
        CU_ASSERT(got.stamp > 0 && (i == 0 || got.stamp == stamp));
        stamp = got.stamp;
    }
    client_end(&a);
    client_end(&b);
    vm_stop(&vm);
}

static void a_multicast_that_makes_no_sense_reaches_nobody(void)
{
    struct vm vm;
    struct client a, b;
    vm_start(&vm);
    client_enrol(&a, &vm);
    client_enrol(&b, &vm);
    struct control_mcast m = {.count = 1, .flags = FRAME_FIRST, .receivers = {{b.tid, 0}}};
    refuses_mcast(&a, m, FRAME_MESSAGE_BYTES);
    client_put(&a, FRAME_MCAST, 0, "\0\0\0\0", 4);
    client_put(&a, FRAME_STATS, 0, "\0\0\0\1", 4); /* its answer: all of it was read */
    expect_reply(&a, 1, 0);
    client_put(&b, FRAME_STATS, 0, "\0\0\0\2", 4);
    expect_reply(&b, 2, 0);
    client_end(&a);
    client_end(&b);
    vm_stop(&vm);
}

static void the_end_of_a_task_comes_after_what_it_sent(void)
{
    struct vm vm;
    struct client a, b;
    uint8_t tid[4], bytes[1000] = {0};
    vm_start(&vm);
    client_enrol(&a, &vm);
    client_enrol(&b, &vm);
    put_tid(tid, b.tid);
    client_put(&a, FRAME_WATCH, 0, tid, sizeof tid);
    client_put(&a, FRAME_STATS, 0, "\0\0\0\1", 4); /* its answer: the daemon has the WATCH */
    expect_reply(&a, 1, 0);
    for (unsigned i = 0; i < 100; i++) {
        bytes[0] = (uint8_t)i;
        client_put(&b, FRAME_DATA, a.tid, bytes, sizeof bytes);
    }
    client_end(&b);
    for (unsigned i = 0; i < 100; i++)
        if (client_gets(&a, FRAME_DATA))
            CU_ASSERT_EQUAL(a.payload[0], i);
    expect_gone(&a, b.tid, COVEY_EXIT_UNKNOWN);
    client_put(&a, FRAME_DATA, b.tid, bytes, sizeof bytes); /* nobody there */
    expect_gone(&a, b.tid, COVEY_EXIT_UNKNOWN);
    put_tid(tid, tid_make(1, 4711)); /* never was */
    client_put(&a, FRAME_WATCH, 0, tid, sizeof tid);
    expect_gone(&a, tid_make(1, 4711), COVEY_EXIT_UNKNOWN);
    client_put(&a, FRAME_DATA, tid_make(9, 1), bytes, sizeof bytes); /* no such host */
    expect_gone(&a, tid_make(9, 1), COVEY_EXIT_HOST);
    client_end(&a);
    vm_stop(&vm);
}

static void put_link_open(struct client *c, uint32_t to, uint8_t route, const int *fds, int nfds)
{
    uint8_t bytes[64];
    struct control_link link = {.nonce = {1, 2, 3}, .route = route};
    struct cursor w = cursor_writer(bytes, sizeof bytes);
    control_put_link_open(&w, &link);
    struct frame frame = {.length = (uint32_t)(w.at - bytes),
                          .kind = FRAME_LINK_OPEN,
                          .source = c->tid,
                          .destination = to};
    CU_ASSERT_EQUAL(stream_put(c->stream, &frame, bytes, fds, nfds), 0);
    CU_ASSERT_EQUAL(stream_flush(c->stream), 0);
}

static void both_ends_of_a_link_get_one_key(void)
{
    struct vm vm;
    struct client a, b;
    struct control_link key, open;
    vm_start(&vm);
    client_enrol(&a, &vm);
    client_enrol(&b, &vm);
    put_link_open(&a, b.tid, COVEY_ROUTE_TCP, NULL, 0);
    CU_ASSERT_TRUE_FATAL(client_gets(&a, FRAME_LINK_KEY) && client_gets(&b, FRAME_LINK_OPEN));
    CU_ASSERT_EQUAL(a.frame.source, b.tid);
    struct cursor ra = cursor_reader(a.payload, a.frame.length);
    struct cursor rb = cursor_reader(b.payload, b.frame.length);
    control_get_link_key(&ra, &key);
    control_get_link_open(&rb, &open);
    CU_ASSERT_TRUE(cursor_done(&ra) && cursor_done(&rb) && open.has_key);
    CU_ASSERT_EQUAL(memcmp(key.key, open.key, sizeof key.key), 0);
    CU_ASSERT_EQUAL(memcmp(key.nonce, open.nonce, sizeof key.nonce), 0);
    client_end(&a);
    client_end(&b);
    vm_stop(&vm);
}

static void descriptors_pass_through(void)
{
    struct vm vm;
    struct client a, b;
    int ends[2];
    vm_start(&vm);
    client_enrol(&a, &vm);
    client_enrol(&b, &vm);
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    put_link_open(&a, b.tid, COVEY_ROUTE_SHM, ends, 2);
    CU_ASSERT_TRUE(client_gets(&b, FRAME_LINK_OPEN));
    CU_ASSERT_EQUAL_FATAL(b.nfds, 2);
    char c = 0;
    CU_ASSERT_EQUAL(write(b.fds[1], "x", 1), 1);
    CU_ASSERT_EQUAL(read(ends[0], &c, 1), 1);
    CU_ASSERT_EQUAL(c, 'x');
    put_link_open(&a, tid_make(2, 1), COVEY_ROUTE_SHM, NULL, 0); /* not on this host */
    CU_ASSERT_TRUE(client_gets(&a, FRAME_LINK_REFUSE));
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        close(b.fds[i]);
    }
    client_end(&a);
    client_end(&b);
    vm_stop(&vm);
}

/* ---- spawning ---- */

static void put_spawn(struct client *c, const struct control_spawn *spawn, const char *const *argv,
                      const char *const *env)
{
    static uint8_t bytes[FRAME_PAYLOAD_MAX];
    struct cursor w = cursor_writer(bytes, sizeof bytes);
    control_put_spawn(&w, spawn, argv, env);
    CU_ASSERT_TRUE_FATAL(cursor_ok(&w));
    client_put(c, FRAME_SPAWN, 0, bytes, (size_t)(w.at - bytes));
}

/* The result of a SPAWN of one task. */
/* The next reply; ends of tasks that were spawned may come before it. */
static bool client_replies(struct client *c)
{
    bool got;
    while ((got = client_get(c)) && (c->frame.kind == FRAME_GONE || c->frame.kind == FRAME_ENDED))
        ;
    CU_ASSERT_TRUE(got);
    CU_ASSERT_EQUAL(got ? c->frame.kind : 0, FRAME_REPLY);
    return got && c->frame.kind == FRAME_REPLY;
}

static struct control_result spawn_result(struct client *c)
{
    struct control_reply reply = {0};
    struct control_result result = {0};
    if (!client_replies(c))
        return result;
    struct cursor r = cursor_reader(c->payload, c->frame.length);
    control_get_reply(&r, &reply);
    control_get_result(&r, &result);
    CU_ASSERT_TRUE(cursor_done(&r) && reply.status == 0);
    return result;
}

static struct control_spawn spawn_for(const struct client *c)
{
    return (struct control_spawn){
        .request = 3, .count = 1, .parent = c->tid, .sink = c->tid, .cwd = "/"};
}

static void spawn_fails(struct client *c, const char *cwd, const char *program, int32_t error,
                        const char *says)
{
    const char *const argv[] = {program, NULL};
    struct control_spawn spawn = spawn_for(c);
    snprintf(spawn.cwd, sizeof spawn.cwd, "%s", cwd);
    put_spawn(c, &spawn, argv, NULL);
    struct control_result result = spawn_result(c);
    CU_ASSERT_EQUAL(result.error, error);
    CU_ASSERT_PTR_NOT_NULL(strstr(result.text, says));
    if (strstr(result.text, says) == NULL)
        printf("says: %s\n", result.text);
}

static void failures_to_spawn_are_exact(void)
{
    struct vm vm;
    struct client c;
    vm_start(&vm);
    client_enrol(&c, &vm);
    spawn_fails(&c, "/", "/no/such", COVEY_ENOENT, "program '/no/such': No such file");
    spawn_fails(&c, "/", "nosuch", COVEY_ENOENT, "program 'nosuch': No such file");
    spawn_fails(&c, "/", "/etc/passwd/x", COVEY_ENOENT, "Not a directory");
    spawn_fails(&c, "/", "/etc/passwd", COVEY_EEXEC, "Permission denied");
    spawn_fails(&c, "/no/such", "true", COVEY_ENOENT, "working directory '/no/such': No such file");
    spawn_fails(&c, "/etc/passwd", "true", COVEY_ENOENT, "working directory '/etc/passwd': Not a");
    client_end(&c);
    vm_stop(&vm);
}

/* Requests of a task that does not wait for their answers, behind one that takes long. */
static void spawns_that_wait_are_bounded(void)
{
    struct vm vm;
    struct client c;
    static char text[60000];
    const char *const argv[] = {"/bin/true", text, NULL};
    memset(text, 'x', sizeof text - 1);
    vm_start(&vm);
    client_enrol(&c, &vm);
    struct control_spawn spawn = {
        .request = 3, .count = 10000, .parent = c.tid, .tether = 1, .cwd = "/"};
    put_spawn(&c, &spawn, argv, NULL);
    spawn.request = 4;
    for (unsigned i = 0; i < 1000; i++)
        put_spawn(&c, &spawn, argv, NULL);
    bool got = client_get(&c);
    while (got && c.frame.kind == FRAME_GONE) /* of what the first has started so far */
        got = client_get(&c);
    CU_ASSERT_TRUE_FATAL(got);
    check_reply(&c, 4, COVEY_ERESOURCE);
    client_end(&c); /* what has not been started is not wanted any more */
    vm_stop(&vm);
}

/* A counter of the daemon. */
static uint64_t stat_of(struct client *c, const char *name)
{
    client_put(c, FRAME_STATS, 0, "\0\0\0\1", 4);
    if (!client_replies(c))
        return 0;
    const uint8_t *at = memmem(c->payload, c->frame.length, name, strlen(name));
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    struct cursor r = cursor_reader(at + strlen(name), 8);
    return cursor_get_u64(&r);
}

/* What it costs the daemon to start one task with so many variables, a number of times. */
static uint64_t cost_us(struct client *c, unsigned variables)
{
    static char texts[6000][12];
    const char *const argv[] = {"/bin/true", NULL};
    const char *env[6001] = {NULL};
    for (unsigned i = 0; i < variables; i++) {
        snprintf(texts[i], sizeof texts[i], "%u=", i);
        env[i] = texts[i];
    }
    struct control_spawn spawn = spawn_for(c);
    uint64_t before_us = stat_of(c, "process.cpu_us");
    for (unsigned i = 0; i < 10; i++) {
        put_spawn(c, &spawn, argv, env);
        CU_ASSERT_EQUAL(spawn_result(c).error, 0);
    }
    return stat_of(c, "process.cpu_us") - before_us;
}

/* Four times as many cost about four times as much processor time, not sixteen times. Whatever else
 * the machine does only adds to a cost: the least of some is compared. */
static void many_variables_cost_what_they_are(void)
{
    struct vm vm;
    struct client c;
    vm_start(&vm);
    client_enrol(&c, &vm);
    uint64_t few_us = UINT64_MAX, many_us = UINT64_MAX;
    for (int i = 0; i < 7; i++) {
        uint64_t few = cost_us(&c, 1500), many = cost_us(&c, 6000);
        few_us = few < few_us ? few : few_us;
        many_us = many < many_us ? many : many_us;
    }
    CU_ASSERT_TRUE(many_us < 9 * few_us);
    if (many_us >= 9 * few_us)
        printf("%llu us, then %llu us\n", (unsigned long long)few_us, (unsigned long long)many_us);
    client_end(&c);
    vm_stop(&vm);
}

/* More names than there can be hosts. */
static void removals_are_bounded(void)
{
    enum { NAMES = 9000 };
    static uint8_t bytes[6 + 2 * NAMES]; /* each of no length */
    struct vm vm;
    struct client c;
    struct cursor w = cursor_writer(bytes, sizeof bytes);
    cursor_put_u32(&w, 5);
    cursor_put_u16(&w, NAMES);
    vm_start(&vm);
    client_enrol(&c, &vm);
    client_put(&c, FRAME_REMOVE_HOSTS, 0, bytes, sizeof bytes);
    expect_reply(&c, 5, COVEY_ERESOURCE);
    client_end(&c);
    vm_stop(&vm);
}

/* The end of a task that `sh -c` started, as its sink is told behind the output. */
static void expect_ended(struct client *c, uint32_t tid, uint8_t kind, int32_t value)
{
    struct control_ended ended = {0};
    if (!client_gets(c, FRAME_ENDED))
        return;
    struct cursor r = cursor_reader(c->payload, c->frame.length);
    control_get_ended(&r, &ended);
    CU_ASSERT_TRUE(cursor_done(&r));
    CU_ASSERT_EQUAL(ended.tid, tid);
    CU_ASSERT_EQUAL(ended.parent, c->tid);
    CU_ASSERT_EQUAL(ended.kind, kind);
    CU_ASSERT_EQUAL(ended.value, value);
    CU_ASSERT_FALSE(ended.asked);
    CU_ASSERT_STRING_EQUAL(ended.host, "h0");
    CU_ASSERT_TRUE(strncmp(ended.command, "sh -c ", 6) == 0);
}

/* The next `size` bytes that the task writes. */
static void gather_output(struct client *c, char *text, size_t size)
{
    size_t used = 0;
    while (used < size && client_gets(c, FRAME_OUTPUT)) {
        CU_ASSERT_TRUE_FATAL(c->frame.length - 8 <= size - used);
        memcpy(text + used, c->payload + 8, c->frame.length - 8);
        used += c->frame.length - 8;
    }
    text[used] = '\0';
}

static void output_then_the_end(void)
{
    struct vm vm;
    struct client c;
    static const char expected[] = "second raw\n/tmp\nunfinished";
    char text[sizeof expected], tid[4];
    const char *const argv[] = {"sh", "-c", "echo $A $COVEY_VM; pwd; printf unfinished; exit 5",
                                NULL};
    const char *const env[] = {"A=first", "COVEY_VM=wrong", "A=second", NULL};
    vm_start(&vm);
    client_enrol(&c, &vm);
    struct control_spawn spawn = spawn_for(&c);
    memcpy(spawn.cwd, "/tmp", 5);
    put_spawn(&c, &spawn, argv, env);
    struct control_result result = spawn_result(&c);
    CU_ASSERT_EQUAL(result.error, 0);
    put_tid((uint8_t *)tid, result.number);
    gather_output(&c, text, sizeof expected - 1);
    CU_ASSERT_STRING_EQUAL(text, expected);
    expect_ended(&c, result.number, COVEY_EXIT_STATUS, 5);
    /* who spawns a task need not watch it */
    CU_ASSERT_EQUAL(expect_gone(&c, result.number, COVEY_EXIT_STATUS), 5);
    client_put(&c, FRAME_WATCH, 0, tid, sizeof tid); /* it is remembered */
    CU_ASSERT_EQUAL(expect_gone(&c, result.number, COVEY_EXIT_STATUS), 5);
    client_end(&c);
    vm_stop(&vm);
}

static void put_ack(struct client *c, uint32_t tid, size_t size)
{
    uint8_t bytes[8];
    struct cursor w = cursor_writer(bytes, sizeof bytes);
    control_put_output_ack(&w, &(struct control_output){.tid = tid, .bytes = (uint32_t)size});
    client_put(c, FRAME_OUTPUT_ACK, 0, bytes, sizeof bytes);
}

/* Takes OUTPUT frames, acknowledging them or not; returns their bytes when GONE came, or for
 * `most` bytes. */
static size_t take_output(struct client *c, uint32_t tid, bool acknowledge, size_t most)
{
    size_t total = 0;
    while (total < most && client_get(c) && c->frame.kind == FRAME_OUTPUT) {
        total += c->frame.length - 8;
        if (acknowledge)
            put_ack(c, tid, c->frame.length - 8);
    }
    return total;
}

static void output_waits_for_the_sink(void)
{
    struct vm vm;
    struct client c;
    const size_t all = 4 * 1024 * 1024;
    const char *const argv[] = {"sh", "-c", "yes | head -c 4194304", NULL};
    vm_start(&vm);
    client_enrol(&c, &vm);
    struct control_spawn spawn = spawn_for(&c);
    put_spawn(&c, &spawn, argv, NULL);
    struct control_result result = spawn_result(&c);
    size_t first = take_output(&c, result.number, false, OUTPUT_UNACKED_MAX);
    CU_ASSERT_TRUE(first >= OUTPUT_UNACKED_MAX && first < OUTPUT_UNACKED_MAX + FRAME_PAYLOAD_MAX);
    client_put(&c, FRAME_HOSTS, 0, "\0\0\0\5", 4); /* the next frame is its answer, not output */
    expect_reply(&c, 5, 0);
    put_ack(&c, result.number, first);
    CU_ASSERT_EQUAL(first + take_output(&c, result.number, true, all - first), all);
    CU_ASSERT_EQUAL(c.frame.kind, FRAME_OUTPUT);
    expect_ended(&c, result.number, COVEY_EXIT_STATUS, 0);
    CU_ASSERT_EQUAL(expect_gone(&c, result.number, COVEY_EXIT_STATUS), 0);
    client_end(&c);
    vm_stop(&vm);
}

/* Sends data until the daemon takes no more; returns the frames that it took, whole or in part. */
static unsigned flood(struct client *c, uint32_t to)
{
    static uint8_t bytes[FRAME_PAYLOAD_MAX];
    unsigned frames = 0;
    struct pollfd p = {.fd = stream_fd(c->stream), .events = POLLOUT};
    do {
        struct frame frame = {
            .length = sizeof bytes, .kind = FRAME_DATA, .source = c->tid, .destination = to};
        memcpy(bytes, &frames, sizeof frames);
        CU_ASSERT_EQUAL(stream_put(c->stream, &frame, bytes, NULL, 0), 0);
        frames++;
        while (stream_flush(c->stream) == 1 && poll(&p, 1, 500) > 0)
            ;
    } while (stream_queued(c->stream) == 0 && frames * sizeof bytes < 4 * QUEUE_MAX_BYTES);
    return frames;
}

static void a_flood_is_held_back(void)
{
    struct vm vm;
    struct client a, b;
    vm_start(&vm);
    client_enrol(&a, &vm);
    client_enrol(&b, &vm);
    unsigned frames = flood(&a, b.tid), number = 0;
    CU_ASSERT_TRUE(frames * (size_t)FRAME_PAYLOAD_MAX < QUEUE_MAX_BYTES + 4 * 1024 * 1024);
    for (unsigned i = 0; i < frames; i++) {
        if (i == frames / 4) /* b reads: a is heard again */
            CU_ASSERT_TRUE(stream_flush(a.stream) >= 0);
        if (!client_gets(&b, FRAME_DATA))
            break;
        memcpy(&number, b.payload, sizeof number);
        CU_ASSERT_EQUAL(number, i);
        stream_flush(a.stream);
    }
    client_put(&a, FRAME_HOSTS, 0, "\0\0\0\5", 4);
    expect_reply(&a, 5, 0);
    client_end(&a);
    client_end(&b);
    vm_stop(&vm);
}

/* Receivers that do not read share what the daemon may hold; others are not harmed by it. */
static void receivers_that_do_not_read_share_the_memory(void)
{
    enum { RECEIVERS = 4, MEMORY = 16 << 20 };
    struct vm vm;
    struct client senders[RECEIVERS], receivers[RECEIVERS], a, b;
    unsigned frames[RECEIVERS], number = 0;
    size_t total = 0;
    vm_start_with(&vm, "[daemon]\nmemory = 16M\n");
    for (int i = 0; i < RECEIVERS; i++) {
        client_enrol(&senders[i], &vm);
        client_enrol(&receivers[i], &vm);
        frames[i] = flood(&senders[i], receivers[i].tid);
        total += frames[i] * (size_t)FRAME_PAYLOAD_MAX;
    }
    CU_ASSERT_TRUE(total < MEMORY);
    client_enrol(&a, &vm);
    client_enrol(&b, &vm);
    CU_ASSERT_TRUE(stat_of(&a, "memory.used") > MEMORY / 2);
    for (int i = 0; i < 100; i++) {
        client_put(&a, FRAME_CREDIT, b.tid, "\0\0\0\0\0\0\0", 8);
        client_gets(&b, FRAME_CREDIT);
    }
    for (int i = 0; i < RECEIVERS; i++)
        for (unsigned n = 0; n < frames[i] && client_gets(&receivers[i], FRAME_DATA); n++) {
            memcpy(&number, receivers[i].payload, sizeof number);
            CU_ASSERT_EQUAL(number, n);
            stream_flush(senders[i].stream);
        }
    CU_ASSERT_TRUE(stat_of(&a, "memory.used") < MEMORY / 8);
    for (int i = 0; i < RECEIVERS; i++) {
        client_end(&senders[i]);
        client_end(&receivers[i]);
    }
    client_end(&a);
    client_end(&b);
    vm_stop(&vm);
}

/* Queues a frame and writes it. False: the daemon does not read, for two seconds. */
static bool push(struct client *c, const struct frame *frame, const void *payload, const int *fds,
                 int nfds)
{
    struct pollfd p = {.fd = stream_fd(c->stream), .events = POLLOUT};
    int left;
    CU_ASSERT_EQUAL(stream_put(c->stream, frame, payload, fds, nfds), 0);
    while ((left = stream_flush(c->stream)) == 1 && poll(&p, 1, 2000) > 0)
        ;
    return left == 0;
}

/* Asks for more than may wait, and reads none of the answers. */
static void who_asks_and_does_not_read_is_held_back(void)
{
    struct vm vm;
    struct client a;
    vm_start(&vm);
    client_enrol(&a, &vm);
    client_put(&a, FRAME_STATS, 0, "\0\0\0\1", 4);
    expect_reply(&a, 1, 0);
    unsigned most = (unsigned)(4 * QUEUE_MAX_BYTES / a.frame.length), sent = 0;
    const struct frame frame = {.length = 4, .kind = FRAME_STATS, .source = a.tid};
    bool taken = true;
    for (; taken && sent < most; sent++) {
        const uint8_t number[4] = {(uint8_t)(sent >> 24), (uint8_t)(sent >> 16),
                                   (uint8_t)(sent >> 8), (uint8_t)sent};
        taken = push(&a, &frame, number, NULL, 0);
    }
    CU_ASSERT_FALSE(taken);
    bool went_on = true;
    for (unsigned i = 0; went_on && i < sent; i++) { /* it reads: it is heard again */
        went_on = client_gets(&a, FRAME_REPLY) && a.payload[3] == (uint8_t)i;
        stream_flush(a.stream);
    }
    CU_ASSERT_TRUE(went_on);
    client_end(&a);
    vm_stop(&vm);
}

static unsigned descriptors_of(pid_t pid)
{
    char path[32];
    unsigned count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *directory = opendir(path);
    CU_ASSERT_PTR_NOT_NULL_FATAL(directory);
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

static void descriptors_come_with_links_alone(void)
{
    struct vm vm;
    struct client a, b;
    int fds[3] = {0, 1, 2};
    vm_start(&vm);
    client_enrol(&b, &vm);
    static const struct {
        uint8_t kind;
        int nfds;
    } wrong[] = {
        {FRAME_CREDIT, 1}, {FRAME_DETOUR, 3}, {FRAME_LINK_OPEN, 3}, {FRAME_LINK_ACCEPT, 2}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        client_enrol(&a, &vm);
        struct frame frame = {
            .length = 8, .kind = wrong[i].kind, .source = a.tid, .destination = b.tid};
        push(&a, &frame, "\0\0\0\0\0\0\0", fds, wrong[i].nfds);
        CU_ASSERT_FALSE(client_get(&a));
        client_end(&a);
    }
    client_put(&b, FRAME_HOSTS, 0, "\0\0\0\5", 4); /* and nothing came of it */
    expect_reply(&b, 5, 0);
    client_end(&b);
    vm_stop(&vm);
}

/* One task opens links to another that does not read, and accepts links that nobody opened. */
static void descriptors_that_wait_are_bounded(void)
{
    enum { TRIES = 4000, LEAST = 100 };
    struct vm vm;
    struct client a, b, c;
    uint8_t bytes[256];
    vm_start(&vm);
    client_enrol(&a, &vm);
    client_enrol(&b, &vm);
    client_enrol(&c, &vm);
    unsigned before = descriptors_of(vm.pid), sent = 0;
    struct cursor w = cursor_writer(bytes, sizeof bytes);
    control_put_link_open(&w, &(struct control_link){.route = COVEY_ROUTE_SHM});
    struct frame frame = {.length = (uint32_t)(w.at - bytes),
                          .kind = FRAME_LINK_OPEN,
                          .source = a.tid,
                          .destination = b.tid};
    for (int i = 0; i < TRIES; i++)
        CU_ASSERT_TRUE(push(&a, &frame, bytes, (int[]){0, 1}, 2));
    CU_ASSERT_TRUE(client_gets(&a, FRAME_LINK_REFUSE));
    w = cursor_writer(bytes, sizeof bytes);
    control_put_link_accept(&w, &(struct control_link){.route = COVEY_ROUTE_SHM});
    frame = (struct frame){.length = (uint32_t)(w.at - bytes),
                           .kind = FRAME_LINK_ACCEPT,
                           .source = c.tid,
                           .destination = b.tid};
    while (sent < TRIES && push(&c, &frame, bytes, (int[]){0}, 1))
        sent++;
    CU_ASSERT_TRUE(sent < TRIES);
    CU_ASSERT_TRUE(descriptors_of(vm.pid) < before + TRIES / 2);
    unsigned opens = 0;
    while (client_get(&b) && b.frame.kind == FRAME_LINK_OPEN) {
        for (int i = 0; i < b.nfds; i++)
            close(b.fds[i]);
        opens++;
    }
    CU_ASSERT_TRUE(opens > LEAST); /* then its links are accepted: it was never cut off */
    CU_ASSERT_EQUAL(b.frame.kind, FRAME_LINK_ACCEPT);
    client_end(&a);
    client_end(&b);
    client_end(&c);
    vm_stop(&vm);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"tids count up", tids_count_up},
        {"another version is refused by name", another_version_is_refused_by_name},
        {"who breaks the protocol is disconnected", who_breaks_the_protocol_is_disconnected},
        {"nonsense is answered", nonsense_is_answered},
        {"a multicast on one host reaches all of them", a_multicast_on_one_host_reaches_all},
        {"a multicast that makes no sense reaches nobody",
         a_multicast_that_makes_no_sense_reaches_nobody},
        {"the end of a task comes after what it sent", the_end_of_a_task_comes_after_what_it_sent},
        {"both ends of a link get one key", both_ends_of_a_link_get_one_key},
        {"descriptors pass through", descriptors_pass_through},
        {"a flood is held back", a_flood_is_held_back},
        {"receivers that do not read share the memory",
         receivers_that_do_not_read_share_the_memory},
        {"who asks and does not read is held back", who_asks_and_does_not_read_is_held_back},
        {"descriptors come with links alone", descriptors_come_with_links_alone},
        {"descriptors that wait are bounded", descriptors_that_wait_are_bounded},
        {"failures to spawn are exact", failures_to_spawn_are_exact},
        {"spawns that wait are bounded", spawns_that_wait_are_bounded},
        {"removals are bounded", removals_are_bounded},
        {"many variables cost what they are", many_variables_cost_what_they_are},
        {"output, then the end", output_then_the_end},
        {"output waits for the sink", output_waits_for_the_sink},
    };
    signal(SIGPIPE, SIG_IGN);
    return covey_test_main("protocol", cases, sizeof cases / sizeof cases[0]);
}
