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

static void print_time(FILE *out, uint64_t time_us)
{
    time_t seconds = (time_t)(time_us / 1000000);
    struct tm tm;
    char text[16] = "--:--:--";

    if (localtime_r(&seconds, &tm) != NULL)
        strftime(text, sizeof text, "%H:%M:%S", &tm);
    fprintf(out, "%s.%06u", text, (unsigned)(time_us % 1000000));
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

static void print_ends(FILE *out, const struct sighting *g)
{
    print_address(out, &g->from);
    fputs(" > ", out);
    print_address(out, &g->to);
    putc(' ', out);
    if (g->to_task != 0) {
        print_task(out, g->from_task);
        putc('>', out);
        print_task(out, g->to_task);
        return;
    }
    print_host(out, g->from_host, g->from_name);
    putc('>', out);
    print_host(out, g->to_host, g->to_name);
}

static void print_ack(FILE *out, const struct wire_packet *p)
{
    fputs(" ack", out);
    for (size_t i = 0; i < p->ack_count; i++) {
        const struct range *r = &p->ack_ranges[i];

        fprintf(out, i == 0 ? " %llu" : ",%llu", (unsigned long long)r->begin);
        if (r->end - r->begin > 1)
            fprintf(out, "-%llu", (unsigned long long)r->end - 1);
    }
    fprintf(out, " +%uus", p->ack_delay_us);
}

static void print_pieces(FILE *out, const struct wire_packet *p)
{
    if (p->ack)
        print_ack(out, p);
    if (p->limit)
        fprintf(out, " limit %llu", (unsigned long long)p->limit_offset);
    if (p->ping)
        fputs(" ping", out);
    if (p->stream)
        fprintf(out, " stream %llu+%zu", (unsigned long long)p->offset, p->length);
}

static void print_frame(FILE *out, const struct sniff_frame *f)
{
    const struct frame *frame = &f->frame;

    fprintf(out, "%s t%x>t%x", frame_kind_name(frame->kind), frame->source, frame->destination);
    if (f->note[0] != '\0')
        putc(' ', out);
    print_safe(out, f->note);
    if (f->has_message)
        fprintf(out, " tag %d message %llu size %llu", f->message.tag,
                (unsigned long long)f->message.sequence, (unsigned long long)f->message.size);
    if (f->has_message && f->message.context != 0)
        fprintf(out, " context %u", f->message.context);
    fprintf(out, " %u bytes", frame->length);
    if (frame->kind == FRAME_DATA && frame->flags & FRAME_LAST)
        fputs(" last", out);
}

static void print_frames(FILE *out, const struct sighting *g)
{
    for (size_t i = 0; i < g->frame_count; i++) {
        fputs(i == 0 ? " | " : ", ", out);
        print_frame(out, &g->frames[i]);
    }
    if (g->record_count > 0)
        fprintf(out, " | %zu encrypted records", g->record_count);
}

static void print_particulars(FILE *out, const struct sighting *g)
{
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
    if (g->has_pieces)
        print_pieces(out, &g->pieces);
}

void sniff_print_text(FILE *out, const struct sighting *g)
{
    print_time(out, g->time_us);
    fprintf(out, " %s ", sniff_lane_name((int)g->lane));
    print_ends(out, g);
    fprintf(out, " %s", sniff_print_kind(g));
    if (g->head.has_number)
        fprintf(out, " #%llu", (unsigned long long)g->head.number);
    fprintf(out, " %zu bytes", g->size);
    if (g->captured < g->size)
        fprintf(out, " (%zu captured)", g->captured);
    print_particulars(out, g);
    print_frames(out, g);
    if (g->lost)
        fputs(" | frames lost from here", out);
    putc('\n', out);
}
