/*
 * entrance.c - see entrance.h. The invitation is sealed for a key that is made for this one try:
 * the class passes it on, and cannot read it.
 */
#include "tools/class/entrance.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "covey.h"
#include "proto/wire/frame.h"
#include "tools/base/child.h"
#include "tools/base/clock.h"
#include "tools/class/search.h"
#include "tools/vm/launch.h"

#define CONNECT_MS 3000
#define TALK_MS 10000 /* until each knows that the other has the code */
#define JOIN_MS 45000 /* from there to the end: the VM gives it 30 s */
#define DAEMON_MS 30000
#define ENDING_MS 2000
#define LOOK_MS 50
#define READ_BYTES 4096

struct attempt {
    struct entrance *entrance;
    int fd;
    int64_t until_ms;
    struct knock knock;
    uint8_t public_key[crypto_box_PUBLICKEYBYTES], secret_key[crypto_box_SECRETKEYBYTES];
    bool proved;
};

__attribute__((format(printf, 3, 4))) static enum entrance_result
result_of(struct entrance *entrance, enum entrance_result result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(entrance->why, sizeof entrance->why, format, arguments);
    va_end(arguments);
    return result;
}

/* ---- the daemon ------------------------------------------------------------------------------ */

static void line_cut(char *line)
{
    line[strcspn(line, "\r\n")] = '\0';
}

/* What the daemon says before it goes to the background, or ends: "ok INDEX", or one line of why
 * not. */
static void daemon_listen(int fd, char said[CLASS_TEXT_MAX + 1])
{
    size_t used = 0;
    ssize_t size = 1;
    int64_t until = clock_ms() + DAEMON_MS, now;
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    while (size > 0 && memchr(said, '\n', used) == NULL && used < CLASS_TEXT_MAX &&
           (now = clock_ms()) < until) {
        if (poll(&readable, 1, (int)(until - now)) <= 0)
            continue;
        size = read(fd, said + used, CLASS_TEXT_MAX - used);
        used += size > 0 ? (size_t)size : 0;
    }
    said[used] = '\0';
    line_cut(said);
    if (said[0] == '\0')
        snprintf(said, CLASS_TEXT_MAX + 1, size > 0 ? "coveyd says nothing" : "coveyd has ended");
}

/* Runs `coveyd --join`, which reads the line; its answer is what a launcher would get. */
static void daemon_start(const char *line, char said[CLASS_TEXT_MAX + 1])
{
    char path[PATH_MAX + 32];
    char *argv[] = {path, (char *)"--join", NULL};
    int in[2], out[2], status;
    pid_t pid;
    posix_spawn_file_actions_t files;
    launch_find(path, sizeof path);
    if (pipe2(in, O_CLOEXEC) != 0)
        return (void)snprintf(said, CLASS_TEXT_MAX + 1, "no pipe: %s", strerror(errno));
    if (pipe2(out, O_CLOEXEC) != 0) {
        snprintf(said, CLASS_TEXT_MAX + 1, "no pipe: %s", strerror(errno));
        return (void)(close(in[0]), close(in[1]));
    }
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, out[1], STDERR_FILENO);
    int error = child_spawn(&pid, &files, argv, environ);
    close(in[0]);
    close(out[1]);
    size_t size = strlen(line);
    bool written = error == 0 && write(in[1], line, size) == (ssize_t)size; /* it fits a pipe */
    close(in[1]);
    if (written)
        daemon_listen(out[0], said);
    else
        snprintf(said, CLASS_TEXT_MAX + 1,
                 "cannot run %.150s: %s; set COVEYD to the path of coveyd", path,
                 error ? strerror(error) : "it does not read its input");
    close(out[0]);
    if (error == 0)
        waitpid(pid, &status, 0); /* in the background it has left this process */
}

