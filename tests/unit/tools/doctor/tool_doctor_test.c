/* links: tools/doctor/patient.c tools/doctor/diagnosis.c tools/doctor/finding.c */
/*
 * What covey doctor makes of the lines that hosts print. The lines are other machines': whatever
 * they are, nothing is overrun.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/runner.h"
#include "tools/doctor/diagnosis.h"
#include "tools/doctor/finding.h"
#include "tools/doctor/patient.h"

#define TOKEN_A "00112233445566778899aabbccddeeff"
#define TOKEN_B "ffeeddccbbaa99887766554433221100"

struct ward {
    struct patients patients;
    struct findings findings;
};

static void says(struct ward *ward, int patient, const char *text)
{
    char *copy = strdup(text), *rest = copy;
    for (char *line; (line = strsep(&rest, "\n"));)
        patient_line(&ward->patients, &ward->patients.list[patient], line, &ward->findings);
    free(copy);
}

static long long now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Two hosts that agree in all. */
static void ward_open(struct ward *ward)
{
    static const char *const names[] = {"a", "b"};
    static const char *const tokens[] = {TOKEN_A, TOKEN_B};
    *ward = (struct ward){.findings = {0}};
    CU_ASSERT_TRUE_FATAL(patients_create(&ward->patients, 2));
    for (int i = 0; i < 2; i++) {
        char text[600];
        long long now = now_us();
        struct patient *patient = &ward->patients.list[i];
        snprintf(patient->name, sizeof patient->name, "%s", names[i]);
        patient->asked_us = now;
        snprintf(text, sizeof text,
                 "@version\t0.1.0\t1\n@order\tlittle\n@machine\tboot%d net\n"
                 "@address\teth0\t10.0.0.%d\n@udp\t%s\t10.0.0.%d:40000\n"
                 "@tcp\t%s\t10.0.0.%d:5000%d\n@clock\t%lld\n@ready",
                 i, i + 1, tokens[i], i + 1, tokens[i], i + 1, i, now);
        says(ward, i, text);
    }
    says(ward, 0, "@heard\tb\n@reached\tb\tudp\tok\t10.0.0.2:40000\n@reached\tb\ttcp\tok\tx");
    says(ward, 1, "@heard\ta\n@reached\ta\tudp\tok\t10.0.0.1:40000\n@reached\ta\ttcp\tok\tx");
}

static void ward_close(struct ward *ward)
{
    patients_free(&ward->patients);
    findings_free(&ward->findings);
}

/* That, and nothing else, is found after the comparison. */
static void expect(struct ward *ward, const char *code, const char *host, const char *text)
{
    diagnosis_compare(&ward->patients, &ward->findings);
    CU_ASSERT_EQUAL_FATAL(ward->findings.count, 1);
    CU_ASSERT_STRING_EQUAL(ward->findings.list[0].code, code);
    CU_ASSERT_STRING_EQUAL(ward->findings.list[0].host, host);
    CU_ASSERT_PTR_NOT_NULL(strstr(ward->findings.list[0].text, text));
    CU_ASSERT_TRUE(ward->findings.list[0].remedy[0] != '\0');
    if (!strstr(ward->findings.list[0].text, text))
        printf("it says: %s\n", ward->findings.list[0].text);
}

static void hosts_that_agree(void)
{
    struct ward ward;
    ward_open(&ward);
    diagnosis_compare(&ward.patients, &ward.findings);
    CU_ASSERT_EQUAL(ward.findings.count, 0);
    CU_ASSERT_TRUE(ward.patients.list[0].ready);
    ward_close(&ward);
}

