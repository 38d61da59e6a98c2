/*
 * wire.c - messages of a benchmark in each of the ways that they can be packed. The buffer is made
 * before the clock starts.
 */
#include "tools/bench/tasks/wire.h"

#include <stdlib.h>
#include <string.h>

#include "tools/bench/bench_plan.h"

#define ALIGNMENT 64

int wire_open(struct wire *wire, covey_t *vm, int wire_pack, size_t bytes_max)
{
    size_t room = (bytes_max / ALIGNMENT + 1) * ALIGNMENT;
    *wire = (struct wire){.vm = vm, .pack = wire_pack};
    wire->bytes = aligned_alloc(ALIGNMENT, room);
    wire->msg = covey_msg_new();
    if (!wire->bytes || !wire->msg)
        return COVEY_ENOMEM;
    memset(wire->bytes, 1, room);
    return 0;
}

void wire_close(struct wire *wire)
{
    free(wire->bytes);
    covey_msg_free(wire->msg);
    *wire = (struct wire){0};
}

/* What is less than a double is sent as one. */
static size_t doubles(size_t size)
{
    return (size + sizeof(double) - 1) / sizeof(double);
}

static int wire_pack(struct wire *wire, size_t size)
{
    covey_msg_reset(wire->msg);
    if (wire->pack == BENCH_PACK_DOUBLE)
        return covey_pack_double(wire->msg, (double *)(void *)wire->bytes, doubles(size), 1);
    if (wire->pack == BENCH_PACK_BYTES)
        return covey_pack_bytes(wire->msg, wire->bytes, size);
    return covey_pack_inplace(wire->msg, COVEY_BYTES, wire->bytes, size);
}

int wire_send(struct wire *wire, covey_tid_t tid, size_t size)
{
    if (wire->pack == BENCH_PACK_ARRAY)
        return covey_send_array(wire->vm, tid, WIRE_TAG, COVEY_BYTES, wire->bytes, size);
    int error = wire_pack(wire, size);
    return error ? error : covey_send(wire->vm, tid, WIRE_TAG, wire->msg);
}

int wire_send_all(struct wire *wire, const covey_tid_t *tids, size_t n, size_t size)
{
    int error = wire_pack(wire, size);
    return error ? error : covey_mcast(wire->vm, tids, n, WIRE_TAG, wire->msg);
}

static int wire_unpack(struct wire *wire, covey_msg_t *msg, size_t size)
{
    const void *view;
    if (wire->pack == BENCH_PACK_DOUBLE)
        return covey_unpack_double(msg, (double *)(void *)wire->bytes, doubles(size), 1);
    if (wire->pack == BENCH_PACK_BYTES)
        return covey_unpack_bytes(msg, wire->bytes, size);
    return covey_unpack_view(msg, COVEY_BYTES, &view, &size);
}

int wire_receive(struct wire *wire, covey_tid_t tid, size_t size)
{
    covey_msg_t *msg;
    if (wire->pack == BENCH_PACK_ARRAY)
        return covey_recv_array(wire->vm, tid, WIRE_TAG, COVEY_FOREVER, COVEY_BYTES, wire->bytes,
                                size, NULL, NULL);
    int error = covey_recv(wire->vm, tid, WIRE_TAG, COVEY_FOREVER, &msg);
    if (error)
        return error;
    error = wire_unpack(wire, msg, size);
    covey_msg_free(msg);
    return error;
}
