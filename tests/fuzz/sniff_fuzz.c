/* links: proto/wire/host.c proto/wire/contention_config.c tests/fuzz/pcapfile.c tools/wire/sniffer.c tools/wire/sniff_packet.c tools/wire/sniff_stream.c tools/wire/sniff_flow.c tools/wire/sniff_hosts.c tools/wire/sniff_window.c tools/wire/sniff_note.c tools/wire/sniff_filter.c tools/wire/sniff_text.c tools/wire/sniff_json.c daemon/base/failure.c proto/wire/address.c proto/auth/auth.c cipher/cipher*.c proto/wire/command.c proto/wire/control.c proto/contention/contention.c proto/wire/cursor.c proto/wire/datagram.c proto/wire/ether.c proto/wire/frame.c proto/raft/raft_wire.c proto/auth/record.c proto/auth/stream_auth.c proto/member/table.c proto/window/window_wire.c */
/*
 * sniff_fuzz.c - a capture file from a stranger: the input is one, as tcpdump writes it.
 *
 * Whatever is in it, each sighting is printed as one line without characters that a terminal
 * obeys, and what it says lies inside the packet.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/pcapfile.h"
#include "tools/wire/sniff_filter.h"
#include "tools/wire/sniff_print.h"

static void check_line(const struct sighting *g, void (*print)(FILE *, const struct sighting *))
{
    char *line = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&line, &size);

    REQUIRE(out != NULL);
    print(out, g);
    fclose(out);
    REQUIRE(size > 0 && line[size - 1] == '\n');
    for (size_t i = 0; i + 1 < size; i++)
        REQUIRE(line[i] >= ' ' && line[i] <= '~');
    free(line);
}

/* Braces, brackets and strings of a JSON line close. */
static void check_json(const struct sighting *g)
{
    char *line = NULL;
    size_t size = 0;
    int depth = 0;
    bool text = false;
    FILE *out = open_memstream(&line, &size);

    REQUIRE(out != NULL);
    sniff_print_json(out, g);
    fclose(out);
    for (size_t i = 0; i < size; i++) {
        if (text && line[i] == '\\')
            i++;
        else if (line[i] == '"')
            text = !text;
        else if (!text)
            depth += (line[i] == '{' || line[i] == '[') - (line[i] == '}' || line[i] == ']');
        REQUIRE(depth > 0 || i + 2 >= size);
    }
    REQUIRE(depth == 0 && !text);
    free(line);
}

static void on_sighting(void *context, const struct sighting *g)
{
    const struct sniff_filter *filter = context;

    REQUIRE(g->captured <= g->size);
    REQUIRE(g->has_pieces <= !g->encrypted);
    check_line(g, sniff_print_text);
    check_line(g, sniff_print_json);
    check_json(g);
    sniff_filter_passes(filter, g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct address address = {.family = ADDRESS_IPV4, .size = 6, .bytes = {10, 0, 0, 1, 0, 1}};
    struct sniff_filter filter = {.host_count = 0};
    struct failure why;
    struct sniff_capture capture;
    struct pcapfile file;
    struct sniffer *s;

    if (!pcapfile_open(&file, data, size))
        return 0;
    s = sniffer_create(0x88b5, on_sighting, &filter);
    REQUIRE(s != NULL);
    sniffer_know(s, &address, 1, "known");
    sniff_filter_add_host(&filter, "h1", &why);
    sniff_filter_add_kind(&filter, "DATA", &why);
    sniff_filter_add_tid(&filter, "t40001", &why);
    while (pcapfile_next(&file, &capture))
        sniffer_packet(s, &capture);
    sniffer_destroy(s);
    return 0;
}
