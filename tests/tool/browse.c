/* links: -ljansson */
/*
 * browse FOLDER URL WIDTH HEIGHT STEP... - looks at a page in headless Chromium, which is told what
 * to do through a pipe (its DevTools protocol: JSON texts, each ended by a NUL), and keeps its
 * files in the folder. A step is
 *
 *   until=SCRIPT  waits until the script's value is true; it may fail until then
 *   eval=SCRIPT   prints the script's value
 *   heap          prints how many bytes the page's objects and buffers take, after a collection
 *   memory        prints the bytes of the process that draws the page, with its share of what it
 * has in common with others (Pss): of those that draw the one that takes most dark, light   the
 * colours that the page is asked for shot=FILE     a picture of the window, as PNG in base64
 *
 * Ends with 1 and a line when a script fails, or the browser does; it has BROWSE_S (100) seconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 50000000

static FILE *to, *from; /* the browser */
static int calls;
static const char *session;

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "browse: %s: %s\n", what, why);
    exit(1);
}

/* Calls, and waits for the answer: its result, which the caller drops. */
static json_t *call(const char *method, json_t *parameters)
{
    char *text = NULL;
    size_t room = 0;
    json_t *message = json_pack("{s:i,s:s,s:o}", "id", ++calls, "method", method, "params",
                                parameters == NULL ? json_object() : parameters);
    if (session != NULL)
        json_object_set_new(message, "sessionId", json_string(session));
    char *line = json_dumps(message, JSON_COMPACT);
    json_decref(message);
    if (line == NULL || fwrite(line, strlen(line) + 1, 1, to) != 1 || fflush(to) != 0)
        fail(method, "the browser does not listen");
    free(line);
    while (getdelim(&text, &room, '\0', from) > 0) {
        json_t *answer = json_loads(text, 0, NULL);
        json_t *result = json_incref(json_object_get(answer, "result"));
        int id = (int)json_integer_value(json_object_get(answer, "id"));
        if (id == calls && result == NULL)
            fail(method, text);
        json_decref(answer);
        if (id == calls) {
            free(text);
            return result;
        }
        json_decref(result);
    }
    fail(method, "the browser has ended");
    return NULL;
}

static char *word_of(json_t *result, const char *name)
{
    const char *word = json_string_value(json_object_get(result, name));
    if (word == NULL)
        fail(name, "the browser does not say");
    char *copy = strdup(word);
    json_decref(result);
    return copy;
}

/* The value of a script, which the caller drops; NULL if it may fail and does. */
static json_t *evaluate(const char *script, int may_fail)
{
    json_t *result =
        call("Runtime.evaluate", json_pack("{s:s,s:b}", "expression", script, "returnByValue", 1));
    json_t *wrong = json_object_get(result, "exceptionDetails");
    if (wrong != NULL && !may_fail)
        fail(script, json_dumps(wrong, JSON_COMPACT));
    json_t *value = json_incref(json_object_get(json_object_get(result, "result"), "value"));
    json_decref(result);
    return value;
}

static void wait_until(const char *script)
{
    const struct timespec moment = {.tv_nsec = LOOK_NS};
    for (json_t *value = evaluate(script, 1); !json_is_true(value); value = evaluate(script, 1)) {
        json_decref(value);
        nanosleep(&moment, NULL);
    }
}

static void print_value(const char *script)
{
    json_t *value = evaluate(script, 0);
    if (json_is_string(value))
        puts(json_string_value(value));
    else if (value != NULL)
        json_dumpf(value, stdout, JSON_ENCODE_ANY), putchar('\n');
    json_decref(value);
}

static void print_heap(void)
{
    json_decref(call("HeapProfiler.collectGarbage", NULL));
    json_t *use = call("Runtime.getHeapUsage", NULL);
    printf("%.0f\n", json_number_value(json_object_get(use, "usedSize")) +
                         json_number_value(json_object_get(use, "backingStorageSize")));
    json_decref(use);
}

static double pss_of(int pid)
{
    char path[64], line[128];
    double kib = 0;
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
    FILE *in = fopen(path, "r");
    while (in != NULL && fgets(line, sizeof line, in) != NULL)
        if (sscanf(line, "Pss: %lf", &kib) == 1)
            break;
    if (in != NULL)
        fclose(in);
    return kib * 1024;
}

