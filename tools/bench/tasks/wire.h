/*
 * Messages of a benchmark as they are measured: one buffer, sent and received in the way that the
 * plan says. Functions return 0 or an error of covey.h.
 */
#ifndef COVEY_TOOLS_BENCH_WIRE_H
#define COVEY_TOOLS_BENCH_WIRE_H

#include <stddef.h>

#include "covey.h"

enum { WIRE_TAG = 10 };

struct wire {
    covey_t *vm;
    covey_msg_t *msg; /* of the sender, used again and again */
    int pack;         /* enum bench_pack */
    char *bytes;      /* what is sent, and where what came goes */
};

/* A buffer for messages of up to bytes_max bytes. */
int wire_open(struct wire *wire, covey_t *vm, int pack, size_t bytes_max);
void wire_close(struct wire *wire);

int wire_send(struct wire *wire, covey_tid_t tid, size_t size);
int wire_send_all(struct wire *wire, const covey_tid_t *tids, size_t n, size_t size);
int wire_receive(struct wire *wire, covey_tid_t tid, size_t size);

#endif