static void what_b_says_otherwise(void)
{
    static const struct {
        const char *line, *code, *host, *text;
    } rows[] = {
        {"@version\t0.2.0\t1", "version", "b", "0.2.0 (wire 1)"},
        {"@order\tbig", "byte-order", "b", "big-endian"},
        {"@clock\t5", "clock", "b", "behind"},
        {"@clock\t9223372036854775807", "clock", "b", "ahead"},
        {"@clock\t-9223372036854775808", "clock", "b", "behind"},
        {"@tcp\t" TOKEN_B "\t10.0.0.1:1", "duplicate-address", "b",
         "a has the same address "
         "10.0.0.1, on eth0"},
        {"@reached\ta\ttcp\tConnection refused\t", "tcp", "b", "no connection to a"},
        {"@finding\tfiles\ttoo few\tmore", "files", "b", "too few"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ward ward;
        ward_open(&ward);
        says(&ward, 1, rows[i].line);
        expect(&ward, rows[i].code, rows[i].host, rows[i].text);
        ward_close(&ward);
    }
}

/* A probe that is not heard, and an answer that is not. */
static void the_direction_is_told(void)
{
    struct ward ward;
    ward_open(&ward);
    ward.patients.list[1].contacts[0].heard = false; /* b does not hear a, */
    says(&ward, 0, "@reached\tb\tudp\tno answer\t"); /* which so gets no answer */
    says(&ward, 1, "@reached\ta\tudp\tno answer\t"); /* nor do a's answers arrive */
    expect(&ward, "udp", "a", "no datagram arrives at b (10.0.0.2:40000)");
    ward_close(&ward);
    ward_open(&ward);
    says(&ward, 1, "@reached\ta\tudp\tno port\t"); /* no answer could come: nothing is known */
    diagnosis_compare(&ward.patients, &ward.findings);
    CU_ASSERT_EQUAL(ward.findings.count, 0);
    ward_close(&ward);
}

static void one_machine_shares_its_addresses(void)
{
    struct ward ward;
    ward_open(&ward);
    says(&ward, 1, "@machine\tboot0 net\n@tcp\t" TOKEN_B "\t10.0.0.1:1");
    diagnosis_compare(&ward.patients, &ward.findings);
    CU_ASSERT_EQUAL(ward.findings.count, 0);
    ward_close(&ward);
}

static void launchers_words(void)
{
    static const struct {
        const char *words, *code;
    } rows[] = {
        {"anna@b: Permission denied (publickey,password).", "password"},
        {"Host key verification failed.", "host-key"},
        {"ssh: Could not resolve hostname b: Name or service not known", "name-resolution"},
        {"coveyd: bad option --examine; coveyd --help lists them", "version"},
        {"coveyd: covey-probe is neither beside coveyd, in /opt/, nor in ../libexec/covey there",
         "no-coveyd"},
        {"sh: 1: exec: /opt/coveyd: not found", "no-coveyd"},
        {"bash: line 1: /opt/coveyd: No such file or directory", "no-coveyd"},
        {"ssh: connect to host b port 22: Connection refused", "launch"},
        {"ssh: connect to host b port 22: Connection timed out", "launch"},
        {"whatever", "launch"},
        {"", "launch"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ward ward;
        ward_open(&ward);
        says(&ward, 1, rows[i].words);
        diagnosis_launch(&ward.patients.list[1], 255, &ward.findings);
        CU_ASSERT_EQUAL_FATAL(ward.findings.count, 1);
        CU_ASSERT_STRING_EQUAL(ward.findings.list[0].code, rows[i].code);
        CU_ASSERT_PTR_NOT_NULL(strstr(ward.findings.list[0].text, rows[i].words));
        ward_close(&ward);
    }
}

static void some_are_ignored(void)
{
    struct findings findings = {.ignore = "clock,stale-log,udp"};
    findings_add(&findings, "clock", "a", "r", "x");
    findings_add(&findings, "udp", "a", "r", "x");
    findings_add(&findings, "stale-log", "a", "r", "x");
    CU_ASSERT_EQUAL(findings.count, 0);
    findings_add(&findings, "log", "a", "r", "x");
    findings_add(&findings, "stale", "a", "r", "x");
    findings_add(&findings, "udp-socket", "a", "r", "x\n\ty");
    findings_add(&findings, "udp-socket", "a", "r", "x\n\ty"); /* said twice */
    CU_ASSERT_EQUAL(findings.count, 3);
    CU_ASSERT_STRING_EQUAL(findings.list[2].text, "x??y");
    findings_free(&findings);
}

/* The addresses and the token go into a command line. */
static void what_would_be_a_command_is_refused(void)
{
    struct ward ward;
    ward_open(&ward);
    ward.patients.list[0].tcp.count = ward.patients.list[0].udp.count = 0;
    says(&ward, 0,
         "@udp\t" TOKEN_A "\t1.2.3.4:5,tcp=6.7.8.9:1\n@udp\t" TOKEN_A " x\t1.2.3.4:5\n"
         "@tcp\t$(reboot)\t1.2.3.4:5\n@tcp\t\t1.2.3.4:5\n@tcp");
    CU_ASSERT_EQUAL(ward.patients.list[0].udp.count, 0);
    CU_ASSERT_EQUAL(ward.patients.list[0].tcp.count, 0);
    CU_ASSERT_STRING_EQUAL(ward.patients.list[0].token, TOKEN_A);
    ward_close(&ward);
}

/* Lines of words that mean something, in any order and number, and of any length. */
static void nonsense(void)
{
    static const char *const words[] = {
        "@udp",   "@tcp",       "@reached", "@heard",   "@finding",
        "@clock", "@ready",     "@machine", "@version", "@address",
        "a",      "b",          "udp",      "tcp",      "ok",
        TOKEN_A,  "10.0.0.1:7", "",         "-1",       "xxxxxxxxxxxxxxxxxxxxxxxxx"};
    struct ward ward;
    unsigned seed = 7;
    ward_open(&ward);
    for (int i = 0; i < 20000; i++) {
        char line[1024] = "";
        size_t used = 0;
        for (int n = (int)(seed >> 8) % 9; n >= 0 && used < 900; n--) {
            seed = seed * 1103515245u + 12345u;
            const char *word = words[(seed >> 16) % (sizeof words / sizeof words[0])];
            for (unsigned k = 0; k <= (seed >> 24) % 8 && used < 900; k++)
                used += (size_t)sprintf(line + used, "%s", word);
            line[used++] = seed & 4096 ? '\t' : (char)(seed >> 20);
            line[used] = '\0';
        }
        patient_line(&ward.patients, &ward.patients.list[i & 1], line, &ward.findings);
    }
    diagnosis_compare(&ward.patients, &ward.findings);
    CU_ASSERT_TRUE(ward.patients.list[0].udp.count <= PATIENT_ADDRESSES);
    ward_close(&ward);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"hosts that agree", hosts_that_agree},
        {"what one says otherwise", what_b_says_otherwise},
        {"the direction is told", the_direction_is_told},
        {"one machine shares its addresses", one_machine_shares_its_addresses},
        {"launchers' words", launchers_words},
        {"some are ignored", some_are_ignored},
        {"what would be a command is refused", what_would_be_a_command_is_refused},
        {"nonsense", nonsense},
    };
    return covey_test_main("tool_doctor", cases, sizeof cases / sizeof cases[0]);
}
