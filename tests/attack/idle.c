/* links:  */
/*
 * idle.c - somebody who connects, says nothing and stays.
 *
 *   idle COUNT PORT | PATH     so often to that port of this machine, or to that Unix socket;
 * prints how many connections were begun, and holds them until its standard input ends
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

union any {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_un un;
};

static socklen_t address_of(const char *text, union any *a)
{
    memset(a, 0, sizeof *a);
    if (text[0] != '/') {
        a->in.sin_family = AF_INET;
        a->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        a->in.sin_port = htons((uint16_t)strtoul(text, NULL, 10));
        return sizeof a->in;
    }
    a->un.sun_family = AF_UNIX;
    snprintf(a->un.sun_path, sizeof a->un.sun_path, "%s", text);
    return sizeof a->un;
}

/* A queue that is full takes no more: so far it has come. */
static int begin(const union any *a, socklen_t size)
{
    int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (connect(fd, &a->any, size) == 0 || errno == EINPROGRESS)
        return 0;
    close(fd);
    return -1;
}

int main(int argc, char **argv)
{
    struct rlimit files;
    union any a;
    if (argc != 3 || getrlimit(RLIMIT_NOFILE, &files) != 0)
        return 2;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    socklen_t size = address_of(argv[2], &a);
    long count = strtol(argv[1], NULL, 10), begun = 0;
    while (begun < count && begin(&a, size) == 0)
        begun++;
    printf("%ld\n", begun);
    fflush(stdout);
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    return 0;
}
