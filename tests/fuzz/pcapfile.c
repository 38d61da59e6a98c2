#include "tests/fuzz/pcapfile.h"

#define MAGIC_US 0xa1b2c3d4u
#define MAGIC_NS 0xa1b23c4du
#define FILE_HEAD_BYTES 24
#define PACKET_HEAD_BYTES 16

static uint32_t number_at(const struct pcapfile *file, const uint8_t *at)
{
    if (file->swapped)
        return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool has_magic(const struct pcapfile *file)
{
    uint32_t magic = number_at(file, file->at);

    return magic == MAGIC_US || magic == MAGIC_NS;
}

bool pcapfile_open(struct pcapfile *file, const uint8_t *bytes, size_t size)
{
    if (size < FILE_HEAD_BYTES)
        return false;
    *file = (struct pcapfile){.at = bytes, .end = bytes + size};
    if (!has_magic(file))
        file->swapped = true;
    if (!has_magic(file))
        return false;
    file->link = (int)(number_at(file, bytes + 20) & 0xffff);
    file->at += FILE_HEAD_BYTES;
    return true;
}

bool pcapfile_next(struct pcapfile *file, struct sniff_capture *capture)
{
    const uint8_t *head = file->at;
    size_t left = (size_t)(file->end - file->at);

    if (left < PACKET_HEAD_BYTES)
        return false;
    capture->time_us = (uint64_t)number_at(file, head) * 1000000 + number_at(file, head + 4);
    capture->link = file->link;
    capture->captured = number_at(file, head + 8);
    capture->size = number_at(file, head + 12);
    capture->bytes = head + PACKET_HEAD_BYTES;
    if (capture->captured > left - PACKET_HEAD_BYTES)
        capture->captured = left - PACKET_HEAD_BYTES;
    if (capture->size < capture->captured)
        capture->size = capture->captured;
    file->at += PACKET_HEAD_BYTES + capture->captured;
    return true;
}
