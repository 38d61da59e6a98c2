/*
 * class_server.c - keeps a class open: hears questions, lets guests in through the door
 * (proto/class/door.h), has those that know the code added (adding.h), and answers its teacher.
 *
 * It is a process of the console, not of coveyd: bytes of strangers never reach a daemon. It is a
 * member of the VM, which any member may ask by a message; what it does to a guest that came in is
 * no more than any member may do. It ends when its daemon does.
 *
 * A visitor is a connection: a guest of the door, and what the VM does for it. It stays until its
 * adding is over, also when the connection is gone: there would be nobody else to tell the launcher
 * that waits.
 */
#include "tools/class/class_server.h"

#include <errno.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/clock.h"
#include "tools/class/adding.h"
#include "tools/class/class_told.h"
#include "tools/class/sockets.h"
#include "tools/vm/hostspec.h"

#define VISITORS_MAX (DOOR_GUESTS_MAX + 32)
#define READ_BYTES 4096
#define TURN_MAX 64      /* of what strangers send, before others have their turn */
#define ASK_MS 20000     /* so often it asks which labels others have */
#define LABEL_ASK_MS 100 /* and three times when it has a new code, */
#define LABEL_MS 300     /* for so long; */
#define LABEL_ROUNDS 5   /* somebody may answer to all labels */
#define PAUSE_MS 100     /* without descriptors accept() would fail again and again */
#define LINGER_MS 1000
#define GONE_TEXT "the student's machine has gone"

struct visitor {
    unsigned number; /* 0: the place is free */
    int fd;          /* -1: it has gone, or was disconnected */
    struct guest *guest;
    char from[PLACE_TEXT_MAX];
    bool loopback;
    bool adding;        /* a thread adds it */
    bool over;          /* it was told how it ended, or needs not be */
    covey_tid_t bearer; /* who brought its invitation, and waits for its answer; 0: nobody */
};

struct class_server {
    struct tool *tool;
    struct door *door;
    struct adder *adder;
    struct told told;
    int udp, tcp, asks;
    uint64_t labels, labels_before; /* of other classes: since it asked, and before that */
    uint64_t ask_ms;
    uint8_t nonce[BEACON_NONCE_BYTES]; /* of the question, so that nobody answers who has not heard
                                          it */
    uint16_t port, tcp_port;
    double for_s;
    uint64_t accept_ms; /* not before then */
    unsigned numbers;   /* of visitors so far */
    bool closing;
    struct passcode shown; /* the code that was told last */
    struct visitor visitors[VISITORS_MAX];
};

/* The time of the door. */
static uint64_t now_ms(void)
{
    return (uint64_t)clock_ms();
}

/* ---- messages of the VM ---------------------------------------------------------------------- */

static void send_text(struct class_server *server, covey_tid_t to, int tag, const char *text)
{
    covey_msg_t *msg = covey_msg_new();
    if (msg != NULL && covey_pack_string(msg, text) == 0)
        covey_send(server->tool->vm, to, tag, msg); /* who has gone needs it no more */
    covey_msg_free(msg);
}

static void send_told(struct class_server *server, covey_tid_t to, int32_t number, const char *text)
{
    covey_msg_t *msg = covey_msg_new();
    if (msg != NULL && covey_pack_int32(msg, &number, 1, 1) == 0 &&
        covey_pack_string(msg, text) == 0)
        covey_send(server->tool->vm, to, CLASS_TELL, msg);
    covey_msg_free(msg);
}

static void label_settle(struct class_server *server);

/* When the code has changed. Nobody was shown the new one yet. */
static void code_settle(struct class_server *server)
{
    struct door_status status = door_status(server->door);
    char code[PASSCODE_TEXT_MAX];
    if (memcmp(&status.code, &server->shown, sizeof status.code) == 0)
        return;
    label_settle(server);
    status = door_status(server->door);
    server->shown = status.code;
    passcode_print(&status.code, code);
    told_line(&server->told, "the code is now %s", code);
}

static void class_open(struct class_server *server, double for_s)
{
    door_open(server->door, now_ms() + (uint64_t)(for_s * 1000));
    server->closing = false;
    code_settle(server);
}

