/* Limits that a VM would run into: descriptors, processes, memory, processor time. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "daemon/base/cgroup.h"
#include "tools/probe/examine.h"

#define MIB (UINT64_C(1) << 20)
#define FILES_OF_DAEMON 64
#define FILES_A_TASK 5 /* its stream, its output and errors, and descriptors on their way to it */
#define TASKS_EXPECTED 1000
#define PROCESSES_LEAST 256
#define MEMORY_LEAST (256 * MIB)
#define FILE_LEAST (64 * MIB) /* rings of shared memory are files to the kernel */
#define SHM_LEAST (16 * MIB)

static void examine_files(const struct conf *conf)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max == RLIM_INFINITY)
        return;
    uint64_t spare = limit.rlim_max > FILES_OF_DAEMON ? limit.rlim_max - FILES_OF_DAEMON : 0;
    uint64_t wanted = conf->tasks_max < TASKS_EXPECTED ? conf->tasks_max : TASKS_EXPECTED;
    if (spare / FILES_A_TASK < wanted)
        examine_finding("files",
                        "raise the hard limit: ulimit -Hn, or nofile in "
                        "/etc/security/limits.conf",
                        "a process may open %llu files: enough for %llu tasks",
                        (unsigned long long)limit.rlim_max,
                        (unsigned long long)spare / FILES_A_TASK);
}

static void examine_processes(void)
{
    struct rlimit limit;
    uint64_t left;
    if (getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur < PROCESSES_LEAST)
        examine_finding("processes",
                        "raise the limit: ulimit -u, or nproc in "
                        "/etc/security/limits.conf",
                        "the user may have %llu processes and threads",
                        (unsigned long long)limit.rlim_cur);
    if (cgroup_pids_left(&left) && left < PROCESSES_LEAST)
        examine_finding("processes",
                        "raise pids.max of the control group (TasksMax= of systemd, "
                        "--pids-limit of containers)",
                        "the control group allows %llu more processes and threads",
                        (unsigned long long)left);
}

static void examine_limit(int resource, const char *code, const char *what, uint64_t least,
                          const char *remedy)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) == 0 && limit.rlim_cur < least)
        examine_finding(code, remedy, "%s is limited to %llu MiB", what,
                        (unsigned long long)limit.rlim_cur / MIB);
}

static void examine_memory(void)
{
    uint64_t left;
    examine_limit(RLIMIT_AS, "memory", "the address space of a process", 4 * MEMORY_LEAST,
                  "lift the limit: ulimit -v unlimited");
    examine_limit(RLIMIT_DATA, "memory", "the data of a process", MEMORY_LEAST,
                  "lift the limit: ulimit -d unlimited");
    examine_limit(RLIMIT_FSIZE, "file-size", "the size of a file, shared memory included,",
                  FILE_LEAST, "lift the limit: ulimit -f unlimited");
    if (cgroup_memory_left(&left) && left < MEMORY_LEAST)
        examine_finding("memory",
                        "raise memory.max of the control group (MemoryMax= of systemd, "
                        "--memory of containers)",
                        "the control group has %llu MiB of memory left",
                        (unsigned long long)(left / MIB));
}

/* Covey's own rings lie in anonymous memory, but programs of the pool may use /dev/shm. */
static void examine_shm(void)
{
    struct statvfs shm;
    const char *remedy = "mount -o remount,size=50% /dev/shm (--shm-size of containers); or "
                         "remove what fills it";
    if (statvfs("/dev/shm", &shm) != 0) {
        examine_finding("shm", "mount -t tmpfs tmpfs /dev/shm", "there is no /dev/shm: %s",
                        strerror(errno));
        return;
    }
    uint64_t room = (uint64_t)shm.f_bavail * shm.f_frsize;
    if (shm.f_blocks > 0 && room < SHM_LEAST)
        examine_finding("shm", remedy, "/dev/shm has %llu MiB left of %llu",
                        (unsigned long long)(room / MIB),
                        (unsigned long long)((uint64_t)shm.f_blocks * shm.f_frsize / MIB));
}

void examine_limits(const struct conf *conf)
{
    examine_files(conf);
    examine_processes();
    examine_memory();
    examine_shm();
    struct rlimit limit;
    if (getrlimit(RLIMIT_CPU, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        examine_finding("cpu-time", "lift the limit: ulimit -t unlimited",
                        "daemon and tasks are killed after %llu s of processor time each",
                        (unsigned long long)limit.rlim_cur);
}
