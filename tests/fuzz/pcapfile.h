/*
 * pcapfile.h - the packets in the bytes of a capture file, as pcap (not pcapng) lays it out, for
 * fuzzers and for what makes seeds of recordings.
 *
 *   file   = magic=u32 version=u32 8u8 snaplen=u32 link=u32 *packet  ; in the byte order of magic
 *   packet = seconds=u32 fraction=u32 captured=u32 size=u32 bytes
 */
#ifndef COVEY_TESTS_FUZZ_PCAPFILE_H
#define COVEY_TESTS_FUZZ_PCAPFILE_H

#include "tools/wire/sniff_packet.h"

struct pcapfile {
    const uint8_t *at, *end;
    bool swapped;
    int link;
};

/* False: it is no such file. */
bool pcapfile_open(struct pcapfile *file, const uint8_t *bytes, size_t size);

/* The next packet, whose bytes lie in the file; false: no more. */
bool pcapfile_next(struct pcapfile *file, struct sniff_capture *capture);

#endif
