/*
 * raw_shm.c - a raw program over shared memory: one buffer in each direction, and a futex that
 * wakes the receiver. It is the least that two tasks of one host need.
 */
#include "tools/bench/tasks/raw_shm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tools/bench/tasks/clock.h"

#define WAIT_S 10
#define LOOKS 64 /* between two looks at the clock */

/* The counters of one direction: a message is there while they differ. */
struct direction {
    _Alignas(64) _Atomic uint32_t sent;
    _Atomic uint32_t asleep; /* the receiver waits in the kernel */
    _Alignas(64) _Atomic uint32_t taken;
};

struct raw_shm {
    int fd;
    size_t bytes_max;
    size_t mapped;
    struct direction *out, *in;
    unsigned char *out_bytes, *in_bytes;
};

static size_t whole_pages(size_t size)
{
    return (size + 4095) / 4096 * 4096;
}

static void set_directions(struct raw_shm *shm, void *memory, bool maker)
{
    struct direction *directions = memory;
    unsigned char *bytes = (unsigned char *)memory + 4096;
    size_t room = whole_pages(shm->bytes_max);
    shm->out = &directions[maker ? 0 : 1];
    shm->in = &directions[maker ? 1 : 0];
    shm->out_bytes = bytes + (maker ? 0 : room);
    shm->in_bytes = bytes + (maker ? room : 0);
}

static int map(struct raw_shm *shm, bool maker)
{
    shm->mapped = 4096 + 2 * whole_pages(shm->bytes_max);
    if (shm->fd < 0 || (maker && ftruncate(shm->fd, (off_t)shm->mapped) != 0))
        return -1;
    int flags = MAP_SHARED | MAP_POPULATE;
    void *memory = mmap(NULL, shm->mapped, PROT_READ | PROT_WRITE, flags, shm->fd, 0);
    if (memory == MAP_FAILED)
        return -1;
    set_directions(shm, memory, maker);
    return 0;
}

struct raw_shm *raw_shm_open(size_t bytes_max, const char *endpoint)
{
    struct raw_shm *shm = calloc(1, sizeof *shm);
    if (!shm)
        return NULL;
    shm->bytes_max = bytes_max;
    shm->fd = endpoint ? open(endpoint, O_RDWR | O_CLOEXEC) : memfd_create("bench", MFD_CLOEXEC);
    if (map(shm, !endpoint) == 0)
        return shm;
    int error = errno;
    if (shm->fd >= 0)
        close(shm->fd);
    free(shm);
    errno = error;
    return NULL;
}

void raw_shm_endpoint(const struct raw_shm *shm, char *endpoint, size_t size)
{
    snprintf(endpoint, size, "/proc/%ld/fd/%d", (long)getpid(), shm->fd);
}

static long futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    const struct timespec timeout = {.tv_sec = WAIT_S};
    return syscall(SYS_futex, word, operation, value, &timeout, NULL, 0);
}

void raw_shm_copy_in(struct raw_shm *shm, const void *bytes, size_t size)
{
    memcpy(shm->out_bytes, bytes, size);
}

void raw_shm_copy_out(struct raw_shm *shm, void *bytes, size_t size)
{
    memcpy(bytes, shm->out_bytes, size);
}

int raw_shm_send(struct raw_shm *shm, const void *bytes, size_t size)
{
    struct direction *out = shm->out;
    memcpy(shm->out_bytes, bytes, size);
    atomic_fetch_add(&out->sent, 1);
    if (atomic_load(&out->asleep) && futex(&out->sent, FUTEX_WAKE, 1) < 0)
        return -1;
    return 0;
}

static bool has_come(const struct direction *in)
{
    uint32_t taken = atomic_load_explicit(&in->taken, memory_order_relaxed);
    return atomic_load_explicit(&in->sent, memory_order_acquire) != taken;
}

static bool look_for_bytes(const struct direction *in, uint64_t spin_ns)
{
    uint64_t end_ns = clock_ns() + spin_ns;
    do {
        for (int i = 0; i < LOOKS; i++) {
            if (has_come(in))
                return true;
        }
    } while (clock_ns() < end_ns);
    return false;
}

static int wait_in_kernel(struct direction *in)
{
    int failed = 0;
    atomic_store(&in->asleep, 1);
    while (!has_come(in) && !failed) {
        uint32_t seen = atomic_load(&in->taken);
        failed = futex(&in->sent, FUTEX_WAIT, seen) != 0 && errno != EAGAIN && errno != EINTR;
    }
    atomic_store(&in->asleep, 0);
    return failed ? -1 : 0;
}

int raw_shm_receive(struct raw_shm *shm, void *bytes, size_t size, uint64_t spin_ns)
{
    struct direction *in = shm->in;
    bool come = spin_ns > 0 ? look_for_bytes(in, spin_ns) : has_come(in);
    if (!come && wait_in_kernel(in) != 0)
        return -1;
    memcpy(bytes, shm->in_bytes, size);
    atomic_fetch_add_explicit(&in->taken, 1, memory_order_release);
    return 0;
}

void raw_shm_close(struct raw_shm *shm)
{
    if (!shm)
        return;
    struct direction *first = shm->out < shm->in ? shm->out : shm->in;
    munmap(first, shm->mapped);
    close(shm->fd);
    free(shm);
}
