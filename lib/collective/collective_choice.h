/*
 * collective_choice.h - which algorithm a collective call takes: a table of rows, the first that
 * fits the operation, the number of members and the size decides. All members of a team have the
 * table of its first member, so they choose alike.
 *
 *   table = *line
 *   line  = [operation members bytes algorithm] ["#" comment] LF
 *   members, bytes = 1*DIGIT ["K" / "M" / "G"] / "*"     ; the row holds up to so many
 */
#ifndef COVEY_LIB_COLLECTIVE_CHOICE_H
#define COVEY_LIB_COLLECTIVE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name in the table; what the size is that the table goes by stands in covey_collectives(5) */
#define COLLECTIVE_OPERATIONS(X)                                                                   \
    X(BARRIER, "barrier")                                                                          \
    X(BCAST, "bcast")                                                                              \
    X(SCATTER, "scatter")                                                                          \
    X(GATHER, "gather")                                                                            \
    X(ALLGATHER, "allgather")                                                                      \
    X(REDUCE, "reduce")                                                                            \
    X(ALLREDUCE, "allreduce")                                                                      \
    X(REDUCE_SCATTER, "reduce_scatter")                                                            \
    X(SCAN, "scan")                                                                                \
    X(ALLTOALL, "alltoall")                                                                        \
    X(ALLTOALLV, "alltoallv")                                                                      \
    X(UNSTRUCTURED, "exchange") /* its members are the density */

/* operation, algorithm, name: an operation has those listed here */
#define COLLECTIVE_ALGORITHMS(X)                                                                   \
    X(BARRIER, DISSEMINATION, "dissemination")                                                     \
    X(BARRIER, TREE, "tree")                                                                       \
    X(BARRIER, HOSTS, "hosts")                                                                     \
    X(BARRIER, CAST, "cast")                                                                       \
    X(BARRIER, SHARED, "shared")                                                                   \
    X(BCAST, BINOMIAL, "binomial")                                                                 \
    X(BCAST, LINEAR, "linear")                                                                     \
    X(BCAST, CHAIN, "chain")                                                                       \
    X(BCAST, SCATTER_ALLGATHER, "scatter-allgather")                                               \
    X(BCAST, HOSTS, "hosts")                                                                       \
    X(BCAST, CAST, "cast")                                                                         \
    X(BCAST, SHARED, "shared")                                                                     \
    X(SCATTER, BINOMIAL, "binomial")                                                               \
    X(SCATTER, LINEAR, "linear")                                                                   \
    X(SCATTER, SHARED, "shared")                                                                   \
    X(GATHER, BINOMIAL, "binomial")                                                                \
    X(GATHER, LINEAR, "linear")                                                                    \
    X(GATHER, SHARED, "shared")                                                                    \
    X(ALLGATHER, BRUCK, "bruck")                                                                   \
    X(ALLGATHER, RING, "ring")                                                                     \
    X(ALLGATHER, LINEAR, "linear")                                                                 \
    X(ALLGATHER, HOSTS, "hosts")                                                                   \
    X(ALLGATHER, CAST, "cast")                                                                     \
    X(ALLGATHER, SHARED, "shared")                                                                 \
    X(REDUCE, BINOMIAL, "binomial")                                                                \
    X(REDUCE, RABENSEIFNER, "rabenseifner")                                                        \
    X(REDUCE, HOSTS, "hosts")                                                                      \
    X(REDUCE, SHARED, "shared")                                                                    \
    X(ALLREDUCE, RECURSIVE_DOUBLING, "recursive-doubling")                                         \
    X(ALLREDUCE, RABENSEIFNER, "rabenseifner")                                                     \
    X(ALLREDUCE, RING, "ring")                                                                     \
    X(ALLREDUCE, HOSTS, "hosts")                                                                   \
    X(ALLREDUCE, CAST, "cast")                                                                     \
    X(ALLREDUCE, SHARED, "shared")                                                                 \
    X(REDUCE_SCATTER, PAIRWISE, "pairwise")                                                        \
    X(REDUCE_SCATTER, RING, "ring")                                                                \
    X(REDUCE_SCATTER, REDUCE_SCATTERV, "reduce-scatterv")                                          \
    X(REDUCE_SCATTER, CAST, "cast")                                                                \
    X(REDUCE_SCATTER, SHARED, "shared")                                                            \
    X(SCAN, RECURSIVE_DOUBLING, "recursive-doubling")                                              \
    X(SCAN, CHAIN, "chain")                                                                        \
    X(SCAN, SHARED, "shared")                                                                      \
    X(ALLTOALL, BRUCK, "bruck")                                                                    \
    X(ALLTOALL, LINEAR, "linear")                                                                  \
    X(ALLTOALL, PAIRWISE, "pairwise")                                                              \
    X(ALLTOALL, SCHEDULED, "scheduled")                                                            \
    X(ALLTOALL, HOSTS, "hosts")                                                                    \
    X(ALLTOALL, SHARED, "shared")                                                                  \
    X(ALLTOALLV, LINEAR, "linear")                                                                 \
    X(ALLTOALLV, PAIRWISE, "pairwise")                                                             \
    X(ALLTOALLV, SCHEDULED, "scheduled")                                                           \
    X(ALLTOALLV, LONGEST, "longest")                                                               \
    X(ALLTOALLV, ADAPTIVE, "adaptive")                                                             \
    X(UNSTRUCTURED, AC, "AC")                                                                      \
    X(UNSTRUCTURED, LP, "LP")                                                                      \
    X(UNSTRUCTURED, RS_N, "RS_N")                                                                  \
    X(UNSTRUCTURED, RS_NL, "RS_NL")                                                                \
    X(UNSTRUCTURED, COLOUR, "COLOUR")                                                              \
    X(UNSTRUCTURED, LONGEST, "LONGEST")