static void on_ask(struct class_server *server, covey_tid_t from, covey_msg_t *msg)
{
    char ask[64], text[TOLD_TEXT_BYTES];
    double for_s = server->for_s;
    int32_t number = 0, since;
    if (covey_unpack_string(msg, ask, sizeof ask) < 0)
        return;
    if (sscanf(ask, "open %lf", &for_s) == 1 && for_s > 0 && for_s <= CLASS_FOR_S_MAX)
        class_open(server, for_s);
    if (strcmp(ask, "close") == 0) {
        door_close(server->door);
        told_line(&server->told, "the class was closed");
        server->closing = true;
    }
    struct door_status status = door_status(server->door);
    if (sscanf(ask, "since %d", &since) == 1)
        number = told_since(&server->told, since, text);
    else
        told_status(&server->told, &status, server->port, server->tcp_port, now_ms(), text);
    send_told(server, from, number, text);
}

static struct visitor *visitor_find(struct class_server *server, unsigned number)
{
    for (int i = 0; i < VISITORS_MAX; i++)
        if (number != 0 && server->visitors[i].number == number)
            return &server->visitors[i];
    return NULL;
}

/* The launcher has the invitation of a guest. */
static void on_bring(struct class_server *server, covey_tid_t from, covey_msg_t *msg)
{
    int32_t number = 0;
    const void *sealed = NULL;
    size_t size = 0;
    struct visitor *visitor = NULL;
    if (covey_unpack_int32(msg, &number, 1, 1) == 0 &&
        covey_unpack_view(msg, COVEY_BYTES, &sealed, &size) == 0)
        visitor = visitor_find(server, (unsigned)number);
    if (visitor == NULL || visitor->guest == NULL || !visitor->adding ||
        !guest_invite(visitor->guest, sealed, size)) {
        send_text(server, from, CLASS_BROUGHT, GONE_TEXT);
        return;
    }
    visitor->bearer = from;
}

/* False: the daemon is gone. */
static bool take_messages(struct class_server *server)
{
    covey_msg_t *msg;
    int error;
    while ((error = covey_recv(server->tool->vm, COVEY_ANY_TASK, COVEY_ANY_TAG, 0, &msg)) == 0) {
        struct covey_info info;
        covey_msg_info(msg, &info);
        if (info.tag == CLASS_ASK)
            on_ask(server, info.source, msg);
        else if (info.tag == CLASS_BRING)
            on_bring(server, info.source, msg);
        covey_msg_free(msg);
    }
    return error == COVEY_ETIMEOUT || error == COVEY_ENOMEM;
}

/* ---- visitors -------------------------------------------------------------------------------- */

static void visitor_disconnect(struct class_server *server, struct visitor *visitor)
{
    if (visitor->fd >= 0)
        close(visitor->fd);
    visitor->fd = -1;
    guest_destroy(visitor->guest);
    visitor->guest = NULL;
    if (visitor->bearer != 0)
        send_text(server, visitor->bearer, CLASS_BROUGHT, GONE_TEXT);
    visitor->bearer = 0;
    if (!visitor->adding)
        *visitor = (struct visitor){.fd = -1};
}

static void visitor_enters(struct class_server *server, struct visitor *visitor)
{
    const char *name = guest_name(visitor->guest);
    if (!hostspec_name_ok(name))
        name = "student";
    visitor->adding = adder_add(server->adder, visitor->number, name, guest_key(visitor->guest),
                                visitor->loopback);
    if (!visitor->adding)
        guest_done(visitor->guest, COVEY_ERESOURCE, "the teacher's machine is out of memory");
}

static void visitor_answers(struct class_server *server, struct visitor *visitor)
{
    if (visitor->bearer != 0)
        send_text(server, visitor->bearer, CLASS_BROUGHT, guest_answer(visitor->guest));
    visitor->bearer = 0;
}

/* A guest's proof was looked at: tells what came of it. */
static void tries_tell(struct class_server *server, const struct visitor *visitor,
                       const struct door_status *before)
{
    struct door_status now = door_status(server->door);
    if (now.wrong == before->wrong && now.voided == before->voided)
        return;
    told_line(&server->told, "a wrong code came from %s", visitor->from);
    if (now.voided != before->voided)
        told_line(&server->told, "the code is void: %d wrong ones came", DOOR_WRONG_MAX);
    if (now.state == DOOR_TRIED)
        told_line(&server->told, "the class is closed: %d codes are void", DOOR_VOID_MAX);
}

static void visitor_take(struct class_server *server, struct visitor *visitor, const uint8_t *bytes,
                         size_t size)
{
    enum guest_event event;
    do {
        struct door_status before = door_status(server->door);
        size_t part = size;
        event = guest_take(visitor->guest, bytes, &part, now_ms());
        bytes += part;
        size -= part;
        tries_tell(server, visitor, &before);
        if (event == GUEST_ENTERS)
            visitor_enters(server, visitor);
        else if (event == GUEST_ANSWERS)
            visitor_answers(server, visitor);
    } while (event != GUEST_ENDS && (size > 0 || event != GUEST_MORE));
}

