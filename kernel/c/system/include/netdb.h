/* Names of machines: this one's is the only one that is known. */
#ifndef ATOLL_NETDB_H
#define ATOLL_NETDB_H

#include <netinet/in.h>

#define NI_MAXHOST 1025
#define NI_MAXSERV 32

enum { HOST_NOT_FOUND = 1, TRY_AGAIN, NO_RECOVERY, NO_DATA };
enum { EAI_NONAME = -2, EAI_AGAIN = -3, EAI_FAIL = -4, EAI_MEMORY = -10, EAI_SYSTEM = -11 };
enum { AI_PASSIVE = 1, AI_CANONNAME = 2, AI_NUMERICHOST = 4, NI_NUMERICHOST = 1, NI_NUMERICSERV = 2, NI_NAMEREQD = 8 };

struct hostent {
    char *h_name;
    char **h_aliases;
    int h_addrtype, h_length;
    char **h_addr_list;
};
#define h_addr h_addr_list[0]

struct addrinfo {
    int ai_flags, ai_family, ai_socktype, ai_protocol;
    socklen_t ai_addrlen;
    struct sockaddr *ai_addr;
    char *ai_canonname;
    struct addrinfo *ai_next;
};

extern int h_errno;

struct hostent *gethostbyname(const char *name);
struct hostent *gethostbyaddr(const void *address, socklen_t bytes, int family);
const char *hstrerror(int error);
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result);
void freeaddrinfo(struct addrinfo *info);
const char *gai_strerror(int error);

#endif
