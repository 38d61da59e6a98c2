/*
 * counter_help.c - the table. Names of both media stand once, with the name of the medium left out:
 * udp.bytes_sent and ether.bytes_sent are ".bytes_sent".
 */
#include "proto/model/counter_help.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name, *help;
} rows[] = {
    {"process.cpu_us", "Microseconds of processors that the daemon has used."},
    {"tasks.now", "Tasks there are, consoles included."},
    {"tasks.spawned", "Tasks started."},
    {"tasks.spawns_failed", "Tasks that could not be started."},
    {"tasks.enrolled", "Processes that became tasks by the library."},
    {"tasks.ended", "Tasks that ended."},
    {"stream.frames_in", "Frames from tasks of the host."},
    {"stream.frames_out", "Frames to tasks of the host."},
    {"stream.bytes_in", "Bytes from tasks of the host."},
    {"stream.bytes_out", "Bytes to tasks of the host."},
    {"stream.bytes_queued", "Bytes that wait now for tasks of the host to take them."},
    {"stream.refused", "Tasks disconnected because they broke the protocol."},
    {"stream.callers_refused", "Connections that did not become a task."},
    {"memory.limit", "Bytes that messages and bags may take of the daemon's memory."},
    {"memory.used", "Bytes of them that are taken now."},
    {"memory.bags", "Bytes of them that bags take now."},
    {"route.frames_to_hosts", "Frames to other hosts."},
    {"route.frames_from_hosts", "Frames from other hosts."},
    {"route.frames_detoured", "Frames of direct links that broke, which go through the daemon."},
    {"route.frames_spread", "Frames made here of multicasts of other hosts."},
    {"route.frames_refused",
     "Frames dropped: their sender may not send them, or they make no sense."},
    {"route.frames_undeliverable", "Frames for tasks or hosts that are not there."},
    {"host.major_faults", "Pages that the machine read from a disk since it started."},
    {"host.pages_swapped_in", "Pages read from swap since the machine started."},
    {"host.pages_swapped_out", "Pages written to swap since the machine started."},

    {".datagrams_sent", "Datagrams to other daemons, repeated ones included."},
    {".datagrams_received", "Datagrams from other daemons."},
    {".bytes_sent", "Bytes of datagrams sent."},
    {".bytes_received", "Bytes of datagrams received."},
    {".service_frames", "Frames of what all daemons agree on that took this medium."},
    {".refused_short", "Datagrams refused: shorter than a header."},
    {".refused_magic", "Datagrams refused: not Covey's."},
    {".refused_version", "Datagrams refused: of another version."},
    {".refused_vm", "Datagrams refused: of another virtual machine."},
    {".refused_kind", "Datagrams refused: of an unknown kind."},
    {".refused_size", "Datagrams refused: of a wrong size."},
    {".refused_mac", "Datagrams refused: not by who has the key."},
    {".refused_replay", "Datagrams refused: they came before."},
    {".refused_session", "Datagrams refused: of a session that is not open."},
    {".refused_host", "Datagrams refused: of an unknown host."},
    {".refused_payload", "Datagrams refused: their content makes no sense."},

    {"session.hellos_sent", "Attempts to open a session with another daemon."},
    {"session.hellos_answered", "Attempts of other daemons that were answered."},
    {"session.opened", "Sessions with other daemons that were opened."},
    {"session.closed", "Sessions that were closed."},
    {"session.looks", "Looks at sessions for what is due."},
    {"session.paths_changed", "Times another daemon was reached by another address."},
    {"session.frames_sent", "Frames sent in sessions."},
    {"session.frames_received", "Frames received in sessions."},
    {"session.open", "Sessions that are open now."},
    {"session.encrypted", "1: what goes between hosts is encrypted."},
    {"member.pings_sent", "Pings to hosts that said nothing for a while."},
    {"member.probes_sent", "Other hosts asked whether they reach a silent one."},
    {"member.suspicions", "Times a host was suspected to be gone."},
    {"member.hosts_gone", "Hosts that were declared gone."},
    {"member.watch_rounds", "Looks at which hosts are silent."},
    {"member.batch_counts", "Counts of votes for a change of the hosts."},
    {"member.rolls", "Roll calls by this host as coordinator."},
    {"member.claims", "Times this host stood for coordinator."},
    {"member.late_us", "Microseconds by which the daemon was late lately."},

    {"window.packets_sent", "Packets sent, repeated ones included."},
    {"window.packets_received", "Packets received."},
    {"window.packets_lost", "Packets taken for lost, and sent again."},
    {"window.packets_spurious", "Packets that were taken for lost and were not."},
    {"window.probes_sent", "Packets sent to find out whether the last ones were lost."},
    {"window.bytes_sent", "Bytes of frames sent, each once."},
    {"window.retransmitted_bytes", "Bytes sent again."},
    {"window.bytes_received", "Bytes of frames received, each once."},
    {"window.duplicate_bytes", "Bytes received again."},
    {"socket.datagrams_sent", "Datagrams given to the kernel."},
    {"socket.datagrams_received", "Datagrams taken from the kernel."},
    {"socket.send_calls", "System calls that sent them."},
    {"socket.receive_calls", "System calls that received them."},
    {"socket.sends_refused", "Datagrams that the kernel refused to send."},
    {"socket.sends_dropped", "Datagrams dropped here: the kernel did not take those before."},
    {"ether_socket.frames_sent", "Frames of raw Ethernet given to the kernel."},
    {"ether_socket.frames_received", "Frames of raw Ethernet taken from the kernel."},
    {"ether_socket.frames_refused", "Frames of raw Ethernet that are not Covey's."},
    {"ether_socket.send_calls", "System calls that sent frames of raw Ethernet."},
    {"ether_socket.sends_refused", "Frames that the interface refused to send."},
    {"ether_socket.sends_dropped", "Frames dropped here: the interface did not take those before."},
    {"ether_socket.captured", "Frames that the kernel had for the socket."},
    {"ether_socket.overflowed", "Frames lost: the socket's ring was full."},

    {"cast.messages_sent", "Casts by tasks of the host."},
    {"cast.messages_delivered", "Casts delivered to tasks of the host."},
    {"cast.fragments_sent", "Pieces of casts sent."},
    {"cast.fragments_received", "Pieces of casts received."},
    {"cast.repairs_sent", "Pieces sent again, which some host missed."},
    {"cast.repairs_multicast", "Of these, by multicast."},
    {"cast.repairs_framed", "Of these, in a session with one host."},
    {"cast.repairs_asked", "Pieces that were missing and asked for."},
    {"cast.duplicates", "Pieces that were there already."},
    {"cast.refused", "Pieces that make no sense, or by who lacks the key."},
    {"cast.flushes", "Groups that agreed on what a host that is gone had cast."},
    {"cast.channels_opened", "Groups of hosts to which tasks cast."},
    {"contention.asked", "Claims to shared links that came, as coordinator."},
    {"contention.granted", "Claims granted."},
    {"contention.ended", "Claims given back, or whose task ended."},
    {"contention.regenerated", "Claims taken back: their time had run out."},
    {"contention.refused", "Claims that went on without a grant: there was no room to note them."},
    {"contention.waiting", "Claims that wait now."},
    {"fault.lost", "Datagrams lost on purpose: covey.conf wants faults."},
    {"fault.duplicated", "Datagrams doubled on purpose."},
    {"fault.reordered", "Datagrams that were overtaken on purpose."},
    {"fault.corrupted", "Datagrams changed on purpose."},
    {"fault.waiting", "Datagrams held up now on purpose."},
    {"fault.overflowed", "Datagrams lost because too many were held up."},
};

const char *counter_help(const char *name)
{
    const char *rest = strncmp(name, "udp.", 4) == 0     ? name + 3
                       : strncmp(name, "ether.", 6) == 0 ? name + 5
                                                         : name;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].name, rest) == 0)
            return rows[i].help;
    }
    return NULL;
}
