#include "tests/chaos/census.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int count_entries(pid_t pid, const char *folder)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, folder);
    DIR *d = opendir(path);
    if (d == NULL)
        return -1;
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        count += e->d_name[0] != '.';
    closedir(d);
    return count;
}

/* The number behind `name` in a file of /proc/PID, -1: not there. */
static long number_of(pid_t pid, const char *file, const char *name)
{
    char path[64], line[256];
    long number = -1;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    FILE *f = fopen(path, "re");
    while (f != NULL && number < 0 && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            number = strtol(line + strlen(name), NULL, 10);
    if (f != NULL)
        fclose(f);
    return number;
}

static int count_lines_with(pid_t pid, const char *file, const char *word)
{
    char path[64], line[512];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    FILE *f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        count += strstr(line, word) != NULL;
    if (f != NULL)
        fclose(f);
    return count;
}

static int count_children(pid_t pid)
{
    char path[64];
    int count = 0, child;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *f = fopen(path, "re");
    while (f != NULL && fscanf(f, "%d", &child) == 1)
        count++;
    if (f != NULL)
        fclose(f);
    return count;
}

bool census_take(pid_t pid, struct census *census)
{
    if (!census_alive(pid))
        return false;
    census->rss_kib = number_of(pid, "status", "VmRSS:");
    census->pss_kib = number_of(pid, "smaps_rollup", "Pss:");
    census->descriptors = count_entries(pid, "fd");
    census->rings = count_lines_with(pid, "maps", "covey-ring");
    census->children = count_children(pid);
    return true;
}

void census_print(const struct census *c, char *text)
{
    snprintf(text, 160, "rss %ld KiB, pss %ld KiB, %d descriptors, %d rings, %d children",
             c->rss_kib, c->pss_kib, c->descriptors, c->rings, c->children);
}

pid_t census_daemon(const char *host)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(a.sun_path, sizeof a.sun_path, "%s/covey/%s/%s.sock", getenv("XDG_RUNTIME_DIR"),
             getenv("COVEY_VM"), host);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        peer.pid = 0;
    if (fd >= 0)
        close(fd);
    return peer.pid;
}

bool census_alive(pid_t pid)
{
    char path[64], state = 'X';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return false;
    int n = fscanf(f, "%*d (%*[^)]) %c", &state);
    fclose(f);
    return n == 1 && state != 'Z' && state != 'X';
}
