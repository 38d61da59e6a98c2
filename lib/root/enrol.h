/*
 * enrol.h - joining and leaving a VM.
 */
#ifndef COVEY_LIB_ROOT_ENROL_H
#define COVEY_LIB_ROOT_ENROL_H

#include <stdint.h>

/* Waits until no daemon of that VM runs on this host any more. */
void enrol_await_end(const char *vm, uint64_t deadline_us);

#endif
