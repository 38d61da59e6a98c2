/* links: proto/wire/contention_config.c proto/wire/control.c proto/contention/contention.c proto/wire/address.c proto/wire/cursor.c */
/*
 * control_test.c - the payloads of control frames: each comes back as it went out, each prefix of
 * it is refused, and so are texts and counts that do not fit.
 */
#include "proto/wire/control.h"
#include "tests/unit/runner.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#define NONCE                                                                                      \
    {                                                                                              \
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16                                      \
    }
#define KEY                                                                                        \
    {                                                                                              \
        0xff, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,  \
            25, 26, 27, 28, 29, 30, 31, 0xfe                                                       \
    }
#define HOST                                                                                       \
    {                                                                                              \
        .index = HOST_INDEX_MAX, .state = HOST_UP, .representation = REPRESENTATION_BIG,           \
        .coordinator = 1, .address_count = 3, .id = NONCE, .incarnation = UINT64_MAX - 1,          \
        .memory_bytes = 1ull << 40, .cores = 128, .speed = 1001, .name = "the-host",               \
        .arch = "the-arch", .addresses = (const struct address[])                                  \
        {                                                                                          \
            {ADDRESS_IPV4, 6, {127, 0, 0, 1, 0x1b, 0x58}},                                         \
                {ADDRESS_IPV6, 22, {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 9}},     \
            {                                                                                      \
                ADDRESS_ETHER, 6,                                                                  \
                {                                                                                  \
                    2, 0, 0, 0, 0, 1                                                               \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
#define ENV                                                                                        \
    {                                                                                              \
        .size = 10, .bytes = "A=1\0HOME=\0"                                                        \
    }

/* Values with every field set, each to something else. */
static const struct control_reply sample_reply = {.request = 0xfffffffe, .status = -24};
static const struct control_enrol sample_enrol = {.request = 7,
                                                  .version = WIRE_VERSION,
                                                  .role = 1,
                                                  .pid = 0x7fffffff,
                                                  .cookie = 0x0123456789abcdef,
                                                  .command = "the-command"};
#define CONTENTION                                                                                 \
    {                                                                                              \
        .mode = CONTENTION_TOKEN, .turns = true, .threshold_bytes = 65536,                         \
        .quantum_bytes = 1 << 20, .rate = 100000000                                                \
    }
static const struct control_enrolled sample_enrolled = {.direct = true,
                                                        .print = true,
                                                        .tid = 0x40001,
                                                        .parent = 0x40002,
                                                        .sink = 0x80003,
                                                        .host = 1,
                                                        .coordinator = 2,
                                                        .route = 3,
                                                        .host_name = "the-host",
                                                        .vm = "the-vm",
                                                        .contention = CONTENTION};
struct host_row {
    struct host host;
    struct host_room room;
};
static const struct host_row sample_host_row = {.host = HOST};
static const struct control_host_event sample_host_event = {
    .event = NODE_HOST_GONE, .coordinator = 3, .host = HOST};
static const struct control_task sample_task = {.tid = 0x40009,
                                                .parent = 0x40008,
                                                .sink = 0x80007,
                                                .pid = 99,
                                                .state = 2,
                                                .command = "the-command"};
static const struct control_result sample_result = {
    .error = -14, .number = 0x40009, .text = "the-text"};
static const struct control_signal sample_signal = {.request = 5, .tid = 0x40002, .signal = 15};
static const struct control_gone sample_gone = {.tid = 0x40003, .kind = 2, .value = -9};
static const struct control_ended sample_ended = {.tid = 0x40003,
                                                  .parent = 0x40001,
                                                  .kind = 2,
                                                  .asked = true,
                                                  .print = true,
                                                  .value = -9,
                                                  .host = "the-name",
                                                  .command = "the-command"};
static const struct control_output sample_output = {.tid = 0x40004, .stream = 2, .print = true};
static const struct control_output sample_output_ack = {.tid = 0x40004, .bytes = 65536};
static const struct control_host_spec sample_host_spec = {.launcher = 1,
                                                          .speed = 500,
                                                          .port = 2222,
                                                          .name = "the-host",
                                                          .hostname = "the-hostname",
                                                          .user = "the-user",
                                                          .template_ = "the-template",
                                                          .address = "the-address",
                                                          .bind = "the-bind",
                                                          .interface = "the-interface",
                                                          .coveyd = "the-coveyd",
                                                          .cwd = "the-cwd",
                                                          .config = "the-config",
                                                          .env = ENV};
static const struct control_link sample_link_open = {
    .nonce = NONCE, .route = 3, .direct = true, .has_key = true, .key = KEY};
static const struct control_link sample_link_key = {.nonce = NONCE, .has_key = true, .key = KEY};
static const struct control_link sample_link_accept = {
    .nonce = NONCE,
    .route = 3,
    .port = 0xfffe,
    .has_address = true,
    .address = {ADDRESS_IPV4, 6, {10, 0, 0, 9, 1, 2}}};
static const struct control_link sample_link_straight = {
    .nonce = NONCE,
    .route = 4,
    .direct = true,
    .encrypt = true,
    .has_address = true,
    .address = {ADDRESS_ETHER, 6, {2, 0, 0, 0, 0, 7}},
    .has_key = true,
    .key = KEY,
    .vm = 77};
static const struct control_link sample_link_refuse = {
    .nonce = NONCE, .route = 1, .error = -10, .text = "the-text"};
static const struct control_bootstrap sample_bootstrap = {.version = WIRE_VERSION,
                                                          .index = 12,
                                                          .incarnation = 1ull << 63,
                                                          .key = KEY,
                                                          .vm = "the-vm",
                                                          .name = "the-name",
                                                          .speed = 1000,
                                                          .fail_timeout_us = 5000000,
                                                          .contention = CONTENTION,
                                                          .address = "the-address",
                                                          .bind = "the-bind",
                                                          .interface = "the-interface",
                                                          .env = ENV,
                                                          .coordinator = HOST};
static const struct control_spawn sample_spawn = {.request = 1,
                                                  .count = 200,
                                                  .parent = 0x40001,
                                                  .sink = 0x40002,
                                                  .route = 2,
                                                  .tether = 1,
                                                  .print = true,
                                                  .input = true,
                                                  .cwd = "the-cwd"};

static const struct control_mcast sample_mcast = {
    .count = 2, .flags = FRAME_FIRST, .receivers = {{0x40001, 1ull << 63}, {0x40002, 7}}};

/* X(name in control_put_NAME, struct, where it may end early because the rest is optional) */
#define PAYLOADS(X)                                                                                \
    X(reply, control_reply, 0)                                                                     \
    X(enrol, control_enrol, 0)                                                                     \
    X(enrolled, control_enrolled, 0)                                                               \
    X(host_row, host_row, 0)                                                                       \
    X(host_event, control_host_event, 0)                                                           \
    X(task, control_task, 0)                                                                       \
    X(result, control_result, 0)                                                                   \
    X(signal, control_signal, 0)                                                                   \
    X(gone, control_gone, 0)                                                                       \
    X(output, control_output, 0)                                                                   \
    X(output_ack, control_output, 0)                                                               \
    X(ended, control_ended, 0)                                                                     \
    X(host_spec, control_host_spec, 0)                                                             \
    X(link_open, control_link, 20)                                                                 \
    X(link_key, control_link, 0)                                                                   \
    X(link_accept, control_link, 20)                                                               \
    X(link_refuse, control_link, 0)                                                                \
    X(bootstrap, control_bootstrap, 0)                                                             \
    X(mcast, control_mcast, 0)                                                                     \
    X(spawn_head, control_spawn, 0)

/* Those whose put and get do not look like the others'. */
static void control_put_host_row(struct cursor *c, const struct host_row *row)
{
    control_put_host(c, &row->host);
}

static void control_get_host_row(struct cursor *c, struct host_row *row)
{
    control_get_host(c, &row->host, &row->room);
}

#define sample_spawn_head sample_spawn

static void control_put_spawn_head(struct cursor *c, const struct control_spawn *s)
{
    uint8_t whole[256], lists = 4;
    struct cursor w = cursor_writer(whole, sizeof whole);
    control_put_spawn(&w, s, NULL, NULL);
    cursor_put_bytes(c, whole, sizeof whole - cursor_left(&w) - lists);
}

static void control_get_spawn_head(struct cursor *c, struct control_spawn *s)
{
    control_get_spawn(c, s);
}

struct payload {
    const char *name;
    const void *sample;
    size_t size; /* of the struct */
    size_t optional_at;
    void (*put)(struct cursor *c, const void *value);
    void (*get)(struct cursor *c, void *value);
};

#define WRAP(name, type, optional)                                                                 \
    static void put_##name(struct cursor *c, const void *value)                                    \
    {                                                                                              \
        control_put_##name(c, value);                                                              \
    }                                                                                              \
    static void get_##name(struct cursor *c, void *value)                                          \
    {                                                                                              \
        control_get_##name(c, value);                                                              \
    }
PAYLOADS(WRAP)

#define ROW(name, type, optional)                                                                  \
    {#name, &sample_##name, sizeof(struct type), optional, put_##name, get_##name},
static const struct payload payloads[] = {PAYLOADS(ROW)};
#define PAYLOAD_COUNT (sizeof payloads / sizeof payloads[0])

struct encoding {
    uint8_t bytes[4 * CONTROL_TEXT_MAX];
    size_t size;
};

static struct encoding encode(const struct payload *p)
{
    struct encoding e;
    struct cursor c = cursor_writer(e.bytes, sizeof e.bytes);
    p->put(&c, p->sample);
    CU_ASSERT_FATAL(cursor_ok(&c));
    e.size = sizeof e.bytes - cursor_left(&c);
    return e;
}

/* Whether a get takes these bytes; they lie in memory of exactly their size. */
static bool accepted(const struct payload *p, const uint8_t *bytes, size_t size)
{
    uint8_t *exact = malloc(size > 0 ? size : 1);
    void *value = calloc(1, p->size);
    CU_ASSERT_FATAL(exact != NULL && value != NULL);
    memcpy(exact, bytes, size);
    struct cursor c = cursor_reader(exact, size);
    p->get(&c, value);
    free(value);
    free(exact);
    return cursor_ok(&c);
}

/* What came back points to its own room, where the same lies as with the sample: then it is made to
 * point where the sample does, and can be compared byte by byte. */
static void host_move(struct host *host, struct host_room *room, const struct host *sample)
{
    CU_ASSERT_PTR_EQUAL(host->name, room->name);
    CU_ASSERT_STRING_EQUAL(host->name, sample->name);
    CU_ASSERT_STRING_EQUAL(host->arch, sample->arch);
    CU_ASSERT_EQUAL_FATAL(host->address_count, sample->address_count);
    for (size_t i = 0; i < host->address_count; i++)
        CU_ASSERT(address_equal(&host->addresses[i], &sample->addresses[i]));
    host->name = sample->name;
    host->arch = sample->arch;
    host->addresses = sample->addresses;
    memset(room, 0, sizeof *room);
}

static void hosts_move(const struct payload *p, void *back)
{
    struct host_row *row = back;
    struct control_host_event *event = back;
    struct control_bootstrap *bootstrap = back;
    if (p->sample == &sample_host_row)
        host_move(&row->host, &row->room, &sample_host_row.host);
    if (p->sample == &sample_host_event)
        host_move(&event->host, &event->room, &sample_host_event.host);
    if (p->sample == &sample_bootstrap)
        host_move(&bootstrap->coordinator, &bootstrap->room, &sample_bootstrap.coordinator);
}

static void every_payload_comes_back(void)
{
    for (size_t i = 0; i < PAYLOAD_COUNT; i++) {
        const struct payload *p = &payloads[i];
        struct encoding e = encode(p);
        void *back = calloc(1, p->size);
        CU_ASSERT_FATAL(back != NULL);
        struct cursor c = cursor_reader(e.bytes, e.size);
        p->get(&c, back);
        hosts_move(p, back);
        if (!cursor_done(&c) || memcmp(back, p->sample, p->size) != 0) {
            CU_FAIL("a payload does not come back");
            printf("(%s) ", p->name);
        }
        free(back);
    }
}

static void every_prefix_is_refused(void)
{
    for (size_t i = 0; i < PAYLOAD_COUNT; i++) {
        const struct payload *p = &payloads[i];
        struct encoding e = encode(p);
        for (size_t cut = 0; cut < e.size; cut++) {
            bool whole = p->optional_at > 0 && cut == p->optional_at;
            if (accepted(p, e.bytes, cut) == whole)
                continue;
            CU_FAIL("a prefix is taken, or one that is whole refused");
            printf("(%s cut at %zu) ", p->name, cut);
        }
        CU_ASSERT(accepted(p, e.bytes, e.size));
    }
}

static void what_does_not_fit_is_not_written(void)
{
    for (size_t i = 0; i < PAYLOAD_COUNT; i++) {
        struct encoding e = encode(&payloads[i]);
        for (size_t room = 0; room < e.size; room++) {
            uint8_t *exact = malloc(room > 0 ? room : 1);
            CU_ASSERT_FATAL(exact != NULL);
            struct cursor c = cursor_writer(exact, room);
            payloads[i].put(&c, payloads[i].sample);
            free(exact);
            CU_ASSERT_FALSE(cursor_ok(&c));
        }
    }
}

/* The texts of each payload: how they read in the sample, and how much room the struct has. */
static const struct {
    const char *payload, *text;
    size_t capacity;
} texts[] = {
    {"enrol", "the-command", CONTROL_COMMAND_MAX + 1},
    {"enrolled", "the-host", CONTROL_NAME_MAX + 1},
    {"enrolled", "the-vm", CONTROL_NAME_MAX + 1},
    {"host_row", "the-host", HOST_NAME_MAX_BYTES + 1},
    {"host_row", "the-arch", 32},
    {"host_event", "the-host", HOST_NAME_MAX_BYTES + 1},
    {"host_event", "the-arch", 32},
    {"task", "the-command", CONTROL_COMMAND_MAX + 1},
    {"result", "the-text", CONTROL_REASON_MAX + 1},
    {"host_spec", "the-host", CONTROL_NAME_MAX + 1},
    {"host_spec", "the-template", CONTROL_TEXT_MAX},
    {"host_spec", "the-address", CONTROL_ADDRESS_MAX + 1},
    {"host_spec", "the-coveyd", CONTROL_TEXT_MAX},
    {"host_spec", "the-cwd", CONTROL_TEXT_MAX},
    {"host_spec", "the-config", CONTROL_TEXT_MAX},
    {"host_spec", "the-hostname", CONTROL_HOSTNAME_MAX + 1},
    {"host_spec", "the-user", CONTROL_NAME_MAX + 1},
    {"host_spec", "the-bind", CONTROL_ADDRESS_MAX + 1},
    {"host_spec", "the-interface", CONTROL_INTERFACE_MAX + 1},
    {"ended", "the-name", CONTROL_NAME_MAX + 1},
    {"ended", "the-command", CONTROL_COMMAND_MAX + 1},
    {"link_refuse", "the-text", CONTROL_REASON_MAX + 1},
    {"bootstrap", "the-vm", VM_NAME_MAX + 1},
    {"bootstrap", "the-name", HOST_NAME_MAX_BYTES + 1},
    {"bootstrap", "the-address", CONTROL_ADDRESS_MAX + 1},
    {"bootstrap", "the-bind", CONTROL_ADDRESS_MAX + 1},
    {"bootstrap", "the-interface", CONTROL_INTERFACE_MAX + 1},
    {"bootstrap", "the-host", HOST_NAME_MAX_BYTES + 1},
    {"bootstrap", "the-arch", 32},
    {"spawn_head", "the-cwd", CONTROL_TEXT_MAX},
};

static const struct payload *payload_find(const char *name)
{
    for (size_t i = 0; i < PAYLOAD_COUNT; i++) {
        if (strcmp(payloads[i].name, name) == 0)
            return &payloads[i];
    }
    CU_FAIL_FATAL("no such payload");
    return NULL;
}

/* The encoding with one of its texts replaced by `size` bytes x. */
static struct encoding stretch(const struct encoding *e, const char *text, size_t size)
{
    struct encoding out;
    const uint8_t *at = memmem(e->bytes, e->size, text, strlen(text));
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    size_t before = (size_t)(at - e->bytes) - 2, after = before + 2 + strlen(text);
    struct cursor c = cursor_writer(out.bytes, sizeof out.bytes);
    cursor_put_bytes(&c, e->bytes, before);
    cursor_put_u16(&c, (uint16_t)size);
    for (size_t i = 0; i < size; i++)
        cursor_put_u8(&c, 'x');
    cursor_put_bytes(&c, e->bytes + after, e->size - after);
    CU_ASSERT_FATAL(cursor_ok(&c));
    out.size = sizeof out.bytes - cursor_left(&c);
    return out;
}

static void texts_fill_their_room_and_no_more(void)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const struct payload *p = payload_find(texts[i].payload);
        struct encoding e = encode(p);
        struct encoding full = stretch(&e, texts[i].text, texts[i].capacity - 1);
        struct encoding over = stretch(&e, texts[i].text, texts[i].capacity);
        struct encoding none = stretch(&e, texts[i].text, 0);
        CU_ASSERT(accepted(p, full.bytes, full.size));
        CU_ASSERT_FALSE(accepted(p, over.bytes, over.size));
        CU_ASSERT(accepted(p, none.bytes, none.size));
    }
}

static bool env_accepted(const char *bytes, size_t size)
{
    uint8_t encoded[CONTROL_ENV_MAX + 16];
    struct control_host_spec spec = {.launcher = 1}, back;
    struct cursor c = cursor_writer(encoded, sizeof encoded);
    control_put_host_spec(&c, &spec);
    c.at -= 2; /* the size of the environment */
    cursor_put_u16(&c, (uint16_t)size);
    cursor_put_bytes(&c, bytes, size);
    CU_ASSERT_FATAL(cursor_ok(&c));
    c = cursor_reader(encoded, sizeof encoded - cursor_left(&c));
    control_get_host_spec(&c, &back);
    return cursor_done(&c);
}

static void environments(void)
{
    static const char *const bad[] = {"A", "=x", ""};
    char longest[CONTROL_ENV_MAX + 1] = "L=";
    struct control_env env = {.size = 0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CU_ASSERT_FALSE(control_env_add(&env, bad[i]));
        CU_ASSERT_FALSE(env_accepted(bad[i], strlen(bad[i]) + 1));
    }
    CU_ASSERT_PTR_NULL(control_env_next(&env, NULL));
    CU_ASSERT_TRUE(control_env_add(&env, "A=1"));
    CU_ASSERT_TRUE(control_env_add(&env, "B="));
    const char *first = control_env_next(&env, NULL);
    CU_ASSERT_STRING_EQUAL(first, "A=1");
    CU_ASSERT_STRING_EQUAL(control_env_next(&env, first), "B=");
    CU_ASSERT_PTR_NULL(control_env_next(&env, control_env_next(&env, first)));
    memset(longest + 2, 'x', sizeof longest - 3);
    env.size = 0;
    CU_ASSERT_FALSE(control_env_add(&env, longest));
    longest[sizeof longest - 2] = '\0';
    CU_ASSERT_TRUE(control_env_add(&env, longest));
    CU_ASSERT_EQUAL(env.size, CONTROL_ENV_MAX);
    CU_ASSERT_TRUE(env_accepted("A=1", 4));
    CU_ASSERT_FALSE(env_accepted("A=1", 3)); /* no NUL */
    CU_ASSERT_TRUE(env_accepted("", 0));
}

static void texts_with_a_nul_are_refused(void)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const struct payload *p = payload_find(texts[i].payload);
        struct encoding e = encode(p);
        uint8_t *at = memmem(e.bytes, e.size, texts[i].text, strlen(texts[i].text));
        CU_ASSERT_PTR_NOT_NULL_FATAL(at);
        at[strlen(texts[i].text) - 1] = '\0';
        CU_ASSERT_FALSE(accepted(p, e.bytes, e.size));
    }
}

static void hosts_with_wrong_numbers_are_refused(void)
{
    const struct payload *p = payload_find("host_row");
    struct encoding e = encode(p);
    const struct {
        size_t at;
        uint8_t value;
    } wrong[] = {
        {2, 0x10}, /* index 4096 + 255 */
        {0, 1},    /* and a far larger one */
        {7, HOST_ADDRESSES_MAX + 1},
        {e.size - 8, 2},           /* unknown family of the last address */
        {e.size - 7, 7},           /* wrong size of it */
        {e.size - 8, ADDRESS_IPV6} /* a family that has another size */
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct encoding bad = e;
        bad.bytes[wrong[i].at] = wrong[i].value;
        CU_ASSERT_FALSE(accepted(p, bad.bytes, bad.size));
    }
}

static void another_version_is_told_from_damage(void)
{
    const struct payload *enrol = payload_find("enrol"), *bootstrap = payload_find("bootstrap");
    struct encoding e = encode(enrol);
    e.bytes[4] = WIRE_VERSION + 1;
    struct control_enrol back;
    struct cursor c = cursor_reader(e.bytes, 5);
    control_get_enrol(&c, &back);
    CU_ASSERT(cursor_ok(&c) && back.version == WIRE_VERSION + 1 && back.request == 7);
    e = encode(bootstrap);
    e.bytes[0] = WIRE_VERSION + 1;
    struct control_bootstrap boot;
    c = cursor_reader(e.bytes, 1);
    control_get_bootstrap(&c, &boot);
    CU_ASSERT(cursor_ok(&c) && boot.version == WIRE_VERSION + 1 && boot.index == 0);
}

static void a_multicast_has_some_receivers_and_known_flags(void)
{
    struct control_mcast whole = {.count = CONTROL_RECEIVERS_MAX, .flags = 3};
    static const uint16_t counts[] = {0, CONTROL_RECEIVERS_MAX + 1, UINT16_MAX};
    uint8_t bytes[CONTROL_MCAST_BYTES + CONTROL_RECEIVERS_MAX * CONTROL_RECEIVER_BYTES];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    control_put_mcast(&c, &whole);
    CU_ASSERT(cursor_done(&c));
    c = cursor_reader(bytes, sizeof bytes);
    control_get_mcast(&c, &whole);
    CU_ASSERT(cursor_done(&c));
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct cursor count = cursor_writer(bytes, sizeof bytes);
        cursor_put_u16(&count, counts[i]);
        c = cursor_reader(bytes, sizeof bytes);
        control_get_mcast(&c, &whole);
        CU_ASSERT(!cursor_ok(&c));
    }
    bytes[0] = 0, bytes[1] = 1, bytes[2] = 4;
    c = cursor_reader(bytes, sizeof bytes);
    control_get_mcast(&c, &whole);
    CU_ASSERT(!cursor_ok(&c));
}

