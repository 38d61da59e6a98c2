/*
 * kernel.h - how fast this host sorts and merges keys.
 */
#ifndef SORT_KERNEL_H
#define SORT_KERNEL_H

/* Prints T_oper of Schmidt & Sunderam, section 3.2, of which sorting n keys takes n log2 n, and the
 * time of a key that is merged. Returns the exit status of the process. */
int keys_kernel(void);

#endif
