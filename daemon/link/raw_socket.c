/*
 * Packet sockets. What a daemon or a task holds is a socket bound to the interface of the raw link,
 * with a filter that passes frames of our EtherType alone. The daemon's takes those for this host's
 * MAC or for several, of the channel of daemons. A task's takes those for this host's MAC, of the
 * task's channel (its tid) and of its VM: so of two tasks, or of two VMs of one host, none reads
 * the other's. The filter is locked: whoever holds the socket can neither change it nor take it
 * off, whatever else it does to the socket, and even if it binds it to another interface or to all
 * EtherTypes.
 *
 * The kernel restricts only what is received. Who holds the socket can send what it likes:
 * covey-raw(8) and covey.conf(5) say so. The receive ring is set up by the holder: that needs no
 * privilege, and it makes the kernel wait for milliseconds.
 */
#include "daemon/link/raw_socket.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/link/privilege.h"
#include "proto/wire/ether.h"

/* Where the filters look in a frame. */
enum {
    AT_MAC = 0,
    AT_TYPE = 12,
    AT_VERSION = ETHER_LINK_BYTES,
    AT_CHANNEL = ETHER_LINK_BYTES + 4,
    AT_VM = ETHER_LINK_BYTES + ETHER_HEADER_BYTES + 4
};

#define GROUP_BIT 1 /* of the first byte of a MAC: it is one for several */
#define LOAD(size, at) BPF_STMT(BPF_LD | (size) | BPF_ABS, (at))
/* Goes on if it is the value, otherwise to the last statement, `left` statements on. */
#define MUST_BE(value, left) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (left))
/* Skips so many statements if one of these bits is set. */
#define SKIP_IF(bits, count) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), (count), 0)

struct passed { /* what a frame must have to pass */
    uint32_t mac_high;
    uint16_t mac_low, type;
    uint32_t channel, vm;
};

static int filter_lock(int fd, const struct sock_filter *code, size_t count)
{
    const struct sock_fprog filter = {(unsigned short)count, (struct sock_filter *)code};
    const int on = 1;
    if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) != 0)
        return -1;
    return setsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &on, sizeof on);
}

static int lock_daemon(int fd, const struct passed *p)
{
    const struct sock_filter code[] = {
        LOAD(BPF_H, AT_TYPE),   MUST_BE(p->type, 9),           LOAD(BPF_W, AT_CHANNEL),
        MUST_BE(p->channel, 7), LOAD(BPF_B, AT_MAC),           SKIP_IF(GROUP_BIT, 4),
        LOAD(BPF_W, AT_MAC),    MUST_BE(p->mac_high, 3),       LOAD(BPF_H, AT_MAC + 4),
        MUST_BE(p->mac_low, 1), BPF_STMT(BPF_RET, UINT32_MAX), BPF_STMT(BPF_RET, 0),
    };
    return filter_lock(fd, code, sizeof code / sizeof code[0]);
}

static int lock_task(int fd, const struct passed *p)
{
    const struct sock_filter code[] = {
        LOAD(BPF_H, AT_TYPE),          MUST_BE(p->type, 11),      LOAD(BPF_W, AT_MAC),
        MUST_BE(p->mac_high, 9),       LOAD(BPF_H, AT_MAC + 4),   MUST_BE(p->mac_low, 7),
        LOAD(BPF_B, AT_VERSION),       MUST_BE(ETHER_VERSION, 5), LOAD(BPF_W, AT_CHANNEL),
        MUST_BE(p->channel, 3),        LOAD(BPF_W, AT_VM),        MUST_BE(p->vm, 1),
        BPF_STMT(BPF_RET, UINT32_MAX), BPF_STMT(BPF_RET, 0),
    };
    return filter_lock(fd, code, sizeof code / sizeof code[0]);
}

/* Bound last, so that no frame passes before the filter stands. */
static int bind_to(int fd, const struct nic *nic, uint16_t type)
{
    struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_ifindex = nic->index};
    struct cursor c = cursor_writer(&at.sll_protocol, sizeof at.sll_protocol);
    cursor_put_u16(&c, type);
    return bind(fd, (struct sockaddr *)&at, sizeof at);
}

/* A packet socket of no EtherType: it hears nothing yet. */
static int socket_raw(void)
{
    if (privilege_raise_raw() != 0) {
        errno = EPERM;
        return -1;
    }
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error = errno;
    privilege_lower_raw(false);
    errno = error;
    return fd;
}

int raw_socket_open(const struct nic *nic, uint16_t type, uint32_t channel, uint32_t vm)
{
    struct cursor mac = cursor_reader(nic->mac.bytes, ETHER_MAC_BYTES);
    struct passed p = {.type = type, .channel = channel, .vm = vm};
    p.mac_high = cursor_get_u32(&mac);
    p.mac_low = cursor_get_u16(&mac);
    int fd = socket_raw();
    if (fd < 0)
        return -1;
    int error = channel == ETHER_CHANNEL_DAEMON ? lock_daemon(fd, &p) : lock_task(fd, &p);
    if (error == 0 && bind_to(fd, nic, type) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}
