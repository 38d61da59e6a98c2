/*
 * bootstrap.c - the invitation as one line, which a launcher can pass on through any shell, and no
 * log shows as text. It holds the key of the VM: what held it is overwritten.
 */
#include "daemon/base/bootstrap.h"

#include <ctype.h>
#include <sodium.h>
#include <string.h>

#include "daemon/base/version.h"

int bootstrap_print(const struct control_bootstrap *bootstrap, char *line)
{
    uint8_t bytes[BOOTSTRAP_BYTES_MAX];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    control_put_bootstrap(&c, bootstrap);
    if (!cursor_ok(&c))
        return -1;
    size_t size = (size_t)(c.at - bytes);
    sodium_bin2hex(line, BOOTSTRAP_LINE_MAX - 1, bytes, size);
    sodium_memzero(bytes, sizeof bytes);
    memcpy(line + 2 * size, "\n", 2);
    return (int)(2 * size + 1);
}

static const char *bootstrap_refused(struct control_bootstrap *b, struct cursor *c)
{
    control_get_bootstrap(c, b);
    if (!cursor_done(c))
        return "it is damaged";
    if (!bootstrap_name_ok(b->vm) || !bootstrap_name_ok(b->name))
        return "its names are not valid";
    if (b->index == 0 || b->index > HOST_INDEX_MAX || b->coordinator.address_count == 0)
        return "it names no host";
    return NULL;
}

int bootstrap_read(struct control_bootstrap *bootstrap, FILE *in, struct failure *why)
{
    char line[BOOTSTRAP_LINE_MAX];
    uint8_t bytes[BOOTSTRAP_BYTES_MAX];
    size_t size = 0;
    setvbuf(in, NULL, _IONBF, 0); /* no copy of the key stays in a buffer */
    if (fgets(line, sizeof line, in) == NULL)
        return failure_set(why, "--join expects a line on standard input; it is for launchers, use "
                                "`covey add` to add a host");
    line[strcspn(line, "\r\n")] = '\0';
    const char *refused = "it is not a line of hex digits";
    if (sodium_hex2bin(bytes, sizeof bytes, line, strlen(line), NULL, &size, NULL) == 0) {
        struct cursor c = cursor_reader(bytes, size);
        refused = bootstrap_refused(bootstrap, &c);
    }
    sodium_memzero(line, sizeof line);
    sodium_memzero(bytes, sizeof bytes);
    if (size > 0 && bootstrap->version != WIRE_VERSION)
        return failure_set(why,
                           "the line on standard input is from a coveyd of another version, "
                           "protocol %u; this is coveyd %s",
                           bootstrap->version, version_short);
    return refused == NULL ? 0
                           : failure_set(why, "cannot use the line on standard input: %s", refused);
}

bool bootstrap_name_ok(const char *name)
{
    size_t size = strlen(name);
    if (size == 0 || size > CONTROL_NAME_MAX || name[0] == '-' || name[0] == '.')
        return false;
    for (; *name != '\0'; name++)
        if (!isalnum((unsigned char)*name) && strchr("._-@", *name) == NULL)
            return false;
    return true;
}
