/* links: daemon/launch/complaint.c daemon/base/version.c */
/*
 * What OpenSSH, shells and coveyd print when a host cannot be added, as it was seen: which line
 * tells, which code it stands for, and which other versions are let in.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/version.h"
#include "daemon/launch/complaint.h"
#include "lib/covey.h"
#include "tests/unit/runner.h"

static struct complaint heard(const char *const *lines)
{
    struct complaint c = {0};
    for (; *lines != NULL; lines++)
        complaint_hear(&c, *lines);
    return c;
}

#define HEARD(...) heard((const char *const[]){__VA_ARGS__, NULL})

static void tells(struct complaint c, int32_t error, const char *text)
{
    char printed[256];
    complaint_print(&c, printed, sizeof printed);
    CU_ASSERT_EQUAL(complaint_error(&c), error);
    CU_ASSERT_PTR_NOT_NULL(strstr(printed, text));
    if (strstr(printed, text) == NULL)
        printf("    expected: %s\n    printed: %s\n", text, printed);
}

static void the_telling_line_is_found(void)
{
    tells(HEARD("@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@",
                "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @",
                "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@",
                "IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!",
                "Offending ED25519 key in /home/ada/.ssh/known_hosts:3",
                "Host key for h3 has changed and you have requested strict checking.",
                "Host key verification failed."),
          COVEY_EDENIED, "Host key for h3 has changed and you have requested strict checking; ");
    tells(HEARD("Warning: Identity file /none not accessible: No such file or directory.",
                "ada@h3: Permission denied (publickey,password).", "lost connection"),
          COVEY_EDENIED, "ada@h3: Permission denied (publickey,password); ssh has to get in");
    tells(HEARD("Welcome to h3. Authorized use only.", "ada@h3: Permission denied (password)."),
          COVEY_EDENIED, "; it wants a password");
    tells(HEARD("channel 0: open failed: connect failed: Connection refused",
                "stdio forwarding failed",
                "kex_exchange_identification: Connection closed by remote host",
                "Connection closed by UNKNOWN port 65535"),
          COVEY_EADDHOST, "Connection refused; does sshd run there");
    tells(HEARD("ssh: connect to host h3 port 22: Connection timed out"), COVEY_ETIMEOUT,
          "Connection timed out; is it up");
    tells(HEARD("/bin/sh: 1: exec: ssh: not found"), COVEY_ENOENT, "install the OpenSSH client");
    tells(HEARD("coveyd: cannot write /run/x.log: No space left on device"), COVEY_ERESOURCE,
          "coveyd: cannot write /run/x.log: No space left on device");
}

static void of_unknown_lines_the_last_tells(void)
{
    tells(HEARD("Welcome!", "bash: line 1: /no/shell: No such file", "Connection to h3 closed."),
          COVEY_EADDHOST, "bash: line 1: /no/shell: No such file");
    tells(HEARD("Warning: Permanently added 'h3' (ED25519) to the list of known hosts."),
          COVEY_EADDHOST, "");
    const struct complaint nothing = {0};
    CU_ASSERT_EQUAL(complaint_error(&nothing), COVEY_EADDHOST);
    CU_ASSERT_FALSE(complaint_again(&nothing));
}

static void a_busy_server_is_tried_again(void)
{
    struct complaint c = HEARD("kex_exchange_identification: read: Connection reset by peer",
                               "Connection reset by 192.0.2.3 port 22");
    CU_ASSERT_TRUE(complaint_again(&c));
    c = HEARD("Connection closed by 192.0.2.3 port 22");
    CU_ASSERT_TRUE(complaint_again(&c));
    c = HEARD("kex_exchange_identification: Connection closed by remote host",
              "ssh: connect to host proxy port 22: Connection refused");
    CU_ASSERT_FALSE(complaint_again(&c));
}

static void long_lines_are_cut(void)
{
    char line[2 * DIALOGUE_LINE_MAX], printed[64];
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    struct complaint c = HEARD(line);
    complaint_print(&c, printed, sizeof printed);
    CU_ASSERT_EQUAL(strlen(printed), sizeof printed - 1);
}

static void versions_fit_or_not(void)
{
    char own[64];
    snprintf(own, sizeof own, "coveyd %s", version_short);
    CU_ASSERT_TRUE(version_is_one(own));
    CU_ASSERT_TRUE(version_fits(own));
    static const char *const others[] = {"coveyd 0.0.9 (protocol 1)", "coveyd 7.1.0 (protocol 1)",
                                         "coveyd " COVEY_VERSION " (protocol 99)",
                                         "coveyd " COVEY_VERSION, "coveyd 0.0.9"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        CU_ASSERT_TRUE(version_is_one(others[i]));
        CU_ASSERT_FALSE(version_fits(others[i]));
    }
    CU_ASSERT_FALSE(version_is_one("coveyd: error while loading shared libraries"));
    CU_ASSERT_FALSE(version_is_one(""));
}

static const struct test_case cases[] = {
    {"the telling line is found", the_telling_line_is_found},
    {"of unknown lines the last tells", of_unknown_lines_the_last_tells},
    {"a busy server is tried again", a_busy_server_is_tried_again},
    {"long lines are cut", long_lines_are_cut},
    {"versions fit or not", versions_fit_or_not},
};

int main(void)
{
    return covey_test_main("complaint", cases, sizeof cases / sizeof cases[0]);
}
