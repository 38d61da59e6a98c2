/* links: daemon/base/runtime.c daemon/base/failure.c */
/*
 * runtime_test.c - the runtime directory of many daemons: what one that ends asks the others, and
 * what the last leaves. All daemons are this process, so a question is a connection at a listener.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/runtime.h"
#include "tests/unit/runner.h"

#define DAEMONS 60
#define DEAD 5 /* of them, killed */

static struct {
    char directory[64];
    struct runtime daemons[DAEMONS];
} world;

static void begin(void)
{
    struct failure why;
    snprintf(world.directory, sizeof world.directory, "/tmp/covey-runtime-%d", (int)getpid());
    CU_ASSERT_FATAL(mkdir(world.directory, 0700) == 0);
    setenv("XDG_RUNTIME_DIR", world.directory, 1);
    for (int i = 0; i < DAEMONS; i++) {
        char host[16];
        snprintf(host, sizeof host, "h%d", i);
        CU_ASSERT_FATAL(runtime_open(&world.daemons[i], "vm", host, i == 0, &why) == 0);
        fclose(fopen(world.daemons[i].log, "w"));
    }
    for (int i = 0; i < DEAD; i++)
        close(world.daemons[i].listener);
}

/* How often a daemon was asked whether it lives. */
static unsigned questions(const struct runtime *daemon)
{
    unsigned count = 0;
    for (int fd; (fd = accept(daemon->listener, NULL, NULL)) >= 0; count++)
        close(fd);
    return count;
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Ends the others in any order but that of the directory. */
static unsigned end_all(enum runtime_logs kept)
{
    unsigned asked = 0;
    for (int i = DAEMONS - 1; i >= DEAD; i--) {
        asked += questions(&world.daemons[i]);
        runtime_close(&world.daemons[i], kept);
        CU_ASSERT_FALSE(exists(world.daemons[i].socket));
    }
    return asked;
}

/* Thousands of daemons end at once, one after another under a lock. */
static void ending_asks_few(void)
{
    begin();
    CU_ASSERT(end_all(RUNTIME_LOGS_NONE) <= DAEMONS);
    CU_ASSERT_FALSE(exists(world.daemons[0].directory));
    CU_ASSERT(rmdir(world.directory) == 0);
}

/* The daemons were halted, and those that were killed before left a socket and a log. */
static void last_removes_what_the_dead_left(void)
{
    begin();
    for (int i = DEAD; i < DAEMONS - 1; i++)
        runtime_close(&world.daemons[i], RUNTIME_LOGS_NONE);
    CU_ASSERT(exists(world.daemons[0].log));
    runtime_close(&world.daemons[DAEMONS - 1], RUNTIME_LOGS_NONE);
    CU_ASSERT_FALSE(exists(world.daemons[0].directory));
    CU_ASSERT(rmdir(world.directory) == 0);
}

/* Those that failed leave their logs, and nothing else. */
static void logs_of_failures_stay(void)
{
    begin();
    end_all(RUNTIME_LOGS_ALL);
    for (int i = 0; i < DAEMONS; i++) {
        CU_ASSERT_FALSE(exists(world.daemons[i].socket));
        CU_ASSERT(unlink(world.daemons[i].log) == 0);
    }
    CU_ASSERT(rmdir(world.daemons[0].directory) == 0 && rmdir(world.daemons[0].base) == 0);
    CU_ASSERT(rmdir(world.directory) == 0);
}

static const struct test_case CASES[] = {
    {"who ends asks few others whether they live", ending_asks_few},
    {"the last removes what the dead left", last_removes_what_the_dead_left},
    {"logs of failures stay", logs_of_failures_stay},
};

int main(void)
{
    return covey_test_main("runtime", CASES, sizeof CASES / sizeof CASES[0]);
}
