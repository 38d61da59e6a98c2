/* links: tools/vm/hostfile.c tools/vm/hostspec.c tools/base/args.c tools/base/words.c */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/runner.h"
#include "tools/vm/hostfile.h"

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
    CU_ASSERT_STRING_EQUAL(file.hosts[0].host.spec.name, "h1");
    CU_ASSERT_EQUAL(file.hosts[0].host.spec.launcher, COVEY_LAUNCH_LOCAL);
    CU_ASSERT_STRING_EQUAL(file.hosts[1].host.spec.address, "fd00::2");
    CU_ASSERT_STRING_EQUAL(file.hosts[1].host.spec.coveyd, "/opt/coveyd");
    CU_ASSERT_STRING_EQUAL(file.hosts[1].host.spec.cwd, "/a b");
    CU_ASSERT_EQUAL(file.hosts[1].host.spec.speed, 500);
    CU_ASSERT_STRING_EQUAL(file.hosts[2].host.spec.name, "h3");
    CU_ASSERT_EQUAL(file.hosts[2].host.spec.launcher, COVEY_LAUNCH_DEFAULT);
    CU_ASSERT_PTR_NULL(file.hosts[2].host.spec.address);
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
    CU_ASSERT_PTR_NULL(file.hosts[0].host.spec.template_);
    CU_ASSERT_EQUAL(file.hosts[1].host.spec.launcher, COVEY_LAUNCH_EXEC);
    CU_ASSERT_STRING_EQUAL(file.hosts[1].host.spec.template_, "ip netns exec {host} {command}");
    CU_ASSERT_EQUAL(file.hosts[2].host.spec.launcher, COVEY_LAUNCH_LOCAL);
    CU_ASSERT_EQUAL(file.hosts[3].host.spec.launcher, COVEY_LAUNCH_EXEC);
    CU_ASSERT_EQUAL(file.hosts[3].host.spec.speed, 2000);
    CU_ASSERT_EQUAL(file.hosts[1].host.spec.speed, 0);
    hostfile_free(&file);
}

static void test_every_key(void)
{
    struct hostfile file;
    CU_ASSERT_EQUAL_FATAL(
        read_text(&file, "a launcher=exec template={command} hostname=10.0.0.2 user=anna port=2222 "
                         "address=192.0.2.1 bind=fd00::2 interface=eth1 coveyd=/opt/coveyd "
                         "config=/opt/covey.conf cwd=/var env=A=1 env='B=2 3' speed=2000\n"),
        0);
    CU_ASSERT_EQUAL_FATAL(file.count, 1);
    const struct covey_host_spec s = hostspec_done(&file.hosts[0].host);
    CU_ASSERT_EQUAL(s.launcher, COVEY_LAUNCH_EXEC);
    CU_ASSERT_STRING_EQUAL(s.template_, "{command}");
    CU_ASSERT_STRING_EQUAL(s.hostname, "10.0.0.2");
    CU_ASSERT_STRING_EQUAL(s.user, "anna");
    CU_ASSERT_EQUAL(s.port, 2222);
    CU_ASSERT_STRING_EQUAL(s.address, "192.0.2.1");
    CU_ASSERT_STRING_EQUAL(s.bind, "fd00::2");
    CU_ASSERT_STRING_EQUAL(s.interface, "eth1");
    CU_ASSERT_STRING_EQUAL(s.coveyd, "/opt/coveyd");
    CU_ASSERT_STRING_EQUAL(s.config, "/opt/covey.conf");
    CU_ASSERT_STRING_EQUAL(s.cwd, "/var");
    CU_ASSERT_EQUAL(s.speed, 2000);
    CU_ASSERT_STRING_EQUAL(s.env[0], "A=1");
    CU_ASSERT_STRING_EQUAL(s.env[1], "B=2 3");
    CU_ASSERT_PTR_NULL(s.env[2]);
    hostfile_free(&file);
}

