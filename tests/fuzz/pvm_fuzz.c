/* links: lib/pvm3/message/wire.c lib/pvm3/message/buffer.c lib/pvm3/message/body.c lib/pvm3/message/pack.c lib/pvm3/message/nested.c lib/pvm3/rm/rm_order.c lib/pvm3/core/error.c lib/msg/message.c lib/msg/spare.c lib/msg/pack.c lib/msg/unpack.c lib/msg/error.c proto/wire/frame.c proto/wire/cursor.c */
/*
 * pvm_fuzz.c - a message of PVM's programs out of foreign bytes, and a program that unpacks it as
 * whatever it likes.
 *
 * What was unpacked into a nested message is unpacked on.
 */
#include "lib/pvm3/message/wire.h"

#include <stdlib.h>
#include <string.h>

#include "lib/msg/message.h"
#include "lib/pvm3/core/abi.h"
#include "lib/pvm3/message/inbox.h"
#include "lib/pvm3/message/nested.h"
#include "lib/pvm3/message/pack.h"
#include "lib/pvm3/rm/rm.h"
#include "tests/fuzz/script.h"

enum { WIDTH_MAX = 16, STRIDE_MAX = 3, COUNT_MAX = 256, GROWN_MAX = 65536 };

int pvmmytid = 0x40001;

/* No message waits here. */
void inbox_remove(struct buffer *b)
{
    (void)b;
}

/* What failed has read nothing. */
static void try_array(struct buffer *b, const struct step *s)
{
    static uint8_t array[(size_t)COUNT_MAX * WIDTH_MAX * STRIDE_MAX];
    size_t left = body_left(&b->body);
    int stride = 1 + s->call / 16 % STRIDE_MAX;
    if (unpack_array(b, s->type % (PVM_ULONG + 2), array, s->count, stride) != PvmOk)
        REQUIRE(body_left(&b->body) == left);
}

/* The array of the program is as long as the message says. */
static void try_string(struct buffer *b)
{
    char *text = malloc(body_left(&b->body) + 1);
    REQUIRE(text != NULL);
    if (unpack_string(b, text) == PvmOk)
        REQUIRE(strlen(text) <= b->body.size);
    free(text);
}

static struct buffer *try_nested(struct buffer *b)
{
    struct buffer *nested = NULL;
    if (nested_unpack(b, &nested) != PvmOk)
        return b;
    REQUIRE(nested != NULL && nested->body.size <= b->body.size);
    buffer_destroy(b);
    return nested;
}

/* As the sender would pack it: into another message, or for the task itself. */
static struct buffer *try_copy(struct buffer *b)
{
    struct buffer *copy = wire_copy(b), *outer = buffer_create(ENC_DEFAULT);
    covey_msg_t *msg = wire_message(b);
    REQUIRE(copy != NULL && outer != NULL && msg != NULL);
    REQUIRE(copy->body.size == b->body.size);
    REQUIRE(b->body.size > GROWN_MAX || nested_pack(outer, b) == PvmOk);
    covey_msg_free(msg);
    buffer_destroy(b);
    buffer_destroy(outer);
    return copy;
}

/* What a resource manager says is to be started. */
static void try_order(struct buffer *b)
{
    struct rm_order order = {0};
    if (rm_order_read(b, &order) == PvmOk)
        REQUIRE(order.count > 0 && order.program != NULL && order.variables != NULL);
    rm_order_fini(&order);
}

static struct buffer *act(struct buffer *b, const struct step *s)
{
    switch (s->call % 8) {
    case 0:
        try_string(b);
        return b;
    case 1:
        return try_nested(b);
    case 2:
        return try_copy(b);
    case 3:
        body_rewind(&b->body);
        return b;
    case 4:
        try_order(b);
        return b;
    default:
        try_array(b, s);
        return b;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t steps = 0;
    const struct step *script = NULL;
    covey_msg_t *msg = NULL;
    if (!script_read(data, size, &script, &steps, &msg))
        return 0;
    struct buffer *b = wire_buffer(&msg);
    REQUIRE((b == NULL) == (msg != NULL) && (b == NULL || b->info.enc != ENC_INPLACE));
    for (size_t i = 0; i < steps && b != NULL; i++)
        b = act(b, &script[i]);
    buffer_destroy(b);
    covey_msg_free(msg);
    return 0;
}
