/*
 * procfs.c - texts of the kernel become numbers. Kernels differ in what they write, so each line is
 * looked for by its name, and what is missing is left out. Pure, so that a fuzzer reaches all of
 * it.
 */
#include "daemon/monitor/procfs.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECTOR_BYTES 512 /* of /proc/diskstats, whatever the disk's own */
#define LOAD_MAX 1e9

/* ---- lines and numbers ---- */

static const char *line_next(const char *line)
{
    const char *end = strchr(line, '\n');
    return end == NULL ? line + strlen(line) : end + 1;
}

/* The rest of the line that begins with that word, NULL: there is none. */
static const char *proc_line(const char *text, const char *word)
{
    size_t size = strlen(word);
    for (; *text != '\0'; text = line_next(text))
        if (strncmp(text, word, size) == 0 && (text[size] == ' ' || text[size] == '\t'))
            return text + size;
    return NULL;
}

/* A number after blanks, in the same line; moves *at behind it. */
static bool take_number(const char **at, uint64_t *number)
{
    char *end;
    const char *from = *at + strspn(*at, " \t");
    if (!isdigit((unsigned char)*from))
        return false;
    *number = strtoull(from, &end, 10);
    *at = end;
    return true;
}

bool procfs_number(const char *text, const char *name, uint64_t *number)
{
    const char *at = proc_line(text, name);
    return at != NULL && take_number(&at, number);
}

static bool take_real(const char **at, double *number)
{
    char *end;
    const char *from = *at + strspn(*at, " \t");
    if (!isdigit((unsigned char)*from))
        return false;
    double value = strtod(from, &end);
    if (!isfinite(value) || value > LOAD_MAX)
        return false;
    *number = value;
    *at = end;
    return true;
}

/* ---- /proc/stat ---- */

enum {
    STAT_USER,
    STAT_NICE,
    STAT_SYSTEM,
    STAT_IDLE,
    STAT_IOWAIT,
    STAT_IRQ,
    STAT_SOFTIRQ,
    STAT_STEAL,
    STAT_FIELDS
};

bool procfs_stat(const char *text, struct procfs_stat *stat)
{
    const char *at = proc_line(text, "cpu");
    struct procfs_stat s = {.busy = 0};
    for (int i = 0; at != NULL && i < STAT_FIELDS; i++) {
        uint64_t ticks;
        if (!take_number(&at, &ticks))
            break;
        if (ticks > UINT64_MAX - s.total)
            return false;
        s.total += ticks;
        s.busy += i == STAT_IDLE || i == STAT_IOWAIT ? 0 : ticks;
        s.interrupting += i == STAT_IRQ || i == STAT_SOFTIRQ ? ticks : 0;
    }
    s.has_interrupts = procfs_number(text, "intr", &s.interrupts);
    s.has_switches = procfs_number(text, "ctxt", &s.switches);
    s.has_running = procfs_number(text, "procs_running", &s.running);
    if (s.total == 0)
        return false;
    *stat = s;
    return true;
}

/* ---- /proc/meminfo ---- */

static bool take_kilobytes(const char *text, const char *name, uint64_t *bytes)
{
    uint64_t kilobytes;
    if (!procfs_number(text, name, &kilobytes) || kilobytes > UINT64_MAX / 1024)
        return false;
    *bytes = kilobytes * 1024;
    return true;
}

/* Kernels before 3.14 do not say what is available. */
static bool sum_free(const char *text, uint64_t *bytes)
{
    uint64_t unused, buffers = 0, cached = 0;
    if (!take_kilobytes(text, "MemFree:", &unused))
        return false;
    take_kilobytes(text, "Buffers:", &buffers);
    take_kilobytes(text, "Cached:", &cached);
    *bytes = unused + buffers + cached;
    return true;
}

bool procfs_memory(const char *text, uint64_t *total, uint64_t *free_bytes)
{
    uint64_t all, available;
    if (!take_kilobytes(text, "MemTotal:", &all) || all == 0 ||
        (!take_kilobytes(text, "MemAvailable:", &available) && !sum_free(text, &available)))
        return false;
    *total = all;
    *free_bytes = available < all ? available : all;
    return true;
}

/* ---- /proc/loadavg and pressure ---- */

bool procfs_load(const char *text, double load[3], uint64_t *running)
{
    double l[3];
    uint64_t now;
    const char *at = text;
    for (int i = 0; i < 3; i++)
        if (!take_real(&at, &l[i]))
            return false;
    if (!take_number(&at, &now))
        return false;
    memcpy(load, l, sizeof l);
    *running = now;
    return true;
}

