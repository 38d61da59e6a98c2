/*
 * Messages over a packet socket: cut into frames of the interface's MTU, each sent by a system call
 * of its own, received through a ring in memory, and nothing done about one that gets lost. So it
 * is the limit of frames that leave one by one. It needs CAP_NET_RAW, as root has it.
 */
#ifndef COVEY_TOOLS_BENCH_RAW_ETHER_H
#define COVEY_TOOLS_BENCH_RAW_ETHER_H

#include <stddef.h>
#include <stdint.h>

struct raw_ether;

/* As raw_listen(), raw_connect() and raw_accept(); the interface is the one that has `address`, or
 * that leads to the endpoint's; both ends have one channel, 0 to 255. NULL with errno on failure.
 */
struct raw_ether *raw_ether_listen(const char *address, int channel, char *endpoint, size_t size);
struct raw_ether *raw_ether_connect(const char *endpoint, int channel);
int raw_ether_accept(struct raw_ether *e);
void raw_ether_close(struct raw_ether *e); /* NULL is fine */

int raw_ether_send(const struct raw_ether *e, const void *bytes, size_t size);
int raw_ether_receive(struct raw_ether *e, void *bytes, size_t size, uint64_t spin_ns);

#endif
