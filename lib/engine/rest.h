/*
 * rest.h - streams that bring messages of a schedule are read now and then.
 */
#ifndef COVEY_LIB_ENGINE_REST_H
#define COVEY_LIB_ENGINE_REST_H

#include <stdbool.h>
#include <stdint.h>

struct conn;
struct covey;

/* Begins a rest that long where there may be one (a stream); false: none. */
bool conn_rest(struct conn *conn, uint64_t for_us);
void conn_rest_end(struct conn *conn);
/* One whose rest is over, or NULL. */
struct conn *conn_rested(const struct covey *vm, uint64_t now_us);
/* When the first rest is over; UINT64_MAX: there is none. */
uint64_t conn_rest_due_us(const struct covey *vm);

#endif
