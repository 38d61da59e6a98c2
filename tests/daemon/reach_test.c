/* links: tools/probe/reach.c daemon/link/udp.c daemon/base/sockaddr.c daemon/base/failure.c proto/wire/cursor.c proto/wire/address.c */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/sockaddr.h"
#include "tests/unit/runner.h"
#include "tools/probe/reach.h"

#define TOKEN "00112233445566778899aabbccddeeff"

static bool parse(struct reach_target *target, const char *text)
{
    char copy[512];
    snprintf(copy, sizeof copy, "%s", text);
    return reach_target_parse(target, copy);
}

static void targets_are_read(void)
{
    struct reach_target t;
    char text[SOCKADDR_TEXT_MAX];
    CU_ASSERT_TRUE_FATAL(
        parse(&t, "h2," TOKEN ",udp=10.0.0.2:40000,udp=[fd00::2]:40000,tcp=10.0.0.2:50000"));
    CU_ASSERT_STRING_EQUAL(t.name, "h2");
    CU_ASSERT_STRING_EQUAL(t.token, TOKEN);
    CU_ASSERT_EQUAL(t.udp_count, 2);
    CU_ASSERT_EQUAL(t.tcp_count, 1);
    sockaddr_print(&t.udp[1], text);
    CU_ASSERT_STRING_EQUAL(text, "[fd00::2]:40000");
    CU_ASSERT_EQUAL(sockaddr_port(&t.tcp[0]), 50000);
    sockaddr_set_port(&t.udp[1], 7);
    sockaddr_print(&t.udp[1], text);
    CU_ASSERT_STRING_EQUAL(text, "[fd00::2]:7");
    CU_ASSERT_TRUE(parse(&t, "h2," TOKEN));
    CU_ASSERT_EQUAL(t.udp_count + t.tcp_count, 0);
}

static void others_are_refused(void)
{
    static const char *const bad[] = {"",
                                      "h2",
                                      "h2,",
                                      "h2,short",
                                      "h2," TOKEN "0",
                                      "," TOKEN,
                                      "h2," TOKEN ",",
                                      "h2," TOKEN ",10.0.0.2:1",
                                      "h2," TOKEN ",udp=anna:1",
                                      "h2," TOKEN ",udp=10.0.0.2:70000"};
    struct reach_target t;
    char many[512] = "h2," TOKEN;
    size_t used = strlen(many);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CU_ASSERT_FALSE(parse(&t, bad[i]));
    for (int i = 0; i < HOST_ADDRESSES_MAX; i++)
        used += (size_t)snprintf(many + used, sizeof many - used, ",udp=10.0.0.2:1");
    CU_ASSERT_TRUE(parse(&t, many));
    snprintf(many + used, sizeof many - used, ",udp=10.0.0.2:1");
    CU_ASSERT_FALSE(parse(&t, many));
}

int main(void)
{
    static const struct test_case cases[] = {
        {"targets are read", targets_are_read},
        {"others are refused", others_are_refused},
    };
    return covey_test_main("reach", cases, sizeof cases / sizeof cases[0]);
}
