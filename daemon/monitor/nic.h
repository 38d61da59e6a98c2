/*
 * nic.h - how fast the network card is, as its driver says.
 */
#ifndef COVEY_DAEMON_NIC_H
#define COVEY_DAEMON_NIC_H

#define NIC_FOLDER "/sys/class/net"

/* Bytes a second, each way, of the fastest interface that is up and has a device; where none has
 * one, as in a container, of the fastest at all but the loopback. FIGURE_UNKNOWN: no driver says
 * it. `folder` has a folder for each interface. */
double nic_rate(const char *folder);

#endif
