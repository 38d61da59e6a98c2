/*
 * kernel.h - how fast this host multiplies the blocks of matmul.
 */
#ifndef MATMUL_KERNEL_H
#define MATMUL_KERNEL_H

/* Prints T_mult + T_add of Schmidt & Sunderam, section 3.1, for blocks of 64, 128, ... 2048 rows
 * and columns in panels as tasks multiply them. Returns the exit status of the process. */
int product_kernel(void);

#endif
