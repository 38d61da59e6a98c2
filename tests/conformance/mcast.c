/* links: libcovey */
/*
 * mcast.c - one message to many: every receiver gets each multicast once, whole, and in its place
 * among the ordinary messages of the sender.
 *
 *   mcast [--route ROUTE] HOST...    spawns two receivers on each host and multicasts to them
 *   mcast receive ROUTE              is what it spawns
 */
#include <covey.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECEIVERS_MAX 16
#define ROUNDS 6
#define BYTES_MAX (3u << 20)

enum {
    TAG_NEXT = 1,
    TAG_AGAIN = 2,
    TAG_ASK = 3,
    TAG_ANSWER = 4,
    TAG_DIE = 5,
    TAG_GONE = 6,
    TAG_ASIDE = 7
};

static const size_t sizes[] = {0, 1, 1000, 65000, 65536, 131072, 300000, BYTES_MAX};
#define SIZES (sizeof sizes / sizeof sizes[0])

static int passed, failed;

static void check(const char *name, int good)
{
    printf("%s %s%s%s\n", good ? "ok" : "not ok", name, good ? "" : ": ",
           good ? "" : covey_error_text());
    *(good ? &passed : &failed) += 1;
}

static uint8_t pattern(int32_t number, size_t at)
{
    return (uint8_t)((size_t)number * 31 + at * 7 + (at >> 12));
}

/* ---- a receiver: what it has found is what it answers ---- */

struct found {
    int32_t next;  /* the number that comes next */
    int32_t count; /* messages */
    int32_t wrong; /* out of place, or damaged */
};

static int whole(covey_msg_t *msg, int32_t number)
{
    const void *view;
    size_t count;
    if (covey_unpack_view(msg, COVEY_BYTES, &view, &count) != 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        if (((const uint8_t *)view)[i] != pattern(number, i))
            return 0;
    }
    return 1;
}

static void take(struct found *found, covey_msg_t *msg, int again)
{
    int32_t number = -1;
    covey_unpack_int32(msg, &number, 1, 1);
    int in_place = number == found->next || (again && number == found->next - 1);
    found->wrong += !in_place || !whole(msg, number);
    found->next = number + 1;
    found->count++;
}

static int receive(covey_t *vm, int route)
{
    struct found found = {0};
    covey_set_route(vm, COVEY_ANY_TASK, route);
    for (;;) {
        covey_msg_t *msg;
        struct covey_info info;
        if (covey_recv(vm, covey_parent(vm), COVEY_ANY_TAG, COVEY_FOREVER, &msg) != 0)
            return 1;
        covey_msg_info(msg, &info);
        if (info.tag == TAG_DIE)
            raise(SIGKILL);
        if (info.tag == TAG_ASK) {
            const int32_t answer[] = {found.count, found.wrong};
            covey_msg_free(msg);
            return covey_send_array(vm, covey_parent(vm), TAG_ANSWER, COVEY_INT32, answer, 2) != 0;
        }
        if (info.tag != TAG_ASIDE)
            take(&found, msg, info.tag == TAG_AGAIN);
        covey_msg_free(msg);
    }
}

/* ---- the sender ---- */

struct sender {
    covey_t *vm;
    covey_tid_t tids[RECEIVERS_MAX + 2];
    int n;
    int32_t number;
    uint8_t *bytes;
    covey_msg_t *msg;
};

static covey_msg_t *next_message(struct sender *s, size_t size)
{
    for (size_t i = 0; i < size; i++)
        s->bytes[i] = pattern(s->number, i);
    covey_msg_reset(s->msg);
    covey_pack_int32(s->msg, &s->number, 1, 1);
    covey_pack_inplace(s->msg, COVEY_BYTES, s->bytes, size);
    s->number++;
    return s->msg;
}

/* Ordinary messages, so that every multicast finds something before and behind it. */
static int send_each(struct sender *s)
{
    int error = 0;
    const covey_msg_t *msg = next_message(s, (size_t)s->number * 100);
    for (int i = 0; i < s->n && error == 0; i++)
        error = covey_send(s->vm, s->tids[i], TAG_NEXT, msg);
    return error;
}

/* So that a message is not the same one in number for every pair. */
static int send_some(struct sender *s)
{
    int error = 0;
    covey_msg_reset(s->msg);
    for (int i = 0; i < s->n; i++) {
        for (int k = 0; k < i && error == 0; k++)
            error = covey_send(s->vm, s->tids[i], TAG_ASIDE, s->msg);
    }
    return error;
}