/* False: the connection is no more. */
static bool visitor_read(struct class_server *server, struct visitor *visitor)
{
    uint8_t bytes[READ_BYTES];
    ssize_t size = read(visitor->fd, bytes, sizeof bytes);
    if (size < 0)
        return errno == EAGAIN || errno == EINTR;
    if (size > 0)
        visitor_take(server, visitor, bytes, (size_t)size);
    return size > 0;
}

static bool visitor_write(struct visitor *visitor)
{
    size_t size;
    const uint8_t *bytes = guest_output(visitor->guest, &size);
    ssize_t sent = size > 0 ? send(visitor->fd, bytes, size, MSG_NOSIGNAL) : 0;
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR;
    guest_sent(visitor->guest, (size_t)sent);
    return true;
}

static size_t output_left(const struct visitor *visitor)
{
    size_t size;
    guest_output(visitor->guest, &size);
    return size;
}

/* One that is over goes when all was sent. */
static void visitor_settle(struct class_server *server, struct visitor *visitor)
{
    if (visitor->fd >= 0 &&
        (!visitor_write(visitor) || (guest_is_over(visitor->guest) && output_left(visitor) == 0)))
        visitor_disconnect(server, visitor);
}

static void visitors_settle(struct class_server *server)
{
    for (int i = 0; i < VISITORS_MAX; i++)
        visitor_settle(server, &server->visitors[i]);
}

static struct visitor *visitor_place(struct class_server *server)
{
    for (int i = 0; i < VISITORS_MAX; i++)
        if (server->visitors[i].number == 0)
            return &server->visitors[i];
    return NULL;
}

static void visitor_begin(struct class_server *server, int fd, const struct place *from)
{
    char text[PLACE_TEXT_MAX];
    struct visitor *visitor = visitor_place(server);
    place_print_host(from, text);
    struct guest *guest = visitor == NULL ? NULL : guest_create(server->door, text, now_ms());
    if (guest == NULL) {
        close(fd);
        return;
    }
    *visitor = (struct visitor){
        .number = ++server->numbers, .fd = fd, .guest = guest, .loopback = place_is_loopback(from)};
    if (server->numbers == 0)
        visitor->number = server->numbers = 1;
    memcpy(visitor->from, text, sizeof visitor->from);
}

static void visitors_accept(struct class_server *server)
{
    for (int i = 0; i < TURN_MAX; i++) {
        struct place from;
        int fd = socket_accept(server->tcp, &from);
        if (fd < 0) {
            if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
                server->accept_ms = now_ms() + PAUSE_MS;
            return;
        }
        visitor_begin(server, fd, &from);
        visitors_settle(server); /* one that made room has left it before the next one comes */
    }
}

/* ---- what threads have done ------------------------------------------------------------------ */

static void on_added(struct class_server *server, const struct added *added)
{
    struct visitor *visitor = visitor_find(server, added->guest);
    if (visitor == NULL)
        return;
    visitor->adding = false;
    if (added->error == 0)
        told_joined(&server->told, added->name, visitor->from);
    else
        told_line(&server->told, "%s (%s) did not join: %.200s", added->name, visitor->from,
                  added->text);
    if (visitor->guest != NULL)
        guest_done(visitor->guest, added->error, added->error == 0 ? added->name : added->text);
    else
        visitor_disconnect(server, visitor);
}

static void take_added(struct class_server *server)
{
    struct added *added;
    while ((added = adder_take(server->adder)) != NULL) {
        on_added(server, added);
        free(added);
    }
}

/* ---- questions ------------------------------------------------------------------------------- */

static void answer_questions(struct class_server *server)
{
    for (int i = 0; i < TURN_MAX; i++) {
        uint8_t question[BEACON_BYTES + 1], answer[BEACON_BYTES];
        struct place from = {.size = sizeof from.at};
        ssize_t size = recvfrom(server->udp, question, sizeof question, MSG_TRUNC,
                                (struct sockaddr *)&from.at, &from.size);
        if (size < 0)
            return;
        if ((size_t)size <= sizeof question &&
            door_answer(server->door, question, (size_t)size, server->tcp_port, answer))
            sendto(server->udp, answer, sizeof answer, MSG_DONTWAIT, (struct sockaddr *)&from.at,
                   from.size);
    }
}

