/*
 * link_shm.c - the link between two tasks of one host: a pair of rings in memory that both map.
 * The memory has no name, so nothing is left behind; it is sealed, so that neither end can shrink
 * it under the other. Doorbells are eventfds: rung only when the other end said that it sleeps.
 */
#include "lib/link/link.h"
#include "lib/link/peek.h"
#include "lib/link/ring.h"
#include "lib/link/shared_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct shm_memory {
    struct ring_shared to_accepter;
    struct ring_shared to_opener;
    struct peek_shared accepter, opener;
};

_Static_assert(LINK_SHM_WORDS * sizeof(uint64_t) == RING_NOTE_BYTES, "what a note has room for");

struct link_shm {
    struct link base;
    struct shm_memory *memory;
    struct ring out, in;
    struct peek peek;
    int peer_doorbell; /* -1: not connected yet */
};

static struct link_shm *shm_of(struct link *link)
{
    return (struct link_shm *)link;
}

static ssize_t nonsense(struct link *link)
{
    link->error = "the other task damaged the shared ring";
    return LINK_BROKEN;
}

static ssize_t shm_send(struct link *link, const struct iovec *iov, int count)
{
    struct link_shm *shm = shm_of(link);
    bool wake;
    ptrdiff_t taken = ring_write(&shm->out, iov, count, &wake);
    if (taken == 0 && ring_writer_sleeps(&shm->out))
        taken = ring_write(&shm->out, iov, count, &wake);
    if (taken < 0)
        return nonsense(link);
    if (wake)
        doorbell_ring(shm->peer_doorbell);
    return taken;
}

void link_shm_announce(struct link *link, uint64_t stamp)
{
    struct link_shm *shm = shm_of(link);
    bool wake;
    ring_announce(&shm->out, stamp, &wake);
    if (wake)
        doorbell_ring(shm->peer_doorbell);
}

struct peek *link_shm_other_memory(struct link *link)
{
    return &shm_of(link)->peek;
}

void link_shm_nudge(struct link *link)
{
    struct link_shm *shm = shm_of(link);
    bool wake;
    ring_nudge(&shm->out, &wake);
    if (wake && shm->peer_doorbell >= 0)
        doorbell_ring(shm->peer_doorbell);
}

uint64_t link_shm_announced(struct link *link, bool *empty)
{
    struct ring *in = &shm_of(link)->in;
    uint64_t announced = ring_announced(in);
    *empty = announced == 0 && ring_written(in) == in->position;
    return announced;
}

uint64_t link_shm_there_bytes(const struct link *link)
{
    return ring_written(&((const struct link_shm *)link)->in);
}

uint64_t link_shm_read_bytes(const struct link *link)
{
    return ((const struct link_shm *)link)->in.position;
}

bool link_shm_fits(struct link *link, size_t size)
{
    return ring_fits(&shm_of(link)->out, size);
}

size_t link_shm_waiting(struct link *link, size_t wanted)
{
    size_t size = ring_there(&shm_of(link)->in, wanted);
    return size == SIZE_MAX ? 0 : size;
}

bool link_shm_put_words(struct link *link, const uint64_t *words, size_t count)
{
    struct link_shm *shm = shm_of(link);
    bool wake;
    if (!ring_write_words(&shm->out, words, count, &wake))
        return false;
    if (wake)
        doorbell_ring(shm->peer_doorbell);
    return true;
}

const uint64_t *link_shm_noted(const struct link *link, size_t *size)
{
    return ring_noted(&((const struct link_shm *)link)->in, size);
}

void link_shm_peek(const struct link *link, size_t offset, void *bytes, size_t size)
{
    ring_peek(&((const struct link_shm *)link)->in, offset, bytes, size);
}

void link_shm_skip(struct link *link, size_t size)
{
    struct link_shm *shm = shm_of(link);
    bool wake;
    ring_skip(&shm->in, size, &wake);
    if (wake && shm->peer_doorbell >= 0)
        doorbell_ring(shm->peer_doorbell);
}

