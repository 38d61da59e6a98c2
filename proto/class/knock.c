/*
 * knock.c - the student's side of joining a class; see knock.h. Each state is left by the frame
 * that it awaits:
 *
 *   HELLO -> REPLY -> PROOF -> WELCOME -knock_enter()-> INVITE -knock_answer()-> DONE -> OVER
 *
 * DONE may come from WELCOME on, REFUSE at any time; all else ends it.
 */
#include "proto/class/knock.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "proto/wire/frame.h"

enum { AWAITS_HELLO, AWAITS_REPLY, AWAITS_PROOF, AWAITS_WELCOME, AWAITS_INVITE, AWAITS_DONE, OVER };

void knock_begin(struct knock *knock, const struct passcode *code,
                 const uint8_t seed[CHANCE_SEED_BYTES])
{
    memset(knock, 0, sizeof *knock);
    knock->state = AWAITS_HELLO;
    knock->code = *code;
    memcpy(knock->chance.seed, seed, CHANCE_SEED_BYTES);
}

void knock_end(struct knock *knock)
{
    sodium_memzero(knock, sizeof *knock);
    knock->state = OVER;
}

/* ---- what the class says --------------------------------------------------------------------- */

static enum knock_event on_hello(struct knock *knock, struct cursor *fields)
{
    uint8_t body[CHANNEL_OPEN_MAX], random[CPACE_RANDOM_BYTES];
    char password[PASSCODE_TEXT_MAX];
    uint8_t version = cursor_get_u8(fields);
    cursor_get_bytes(fields, knock->proof.session, CLASS_NONCE_BYTES);
    if (!cursor_done(fields))
        return KNOCK_BROKEN;
    if (version != CLASS_VERSION)
        return knock->refusal = CLASS_OTHER_VERSION, KNOCK_REFUSED;
    chance_roll(&knock->chance, knock->proof.session + CLASS_NONCE_BYTES, CLASS_NONCE_BYTES);
    chance_roll(&knock->chance, random, sizeof random);
    passcode_print(&knock->code, password);
    channel_share(&knock->proof, password, random, false);
    sodium_memzero(random, sizeof random);
    sodium_memzero(password, sizeof password);
    struct cursor c = cursor_writer(body + 1, sizeof body - 1);
    cursor_put_u8(&c, CLASS_VERSION);
    cursor_put_u8(&c, (uint8_t)passcode_label(&knock->code));
    cursor_put_bytes(&c, knock->proof.session + CLASS_NONCE_BYTES, CLASS_NONCE_BYTES);
    cursor_put_bytes(&c, knock->proof.student, CPACE_POINT_BYTES);
    channel_send(&knock->channel, CHANNEL_SHARE, body, &c);
    knock->state = AWAITS_REPLY;
    return KNOCK_AGAIN;
}

static enum knock_event on_reply(struct knock *knock, struct cursor *fields)
{
    uint8_t body[CHANNEL_OPEN_MAX], tag[CPACE_TAG_BYTES];
    cursor_get_bytes(fields, knock->proof.teacher, CPACE_POINT_BYTES);
    if (!cursor_done(fields) || !channel_agree(&knock->proof, false))
        return KNOCK_BROKEN;
    channel_tag(&knock->proof, false, tag);
    struct cursor c = cursor_writer(body + 1, sizeof body - 1);
    cursor_put_bytes(&c, tag, sizeof tag);
    channel_send(&knock->channel, CHANNEL_PROOF, body, &c);
    knock->proved = true;
    knock->state = AWAITS_PROOF;
    return KNOCK_AGAIN;
}

static enum knock_event on_proof(struct knock *knock, struct cursor *fields)
{
    uint8_t tag[CPACE_TAG_BYTES], right[CPACE_TAG_BYTES];
    cursor_get_bytes(fields, tag, sizeof tag);
    if (!cursor_done(fields))
        return KNOCK_BROKEN;
    channel_tag(&knock->proof, true, right);
    if (sodium_memcmp(tag, right, sizeof tag) != 0)
        return KNOCK_UNPROVED;
    channel_seal(&knock->channel, &knock->proof, false);
    knock->state = AWAITS_WELCOME;
    return KNOCK_AGAIN;
}