static void links_may_come_without_key_and_address(void)
{
    uint8_t bytes[64];
    struct control_link link = sample_link_open, back;
    link.has_key = false;
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    control_put_link_open(&c, &link);
    c = cursor_reader(bytes, sizeof bytes - cursor_left(&c));
    control_get_link_open(&c, &back);
    CU_ASSERT(cursor_done(&c) && !back.has_key && !back.has_address && back.route == 3);
    link.has_address = false;
    c = cursor_writer(bytes, sizeof bytes);
    control_put_link_accept(&c, &link);
    c = cursor_reader(bytes, sizeof bytes - cursor_left(&c));
    control_get_link_accept(&c, &back);
    CU_ASSERT(cursor_done(&c) && !back.has_address);
}

static void links_may_go_straight(void)
{
    uint8_t bytes[128];
    struct control_link back;
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    control_put_link_accept(&c, &sample_link_straight);
    c = cursor_reader(bytes, sizeof bytes - cursor_left(&c));
    control_get_link_accept(&c, &back);
    CU_ASSERT(cursor_done(&c) && memcmp(&back, &sample_link_straight, sizeof back) == 0);
    c = cursor_writer(bytes, sizeof bytes);
    control_put_link_open(&c, &sample_link_straight);
    c = cursor_reader(bytes, sizeof bytes - cursor_left(&c));
    control_get_link_open(&c, &back);
    CU_ASSERT(cursor_done(&c) && memcmp(&back, &sample_link_straight, sizeof back) == 0);
}

