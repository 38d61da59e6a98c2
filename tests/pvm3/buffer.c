/*
 * buffer.c - message buffers: making, switching, freeing, and what is known of them.
 */
#include "tests/pvm3/say.h"

static void make(void)
{
    SAY_SIGN(pvm_initsend(PvmDataDefault));
    SAY_SIGN(pvm_initsend(PvmDataRaw));
    SAY_SIGN(pvm_mkbuf(PvmDataInPlace));
    SAY(pvm_mkbuf(7));
    SAY(pvm_initsend(9));
    SAY_SIGN(pvm_getsbuf());
    SAY_SIGN(pvm_setsbuf(0));
    SAY(pvm_getsbuf());
    SAY(pvm_setsbuf(9999));
    SAY(pvm_setrbuf(9999));
}

static void without(void)
{
    int x = 1;
    SAY(pvm_pkint(&x, 1, 1));
    SAY(pvm_send(pvm_mytid(), 1));
    SAY(pvm_upkint(&x, 1, 1));
    SAY(pvm_freebuf(9999));
    SAY(pvm_freebuf(0));
    SAY(pvm_freebuf(-1));
    SAY(pvm_bufinfo(0, &x, NULL, NULL));
    SAY(pvm_bufinfo(9999, &x, NULL, NULL));
}

/* A buffer that is received becomes one that is sent. */
static void forward(void)
{
    int x[4] = {1, 2, 3, 4}, y = 0;
    pvm_initsend(PvmDataDefault);
    pvm_pkint(x, 4, 1);
    int received = say_turn(1);
    SAY(pvm_upkint(&y, 1, 1));
    SAY(y);
    SAY(pvm_setrbuf(0) == received);
    SAY(pvm_setrbuf(received));
    SAY(pvm_upkint(&y, 1, 1));
    SAY(y);
    SAY_SIGN(pvm_setsbuf(received));
    SAY(pvm_getrbuf());
    SAY_SIGN(say_turn(2));
    SAY(pvm_getsbuf() == received);
    SAY(pvm_upkint(&y, 1, 1));
    SAY(y);
}

static void say_info(int bufid)
{
    struct pvmminfo m;
    SAY(pvm_getminfo(bufid, &m));
    printf("len %d ctx %d tag %d wid %d enc %x from me %d to me %d\n", m.len, m.ctx, m.tag, m.wid,
           (unsigned)m.enc, m.src == pvm_mytid(), m.dst == pvm_mytid());
}

static void info(int encoding)
{
    int x[4] = {1, 2, 3, 4}, bytes, tag, tid;
    printf("encoding %d\n", encoding);
    pvm_initsend(encoding);
    say_info(pvm_getsbuf());
    pvm_pkint(x, 4, 1);
    say_info(pvm_getsbuf());
    int received = say_turn(3);
    say_info(pvm_getsbuf());
    say_info(received);
    SAY(pvm_bufinfo(received, &bytes, &tag, &tid));
    SAY(bytes);
    SAY(tag);
    SAY(tid == pvm_mytid());
}

static void set_info(void)
{
    struct pvmminfo m;
    pvm_initsend(PvmDataDefault);
    pvm_getminfo(pvm_getsbuf(), &m);
    m.wid = 12;
    SAY(pvm_setminfo(pvm_getsbuf(), &m));
    m.wid = 0;
    SAY(pvm_getminfo(pvm_getsbuf(), &m));
    SAY(m.wid);
    SAY(pvm_getminfo(9999, &m));
    SAY(pvm_setminfo(9999, &m));
}

int main(void)
{
    say_begin();
    make();
    without();
    forward();
    info(PvmDataDefault);
    info(PvmDataRaw);
    info(PvmDataInPlace);
    set_info();
    pvm_exit();
    return 0;
}
