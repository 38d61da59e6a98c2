/*
 * arrays.c - what an array of Fortran is for covey.h: its type, how many elements, and where they
 * lie.
 *
 * A call of module covey takes arrays of any type and rank. The descriptor that the compiler passes
 * knows both; here they become a type of covey.h and a count. What cannot be passed is refused
 * before the library is called, which does not know of it: the cause is kept here, and told until
 * the library has another.
 */
#include <covey.h>

#include <ISO_Fortran_binding.h>
#include <stdio.h>
#include <string.h>

int covey_fortran_array(const CFI_cdesc_t *array, int *kind, size_t *elements, void **place);
int covey_fortran_count(const size_t *given, size_t *elements);
const char *covey_fortran_why(void);

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
int covey_fortran_array(const CFI_cdesc_t *array, int *kind, size_t *elements, void **place)
{
    size_t count = 1;
    for (int i = 0; i < array->rank; i++)
        count *= array->dim[i].extent > 0 ? (size_t)array->dim[i].extent : 0;
    if (count > 1 && !CFI_is_contiguous(array))
        return refuse(
            "the elements of the array do not lie one after the other, and it cannot be copied");
    int type = *kind != 0 ? *kind : type_of(array);
    size_t bytes = covey_type_size(type);
    if (bytes == 0)
        return refuse("covey.h has no type for the elements of the array");
    *kind = type;
    *elements = count * array->elem_len / bytes;
    *place = array->base_addr;
    return COVEY_OK;
}

int covey_fortran_count(const size_t *given, size_t *elements)
{
    if (given == NULL)
        return COVEY_OK;
    if (*given > *elements)
        return refuse("the array has fewer elements than count says");
    *elements = *given;
    return COVEY_OK;
}
