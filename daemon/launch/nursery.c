/*
 * nursery.c - see nursery.h. A request is one message: the working directory, with two descriptors.
 * Nothing is answered: what is born speaks on its standard output, and who asked sees the end of
 * that when it ends. The nursery ends when nobody can ask it any more.
 */
#include "daemon/launch/nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/auth/auth.h"

enum { ENDS = 2 };

/* What carries the two descriptors. */
union ends_room {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(ENDS * sizeof(int))];
};

static bool ends_take(struct msghdr *head, int ends[ENDS])
{
    struct cmsghdr *c = CMSG_FIRSTHDR(head);
    if (c == NULL || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(ENDS * sizeof(int)))
        return false;
    memcpy(ends, CMSG_DATA(c), ENDS * sizeof(int));
    return true;
}

/* In the process that is born. */
static bool be_born(const int ends[ENDS])
{
    signal(SIGCHLD, SIG_DFL);
    prctl(PR_SET_NAME, "coveyd");
    bool good = dup2(ends[0], STDIN_FILENO) >= 0 && dup2(ends[1], STDOUT_FILENO) >= 0 &&
                dup2(ends[1], STDERR_FILENO) >= 0;
    close_range(STDERR_FILENO + 1, ~0U, 0);
    return good;
}

/* Returns in those that are born, never in the nursery. */
static void serve(int asked, char *cwd, size_t cwd_size)
{
    for (;;) {
        union ends_room room;
        int ends[ENDS];
        struct iovec text = {cwd, cwd_size - 1};
        struct msghdr head = {
            .msg_iov = &text, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
        ssize_t n = recvmsg(asked, &head, MSG_CMSG_CLOEXEC);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(0);
        cwd[n - 1] = '\0'; /* it came with its end */
        if (!ends_take(&head, ends))
            continue;
        pid_t pid = fork();
        if (pid == 0 && be_born(ends))
            return;
        if (pid == 0)
            _exit(1);
        close(ends[0]);
        close(ends[1]); /* where the fork failed, who asked sees its output end */
    }
}

bool nursery_open(int *ask, char *cwd, size_t cwd_size)
{
    int pair[2];
    *ask = NURSERY_NONE;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    pid_t pid = fork();
    if (pid != 0) {
        close(pair[1]);
        if (pid > 0)
            *ask = pair[0];
        else
            close(pair[0]);
        return false;
    }
    close(pair[0]);
    setsid();
    signal(SIGCHLD, SIG_IGN); /* nobody asks how they ended */
    prctl(PR_SET_NAME, "covey-nursery");
    if (auth_init() != 0 || auth_cipher_library() == NULL) /* loaded once for all */
        _exit(1);
    serve(pair[1], cwd, cwd_size);
    return true;
}

bool nursery_start(int ask, const char *cwd, int in, int out)
{
    const int ends[ENDS] = {in, out};
    union ends_room room = {0};
    struct iovec text = {(char *)cwd, strlen(cwd) + 1};
    struct msghdr head = {
        .msg_iov = &text, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
    struct cmsghdr *c = CMSG_FIRSTHDR(&head);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof ends);
    memcpy(CMSG_DATA(c), ends, sizeof ends);
    return ask != NURSERY_NONE && sendmsg(ask, &head, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}
