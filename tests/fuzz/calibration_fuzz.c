/* links: proto/model/calibration.c */
/*
 * A calibration as anybody may have written it: what is accepted prints to a text that is accepted
 * again, and to the same one; what is not is refused in one line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/model/calibration.h"
#include "tests/fuzz/fuzz.h"

static char *print(const struct calibration *calibration, size_t *length)
{
    *length = calibration_print(calibration, NULL, 0);
    char *text = malloc(*length + 1);
    REQUIRE(text && calibration_print(calibration, text, *length + 1) == *length);
    return text;
}

static void look_at(const struct calibration *calibration)
{
    static struct calibration again;
    char error[CALIBRATION_ERROR_BYTES];
    size_t length, second_length;
    char *text = print(calibration, &length);
    REQUIRE(calibration->host_count > 0 && calibration->host_count <= MODEL_HOSTS_MAX);
    REQUIRE(calibration_parse(&again, text, length, "again", error) == 0);
    char *second = print(&again, &second_length);
    REQUIRE(second_length == length && memcmp(text, second, length) == 0);
    free(text);
    free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct calibration calibration;
    char error[CALIBRATION_ERROR_BYTES];
    if (size > 8192)
        return 0;
    if (calibration_parse(&calibration, (const char *)data, size, "cal", error) == 0)
        look_at(&calibration);
    else
        REQUIRE(error[0] != '\0' && strchr(error, '\n') == NULL);
    return 0;
}
