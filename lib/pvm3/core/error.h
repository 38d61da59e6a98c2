/*
 * error.h - what a call of PVM returns when it fails, and what it prints.
 */
#ifndef COVEY_PVM3_ERROR_H
#define COVEY_PVM3_ERROR_H

/* PVM's own name, which its programs know: remembers the code for pvm_perror(), prints
 * `libpvm [t40002]: CALL(): TEXT` when PvmAutoErr says so, and returns the code. */
int lpvmerr(const char *call, int code);

/* The result of a call: one that is an error goes to lpvmerr(). */
static inline int error_reported(const char *call, int result)
{
    return result < 0 ? lpvmerr(call, result) : result;
}

/* PVM's code for one of enum covey_error. */
int error_of(int covey_error);

/* A line on standard error, with the same words in front, when PvmAutoErr is not 0. */
void error_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What PvmAutoErr is: 0 nothing is printed, 1 errors are, 2 and the program ends, 3 by abort(). */
int error_auto(void);
void error_set_auto(int value);

#endif
