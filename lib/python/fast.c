/*
 * fast.c - calls of covey.h that Python makes as one, see fast.h.
 *
 * What waits does so for a slice of time, after which Python looks for signals and calls again.
 */
#include "lib/python/fast.h"

int covey_python_finish(int start, int64_t slice_us, covey_req_t **req)
{
    if (start < 0) {
        *req = NULL;
        return start;
    }
    int error = covey_wait(*req, slice_us);
    if (error != COVEY_ETIMEOUT)
        covey_req_free(req);
    return error;
}

int covey_python_send_array(covey_t *vm, covey_tid_t tid, int tag, int type, const void *base,
                            size_t count, int64_t slice_us, covey_req_t **req)
{
    return covey_python_finish(covey_isend_array(vm, tid, tag, type, base, count, req), slice_us,
                               req);
}

int covey_python_send(covey_t *vm, covey_tid_t tid, int tag, covey_msg_t **msg, int64_t slice_us,
                      covey_req_t **req)
{
    return covey_python_finish(covey_isend(vm, tid, tag, msg, req), slice_us, req);
}

int64_t covey_python_recv_array(covey_t *vm, covey_tid_t tid, int tag, int64_t timeout_us, int type,
                                void *base, size_t capacity, struct covey_info *info)
{
    size_t count = 0;
    int error = covey_recv_array(vm, tid, tag, timeout_us, type, base, capacity, &count, info);
    return error < 0 ? error : (int64_t)count;
}
