/*
 * packet_ways_xdp.c - see packet_ways_xdp.h.
 *
 * A socket has chunks of one page: the first half is for what is received, the other for what is
 * sent. A frame that is longer lies in several, which needs XDP_USE_SG. The rings are the kernel's:
 * one side produces, the other consumes; both counters run on and wrap.
 */
#include "tests/bench/packet_ways_xdp.h"

#include <arpa/inet.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <linux/if_xdp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef XDP_USE_SG /* headers of Linux 6.5 and before */
#define XDP_USE_SG (1 << 4)
#define XDP_PKT_CONTD (1 << 0)
#endif

enum { CHUNK_BYTES = 4096, RING_SLOTS = 1024, CALL_FRAMES = 32 };

struct xdp_ring {
    uint32_t *producer, *consumer;
    void *slots; /* struct xdp_desc, or uint64_t in those of free and of sent chunks */
};

struct xdp_socket {
    int fd;
    uint8_t *chunks;
    struct xdp_ring in, out, to_fill, sent;
    uint32_t put, done, frames; /* chunks put and sent, frames since the last call */
};

static uint32_t load(const uint32_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

static void store(uint32_t *counter, uint32_t value)
{
    __atomic_store_n(counter, value, __ATOMIC_RELEASE);
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static bool ring_map(struct xdp_ring *r, int fd, const struct xdp_ring_offset *at,
                     size_t slot_bytes, uint64_t page)
{
    uint8_t *memory = mmap(NULL, at->desc + RING_SLOTS * slot_bytes, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_POPULATE, fd, (off_t)page);
    if (memory == MAP_FAILED)
        return false;
    r->producer = (void *)(memory + at->producer);
    r->consumer = (void *)(memory + at->consumer);
    r->slots = memory + at->desc;
    return true;
}

static bool rings_size(int fd)
{
    static const int options[] = {XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING,
                                  XDP_TX_RING};
    const int slots = RING_SLOTS;
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (setsockopt(fd, SOL_XDP, options[i], &slots, sizeof slots) != 0)
            return false;
    return true;
}

static bool rings_map(struct xdp_socket *x)
{
    struct xdp_mmap_offsets at;
    socklen_t size = sizeof at;
    return getsockopt(x->fd, SOL_XDP, XDP_MMAP_OFFSETS, &at, &size) == 0 &&
           ring_map(&x->in, x->fd, &at.rx, sizeof(struct xdp_desc), XDP_PGOFF_RX_RING) &&
           ring_map(&x->out, x->fd, &at.tx, sizeof(struct xdp_desc), XDP_PGOFF_TX_RING) &&
           ring_map(&x->to_fill, x->fd, &at.fr, 8, XDP_UMEM_PGOFF_FILL_RING) &&
           ring_map(&x->sent, x->fd, &at.cr, 8, XDP_UMEM_PGOFF_COMPLETION_RING);
}

static const char *set_up(struct xdp_socket *x, unsigned interface)
{
    const size_t bytes = (size_t)2 * RING_SLOTS * CHUNK_BYTES;
    struct sockaddr_xdp at = {.sxdp_family = AF_XDP, .sxdp_ifindex = interface};
    at.sxdp_flags = XDP_COPY | XDP_USE_SG;
    if ((x->fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0)) < 0)
        return "socket(AF_XDP)";
    x->chunks = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (x->chunks == MAP_FAILED)
        return "mmap()";
    struct xdp_umem_reg memory = {.addr = (uintptr_t)x->chunks, .len = bytes};
    memory.chunk_size = CHUNK_BYTES;
    if (setsockopt(x->fd, SOL_XDP, XDP_UMEM_REG, &memory, sizeof memory) != 0)
        return "XDP_UMEM_REG";
    if (!rings_size(x->fd) || !rings_map(x))
        return "its rings";
    for (uint32_t i = 0; i < RING_SLOTS; i++)
        ((uint64_t *)x->to_fill.slots)[i] = (uint64_t)i * CHUNK_BYTES;
    store(x->to_fill.producer, RING_SLOTS);
    return bind(x->fd, (struct sockaddr *)&at, sizeof at) != 0 ? "bind()" : NULL;
}

struct xdp_socket *xdp_socket_open(unsigned interface, const char **what)
{
    struct xdp_socket *x = calloc(1, sizeof *x);
    *what = x == NULL ? "calloc()" : set_up(x, interface);
    return *what == NULL ? x : NULL;
}

/* ---- the program ----------------------------------------------------------------------------- */

#define INSN(c, dst, src, o, i)                                                                    \
    ((struct bpf_insn){.code = (c), .dst_reg = (dst), .src_reg = (src), .off = (o), .imm = (i)})
#define LOAD(size, dst, src, at) INSN(BPF_LDX | (size) | BPF_MEM, dst, src, at, 0)
#define SET(dst, value) INSN(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, value)

static int bpf(int command, union bpf_attr *a)
{
    return (int)syscall(SYS_bpf, command, a, sizeof *a);
}

static int map_create(const struct xdp_socket *x)
{
    union bpf_attr a = {.map_type = BPF_MAP_TYPE_XSKMAP, .key_size = 4, .value_size = 4};
    a.max_entries = 1;
    int map = bpf(BPF_MAP_CREATE, &a);
    if (map < 0 || x == NULL)
        return map;
    const uint32_t queue = 0;
    union bpf_attr element = {.map_fd = (uint32_t)map};
    element.key = (uintptr_t)&queue;
    element.value = (uintptr_t)&x->fd;
    return bpf(BPF_MAP_UPDATE_ELEM, &element) == 0 ? map : -1;
}

static int program_load(int map, uint16_t type)
{
    const struct bpf_insn code[] = {
        LOAD(BPF_W, 2, 1, offsetof(struct xdp_md, data)),
        LOAD(BPF_W, 3, 1, offsetof(struct xdp_md, data_end)),
        INSN(BPF_ALU64 | BPF_MOV | BPF_X, 4, 2, 0, 0),
        INSN(BPF_ALU64 | BPF_ADD | BPF_K, 4, 0, 0, 14),
        INSN(BPF_JMP | BPF_JGT | BPF_X, 4, 3, 8, 0), /* too short */
        LOAD(BPF_H, 5, 2, 12),
        INSN(BPF_JMP | BPF_JNE | BPF_K, 5, 0, 6, htons(type)),
        LOAD(BPF_W, 2, 1, offsetof(struct xdp_md, rx_queue_index)),
        INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map),
        INSN(0, 0, 0, 0, 0),
        SET(3, XDP_PASS),
        INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map),
        INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
        SET(0, XDP_PASS),
        INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
    };
    union bpf_attr a = {.prog_type = BPF_PROG_TYPE_XDP};
    a.insn_cnt = sizeof code / sizeof code[0];
    a.insns = (uintptr_t)code;
    a.license = (uintptr_t) "none";
    a.prog_flags = BPF_F_XDP_HAS_FRAGS;
    return bpf(BPF_PROG_LOAD, &a);
}

