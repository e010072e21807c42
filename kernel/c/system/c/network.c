/* Names of machines on a network, weak as in posix.c: there is no network, and the only name that is known is this machine's. */

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
#include <unistd.h>

#define WEAK __attribute__((weak))

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

WEAK int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result)
{
    (void)service, (void)hints;
    if (node != NULL && !is_here(node))
        return EAI_NONAME;
    struct made {
        struct addrinfo info;
        struct sockaddr_in address;
    } *made = calloc(1, sizeof *made);
    if (made == NULL)
        return EAI_MEMORY;
    made->address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    made->info = (struct addrinfo){.ai_family = AF_INET,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_addrlen = sizeof made->address,
                                   .ai_addr = (struct sockaddr *)&made->address};
    *result = &made->info;
    return 0;
}

WEAK void freeaddrinfo(struct addrinfo *info)
{
    free(info);
}

WEAK const char *gai_strerror(int error)
{
    return error == EAI_NONAME ? "there is no such machine" : "there is no network";
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

/* Nothing ever comes: what is left of waiting is the time. */
WEAK int select(int files, fd_set *readable, fd_set *writable, fd_set *exceptional, struct timeval *limit)
{
    (void)files;
    fd_set *sets[] = {readable, writable, exceptional};
    for (int at = 0; at < 3; at++)
        if (sets[at] != NULL)
            FD_ZERO(sets[at]);
    if (limit == NULL) {
        errno = EINTR;
        return -1;
    }
    nanosleep(&(struct timespec){.tv_sec = limit->tv_sec, .tv_nsec = limit->tv_usec * 1000}, NULL);
    return 0;
}

WEAK int poll(struct pollfd *files, nfds_t count, int milliseconds)
{
    for (nfds_t at = 0; at < count; at++)
        files[at].revents = 0;
    struct timeval limit = {.tv_sec = milliseconds / 1000, .tv_usec = milliseconds % 1000 * 1000};
    return select(0, NULL, NULL, NULL, milliseconds < 0 ? NULL : &limit);
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
