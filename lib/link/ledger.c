/*
 * ledger.c - the page by which the daemon tells a task how far it is. A task under an emulator may
 * have another byte order than the daemon: it sees so by the format, and turns the numbers round.
 */
#include "lib/link/ledger.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT 0x4c656401u /* struct ledger_page, version 1 */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)

struct ledger_page {
    uint32_t format;
    _Alignas(64) _Atomic uint64_t queued;
    _Alignas(64) _Atomic uint64_t taken;
    _Atomic uint64_t stamp; /* written before `taken` */
};

struct ledger {
    struct ledger_page *page;
    int swapped;
};

static struct ledger *page_map(int fd, int protection)
{
    struct ledger *ledger = calloc(1, sizeof *ledger);
    if (ledger == NULL)
        return NULL;
    ledger->page = mmap(NULL, sizeof *ledger->page, protection, MAP_SHARED, fd, 0);
    if (ledger->page != MAP_FAILED)
        return ledger;
    free(ledger);
    return NULL;
}

struct ledger *ledger_create(int *fd)
{
    int memory = memfd_create("covey-ledger", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    struct ledger *ledger = NULL;
    if (memory < 0)
        return NULL;
    if (ftruncate(memory, sizeof(struct ledger_page)) == 0)
        ledger = page_map(memory, PROT_READ | PROT_WRITE);
    if (ledger == NULL || fcntl(memory, F_ADD_SEALS, SEALS) != 0) {
        ledger_close(ledger);
        close(memory);
        return NULL;
    }
    ledger->page->format = FORMAT;
    *fd = memory;
    return ledger;
}

void ledger_set_queued(struct ledger *ledger, uint64_t bytes)
{
    atomic_store_explicit(&ledger->page->queued, bytes, memory_order_release);
}

void ledger_set_taken(struct ledger *ledger, uint64_t bytes, uint64_t stamp)
{
    atomic_store_explicit(&ledger->page->stamp, stamp, memory_order_release);
    atomic_store_explicit(&ledger->page->taken, bytes, memory_order_release);
}

struct ledger *ledger_open(int fd)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(fd, &st) != 0 ||
        st.st_size != (off_t)sizeof(struct ledger_page))
        return NULL;
    struct ledger *ledger = page_map(fd, PROT_READ);
    if (ledger == NULL)
        return NULL;
    ledger->swapped = ledger->page->format == __builtin_bswap32(FORMAT);
    if (ledger->swapped || ledger->page->format == FORMAT)
        return ledger;
    ledger_close(ledger);
    return NULL;
}

static uint64_t number(const struct ledger *ledger, const _Atomic uint64_t *at)
{
    uint64_t value = atomic_load_explicit(at, memory_order_acquire);
    return ledger->swapped ? __builtin_bswap64(value) : value;
}

uint64_t ledger_queued(const struct ledger *ledger)
{
    return number(ledger, &ledger->page->queued);
}

uint64_t ledger_taken(const struct ledger *ledger)
{
    return number(ledger, &ledger->page->taken);
}

uint64_t ledger_stamp(const struct ledger *ledger)
{
    return number(ledger, &ledger->page->stamp);
}

void ledger_close(struct ledger *ledger)
{
    if (ledger == NULL)
        return;
    munmap(ledger->page, sizeof *ledger->page);
    free(ledger);
}
