/* links: proto/wire/contention_config.c daemon/base/bootstrap.c daemon/base/failure.c daemon/base/version.c proto/wire/control.c proto/contention/contention.c proto/wire/address.c proto/wire/cursor.c */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/bootstrap.h"
#include "tests/unit/runner.h"

static struct control_bootstrap example(void)
{
    static const struct address address = {.family = ADDRESS_IPV4, .size = 6};
    return (struct control_bootstrap){
        .version = WIRE_VERSION,
        .index = 5,
        .incarnation = 7,
        .key = {1, 2, 3},
        .vm = "pool",
        .name = "anna",
        .speed = 500,
        .fail_timeout_us = 1500000,
        .contention = {.mode = CONTENTION_TOKEN,
                       .threshold_bytes = 1,
                       .quantum_bytes = 2,
                       .rate = 3},
        .address = "192.0.2.9",
        .bind = "10.0.0.9",
        .interface = "eth1",
        .env = {.size = 4, .bytes = "A=1"},
        .coordinator = {
            .name = "h0", .arch = "", .addresses = &address, .index = 1, .address_count = 1}};
}

static int read_line(const char *line, struct control_bootstrap *b, struct failure *why)
{
    FILE *in = fmemopen((void *)line, strlen(line), "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(in);
    int result = bootstrap_read(b, in, why);
    fclose(in);
    return result;
}

static void a_line_comes_back(void)
{
    struct control_bootstrap before = example(), after;
    char line[BOOTSTRAP_LINE_MAX];
    struct failure why = {""};
    CU_ASSERT_EQUAL(bootstrap_print(&before, line), (int)strlen(line));
    CU_ASSERT_PTR_EQUAL(strchr(line, '\n'), line + strlen(line) - 1);
    CU_ASSERT_EQUAL(read_line(line, &after, &why), 0);
    CU_ASSERT_STRING_EQUAL(why.text, "");
    CU_ASSERT_EQUAL(after.index, 5);
    CU_ASSERT_EQUAL(after.incarnation, 7);
    CU_ASSERT_EQUAL(memcmp(after.key, before.key, sizeof before.key), 0);
    CU_ASSERT_STRING_EQUAL(after.vm, "pool");
    CU_ASSERT_STRING_EQUAL(after.name, "anna");
    CU_ASSERT_EQUAL(after.speed, 500);
    CU_ASSERT_EQUAL(after.fail_timeout_us, 1500000);
    CU_ASSERT_STRING_EQUAL(after.address, "192.0.2.9");
    CU_ASSERT_STRING_EQUAL(after.bind, "10.0.0.9");
    CU_ASSERT_STRING_EQUAL(after.interface, "eth1");
    CU_ASSERT_STRING_EQUAL(control_env_next(&after.env, NULL), "A=1");
    CU_ASSERT_EQUAL(after.coordinator.address_count, 1);
}

static void refuses(const char *line, const char *says)
{
    struct control_bootstrap b;
    struct failure why = {""};
    CU_ASSERT_EQUAL(read_line(line, &b, &why), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, says));
    if (strstr(why.text, says) == NULL)
        printf("says: %s\n", why.text);
}

static void refuses_this(const struct control_bootstrap *b, const char *says)
{
    char line[BOOTSTRAP_LINE_MAX];
    CU_ASSERT_TRUE(bootstrap_print(b, line) > 0);
    refuses(line, says);
}

static void bad_lines_are_refused(void)
{
    struct control_bootstrap b = example();
    char line[BOOTSTRAP_LINE_MAX];
    CU_ASSERT_TRUE(bootstrap_print(&b, line) > 0);
    for (size_t cut = 2; cut < strlen(line) - 1; cut += 2) {
        char part[BOOTSTRAP_LINE_MAX];
        snprintf(part, sizeof part, "%.*s", (int)cut, line);
        refuses(part, "damaged");
    }
    line[1] ^= 1; /* the version */
    refuses(line, "another version");
    refuses("hello\n", "hex");
    refuses("abc\n", "hex");
    b.index = 0;
    refuses_this(&b, "names no host");
    b = example();
    memcpy(b.name, "../x", 5);
    refuses_this(&b, "names are not valid");
    b = example();
    b.vm[0] = '\0';
    refuses_this(&b, "names are not valid");
}

static void names(void)
{
    static const char *const good[] = {"a", "h0", "anna@pool.example", "x_y-z", "0"};
    static const char *const bad[] = {"", "-h", ".hidden", "a/b", "a b", "a;b", "\xc3\xa4", "a\n"};
    char longest[CONTROL_NAME_MAX + 2];
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CU_ASSERT_TRUE(bootstrap_name_ok(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CU_ASSERT_FALSE(bootstrap_name_ok(bad[i]));
    memset(longest, 'n', sizeof longest);
    longest[CONTROL_NAME_MAX + 1] = '\0';
    CU_ASSERT_FALSE(bootstrap_name_ok(longest));
    CU_ASSERT_TRUE(bootstrap_name_ok(longest + 1));
}

int main(void)
{
    static const struct test_case cases[] = {
        {"a line comes back", a_line_comes_back},
        {"bad lines are refused", bad_lines_are_refused},
        {"names", names},
    };
    return covey_test_main("bootstrap", cases, sizeof cases / sizeof cases[0]);
}
