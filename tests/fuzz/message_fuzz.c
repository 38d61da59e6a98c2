/* links: lib/msg/message.c lib/msg/spare.c lib/msg/pack.c lib/msg/unpack.c lib/msg/error.c proto/wire/frame.c proto/wire/cursor.c */
/*
 * message_fuzz.c - a message out of foreign bytes, and a program that does anything with it.
 *
 * What a call gives must lie in memory that is there, and a call that fails must leave the place of
 * reading where it was.
 */
#include "lib/msg/message.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/script.h"

enum { GROWN_MAX = 65536, DEPTH_MAX = 4, WIDTH_MAX = 16, STRIDE_MAX = 3 };

struct script {
    const struct step *steps;
    size_t count;
    int depth; /* of the nested message that it is run on */
};

/* Looks at every byte, so that a sanitizer does. */
static void look(const void *bytes, size_t size)
{
    static volatile uint8_t sum;
    const uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + at[i]);
}

static void run(covey_msg_t *msg, const struct script *script);

static void try_unpack(covey_msg_t *msg, const struct step *s)
{
    size_t width = covey_type_size(s->type), bytes = (size_t)s->count * width * STRIDE_MAX;
    ptrdiff_t stride = s->call / 16 % (2 * STRIDE_MAX + 1) - STRIDE_MAX;
    uint8_t *array = malloc(bytes + 1);
    REQUIRE(array != NULL);
    size_t back = stride < 0 && s->count > 0 ? (size_t)-stride * width * (s->count - 1u) : 0;
    covey_unpack(msg, s->type, array + back, s->count, stride);
    free(array);
}

static void try_view(covey_msg_t *msg, const struct step *s)
{
    const void *base;
    size_t count;
    if (covey_unpack_view(msg, s->type, &base, &count) == COVEY_OK)
        look(base, count * covey_type_size(s->type));
}

static void try_string(covey_msg_t *msg, const struct step *s)
{
    char *text = malloc(s->count + 1u);
    REQUIRE(text != NULL);
    if (covey_unpack_string(msg, text, s->count) == COVEY_OK)
        look(text, strlen(text));
    free(text);
}

static void try_nested(covey_msg_t *msg, const struct script *script)
{
    covey_msg_t *nested;
    if (script->depth == DEPTH_MAX || covey_unpack_msg(msg, &nested) != COVEY_OK)
        return;
    const struct script rest = {script->steps + 1, script->count - 1, script->depth + 1};
    run(nested, &rest);
    covey_msg_free(nested);
}

static void try_output_and_notice(covey_msg_t *msg)
{
    struct covey_notice notice;
    const char *text;
    size_t bytes;
    int stream;
    if (covey_unpack_output(msg, &stream, &text, &bytes) == COVEY_OK)
        look(text, bytes);
    covey_unpack_notice(msg, &notice);
}

/* Adds something to the message, by copy or in place. */
static void try_pack(covey_msg_t *msg, const struct step *s)
{
    static const uint8_t array[256 * WIDTH_MAX];
    if (msg->size > GROWN_MAX)
        return;
    covey_msg_t *nested = covey_msg_new();
    REQUIRE(nested != NULL);
    covey_pack_inplace(nested, s->type, array, s->count);
    covey_pack(msg, s->type, array, s->count, 1);
    covey_pack_msg(msg, nested);
    covey_pack_inplace(msg, s->type, array, s->count);
    covey_msg_free(nested);
}

/* The packed bytes from any offset are there. */
static void try_gather(const covey_msg_t *msg, const struct step *s)
{
    uint8_t bytes[512];
    size_t offset = (size_t)s->type * s->count;
    uint64_t left = msg->size > offset ? msg->size - offset : 0;
    size_t n = message_copy(msg, offset, bytes, sizeof bytes);
    REQUIRE(n == (left < sizeof bytes ? left : sizeof bytes));
    look(bytes, n);
}

static void try_peek(covey_msg_t *msg)
{
    int type, error;
    size_t count;
    if (covey_peek(msg, &type, &count) != COVEY_OK)
        return;
    REQUIRE(covey_type_size(type) > 0 && count <= msg->size);
    size_t at = msg->read_at, elements = msg->elements_read;
    error = covey_unpack(msg, type == COVEY_INT8 ? COVEY_INT16 : COVEY_INT8, NULL, 0, 1);
    REQUIRE(error == COVEY_ETYPE && msg->read_at == at && msg->elements_read == elements);
}

static void act(covey_msg_t *msg, const struct script *script)
{
    const struct step *s = script->steps;
    switch (s->call % 10) {
    case 0:
        try_view(msg, s);
        break;
    case 1:
        try_string(msg, s);
        break;
    case 2:
        try_nested(msg, script);
        break;
    case 3:
        try_output_and_notice(msg);
        break;
    case 4:
        try_pack(msg, s);
        break;
    case 5:
        try_gather(msg, s);
        break;
    case 6:
        covey_msg_rewind(msg);
        break;
    case 7:
        try_peek(msg);
        break;
    default:
        try_unpack(msg, s);
        break;
    }
}

static void run(covey_msg_t *msg, const struct script *script)
{
    struct script left = *script;
    for (; left.count > 0; left.steps++, left.count--)
        act(msg, &left);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    covey_msg_t *msg = NULL;
    struct script script = {.depth = 0};
    if (!script_read(data, size, &script.steps, &script.count, &msg))
        return 0;
    run(msg, &script);
    covey_msg_free(msg);
    return 0;
}
