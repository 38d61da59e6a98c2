/*
 * sniff_json.c - a sighting as one JSON object on a line. Fields that a sighting does not have are
 * left out. The object is small and flat enough to be written as it goes.
 */
#include <string.h>

#include "proto/cast/cast_wire.h"
#include "tools/wire/sniff_print.h"

static void put_text(FILE *out, const char *name, const char *text)
{
    if (text == NULL)
        return;
    fprintf(out, ", \"%s\": ", name);
    putc('"', out);
    for (; *text != '\0'; text++) {
        char c = sniff_print_safe(*text);
        if (c == '"' || c == '\\')
            putc('\\', out);
        putc(c, out);
    }
    putc('"', out);
}

static void put_json_number(FILE *out, const char *name, uint64_t number)
{
    fprintf(out, ", \"%s\": %llu", name, (unsigned long long)number);
}

static void put_known(FILE *out, const char *name, uint64_t number)
{
    if (number != 0)
        put_json_number(out, name, number);
}

static void put_flag(FILE *out, const char *name, bool flag)
{
    if (flag)
        fprintf(out, ", \"%s\": true", name);
}

static void put_address(FILE *out, const char *name, const struct address *address)
{
    char text[ADDRESS_TEXT_BYTES];
    if (address->family == ADDRESS_NONE)
        return;
    address_text(address, text);
    put_text(out, name, text);
}

static void put_tid(FILE *out, const char *name, uint32_t tid)
{
    fprintf(out, ", \"%s\": \"t%x\"", name, tid);
}

void sniff_print_json(FILE *out, const struct sighting *g)
{
    fprintf(out, "{\"time\": %llu.%06u, \"lane\": \"%s\", \"kind\": \"%s\"",
            (unsigned long long)(g->time_us / 1000000), (unsigned)(g->time_us % 1000000),
            sniff_lane_name((int)g->lane), sniff_print_kind(g));
    put_address(out, "from", &g->from);
    put_address(out, "to", &g->to);
    put_known(out, "from_host", g->from_host);
    put_known(out, "to_host", g->to_host);
    put_text(out, "from_name", g->from_name);
    put_text(out, "to_name", g->to_name);
    if (g->what == SNIFF_DATAGRAM)
        fprintf(out, ", \"vm\": \"%08x\", \"version\": %u", g->head.vm, g->head.version);
    if (g->from_task != 0)
        put_tid(out, "from_task", g->from_task);
    if (g->to_task != 0)
        put_tid(out, "to_task", g->to_task);
    if (g->head.has_number)
        put_json_number(out, "number", g->head.number);
    put_json_number(out, "bytes", g->size);
    put_json_number(out, "captured", g->captured);
    put_flag(out, "encrypted", g->encrypted);
    put_text(out, "refused", g->refusal);
    if (g->head.has_target)
        put_json_number(out, "target", g->head.target);
    put_known(out, "reason", g->head.reason);
    if (g->head.has_cast)
        put_json_number(out, "cast", g->head.cast);
    put_flag(out, "first", g->head.cast_flags & CAST_FIRST);
    put_flag(out, "last", g->head.cast_flags & CAST_LAST);
    put_flag(out, "detour", g->detour);
    put_flag(out, "again", g->again);
    put_flag(out, "lost", g->lost);
    put_known(out, "records", g->record_count);
    if (g->has_pieces) {
        if (g->pieces.ack) {
            fprintf(out, ", \"ack\": {\"delay_us\": %u, \"ranges\": [", g->pieces.ack_delay_us);
            for (size_t i = 0; i < g->pieces.ack_count; i++)
                fprintf(out, "%s[%llu, %llu]", i == 0 ? "" : ", ",
                        (unsigned long long)g->pieces.ack_ranges[i].begin,
                        (unsigned long long)g->pieces.ack_ranges[i].end - 1);
            fputs("]}", out);
        }
        if (g->pieces.limit)
            put_json_number(out, "limit", g->pieces.limit_offset);
        put_flag(out, "ping", g->pieces.ping);
        if (g->pieces.stream)
            fprintf(out, ", \"stream\": {\"offset\": %llu, \"length\": %zu}",
                    (unsigned long long)g->pieces.offset, g->pieces.length);
    }
    if (g->frame_count != 0) {
        fputs(", \"frames\": [", out);
        for (size_t i = 0; i < g->frame_count; i++) {
            fputs(i == 0 ? "" : ", ", out);
            const struct frame *frame = &g->frames[i].frame;
            fprintf(out, "{\"kind\": \"%s\"", frame_kind_name(frame->kind));
            put_tid(out, "source", frame->source);
            put_tid(out, "destination", frame->destination);
            put_json_number(out, "bytes", frame->length);
            put_flag(out, "first", frame->flags & FRAME_FIRST);
            put_flag(out, "last", frame->flags & FRAME_LAST);
            if (g->frames[i].has_message) {
                fprintf(out,
                        ", \"message\": {\"sequence\": %llu, \"size\": %llu, \"tag\": %d, "
                        "\"context\": %u}",
                        (unsigned long long)g->frames[i].message.sequence,
                        (unsigned long long)g->frames[i].message.size, g->frames[i].message.tag,
                        g->frames[i].message.context);
            }
            if (g->frames[i].note[0] != '\0')
                put_text(out, "note", g->frames[i].note);
            putc('}', out);
        }
        putc(']', out);
    }
    fputs("}\n", out);
}
