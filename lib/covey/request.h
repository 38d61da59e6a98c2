/*
 * covey/request.h - sends and receives that go on while the task computes, and waiting for them.
 */
#ifndef COVEY_REQUEST_H
#define COVEY_REQUEST_H

#include "notify.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct covey_req covey_req_t; /* a non-blocking send or receive under way */

/* Starts a send; takes the message over. The request is ended by covey_test(), covey_wait() or
 * covey_req_free(). It progresses while the task computes. */
int covey_isend(covey_t *vm, covey_tid_t tid, int tag, covey_msg_t **msg, covey_req_t **req);

/* The same for one contiguous array that must stay unchanged until the request is complete. */
int covey_isend_array(covey_t *vm, covey_tid_t tid, int tag, int type, const void *base,
                      size_t count, covey_req_t **req);

/* Starts a receive of a message, or of one array into base (as covey_recv_array()). */
int covey_irecv(covey_t *vm, covey_tid_t tid, int tag, covey_req_t **req);
int covey_irecv_array(covey_t *vm, covey_tid_t tid, int tag, int type, void *base, size_t capacity,
                      covey_req_t **req);

/* Whether the request is complete: 1 yes, 0 not yet, or the error it ended with. */
int covey_test(covey_req_t *req);

/* Waits until the request is complete. Errors: ETIMEOUT (it goes on), or the one it ended with. */
int covey_wait(covey_req_t *req, int64_t timeout_us);

/* Waits until one of n requests (NULL entries are skipped) is complete and returns its position.
 * Errors: ETIMEOUT, EINVAL (no request). The request's own error is given by covey_test(). */
int covey_wait_any(covey_req_t *const *reqs, size_t n, int64_t timeout_us);

/* Waits until all n requests (NULL entries are skipped) are complete, also when one of them fails:
 * their arrays and messages are the caller's again then. The requests stay the caller's, and each
 * is freed by covey_req_free(). No request at all is complete at once.
 * Errors: ETIMEOUT (those that are not complete go on; the text names the first), EINVAL (requests
 * of several handles), or that of the first in the list which failed, whose place the text names;
 * covey_test() gives that of each. */
int covey_wait_all(covey_req_t *const *reqs, size_t n, int64_t timeout_us);

/* Waits until one of n requests is complete, and returns its position, or until a notice is there
 * that was asked for by covey_notify() with that tag: takes it into *notice and returns n. A
 * complete request comes first: so what a task sent is seen before its end. n may be 0.
 * Errors: ETIMEOUT, EINVAL, ETYPE (a message with that tag is no notice; it stays), EDAEMON. */
int covey_wait_notice(covey_t *vm, covey_req_t *const *reqs, size_t n, int tag, int64_t timeout_us,
                      struct covey_notice *notice);

/* Gives up a request. A receive that has not matched ends with ECANCELED and leaves the message
 * for others; a send of which nothing left yet ends with ECANCELED, otherwise it goes on.
 * Returns 1 when cancelled, 0 when it was too late. */
int covey_cancel(covey_req_t *req);

/* What a complete receive got: its info, its message (taken over by the caller; NULL for an array
 * receive) and the number of elements of an array receive. Each pointer may be NULL. */
int covey_req_result(covey_req_t *req, struct covey_info *info, covey_msg_t **msg, size_t *count);

/* Frees a request and sets *req to NULL. One not complete is first cancelled; a send already
 * under way is first completed. NULL is fine. */
void covey_req_free(covey_req_t **req);

#ifdef __cplusplus
}
#endif
#endif
