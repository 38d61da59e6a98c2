/* links: proto/wire/contention_config.c daemon/base/conf.c daemon/base/conf_value.c proto/network/topology.c proto/contention/contention.c proto/session/fault.c proto/session/slow.c daemon/base/failure.c daemon/base/log.c daemon/base/sockaddr.c proto/wire/cursor.c -linih */
#include <CUnit/CUnit.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/conf.h"
#include "daemon/base/log.h"
#include "lib/covey.h"
#include "tests/unit/runner.h"

/* A file with that text that is gone after the test; path has PATH_BYTES. */
#define PATH_BYTES 64
static void write_file(char *path, const char *text)
{
    snprintf(path, PATH_BYTES, "/tmp/covey-conf-test.XXXXXX");
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static int read_text(struct conf *conf, const char *text, struct failure *why)
{
    char path[PATH_BYTES];
    write_file(path, text);
    int result = conf_read(conf, path, why);
    unlink(path);
    return result;
}

static char *printed(const struct conf *conf)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    conf_print(conf, out);
    fclose(out);
    return text;
}

/* parse -> struct -> print -> parse gives the same */
static void comes_back(const struct conf *conf)
{
    struct conf again;
    struct failure why = {""};
    char *text = printed(conf);
    conf_init(&again);
    CU_ASSERT_EQUAL(read_text(&again, text, &why), 0);
    CU_ASSERT_STRING_EQUAL(why.text, "");
    char *text_again = printed(&again);
    CU_ASSERT_STRING_EQUAL(text, text_again);
    free(text);
    free(text_again);
}

static void defaults_come_back(void)
{
    struct conf conf;
    conf_init(&conf);
    CU_ASSERT_EQUAL(conf.fail_timeout_us, 5000000);
    comes_back(&conf);
}

static void every_setting_comes_back(void)
{
    struct conf conf;
    struct failure why = {""};
    conf_init(&conf);
    const char *text =
        "; a comment\n[daemon]\nfail_timeout = 1.5\njoin_timeout=7\n"
        "port = 40000-40019\naddress = 192.0.2.1\ninterface = eth1\n"
        "log_level = debug\ntasks_max = 17\nmemory = 1536M\ndatagram_max = 1400\nspeed = 250\n"
        "fault = loss=0.05,seed=7\ntopology = /etc/network\n"
        "bind = 192.0.2.2\n[launch]\nlauncher = exec\n"
        "template = run {host} -- {command}\ncoveyd = /opt/coveyd\nuser = anna\n"
        "port = 2222\n[ether]\nenabled = yes\ninterface = eth2\n"
        "ethertype = 0x88b6\ndirect = yes\nservices = no\n"
        "[contention]\nmode = topology\nthreshold = 100000\nquantum = 2M\n"
        "rate = 10M\nturns = yes\n"
        "[monitor]\nperiod = 2.5\nprocfs = /host/proc\n"
        "metrics = 9464-9467\nmetrics_bind = ::1\n";
    CU_ASSERT_EQUAL(read_text(&conf, text, &why), 0);
    CU_ASSERT_STRING_EQUAL(why.text, "");
    CU_ASSERT_EQUAL(conf.fail_timeout_us, 1500000);
    CU_ASSERT_EQUAL(conf.join_timeout_us, 7000000);
    CU_ASSERT_EQUAL(conf.port.first, 40000);
    CU_ASSERT_EQUAL(conf.port.last, 40019);
    CU_ASSERT_STRING_EQUAL(conf.address, "192.0.2.1");
    CU_ASSERT_STRING_EQUAL(conf.interface, "eth1");
    CU_ASSERT_EQUAL(conf.log_level, LOG_DEBUG);
    CU_ASSERT_EQUAL(conf.tasks_max, 17);
    CU_ASSERT_EQUAL(conf.memory_bytes, (uint64_t)1536 << 20);
    CU_ASSERT_EQUAL(conf.datagram_bytes_max, 1400);
    CU_ASSERT_EQUAL(conf.speed, 250);
    CU_ASSERT_STRING_EQUAL(conf.bind, "192.0.2.2");
    CU_ASSERT_EQUAL(conf.launch.launcher, COVEY_LAUNCH_EXEC);
    CU_ASSERT_STRING_EQUAL(conf.launch.template_, "run {host} -- {command}");
    CU_ASSERT_STRING_EQUAL(conf.launch.coveyd, "/opt/coveyd");
    CU_ASSERT_STRING_EQUAL(conf.launch.user, "anna");
    CU_ASSERT_EQUAL(conf.launch.port, 2222);
    CU_ASSERT(conf.ether.direct && !conf.ether.services);
    CU_ASSERT_EQUAL(conf.contention.mode, CONTENTION_TOPOLOGY);
    CU_ASSERT_EQUAL(conf.contention.threshold_bytes, 100000);
    CU_ASSERT_EQUAL(conf.contention.quantum_bytes, 2 << 20);
    CU_ASSERT_EQUAL(conf.contention.rate, 10000000);
    CU_ASSERT(conf.contention.turns);
    CU_ASSERT_EQUAL(conf.monitor.period_us, 2500000);
    CU_ASSERT_STRING_EQUAL(conf.monitor.procfs, "/host/proc");
    CU_ASSERT_EQUAL(conf.monitor.metrics.where, CONF_METRICS_PORT);
    CU_ASSERT_EQUAL(conf.monitor.metrics.ports.last, 9467);
    CU_ASSERT_STRING_EQUAL(conf.monitor.metrics_bind, "::1");
    CU_ASSERT_EQUAL(conf.fault.loss_ppm, 50000);
    CU_ASSERT_EQUAL(conf.fault.seed, 7);
    CU_ASSERT_STRING_EQUAL(conf.topology, "/etc/network");
    comes_back(&conf);
}

