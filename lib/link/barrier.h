/*
 * barrier.h - a memory barrier in every thread that runs, of all programs that take part.
 *
 * Where one of two must know that what it wrote is seen before it reads what the other wrote, and
 * the other way round, both need a barrier. With this one who seldom does so pays for both: a
 * microsecond and more, and whoever does it all the time needs to keep nothing but its compiler
 * from changing the order. Kernels before Linux 4.16 and some sandboxes refuse it.
 */
#ifndef COVEY_LIB_LINK_BARRIER_H
#define COVEY_LIB_LINK_BARRIER_H

#include <stdbool.h>

/* The threads of this program take part from now on. False: the kernel refuses it. Where a program
 * has one thread it takes no time, else the first time takes milliseconds. */
bool barrier_join(void);

/* Every thread that runs in a program that takes part has a full barrier meanwhile, and so has this
 * one. False: the kernel refuses it. */
bool barrier_all(void);

#endif
