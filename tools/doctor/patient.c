/*
 * patient.c - what the examined host said, read line by line. The lines come from another machine:
 * what makes no sense is passed over, and nothing grows without limit.
 */
#include "tools/doctor/patient.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FIELDS_MAX 5
#define CLOCK_MOST_US (LLONG_MAX / 4) /* beyond it differences could overflow */

bool patients_create(struct patients *patients, int n)
{
    *patients = (struct patients){.list = calloc((size_t)n, sizeof(struct patient)), .count = n};
    for (int i = 0; patients->list && i < n; i++) {
        patients->list[i].contacts = calloc((size_t)n, sizeof(struct patient_contact));
        if (!patients->list[i].contacts)
            return false;
    }
    return patients->list;
}

void patients_free(struct patients *patients)
{
    for (int i = 0; patients->list && i < patients->count; i++)
        free(patients->list[i].contacts);
    free(patients->list);
    *patients = (struct patients){0};
}

static struct patient_contact *contact_of(struct patients *patients, struct patient *patient,
                                          const char *name)
{
    for (int i = 0; i < patients->count; i++) {
        if (strcmp(patients->list[i].name, name) == 0)
            return &patient->contacts[i];
    }
    return NULL;
}

static void copy_field(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from);
}

static void on_interface(struct patient *patient, char *const *field)
{
    struct patient_addresses *all = &patient->interfaces;
    if (all->count < PATIENT_ADDRESSES)
        snprintf(all->list[all->count++], PATIENT_TEXT_BYTES, "%.15s %.46s", field[1], field[2]);
}

static void on_clock(struct patient *patient, const char *text)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    long long clock_us = strtoll(text, NULL, 10);
    if (clock_us < 0 || clock_us > CLOCK_MOST_US)
        clock_us = clock_us < 0 ? 0 : CLOCK_MOST_US;
    patient->clock_us = clock_us;
    patient->told_us = (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void on_reached(struct patients *patients, struct patient *patient, char *const *field)
{
    struct patient_contact *contact = contact_of(patients, patient, field[1]);
    if (contact && strcmp(field[2], "udp") == 0)
        copy_field(contact->udp, sizeof contact->udp, field[3]);
    if (contact && strcmp(field[2], "tcp") == 0)
        copy_field(contact->tcp, sizeof contact->tcp, field[3]);
}

static void on_heard(struct patients *patients, struct patient *patient, const char *name)
{
    struct patient_contact *contact = contact_of(patients, patient, name);
    if (contact)
        contact->heard = true;
}

static int split_fields(char *line, char *field[FIELDS_MAX])
{
    int count = 0;
    while (line && count < FIELDS_MAX)
        field[count++] = strsep(&line, "\t");
    for (int i = count; i < FIELDS_MAX; i++)
        field[i] = (char *)"";
    return count;
}

/* The token is sent back on a command line: hex digits and no more. */
static void on_route(struct patient *patient, struct patient_addresses *addresses,
                     char *const *field)
{
    if (strspn(field[1], "0123456789abcdef") != 32 || field[1][32])
        return;
    copy_field(patient->token, sizeof patient->token, field[1]);
    const char *text = field[2];
    if (addresses->count < PATIENT_ADDRESSES && !strpbrk(text, ", "))
        copy_field(addresses->list[addresses->count++], PATIENT_TEXT_BYTES, text);
}

static void on_fact(struct patient *patient, char *const *field)
{
    if (strcmp(field[0], "@version") == 0)
        snprintf(patient->version, sizeof patient->version, "%.40s (wire %.10s)", field[1],
                 field[2]);
    else if (strcmp(field[0], "@order") == 0)
        copy_field(patient->order, sizeof patient->order, field[1]);
    else if (strcmp(field[0], "@machine") == 0)
        copy_field(patient->machine, sizeof patient->machine, field[1]);
    else if (strcmp(field[0], "@clock") == 0)
        on_clock(patient, field[1]);
    else if (strcmp(field[0], "@address") == 0)
        on_interface(patient, field);
    else if (strcmp(field[0], "@udp") == 0)
        on_route(patient, &patient->udp, field);
    else if (strcmp(field[0], "@tcp") == 0)
        on_route(patient, &patient->tcp, field);
    else if (strcmp(field[0], "@ready") == 0)
        patient->ready = true;
}

void patient_line(struct patients *patients, struct patient *patient, char *line,
                  struct findings *findings)
{
    char *field[FIELDS_MAX];
    if (*line != '@') {
        if (*line)
            copy_field(patient->words, sizeof patient->words, line);
        return;
    }
    split_fields(line, field);
    if (strcmp(field[0], "@finding") == 0)
        findings_add(findings, field[1], patient->name, field[3], "%s", field[2]);
    else if (strcmp(field[0], "@reached") == 0)
        on_reached(patients, patient, field);
    else if (strcmp(field[0], "@heard") == 0)
        on_heard(patients, patient, field[1]);
    else
        on_fact(patient, field);
}
