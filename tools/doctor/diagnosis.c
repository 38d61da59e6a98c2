/*
 * diagnosis.c - what several examined hosts have wrong with each other: addresses that two of them
 * offer, clocks that differ, datagrams and streams that do not arrive. Each pair is compared, for
 * a fault may lie in one direction alone.
 */
#include "tools/doctor/diagnosis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKEW_US 2000000LL

/* ---- Two hosts ---------------------------------------------------------------------------- */

/* "eth0" for "192.0.2.1:99" or "[fd00::1]:99". */
static const char *interface_of(const struct patient *patient, const char *address, char name[16])
{
    char ip[PATIENT_TEXT_BYTES];
    snprintf(ip, sizeof ip, "%s", address + (*address == '['));
    ip[strcspn(ip, *address == '[' ? "]" : ":")] = '\0';
    for (int i = 0; i < patient->interfaces.count; i++) {
        const char *text = patient->interfaces.list[i];
        const char *blank = strchr(text, ' ');
        if (blank && strcmp(blank + 1, ip) == 0) {
            snprintf(name, 16, "%.*s", (int)(blank - text), text);
            return name;
        }
    }
    return "?";
}

static bool same_ip(const char *a, const char *b)
{
    const char *end_a = strrchr(a, ':');
    const char *end_b = strrchr(b, ':');
    return end_a && end_b && end_a - a == end_b - b && strncmp(a, b, (size_t)(end_a - a)) == 0;
}

/* Both offer the same address, and are not one machine. */
static void compare_addresses(const struct patient *a, const struct patient *b,
                              struct findings *findings)
{
    char name[16];
    if (strcmp(a->machine, b->machine) == 0)
        return;
    for (int i = 0; i < a->tcp.count; i++) {
        for (int k = 0; k < b->tcp.count; k++) {
            const char *text = a->tcp.list[i];
            if (!same_ip(text, b->tcp.list[k]))
                continue;
            findings_add(findings, "duplicate-address", b->name,
                         "choose another interface on both: interface = NAME in covey.conf, or "
                         "interface=NAME in the host file",
                         "%s has the same address %.*s, on %s", a->name,
                         (int)(strrchr(text, ':') - text), text, interface_of(a, text, name));
        }
    }
}

/* ---- Clocks ------------------------------------------------------------------------------- */

/* ---- Probes ------------------------------------------------------------------------------- */

static void list_addresses(const struct patient_addresses *addresses, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < addresses->count && used < size; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", addresses->list[i]);
}

/* Whether datagrams of a are lost on the way to b, by either's probes. */
static bool is_lost(const struct patients *patients, int a, int b)
{
    const struct patient_contact *out = &patients->list[a].contacts[b];
    const struct patient_contact *back = &patients->list[b].contacts[a];
    bool probe_lost = out->udp[0] && strcmp(out->udp, "ok") != 0 && !back->heard;
    bool answer_lost = strcmp(back->udp, "no answer") == 0 && out->heard;
    return probe_lost || answer_lost;
}

static void check_udp(const struct patients *patients, int a, int b, struct findings *findings)
{
    const struct patient *from = &patients->list[a];
    const struct patient *to = &patients->list[b];
    char tried[FINDING_TEXT_BYTES / 2];
    if (!is_lost(patients, a, b))
        return;
    list_addresses(&to->udp, tried, sizeof tried);
    findings_add(findings, "udp", from->name,
                 "let UDP through to the ports of covey.conf, in the packet filters of both and "
                 "between them; or correct address and interface there",
                 "no datagram arrives at %s (%s)", to->name, tried);
}

static void check_tcp(const struct patients *patients, int a, int b, struct findings *findings)
{
    const struct patient *to = &patients->list[b];
    const struct patient_contact *contact = &patients->list[a].contacts[b];
    char tried[FINDING_TEXT_BYTES / 2];
    if (!contact->tcp[0] || strcmp(contact->tcp, "ok") == 0)
        return;
    list_addresses(&to->tcp, tried, sizeof tried);
    findings_add(findings, "tcp", patients->list[a].name,
                 "let TCP between the hosts through, to the ports of "
                 "net.ipv4.ip_local_port_range; without it tasks use the route udp",
                 "no connection to %s (%s): %s", to->name, tried, contact->tcp);
}

