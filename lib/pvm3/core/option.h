/*
 * option.h - what other files need of pvm_setopt().
 */
#ifndef COVEY_PVM3_OPTION_H
#define COVEY_PVM3_OPTION_H

/* PvmResvTids: the program may use tags that are the library's. */
int option_reserved(void);

#endif
