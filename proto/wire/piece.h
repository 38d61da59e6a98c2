/* piece.h - one of several runs of bytes that lie apart and are sealed as if they were one. */
#ifndef COVEY_PROTO_PIECE_H
#define COVEY_PROTO_PIECE_H

#include <stddef.h>
#include <stdint.h>

struct auth_piece {
    const uint8_t *bytes;
    size_t size;
};

#endif
