/*
 * packf.c - pvm_packf() and pvm_unpackf(): several arrays by a format.
 *
 *   format = [ "%+" ] *( item / blank )
 *   item   = "%" [ count ] [ "." stride ] *( "h" / "l" / "u" ) ( "c" / "d" / "f" / "x" / "s" )
 *   count, stride = a number, or "*": the next argument is it
 *
 * "%+" begins a new message in the encoding of the next argument. Without a count pvm_packf() takes
 * one number itself instead of the address of an array.
 */
#include <ctype.h>
#include <pvm3.h>
#include <stdarg.h>
#include <stdlib.h>

#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/message/pack.h"

struct item {
    int count, stride;
    bool counted; /* an array, not one number */
    bool h, l, u;
    char kind;
};

/* A list of arguments that functions can share. */
struct arguments {
    va_list list;
};

static int number_take(const char **at, struct arguments *values)
{
    if (**at == '*') {
        (*at)++;
        return va_arg(values->list, int);
    }
    int number = 0;
    for (; isdigit((unsigned char)**at) && number < 100000000; (*at)++)
        number = 10 * number + (**at - '0');
    return number;
}

/* What follows a "%". */
static struct item item_take(const char **at, struct arguments *values)
{
    struct item item = {.count = 1, .stride = 1};
    if (**at == '*' || isdigit((unsigned char)**at)) {
        item.counted = true;
        item.count = number_take(at, values);
    }
    if (**at == '.') {
        (*at)++;
        item.stride = number_take(at, values);
    }
    for (; **at == 'h' || **at == 'l' || **at == 'u'; (*at)++) {
        item.h |= **at == 'h';
        item.l |= **at == 'l';
        item.u |= **at == 'u';
    }
    item.kind = **at;
    *at += **at != '\0';
    return item;
}

static int type_of(const struct item *item)
{
    switch (item->kind) {
    case 'c':
        return PVM_BYTE;
    case 'd':
        if (item->h)
            return item->u ? PVM_USHORT : PVM_SHORT;
        if (item->l)
            return item->u ? PVM_ULONG : PVM_LONG;
        return item->u ? PVM_UINT : PVM_INT;
    case 'f':
        return item->l ? PVM_DOUBLE : PVM_FLOAT;
    case 'x':
        return item->l ? PVM_DCPLX : PVM_CPLX;
    default:
        return PvmBadParam;
    }
}

/* One number that is itself an argument. */
static int pack_number(struct buffer *b, int type, struct arguments *values)
{
    union {
        char c;
        short s;
        int i;
        long l;
        float f;
        double d;
    } v;
    if (type == PVM_BYTE)
        v.c = (char)va_arg(values->list, int);
    else if (type == PVM_SHORT || type == PVM_USHORT)
        v.s = (short)va_arg(values->list, int);
    else if (type == PVM_LONG || type == PVM_ULONG)
        v.l = va_arg(values->list, long);
    else if (type == PVM_FLOAT)
        v.f = (float)va_arg(values->list, double);
    else if (type == PVM_DOUBLE)
        v.d = va_arg(values->list, double);
    else
        v.i = va_arg(values->list, int);
    return pack_array(b, type, &v, 1, 1);
}

static int pack_item(const struct item *item, struct arguments *values)
{
    struct buffer *b = buffer_sending();
    if (b == NULL)
        return PvmNoBuf;
    if (item->kind == 's')
        return pack_string(b, va_arg(values->list, char *));
    int type = type_of(item);
    if (type < 0)
        return type;
    bool complex = type == PVM_CPLX || type == PVM_DCPLX;
    if (!item->counted && !complex && b->info.enc != ENC_INPLACE)
        return pack_number(b, type, values);
    return pack_array(b, type, va_arg(values->list, void *), item->count, item->stride);
}

static int unpack_item(const struct item *item, struct arguments *values)
{
    struct buffer *b = buffer_receiving();
    if (b == NULL)
        return PvmNoBuf;
    if (item->kind == 's')
        return unpack_string(b, va_arg(values->list, char *));
    int type = type_of(item);
    if (type < 0)
        return type;
    return unpack_array(b, type, va_arg(values->list, void *), item->count, item->stride);
}

static int walk(const char *at, struct arguments *values,
                int (*each)(const struct item *, struct arguments *))
{
    int error = PvmOk;
    while (*at != '\0' && error == PvmOk) {
        if (isspace((unsigned char)*at)) {
            at++;
        } else if (*at++ == '%') {
            struct item item = item_take(&at, values);
            error = each(&item, values);
        } else {
            error = PvmBadParam;
        }
    }
    return error;
}

static int packf_begin(const char **format, struct arguments *values)
{
    if ((*format)[0] != '%' || (*format)[1] != '+')
        return PvmOk;
    *format += 2;
    int id = call_initsend(va_arg(values->list, int));
    return id < 0 ? id : PvmOk;
}

int call_packf(const char *format, va_list list)
{
    struct arguments values;
    va_copy(values.list, list);
    int error = format == NULL ? PvmBadParam : packf_begin(&format, &values);
    if (error == PvmOk)
        error = walk(format, &values, pack_item);
    va_end(values.list);
    return error_reported("pvm_packf", error);
}

int call_unpackf(const char *format, va_list list)
{
    struct arguments values;
    va_copy(values.list, list);
    int error = format == NULL ? PvmBadParam : walk(format, &values, unpack_item);
    va_end(values.list);
    return error_reported("pvm_unpackf", error);
}
