/*
 * format.h - the text of a function that takes a format and values as printf() does: FORMAT()
 * stands in it, and writes the text of its `format` and the values behind into `size` bytes.
 */
#ifndef COVEY_PROTO_FORMAT_H
#define COVEY_PROTO_FORMAT_H

#include <stdarg.h>
#include <stdio.h>

#define FORMAT(text, size, format)                                                                 \
    do {                                                                                           \
        va_list format_values;                                                                     \
        va_start(format_values, format);                                                           \
        vsnprintf(text, size, format, format_values);                                              \
        va_end(format_values);                                                                     \
    } while (0)

#endif