static void print_memory(void)
{
    const char *page = session;
    double bytes = 0;
    size_t i;
    json_t *process;
    session = NULL;
    json_t *all = call("SystemInfo.getProcessInfo", NULL);
    session = page;
    json_array_foreach(json_object_get(all, "processInfo"), i, process)
    {
        const char *type = json_string_value(json_object_get(process, "type"));
        if (type != NULL && strcmp(type, "renderer") == 0)
            bytes = fmax(bytes, pss_of((int)json_integer_value(json_object_get(process, "id"))));
    }
    json_decref(all);
    printf("%.0f\n", bytes);
}

static void colours(const char *scheme)
{
    json_t *feature = json_pack("{s:s,s:s}", "name", "prefers-color-scheme", "value", scheme);
    json_decref(call("Emulation.setEmulatedMedia", json_pack("{s:[o]}", "features", feature)));
}

static void shoot(const char *path)
{
    char *picture = word_of(call("Page.captureScreenshot", NULL), "data");
    FILE *out = fopen(path, "w");
    if (out == NULL || fputs(picture, out) < 0 || fclose(out) != 0)
        fail(path, strerror(errno));
    free(picture);
}

static pid_t start(const char *folder, const char *size)
{
    char data[512], window[64];
    int down[2], up[2];
    snprintf(data, sizeof data, "--user-data-dir=%s", folder);
    snprintf(window, sizeof window, "--window-size=%s", size);
    if (pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0)
        fail("pipe", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        int in = fcntl(down[0], F_DUPFD, 10), out = fcntl(up[1], F_DUPFD, 10);
        dup2(in, 3);
        dup2(out, 4);
        close(in);
        close(out);
        dup2(open("/dev/null", O_WRONLY), 2);
        execlp("chromium", "chromium", "--headless=new", "--disable-gpu", "--hide-scrollbars",
               "--remote-debugging-pipe", data, window,
               geteuid() == 0 ? "--no-sandbox" : "--headless=new", "about:blank", (char *)NULL);
        _exit(127);
    }
    to = fdopen(down[1], "w");
    from = fdopen(up[0], "r");
    close(down[0]);
    close(up[1]);
    return pid;
}

static void step(const char *word)
{
    const char *value = strchr(word, '=') == NULL ? "" : strchr(word, '=') + 1;
    if (strncmp(word, "until=", 6) == 0)
        wait_until(value);
    else if (strncmp(word, "eval=", 5) == 0)
        print_value(value);
    else if (strncmp(word, "shot=", 5) == 0)
        shoot(value);
    else if (strcmp(word, "heap") == 0)
        print_heap();
    else if (strcmp(word, "memory") == 0)
        print_memory();
    else
        colours(word);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char size[32];
    if (argc < 5) {
        fprintf(stderr, "browse: needs FOLDER URL WIDTH HEIGHT STEP...\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    alarm((unsigned)atoi(getenv("BROWSE_S") != NULL ? getenv("BROWSE_S") : "100"));
    snprintf(size, sizeof size, "%.8s,%.8s", argv[3], argv[4]);
    pid_t pid = start(argv[1], size);
    char *target =
        word_of(call("Target.createTarget", json_pack("{s:s}", "url", argv[2])), "targetId");
    char *page = word_of(
        call("Target.attachToTarget", json_pack("{s:s,s:b}", "targetId", target, "flatten", 1)),
        "sessionId");
    session = page;
    json_decref(call("Emulation.setDeviceMetricsOverride",
                     json_pack("{s:i,s:i,s:i,s:b}", "width", atoi(argv[3]), "height", atoi(argv[4]),
                               "deviceScaleFactor", 1, "mobile", 0)));
    for (int i = 5; i < argc; i++)
        step(argv[i]);
    session = NULL;
    json_decref(call("Browser.close", NULL));
    waitpid(pid, NULL, 0);
    free(target);
    free(page);
    fclose(to);
    fclose(from);
    return fflush(stdout) == 0 ? 0 : 1;
}
