/* links: tools/vm/hostfile.c tools/vm/hostspec.c tools/base/args.c tools/base/words.c */
/*
 * A host file as anybody may have written it: every string of what is accepted can be read, what is
 * not is refused in one line.
 */
#include "tools/vm/hostfile.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

static void look_at(const struct hostfile *file)
{
    for (int i = 0; i < file->count; i++) {
        const char *name = file->hosts[i].host.spec.name;
        REQUIRE(name != NULL && name[0] != '\0' && strlen(name) < 64);
        REQUIRE(hostfile_find(file, name) == &file->hosts[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hostfile file;
    if (size == 0 || size > 16384)
        return 0;
    FILE *in = fmemopen((void *)(uintptr_t)data, size, "r");
    REQUIRE(in != NULL);
    memset(&file, 0, sizeof file);
    if (hostfile_read(&file, in, "hosts") == 0)
        look_at(&file);
    else
        REQUIRE(file.error[0] != '\0' && memchr(file.error, '\n', sizeof file.error) == NULL);
    hostfile_free(&file);
    fclose(in);
    return 0;
}