/* Which labels do others have? */
static void ask_others(struct class_server *server)
{
    struct beacon beacon = {.version = CLASS_VERSION, .label = BEACON_ANY_LABEL};
    uint8_t question[BEACON_BYTES];
    struct interface networks[NETWORKS_MAX];
    memcpy(beacon.nonce, server->nonce, sizeof beacon.nonce);
    beacon_put_question(question, &beacon);
    int count = networks_find(networks);
    for (int i = 0; i < count; i++)
        socket_broadcast(server->asks, &networks[i], server->port, question, sizeof question);
}

static void ask_again(struct class_server *server)
{
    randombytes_buf(server->nonce, sizeof server->nonce);
    ask_others(server);
    server->labels_before = server->labels;
    server->labels = 0;
    server->ask_ms = now_ms() + ASK_MS;
}

static void take_others(struct class_server *server)
{
    for (int i = 0; i < TURN_MAX; i++) {
        uint8_t answer[BEACON_BYTES + 1];
        struct beacon beacon;
        ssize_t size = recv(server->asks, answer, sizeof answer, 0);
        if (size < 0)
            return;
        if (beacon_get_answer(answer, (size_t)size, &beacon) && beacon.label < PASSCODE_LABELS &&
            memcmp(beacon.nonce, server->nonce, sizeof beacon.nonce) == 0 &&
            !door_is_own(server->door, &beacon))
            server->labels |= UINT64_C(1) << beacon.label;
    }
    door_avoid(server->door, server->labels | server->labels_before);
}

/* Whether another class has the label of the code that has just been made. One that is settling
 * its own at the same moment has it, too, and answers, as this one does meanwhile: both give it up.
 */
static bool label_is_taken(struct class_server *server)
{
    uint64_t now = now_ms(), ask_ms = now + LABEL_ASK_MS, until = now + LABEL_MS;
    const struct passcode code = door_status(server->door).code;
    ask_again(server);
    for (; (now = now_ms()) < until;) {
        struct pollfd readable[] = {{.fd = server->asks, .events = POLLIN},
                                    {.fd = server->udp, .events = POLLIN}};
        if (now >= ask_ms) {
            ask_others(server);
            ask_ms += LABEL_ASK_MS;
        }
        if (poll(readable, 2, (int)((ask_ms < until ? ask_ms : until) - now)) > 0) {
            take_others(server);
            answer_questions(server);
        }
    }
    return server->labels >> passcode_label(&code) & 1;
}

/* Two classes that open, or lose their codes, at the same moment choose labels that differ. */
static void label_settle(struct class_server *server)
{
    for (int i = 0; i < LABEL_ROUNDS && door_status(server->door).state == DOOR_OPEN; i++) {
        if (!label_is_taken(server))
            return;
        door_relabel(server->door);
    }
}

/* ---- the loop -------------------------------------------------------------------------------- */

enum { FD_UDP, FD_TCP, FD_VM, FD_ADDED, FD_ASKS, FD_VISITORS };

static int poll_fill(struct class_server *server, struct pollfd *fds, uint64_t now)
{
    fds[FD_UDP] = (struct pollfd){.fd = server->udp, .events = POLLIN};
    fds[FD_TCP] = (struct pollfd){
        .fd = server->closing || now < server->accept_ms ? -1 : server->tcp, .events = POLLIN};
    fds[FD_VM] = (struct pollfd){.fd = covey_fd(server->tool->vm), .events = POLLIN};
    fds[FD_ADDED] = (struct pollfd){.fd = adder_fd(server->adder), .events = POLLIN};
    fds[FD_ASKS] = (struct pollfd){.fd = server->asks, .events = POLLIN};
    bool busy = false;
    for (int i = 0; i < VISITORS_MAX; i++) {
        const struct visitor *visitor = &server->visitors[i];
        short events = visitor->guest != NULL && output_left(visitor) > 0 ? POLLOUT : 0;
        if (visitor->guest != NULL && !guest_is_over(visitor->guest))
            events |= POLLIN;
        fds[FD_VISITORS + i] = (struct pollfd){.fd = visitor->fd, .events = events};
        busy = busy || visitor->number != 0;
    }
    uint64_t next = door_settle(server->door, now),
             most = now < server->accept_ms ? PAUSE_MS : ASK_MS;
    if (busy && most > LINGER_MS)
        most = LINGER_MS;
    return (int)(next > now + most ? most : next > now ? next - now : 0);
}

