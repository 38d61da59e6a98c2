/*
 * peek.c - reading the other end's memory. One system call reads a piece of a message and the nonce
 * with it: the nonce proves whose memory that was.
 */
#include "lib/link/peek.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define STATE_BITS 3

void peek_tell(struct peek *p)
{
    randombytes_buf(p->nonce, sizeof p->nonce);
    memcpy(p->own->nonce, p->nonce, sizeof p->nonce);
    p->own->nonce_at = (uint64_t)(uintptr_t)p->nonce;
    p->own->pid = (uint64_t)getpid();
}

void peek_try(struct peek *p)
{
    uint64_t pid = p->other->pid;
    const struct control_offer none = {0};
    uint8_t nothing;
    memcpy(p->other_nonce, p->other->nonce, sizeof p->other_nonce);
    p->other_nonce_at = p->other->nonce_at;
    p->other_pid = pid <= INT32_MAX ? (int32_t)pid : 0;
    if (!peek_read(p, &none, 0, &nothing, 0))
        p->other_pid = 0;
    atomic_store_explicit(&p->own->reads, p->other_pid != 0, memory_order_release);
}

bool peek_may_offer(const struct peek *p)
{
    return atomic_load_explicit(&p->other->reads, memory_order_acquire) != 0;
}

uint32_t peek_advised(const struct peek *p)
{
    return atomic_load_explicit(&p->other->advice, memory_order_relaxed);
}

void peek_advise(struct peek *p, uint32_t advice)
{
    atomic_store_explicit(&p->own->advice, advice, memory_order_relaxed);
}

/* ---- offers ---------------------------------------------------------------------------------- */

static uint64_t word(uint64_t number, enum peek_state state)
{
    return number << STATE_BITS | state;
}

static bool change(struct peek_shared *whose, uint64_t number, enum peek_state from,
                   enum peek_state to)
{
    uint64_t expected = word(number, from);
    return atomic_compare_exchange_strong_explicit(&whose->state, &expected, word(number, to),
                                                   memory_order_acq_rel, memory_order_acquire);
}

uint64_t peek_offer(struct peek *p)
{
    p->number++;
    atomic_store_explicit(&p->own->copied, 0, memory_order_relaxed);
    atomic_store_explicit(&p->own->state, word(p->number, PEEK_OFFERED), memory_order_release);
    return p->number;
}

enum peek_state peek_look(const struct peek *p, uint64_t *copied)
{
    uint64_t seen = atomic_load_explicit(&p->own->state, memory_order_acquire);
    uint64_t state = seen & ((1u << STATE_BITS) - 1);
    *copied = atomic_load_explicit(&p->own->copied, memory_order_relaxed);
    if (seen >> STATE_BITS != p->number || state > PEEK_BACK)
        return PEEK_NONE;
    return (enum peek_state)state;
}

bool peek_take_back(struct peek *p)
{
    return change(p->own, p->number, PEEK_OFFERED, PEEK_BACK);
}

void peek_revoke(struct peek *p)
{
    atomic_store_explicit(&p->own->state, word(p->number, PEEK_BACK), memory_order_release);
}

bool peek_take(struct peek *p, uint64_t number)
{
    return change(p->other, number, PEEK_OFFERED, PEEK_TAKEN);
}

void peek_copied(struct peek *p, uint64_t bytes)
{
    atomic_store_explicit(&p->other->copied, bytes, memory_order_release);
}

bool peek_done(struct peek *p, uint64_t number)
{
    return change(p->other, number, PEEK_TAKEN, PEEK_DONE);
}

void peek_refuse(struct peek *p, uint64_t number)
{
    change(p->other, number, PEEK_TAKEN, PEEK_REFUSED);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool remote(struct iovec *iov, uint64_t address, uint64_t size)
{
    if (address > UINTPTR_MAX || size > SIZE_MAX)
        return false;
    *iov = (struct iovec){(void *)(uintptr_t)address, (size_t)size};
    return true;
}

bool peek_read(const struct peek *p, const struct control_offer *offer, uint64_t offset, void *to,
               size_t size)
{
    uint8_t nonce[PEEK_NONCE_BYTES];
    struct iovec here[2] = {{nonce, sizeof nonce}, {to, size}}, there[1 + OFFER_PIECES_MAX];
    size_t left = size;
    int n = 0;
    assert(offer->count <= OFFER_PIECES_MAX);
    if (p->other_pid <= 0 || !remote(&there[n++], p->other_nonce_at, sizeof nonce))
        return false;
    for (int i = 0; i < offer->count && left > 0; i++) {
        const struct offer_piece *piece = &offer->pieces[i];
        if (offset >= piece->size) {
            offset -= piece->size;
            continue;
        }
        uint64_t part = piece->size - offset < left ? piece->size - offset : left;
        if (!remote(&there[n++], piece->address + offset, part))
            return false;
        left -= (size_t)part;
        offset = 0;
    }
    ssize_t got = left > 0 ? -1
                           : process_vm_readv(p->other_pid, here, size > 0 ? 2 : 1, there,
                                              (unsigned long)n, 0);
    return got == (ssize_t)(sizeof nonce + size) &&
           memcmp(nonce, p->other_nonce, sizeof nonce) == 0;
}
