/*
 * pack.c - arrays of PVM's types to bytes and back, and pvm_pk...() and pvm_upk...().
 */
#include "lib/pvm3/message/pack.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"

#define PAD 4 /* bytes and strings of the default encoding are filled up to multiples of it */

/* An element in memory, in the default encoding, and the numbers that it consists of. */
struct form {
    uint8_t size, wide, number;
};

static const struct form forms[] = {
    [PVM_BYTE] = {1, 1, 1},
    [PVM_SHORT] = {sizeof(short), 4, sizeof(short)},
    [PVM_INT] = {4, 4, 4},
    [PVM_FLOAT] = {4, 4, 4},
    [PVM_CPLX] = {8, 8, 4},
    [PVM_DOUBLE] = {8, 8, 8},
    [PVM_DCPLX] = {16, 16, 8},
    [PVM_LONG] = {sizeof(long), 8, sizeof(long)},
    [PVM_USHORT] = {sizeof(short), 4, sizeof(short)},
    [PVM_UINT] = {4, 4, 4},
    [PVM_ULONG] = {sizeof(long), 8, sizeof(long)},
};

size_t pack_size(int type)
{
    return type < 0 || type > PVM_ULONG ? 0 : forms[type].size;
}

static bool is_unsigned(int type)
{
    return type == PVM_USHORT || type == PVM_ULONG;
}

static void number_turn(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size / 2; i++) {
        uint8_t byte = bytes[i];
        bytes[i] = bytes[size - 1 - i];
        bytes[size - 1 - i] = byte;
    }
}

void pack_swap(int type, void *bytes, size_t size)
{
    uint8_t *at = bytes;
    size_t number = pack_size(type) == 0 ? 1 : forms[type].number;
    for (size_t i = 0; number > 1 && i + number <= size; i += number)
        number_turn(at + i, number);
}

/* ---- elements that take more room in a message than in memory -------------------------------- */

static int64_t number_load(int type, const uint8_t *at)
{
    short s;
    long l;
    if (type == PVM_SHORT || type == PVM_USHORT) {
        memcpy(&s, at, sizeof s);
        return is_unsigned(type) ? (int64_t)(unsigned short)s : s;
    }
    memcpy(&l, at, sizeof l);
    return is_unsigned(type) ? (int64_t)(unsigned long)l : l;
}

/* ---- arrays --------------------------------------------------------------------------------- */

/* What an element takes in this buffer. */
static size_t width_in(const struct buffer *b, int type)
{
    return b->info.enc == ENC_DEFAULT ? forms[type].wide : forms[type].size;
}

static size_t padding(const struct buffer *b, size_t size)
{
    return b->info.enc == ENC_DEFAULT ? (PAD - size % PAD) % PAD : 0;
}

static int array_check(const struct buffer *b, int type, const void *base, int count)
{
    if (pack_size(type) == 0 || count < 0)
        return PvmBadParam;
    if (b == NULL)
        return PvmNoBuf;
    return base == NULL && count > 0 ? PvmBadParam : PvmOk;
}

int pack_array(struct buffer *b, int type, const void *base, int count, int stride)
{
    int error = array_check(b, type, base, count);
    if (error != PvmOk || count == 0)
        return error;
    const uint8_t *from = base;
    size_t size = forms[type].size, width = width_in(b, type), n = (size_t)count;
    if (b->info.enc == ENC_INPLACE)
        return stride != 1 && count > 1 ? PvmNotImpl : body_refer(&b->body, base, n * size);
    size_t pad = type == PVM_BYTE ? padding(b, n) : 0;
    uint8_t *to = body_extend(&b->body, n * width + pad);
    if (to == NULL)
        return PvmNoMem;
    memset(to + n * width, 0, pad);
    if (width == size && (stride == 1 || count == 1)) {
        memcpy(to, from, n * size);
        return PvmOk;
    }
    for (size_t i = 0; i < n; i++, to += width, from += (ptrdiff_t)size * stride) {
        if (width == size)
            memcpy(to, from, size);
        else {
            int64_t value = number_load(type, from);
            int32_t value32 = (int32_t)value;
            if (forms[type].wide == 4)
                memcpy(to, &value32, 4);
            else
                memcpy(to, &value, 8);
        }
    }
    return PvmOk;
}

