/*
 * cgroup.c - limits of control groups, of both versions, for a machine may have either or both. A
 * group is limited by its own numbers and by those of every group above it: the tightest counts.
 */
#include "daemon/base/cgroup.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOT "/sys/fs/cgroup"

/* What the two versions call a limit, what is used of it, and what of that can be taken back. */
struct files {
    const char *controller, *limit, *used, *cache;
};

static const struct files memory[] = {
    {"memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
    {"", "memory.max", "memory.current", "inactive_file"}};
static const struct files pids[] = {{"pids", "pids.max", "pids.current", NULL},
                                    {"", "pids.max", "pids.current", NULL}};

static bool read_number(const char *directory, const char *file, uint64_t *value)
{
    char path[PATH_MAX + 64];
    unsigned long long number;
    snprintf(path, sizeof path, "%s/%s", directory, file);
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return false;
    bool good = fscanf(in, "%llu", &number) == 1; /* "max" is no number: no limit */
    fclose(in);
    if (good)
        *value = number;
    return good;
}

static uint64_t read_cache(const char *directory, const char *name)
{
    char path[PATH_MAX + 32], word[64];
    unsigned long long number, cache = 0;
    snprintf(path, sizeof path, "%s/memory.stat", directory);
    FILE *in = name == NULL ? NULL : fopen(path, "re");
    if (in == NULL)
        return 0;
    while (fscanf(in, "%63s %llu", word, &number) == 2)
        if (strcmp(word, name) == 0)
            cache = number;
    fclose(in);
    return cache;
}

/* What the tightest group leaves, and where that group is; zeroed: no group limits. */
struct tightest {
    bool known;
    uint64_t left;
    char directory[PATH_MAX];
};

/* The group's directory and all above it. */
static void climb(char *directory, size_t root, const struct files *files, struct tightest *found)
{
    for (;;) {
        uint64_t limit, used;
        if (read_number(directory, files->limit, &limit) &&
            read_number(directory, files->used, &used) && limit < (uint64_t)LLONG_MAX / 2) {
            uint64_t cache = read_cache(directory, files->cache);
            uint64_t busy = used > cache ? used - cache : 0;
            uint64_t left = limit > busy ? limit - busy : 0;
            if (!found->known || left < found->left) {
                found->left = left;
                snprintf(found->directory, sizeof found->directory, "%s", directory);
            }
            found->known = true;
        }
        char *slash = strrchr(directory, '/');
        if (strlen(directory) <= root || slash == NULL)
            return;
        *slash = '\0';
    }
}

static bool has_word(const char *list, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += size)
        if ((at == list || at[-1] == ',') && (at[size] == ',' || at[size] == '\0'))
            return true;
    return false;
}

/* A line of /proc/self/cgroup: NUMBER:CONTROLLERS:PATH. */
static void line_consider(char *line, const struct files *files, struct tightest *found)
{
    char directory[PATH_MAX];
    line[strcspn(line, "\n")] = '\0';
    strsep(&line, ":");
    const char *controllers = strsep(&line, ":");
    if (line == NULL || controllers == NULL)
        return;
    bool second = controllers[0] == '\0';
    files = second ? &files[1] : &files[0];
    if (!second && !has_word(controllers, files->controller))
        return;
    int root =
        snprintf(directory, sizeof directory, "%s%s%s", ROOT, second ? "" : "/", files->controller);
    snprintf(directory + root, sizeof directory - (size_t)root, "%s", line);
    climb(directory, (size_t)root, files, found);
}

static bool group_find(const struct files *files, struct tightest *found)
{
    FILE *in = fopen("/proc/self/cgroup", "re");
    char *line = NULL;
    size_t size = 0;
    *found = (struct tightest){.known = false};
    while (in != NULL && getline(&line, &size, in) > 0)
        line_consider(line, files, found);
    free(line);
    if (in != NULL)
        fclose(in);
    return found->known;
}

static bool group_left(const struct files *files, uint64_t *left)
{
    struct tightest found;
    if (!group_find(files, &found))
        return false;
    *left = found.left;
    return true;
}

bool cgroup_memory_left(uint64_t *bytes)
{
    return group_left(memory, bytes);
}

bool cgroup_pids_left(uint64_t *count)
{
    return group_left(pids, count);
}

bool cgroup_memory_group(char *directory, size_t size)
{
    struct tightest found;
    return group_find(memory, &found) &&
           (size_t)snprintf(directory, size, "%s", found.directory) < size;
}

/* ---- processors ---- */

/* What a group may use of each period, in microseconds. */
static bool read_quota(const char *directory, bool second, uint64_t *quota, uint64_t *period)
{
    char path[PATH_MAX + 32];
    unsigned long long most, each;
    if (!second)
        return read_number(directory, "cpu.cfs_quota_us", quota) && *quota < (uint64_t)LLONG_MAX &&
               read_number(directory, "cpu.cfs_period_us", period) && *period > 0;
    snprintf(path, sizeof path, "%s/cpu.max", directory);
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return false;
    bool good = fscanf(in, "%llu %llu", &most, &each) == 2 && each > 0; /* "max": no limit */
    fclose(in);
    if (good)
        *quota = most;
    if (good)
        *period = each;
    return good;
}

/* Takes note of a group if it limits more than what was found so far. */
static void cpu_consider(struct cgroup_cpu *group, const char *directory, size_t root, bool second)
{
    uint64_t quota, period;
    size_t length = strlen(directory) + 1;
    if (!read_quota(directory, second, &quota, &period) || quota == 0 ||
        length > sizeof group->directory)
        return;
    double cores = (double)quota / (double)period;
    if (group->cores > 0 && cores >= group->cores)
        return;
    group->cores = cores;
    group->period_us = period;
    memcpy(group->directory, directory, length);
    int size = snprintf(group->usage, sizeof group->usage, ROOT "/cpuacct%s/cpuacct.usage",
                        directory + root);
    if (second || size < 0 || (size_t)size >= sizeof group->usage || access(group->usage, R_OK))
        group->usage[0] = '\0';
}

static void cpu_climb(struct cgroup_cpu *group, const char *path, bool second)
{
    char directory[PATH_MAX];
    int root = snprintf(directory, sizeof directory, "%s%s", ROOT, second ? "" : "/cpu");
    snprintf(directory + root, sizeof directory - (size_t)root, "%s", path);
    for (;;) {
        cpu_consider(group, directory, (size_t)root, second);
        char *slash = strrchr(directory, '/');
        if (strlen(directory) <= (size_t)root || slash == NULL)
            return;
        *slash = '\0';
    }
}

bool cgroup_cpu_find(struct cgroup_cpu *group)
{
    FILE *in = fopen("/proc/self/cgroup", "re");
    char *line = NULL;
    size_t size = 0;
    *group = (struct cgroup_cpu){.cores = 0};
    while (in != NULL && getline(&line, &size, in) > 0) {
        char *rest = line;
        line[strcspn(line, "\n")] = '\0';
        strsep(&rest, ":");
        const char *controllers = strsep(&rest, ":");
        bool second = controllers != NULL && controllers[0] == '\0';
        if (rest != NULL && (second || has_word(controllers, "cpu")))
            cpu_climb(group, rest, second);
    }
    free(line);
    if (in != NULL)
        fclose(in);
    return group->cores > 0;
}
