/* links: libcovey */
/*
 * echo.c - the task that is attacked, and the honest one that sees whether it still works.
 *
 *   echo serve [ROUTE]         prints its tid and sends every message with tag 1 back with tag 2;
 *                              ends with tag 3
 *   echo ask TID ROUTE COUNT [FILE [FILE]]
 *                              sends COUNT messages of many sizes, most of them short, over that
 *                              route and compares what comes back; after a quarter of them, and
 *                              after half, makes the FILE and waits until it is gone; each time and
 *                              at the end prints the route that the next message takes
 *   echo stop TID
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/covey.h"

enum {
    TAG_ASK = 1,
    TAG_ANSWER = 2,
    TAG_STOP = 3,
    LARGEST = 300000,
    SHORT = 1000,
    WAIT_US = 20000000
};

/* What a wire that is not encrypted shows. */
static const char mark[] = "the-secret-of-this-message";

static int fail(const char *what)
{
    fprintf(stderr, "echo: %s: %s\n", what, covey_error_text());
    return 1;
}

static int serve(covey_t *vm)
{
    printf("t%x\n", (unsigned)covey_mytid(vm));
    fflush(stdout);
    for (;;) {
        covey_msg_t *msg;
        static uint8_t bytes[LARGEST];
        size_t size;
        if (covey_recv(vm, COVEY_ANY_TASK, COVEY_ANY_TAG, COVEY_FOREVER, &msg) != COVEY_OK)
            return fail("receive");
        struct covey_info info;
        int type = 0;
        covey_msg_info(msg, &info);
        bool good = info.tag == TAG_ASK && covey_peek(msg, &type, &size) == COVEY_OK &&
                    type == COVEY_BYTES && size <= LARGEST &&
                    covey_unpack_bytes(msg, bytes, size) == COVEY_OK;
        covey_msg_free(msg);
        if (info.tag == TAG_STOP)
            return 0;
        if (good)
            covey_send_array(vm, info.source, TAG_ANSWER, COVEY_BYTES, bytes, size);
    }
}

static void pause_while(covey_t *vm, covey_tid_t tid, const char *path)
{
    FILE *file = path == NULL ? NULL : fopen(path, "w");
    if (file == NULL)
        return;
    printf("%s\n", covey_route_name(covey_route(vm, tid)));
    fflush(stdout);
    fclose(file);
    while (access(path, F_OK) == 0)
        usleep(10000);
}

static int ask(covey_t *vm, covey_tid_t tid, char **args)
{
    const char *route = args[0];
    int count = atoi(args[1]);
    static uint8_t bytes[LARGEST], back[LARGEST];
    if (covey_set_route(vm, tid, covey_route_parse(route)) != COVEY_OK)
        return fail("route");
    for (int i = 0; i < count; i++) {
        size_t most = i % 4 == 1 ? LARGEST : SHORT, got;
        size_t size = sizeof mark + (size_t)(i * 7919) % (most - sizeof mark);
        memset(bytes, i, size);
        memcpy(bytes + (size - sizeof mark) / 2, mark, sizeof mark);
        if (covey_send_array(vm, tid, TAG_ASK, COVEY_BYTES, bytes, size) != COVEY_OK)
            return fail("send");
        if (covey_recv_array(vm, tid, TAG_ANSWER, WAIT_US, COVEY_BYTES, back, LARGEST, &got,
                             NULL) != COVEY_OK)
            return fail("receive");
        if (got != size || memcmp(bytes, back, size) != 0)
            return fprintf(stderr, "echo: another answer\n"), 1;
        if (i == count / 4)
            pause_while(vm, tid, args[2]);
        if (i == count / 2 && args[2] != NULL)
            pause_while(vm, tid, args[3]);
    }
    printf("%s\n", covey_route_name(covey_route(vm, tid)));
    return 0;
}

int main(int argc, char **argv)
{
    covey_t *vm;
    int status = 2;
    if (covey_join(&vm, NULL) != COVEY_OK)
        return fail("join");
    covey_tid_t tid = argc > 2 ? (covey_tid_t)strtoul(argv[2] + 1, NULL, 16) : 0;
    if (argc > 1 && strcmp(argv[1], "serve") == 0)
        status = serve(vm);
    else if (argc >= 5 && argc <= 7 && strcmp(argv[1], "ask") == 0)
        status = ask(vm, tid, argv + 3);
    else if (argc == 3 && strcmp(argv[1], "stop") == 0)
        status = covey_send_array(vm, tid, TAG_STOP, COVEY_BYTES, "", 0) == COVEY_OK ? 0 : 1;
    covey_leave(&vm);
    return status;
}