static void unpack_element(struct buffer *b, int type, uint8_t *to, size_t width)
{
    uint8_t element[16];
    body_read(&b->body, element, width);
    size_t number = width == forms[type].size ? forms[type].number : width;
    for (size_t i = 0; b->swapped && i < width; i += number)
        number_turn(element + i, number);
    if (width == forms[type].size)
        memcpy(to, element, width);
    else {
        int64_t value = 0;
        int32_t value32 = 0;
        memcpy(&value32, element, 4);
        if (forms[type].wide == 4)
            value = value32;
        else
            memcpy(&value, element, 8);
        short s = (short)value;
        long l = (long)value;
        if (type == PVM_SHORT || type == PVM_USHORT)
            memcpy(to, &s, sizeof s);
        else
            memcpy(to, &l, sizeof l);
    }
}

int unpack_array(struct buffer *b, int type, void *base, int count, int stride)
{
    int error = array_check(b, type, base, count);
    if (error != PvmOk || count == 0)
        return error;
    uint8_t *to = base;
    size_t size = forms[type].size, width = width_in(b, type), n = (size_t)count;
    size_t pad = type == PVM_BYTE ? padding(b, n) : 0;
    if (body_left(&b->body) < n * width + pad)
        return PvmNoData;
    if (width == size && (stride == 1 || count == 1)) {
        body_read(&b->body, to, n * size);
        if (b->swapped)
            pack_swap(type, to, n * size);
    } else {
        for (size_t i = 0; i < n; i++, to += (ptrdiff_t)size * stride)
            unpack_element(b, type, to, width);
    }
    uint8_t filling[PAD];
    body_read(&b->body, filling, pad);
    return PvmOk;
}

/* ---- strings: the length with the NUL, and the bytes ----------------------------------------- */

int pack_string(struct buffer *b, const char *text)
{
    if (b == NULL || text == NULL)
        return b == NULL ? PvmNoBuf : PvmBadParam;
    if (b->info.enc == ENC_INPLACE)
        return PvmNotImpl;
    size_t size = strlen(text) + 1;
    int length = (int)size;
    if (size > INT_MAX)
        return PvmBadParam;
    int error = pack_array(b, PVM_INT, &length, 1, 1);
    return error != PvmOk ? error : pack_array(b, PVM_BYTE, text, length, 1);
}

int unpack_string(struct buffer *b, char *text)
{
    int length;
    int error = text == NULL ? PvmBadParam : unpack_array(b, PVM_INT, &length, 1, 1);
    if (error != PvmOk)
        return error;
    if (length < 1)
        return PvmBadMsg;
    error = unpack_array(b, PVM_BYTE, text, length, 1);
    if (error == PvmOk)
        text[length - 1] = '\0';
    return error;
}

/* ---- calls ---------------------------------------------------------------------------------- */

#define CALLS(name, ctype, TYPE)                                                                   \
    int call_pk##name(ctype *base, int count, int stride)                                          \
    {                                                                                              \
        return error_reported("pvm_pk" #name,                                                      \
                              pack_array(buffer_sending(), PVM_##TYPE, base, count, stride));      \
    }                                                                                              \
    int call_upk##name(ctype *base, int count, int stride)                                         \
    {                                                                                              \
        return error_reported("pvm_upk" #name,                                                     \
                              unpack_array(buffer_receiving(), PVM_##TYPE, base, count, stride));  \
    }
PACKED_TYPES(CALLS)

int call_pkstr(char *text)
{
    return error_reported("pvm_pkstr", pack_string(buffer_sending(), text));
}

int call_upkstr(char *text)
{
    return error_reported("pvm_upkstr", unpack_string(buffer_receiving(), text));
}
