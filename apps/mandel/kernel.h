/*
 * kernel.h - how fast this host iterates for the Mandelbrot set.
 */
#ifndef MANDEL_KERNEL_H
#define MANDEL_KERNEL_H

/* Prints the time of an iteration. Returns the exit status of the process. */
int escape_kernel(void);

#endif
