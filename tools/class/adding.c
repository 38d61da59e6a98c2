/*
 * adding.c - see adding.h. A name that the VM has already is given a number, as laptops of a class
 * are often called alike.
 */
#include "tools/class/adding.h"

#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define NAMESAKES_MAX 1000
#define TEMPLATE_BYTES 512

struct adder {
    covey_t *vm;
    int fd;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    struct added *first, **last;
    unsigned running;
};

struct adding {
    struct adder *adder;
    struct added *added;
    char wanted[CLASS_NAME_MAX + 1];
    uint8_t key[CLASS_BOX_KEY_BYTES];
    bool loopback;
};

struct adder *adder_create(covey_t *vm)
{
    struct adder *adder = calloc(1, sizeof *adder);
    if (adder == NULL)
        return NULL;
    adder->vm = vm;
    adder->last = &adder->first;
    pthread_mutex_init(&adder->lock, NULL);
    pthread_cond_init(&adder->ended, NULL);
    adder->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (adder->fd < 0) {
        free(adder);
        return NULL;
    }
    return adder;
}

void adder_destroy(struct adder *adder)
{
    if (adder == NULL)
        return;
    pthread_mutex_lock(&adder->lock);
    while (adder->running > 0)
        pthread_cond_wait(&adder->ended, &adder->lock);
    pthread_mutex_unlock(&adder->lock);
    for (struct added *added; (added = adder_take(adder)) != NULL;)
        free(added);
    close(adder->fd);
    pthread_mutex_destroy(&adder->lock);
    pthread_cond_destroy(&adder->ended);
    free(adder);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* The launcher's command. $COVEYD is set for it; the console lies beside coveyd, or is in the
 * daemon's PATH. {command} must be in a template, and is passed over: how coveyd is started is the
 * guest's own affair. */
static void template_print(const struct adding *adding, char text[TEMPLATE_BYTES])
{
    char key[2 * CLASS_BOX_KEY_BYTES + 1];
    sodium_bin2hex(key, sizeof key, adding->key, sizeof adding->key);
    snprintf(text, TEMPLATE_BYTES,
             "c=\"${COVEYD%%/*}/covey\"; test -x \"$c\" || c=covey; "
             "exec \"$c\" --vm %s class bring %d %u %s {command}",
             covey_vm_name(adding->adder->vm), (int)covey_mytid(adding->adder->vm),
             adding->added->guest, key);
}

/* anna, anna-2, anna-3 ... */
static void name_print(char name[CLASS_NAME_MAX + 1], const char *wanted, int number)
{
    char end[16] = "";
    if (number > 1)
        snprintf(end, sizeof end, "-%d", number);
    snprintf(name, CLASS_NAME_MAX + 1, "%.*s%s", (int)(CLASS_NAME_MAX - strlen(end)), wanted, end);
}

static void add_host(struct adding *adding)
{
    struct added *added = adding->added;
    char template[TEMPLATE_BYTES];
    struct covey_host_spec spec = {.name = added->name,
                                   .template_ = template,
                                   .address = adding->loopback ? "127.0.0.1" : NULL,
                                   .launcher = COVEY_LAUNCH_EXEC};
    struct covey_host_result result = {.error = COVEY_EEXIST};
    int called = 0;
    template_print(adding, template);
    for (int i = 1; i <= NAMESAKES_MAX && called >= 0 && result.error == COVEY_EEXIST; i++) {
        name_print(added->name, adding->wanted, i);
        result = (struct covey_host_result){0};
        called = covey_add_hosts(adding->adder->vm, &spec, 1, &result);
    }
    added->error = called < 0 ? called : result.error;
    if (added->error != 0)
        snprintf(added->text, sizeof added->text, "%s",
                 called < 0       ? covey_error_text()
                 : result.text[0] ? result.text
                                  : covey_strerror(result.error));
}

static void *adding_run(void *argument)
{
    struct adding *adding = argument;
    struct adder *adder = adding->adder;
    add_host(adding);
    pthread_mutex_lock(&adder->lock);
    *adder->last = adding->added;
    adder->last = &adding->added->next;
    eventfd_write(adder->fd, 1);
    adder->running--;
    pthread_cond_signal(&adder->ended);
    pthread_mutex_unlock(&adder->lock);
    free(adding);
    return NULL;
}

/* ---- the caller's side ----------------------------------------------------------------------- */

bool adder_add(struct adder *adder, unsigned guest, const char *name,
               const uint8_t key[CLASS_BOX_KEY_BYTES], bool loopback)
{
    struct adding *adding = calloc(1, sizeof *adding);
    struct added *added = calloc(1, sizeof *added);
    pthread_t thread;
    if (adding == NULL || added == NULL) {
        free(adding);
        free(added);
        return false;
    }
    *adding = (struct adding){.adder = adder, .added = added, .loopback = loopback};
    added->guest = guest;
    snprintf(adding->wanted, sizeof adding->wanted, "%s", name);
    memcpy(adding->key, key, sizeof adding->key);
    pthread_mutex_lock(&adder->lock);
    bool runs = pthread_create(&thread, NULL, adding_run, adding) == 0;
    adder->running += runs;
    pthread_mutex_unlock(&adder->lock);
    if (runs) {
        pthread_detach(thread);
    } else {
        free(adding);
        free(added);
    }
    return runs;
}

int adder_fd(const struct adder *adder)
{
    return adder->fd;
}

struct added *adder_take(struct adder *adder)
{
    eventfd_t times;
    pthread_mutex_lock(&adder->lock);
    struct added *added = adder->first;
    if (added != NULL)
        adder->first = added->next;
    if (adder->first == NULL) {
        adder->last = &adder->first;
        eventfd_read(adder->fd, &times);
    }
    pthread_mutex_unlock(&adder->lock);
    return added;
}