static enum knock_event on_welcome(struct knock *knock, struct cursor *fields)
{
    knock->protocol = cursor_get_u32(fields);
    cursor_get_text(fields, knock->vm, sizeof knock->vm);
    cursor_get_text(fields, knock->host, sizeof knock->host);
    if (!cursor_done(fields))
        return KNOCK_BROKEN;
    knock->state = AWAITS_INVITE;
    return KNOCK_WELCOME;
}

static enum knock_event on_invite(struct knock *knock, struct cursor *fields)
{
    knock->sealed_size = cursor_get_u16(fields);
    knock->sealed = cursor_get_view(fields, knock->sealed_size);
    if (!cursor_done(fields) || knock->sealed_size == 0)
        return KNOCK_BROKEN;
    knock->state = AWAITS_DONE;
    return KNOCK_INVITED;
}

static enum knock_event on_done(struct knock *knock, struct cursor *fields)
{
    knock->error = cursor_get_i32(fields);
    cursor_get_text(fields, knock->text, sizeof knock->text);
    return cursor_done(fields) ? KNOCK_DONE : KNOCK_BROKEN;
}

static enum knock_event on_refuse(struct knock *knock, struct cursor *fields)
{
    uint8_t reason = cursor_get_u8(fields);
    if (!cursor_done(fields) || reason < CLASS_OTHER_VERSION || reason > CLASS_CLOSED)
        return KNOCK_BROKEN;
    knock->refusal = reason;
    return KNOCK_REFUSED;
}

static enum knock_event knock_step(struct knock *knock)
{
    struct cursor fields;
    int kind = channel_take(&knock->channel, &fields);
    if (knock->channel.broken)
        return KNOCK_BROKEN;
    if (kind == 0)
        return KNOCK_MORE;
    if (kind == CHANNEL_HELLO && knock->state == AWAITS_HELLO)
        return on_hello(knock, &fields);
    if (kind == CHANNEL_REPLY && knock->state == AWAITS_REPLY)
        return on_reply(knock, &fields);
    if (kind == CHANNEL_PROOF && knock->state == AWAITS_PROOF)
        return on_proof(knock, &fields);
    if (kind == CHANNEL_WELCOME && knock->state == AWAITS_WELCOME)
        return on_welcome(knock, &fields);
    if (kind == CHANNEL_INVITE && knock->state == AWAITS_INVITE)
        return on_invite(knock, &fields);
    if (kind == CHANNEL_DONE && knock->state >= AWAITS_INVITE)
        return on_done(knock, &fields);
    if (kind == CHANNEL_REFUSE)
        return on_refuse(knock, &fields);
    return KNOCK_BROKEN;
}

enum knock_event knock_take(struct knock *knock, const uint8_t *bytes, size_t *size)
{
    if (knock->state == OVER)
        return KNOCK_BROKEN;
    *size = channel_feed(&knock->channel, bytes, *size);
    enum knock_event event = knock_step(knock);
    if (event >= KNOCK_DONE)
        knock->state = OVER;
    return event;
}

/* ---- what it says ---------------------------------------------------------------------------- */

void knock_enter(struct knock *knock, const char *name, const uint8_t key[CLASS_BOX_KEY_BYTES])
{
    uint8_t body[2 * (CLASS_NAME_MAX + 1) + CLASS_BOX_KEY_BYTES];
    assert(knock->state == AWAITS_INVITE && strlen(name) <= CLASS_NAME_MAX);
    struct cursor c = cursor_writer(body + 1, sizeof body - 1);
    cursor_put_u32(&c, WIRE_VERSION);
    cursor_put_text(&c, name);
    cursor_put_bytes(&c, key, CLASS_BOX_KEY_BYTES);
    channel_send(&knock->channel, CHANNEL_ENTER, body, &c);
}

void knock_answer(struct knock *knock, const char *text)
{
    uint8_t body[CLASS_TEXT_MAX + 16];
    char cut[CLASS_TEXT_MAX + 1];
    assert(knock->state == AWAITS_DONE);
    size_t size = strnlen(text, CLASS_TEXT_MAX);
    memcpy(cut, text, size);
    cut[size] = '\0';
    struct cursor c = cursor_writer(body + 1, sizeof body - 1);
    cursor_put_text(&c, cut);
    channel_send(&knock->channel, CHANNEL_ANSWER, body, &c);
}

const uint8_t *knock_output(const struct knock *knock, size_t *size)
{
    *size = knock->channel.out_size;
    return knock->channel.out;
}

void knock_sent(struct knock *knock, size_t size)
{
    channel_sent(&knock->channel, size);
}
