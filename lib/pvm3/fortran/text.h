/*
 * text.h - strings of Fortran: of a length that the compiler hands over, filled up with blanks.
 */
#ifndef COVEY_PVM3_FORTRAN_TEXT_H
#define COVEY_PVM3_FORTRAN_TEXT_H

#include <stddef.h>

#define TEXT_MAX 1024

/* A copy that ends with a NUL, without blanks at the end; what is too long is cut. Returns `to`. */
char *text_take(char to[TEXT_MAX], const char *from, size_t length);

/* The other way; what is too long is cut. */
void text_give(char *to, size_t length, const char *from);

/* The call of PVM with that end of its name, when it takes a string and as many numbers, and gives
 * a number. */
#define NAMED_0(name)                                                                              \
    void pvmf##name##_(const char *text, int *result, size_t length)                               \
    {                                                                                              \
        char copy[TEXT_MAX];                                                                       \
        *result = pvm_##name(text_take(copy, text, length));                                       \
    }
#define NAMED_1(name)                                                                              \
    void pvmf##name##_(const char *text, const int *a, int *result, size_t length)                 \
    {                                                                                              \
        char copy[TEXT_MAX];                                                                       \
        *result = pvm_##name(text_take(copy, text, length), *a);                                   \
    }
#define NAMED_2(name)                                                                              \
    void pvmf##name##_(const char *text, const int *a, const int *b, int *result, size_t length)   \
    {                                                                                              \
        char copy[TEXT_MAX];                                                                       \
        *result = pvm_##name(text_take(copy, text, length), *a, *b);                               \
    }

#endif