/* The file that is shipped says the defaults. */
static void the_shipped_file_says_the_defaults(void)
{
    struct conf conf, defaults;
    struct failure why = {""};
    conf_init(&conf);
    conf_init(&defaults);
    conf.speed = conf.tasks_max = 1; /* the file sets them */
    CU_ASSERT_EQUAL(conf_read(&conf, "conf/covey.conf", &why), 0);
    CU_ASSERT_STRING_EQUAL(why.text, "");
    char *a = printed(&conf), *b = printed(&defaults);
    CU_ASSERT_STRING_EQUAL(a, b);
    free(a);
    free(b);
}

/* Calls fn for each setting of a text like covey.conf, and says how many there are. */
typedef void setting_fn(const char *section, const char *name);

static int each_setting(const char *text, setting_fn *fn)
{
    char *copy = strdup(text), *rest = copy, section[32] = "", name[64];
    int count = 0;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        sscanf(line, "[%31[a-z]]", section);
        if (sscanf(line, "%63[a-z_] =", name) == 1 && strchr(line, '=') != NULL) {
            count++;
            if (fn != NULL)
                fn(section, name);
        }
    }
    free(copy);
    return count;
}

static char *file_text(const char *path)
{
    FILE *in = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(in);
    CU_ASSERT_TRUE(getdelim(&text, &size, '\0', in) > 0);
    fclose(in);
    return text;
}

/* What the manual says, as a covey.conf of all settings with their defaults. */
static void manual_line(char *line, FILE *out)
{
    char plain[256], *to = plain, name[64], section[32];
    for (; *line != '\0' && to < plain + sizeof plain - 1; line++)
        if (*line != '"' && *line != '\\')
            *to++ = *line;
    *to = '\0';
    char *value = strstr(plain, "default ");
    if (sscanf(plain, ".SS [%31[a-z]]", section) == 1)
        fprintf(out, "[%s]\n", section);
    if (value == NULL || sscanf(plain, ".BR %63[a-z_] ", name) != 1)
        return;
    value += strlen("default ");
    value += strspn(value, " ");
    value[strcspn(value, ") ")] = '\0';
    fprintf(out, "%s = %s\n", name, strcmp(value, "empty") == 0 ? "" : value);
}

static char *manual_as_conf(void)
{
    char *manual = file_text("conf/covey.conf.5"), *rest = manual, *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (char *line; (line = strsep(&rest, "\n")) != NULL;)
        manual_line(line, out);
    fclose(out);
    free(manual);
    return text;
}