static void use_invitation(struct attempt *attempt)
{
    const struct knock *knock = &attempt->knock;
    char line[CLASS_SEALED_MAX], said[CLASS_TEXT_MAX + 1] = "what came is no invitation";
    size_t size = knock->sealed_size - crypto_box_SEALBYTES;
    if (knock->sealed_size > crypto_box_SEALBYTES && size < sizeof line &&
        crypto_box_seal_open((uint8_t *)line, knock->sealed, knock->sealed_size,
                             attempt->public_key, attempt->secret_key) == 0) {
        line[size] = '\0';
        daemon_start(line, said);
    }
    sodium_memzero(line, sizeof line);
    knock_answer(&attempt->knock, said);
}

/* ---- the talk -------------------------------------------------------------------------------- */

/* One machine is one host of a VM. A daemon that has just left is given a while to end. */
static bool is_host_already(const char *vm_name)
{
    const struct covey_options options = {.vm = vm_name, .role = COVEY_ROLE_CONSOLE};
    const int64_t until = clock_ms() + ENDING_MS;
    bool is = true;
    while (is && clock_ms() < until) {
        covey_t *vm = NULL;
        is = covey_join(&vm, &options) == 0;
        covey_leave(&vm);
        if (is)
            poll(NULL, 0, LOOK_MS);
    }
    return is;
}

/* False: it cannot join that VM. */
static bool on_welcome(struct attempt *attempt)
{
    struct entrance *entrance = attempt->entrance;
    const struct knock *knock = &attempt->knock;
    snprintf(entrance->vm, sizeof entrance->vm, "%s", knock->vm);
    snprintf(entrance->host, sizeof entrance->host, "%s", knock->host);
    attempt->proved = true;
    attempt->until_ms = clock_ms() + JOIN_MS;
    if (knock->protocol != WIRE_VERSION) {
        result_of(entrance, ENTRANCE_FAILED,
                  "the class on %s speaks protocol %u, this Covey %d: install the same version",
                  entrance->host, knock->protocol, WIRE_VERSION);
        return false;
    }
    if (is_host_already(knock->vm)) {
        result_of(entrance, ENTRANCE_FAILED,
                  "a daemon of VM %s runs on this machine already; see: covey --vm %s hosts",
                  knock->vm, knock->vm);
        return false;
    }
    crypto_box_keypair(attempt->public_key, attempt->secret_key);
    knock_enter(&attempt->knock, entrance->name, attempt->public_key);
    return true;
}

static enum entrance_result on_refused(struct attempt *attempt)
{
    struct entrance *entrance = attempt->entrance;
    switch (attempt->knock.refusal) {
    case CLASS_WRONG_CODE:
        return result_of(entrance, ENTRANCE_WRONG, "the code is wrong");
    case CLASS_NO_SUCH_CODE:
        return result_of(entrance, ENTRANCE_VOID, "the class has another code now");
    case CLASS_OTHER_VERSION:
        return result_of(entrance, ENTRANCE_FAILED, "the class runs another version of Covey");
    default:
        return result_of(entrance, ENTRANCE_CLOSED, "the class takes nobody in now");
    }
}

static enum entrance_result on_done(struct attempt *attempt)
{
    struct entrance *entrance = attempt->entrance;
    const struct knock *knock = &attempt->knock;
    if (knock->error != 0)
        return result_of(entrance, ENTRANCE_FAILED, "%s", knock->text);
    snprintf(entrance->joined, sizeof entrance->joined, "%s", knock->text);
    return ENTRANCE_JOINED;
}

