/*
 * sniff_text.c - the line for people:
 *
 *   TIME LANE FROM > TO HOST>HOST KIND #NUMBER SIZE ... PIECES | FRAME, FRAME
 */
#include <time.h>

#include "proto/cast/cast_wire.h"
#include "proto/wire/datagram.h"
#include "tools/wire/sniff_print.h"

const char *sniff_print_kind(const struct sighting *g)
{
    static const char *const steps[] = {[SNIFF_STREAM_HELLO] = "stream-hello",
                                        [SNIFF_STREAM_CHALLENGE] = "stream-challenge",
                                        [SNIFF_STREAM_PROOF] = "stream-proof",
                                        [SNIFF_STREAM_BYTES] = "stream"};
    if (g->what != SNIFF_DATAGRAM)
        return steps[g->what];
    return g->head.kind == 0 ? "unknown" : datagram_kind_name(g->head.kind);
}

static void print_address(FILE *out, const struct address *address)
{
    char text[ADDRESS_TEXT_BYTES] = "?";
    if (address->family != ADDRESS_NONE)
        address_text(address, text);
    fputs(text, out);
}

static void print_safe(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        putc(sniff_print_safe(*text), out);
}

static void print_host(FILE *out, uint32_t index, const char *name)
{
    if (index == 0) {
        putc('?', out);
        return;
    }
    if (name != NULL)
        print_safe(out, name);
    fprintf(out, "(%u)", index);
}

static void print_task(FILE *out, uint32_t tid)
{
    if (tid == 0)
        putc('?', out);
    else
        fprintf(out, "t%x", tid);
}

void sniff_print_text(FILE *out, const struct sighting *g)
{
    time_t seconds = (time_t)(g->time_us / 1000000);
    struct tm tm;
    char text[16] = "--:--:--";
    if (localtime_r(&seconds, &tm) != NULL)
        strftime(text, sizeof text, "%H:%M:%S", &tm);
    fprintf(out, "%s.%06u", text, (unsigned)(g->time_us % 1000000));
    fprintf(out, " %s ", sniff_lane_name((int)g->lane));
    print_address(out, &g->from);
    fputs(" > ", out);
    print_address(out, &g->to);
    putc(' ', out);
    if (g->to_task != 0) {
        print_task(out, g->from_task);
        putc('>', out);
        print_task(out, g->to_task);
    } else {
        print_host(out, g->from_host, g->from_name);
        putc('>', out);
        print_host(out, g->to_host, g->to_name);
    }
    fprintf(out, " %s", sniff_print_kind(g));
    if (g->head.has_number)
        fprintf(out, " #%llu", (unsigned long long)g->head.number);
    fprintf(out, " %zu bytes", g->size);
    if (g->captured < g->size)
        fprintf(out, " (%zu captured)", g->captured);
    if (g->head.has_target)
        fprintf(out, " target %u", g->head.target);
    if (g->head.kind == DATAGRAM_REFUSE && g->refusal == NULL)
        fprintf(out, " %s",
                g->head.reason == REASON_GONE       ? "host is gone"
                : g->head.reason == REASON_IDENTITY ? "another daemon has that index"
                                                    : "for an unknown reason");
    if (g->head.has_cast)
        fprintf(out, " channel %u%s%s", g->head.cast,
                g->head.cast_flags & CAST_FIRST ? " first" : "",
                g->head.cast_flags & CAST_LAST ? " last" : "");
    if (g->detour)
        fputs(" detour", out);
    if (g->encrypted)
        fputs(" encrypted", out);
    if (g->again)
        fputs(" again", out);
    if (g->refusal != NULL)
        fprintf(out, " refused: %s", g->refusal);
    if (g->has_pieces) {
        if (g->pieces.ack) {
            fputs(" ack", out);
            for (size_t i = 0; i < g->pieces.ack_count; i++) {
                const struct range *r = &g->pieces.ack_ranges[i];
                fprintf(out, i == 0 ? " %llu" : ",%llu", (unsigned long long)r->begin);
                if (r->end - r->begin > 1)
                    fprintf(out, "-%llu", (unsigned long long)r->end - 1);
            }
            fprintf(out, " +%uus", g->pieces.ack_delay_us);
        }
        if (g->pieces.limit)
            fprintf(out, " limit %llu", (unsigned long long)g->pieces.limit_offset);
        if (g->pieces.ping)
            fputs(" ping", out);
        if (g->pieces.stream)
            fprintf(out, " stream %llu+%zu", (unsigned long long)g->pieces.offset,
                    g->pieces.length);
    }
    for (size_t i = 0; i < g->frame_count; i++) {
        fputs(i == 0 ? " | " : ", ", out);
        const struct frame *frame = &g->frames[i].frame;
        fprintf(out, "%s t%x>t%x", frame_kind_name(frame->kind), frame->source, frame->destination);
        if (g->frames[i].note[0] != '\0')
            putc(' ', out);
        print_safe(out, g->frames[i].note);
        if (g->frames[i].has_message)
            fprintf(out, " tag %d message %llu size %llu", g->frames[i].message.tag,
                    (unsigned long long)g->frames[i].message.sequence,
                    (unsigned long long)g->frames[i].message.size);
        if (g->frames[i].has_message && g->frames[i].message.context != 0)
            fprintf(out, " context %u", g->frames[i].message.context);
        fprintf(out, " %u bytes", frame->length);
        if (frame->kind == FRAME_DATA && frame->flags & FRAME_LAST)
            fputs(" last", out);
    }
    if (g->record_count > 0)
        fprintf(out, " | %zu encrypted records", g->record_count);
    if (g->lost)
        fputs(" | frames lost from here", out);
    putc('\n', out);
}
