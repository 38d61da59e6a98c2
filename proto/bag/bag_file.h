/*
 * bag_file.h - what is left of a bag, in a file: of a machine whose time is over, for a bag of
 * another one.
 *
 *   file    = magic=8u8 version=u32 state=u32 size=u64 sum=u64 *record
 *   magic   = "COVEYBAG"
 *   size    = bytes of the records
 *   sum     = of these bytes: FNV-1a, 64 bits
 *   records = PARAMS, and then of what the bag can be made again: PUT, DEATH, DONE, ASIDE; COUNT;
 *             CLOSE, if it was closed: see bag_wire.h
 *
 * A file is foreign: nothing of it counts until a bag was made of it.
 *
 * A bag is either in a VM or in a file, but nothing changes both at once. So a file has a state: it
 * is written before its bag ends, is ready when that was seen to end, and is loaded before anything
 * is made of it. Who is killed in between leaves a file that says so, and no result is lost; that
 * none is doubled is then for a person to say, who marks it ready.
 */
#ifndef COVEY_PROTO_BAG_FILE_H
#define COVEY_PROTO_BAG_FILE_H

#include "proto/bag/bag.h"

#define BAG_FILE_HEAD_BYTES 32
#define BAG_FILE_VERSION 1
#define BAG_FILE_STATE_AT 12
#define BAG_FILE_STATE_BYTES 4

enum bag_file_state {
    BAG_FILE_READY = 0,
    BAG_FILE_WRITTEN = 1, /* nobody saw its bag end: that may go on */
    BAG_FILE_LOADED = 2   /* a bag was made of it */
};

struct bag_file {
    uint32_t state; /* enum bag_file_state */
    struct bag_params params;
    const uint8_t *records; /* a view into the file: those behind PARAMS */
    size_t size;
    uint64_t items, results; /* that are not done, and that nobody has taken */
    bool closed;
    struct bag_counters counters;
};

/* The head of a file of these records; and the part of it that changes, at BAG_FILE_STATE_AT. */
void bag_file_head(uint8_t head[BAG_FILE_HEAD_BYTES], uint32_t state, const uint8_t *records,
                   size_t size);
void bag_file_state_put(uint8_t bytes[BAG_FILE_STATE_BYTES], uint32_t state);

/* Whether that is such records, PARAMS first. */
bool bag_file_records(const uint8_t *records, size_t size, struct bag_file *file);

/* Reads a file; NULL, or in a few words what is wrong with it. */
const char *bag_file_read(const uint8_t *bytes, size_t size, struct bag_file *file);

#endif
