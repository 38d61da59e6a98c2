/* links: proto/wire/contention_config.c daemon/launch/launchspec.c daemon/base/bootstrap.c daemon/base/failure.c daemon/base/version.c proto/wire/control.c proto/contention/contention.c proto/wire/address.c proto/wire/cursor.c */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "daemon/launch/launchspec.h"
#include "lib/covey.h"
#include "tests/unit/runner.h"

static const struct conf_launch conf = {.launcher = COVEY_LAUNCH_EXEC,
                                        .template_ = "run {host} {command}",
                                        .coveyd = "/opt/coveyd",
                                        .user = "anna",
                                        .port = 2222};

static void what_is_open_comes_from_the_configuration(void)
{
    struct control_host_spec spec = {.name = "h1"};
    launchspec_complete(&spec, &conf);
    CU_ASSERT_EQUAL(spec.launcher, COVEY_LAUNCH_EXEC);
    CU_ASSERT_STRING_EQUAL(spec.hostname, "h1");
    CU_ASSERT_STRING_EQUAL(spec.template_, "run {host} {command}");
    CU_ASSERT_STRING_EQUAL(spec.coveyd, "/opt/coveyd");
    CU_ASSERT_STRING_EQUAL(spec.user, "anna");
    CU_ASSERT_EQUAL(spec.port, 2222);
    CU_ASSERT_PTR_NULL(launchspec_refused(&spec));
}

static void what_is_said_wins(void)
{
    struct control_host_spec spec = {.launcher = COVEY_LAUNCH_SSH,
                                     .name = "h1",
                                     .hostname = "far",
                                     .user = "berta",
                                     .coveyd = "/usr/bin/coveyd",
                                     .port = 22};
    launchspec_complete(&spec, &conf);
    CU_ASSERT_EQUAL(spec.launcher, COVEY_LAUNCH_SSH);
    CU_ASSERT_STRING_EQUAL(spec.hostname, "far");
    CU_ASSERT_STRING_EQUAL(spec.user, "berta");
    CU_ASSERT_STRING_EQUAL(spec.coveyd, "/usr/bin/coveyd");
    CU_ASSERT_EQUAL(spec.port, 22);
}

static void a_template_means_exec_and_local_is_local(void)
{
    struct conf_launch ssh = {.launcher = COVEY_LAUNCH_SSH};
    struct control_host_spec spec = {.name = "h1", .template_ = "{command}"};
    launchspec_complete(&spec, &ssh);
    CU_ASSERT_EQUAL(spec.launcher, COVEY_LAUNCH_EXEC);
    spec = (struct control_host_spec){.name = "h1"};
    launchspec_complete(&spec, &ssh);
    CU_ASSERT_EQUAL(spec.launcher, COVEY_LAUNCH_SSH);
    spec = (struct control_host_spec){.name = "h1", .launcher = COVEY_LAUNCH_LOCAL};
    launchspec_complete(&spec, &conf);
    CU_ASSERT_STRING_EQUAL(spec.coveyd, ""); /* that of another machine would not serve */
    CU_ASSERT_STRING_EQUAL(spec.template_, "");
}

static void refuses(struct control_host_spec spec, const char *why)
{
    const char *refused = launchspec_refused(&spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(refused);
    CU_ASSERT_PTR_NOT_NULL(strstr(refused, why));
}

/* A peer of the VM may say anything: it must not reach a launcher as an option or as two words. */
static void what_a_launcher_could_mistake_is_refused(void)
{
    const struct control_host_spec good = {
        .launcher = COVEY_LAUNCH_SSH, .name = "h1", .hostname = "h1"};
    struct control_host_spec spec = good;
    CU_ASSERT_PTR_NULL(launchspec_refused(&spec));
    memcpy(spec.name, "-x", 3);
    refuses(spec, "name");
    spec = good;
    memcpy(spec.hostname, "-oProxyCommand=x", 17);
    refuses(spec, "hostname");
    memcpy(spec.hostname, "a b", 4);
    refuses(spec, "hostname");
    spec = good;
    memcpy(spec.user, "-x", 3);
    refuses(spec, "user");
    spec = good;
    spec.launcher = COVEY_LAUNCH_EXEC;
    refuses(spec, "{command}");
    spec.launcher = 77;
    refuses(spec, "no such launcher");
    spec.launcher = COVEY_LAUNCH_DEFAULT;
    refuses(spec, "no such launcher");
}

int main(void)
{
    static const struct test_case cases[] = {
        {"what is open comes from the configuration", what_is_open_comes_from_the_configuration},
        {"what is said wins", what_is_said_wins},
        {"a template means exec, and local is local", a_template_means_exec_and_local_is_local},
        {"what a launcher could mistake is refused", what_a_launcher_could_mistake_is_refused},
    };
    return covey_test_main("launchspec", cases, sizeof cases / sizeof cases[0]);
}
