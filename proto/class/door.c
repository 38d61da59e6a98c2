/*
 * door.c - the teacher's side of a class; see door.h. A guest goes through these states, each left
 * by the frame named:
 *
 *   SAID_HELLO -SHARE-> SAID_REPLY -PROOF-> IS_IN -ENTER-> WAITS -guest_invite()-> IS_INVITED
 *   -ANSWER-> HAS_ANSWERED -guest_done()-> IS_OVER
 *
 * and from any of them to IS_OVER: when it breaks the rules, is refused, is late, or is done.
 */
#include "proto/class/door.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "proto/wire/frame.h"

enum guest_state { SAID_HELLO, SAID_REPLY, IS_IN, WAITS, IS_INVITED, HAS_ANSWERED, IS_OVER };

struct guest {
    TAILQ_ENTRY(guest) entry; /* by the time at which it came */
    struct door *door;
    uint8_t from[crypto_shorthash_BYTES]; /* the same for the same address */
    enum guest_state state;
    bool proved;
    uint64_t late_ms;
    struct channel_proof proof;
    struct channel channel;
    char name[CLASS_NAME_MAX + 1];
    uint8_t key[CLASS_BOX_KEY_BYTES];
    char answer[CLASS_TEXT_MAX + 1];
};

struct door {
    struct chance chance;
    uint8_t from_key[crypto_shorthash_KEYBYTES];
    uint8_t id[BEACON_ID_BYTES];
    char vm[CLASS_NAME_MAX + 1], host[CLASS_NAME_MAX + 1];
    enum door_state state;
    struct passcode code;
    uint64_t labels_used; /* a bit a label: of codes that are void, since it was opened */
    uint64_t labels_avoided;
    uint64_t until_ms;
    unsigned wrong, voided;
    TAILQ_HEAD(, guest) guests;
    unsigned guest_count;
};

_Static_assert(PASSCODE_LABELS == 64 && DOOR_VOID_MAX < PASSCODE_LABELS, "each code its label");

/* ---- codes ----------------------------------------------------------------------------------- */

/* A code whose label no code before it had: who still types one of those is told that it is void,
 * and takes none of the three tries of this one. */
static void code_renew(struct door *door)
{
    uint64_t random, not_these = door->labels_used | door->labels_avoided;
    if (~not_these == 0) /* somebody answers to all */
        not_these = door->labels_used;
    do {
        chance_roll(&door->chance, &random, sizeof random);
        unsigned label = (unsigned)(random % PASSCODE_LABELS);
        chance_roll(&door->chance, &random, sizeof random);
        door->code = passcode_make(label, random);
    } while (not_these >> passcode_label(&door->code) & 1);
    door->labels_used |= UINT64_C(1) << passcode_label(&door->code);
    door->wrong = 0;
}

static void guest_refuse(struct guest *guest, enum class_refusal reason);

/* Who has not proved anything by now has to come again. */
static void send_away(struct door *door, enum class_refusal reason)
{
    struct guest *guest;
    TAILQ_FOREACH(guest, &door->guests, entry)
    if (!guest->proved && guest->state != IS_OVER)
        guest_refuse(guest, reason);
}

static void code_void(struct door *door)
{
    door->voided++;
    if (door->voided == DOOR_VOID_MAX)
        door->state = DOOR_TRIED;
    else
        code_renew(door);
    send_away(door, door->state == DOOR_OPEN ? CLASS_NO_SUCH_CODE : CLASS_CLOSED);
}

/* ---- the door -------------------------------------------------------------------------------- */

static void name_copy(char to[CLASS_NAME_MAX + 1], const char *from)
{
    size_t size = strnlen(from, CLASS_NAME_MAX);
    memcpy(to, from, size);
    to[size] = '\0';
}

struct door *door_create(const uint8_t seed[CHANCE_SEED_BYTES], const char *vm, const char *host)
{
    struct door *door = calloc(1, sizeof *door);
    if (door == NULL)
        return NULL;
    memcpy(door->chance.seed, seed, CHANCE_SEED_BYTES);
    chance_roll(&door->chance, door->id, sizeof door->id);
    chance_roll(&door->chance, door->from_key, sizeof door->from_key);
    name_copy(door->vm, vm);
    name_copy(door->host, host);
    door->state = DOOR_CLOSED;
    TAILQ_INIT(&door->guests);
    return door;
}

void door_destroy(struct door *door)
{
    if (door == NULL)
        return;
    assert(TAILQ_EMPTY(&door->guests));
    sodium_memzero(door, sizeof *door);
    free(door);
}

