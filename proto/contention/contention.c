/*
 * contention.c - the frames of contention.h as bytes.
 */
#include "proto/contention/contention.h"

void contention_put_ask(struct cursor *c, const struct contention_ask *ask)
{
    cursor_put_u32(c, ask->task);
    cursor_put_u32(c, ask->number);
    cursor_put_u64(c, ask->asked_us);
    cursor_put_u16(c, ask->to);
    cursor_put_u16(c, 0);
}

void contention_get_ask(struct cursor *c, struct contention_ask *ask)
{
    ask->task = cursor_get_u32(c);
    ask->number = cursor_get_u32(c);
    ask->asked_us = cursor_get_u64(c);
    ask->to = cursor_get_u16(c);
    if (cursor_get_u16(c) != 0 || ask->number == 0)
        c->bad = true;
}

void contention_put_end(struct cursor *c, uint32_t task, uint32_t number)
{
    cursor_put_u32(c, task);
    cursor_put_u32(c, number);
}

void contention_get_end(struct cursor *c, uint32_t *task, uint32_t *number)
{
    *task = cursor_get_u32(c);
    *number = cursor_get_u32(c);
}

void contention_put_answer(struct cursor *c, const struct contention_answer *answer)
{
    cursor_put_u32(c, answer->number);
    cursor_put_u64(c, answer->asked_us);
    cursor_put_u8(c, answer->verdict);
    cursor_put_u8(c, 0);
    cursor_put_u16(c, 0);
    cursor_put_u32(c, answer->quantum_bytes);
    cursor_put_u64(c, answer->rate);
}

void contention_get_answer(struct cursor *c, struct contention_answer *answer)
{
    *answer = (struct contention_answer){.number = cursor_get_u32(c)};
    answer->asked_us = cursor_get_u64(c);
    answer->verdict = cursor_get_u8(c);
    uint32_t zero = cursor_get_u8(c);
    zero += cursor_get_u16(c);
    answer->quantum_bytes = cursor_get_u32(c);
    answer->rate = cursor_get_u64(c);
    bool known = answer->verdict >= CONTENTION_WAIT && answer->verdict < CONTENTION_VERDICT_MAX;
    if (!known || zero != 0 ||
        (answer->verdict == CONTENTION_GRANTED && answer->quantum_bytes == 0))
        c->bad = true;
}
