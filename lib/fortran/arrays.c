/*
 * arrays.c - what an array of Fortran is for covey.h: its type, how many elements, and where they
 * lie.
 *
 * A call of module covey takes arrays of any type and rank. The descriptor that the compiler passes
 * knows both; here they become a type of covey.h and a count. What cannot be passed is refused
 * before the library is called, which does not know of it: the cause is kept here, and told until
 * the library has another.
 */
#include "lib/fortran/arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char own_cause[160], library_cause[512];

static int refuse(const char *why)
{
    snprintf(own_cause, sizeof own_cause, "%s", why);
    snprintf(library_cause, sizeof library_cause, "%s", covey_error_text());
    return COVEY_EINVAL;
}

const char *covey_fortran_why(void)
{
    const char *now = covey_error_text();
    if (strncmp(now, library_cause, sizeof library_cause - 1) != 0)
        own_cause[0] = '\0';
    return own_cause[0] != '\0' ? own_cause : now;
}

/* The type of covey.h, or 0. Logical variables travel as integers of their size. */
static int type_of(const CFI_cdesc_t *array)
{
    static const int integers[] = {
        [1] = COVEY_INT8, [2] = COVEY_INT16, [4] = COVEY_INT32, [8] = COVEY_INT64};
    const size_t bytes = array->elem_len;
    switch (array->type & CFI_type_mask) {
    case CFI_type_Integer:
    case CFI_type_Logical:
        return bytes <= 8 ? integers[bytes] : 0;
    case CFI_type_Real:
        return bytes == 4 ? COVEY_FLOAT : bytes == 8 ? COVEY_DOUBLE : 0;
    case CFI_type_Complex:
        return bytes == 8 ? COVEY_COMPLEX_FLOAT : bytes == 16 ? COVEY_COMPLEX_DOUBLE : 0;
    case CFI_type_Character:
    case CFI_type_struct:
        return COVEY_BYTES;
    default:
        return 0;
    }
}

/* gfortran gives empty sections a negative extent, and so it does to arrays of assumed size, a(*),
 * which do not tell how many elements they have: both count as empty. */
int covey_fortran_array(const CFI_cdesc_t *from, int type, struct array *array)
{
    size_t count = 1;
    for (int i = 0; i < from->rank; i++)
        count *= from->dim[i].extent > 0 ? (size_t)from->dim[i].extent : 0;
    if (count > 1 && !CFI_is_contiguous(from))
        return refuse(
            "the elements of the array do not lie one after the other, and it cannot be copied");
    array->type = type != 0 ? type : type_of(from);
    size_t bytes = covey_type_size(array->type);
    if (bytes == 0)
        return refuse("covey.h has no type for the elements of the array");
    array->count = count * from->elem_len / bytes;
    array->base = from->base_addr;
    return COVEY_OK;
}

int covey_fortran_share(struct array *array, const size_t *given, int members)
{
    size_t parts = members > 0 ? (size_t)members : 1;
    if (given == NULL && array->count % parts != 0)
        return refuse("the array has not as many elements for each member");
    array->count /= parts;
    return covey_fortran_count(array, given, 1);
}

int covey_fortran_count(struct array *array, const size_t *given, ptrdiff_t stride)
{
    if (stride > 1)
        array->count = (array->count + (size_t)stride - 1) / (size_t)stride;
    if (given == NULL)
        return COVEY_OK;
    if (*given > array->count)
        return refuse("the array has fewer elements than count says");
    array->count = *given;
    return COVEY_OK;
}

char *covey_fortran_text(const CFI_cdesc_t *text)
{
    const char *letters = text->base_addr;
    size_t length = text->elem_len;
    while (length > 0 && letters[length - 1] == ' ')
        length--;
    return strndup(letters, length);
}