void door_open(struct door *door, uint64_t until_ms)
{
    /* The label of the code that counted is not used again, others are. */
    unsigned label = passcode_label(&door->code);
    door->labels_used = door->labels_used == 0 ? 0 : UINT64_C(1) << label;
    door->state = DOOR_OPEN;
    door->until_ms = until_ms;
    door->voided = 0;
    code_renew(door);
    send_away(door, CLASS_NO_SUCH_CODE);
}

void door_close(struct door *door)
{
    door->state = DOOR_CLOSED;
    send_away(door, CLASS_CLOSED);
}

struct door_status door_status(const struct door *door)
{
    return (struct door_status){.state = door->state,
                                .code = door->code,
                                .until_ms = door->until_ms,
                                .wrong = door->wrong,
                                .voided = door->voided,
                                .guests = door->guest_count};
}

uint64_t door_settle(struct door *door, uint64_t now_ms)
{
    uint64_t next_ms = UINT64_MAX;
    if (door->state == DOOR_OPEN && now_ms >= door->until_ms) {
        door_close(door);
        door->state = DOOR_TIMEOUT;
    }
    if (door->state == DOOR_OPEN)
        next_ms = door->until_ms;
    struct guest *guest;
    TAILQ_FOREACH(guest, &door->guests, entry)
    {
        if (guest->state == IS_OVER)
            continue;
        if (now_ms >= guest->late_ms)
            guest->state = IS_OVER;
        else if (guest->late_ms < next_ms)
            next_ms = guest->late_ms;
    }
    return next_ms;
}

void door_avoid(struct door *door, uint64_t labels)
{
    door->labels_avoided = labels;
}

void door_relabel(struct door *door)
{
    if (door->state != DOOR_OPEN)
        return;
    door->labels_used &= ~(UINT64_C(1) << passcode_label(&door->code));
    code_renew(door);
    send_away(door, CLASS_NO_SUCH_CODE);
}

bool door_is_own(const struct door *door, const struct beacon *answer)
{
    return memcmp(door->id, answer->id, sizeof answer->id) == 0;
}

bool door_answer(struct door *door, const uint8_t *datagram, size_t size, uint16_t port,
                 uint8_t answer[BEACON_BYTES])
{
    struct beacon beacon;
    if (door->state != DOOR_OPEN || !beacon_get_question(datagram, size, &beacon) ||
        (beacon.label != passcode_label(&door->code) && beacon.label != BEACON_ANY_LABEL))
        return false;
    beacon.label = (uint8_t)passcode_label(&door->code);
    beacon.version = CLASS_VERSION;
    beacon.port = port;
    memcpy(beacon.id, door->id, sizeof beacon.id);
    beacon_put_answer(answer, &beacon);
    return true;
}

/* ---- what guests are told -------------------------------------------------------------------- */

static void guest_refuse(struct guest *guest, enum class_refusal reason)
{
    uint8_t body[8];
    struct cursor c = cursor_writer(body + 1, sizeof body - 1);
    cursor_put_u8(&c, (uint8_t)reason);
    channel_send(&guest->channel, CHANNEL_REFUSE, body, &c);
    guest->state = IS_OVER;
}

static void send_hello(struct guest *guest)
{
    uint8_t body[CHANNEL_OPEN_MAX];
    struct cursor c = cursor_writer(body + 1, sizeof body - 1);
    chance_roll(&guest->door->chance, guest->proof.session, CLASS_NONCE_BYTES);
    cursor_put_u8(&c, CLASS_VERSION);
    cursor_put_bytes(&c, guest->proof.session, CLASS_NONCE_BYTES);
    channel_send(&guest->channel, CHANNEL_HELLO, body, &c);
}

static void send_reply(struct guest *guest)
{
    uint8_t body[CHANNEL_OPEN_MAX];
    struct cursor c = cursor_writer(body + 1, sizeof body - 1);
    cursor_put_bytes(&c, guest->proof.teacher, CPACE_POINT_BYTES);
    channel_send(&guest->channel, CHANNEL_REPLY, body, &c);
}

static void send_proof(struct guest *guest)
{
    uint8_t body[CHANNEL_OPEN_MAX], tag[CPACE_TAG_BYTES];
    struct cursor c = cursor_writer(body + 1, sizeof body - 1);
    channel_tag(&guest->proof, true, tag);
    cursor_put_bytes(&c, tag, sizeof tag);
    channel_send(&guest->channel, CHANNEL_PROOF, body, &c);
}

