/*
 * figure.h - what is known of a host's load and speed: every figure exists once, in FIGURES. A
 * daemon samples and measures them; they travel to whoever asks, and to Prometheus, by this table.
 *
 *   figures = machine=u64 count=u16 *(number=u16 value=u64)
 *   machine = hosts of one machine, or of one control group with a limit of its own, have the same:
 *             they share its processors; 0: not known
 *   value   = the bits of an IEEE 754 double; who does not know a number skips it
 *
 * A figure that is not known is FIGURE_UNKNOWN here, and is left out on the wire. Rates are of
 * `interval_s`, which ended `age_s` ago. All numbers are big-endian.
 */
#ifndef COVEY_PROTO_FIGURE_H
#define COVEY_PROTO_FIGURE_H

#include "proto/wire/cursor.h"

#define FIGURE_UNKNOWN (-1.0)

/* X(number, field of struct covey_host_stat, "name in Prometheus", "what it is") */
#define FIGURES(X)                                                                                 \
    X(1, age_s, "sample_age_seconds", "Age of the sample.")                                        \
    X(2, interval_s, "sample_interval_seconds", "Time over which rates were taken.")               \
    X(3, cores, "cores", "Processors that the host may use; a quota may leave a fraction.")        \
    X(4, load_1m, "load1", "Load average of one minute.")                                          \
    X(5, load_5m, "load5", "Load average of five minutes.")                                        \
    X(6, load_15m, "load15", "Load average of fifteen minutes.")                                   \
    X(7, cpu_busy, "cpu_busy_ratio", "Share of the cores that was busy, 0 to 1.")                  \
    X(8, cpu_pressure, "cpu_pressure_ratio",                                                       \
      "Share of the last 10 s in which something waited for a processor, 0 to 1.")                 \
    X(9, demand, "cpu_demand", "How many compete for the processors, as placement counts.")        \
    X(10, memory_total_bytes, "memory_total_bytes", "Memory that the host may use.")               \
    X(11, memory_used_bytes, "memory_used_bytes", "Memory in use, caches left out.")               \
    X(12, memory_free_bytes, "memory_free_bytes", "Memory that programs can have now.")            \
    X(13, interrupts_per_s, "interrupts_per_second", "Interrupts served.")                         \
    X(14, switches_per_s, "context_switches_per_second", "Context switches.")                      \
    X(15, disk_read_bytes_per_s, "disk_read_bytes_per_second", "Read from disks.")                 \
    X(16, disk_written_bytes_per_s, "disk_written_bytes_per_second", "Written to disks.")          \
    X(17, net_received_bytes_per_s, "network_received_bytes_per_second",                           \
      "Received over all interfaces but the loopback.")                                            \
    X(18, net_sent_bytes_per_s, "network_sent_bytes_per_second",                                   \
      "Sent over all interfaces but the loopback.")                                                \
    X(19, tasks, "tasks", "Tasks of the VM on this host.")                                         \
    X(20, tasks_young, "tasks_young", "Started tasks that the sample does not show yet.")          \
    X(21, integer_per_s, "integer_operations_per_second", "Integer operations of one core.")       \
    X(22, float_per_s, "float_operations_per_second", "Floating point operations of one core.")    \
    X(23, pack_bytes_per_s, "pack_bytes_per_second", "Packing doubles into a message, one core.")  \
    X(24, measured_age_s, "measured_age_seconds", "Age of the measured speeds.")                   \
    X(25, clock_s, "time_seconds", "Time of day, since 1970.")                                     \
    X(26, swap_in_bytes_per_s, "swap_in_bytes_per_second", "Read from swap.")                      \
    X(27, swap_out_bytes_per_s, "swap_out_bytes_per_second", "Written to swap.")                   \
    X(28, major_faults_per_s, "major_faults_per_second", "Faults that read a page from a disk.")   \
    X(29, memory_pressure, "memory_pressure_ratio",                                                \
      "Share of the last 10 s in which something waited for memory, 0 to 1.")                      \
    X(30, disk_busy, "disk_busy_ratio", "Time of disks that were busy, 0 to 1.")                   \
    X(31, interrupt_busy, "interrupt_busy_ratio",                                                  \
      "Share of the cores that served interrupts, 0 to 1.")                                        \
    X(32, net_rate_bytes_per_s, "network_rate_bytes_per_second",                                   \
      "Rate of the network card, as its driver says.")                                             \
    X(33, local_clock_s, "local_time_seconds",                                                     \
      "Time of day in the time zone of the host, as if it were UTC.")                              \
    X(34, ends_in_s, "ends_in_seconds", "Until the time of the host is over, as far as known.")    \
    X(35, withheld, "withheld",                                                                    \
      "Whether placement passes it over: 0 no, 1 it is drained, 2 its owner says so.")

enum figure {
#define FIGURE_ENUM(number, field, name, help) FIGURE_##field,
    FIGURES(FIGURE_ENUM)
#undef FIGURE_ENUM
        FIGURE_COUNT
};

struct figures {
    uint64_t machine;
    double values[FIGURE_COUNT];
};

/* All are unknown. */
void figures_init(struct figures *f);

/* `count` values as a list, as above from `count` on, `of` has their numbers; reading
 * leaves a value of which it hears nothing as it is. */
#define FIGURE_LIST_BYTES_MAX(count) (2 + (count)*10)
void figure_list_put(struct cursor *c, const uint16_t *of, const double *values, int count);
void figure_list_get(struct cursor *c, const uint16_t *of, double *values, int count);

#define FIGURES_BYTES_MAX (8 + 2 + FIGURE_COUNT * 10)
void figures_put(struct cursor *c, const struct figures *f);
/* Refuses what ends early, and a value that is negative or no number. */
void figures_get(struct cursor *c, struct figures *f);

#endif
