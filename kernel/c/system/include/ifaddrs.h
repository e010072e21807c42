/* Ways into a network: the list is empty. */
#ifndef ATOLL_IFADDRS_H
#define ATOLL_IFADDRS_H

#include <sys/socket.h>

struct ifaddrs {
    struct ifaddrs *ifa_next;
    char *ifa_name;
    unsigned ifa_flags;
    struct sockaddr *ifa_addr, *ifa_netmask, *ifa_dstaddr;
    void *ifa_data;
};

int getifaddrs(struct ifaddrs **list);
void freeifaddrs(struct ifaddrs *list);

#endif