static void send_welcome(struct guest *guest)
{
    uint8_t body[3 * (CLASS_NAME_MAX + 1)];
    struct cursor c = cursor_writer(body + 1, sizeof body - 1);
    cursor_put_u32(&c, WIRE_VERSION);
    cursor_put_text(&c, guest->door->vm);
    cursor_put_text(&c, guest->door->host);
    channel_send(&guest->channel, CHANNEL_WELCOME, body, &c);
}

bool guest_invite(struct guest *guest, const uint8_t *sealed, size_t size)
{
    uint8_t body[1 + 2 + CLASS_SEALED_MAX];
    if (guest->state != WAITS || size == 0 || size + 2 > CLASS_SEALED_MAX)
        return false;
    struct cursor c = cursor_writer(body + 1, sizeof body - 1);
    cursor_put_u16(&c, (uint16_t)size);
    cursor_put_bytes(&c, sealed, size);
    channel_send(&guest->channel, CHANNEL_INVITE, body, &c);
    guest->state = IS_INVITED;
    return true;
}

void guest_done(struct guest *guest, int error, const char *text)
{
    uint8_t body[CLASS_TEXT_MAX + 16];
    char cut[CLASS_TEXT_MAX + 1];
    if (guest->state == IS_OVER)
        return;
    assert(guest->proved);
    size_t size = strnlen(text, CLASS_TEXT_MAX);
    memcpy(cut, text, size);
    cut[size] = '\0';
    struct cursor c = cursor_writer(body + 1, sizeof body - 1);
    cursor_put_i32(&c, error);
    cursor_put_text(&c, cut);
    channel_send(&guest->channel, CHANNEL_DONE, body, &c);
    guest->state = IS_OVER;
}

/* ---- what guests say ------------------------------------------------------------------------- */

/* Each of these takes the fields of a frame that comes at the right time: its kind has but one. */

static enum guest_event on_share(struct guest *guest, struct cursor *fields)
{
    struct door *door = guest->door;
    uint8_t random[CPACE_RANDOM_BYTES];
    char password[PASSCODE_TEXT_MAX];
    uint8_t version = cursor_get_u8(fields), label = cursor_get_u8(fields);
    cursor_get_bytes(fields, guest->proof.session + CLASS_NONCE_BYTES, CLASS_NONCE_BYTES);
    cursor_get_bytes(fields, guest->proof.student, CPACE_POINT_BYTES);
    if (!cursor_done(fields))
        return GUEST_ENDS;
    if (version != CLASS_VERSION)
        return guest_refuse(guest, CLASS_OTHER_VERSION), GUEST_ENDS;
    if (door->state != DOOR_OPEN)
        return guest_refuse(guest, CLASS_CLOSED), GUEST_ENDS;
    if (label != passcode_label(&door->code))
        return guest_refuse(guest, CLASS_NO_SUCH_CODE), GUEST_ENDS;
    passcode_print(&door->code, password);
    chance_roll(&door->chance, random, sizeof random);
    channel_share(&guest->proof, password, random, true);
    sodium_memzero(random, sizeof random);
    sodium_memzero(password, sizeof password);
    if (!channel_agree(&guest->proof, true))
        return GUEST_ENDS; /* that is no share, and no try */
    guest->state = SAID_REPLY;
    send_reply(guest);
    return GUEST_AGAIN;
}

/* The try is lost before it is looked at. */
static enum guest_event on_proof(struct guest *guest, struct cursor *fields, uint64_t now_ms)
{
    struct door *door = guest->door;
    uint8_t tag[CPACE_TAG_BYTES], right[CPACE_TAG_BYTES];
    cursor_get_bytes(fields, tag, sizeof tag);
    if (!cursor_done(fields))
        return GUEST_ENDS;
    door->wrong++;
    channel_tag(&guest->proof, false, right);
    if (sodium_memcmp(tag, right, sizeof tag) != 0) {
        guest_refuse(guest, CLASS_WRONG_CODE);
        if (door->wrong == DOOR_WRONG_MAX)
            code_void(door);
        return GUEST_ENDS;
    }
    door->wrong--;
    guest->proved = true;
    guest->state = IS_IN;
    guest->late_ms = now_ms + DOOR_ANSWER_MS;
    send_proof(guest);
    channel_seal(&guest->channel, &guest->proof, true);
    send_welcome(guest);
    return GUEST_AGAIN;
}

