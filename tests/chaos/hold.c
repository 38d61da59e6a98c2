/* links: libcovey */
/*
 * hold.c - a task under some limit, which the test sets from outside.
 *
 *   hold                     enrols and waits until it is ended
 *   hold --ask ROUTE BYTES   starts another on this host and gets an answer to that many bytes over
 *                            the route
 *   hold --offer BYTES       the other is limited to 256 MiB of memory: it cannot take the message,
 *                            says so, and takes the next
 *   hold --bag BYTES         puts items of 1 MiB into a bag until it takes no more, says why, and
 * how many it took; then does them all, of which the results are as large, and collects them. Fails
 * when it takes so many bytes
 *   hold --descriptors N     has that many descriptors on their way between two sockets until it is
 * ended; it is no task
 *
 * An error is one line on standard error, and status 1.
 */
#include <covey.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define TAG 1
#define MEMORY_BYTES ((rlim_t)256 * 1024 * 1024)
#define SMALL_BYTES 100
#define ITEM_BYTES ((size_t)1024 * 1024)

static int complain(const char *what)
{
    fprintf(stderr, "hold: %s: %s\n", what, covey_error_text());
    return 1;
}

static int hold(covey_t *vm)
{
    covey_msg_t *msg;
    covey_recv(vm, COVEY_ANY_TASK, COVEY_ANY_TAG, COVEY_FOREVER, &msg);
    return complain("receive");
}

/* Answers each message with its size, or with the error of receiving it. */
static int answer(covey_t *vm)
{
    for (;;) {
        covey_msg_t *msg = NULL;
        struct covey_info info = {0};
        int64_t result = covey_recv(vm, covey_parent(vm), TAG, COVEY_FOREVER, &msg);
        if (result == COVEY_ENOTASK)
            return 0;
        if (result == 0) {
            covey_msg_info(msg, &info);
            result = (int64_t)info.bytes;
        }
        covey_msg_free(msg);
        if (covey_send_array(vm, covey_parent(vm), TAG, COVEY_INT64, &result, 1) != 0)
            return 1;
    }
}

static covey_tid_t start(covey_t *vm, const char *program, const char *mode)
{
    covey_tid_t tid = 0;
    const char *const argv[] = {program, mode, NULL};
    const char *const hosts[] = {covey_myhost(vm), NULL};
    struct covey_spawn what = {.argv = argv,
                               .hosts = hosts,
                               .where = COVEY_WHERE_HOSTS,
                               .output = COVEY_OUTPUT_DISCARD,
                               .tether = 1};
    return covey_spawn(vm, &what, 1, &tid) == 1 ? tid : -1;
}

/* What the other said to that many bytes; 0: not even that. */
static int64_t exchange(covey_t *vm, covey_tid_t tid, size_t size)
{
    int64_t said = 0;
    void *bytes = calloc(size, 1);
    if (bytes == NULL) {
        fprintf(stderr, "hold: memory is exhausted\n");
        return 0;
    }
    int error = covey_send_array(vm, tid, TAG, COVEY_UINT8, bytes, size);
    if (error == 0)
        error = covey_recv_array(vm, tid, TAG, COVEY_FOREVER, COVEY_INT64, &said, 1, NULL, NULL);
    free(bytes);
    if (error != 0)
        complain("exchange");
    return error != 0 ? 0 : said;
}

static int ask(covey_t *vm, const char *program, const char *route, size_t size)
{
    covey_tid_t tid = start(vm, program, "--answer");
    if (tid < 0)
        return complain("spawn");
    if (covey_set_route(vm, tid, covey_route_parse(route)) != 0)
        return complain("route");
    return exchange(vm, tid, size) > (int64_t)size ? 0 : 1;
}

static int offer(covey_t *vm, const char *program, size_t size)
{
    covey_tid_t tid = start(vm, program, "--limited");
    if (tid < 0)
        return complain("spawn");
    int64_t first = exchange(vm, tid, size), second = exchange(vm, tid, SMALL_BYTES);
    printf("%s; then %lld bytes\n", covey_strerror((int)first), (long long)second);
    return first == COVEY_ENOMEM && second > SMALL_BYTES ? 0 : 1;
}

/* Does `count` items and collects their results, one after the other. 0, or an error. */
static int empty(covey_bag_t *bag, const void *result, size_t count)
{
    struct covey_bag_item item;
    struct covey_bag_result got;
    int error = covey_bag_close(bag);
    for (size_t i = 0; i < count && error >= 0; i++) {
        error = covey_bag_take(bag, COVEY_FOREVER, &item, 1);
        if (error >= 0)
            error = covey_bag_done(bag, &item, result, ITEM_BYTES);
        if (error >= 0)
            error = covey_bag_result(bag, COVEY_FOREVER, &got, 1);
    }
    return error < 0 ? error : 0;
}

static int fill_bag(covey_t *vm, size_t bytes)
{
    covey_bag_t *bag, *again;
    void *content = calloc(ITEM_BYTES, 1);
    size_t count = 0;
    int64_t taken = 0;
    struct covey_bag_info info;
    int error = covey_bag_create(vm, "fill", NULL, &bag);
    while (error == 0 && content != NULL && count < bytes / ITEM_BYTES) {
        error = covey_bag_put(bag, 0, content, ITEM_BYTES);
        count += error == 0;
        if (error == 0)
            error = covey_bag_flush(bag, COVEY_FOREVER);
    }
    complain("put");
    if (error != COVEY_ERESOURCE || covey_bag_attach(vm, "fill", &again) != 0 ||
        covey_bag_info(again, &info) != 0)
        return 1;
    taken = (int64_t)info.put;
    if (empty(again, content, (size_t)taken) != 0)
        return complain("empty");
    printf("%lld items were taken and done\n", (long long)taken);
    free(content);
    return taken > 0 ? 0 : 1;
}

static int send_descriptors(int count)
{
    int fds[2];
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec iov = {"", 1};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof control.bytes};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    *c = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(c), &(int){STDIN_FILENO}, sizeof(int));
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
        return 1;
    for (int i = 0; i < count; i++) {
        if (sendmsg(fds[0], &msg, 0) != 1)
            return 1;
    }
    printf("%d descriptors are on their way\n", count);
    fflush(stdout);
    return pause();
}

int main(int argc, char **argv)
{
    covey_t *vm;
    char program[512] = "";
    const char *mode = argc > 1 ? argv[1] : "";
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0)
        return 1;
    if (strcmp(mode, "--limited") == 0)
        setrlimit(RLIMIT_AS, &(struct rlimit){MEMORY_BYTES, MEMORY_BYTES});
    if (argc == 3 && strcmp(mode, "--descriptors") == 0)
        return send_descriptors((int)strtol(argv[2], NULL, 10));
    if (covey_join(&vm, NULL) != 0)
        return complain("join");
    int status = 2;
    if (strcmp(mode, "--answer") == 0 || strcmp(mode, "--limited") == 0)
        status = answer(vm);
    else if (argc == 4 && strcmp(mode, "--ask") == 0)
        status = ask(vm, program, argv[2], strtoul(argv[3], NULL, 10));
    else if (argc == 3 && strcmp(mode, "--offer") == 0)
        status = offer(vm, program, strtoul(argv[2], NULL, 10));
    else if (argc == 3 && strcmp(mode, "--bag") == 0)
        status = fill_bag(vm, strtoul(argv[2], NULL, 10));
    else if (argc == 1)
        status = hold(vm);
    covey_leave(&vm);
    return status;
}