#define OPERATION_ENUM(id, name) OPERATION_##id,
enum operation { COLLECTIVE_OPERATIONS(OPERATION_ENUM) OPERATIONS };

/* A number for each pair of operation and algorithm; 0: none. */
#define ALGORITHM_ENUM(operation, id, name) operation##_##id,
enum algorithm { ALGORITHM_NONE, COLLECTIVE_ALGORITHMS(ALGORITHM_ENUM) ALGORITHMS };

#define CHOICE_ROWS_MAX 128
#define CHOICE_ANY UINT64_MAX

struct choice_row {
    uint8_t operation; /* enum operation */
    uint8_t algorithm; /* enum algorithm */
    uint64_t members, bytes;
};

struct choice_table {
    int count;
    uint8_t first[OPERATIONS]; /* row of each operation; count: it has none */
    struct choice_row rows[CHOICE_ROWS_MAX];
};

enum operation operation_parse(const char *name); /* OPERATIONS: unknown */
enum algorithm algorithm_parse(enum operation operation, const char *name); /* NONE: unknown */
/* The at-th algorithm of an operation, NONE behind the last. */
enum algorithm algorithm_at(enum operation operation, int at);

/* The table that the library comes with. */
void choice_default(struct choice_table *table);
/* Reads a text; its rows go before those that are there. NULL, or what is wrong, and *line. */
const char *choice_parse(struct choice_table *table, const char *text, int *line);
/* As words of 64 bits for another member: 2 a row. */
void choice_encode(const struct choice_table *table, uint64_t *words);
bool choice_decode(struct choice_table *table, const uint64_t *words, size_t count);

/* Where the table of this task comes from: $COVEY_COLLECTIVES, otherwise the user's file if there
 * is one, then what the library comes with, for hosts that share one medium or not. 0 or an error
 * that is set. */
int choice_load(struct choice_table *table, bool one_medium);

struct covey_team;
/* What a call of so many bytes takes; an algorithm that does not suit the team is passed over. */
enum algorithm team_choose(const struct covey_team *team, enum operation operation, uint64_t bytes);
/* Whether a call of so many bytes takes that one. */
bool team_chooses(const struct covey_team *team, enum algorithm algorithm, uint64_t bytes);
/* Like team_choose(), of those that are made of messages: all but `shared`. */
enum algorithm team_choose_messages(const struct covey_team *team, enum operation operation,
                                    uint64_t bytes);

#endif