/* What somebody who comes from PVM has. */
static void test_pvm_host_file(void)
{
    struct hostfile file;
    CU_ASSERT_EQUAL_FATAL(read_text(&file, "# configuration used for my run\n"
                                           "* lo=gst dx=/opt/pvmd env=A=1 env=B=1\n"
                                           "sparky  sp=800 ip=10.0.0.3\n"
                                           "& thud.cs  wd=/scratch env=A=2\n"
                                           "&gracie\n"),
                          0);
    CU_ASSERT_EQUAL_FATAL(file.count, 3);
    CU_ASSERT_EQUAL(file.hosts[0].later, false);
    CU_ASSERT_STRING_EQUAL(file.hosts[0].host.spec.user, "gst");
    CU_ASSERT_STRING_EQUAL(file.hosts[0].host.spec.hostname, "10.0.0.3");
    CU_ASSERT_EQUAL(file.hosts[0].host.spec.speed, 800);
    CU_ASSERT_EQUAL(file.hosts[1].later, true);
    CU_ASSERT_STRING_EQUAL(file.hosts[1].host.spec.name, "thud.cs");
    CU_ASSERT_STRING_EQUAL(file.hosts[1].host.spec.cwd, "/scratch");
    CU_ASSERT_STRING_EQUAL(file.hosts[1].host.env[0], "A=2");
    CU_ASSERT_STRING_EQUAL(file.hosts[1].host.env[1], "B=1");
    CU_ASSERT_STRING_EQUAL(file.hosts[0].host.env[0], "A=1");
    CU_ASSERT_EQUAL(file.hosts[2].later, true);
    CU_ASSERT_STRING_EQUAL(file.hosts[2].host.spec.name, "gracie");
    CU_ASSERT_PTR_EQUAL(hostfile_find(&file, "gracie"), &file.hosts[2]);
    CU_ASSERT_PTR_NULL(hostfile_find(&file, "nobody"));
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
    CU_ASSERT_STRING_EQUAL(file.hosts[499].host.spec.name, "host499");
    hostfile_free(&file);
}

static void test_errors_name_file_line_and_column(void)
{
    static const struct {
        const char *text;
        const char *error;
    } bad[] = {
        {"h1\nh2 colour=red\n", "hosts:2:4: colour: unknown key"},
        {"h1 fast\n", "hosts:1:4: fast: must be key=value"},
        {"h1 =x\n", "hosts:1:4: =x: must be key=value"},
        {"\n\nh1 speed=5  launcher=rsh\n", "hosts:3:22: launcher rsh: must be ssh, exec or local"},
        {"h1 speed=fast\n", "hosts:1:10: speed fast: must be a number in 1 .. 1000000"},
        {"h1 port=0\n", "hosts:1:9: port 0: must be a number in 1 .. 65535"},
        {"h1 bind=10.0.0.1:7\n",
         "hosts:1:9: bind 10.0.0.1:7: must be an IP address without a port"},
        {"* env=A\n", "hosts:1:7: env A: must be NAME=VALUE"},
        {"h1 cwd=\n", "hosts:1:8: an empty value is not possible here"},
        {"h1 user=-x\n", "hosts:1:1: host h1: hostname and user have no blanks, and no - first"},
        {" h1 launcher=exec template=true\n",
         "hosts:1:2: host h1: exec needs a template with {command} in it"},
        {"h1\nh2\nh1\n", "hosts:3:1: host h1: named before"},
        {"h1 'x\n", "hosts:1:4: a quote is not closed"},
        {"a,b\n", "hosts:1:1: host name a,b: must be 1 .. 63 letters, digits or ._-@, not - or . "
                  "first"},
        {"fd00::1\n", "hosts:1:1: host name fd00::1: must be 1 .. 63 letters, digits or ._-@, not "
                      "- or . first; give it a name and hostname="},
        {"h1 slots=4\n", "hosts:1:4: slots: unknown key; Covey takes as many tasks as it is given: "
                         "leave it out"},
        {"h1 ep=/bin\n", "hosts:1:4: ep: unknown key; use env=PATH=..."},
        {"& h1 x=1\n", "hosts:1:6: x: unknown key"},
        {"&\n", "hosts:1:1: host name : must be 1 .. 63 letters, digits or ._-@, not - or . first"},
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
    CU_ASSERT_STRING_EQUAL(file.error, "/: Is a directory");
    hostfile_free(&file);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"hosts and their fields are read", test_hosts_with_fields},
        {"a line of * sets defaults for later lines", test_defaults_hold_for_later_lines},
        {"every key is read", test_every_key},
        {"a host file of PVM", test_pvm_host_file},
        {"a file of 500 hosts", test_many_hosts},
        {"an error names file, line and column", test_errors_name_file_line_and_column},
        {"a file that is missing or a folder is named", test_missing_file_is_named},
    };
    return covey_test_main("tool_hostfile", cases, sizeof cases / sizeof cases[0]);
}
