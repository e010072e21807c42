/* Names of machines on a network, weak as in posix.c: there is no network, and the only names that are known are this machine's own,
   localhost and 127.0.0.1. */

#include <atoll/weak.h>
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

WEAK int h_errno;

static int is_here(const char *name)
{
    char own[64];
    gethostname(own, sizeof own);
    return strcmp(name, own) == 0 || strcmp(name, "localhost") == 0 || strcmp(name, "127.0.0.1") == 0;
}

WEAK struct hostent *gethostbyname(const char *name)
{
    static struct in_addr address;
    static char own[64], *addresses[] = {(char *)&address, NULL}, *aliases[] = {NULL};
    static struct hostent here = {.h_name = own,
                                  .h_aliases = aliases,
                                  .h_addrtype = AF_INET,
                                  .h_length = sizeof address,
                                  .h_addr_list = addresses};
    if (!is_here(name)) {
        h_errno = HOST_NOT_FOUND;
        return NULL;
    }
    gethostname(own, sizeof own);
    address.s_addr = htonl(INADDR_LOOPBACK);
    return &here;
}

WEAK struct hostent *gethostbyaddr(const void *address, socklen_t bytes, int family)
{
    in_addr_t loopback = htonl(INADDR_LOOPBACK);
    if (family == AF_INET && bytes == sizeof loopback && memcmp(address, &loopback, sizeof loopback) == 0)
        return gethostbyname("localhost");
    h_errno = HOST_NOT_FOUND;
    return NULL;
}

WEAK const char *hstrerror(int error)
{
    return error == HOST_NOT_FOUND ? "unknown host" : "no error of a resolver";
}

/* A port by its number, as there is no list of services; or -1. */
static int port_of(const char *service)
{
    char *end;
    if (*service < '0' || *service > '9')
        return -1;
    unsigned long port = strtoul(service, &end, 10);
    return *end == 0 && port <= UINT16_MAX ? (int)port : -1;
}

WEAK int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result)
{
    static const struct addrinfo none;
    const struct addrinfo *asked = hints == NULL ? &none : hints;
    int names = asked->ai_flags & AI_CANONNAME, port = service == NULL ? 0 : port_of(service);
    struct in_addr number;
    if (node == NULL && service == NULL)
        return EAI_NONAME;
    if (names && node == NULL)
        return EAI_BADFLAGS;
    if (asked->ai_family != AF_UNSPEC && asked->ai_family != AF_INET)
        return EAI_FAMILY;
    if (port < 0)
        return EAI_SERVICE;
    if (node != NULL && (!is_here(node) || (asked->ai_flags & AI_NUMERICHOST && !inet_aton(node, &number))))
        return EAI_NONAME;
    struct made {
        struct addrinfo info;
        struct sockaddr_in address;
        char name[64];
    } *made = calloc(1, sizeof *made);
    if (made == NULL)
        return EAI_MEMORY;
    int any = node == NULL && asked->ai_flags & AI_PASSIVE;
    made->address = (struct sockaddr_in){.sin_family = AF_INET,
                                         .sin_port = htons(port),
                                         .sin_addr = {htonl(any ? INADDR_ANY : INADDR_LOOPBACK)}};
    made->info = (struct addrinfo){.ai_flags = asked->ai_flags,
                                   .ai_family = AF_INET,
                                   .ai_socktype = asked->ai_socktype != 0 ? asked->ai_socktype : SOCK_STREAM,
                                   .ai_protocol = asked->ai_protocol,
                                   .ai_addrlen = sizeof made->address,
                                   .ai_addr = (struct sockaddr *)&made->address};
    if (names) {
        gethostname(made->name, sizeof made->name);
        made->info.ai_canonname = made->name;
    }
    *result = &made->info;
    return 0;
}

WEAK void freeaddrinfo(struct addrinfo *info)
{
    free(info);
}

WEAK const char *gai_strerror(int error)
{
    switch (error) {
    case 0:
        return "no error";
    case EAI_BADFLAGS:
        return "these flags do not go together";
    case EAI_NONAME:
        return "there is no such machine";
    case EAI_AGAIN:
        return "there is no answer for now";
    case EAI_FAIL:
        return "there is no network";
    case EAI_FAMILY:
        return "addresses of this family are not known";
    case EAI_SERVICE:
        return "services are known by the numbers of their ports only";
    case EAI_MEMORY:
        return "there is no memory for it";
    case EAI_SYSTEM:
        return "errno says what went wrong";
    case EAI_OVERFLOW:
        return "there is no room for the text";
    }
    return "no error of a resolver";
}

/* Text of a name or number, if somebody wants it; returns whether there is room. */
static int fits(char *to, socklen_t bytes, const char *text)
{
    return to == NULL || bytes == 0 || (size_t)snprintf(to, bytes, "%s", text) < bytes;
}

WEAK int getnameinfo(const struct sockaddr *address, socklen_t bytes, char *name, socklen_t name_bytes, char *service,
                     socklen_t service_bytes, int flags)
{
    const struct sockaddr_in *internet = (const struct sockaddr_in *)address;
    char own[64], port[8];
    if (bytes < sizeof *internet || internet->sin_family != AF_INET)
        return EAI_FAMILY;
    if (internet->sin_addr.s_addr == htonl(INADDR_LOOPBACK) && !(flags & NI_NUMERICHOST))
        gethostname(own, sizeof own);
    else if (flags & NI_NAMEREQD)
        return EAI_NONAME;
    else
        inet_ntop(AF_INET, &internet->sin_addr, own, sizeof own);
    snprintf(port, sizeof port, "%u", ntohs(internet->sin_port));
    return fits(name, name_bytes, own) && fits(service, service_bytes, port) ? 0 : EAI_OVERFLOW;
}

