/*
 * arrays.h - arrays of any type and rank, as Fortran's compilers pass them, for covey.h.
 */
#ifndef LIB_FORTRAN_ARRAYS_H
#define LIB_FORTRAN_ARRAYS_H

#include <covey.h>

#include <ISO_Fortran_binding.h>

struct array {
    int type; /* enum covey_type */
    size_t count;
    void *base;
};

/* Type, count and place of an array. A type that is not 0 is what its bytes are taken for. Of empty
 * sections gfortran gives a negative extent, and so it does of arrays of assumed size, a(*), which
 * do not tell how many elements they have: both count as empty. Errors: EINVAL. */
int covey_fortran_array(const CFI_cdesc_t *from, int type, struct array *array);

/* So many elements are used: every stride-th, or what is given. Errors: EINVAL (there are fewer).
 */
int covey_fortran_count(struct array *array, const size_t *given, ptrdiff_t stride);

/* The same where an array has so many for each member of a team. */
int covey_fortran_share(struct array *array, const size_t *given, int members);

/* A text without the blanks at its end, to be freed; NULL: memory is exhausted. */
char *covey_fortran_text(const CFI_cdesc_t *text);

/* What covey_error_text() says, or what these refused after that. */
const char *covey_fortran_why(void);

#endif
