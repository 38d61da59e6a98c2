/*
 * Packet sockets of tasks. What a task holds is a socket bound to the interface of the raw link,
 * with a filter that passes frames of our EtherType, for this host's MAC, of the task's channel
 * (its tid) and of this VM: so of two tasks, or of two VMs of one host, none reads the other's. The
 * filter is locked: whoever holds the socket can neither change it nor take it off, whatever else
 * it does to the socket, and even if it binds it to another interface or to all EtherTypes.
 *
 * The kernel restricts only what is received. Who holds the socket can send what it likes, which is
 * why this is off unless covey.conf asks for it; covey.conf(5) says so. The receive ring is set up
 * by the task: that needs no privilege, and it makes the kernel wait for milliseconds.
 */
#include "daemon/post/direct.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/link/ether.h"
#include "daemon/link/privilege.h"
#include "daemon/link/segment.h"
#include "daemon/table/task.h"
#include "proto/wire/ether.h"

/* Where the filter looks in a frame. */
enum {
    AT_MAC = 0,
    AT_TYPE = 12,
    AT_VERSION = ETHER_LINK_BYTES,
    AT_CHANNEL = ETHER_LINK_BYTES + 4,
    AT_VM = ETHER_LINK_BYTES + ETHER_HEADER_BYTES + 4
};

#define LOAD(size, at) BPF_STMT(BPF_LD | (size) | BPF_ABS, (at))
/* Goes on if it is the value, otherwise to the last statement, `left` statements on. */
#define MUST_BE(value, left) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (left))

struct passed { /* what a frame must have to pass */
    uint32_t mac_high;
    uint16_t mac_low, type;
    uint32_t channel, vm;
};

static int lock_filter(int fd, const struct passed *p)
{
    struct sock_filter code[] = {
        LOAD(BPF_H, AT_TYPE),          MUST_BE(p->type, 11),      LOAD(BPF_W, AT_MAC),
        MUST_BE(p->mac_high, 9),       LOAD(BPF_H, AT_MAC + 4),   MUST_BE(p->mac_low, 7),
        LOAD(BPF_B, AT_VERSION),       MUST_BE(ETHER_VERSION, 5), LOAD(BPF_W, AT_CHANNEL),
        MUST_BE(p->channel, 3),        LOAD(BPF_W, AT_VM),        MUST_BE(p->vm, 1),
        BPF_STMT(BPF_RET, UINT32_MAX), BPF_STMT(BPF_RET, 0),
    };
    const struct sock_fprog filter = {sizeof code / sizeof code[0], code};
    const int on = 1;
    if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) != 0)
        return -1;
    return setsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &on, sizeof on);
}

/* Bound last, so that no frame passes before the filter stands. */
static int bind_to(int fd, const struct nic *nic, uint16_t type)
{
    struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_ifindex = nic->index};
    struct cursor c = cursor_writer(&at.sll_protocol, sizeof at.sll_protocol);
    cursor_put_u16(&c, type);
    return bind(fd, (struct sockaddr *)&at, sizeof at);
}

static struct passed passed_to(const struct daemon *d, const struct task *task)
{
    const struct ether_link *link = segment_link(d);
    struct cursor mac = cursor_reader(ether_nic(link)->mac.bytes, ETHER_MAC_BYTES);
    struct passed p = {.type = ether_type(link), .channel = task->tid, .vm = node_vm(d->node)};
    p.mac_high = cursor_get_u32(&mac);
    p.mac_low = cursor_get_u16(&mac);
    return p;
}

/* A packet socket of no EtherType: it hears nothing yet. */
static int socket_raw(void)
{
    if (privilege_raise_raw() != 0)
        return -1;
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error = errno;
    privilege_lower_raw(false);
    errno = error;
    return fd;
}

int direct_open(struct daemon *d, const struct task *task)
{
    const struct passed passed = passed_to(d, task);
    int fd = socket_raw();
    if (fd >= 0 && lock_filter(fd, &passed) == 0 &&
        bind_to(fd, ether_nic(segment_link(d)), passed.type) == 0)
        return fd;
    log_refused(&d->log, loop_now_us(), "no packet socket for t%x: %s", task->tid, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}
