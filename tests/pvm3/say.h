/*
 * say.h - what the test programs of PVM's calls print: each call with what it returned. The same
 * program runs on Covey and on PVM, and prints the same: so it says nothing of tids and bufids.
 */
#ifndef COVEY_TESTS_PVM3_SAY_H
#define COVEY_TESTS_PVM3_SAY_H

#include <fcntl.h>
#include <stdio.h>

#include <pvm3.h> /* declares pvm_catchout() where EOF is known */
#include <stdlib.h>
#include <unistd.h>

/* A call with its result; one of which only the sign matters; and a text. */
#define SAY(call) printf("%s = %d\n", #call, (int)(call))
#define SAY_SIGN(call) printf("%s %s 0\n", #call, say_sign((call)))
#define SAY_TEXT(text) printf("%s = \"%s\"\n", #text, (text))

static inline const char *say_sign(int value)
{
    return value < 0 ? "<" : value > 0 ? ">" : "=";
}

/* Errors of the library stand between the lines of the program. */
static inline void say_begin(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    setvbuf(stderr, NULL, _IONBF, 0);
    dup2(STDOUT_FILENO, STDERR_FILENO);
    pvm_mytid();
}

/* pvm_exit() without what it may say on standard error: that it waits for children. */
static inline int say_exit(void)
{
    int before = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO);
    int result = pvm_exit();
    dup2(before, STDERR_FILENO);
    close(before);
    close(null);
    return result;
}

static inline char *say_program(void)
{
    static char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n < 0 ? 0 : n] = '\0';
    return path;
}

/* The next number of the message. */
static inline int upk(void)
{
    int value = 0;
    pvm_upkint(&value, 1, 1);
    return value;
}

/* Sends what was packed to the task itself, and receives it. */
static inline int say_turn(int tag)
{
    if (pvm_send(pvm_mytid(), tag) < 0)
        return -1;
    return pvm_recv(pvm_mytid(), tag);
}

#endif
