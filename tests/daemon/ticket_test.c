/* links: daemon/launch/ticket.c daemon/base/sockaddr.c daemon/base/failure.c proto/wire/address.c proto/wire/cursor.c */
#include "daemon/launch/ticket.h"

#include <CUnit/CUnit.h>
#include <string.h>

#include "daemon/base/sockaddr.h"
#include "tests/unit/runner.h"

static struct ticket ticket_of(const uint8_t key[TICKET_KEY_BYTES], int count)
{
    struct ticket t = {.count = count};
    memcpy(t.key, key, sizeof t.key);
    for (int i = 0; i < count; i++)
        CU_ASSERT_TRUE(
            sockaddr_parse(i % 2 ? "[2001:db8::17]:65535" : "192.0.2.255:65535", 0, &t.at[i]));
    return t;
}

static void a_ticket_round_trips(void)
{
    struct ticket_keys keys;
    struct failure why;
    CU_ASSERT_TRUE_FATAL(ticket_keys_make(&keys));
    for (int count = 1; count <= TICKET_ADDRESSES_MAX; count++) {
        char text[TICKET_TEXT_MAX];
        struct ticket t = ticket_of(keys.own, count), back;
        ticket_print(&t, text);
        CU_ASSERT_EQUAL(ticket_parse(text, &back, &why), 0);
        CU_ASSERT_EQUAL(back.count, count);
        CU_ASSERT_EQUAL(memcmp(back.key, keys.own, sizeof back.key), 0);
        for (int i = 0; i < count; i++)
            CU_ASSERT_TRUE(address_equal(&back.at[i], &t.at[i]));
    }
}

static void what_is_no_ticket_is_refused(void)
{
    static const char *const bad[] = {
        "", "@", "00@192.0.2.1:1",
        "zz00000000000000000000000000000000000000000000000000000000000000@192.0.2.1:1",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000000@",
        "0000000000000000000000000000000000000000000000000000000000000000@192.0.2.1",
        "0000000000000000000000000000000000000000000000000000000000000000@host:1",
        /* NOLINTNEXTLINE(bugprone-suspicious-missing-comma): too long for a line */
        "0000000000000000000000000000000000000000000000000000000000000000@1.1.1.1:1,1.1.1.1:1,"
        "1.1.1.1:1,1.1.1.1:1,1.1.1.1:1,1.1.1.1:1,1.1.1.1:1,1.1.1.1:1,1.1.1.1:1"};
    struct ticket t;
    struct failure why;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CU_ASSERT_EQUAL(ticket_parse(bad[i], &t, &why), -1);
}

static void the_line_is_found_behind_a_greeting(void)
{
    struct ticket_keys keys;
    struct failure why;
    uint8_t key[TICKET_KEY_BYTES] = {0};
    char line[TICKET_LINE_MAX], greeted[2 * TICKET_LINE_MAX];
    CU_ASSERT_TRUE_FATAL(ticket_keys_make(&keys));
    ticket_line_print(keys.own, line);
    snprintf(greeted, sizeof greeted, "Welcome! %s", line);
    CU_ASSERT_EQUAL(ticket_line_parse(greeted, key, &why), 0);
    CU_ASSERT_EQUAL(memcmp(key, keys.own, sizeof key), 0);
    line[strlen(line) - 2] = 'x';
    CU_ASSERT_EQUAL(ticket_line_parse(line, key, &why), -1);
    CU_ASSERT_EQUAL(ticket_line_parse("covey<1> key<00>", key, &why), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "protocol 1"));
    CU_ASSERT_EQUAL(ticket_line_parse("PvmCantStart", key, &why), -1);
    CU_ASSERT_STRING_EQUAL(why.text, "PvmCantStart");
    CU_ASSERT_EQUAL(ticket_line_parse("covey<", key, &why), -1);
}

static void only_the_other_can_open(void)
{
    struct ticket_keys a, b, c;
    uint8_t sealed[TICKET_SEALED_MAX];
    char text[BOOTSTRAP_LINE_MAX], longest[BOOTSTRAP_LINE_MAX];
    CU_ASSERT_TRUE_FATAL(ticket_keys_make(&a) && ticket_keys_make(&b) && ticket_keys_make(&c));
    memset(longest, 'f', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    size_t size = ticket_seal(&a, b.own, longest, sealed);
    CU_ASSERT_TRUE(size > 0 && size <= sizeof sealed);
    CU_ASSERT_EQUAL(ticket_open(&b, a.own, sealed, size, text), 0);
    CU_ASSERT_STRING_EQUAL(text, longest);
    CU_ASSERT_NOT_EQUAL(ticket_open(&c, a.own, sealed, size, text), 0);
    CU_ASSERT_NOT_EQUAL(ticket_open(&b, c.own, sealed, size, text), 0);
    CU_ASSERT_NOT_EQUAL(ticket_open(&b, a.own, sealed, size - 1, text), 0);
    CU_ASSERT_NOT_EQUAL(ticket_open(&b, a.own, sealed, 10, text), 0);
    sealed[size / 2] ^= 1;
    CU_ASSERT_NOT_EQUAL(ticket_open(&b, a.own, sealed, size, text), 0);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"a ticket round-trips", a_ticket_round_trips},
        {"what is no ticket is refused", what_is_no_ticket_is_refused},
        {"the line is found behind a greeting", the_line_is_found_behind_a_greeting},
        {"only the other can open what was sealed", only_the_other_can_open},
    };
    return covey_test_main("ticket", cases, sizeof cases / sizeof cases[0]);
}
