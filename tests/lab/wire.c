/*
 * wire - the links of a lab that take as long for a frame as their rate says. See lab up --wires.
 *
 *   wire TABLE
 *
 * A token bucket limits a rate, but a link that was idle has a bucket full of tokens, and lets the
 * first frame pass at once; on a wire each frame takes its length over the rate, the first one,
 * too. So here a link is two TAP devices, and this program between them: what comes out of one is
 * held until all of it would have arrived at the other end. A switch then begins to send it on the
 * next link: it stores and forwards.
 *
 * TABLE has a line a link: DEVICE NETNS DEVICE BITS. The first device is in the network namespace
 * in which this program is, the second in the one whose file NETNS is ('-': the same). Both are
 * there, as `ip tuntap` made them. Each direction has a queue of QUEUE_BYTES, like a port of a
 * small switch, and drops what exceeds it. A frame counts with what Ethernet adds on the wire
 * (preamble, checksum, gap), and as at least the shortest one.
 *
 * It goes into the background once it has all devices, and runs before all others, so that a busy
 * machine does not make links slower. It ends when it is killed, and with it the links go down.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define FRAME_BYTES 9100 /* at most: jumbo frames with their headers */
#define WIRE_BYTES 24    /* more on the wire */
#define WIRE_LEAST 84
#define QUEUE_BYTES 131072
#define QUEUE_FRAMES (QUEUE_BYTES / 60 + 1)
#define PRIORITY 2 /* before `probe beat` */

struct frame {
    uint8_t *bytes;
    size_t length;
    int64_t due_ns; /* all of it has arrived */
};

/* One direction of a link. */
struct way {
    int from, to;
    double ns_per_byte;
    int64_t free_ns; /* the last frame has left */
    size_t queued_bytes;
    struct frame frames[QUEUE_FRAMES];
    size_t first, count;
};

struct wires {
    struct way **ways;
    struct pollfd *polls; /* of the same number: where a way comes from */
    size_t count;
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "wire: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- links ----------------------------------------------------------------------------------- */

static int attach(const char *device)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", device);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request) != 0)
        die(device);
    return fd;
}

static int attach_there(const char *netns, const char *device, int home)
{
    int there = open(netns, O_RDONLY | O_CLOEXEC);
    if (there < 0 || setns(there, CLONE_NEWNET) != 0)
        die(netns);
    int fd = attach(device);
    if (setns(home, CLONE_NEWNET) != 0)
        die("setns");
    close(there);
    return fd;
}

static void add_way(struct wires *w, int from, int to, double bits)
{
    struct way *way = calloc(1, sizeof *way);
    w->ways = realloc(w->ways, (w->count + 1) * sizeof *w->ways);
    w->polls = realloc(w->polls, (w->count + 1) * sizeof *w->polls);
    if (way == NULL || w->ways == NULL || w->polls == NULL)
        die("memory");
    way->from = from;
    way->to = to;
    way->ns_per_byte = 8e9 / bits;
    w->polls[w->count] = (struct pollfd){.fd = from, .events = POLLIN};
    w->ways[w->count++] = way;
}

static void read_table(struct wires *w, const char *path)
{
    char here[IFNAMSIZ], netns[256], there[IFNAMSIZ];
    double bits;
    int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    FILE *table = fopen(path, "re");
    if (table == NULL || home < 0)
        die(path);
    while (fscanf(table, "%15s %255s %15s %lf", here, netns, there, &bits) == 4) {
        int a = attach(here);
        int b = strcmp(netns, "-") == 0 ? attach(there) : attach_there(netns, there, home);
        add_way(w, a, b, bits);
        add_way(w, b, a, bits);
    }
    fclose(table);
    close(home);
}

/* ---- frames ---------------------------------------------------------------------------------- */

static double on_wire(size_t length)
{
    length += WIRE_BYTES;
    return (double)(length > WIRE_LEAST ? length : WIRE_LEAST);
}

static void put(struct way *way, const uint8_t *bytes, size_t length, int64_t now)
{
    struct frame *frame = &way->frames[(way->first + way->count) % QUEUE_FRAMES];
    if (way->queued_bytes + length > QUEUE_BYTES || way->count == QUEUE_FRAMES)
        return;
    frame->bytes = malloc(length);
    if (frame->bytes == NULL)
        return;
    memcpy(frame->bytes, bytes, length);
    frame->length = length;
    way->free_ns =
        (way->free_ns > now ? way->free_ns : now) + (int64_t)(on_wire(length) * way->ns_per_byte);
    frame->due_ns = way->free_ns;
    way->queued_bytes += length;
    way->count++;
}

static void take_in(struct way *way)
{
    uint8_t bytes[FRAME_BYTES];
    ssize_t got;
    while ((got = read(way->from, bytes, sizeof bytes)) > 0)
        put(way, bytes, (size_t)got, now_ns());
}

/* A device that takes none loses it, as one that is down does. */
static void give_out(struct way *way, int64_t now)
{
    while (way->count > 0 && way->frames[way->first].due_ns <= now) {
        struct frame *frame = &way->frames[way->first];
        (void)!write(way->to, frame->bytes, frame->length);
        free(frame->bytes);
        way->queued_bytes -= frame->length;
        way->first = (way->first + 1) % QUEUE_FRAMES;
        way->count--;
    }
}

/* Gives what is due, and returns how long it is until something is; < 0: nothing waits. */
static int64_t give_due(struct wires *w)
{
    int64_t next = INT64_MAX, now = now_ns();
    for (size_t i = 0; i < w->count; i++) {
        struct way *way = w->ways[i];
        give_out(way, now);
        if (way->count > 0 && way->frames[way->first].due_ns < next)
            next = way->frames[way->first].due_ns;
    }
    now = now_ns();
    return next == INT64_MAX ? -1 : next > now ? next - now : 0;
}

static void wait_for_some(struct wires *w, int64_t most_ns)
{
    struct timespec most = {.tv_sec = most_ns / 1000000000, .tv_nsec = most_ns % 1000000000};
    if (ppoll(w->polls, w->count, most_ns < 0 ? NULL : &most, NULL) < 0 && errno != EINTR)
        die("poll");
    for (size_t i = 0; i < w->count; i++) {
        if (w->polls[i].revents & POLLIN)
            take_in(w->ways[i]);
    }
}

/* ---- */

static void go_first(void)
{
    const struct sched_param first = {.sched_priority = PRIORITY};
    if (sched_setscheduler(0, SCHED_FIFO, &first) != 0)
        die("priority");
    prctl(PR_SET_TIMERSLACK, 1UL);
}

int main(int argc, char **argv)
{
    struct wires w = {NULL, NULL, 0};
    if (argc != 2) {
        fprintf(stderr, "usage: wire TABLE\n");
        return 2;
    }
    read_table(&w, argv[1]);
    if (daemon(0, 0) != 0)
        die("daemon");
    go_first();
    for (;;)
        wait_for_some(&w, give_due(&w));
}
