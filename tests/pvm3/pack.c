/*
 * pack.c - packing and unpacking: all types in all encodings, strides, lengths, formats.
 */
#include "tests/pvm3/say.h"

#include <string.h>

static int length(void)
{
    int bytes = -1;
    pvm_bufinfo(pvm_getsbuf(), &bytes, NULL, NULL);
    return bytes;
}

/* Packs three of five elements with a stride of 2 and says how long the message is; then unpacks
 * them with another stride, and says what they are. */
#define TYPE(name, ctype, per)                                                                     \
    static void type_##name(int encoding)                                                          \
    {                                                                                              \
        ctype in[6 * per], out[9 * per];                                                           \
        for (int i = 0; i < 6 * per; i++)                                                          \
            in[i] = (ctype)(i * 7 - 9);                                                            \
        memset(out, 0, sizeof out);                                                                \
        pvm_initsend(encoding);                                                                    \
        SAY(pvm_pk##name(in, 3, encoding == PvmDataInPlace ? 1 : 2));                              \
        SAY(length());                                                                             \
        SAY_SIGN(say_turn(5));                                                                     \
        SAY(pvm_upk##name(out, 3, 3));                                                             \
        for (int i = 0; i < 9 * per; i++)                                                          \
            printf(" %g", (double)out[i]);                                                         \
        printf("\n");                                                                              \
        SAY(pvm_upk##name(out, 1, 1));                                                             \
    }

TYPE(byte, char, 1)
TYPE(short, short, 1)
TYPE(int, int, 1)
TYPE(float, float, 1)
TYPE(double, double, 1)
TYPE(cplx, float, 2)
TYPE(dcplx, double, 2)
TYPE(ushort, unsigned short, 1)
TYPE(uint, unsigned, 1)

static void types(int encoding)
{
    printf("encoding %d\n", encoding);
    type_byte(encoding);
    type_short(encoding);
    type_int(encoding);
    type_float(encoding);
    type_double(encoding);
    type_cplx(encoding);
    type_dcplx(encoding);
    type_ushort(encoding);
    type_uint(encoding);
}

/* In raw data a long has all its bytes on PVM, too. */
static void longs(void)
{
    long in[2] = {-5, 1L << 40}, out[2] = {0, 0};
    unsigned long uin = 1UL << 63, uout = 0;
    pvm_initsend(PvmDataRaw);
    SAY(pvm_pklong(in, 2, 1));
    SAY(pvm_pkulong(&uin, 1, 1));
    SAY(length());
    say_turn(5);
    SAY(pvm_upklong(out, 2, 1));
    SAY(pvm_upkulong(&uout, 1, 1));
    SAY(out[0] == in[0] && out[1] == in[1] && uout == uin);
}

static void strings(int encoding)
{
    char text[64] = "";
    printf("encoding %d\n", encoding);
    pvm_initsend(encoding);
    SAY(pvm_pkstr("hello"));
    SAY(pvm_pkstr(""));
    SAY(length());
    say_turn(5);
    SAY(pvm_upkstr(text));
    SAY_TEXT(text);
    SAY(pvm_upkstr(text));
    SAY_TEXT(text);
    SAY(pvm_upkstr(text));
}

/* What bytes leave free to the next multiple of 4 belongs to them. */
static void bytes(int encoding)
{
    char out[4] = "...";
    int x = 77;
    pvm_initsend(encoding);
    SAY(pvm_pkbyte("abc", 3, 1));
    SAY(pvm_pkint(&x, 1, 1));
    SAY(length());
    say_turn(5);
    SAY(pvm_upkbyte(out, 3, 1));
    SAY_TEXT(out);
    x = 0;
    SAY(pvm_upkint(&x, 1, 1));
    SAY(x);
}

static void refused(void)
{
    int x = 3;
    pvm_initsend(PvmDataDefault);
    SAY(pvm_pkint(&x, -1, 1));
    SAY(pvm_pkint(&x, 0, 1));
    SAY(pvm_pkint(&x, 1, 0));
    pvm_initsend(PvmDataInPlace);
    SAY(pvm_pkint(&x, 2, 2));
    SAY(pvm_pkstr("text"));
}

/* What is packed in place is taken when it is sent. */
static void in_place(void)
{
    int in[3] = {1, 2, 3}, out[3] = {0, 0, 0};
    pvm_initsend(PvmDataInPlace);
    pvm_pkint(in, 3, 1);
    in[1] = 20;
    say_turn(5);
    SAY(pvm_upkint(out, 3, 1));
    printf("%d %d %d\n", out[0], out[1], out[2]);
}

static void formats(void)
{
    char text[32] = "", c = 0;
    short h = 0;
    int d[4] = {4, 3, 2, 1}, e[4] = {0, 0, 0, 0};
    unsigned u = 0;
    float f = 0;
    double g = 0;
    SAY(pvm_packf("%+ %d %s %c", PvmDataDefault, 5, "abc", 'x'));
    SAY(pvm_packf("%hd %ud %f %lf", 7, 8u, 1.5, 2.5));
    SAY(pvm_packf("%2d %*.*d", d, 2, 2, d));
    SAY(length());
    SAY(pvm_packf("%q"));
    say_turn(5);
    SAY(pvm_unpackf("%d %s %c", &e[0], text, &c));
    printf("%d %s %c\n", e[0], text, c);
    SAY(pvm_unpackf("%hd %ud %f %lf", &h, &u, &f, &g));
    printf("%d %u %g %g\n", h, u, (double)f, g);
    SAY(pvm_unpackf("%4d", e));
    printf("%d %d %d %d\n", e[0], e[1], e[2], e[3]);
    SAY(pvm_unpackf("%d", e));
}

static void nested(void)
{
    int x = 5;
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&x, 1, 1);
    int inner = pvm_setsbuf(pvm_mkbuf(PvmDataDefault));
    SAY(pvm_pkmesg(inner));
    SAY(length());
    SAY(pvm_pkmesgbody(inner));
    SAY(length());
    say_turn(9);
    int unpacked = pvm_upkmesg();
    SAY_SIGN(unpacked);
    SAY(pvm_upkint(&x, 1, 1));
    SAY(x);
    x = 0;
    SAY_SIGN(pvm_setrbuf(unpacked));
    SAY(pvm_upkint(&x, 1, 1));
    SAY(x);
    SAY(pvm_upkint(&x, 1, 1));
    pvm_setopt(PvmAutoErr, 0);
    pvm_setsbuf(0);
    SAY(pvm_pkmesg(99999));
    SAY(pvm_pkmesg(unpacked));
    SAY(pvm_pkmesgbody(99999));
    pvm_setopt(PvmAutoErr, 1);
    SAY(pvm_pkint(&x, -1, 1));
    SAY(pvm_pkint(&x, 1, 1));
    pvm_setrbuf(0);
    SAY(pvm_upkint(&x, -1, 1));
}

int main(void)
{
    say_begin();
    types(PvmDataDefault);
    types(PvmDataRaw);
    types(PvmDataInPlace);
    longs();
    strings(PvmDataDefault);
    strings(PvmDataRaw);
    bytes(PvmDataDefault);
    bytes(PvmDataRaw);
    refused();
    in_place();
    formats();
    nested();
    pvm_exit();
    return 0;
}
