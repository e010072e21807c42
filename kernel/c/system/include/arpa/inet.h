/* Addresses of a network as text. */
#ifndef ATOLL_ARPA_INET_H
#define ATOLL_ARPA_INET_H

#include <netinet/in.h>

in_addr_t inet_addr(const char *text);
int inet_aton(const char *text, struct in_addr *address);
char *inet_ntoa(struct in_addr address);
const char *inet_ntop(int family, const void *address, char *text, socklen_t bytes);
int inet_pton(int family, const char *text, void *address);

#endif
