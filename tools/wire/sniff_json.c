/*
 * sniff_json.c - a sighting as one JSON object on a line. Fields that a sighting does not have are
 * left out. The object is small and flat enough to be written as it goes.
 */
#include <string.h>

#include "proto/cast/cast_wire.h"
#include "tools/wire/sniff_print.h"

static void put_string(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text != '\0'; text++) {
        char c = sniff_print_safe(*text);

        if (c == '"' || c == '\\')
            putc('\\', out);
        putc(c, out);
    }
    putc('"', out);
}

static void put_text(FILE *out, const char *name, const char *text)
{
    if (text == NULL)
        return;
    fprintf(out, ", \"%s\": ", name);
    put_string(out, text);
}

static void put_number(FILE *out, const char *name, uint64_t number)
{
    fprintf(out, ", \"%s\": %llu", name, (unsigned long long)number);
}

static void put_known(FILE *out, const char *name, uint64_t number)
{
    if (number != 0)
        put_number(out, name, number);
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

static void put_ends(FILE *out, const struct sighting *g)
{
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
}

static void put_ack(FILE *out, const struct wire_packet *p)
{
    fprintf(out, ", \"ack\": {\"delay_us\": %u, \"ranges\": [", p->ack_delay_us);
    for (size_t i = 0; i < p->ack_count; i++)
        fprintf(out, "%s[%llu, %llu]", i == 0 ? "" : ", ",
                (unsigned long long)p->ack_ranges[i].begin,
                (unsigned long long)p->ack_ranges[i].end - 1);
    fputs("]}", out);
}

static void put_pieces(FILE *out, const struct wire_packet *p)
{
    if (p->ack)
        put_ack(out, p);
    if (p->limit)
        put_number(out, "limit", p->limit_offset);
    put_flag(out, "ping", p->ping);
    if (p->stream)
        fprintf(out, ", \"stream\": {\"offset\": %llu, \"length\": %zu}",
                (unsigned long long)p->offset, p->length);
}

static void put_message(FILE *out, const struct message_header *m)
{
    fprintf(out,
            ", \"message\": {\"sequence\": %llu, \"size\": %llu, \"tag\": %d, \"context\": %u}",
            (unsigned long long)m->sequence, (unsigned long long)m->size, m->tag, m->context);
}

static void put_frame(FILE *out, const struct sniff_frame *f)
{
    const struct frame *frame = &f->frame;

    fprintf(out, "{\"kind\": \"%s\"", frame_kind_name(frame->kind));
    put_tid(out, "source", frame->source);
    put_tid(out, "destination", frame->destination);
    put_number(out, "bytes", frame->length);
    put_flag(out, "first", frame->flags & FRAME_FIRST);
    put_flag(out, "last", frame->flags & FRAME_LAST);
    if (f->has_message)
        put_message(out, &f->message);
    if (f->note[0] != '\0')
        put_text(out, "note", f->note);
    putc('}', out);
}

static void put_frames(FILE *out, const struct sighting *g)
{
    if (g->frame_count == 0)
        return;
    fputs(", \"frames\": [", out);
    for (size_t i = 0; i < g->frame_count; i++) {
        fputs(i == 0 ? "" : ", ", out);
        put_frame(out, &g->frames[i]);
    }
    putc(']', out);
}

static void put_particulars(FILE *out, const struct sighting *g)
{
    put_flag(out, "encrypted", g->encrypted);
    put_text(out, "refused", g->refusal);
    if (g->head.has_target)
        put_number(out, "target", g->head.target);
    put_known(out, "reason", g->head.reason);
    if (g->head.has_cast)
        put_number(out, "cast", g->head.cast);
    put_flag(out, "first", g->head.cast_flags & CAST_FIRST);
    put_flag(out, "last", g->head.cast_flags & CAST_LAST);
    put_flag(out, "detour", g->detour);
    put_flag(out, "again", g->again);
    put_flag(out, "lost", g->lost);
    put_known(out, "records", g->record_count);
}

void sniff_print_json(FILE *out, const struct sighting *g)
{
    fprintf(out, "{\"time\": %llu.%06u, \"lane\": \"%s\", \"kind\": \"%s\"",
            (unsigned long long)(g->time_us / 1000000), (unsigned)(g->time_us % 1000000),
            sniff_lane_name((int)g->lane), sniff_print_kind(g));
    put_ends(out, g);
    if (g->head.has_number)
        put_number(out, "number", g->head.number);
    put_number(out, "bytes", g->size);
    put_number(out, "captured", g->captured);
    put_particulars(out, g);
    if (g->has_pieces)
        put_pieces(out, &g->pieces);
    put_frames(out, g);
    fputs("}\n", out);
}