static ssize_t shm_recv(struct link *link, void *bytes, size_t size)
{
    struct link_shm *shm = shm_of(link);
    bool wake;
    ptrdiff_t n = ring_read(&shm->in, bytes, size, &wake);
    if (n < 0)
        return nonsense(link);
    if (wake && shm->peer_doorbell >= 0)
        doorbell_ring(shm->peer_doorbell);
    return n;
}

static bool shm_arm(struct link *link)
{
    return ring_reader_sleeps(&shm_of(link)->in);
}

bool link_shm_ask(struct link *link)
{
    return ring_reader_asks(&shm_of(link)->in);
}

bool link_shm_look(struct link *link, bool barrier)
{
    return ring_reader_looks(&shm_of(link)->in, barrier);
}

void link_shm_awake(struct link *link)
{
    ring_reader_awake(&shm_of(link)->in);
}

static int shm_fd(const struct link *link, bool *write_wanted)
{
    (void)link;
    *write_wanted = false;
    return -1;
}

static int shm_ready(struct link *link)
{
    return shm_of(link)->peer_doorbell >= 0;
}

static void shm_free(struct link *link)
{
    struct link_shm *shm = shm_of(link);
    munmap(shm->memory, sizeof *shm->memory);
    if (shm->peer_doorbell >= 0)
        close(shm->peer_doorbell);
    free(shm);
}

static const struct link_ops shm_ops = {.name = "shm",
                                        .send = shm_send,
                                        .recv = shm_recv,
                                        .arm = shm_arm,
                                        .fd = shm_fd,
                                        .ready = shm_ready,
                                        .free = shm_free};

static struct link_shm *shm_map(int memory_fd)
{
    struct link_shm *shm = calloc(1, sizeof *shm);
    if (shm == NULL)
        return NULL;
    shm->memory = mmap(NULL, sizeof *shm->memory, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
    if (shm->memory == MAP_FAILED) {
        free(shm);
        return NULL;
    }
    shm->base.ops = &shm_ops;
    shm->peer_doorbell = -1;
    return shm;
}

struct link *link_shm_open(int *memory_fd)
{
    int fd = shared_memory_create("covey-ring", sizeof(struct shm_memory));
    if (fd < 0)
        return NULL;
    struct link_shm *shm = shm_map(fd);
    if (shm == NULL) {
        close(fd);
        return NULL;
    }
    ring_begin(&shm->memory->to_accepter);
    ring_begin(&shm->memory->to_opener);
    ring_begin_writer(&shm->out, &shm->memory->to_accepter);
    ring_begin_reader(&shm->in, &shm->memory->to_opener);
    shm->peek.own = &shm->memory->opener;
    shm->peek.other = &shm->memory->accepter;
    *memory_fd = fd;
    return &shm->base;
}

bool link_shm_connect(struct link *link, int peer_doorbell)
{
    if (!doorbell_ok(peer_doorbell))
        return false;
    shm_of(link)->peer_doorbell = peer_doorbell;
    return true;
}

struct link *link_shm_accept(int memory_fd, int peer_doorbell, const char **why)
{
    *why = "its memory is not that of rings";
    if (!shared_memory_ok(memory_fd, sizeof(struct shm_memory)))
        return NULL;
    *why = "its doorbell is no eventfd, or one that may block";
    if (!doorbell_ok(peer_doorbell))
        return NULL;
    struct link_shm *shm = shm_map(memory_fd);
    *why = strerror(errno);
    if (shm == NULL)
        return NULL;
    *why = ring_check(&shm->memory->to_opener);
    if (*why == NULL)
        *why = ring_check(&shm->memory->to_accepter);
    if (*why != NULL) {
        shm_free(&shm->base);
        return NULL;
    }
    ring_begin_writer(&shm->out, &shm->memory->to_opener);
    ring_begin_reader(&shm->in, &shm->memory->to_accepter);
    shm->peek.own = &shm->memory->accepter;
    shm->peek.other = &shm->memory->opener;
    shm->peer_doorbell = peer_doorbell;
    return &shm->base;
}