static enum guest_event on_enter(struct guest *guest, struct cursor *fields)
{
    uint32_t version = cursor_get_u32(fields);
    cursor_get_text(fields, guest->name, sizeof guest->name);
    cursor_get_bytes(fields, guest->key, sizeof guest->key);
    if (!cursor_done(fields))
        return GUEST_ENDS;
    if (version != WIRE_VERSION)
        return guest_refuse(guest, CLASS_OTHER_VERSION), GUEST_ENDS;
    guest->state = WAITS;
    return GUEST_ENTERS;
}

static enum guest_event on_answer(struct guest *guest, struct cursor *fields)
{
    cursor_get_text(fields, guest->answer, sizeof guest->answer);
    if (!cursor_done(fields))
        return GUEST_ENDS;
    guest->state = HAS_ANSWERED;
    return GUEST_ANSWERS;
}

static enum guest_event guest_step(struct guest *guest, uint64_t now_ms)
{
    struct cursor fields;
    int kind = channel_take(&guest->channel, &fields);
    if (guest->channel.broken)
        return GUEST_ENDS;
    if (kind == 0)
        return GUEST_MORE;
    if (kind == CHANNEL_SHARE && guest->state == SAID_HELLO)
        return on_share(guest, &fields);
    if (kind == CHANNEL_PROOF && guest->state == SAID_REPLY)
        return on_proof(guest, &fields, now_ms);
    if (kind == CHANNEL_ENTER && guest->state == IS_IN)
        return on_enter(guest, &fields);
    if (kind == CHANNEL_ANSWER && guest->state == IS_INVITED)
        return on_answer(guest, &fields);
    return GUEST_ENDS;
}

enum guest_event guest_take(struct guest *guest, const uint8_t *bytes, size_t *size,
                            uint64_t now_ms)
{
    if (guest->state != IS_OVER)
        *size = channel_feed(&guest->channel, bytes, *size);
    enum guest_event event = guest->state == IS_OVER ? GUEST_ENDS : guest_step(guest, now_ms);
    if (event == GUEST_ENDS)
        guest->state = IS_OVER;
    return event;
}

/* ---- guests ---------------------------------------------------------------------------------- */

static bool is_stranger(const struct guest *guest)
{
    return !guest->proved && guest->state != IS_OVER;
}

/* This one, and those that came later from the same address. */
static unsigned strangers_from(const struct guest *guest)
{
    unsigned count = 0;
    for (const struct guest *i = guest; i != NULL; i = TAILQ_NEXT(i, entry))
        count += is_stranger(i) && memcmp(i->from, guest->from, sizeof i->from) == 0;
    return count;
}

/* One that has proved nothing makes room: the oldest of an address has all others of it behind. */
static bool room_make(struct door *door)
{
    struct guest *guest, *goes = NULL;
    unsigned most = 0;
    if (door->guest_count < DOOR_GUESTS_MAX)
        return true;
    TAILQ_FOREACH(guest, &door->guests, entry)
    {
        unsigned count = is_stranger(guest) ? strangers_from(guest) : 0;
        if (count > most) {
            most = count;
            goes = guest;
        }
    }
    if (goes != NULL)
        goes->state = IS_OVER;
    return goes != NULL;
}

struct guest *guest_create(struct door *door, const char *from, uint64_t now_ms)
{
    struct guest *guest = room_make(door) ? calloc(1, sizeof *guest) : NULL;
    if (guest == NULL)
        return NULL;
    guest->door = door;
    crypto_shorthash(guest->from, (const uint8_t *)from, strlen(from), door->from_key);
    guest->late_ms = now_ms + DOOR_PROOF_MS;
    TAILQ_INSERT_TAIL(&door->guests, guest, entry);
    door->guest_count++;
    send_hello(guest);
    return guest;
}

void guest_destroy(struct guest *guest)
{
    if (guest == NULL)
        return;
    TAILQ_REMOVE(&guest->door->guests, guest, entry);
    guest->door->guest_count--;
    sodium_memzero(guest, sizeof *guest);
    free(guest);
}

const uint8_t *guest_output(const struct guest *guest, size_t *size)
{
    *size = guest->channel.out_size;
    return guest->channel.out;
}

void guest_sent(struct guest *guest, size_t size)
{
    channel_sent(&guest->channel, size);
}

bool guest_is_over(const struct guest *guest)
{
    return guest->state == IS_OVER;
}

bool guest_is_in(const struct guest *guest)
{
    return guest->proved;
}

const char *guest_name(const struct guest *guest)
{
    return guest->name;
}

const uint8_t *guest_key(const struct guest *guest)
{
    return guest->key;
}

const char *guest_answer(const struct guest *guest)
{
    return guest->answer;
}
