/*
 * nonce_watch.h - watches the cipher itself: a program that links nonce_watch.c has each of its
 * encryptions pass by it, and is told of a nonce that came twice under one key.
 */
#ifndef COVEY_TESTS_SIM_NONCE_WATCH_H
#define COVEY_TESTS_SIM_NONCE_WATCH_H

#include <stdint.h>

/* Forgets all that was seen: a world of the same seed begins anew. */
void nonce_watch_reset(void);

uint64_t nonce_watch_seen(void);    /* encryptions since then */
uint64_t nonce_watch_repeats(void); /* those of a key and a nonce that had been used before */

#endif