/* Sends what there is; false: it cannot. */
static bool attempt_send(struct attempt *attempt)
{
    size_t size;
    const uint8_t *bytes;
    while (bytes = knock_output(&attempt->knock, &size), size > 0) {
        ssize_t sent = send(attempt->fd, bytes, size, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        if (sent > 0)
            knock_sent(&attempt->knock, (size_t)sent);
        struct pollfd writable = {.fd = attempt->fd, .events = POLLOUT};
        int64_t now = clock_ms();
        if (sent < 0 &&
            (now >= attempt->until_ms || poll(&writable, 1, (int)(attempt->until_ms - now)) < 0))
            return false;
    }
    return true;
}

/* Whether it goes on after an event; if not, *result is what came of it. */
static bool attempt_event(struct attempt *attempt, enum knock_event event,
                          enum entrance_result *result)
{
    switch (event) {
    case KNOCK_MORE:
    case KNOCK_AGAIN:
        break;
    case KNOCK_WELCOME:
        *result = ENTRANCE_FAILED;
        return on_welcome(attempt);
    case KNOCK_INVITED:
        use_invitation(attempt);
        break;
    case KNOCK_DONE:
        *result = on_done(attempt);
        return false;
    case KNOCK_REFUSED:
        *result = on_refused(attempt);
        return false;
    case KNOCK_UNPROVED:
        *result = result_of(attempt->entrance, ENTRANCE_PLAYED,
                            "who answers does not know the code, and is not the class");
        return false;
    case KNOCK_BROKEN:
        *result =
            result_of(attempt->entrance, attempt->knock.proved ? ENTRANCE_LOST : ENTRANCE_DEAF,
                      "what answers there is no class");
        return false;
    }
    return true;
}

/* Takes bytes of the class, each frame in its turn. */
static bool attempt_take(struct attempt *attempt, const uint8_t *bytes, size_t size,
                         enum entrance_result *result)
{
    enum knock_event event = KNOCK_AGAIN;
    while (size > 0 || event != KNOCK_MORE) {
        size_t part = size;
        event = knock_take(&attempt->knock, bytes, &part);
        bytes += part;
        size -= part;
        if (!attempt_event(attempt, event, result))
            return false;
    }
    return true;
}

static enum entrance_result attempt_run(struct attempt *attempt)
{
    enum entrance_result result = ENTRANCE_DEAF;
    for (int64_t now; (now = clock_ms()) < attempt->until_ms;) {
        uint8_t bytes[READ_BYTES];
        struct pollfd readable = {.fd = attempt->fd, .events = POLLIN};
        if (!attempt_send(attempt))
            break;
        if (poll(&readable, 1, (int)(attempt->until_ms - now)) <= 0)
            continue;
        ssize_t size = read(attempt->fd, bytes, sizeof bytes);
        if (size < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (size <= 0)
            break;
        if (!attempt_take(attempt, bytes, (size_t)size, &result))
            return result;
    }
    if (attempt->proved)
        return result_of(attempt->entrance, ENTRANCE_FAILED,
                         "the class on %s has gone, or does not answer any more",
                         attempt->entrance->host);
    return result_of(attempt->entrance, attempt->knock.proved ? ENTRANCE_LOST : ENTRANCE_DEAF,
                     "the class does not answer");
}

static bool is_connected(int fd)
{
    struct pollfd writable = {.fd = fd, .events = POLLOUT};
    return poll(&writable, 1, CONNECT_MS) > 0 && socket_error(fd) == 0;
}

enum entrance_result entrance_try(struct entrance *entrance, const struct place *place)
{
    static struct attempt attempt;
    uint8_t seed[CHANCE_SEED_BYTES];
    enum entrance_result result;
    attempt = (struct attempt){.entrance = entrance,
                               .fd = socket_connect(place),
                               .until_ms = clock_ms() + CONNECT_MS + TALK_MS};
    randombytes_buf(seed, sizeof seed);
    knock_begin(&attempt.knock, entrance->code, seed);
    sodium_memzero(seed, sizeof seed);
    if (attempt.fd >= 0 && is_connected(attempt.fd))
        result = attempt_run(&attempt);
    else
        result = result_of(entrance, ENTRANCE_DEAF, "cannot connect to the class");
    if (attempt.fd >= 0)
        close(attempt.fd);
    knock_end(&attempt.knock);
    sodium_memzero(&attempt, sizeof attempt);
    return result;
}
