/*
 * recording.h - what passed on a wire, in a file, for the attackers of this folder: record it, read
 * it back. In the file a packet is its length, four bytes in this machine's order, and its bytes.
 */
#ifndef COVEY_TESTS_ATTACK_RECORDING_H
#define COVEY_TESTS_ATTACK_RECORDING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RECORDED_MAX 65536 /* bytes of a packet */

struct recording {
    uint8_t **bytes;
    uint32_t *sizes;
    size_t count;
};

/* Says what errno means, and ends the program. */
_Noreturn void die(const char *what);

/* SEED in the environment, or 1. */
uint64_t seed_given(void);

/* A packet socket (SOCK_RAW or SOCK_DGRAM) on the interface that $IFACE names, or that one. */
int tap_open(const char *otherwise, int type, int protocol);

/* Takes the next packet from the socket: its size, or 0 or less: not to be kept. */
typedef ssize_t recording_take(int fd, uint8_t bytes[RECORDED_MAX]);

/* Says "ready", and keeps what comes until SIGTERM; the program's exit status. */
int recording_make(const char *path, int fd, recording_take *take);

/* All packets of the file that are wanted; NULL: all there are. */
typedef bool recording_wants(const uint8_t *bytes, uint32_t size);
struct recording recording_load(const char *path, recording_wants *wants);
void recording_free(struct recording *all);

#endif