static void output_tells_how_many_bytes_follow(void)
{
    uint8_t bytes[13] = {0};
    struct control_output back;
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    control_put_output(&c, &sample_output);
    c = cursor_reader(bytes, sizeof bytes);
    control_get_output(&c, &back);
    CU_ASSERT(cursor_ok(&c) && back.bytes == 5 && cursor_left(&c) == 5);
}

/* ---- spawn: two lists of strings behind the head --------------------------------------------- */

static const char *const argv_sample[] = {"program", "", "an argument with spaces", NULL};
static const char *const env_sample[] = {"A=1", NULL};

static size_t put_spawn_sample(uint8_t *bytes, size_t room)
{
    struct cursor c = cursor_writer(bytes, room);
    control_put_spawn(&c, &sample_spawn, argv_sample, env_sample);
    CU_ASSERT_FATAL(cursor_ok(&c));
    return room - cursor_left(&c);
}

static bool strings_equal(struct cursor *c, const char *const *expected, size_t expected_count)
{
    size_t count = 0;
    struct control_string *strings = control_get_strings(c, &count);
    bool equal = strings != NULL && count == expected_count;
    for (size_t i = 0; equal && i < count; i++)
        equal = strings[i].size == strlen(expected[i]) &&
                memcmp(strings[i].bytes, expected[i], strings[i].size) == 0;
    free(strings);
    return equal;
}