bool procfs_pressure(const char *text, double *some)
{
    static const char name[] = "avg10=";
    double percent;
    const char *at = proc_line(text, "some");
    if (at == NULL)
        return false;
    at += strspn(at, " \t");
    if (strncmp(at, name, sizeof name - 1) != 0)
        return false;
    at += sizeof name - 1;
    if (!take_real(&at, &percent) || percent > 100)
        return false;
    *some = percent / 100;
    return true;
}

/* ---- /proc/net/dev ---- */

enum { NET_RECEIVED = 0, NET_SENT = 8 };

/* Adds two numbers of a line, by their places in it, to sums. */
static bool take_pair(const char *at, int first, int second, uint64_t *a, uint64_t *b)
{
    uint64_t field = 0, earlier = 0;
    for (int i = 0; i <= second; i++) {
        if (!take_number(&at, &field))
            return false;
        earlier = i == first ? field : earlier;
    }
    *a += earlier;
    *b += field;
    return true;
}

bool procfs_network(const char *text, uint64_t *received, uint64_t *sent)
{
    uint64_t in = 0, out = 0;
    bool any = false;
    for (; *text != '\0'; text = line_next(text)) {
        const char *name = text + strspn(text, " \t");
        size_t size = strcspn(name, ":\n");
        if (name[size] != ':')
            continue;
        if (size == 2 && strncmp(name, "lo", 2) == 0)
            any = true; /* a host with nothing else is idle, not unknown */
        else
            any = take_pair(name + size + 1, NET_RECEIVED, NET_SENT, &in, &out) || any;
    }
    if (!any)
        return false;
    *received = in;
    *sent = out;
    return true;
}

/* ---- /proc/diskstats ---- */

static bool begins(const char *name, size_t size, const char *word)
{
    return size > strlen(word) && strncmp(name, word, strlen(word)) == 0;
}

/* sda and not sda1, nvme0n1 and not nvme0n1p1 */
static bool is_whole_disk(const char *name, size_t size)
{
    static const char *const letters[] = {"sd", "hd", "vd", "xvd"};
    static const char *const numbers[] = {"nvme", "mmcblk", "nbd"};
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (begins(name, size, letters[i]))
            return !isdigit((unsigned char)name[size - 1]);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        size_t word = strlen(numbers[i]);
        if (begins(name, size, numbers[i]))
            return memchr(name + word, 'p', size - word) == NULL;
    }
    return false;
}

enum { DISK_READ = 2, DISK_WRITTEN = 6, DISK_BUSY_MS = 9 };

bool procfs_disks(const char *text, struct procfs_disks *disks)
{
    uint64_t in = 0, out = 0, busy_ms = 0, unused = 0, major, minor;
    bool any = false;
    for (; *text != '\0'; text = line_next(text)) {
        const char *at = text;
        if (!take_number(&at, &major) || !take_number(&at, &minor))
            continue;
        const char *name = at + strspn(at, " \t");
        size_t size = strcspn(name, " \t\n");
        if (!is_whole_disk(name, size) ||
            !take_pair(name + size, DISK_READ, DISK_WRITTEN, &in, &out))
            continue;
        any = true;
        take_pair(name + size, DISK_READ, DISK_BUSY_MS, &unused, &busy_ms);
    }
    if (!any)
        return false;
    *disks = (struct procfs_disks){
        .read = in * SECTOR_BYTES, .written = out * SECTOR_BYTES, .busy_ms = busy_ms};
    return true;
}

/* ---- /proc/PID/stat ---- */

enum { PROCESS_STATE = 3, PROCESS_USER = 14, PROCESS_SYSTEM, PROCESS_PAGES = 24 };

/* The name of the program stands in brackets and may have brackets and blanks of its own. */
bool procfs_process(const char *text, uint64_t *ticks, uint64_t *pages)
{
    uint64_t user = 0, system = 0, held = 0;
    const char *at = strrchr(text, ')');
    if (at == NULL)
        return false;
    for (int field = PROCESS_STATE; field <= PROCESS_PAGES; field++) {
        at = strchr(at, ' ');
        if (at == NULL)
            return false;
        const char *from = at++;
        if ((field == PROCESS_USER && !take_number(&from, &user)) ||
            (field == PROCESS_SYSTEM && !take_number(&from, &system)) ||
            (field == PROCESS_PAGES && !take_number(&from, &held)))
            return false;
    }
    *ticks = user + system;
    *pages = held;
    return true;
}
