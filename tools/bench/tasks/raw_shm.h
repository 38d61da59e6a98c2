/* The raw program over shared memory: one buffer in either direction, one message in each. */
#ifndef COVEY_TOOLS_BENCH_RAW_SHM_H
#define COVEY_TOOLS_BENCH_RAW_SHM_H

#include <stddef.h>
#include <stdint.h>

struct raw_shm;

/* Makes the memory (endpoint NULL) or maps what the other end made; NULL with errno on failure. */
struct raw_shm *raw_shm_open(size_t bytes_max, const char *endpoint);

/* Says where the other end finds the memory. */
void raw_shm_endpoint(const struct raw_shm *shm, char *endpoint, size_t size);

int raw_shm_send(struct raw_shm *shm, const void *bytes, size_t size);
int raw_shm_receive(struct raw_shm *shm, void *bytes, size_t size, uint64_t spin_ns);

/* One memcpy in or out, and nothing else. */
void raw_shm_copy_in(struct raw_shm *shm, const void *bytes, size_t size);
void raw_shm_copy_out(struct raw_shm *shm, void *bytes, size_t size);

void raw_shm_close(struct raw_shm *shm);

#endif
