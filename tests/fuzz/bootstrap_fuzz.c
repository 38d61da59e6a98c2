/* links: proto/wire/contention_config.c daemon/base/bootstrap.c daemon/base/failure.c daemon/base/version.c proto/wire/control.c proto/contention/contention.c proto/wire/address.c proto/wire/cursor.c */
/*
 * The line that a launcher writes to a new daemon: the input as it stands, and its bytes as the hex
 * digits of a line. A line that is accepted is printed and read again as the same.
 */
#include "daemon/base/bootstrap.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

static int read_line(struct control_bootstrap *b, const void *bytes, size_t size)
{
    struct failure why = {""};
    FILE *in = fmemopen((void *)(uintptr_t)bytes, size, "r");
    REQUIRE(in != NULL);
    memset(b, 0, sizeof *b);
    int result = bootstrap_read(b, in, &why);
    REQUIRE((result != 0) == (why.text[0] != '\0') &&
            memchr(why.text, '\n', sizeof why.text) == NULL);
    fclose(in);
    return result;
}

static void try_line(const void *bytes, size_t size)
{
    static struct control_bootstrap first, second;
    char line[BOOTSTRAP_LINE_MAX], again[BOOTSTRAP_LINE_MAX];
    if (size == 0 || read_line(&first, bytes, size) != 0)
        return;
    int length = bootstrap_print(&first, line);
    REQUIRE(length > 0 && read_line(&second, line, (size_t)length) == 0);
    REQUIRE(bootstrap_print(&second, again) == length && strcmp(line, again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char hex[BOOTSTRAP_LINE_MAX + 64];
    if (sodium_init() < 0)
        return 0;
    try_line(data, size);
    if (size > 0 && 2 * size + 1 <= sizeof hex) {
        sodium_bin2hex(hex, sizeof hex, data, size);
        try_line(hex, strlen(hex));
    }
    return 0;
}