WEAK in_addr_t inet_addr(const char *text)
{
    struct in_addr address;
    return inet_aton(text, &address) ? address.s_addr : INADDR_NONE;
}

WEAK int inet_aton(const char *text, struct in_addr *address)
{
    unsigned part[4];
    char more;
    if (sscanf(text, "%u.%u.%u.%u%c", &part[0], &part[1], &part[2], &part[3], &more) != 4)
        return 0;
    uint32_t number = 0;
    for (int at = 0; at < 4; at++) {
        if (part[at] > 255)
            return 0;
        number = number << 8 | part[at];
    }
    address->s_addr = htonl(number);
    return 1;
}

WEAK const char *inet_ntop(int family, const void *address, char *text, socklen_t bytes)
{
    const unsigned char *part = address;
    if (family != AF_INET) {
        errno = EAFNOSUPPORT;
        return NULL;
    }
    if ((size_t)snprintf(text, bytes, "%u.%u.%u.%u", part[0], part[1], part[2], part[3]) < bytes)
        return text;
    errno = ENOSPC;
    return NULL;
}

WEAK char *inet_ntoa(struct in_addr address)
{
    static char text[INET_ADDRSTRLEN];
    return (char *)inet_ntop(AF_INET, &address, text, sizeof text);
}

WEAK int inet_pton(int family, const char *text, void *address)
{
    if (family == AF_INET)
        return inet_aton(text, address);
    errno = EAFNOSUPPORT;
    return -1;
}

WEAK int getifaddrs(struct ifaddrs **list)
{
    *list = NULL;
    return 0;
}

WEAK void freeifaddrs(struct ifaddrs *list)
{
    (void)list;
}

/* Waits as long as a limit says for what never comes: without a limit for ever, which is refused. */
static int wait_in_vain(const struct timespec *limit)
{
    if (limit != NULL)
        return nanosleep(limit, NULL);
    errno = EINVAL;
    return -1;
}

/* Files and standard streams can be read and written at any time, and nothing exceptional ever comes of them. */
WEAK int pselect(int files, fd_set *readable, fd_set *writable, fd_set *exceptional, const struct timespec *limit,
                 const sigset_t *held)
{
    (void)held;
    fd_set *sets[] = {exceptional, readable, writable};
    int ready = 0;
    for (int at = 1; at < 3; at++)
        for (int file = 0; sets[at] != NULL && file < files; file++)
            ready += FD_ISSET(file, sets[at]) != 0;
    if (ready == 0 && wait_in_vain(limit) != 0)
        return -1;
    /* A program may have its own FD_SETSIZE, larger or smaller than ours: its sets end with a word, that of the last file or later. */
    int bits = NFDBITS, end = ((files < 1 ? 1 : files) + bits - 1) / bits * bits;
    for (int at = 0; at < (ready == 0 ? 3 : 1); at++)
        for (int file = 0; sets[at] != NULL && file < end; file++)
            FD_CLR(file, sets[at]);
    return ready;
}

WEAK int select(int files, fd_set *readable, fd_set *writable, fd_set *exceptional, struct timeval *limit)
{
    struct timespec time;
    if (limit != NULL) {
        /* More than a second of microseconds is let pass, and fewer than none are refused below. */
        long us = limit->tv_usec;
        time = (struct timespec){.tv_sec = limit->tv_sec + (us < 0 ? 0 : us / 1000000),
                                 .tv_nsec = us < 0 ? -1 : us % 1000000 * 1000};
    }
    return pselect(files, readable, writable, exceptional, limit == NULL ? NULL : &time, NULL);
}

WEAK int poll(struct pollfd *files, nfds_t count, int milliseconds)
{
    struct timespec limit = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
    int ready = 0;
    for (nfds_t at = 0; at < count; at++) {
        files[at].revents = files[at].fd < 0 ? 0 : files[at].events & (POLLIN | POLLOUT);
        ready += files[at].revents != 0;
    }
    return ready > 0 ? ready : wait_in_vain(milliseconds < 0 ? NULL : &limit);
}

/* As wide as a count of bytes is. */
static ssize_t no_network(void)
{
    errno = EAFNOSUPPORT;
    return -1;
}

#define NO_NETWORK(name)                                                                                                \
    extern __typeof__(no_network) network_##name __asm__(#name) __attribute__((weak, alias("no_network")));

NO_NETWORK(socket) NO_NETWORK(socketpair) NO_NETWORK(bind) NO_NETWORK(listen) NO_NETWORK(accept) NO_NETWORK(connect)
NO_NETWORK(getsockname) NO_NETWORK(getpeername) NO_NETWORK(getsockopt) NO_NETWORK(setsockopt) NO_NETWORK(shutdown)
NO_NETWORK(send) NO_NETWORK(recv) NO_NETWORK(sendto) NO_NETWORK(recvfrom)