/* Whether there is one that knows the code: others are no reason to stay. */
static bool is_busy(const struct class_server *server)
{
    for (int i = 0; i < VISITORS_MAX; i++) {
        const struct visitor *visitor = &server->visitors[i];
        if (visitor->adding || (visitor->guest != NULL && guest_is_in(visitor->guest)))
            return true;
    }
    return false;
}

static void serve(struct class_server *server)
{
    static struct pollfd fds[FD_VISITORS + VISITORS_MAX];
    bool alive = true;
    enum door_state was = DOOR_OPEN;
    while (alive && !(server->closing && !is_busy(server))) {
        int timeout_ms = poll_fill(server, fds, now_ms());
        if (poll(fds, FD_VISITORS + VISITORS_MAX, timeout_ms) < 0 && errno != EINTR)
            return;
        if (fds[FD_UDP].revents != 0)
            answer_questions(server);
        if (fds[FD_ASKS].revents != 0)
            take_others(server);
        if (now_ms() >= server->ask_ms)
            ask_again(server);
        if (fds[FD_VM].revents != 0)
            alive = take_messages(server);
        take_added(server);
        for (int i = 0; i < VISITORS_MAX; i++) {
            struct visitor *visitor = &server->visitors[i];
            if (visitor->fd >= 0 && visitor->fd == fds[FD_VISITORS + i].fd &&
                (fds[FD_VISITORS + i].revents & (POLLIN | POLLHUP | POLLERR)) != 0 &&
                !visitor_read(server, visitor))
                visitor_disconnect(server, visitor);
        }
        visitors_settle(server);
        if (fds[FD_TCP].revents != 0)
            visitors_accept(server);
        code_settle(server);
        enum door_state is = door_status(server->door).state;
        if (is == DOOR_TIMEOUT && was != is)
            told_line(&server->told, "the class is closed: its time is over");
        was = is;
    }
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static int server_listen(struct class_server *server)
{
    server->tcp_port = server->port;
    server->udp = socket_hear(server->port);
    if (server->udp < 0)
        return tool_error("class",
                          "UDP port %u cannot be used: %s; take another by --port, here and in "
                          "covey join",
                          server->port, strerror(errno));
    server->asks = socket_ask();
    server->tcp = server->asks < 0 ? -1 : socket_listen(&server->tcp_port, SOMAXCONN);
    if (server->tcp < 0)
        return tool_error("class", "cannot listen: %s", strerror(errno));
    return TOOL_OK;
}

static int server_begin(struct class_server *server, covey_group_t **group)
{
    uint8_t seed[CHANCE_SEED_BYTES];
    if (sodium_init() < 0)
        return tool_error("class", "libsodium could not be initialised");
    if (tool_join(server->tool, "class") != TOOL_OK || server_listen(server) != TOOL_OK)
        return TOOL_FAILED;
    covey_t *vm = server->tool->vm;
    randombytes_buf(seed, sizeof seed);
    server->door = door_create(seed, covey_vm_name(vm), covey_myhost(vm));
    sodium_memzero(seed, sizeof seed);
    server->adder = adder_create(vm);
    if (server->door == NULL || server->adder == NULL)
        return tool_error("class", "memory is exhausted");
    int instance = covey_group_join(vm, CLASS_GROUP, group);
    if (instance < 0)
        return tool_failed(server->tool, "class", instance);
    if (instance > 0)
        return tool_error("class", "this VM has a class already; see: covey class");
    class_open(server, server->for_s);
    return TOOL_OK;
}

int class_serve(struct tool *tool, double for_s, uint16_t port)
{
    static struct class_server server;
    covey_group_t *group = NULL;
    server = (struct class_server){
        .tool = tool, .udp = -1, .tcp = -1, .asks = -1, .port = port, .for_s = for_s};
    for (int i = 0; i < VISITORS_MAX; i++)
        server.visitors[i].fd = -1;
    int status = server_begin(&server, &group);
    if (status == TOOL_OK && (puts(CLASS_READY) < 0 || fflush(stdout) != 0))
        status = TOOL_FAILED;
    if (status == TOOL_OK &&
        (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL))
        status = TOOL_FAILED;
    if (status == TOOL_OK)
        serve(&server);
    if (server.udp >= 0)
        close(server.udp);
    if (server.tcp >= 0)
        close(server.tcp);
    if (server.asks >= 0)
        close(server.asks);
    if (group != NULL)
        covey_group_leave(&group);
    adder_destroy(server.adder);
    for (int i = 0; i < VISITORS_MAX; i++) {
        server.visitors[i].adding = false;
        visitor_disconnect(&server, &server.visitors[i]);
    }
    door_destroy(server.door);
    return status;
}