void diagnosis_compare(const struct patients *patients, struct findings *findings)
{
    int first = -1;
    for (int i = 0; i < patients->count; i++) {
        const struct patient *patient = &patients->list[i];
        if (!patient->ready)
            continue;
        if (first < 0)
            first = i;
        const struct patient *a = &patients->list[first];
        if (strcmp(a->version, patient->version) != 0)
            findings_add(findings, "version", patient->name,
                         "install the same version of Covey on all hosts",
                         "its coveyd is %s, that of %s is %s", patient->version, a->name,
                         a->version);
        if (strcmp(a->order, patient->order) != 0)
            findings_add(findings, "byte-order", patient->name,
                         "none is needed: Covey converts, which costs time for large arrays",
                         "its byte order is %s-endian, that of %s is %s-endian", patient->order,
                         a->name, a->order);
        /* Only what no delay on the way explains: the clock was read between our two. */
        long long behind = patient->asked_us - patient->clock_us;
        long long ahead = patient->clock_us - patient->told_us;
        long long off = behind > ahead ? behind : ahead;
        if (off > SKEW_US)
            findings_add(findings, "clock", patient->name,
                         "let NTP set it: systemctl enable --now systemd-timesyncd, or chrony",
                         "its clock is at least %.1f s %s that of this machine", (double)off / 1e6,
                         behind > ahead ? "behind" : "ahead of");
        for (int k = first; k < i; k++) {
            if (!patients->list[k].ready)
                continue;
            compare_addresses(&patients->list[k], patient, findings);
            check_udp(patients, k, i, findings);
            check_udp(patients, i, k, findings);
            check_tcp(patients, k, i, findings);
            check_tcp(patients, i, k, findings);
        }
    }
}

/* ---- Launchers that fail ------------------------------------------------------------------ */

static const struct {
    const char *words; /* NULL: whatever else it says */
    const char *code;
    const char *remedy;
} launches[] = {
    {"Permission denied", "password",
     "ssh must come in without a password: ssh-copy-id to the host, or ssh-add to an agent"},
    {"assword", "password",
     "ssh must come in without a password: ssh-copy-id to the host, or ssh-add to an agent"},
    {"Too many authentication failures", "password",
     "name the key for this host: IdentityFile and IdentitiesOnly in ~/.ssh/config"},
    {"Host key verification failed", "host-key",
     "call ssh to the host once by hand and accept its key, or correct ~/.ssh/known_hosts"},
    {"Could not resolve hostname", "name-resolution",
     "correct the name, set hostname= in the host file, or add it to /etc/hosts"},
    {"bad option --examine", "version", "install the same version of Covey on all hosts"},
    {"is neither beside coveyd", "no-coveyd",
     "install all of Covey there, with make install: coveyd alone is not enough to examine a host"},
    {"o such file or directory", "no-coveyd",
     "install Covey there, or say where it is: coveyd= in the host file or covey.conf"},
    {"not found", "no-coveyd",
     "install Covey there, or say where it is: coveyd= in the host file or covey.conf"},
    {"onnection refused", "launch", "start sshd there, or correct port= in the host file"},
    {"timed out", "launch", "let TCP through to sshd there, and see that the host is up"},
    {NULL, "launch", "run the launcher's command by hand; see covey.hosts(5)"},
};

void diagnosis_launch(const struct patient *patient, int status, struct findings *findings)
{
    size_t i = 0;
    while (launches[i].words && !strstr(patient->words, launches[i].words))
        i++;
    if (status < 0)
        findings_add(findings, "launch", patient->name, launches[i].remedy,
                     "it cannot be examined: its launcher did not end in time; last words: %s",
                     *patient->words ? patient->words : "nothing");
    else if (*patient->words)
        findings_add(findings, launches[i].code, patient->name, launches[i].remedy,
                     "it cannot be examined: %s", patient->words);
    else
        findings_add(findings, "launch", patient->name, launches[i].remedy,
                     "it cannot be examined: its launcher ended with status %d and said nothing",
                     status);
}