static void the_strings_of_a_spawn_come_back(void)
{
    uint8_t bytes[256];
    size_t size = put_spawn_sample(bytes, sizeof bytes);
    static struct control_spawn back;
    struct cursor c = cursor_reader(bytes, size);
    control_get_spawn(&c, &back);
    CU_ASSERT(memcmp(&back, &sample_spawn, sizeof back) == 0);
    CU_ASSERT(strings_equal(&c, argv_sample, 3));
    CU_ASSERT(strings_equal(&c, env_sample, 1));
    CU_ASSERT(cursor_done(&c));
}

/* Whether the head and both lists are taken out of memory of exactly that size. */
static bool spawn_accepted(const uint8_t *bytes, size_t size)
{
    static struct control_spawn back;
    uint8_t *exact = malloc(size > 0 ? size : 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(exact);
    memcpy(exact, bytes, size);
    struct cursor c = cursor_reader(exact, size);
    size_t count;
    control_get_spawn(&c, &back);
    struct control_string *argv = control_get_strings(&c, &count);
    struct control_string *env = control_get_strings(&c, &count);
    CU_ASSERT(cursor_ok(&c) == (argv != NULL && env != NULL));
    bool ok = argv != NULL && env != NULL;
    free(argv);
    free(env);
    free(exact);
    return ok;
}

static void every_prefix_of_a_spawn_is_refused(void)
{
    uint8_t bytes[256];
    size_t size = put_spawn_sample(bytes, sizeof bytes);
    for (size_t cut = 0; cut < size; cut++)
        CU_ASSERT_FALSE(spawn_accepted(bytes, cut));
    CU_ASSERT(spawn_accepted(bytes, size));
}

static void lists_that_cannot_be_there_are_refused(void)
{
    static const uint8_t many[] = {0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t one_more[] = {0, 3, 0, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t longer[] = {0, 1, 0, 0, 0, 3, 'a', 'b'};
    static const uint8_t huge[] = {0, 1, 0xff, 0xff, 0xff, 0xff, 'a', 'b'};
    static const uint8_t nul[] = {0, 1, 0, 0, 0, 2, 'a', 0};
    const struct {
        const uint8_t *bytes;
        size_t size;
    } lists[] = {{many, sizeof many},
                 {one_more, sizeof one_more},
                 {longer, sizeof longer},
                 {huge, sizeof huge},
                 {nul, sizeof nul}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        size_t count = 77;
        struct cursor c = cursor_reader(lists[i].bytes, lists[i].size);
        CU_ASSERT_PTR_NULL(control_get_strings(&c, &count));
        CU_ASSERT(!cursor_ok(&c) && count == 77);
    }
}

static void too_many_strings_are_not_written(void)
{
    static const char *strings[UINT16_MAX + 2];
    static uint8_t bytes[5 * (UINT16_MAX + 2)];
    for (size_t i = 0; i <= UINT16_MAX; i++)
        strings[i] = "";
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    control_put_spawn(&c, &sample_spawn, strings, NULL);
    CU_ASSERT_FALSE(cursor_ok(&c));
    c = cursor_writer(bytes, sizeof bytes);
    control_put_spawn(&c, &sample_spawn, strings + 1, NULL);
    CU_ASSERT(cursor_ok(&c));
}

static bool offer_is_taken(const uint8_t *bytes, size_t size, uint64_t total)
{
    struct control_offer offer = {.number = 77};
    struct cursor c = cursor_reader(bytes, size);
    bool taken = control_get_offer(&c, &offer, total);
    CU_ASSERT(taken || offer.number == 77); /* set on success only */
    return taken;
}

/* All of them come back, and no prefix and no other total is taken. */
static void offers_are_as_large_as_they_say(void)
{
    struct control_offer offer = {.number = UINT64_MAX, .count = 4}, back;
    for (int i = 0; i < 4; i++)
        offer.pieces[i] = (struct offer_piece){UINT64_MAX - (uint64_t)i, (uint64_t)i + 1};
    uint8_t bytes[OFFER_BYTES_MAX - OFFER_HEAD_BYTES + 16] = {0};
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    control_put_offer(&c, &offer);
    size_t size = (size_t)(c.at - bytes);
    CU_ASSERT_EQUAL(size, OFFER_BYTES_MAX - OFFER_HEAD_BYTES);
    c = cursor_reader(bytes, size);
    CU_ASSERT_FATAL(control_get_offer(&c, &back, 10));
    CU_ASSERT(back.number == offer.number && back.count == 4);
    for (int i = 0; i < 4; i++)
        CU_ASSERT(back.pieces[i].address == offer.pieces[i].address &&
                  back.pieces[i].size == offer.pieces[i].size);
    for (size_t less = 0; less < size; less++)
        CU_ASSERT_FALSE(offer_is_taken(bytes, less, 10));
    CU_ASSERT_FALSE(offer_is_taken(bytes, size, 9) || offer_is_taken(bytes, size, 11));
    CU_ASSERT_FALSE(offer_is_taken(bytes, size + 16, 10));
    offer.pieces[0].size = UINT64_MAX; /* with the others it would be 8 */
    c = cursor_writer(bytes, sizeof bytes);
    control_put_offer(&c, &offer);
    CU_ASSERT_FALSE(offer_is_taken(bytes, size, 8));
}

int main(void)
{
    static const struct test_case cases[] = {
        {"every payload comes back", every_payload_comes_back},
        {"every prefix is refused", every_prefix_is_refused},
        {"what does not fit is not written", what_does_not_fit_is_not_written},
        {"texts fill their room and no more", texts_fill_their_room_and_no_more},
        {"texts with a NUL are refused", texts_with_a_nul_are_refused},
        {"hosts with wrong numbers are refused", hosts_with_wrong_numbers_are_refused},
        {"another version is told from damage", another_version_is_told_from_damage},
        {"a multicast has some receivers and known flags",
         a_multicast_has_some_receivers_and_known_flags},
        {"links may come without key and address", links_may_come_without_key_and_address},
        {"links may go straight", links_may_go_straight},
        {"environments", environments},
        {"output tells how many bytes follow", output_tells_how_many_bytes_follow},
        {"the strings of a spawn come back", the_strings_of_a_spawn_come_back},
        {"every prefix of a spawn is refused", every_prefix_of_a_spawn_is_refused},
        {"lists that cannot be there are refused", lists_that_cannot_be_there_are_refused},
        {"too many strings are not written", too_many_strings_are_not_written},
        {"offers are as large as they say", offers_are_as_large_as_they_say},
    };
    return covey_test_main("control", cases, sizeof cases / sizeof cases[0]);
}
