/*
 * error.h - every error code once: its name, its number, which is negative on the wire and in a
 * program, and its text for people. lib/covey.h says to programs when each is returned; that the
 * numbers there are these is checked where both are seen (lib/msg/error.c).
 */
#ifndef COVEY_PROTO_ERROR_H
#define COVEY_PROTO_ERROR_H

#define ERRORS(ROW)                                                                                \
    ROW(OK, 0, "no error")                                                                         \
    ROW(EINVAL, 1, "bad argument")                                                                 \
    ROW(ENOMEM, 2, "out of memory")                                                                \
    ROW(ETIMEOUT, 3, "timed out")                                                                  \
    ROW(ENOTASK, 4, "no such task")                                                                \
    ROW(ENOHOST, 5, "no such host")                                                                \
    ROW(EHOSTFAIL, 6, "host failed")                                                               \
    ROW(ETYPE, 7, "the message holds another type or fewer elements")                              \
    ROW(EEND, 8, "end of message")                                                                 \
    ROW(ETOOBIG, 9, "message too large")                                                           \
    ROW(EROUTE, 10, "the route cannot work here")                                                  \
    ROW(EDAEMON, 11, "no daemon")                                                                  \
    ROW(EVERSION, 12, "version mismatch")                                                          \
    ROW(EDENIED, 13, "not allowed")                                                                \
    ROW(ENOENT, 14, "no such program or directory")                                                \
    ROW(EEXEC, 15, "the program could not be executed")                                            \
    ROW(ERESOURCE, 16, "out of resources")                                                         \
    ROW(ENOGROUP, 17, "no such group")                                                             \
    ROW(EEXIST, 18, "already there")                                                               \
    ROW(ECANCELED, 19, "cancelled")                                                                \
    ROW(ETRUNC, 20, "the array is too small for the message")                                      \
    ROW(EPROTO, 21, "protocol error")                                                              \
    ROW(ESYS, 22, "system call failed")                                                            \
    ROW(EHALT, 23, "the virtual machine is being halted")                                          \
    ROW(EADDHOST, 24, "the host could not be started")

#define ERROR_NUMBER(name, number, text) ERROR_##name = -(number),
enum error_code { ERRORS(ERROR_NUMBER) };
#undef ERROR_NUMBER

#endif
