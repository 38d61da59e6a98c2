/*
 * pcap_library.h - libpcap, loaded when a raw Ethernet link is opened. It brings nine more
 * libraries along (D-Bus, systemd, gcrypt, ...): a daemon without such a link starts in less time
 * without them, takes 0.2 MB less, and has less code beside the key of its VM.
 */
#ifndef COVEY_DAEMON_PCAP_LIBRARY_H
#define COVEY_DAEMON_PCAP_LIBRARY_H

#include <pcap/pcap.h>

#include "daemon/base/failure.h"

/* The functions of libpcap that the link calls, with their names there after `pcap_`. */
#define PCAP_FUNCTIONS(ROW)                                                                        \
    ROW(create)                                                                                    \
    ROW(close)                                                                                     \
    ROW(set_snaplen)                                                                               \
    ROW(set_immediate_mode)                                                                        \
    ROW(set_buffer_size)                                                                           \
    ROW(set_protocol_linux)                                                                        \
    ROW(activate)                                                                                  \
    ROW(datalink)                                                                                  \
    ROW(compile)                                                                                   \
    ROW(setfilter)                                                                                 \
    ROW(freecode)                                                                                  \
    ROW(setdirection)                                                                              \
    ROW(setnonblock)                                                                               \
    ROW(fileno)                                                                                    \
    ROW(get_selectable_fd)                                                                         \
    ROW(dispatch)                                                                                  \
    ROW(stats)                                                                                     \
    ROW(geterr)                                                                                    \
    ROW(statustostr)

struct pcap_library {
    void *handle; /* of dlopen(); NULL: not loaded */
#define PCAP_POINTER(name) __typeof__(&pcap_##name) name;
    PCAP_FUNCTIONS(PCAP_POINTER)
#undef PCAP_POINTER
};

/* 0, or -1 with *why: libpcap is not installed, or lacks a function. */
int pcap_library_open(struct pcap_library *library, struct failure *why);
void pcap_library_close(struct pcap_library *library); /* also one that was never opened */

#endif
