/* links: proto/wire/contention_config.c daemon/base/conf.c daemon/base/conf_value.c proto/network/topology.c proto/contention/contention.c daemon/base/failure.c daemon/base/log.c daemon/base/sockaddr.c proto/session/fault.c proto/session/slow.c proto/wire/cursor.c -linih */
/*
 * covey.conf as anybody may have written it. A file that is accepted is printed and read again as
 * the same; one that is not is refused in one line.
 */
#include "daemon/base/conf.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

/* The file's text: of size bytes, or what is printed. */
static int memory_file(const void *bytes, size_t size)
{
    int fd = memfd_create("conf", MFD_CLOEXEC);
    REQUIRE(fd >= 0 && (size == 0 || write(fd, bytes, size) == (ssize_t)size));
    return fd;
}

static int read_file(struct conf *conf, int fd)
{
    struct failure why = {""};
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    conf_init(conf);
    int result = conf_read(conf, path, &why);
    REQUIRE((result != 0) == (why.text[0] != '\0') &&
            memchr(why.text, '\n', sizeof why.text) == NULL);
    close(fd);
    return result;
}

static size_t print(const struct conf *conf, char *text, size_t size)
{
    FILE *out = fmemopen(text, size, "w");
    REQUIRE(out != NULL);
    conf_print(conf, out);
    REQUIRE(fclose(out) == 0);
    return strlen(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct conf first, second;
    static char text[65536], again[65536];
    memset(&first, 0, sizeof first);
    memset(&second, 0, sizeof second);
    if (size > 16384 || read_file(&first, memory_file(data, size)) != 0)
        return 0;
    size_t length = print(&first, text, sizeof text);
    REQUIRE(read_file(&second, memory_file(text, length)) == 0);
    REQUIRE(print(&second, again, sizeof again) == length && strcmp(text, again) == 0);
    return 0;
}
