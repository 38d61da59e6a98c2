/*
 * census.h - what a process holds: memory, descriptors, shared rings; and who is a host's daemon.
 */
#ifndef COVEY_TESTS_CHAOS_CENSUS_H
#define COVEY_TESTS_CHAOS_CENSUS_H

#include <stdbool.h>
#include <sys/types.h>

/* Sanitizers keep what is freed, and much about it: there memory says nothing. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CENSUS_MEMORY false
#else
#define CENSUS_MEMORY true
#endif

struct census {
    long rss_kib;
    long pss_kib;
    int descriptors;
    int rings; /* mappings of memory that tasks share */
    int children;
};

/* False: there is no such process. */
bool census_take(pid_t pid, struct census *census);

/* "rss 3120 KiB, pss 1200 KiB, 14 descriptors, ..."; text has at least 160 bytes. */
void census_print(const struct census *census, char *text);

/* The pid of the daemon of that host of $COVEY_VM on this machine, by its socket; 0: none. */
pid_t census_daemon(const char *host);

/* Whether the process runs: a zombie does not. */
bool census_alive(pid_t pid);

#endif
