/*
 * A host that `covey doctor` examines: what its `coveyd --examine` says of it, line by line (the
 * grammar stands in tools/probe/examine.c). The lines come from other machines and are taken as
 * such: what makes no sense is passed over, and nothing grows without limit.
 */
#ifndef COVEY_TOOLS_PATIENT_H
#define COVEY_TOOLS_PATIENT_H

#include <stdbool.h>

#include "tools/doctor/finding.h"

#define PATIENT_ADDRESSES 8
#define PATIENT_TEXT_BYTES 64
#define PATIENT_WORDS_BYTES 256

struct patient_addresses {
    char list[PATIENT_ADDRESSES][PATIENT_TEXT_BYTES];
    int count;
};

/* What probes of one other host came to. */
struct patient_contact {
    bool heard;                   /* that host's datagrams arrive here */
    char udp[PATIENT_TEXT_BYTES]; /* "ok" or why not; "": not probed */
    char tcp[PATIENT_TEXT_BYTES]; /* likewise */
};

struct patient {
    char name[PATIENT_TEXT_BYTES];
    char version[PATIENT_TEXT_BYTES]; /* "0.1.0 (wire 1)"; "": not known */
    char order[PATIENT_TEXT_BYTES];
    char machine[2 * PATIENT_TEXT_BYTES];
    char token[PATIENT_TEXT_BYTES];
    struct patient_addresses interfaces; /* "eth0 192.0.2.1" */
    struct patient_addresses udp, tcp;   /* where it can be probed */
    long long clock_us;                  /* its own, when it was ready */
    long long asked_us, told_us;         /* ours, before it was asked and when it told its clock */
    struct patient_contact *contacts;    /* as many as there are patients, in their order */
    bool ready;                          /* it has said all */
    char words[PATIENT_WORDS_BYTES];     /* the last line that was not for a doctor */
};

struct patients {
    struct patient *list;
    int count;
};

/* Room for n patients; false when memory is exhausted. patients_free() in either case. */
bool patients_create(struct patients *patients, int n);
void patients_free(struct patients *patients);

/* Takes a line that the patient's coveyd printed. */
void patient_line(struct patients *patients, struct patient *patient, char *line,
                  struct findings *findings);

#endif
