/*
 * nic.c - the rate of the network card. Bridges and pairs of virtual interfaces say rates, too,
 * which mean nothing beside a real card: so they count only where there is no other.
 */
#include "daemon/monitor/nic.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/model/figure.h"

#define MEGABIT_BYTES 125000.0
#define INTERFACES_MAX 1024 /* of a machine of many containers the first ones will do */

/* In Mbit/s; a driver that does not know says -1, or cannot be read. */
static double interface_rate(const char *folder, const char *name)
{
    char path[PATH_MAX];
    long megabits = -1;
    snprintf(path, sizeof path, "%s/%s/speed", folder, name);
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return FIGURE_UNKNOWN;
    if (fscanf(in, "%ld", &megabits) != 1 || megabits <= 0)
        megabits = -1;
    fclose(in);
    return megabits > 0 ? (double)megabits * MEGABIT_BYTES : FIGURE_UNKNOWN;
}

static bool has_device(const char *folder, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s/device", folder, name);
    return access(path, F_OK) == 0;
}

double nic_rate(const char *folder)
{
    double real = FIGURE_UNKNOWN, any = FIGURE_UNKNOWN;
    bool is_real = false;
    const struct dirent *entry;
    DIR *all = opendir(folder);
    for (int i = 0; all != NULL && i < INTERFACES_MAX && (entry = readdir(all)) != NULL; i++) {
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "lo") == 0)
            continue;
        double rate = interface_rate(folder, entry->d_name);
        if (has_device(folder, entry->d_name)) {
            is_real = true;
            real = rate > real ? rate : real;
        }
        any = rate > any ? rate : any;
    }
    if (all != NULL)
        closedir(all);
    return is_real ? real : any;
}