/* Nothing is in the one and not in the other, and the defaults are the same. */
static void the_manual_says_what_there_is(void)
{
    struct conf conf, defaults;
    struct failure why = {""};
    char *manual = manual_as_conf();
    conf_init(&conf);
    conf_init(&defaults);
    conf.fail_timeout_us = conf.speed = conf.tasks_max = 1;
    CU_ASSERT_EQUAL(read_text(&conf, manual, &why), 0);
    CU_ASSERT_STRING_EQUAL(why.text, "");
    char *a = printed(&conf), *b = printed(&defaults);
    CU_ASSERT_STRING_EQUAL(a, b);
    CU_ASSERT_EQUAL(each_setting(manual, NULL), each_setting(b, NULL));
    free(a);
    free(b);
    free(manual);
}

/* Whether the shipped file sets it, in that section. */
static void is_shipped(const char *section, const char *name)
{
    char *text = file_text("conf/covey.conf"), heading[40], setting[80];
    snprintf(heading, sizeof heading, "\n[%s]\n", section);
    snprintf(setting, sizeof setting, "\n%s =", name);
    const char *begin = strstr(text, heading);
    const char *end = begin == NULL ? NULL : strstr(begin + 2, "\n[");
    const char *at = begin == NULL ? NULL : strstr(begin, setting);
    bool there = at != NULL && (end == NULL || at < end);
    CU_ASSERT_TRUE(there);
    if (!there)
        printf("conf/covey.conf has no %s in [%s]\n", name, section);
    free(text);
}

static void the_shipped_file_has_every_setting(void)
{
    struct conf defaults;
    conf_init(&defaults);
    char *all = printed(&defaults);
    CU_ASSERT_TRUE(each_setting(all, is_shipped) > 10);
    free(all);
}

static void bad_ones_are_named(void)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"[daemon]\nspeed = fast\n", ":2: speed must be 1 to 1000000"},
        {"[daemon]\n\nspeed = -1\n", ":3: speed must be"},
        {"[daemon]\nspeed = 0\n", ":2: speed must be"},
        {"[daemon]\nfail_timeout = nan\n", "fail_timeout must be seconds"},
        {"[daemon]\nfail_timeout = 0\n", "fail_timeout must be seconds"},
        {"[daemon]\njoin_timeout = 5 s\n", "join_timeout must be seconds"},
        {"[daemon]\nport = 70000\n", "port must be"},
        {"[daemon]\nport = 5-4\n", "port must be"},
        {"[daemon]\nport = -\n", "port must be"},
        {"[daemon]\nlog_level = loud\n", "log_level must be error, info or debug"},
        {"[daemon]\ntasks_max = 99999999999999999999\n", "tasks_max must be"},
        {"[daemon]\nmemory = 1K\n", "memory must be 1M to 1024G bytes"},
        {"[daemon]\nmemory = 1025G\n", "memory must be"},
        {"[daemon]\nmemory = 1T\n", "memory must be"},
        {"[daemon]\nmemory = 1GB\n", "memory must be"},
        {"[daemon]\nfault = loss=2\n", ":2: fault must be loss=, dup="},
        {"[daemon]\ncolour = red\n", "unknown setting 'colour'"},
        {"[daemon]\nbind = 10.0.0.1:50\n", "bind must be an IP address"},
        {"[daemon]\naddress = anna\n", "address must be an IP address"},
        {"[daemon]\nlauncher = ssh\n", "unknown setting 'launcher' in [daemon]"},
        {"[launch]\nlauncher = rsh\n", "launcher must be ssh or exec"},
        {"[launch]\ntemplate = true\n", "template must be"},
        {"[launch]\nuser = -oX\n", "user must be"},
        {"[launch]\nport = 65536\n", "port must be 0 to 65535"},
        {"[deamon]\nspeed = 1\n", "unknown section [deamon]"},
        {"speed = 1\n", "unknown section []"},
        {"[daemon]\nspeed\n", ":2: "},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct conf conf;
        struct failure why = {""};
        conf_init(&conf);
        CU_ASSERT_EQUAL(read_text(&conf, bad[i].text, &why), -1);
        CU_ASSERT_PTR_NOT_NULL(strstr(why.text, bad[i].says));
        if (strstr(why.text, bad[i].says) == NULL)
            printf("'%s' gives: %s\n", bad[i].text, why.text);
    }
}