static int rounds(struct sender *s)
{
    int error = send_some(s);
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t k = 0; k < SIZES && error == 0; k++) {
            error = covey_mcast(s->vm, s->tids, (size_t)s->n, TAG_NEXT, next_message(s, sizes[k]));
            if (error == 0 && (round + (int)k) % 2)
                error = send_each(s);
        }
    }
    return error;
}

/* Many small ones without a pause: the receivers' credit runs out in between. */
static int flood(struct sender *s)
{
    int error = 0;
    for (int i = 0; i < 500 && error == 0; i++)
        error = covey_mcast(s->vm, s->tids, (size_t)s->n, TAG_NEXT, next_message(s, 5000));
    return error;
}

static int twice(struct sender *s)
{
    s->tids[s->n] = s->tids[0];
    s->tids[s->n + 1] = covey_mytid(s->vm); /* is skipped */
    return covey_mcast(s->vm, s->tids, (size_t)s->n + 2, TAG_AGAIN, next_message(s, 70000));
}

static int to_a_bad_tid(struct sender *s)
{
    s->tids[s->n] = -5;
    return covey_mcast(s->vm, s->tids, (size_t)s->n + 1, TAG_NEXT, next_message(s, 10));
}

static void wait_gone(struct sender *s, covey_tid_t tid)
{
    covey_msg_t *msg;
    covey_notify(s->vm, COVEY_NOTIFY_TASK_EXIT, TAG_GONE, &tid, 1);
    if (covey_recv(s->vm, COVEY_ANY_TASK, TAG_GONE, COVEY_FOREVER, &msg) == 0)
        covey_msg_free(msg);
}

static int to_a_dead_one(struct sender *s)
{
    covey_tid_t last = s->tids[s->n - 1];
    covey_msg_reset(s->msg);
    covey_send(s->vm, last, TAG_DIE, s->msg);
    wait_gone(s, last);
    int error = covey_mcast(s->vm, s->tids, (size_t)s->n, TAG_NEXT, next_message(s, 100));
    s->n--;
    return error;
}

/* Whether all found everything in its place; the first one had one message more. */
static int answers(struct sender *s)
{
    int good = 1;
    covey_msg_reset(s->msg);
    covey_mcast(s->vm, s->tids, (size_t)s->n, TAG_ASK, s->msg);
    for (int i = 0; i < s->n; i++) {
        int32_t answer[2] = {-1, -1};
        covey_recv_array(s->vm, s->tids[i], TAG_ANSWER, COVEY_FOREVER, COVEY_INT32, answer, 2, NULL,
                         NULL);
        if (answer[0] != s->number + (i == 0) || answer[1] != 0) {
            printf("receiver %d: %d messages of %d, %d wrong\n", i, answer[0], s->number,
                   answer[1]);
            good = 0;
        }
    }
    return good;
}

static int send_all(struct sender *s, const char *program, const char *route, char **hosts)
{
    const struct covey_spawn what = {.argv = (const char *const[]){program, "receive", route, NULL},
                                     .hosts = (const char *const *)hosts,
                                     .where = COVEY_WHERE_EACH,
                                     .tether = 1};
    s->n = covey_spawn_count(s->vm, &what, 2);
    if (s->n < 2 || s->n > RECEIVERS_MAX || covey_spawn(s->vm, &what, 2, s->tids) != s->n) {
        check("the receivers start", 0);
        return 1;
    }
    check("sizes, between ordinary messages", rounds(s) == 0);
    check("a flood", flood(s) == 0);
    check("a receiver named twice, and the sender itself", twice(s) == 0);
    check("a bad tid is an error", to_a_bad_tid(s) == COVEY_EINVAL);
    check("a dead receiver is an error", to_a_dead_one(s) == COVEY_ENOTASK);
    check("all others got everything once and in order", answers(s));
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}

int main(int argc, char **argv)
{
    struct sender s = {.bytes = malloc(BYTES_MAX), .msg = covey_msg_new()};
    const char *route = argc > 3 && strcmp(argv[1], "--route") == 0 ? argv[2] : "auto";
    int status = 1;
    if (argc < 3 || s.bytes == NULL || covey_join(&s.vm, NULL) < 0) {
        fprintf(stderr, "mcast: usage: mcast [--route ROUTE] HOST...\n");
    } else if (strcmp(argv[1], "receive") == 0) {
        status = receive(s.vm, covey_route_parse(argv[2]));
    } else {
        covey_set_route(s.vm, COVEY_ANY_TASK, covey_route_parse(route));
        status = send_all(&s, argv[0], route, argv + (strcmp(argv[1], "--route") == 0 ? 3 : 1));
    }
    covey_leave(&s.vm);
    covey_msg_free(s.msg);
    free(s.bytes);
    return status;
}
