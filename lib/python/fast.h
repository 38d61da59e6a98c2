/*
 * python/fast.h - what is called so often that several calls of covey.h from Python would be felt.
 */
#ifndef COVEY_PYTHON_FAST_H
#define COVEY_PYTHON_FAST_H

#include <covey.h>

/* Sends an array and waits for slice_us: returns 0 when it is sent, or an error of
 * covey_isend_array() or of the request, and then *req is NULL. ETIMEOUT: it goes on, and *req is
 * to be waited for and freed by the caller. */
int covey_python_send_array(covey_t *vm, covey_tid_t tid, int tag, int type, const void *base,
                            size_t count, int64_t slice_us, covey_req_t **req);

/* The same of a message, which stays the caller's when it fails, as covey_isend(). */
int covey_python_send(covey_t *vm, covey_tid_t tid, int tag, covey_msg_t **msg, int64_t slice_us,
                      covey_req_t **req);

/* Receives an array as covey_recv_array(): returns the number of elements, or its errors. */
int64_t covey_python_recv_array(covey_t *vm, covey_tid_t tid, int tag, int64_t timeout_us, int type,
                                void *base, size_t capacity, struct covey_info *info);

/* A request that was started (start: what that call returned) is waited for as above. */
int covey_python_finish(int start, int64_t slice_us, covey_req_t **req);

#endif