static void a_file_that_is_not_there(void)
{
    struct conf conf;
    struct failure why = {""};
    conf_init(&conf);
    CU_ASSERT_EQUAL(conf_read(&conf, "/no/such/covey.conf", &why), -1);
    CU_ASSERT_STRING_EQUAL(why.text, "cannot read /no/such/covey.conf: No such file or directory");
    CU_ASSERT_EQUAL(conf_read(&conf, "/", &why), -1);
    CU_ASSERT_STRING_EQUAL(why.text, "cannot read /: Is a directory");
}

/* Puts an empty /etc before this process alone. */
static bool etc_hide(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", "/etc", "tmpfs", 0, "mode=755") == 0;
}

/* Whether an ordinary user's daemon takes the shipped example, its setting's mark taken away, at
 * that path, owned by `owner` with that mode, for root's word. */
static bool is_roots(const char *path, uid_t owner, mode_t mode)
{
    char *text = file_text("conf/ether.conf");
    FILE *file = fopen(path, "w");
    char *setting = strstr(text, "; direct = yes");
    struct conf conf;
    struct failure why;
    conf_init(&conf);
    CU_ASSERT_PTR_NOT_NULL_FATAL(setting);
    *setting = ' ';
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    fclose(file);
    free(text);
    CU_ASSERT(chown(path, owner, owner) == 0 && chmod(path, mode) == 0);
    CU_ASSERT_EQUAL(seteuid(65534), 0);
    CU_ASSERT_EQUAL(conf_read(&conf, path, &why), 0);
    CU_ASSERT_EQUAL(seteuid(0), 0);
    unlink(path);
    CU_ASSERT(conf.ether.direct);
    return conf.ether.direct_is_roots;
}

/* They are root's once installed, and any user may name them to a daemon. */
static void no_example_lets_tasks_have_sockets(void)
{
    const char *const examples[] = {"conf/covey.conf", "conf/batch.conf", "conf/firewall.conf",
                                    "conf/ether.conf"};
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        struct conf conf;
        struct failure why;
        conf_init(&conf);
        CU_ASSERT_EQUAL(conf_read(&conf, examples[i], &why), 0);
        CU_ASSERT_FALSE(conf.ether.direct);
    }
}

static void roots_word_is_known(void)
{
    if (geteuid() != 0) {
        covey_test_skip("needs root, to write files of several owners");
        return;
    }
    if (!etc_hide()) {
        covey_test_skip("needs a mount namespace, to write an /etc/covey.conf");
        return;
    }
    CU_ASSERT_EQUAL(mkdir("/etc/elsewhere", 0755), 0);
    CU_ASSERT(is_roots("/etc/covey.conf", 0, 0644));
    CU_ASSERT(is_roots("/etc/elsewhere/../covey.conf", 0, 0644));
    CU_ASSERT_FALSE(is_roots("/etc/elsewhere/covey.conf", 0, 0644));
    CU_ASSERT_FALSE(is_roots("/etc/covey.conf", 65534, 0644));
    CU_ASSERT_FALSE(is_roots("/etc/covey.conf", 0, 0666));
    CU_ASSERT_FALSE(is_roots("/etc/covey.conf", 0, 0664));
    CU_ASSERT_EQUAL(umount2("/etc", MNT_DETACH), 0);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"defaults come back", defaults_come_back},
        {"every setting comes back", every_setting_comes_back},
        {"the shipped file says the defaults", the_shipped_file_says_the_defaults},
        {"the shipped file has every setting", the_shipped_file_has_every_setting},
        {"the manual says what there is", the_manual_says_what_there_is},
        {"bad ones are named", bad_ones_are_named},
        {"a file that is not there", a_file_that_is_not_there},
        {"no example lets tasks have sockets", no_example_lets_tasks_have_sockets},
        {"root's word is known", roots_word_is_known},
    };
    return covey_test_main("conf", cases, sizeof cases / sizeof cases[0]);
}
