#include "tests/unit/lib/link/veth.h"

#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct order {
    int mtu;
    uint16_t type;
    uint32_t loss_ppm;
    int *fds;
    struct address *at;
    int result;
};

/* The kernel draws a number for every frame. */
static int lose(int fd, uint32_t ppm)
{
    const uint32_t bound = (uint32_t)((uint64_t)UINT32_MAX * ppm / 1000000);
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_RANDOM)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, bound, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    const struct sock_fprog filter = {sizeof code / sizeof code[0], code};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

static int socket_on(const char *name, uint16_t type)
{
    struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(name)};
    struct cursor c = cursor_writer(&at.sll_protocol, sizeof at.sll_protocol);
    cursor_put_u16(&c, type);
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static struct address address_of(int fd)
{
    struct sockaddr_ll at;
    socklen_t size = sizeof at;
    getsockname(fd, (struct sockaddr *)&at, &size);
    return ether_address(at.sll_addr);
}

static int open_in(const struct order *o)
{
    static const char *const names[2] = {"left", "right"};
    char command[256];
    snprintf(command, sizeof command,
             "{ ip link add left mtu %d type veth peer name right mtu %d && ip link set left up && "
             "ip link set right up; } 2>/dev/null",
             o->mtu, o->mtu);
    if (system(command) != 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        o->fds[i] = socket_on(names[i], o->type);
        if (o->fds[i] < 0 || (o->loss_ppm > 0 && lose(o->fds[i], o->loss_ppm) != 0))
            return -1;
        o->at[i] = address_of(o->fds[i]);
    }
    return 0;
}

/* A thread of its own, so that the program stays in the namespace where it is. */
static void *order_main(void *context)
{
    struct order *o = context;
    o->result = unshare(CLONE_NEWNET) == 0 ? open_in(o) : -1;
    return NULL;
}

int veth_open(int mtu, uint16_t type, uint32_t loss_ppm, int fds[2], struct address at[2])
{
    struct order o = {mtu, type, loss_ppm, fds, at, -1};
    pthread_t thread;
    fds[0] = fds[1] = -1;
    if (geteuid() != 0 || pthread_create(&thread, NULL, order_main, &o) != 0)
        return -1;
    pthread_join(thread, NULL);
    for (int i = 0; i < 2 && o.result != 0; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    return o.result;
}

bool veth_allowed(void)
{
    static int answer; /* 0: not tried yet */
    int fds[2];
    struct address at[2];
    if (answer == 0) {
        answer = veth_open(1500, ETHER_TYPE_DEFAULT, 0, fds, at) == 0 ? 1 : -1;
        for (int i = 0; i < 2 && answer > 0; i++)
            close(fds[i]);
    }
    return answer > 0;
}
