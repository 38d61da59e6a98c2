/* links: tools/hostfile.c tools/hostspec.c tools/args.c tools/words.c */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/runner.h"
#include "tools/hostfile.h"

static int read_text(struct hostfile *file, const char *text)
{
    FILE *in = fmemopen((void *)text, strlen(text), "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(in);
    int result = hostfile_read(file, in, "hosts");
    fclose(in);
    return result;
}

static void test_hosts_with_fields(void)
{
    struct hostfile file;
    CU_ASSERT_EQUAL_FATAL(read_text(&file, "# a pool\n"
                                           "\n"
                                           "h1 launcher=local\n"
                                           "h2 address=fd00::2 coveyd=/opt/coveyd cwd=\"/a b\" "
                                           "speed=500 # slow\n"
                                           "h3"),
                          0);
    CU_ASSERT_EQUAL_FATAL(file.count, 3);
    CU_ASSERT_STRING_EQUAL(file.hosts[0].name, "h1");
    CU_ASSERT_EQUAL(file.hosts[0].launcher, COVEY_LAUNCH_LOCAL);
    CU_ASSERT_STRING_EQUAL(file.hosts[1].address, "fd00::2");
    CU_ASSERT_STRING_EQUAL(file.hosts[1].coveyd, "/opt/coveyd");
    CU_ASSERT_STRING_EQUAL(file.hosts[1].cwd, "/a b");
    CU_ASSERT_EQUAL(file.hosts[1].speed, 500);
    CU_ASSERT_STRING_EQUAL(file.hosts[2].name, "h3");
    CU_ASSERT_EQUAL(file.hosts[2].launcher, COVEY_LAUNCH_SSH);
    CU_ASSERT_PTR_NULL(file.hosts[2].address);
    hostfile_free(&file);
}

static void test_defaults_hold_for_later_lines(void)
{
    struct hostfile file;
    CU_ASSERT_EQUAL_FATAL(read_text(&file,
                                    "before\n"
                                    "* launcher=exec template='ip netns exec {host} {command}'\n"
                                    "h1\n"
                                    "h2 launcher=local\n"
                                    "* speed=2000\n"
                                    "h3\n"),
                          0);
    CU_ASSERT_EQUAL_FATAL(file.count, 4);
    CU_ASSERT_PTR_NULL(file.hosts[0].template_);
    CU_ASSERT_EQUAL(file.hosts[1].launcher, COVEY_LAUNCH_EXEC);
    CU_ASSERT_STRING_EQUAL(file.hosts[1].template_, "ip netns exec {host} {command}");
    CU_ASSERT_EQUAL(file.hosts[2].launcher, COVEY_LAUNCH_LOCAL);
    CU_ASSERT_EQUAL(file.hosts[3].launcher, COVEY_LAUNCH_EXEC);
    CU_ASSERT_EQUAL(file.hosts[3].speed, 2000);
    CU_ASSERT_EQUAL(file.hosts[1].speed, 0);
    hostfile_free(&file);
}

static void test_many_hosts(void)
{
    static char text[5000];
    struct hostfile file;
    size_t used = 0;
    for (int i = 0; i < 500; i++)
        used += (size_t)sprintf(text + used, "host%d\n", i);
    CU_ASSERT_EQUAL_FATAL(read_text(&file, text), 0);
    CU_ASSERT_EQUAL_FATAL(file.count, 500);
    CU_ASSERT_STRING_EQUAL(file.hosts[499].name, "host499");
    hostfile_free(&file);
}

static void test_errors_name_file_and_line(void)
{
    static const struct {
        const char *text;
        const char *error;
    } bad[] = {
        {"h1\nh2 colour=red\n", "hosts:2: colour: unknown key"},
        {"h1 fast\n", "hosts:1: fast: must be key=value"},
        {"h1 =x\n", "hosts:1: =x: must be key=value"},
        {"\n\nh1 launcher=rsh\n", "hosts:3: launcher rsh: must be ssh, exec or local"},
        {"h1 speed=fast\n", "hosts:1: speed fast: must be a number in 1 .. 1000000"},
        {"h1 cwd=\n", "hosts:1: an empty value is not possible here"},
        {"h1 launcher=exec\n",
         "hosts:1: host h1: the launcher exec needs a template with {command} in it"},
        {"h1 launcher=exec template=true\n",
         "hosts:1: host h1: the launcher exec needs a template with {command} in it"},
        {"h1\nh2\nh1\n", "hosts:3: host h1: named before"},
        {"h1 'x\n", "hosts:1: a quote is not closed"},
        {"a,b\n", "hosts:1: host name a,b: must be 1 .. 63 printable characters without blank "
                  "or comma"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct hostfile file;
        CU_ASSERT_EQUAL(read_text(&file, bad[i].text), -1);
        CU_ASSERT_STRING_EQUAL(file.error, bad[i].error);
        hostfile_free(&file);
    }
}

static void test_missing_file_is_named(void)
{
    struct hostfile file;
    CU_ASSERT_EQUAL(hostfile_load(&file, "/nonexistent/hosts"), -1);
    CU_ASSERT_STRING_EQUAL(file.error, "/nonexistent/hosts: No such file or directory");
    hostfile_free(&file);
    CU_ASSERT_EQUAL(hostfile_load(&file, "/"), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(file.error, "directory"));
    hostfile_free(&file);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"hosts and their fields are read", test_hosts_with_fields},
        {"a line of * sets defaults for later lines", test_defaults_hold_for_later_lines},
        {"a file of 500 hosts", test_many_hosts},
        {"an error names file and line", test_errors_name_file_and_line},
        {"a file that is missing or a folder is named", test_missing_file_is_named},
    };
    return covey_test_main("tool_hostfile", cases, sizeof cases / sizeof cases[0]);
}