bool xdp_attach(const struct xdp_socket *x, unsigned interface, uint16_t type, bool generic,
                const char **what)
{
    union bpf_attr a = {0};
    *what = "BPF_MAP_CREATE";
    int map = map_create(x);
    if (map < 0)
        return false;
    *what = "BPF_PROG_LOAD";
    int program = program_load(map, type);
    if (program < 0)
        return false;
    *what = "BPF_LINK_CREATE";
    a.link_create.prog_fd = (uint32_t)program;
    a.link_create.target_ifindex = interface;
    a.link_create.attach_type = BPF_XDP;
    a.link_create.flags = generic ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE;
    return bpf(BPF_LINK_CREATE, &a) >= 0;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static void chunk_put(struct xdp_socket *x, uint32_t size, bool last)
{
    struct xdp_desc *slot = (struct xdp_desc *)x->out.slots + x->put % RING_SLOTS;
    uint64_t at = (uint64_t)(RING_SLOTS + x->put % RING_SLOTS) * CHUNK_BYTES;
    *slot = (struct xdp_desc){.addr = at, .len = size, .options = last ? 0 : XDP_PKT_CONTD};
    store(x->out.producer, ++x->put);
}

static uint8_t *chunk_free(struct xdp_socket *x)
{
    while (x->put - x->done == RING_SLOTS) {
        xdp_socket_flush(x);
        uint32_t sent = load(x->sent.producer);
        x->done = sent;
        store(x->sent.consumer, sent);
    }
    return x->chunks + (size_t)(RING_SLOTS + x->put % RING_SLOTS) * CHUNK_BYTES;
}

void xdp_socket_put(struct xdp_socket *x, const struct iovec *pieces, size_t count)
{
    uint8_t *chunk = chunk_free(x);
    uint32_t filled = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0, n; at < pieces[i].iov_len; at += n, filled += (uint32_t)n) {
            if (filled == CHUNK_BYTES) {
                chunk_put(x, filled, false);
                chunk = chunk_free(x);
                filled = 0;
            }
            n = pieces[i].iov_len - at;
            n = n < CHUNK_BYTES - filled ? n : CHUNK_BYTES - filled;
            memcpy(chunk + filled, (const uint8_t *)pieces[i].iov_base + at, n);
        }
    chunk_put(x, filled, true);
    if (++x->frames == CALL_FRAMES)
        xdp_socket_flush(x);
}

/* A call sends some frames, and more calls the others. */
void xdp_socket_flush(struct xdp_socket *x)
{
    while (load(x->out.consumer) != x->put)
        sendto(x->fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
    x->done = load(x->sent.producer);
    store(x->sent.consumer, x->done);
    x->frames = 0;
}

size_t xdp_socket_take(struct xdp_socket *x, void *begin, size_t room)
{
    uint32_t at = *x->in.consumer, fill = *x->to_fill.producer;
    size_t size = 0;
    for (bool more = at != load(x->in.producer); more;) {
        const struct xdp_desc *slot = (struct xdp_desc *)x->in.slots + at % RING_SLOTS;
        if (size == 0)
            memcpy(begin, x->chunks + slot->addr, slot->len < room ? slot->len : room);
        size += slot->len;
        more = (slot->options & XDP_PKT_CONTD) != 0;
        ((uint64_t *)x->to_fill.slots)[fill++ % RING_SLOTS] =
            slot->addr / CHUNK_BYTES * CHUNK_BYTES;
        store(x->in.consumer, ++at);
    }
    store(x->to_fill.producer, fill);
    return size;
}
