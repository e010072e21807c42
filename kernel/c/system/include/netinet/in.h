/* Addresses of a network. */
#ifndef ATOLL_NETINET_IN_H
#define ATOLL_NETINET_IN_H

#include <stdint.h>
#include <sys/socket.h>

/* Newlib's sys/types.h has them for programs that ask for more than a standard. */
#ifndef _IN_ADDR_T_DECLARED
typedef uint32_t in_addr_t;
#define _IN_ADDR_T_DECLARED
#endif
#ifndef _IN_PORT_T_DECLARED
typedef uint16_t in_port_t;
#define _IN_PORT_T_DECLARED
#endif

struct in_addr {
    in_addr_t s_addr;
};

struct sockaddr_in {
    sa_family_t sin_family;
    in_port_t sin_port;
    struct in_addr sin_addr;
    char sin_zero[8];
};

struct in6_addr {
    uint8_t s6_addr[16];
};

struct sockaddr_in6 {
    sa_family_t sin6_family;
    in_port_t sin6_port;
    uint32_t sin6_flowinfo;
    struct in6_addr sin6_addr;
    uint32_t sin6_scope_id;
};

#define INADDR_ANY ((in_addr_t)0)
#define INADDR_LOOPBACK ((in_addr_t)0x7f000001)
#define INADDR_NONE ((in_addr_t)-1)
#define INET_ADDRSTRLEN 16
#define INET6_ADDRSTRLEN 46

#define IPPROTO_IP 0
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17

#define htonl(number) __builtin_bswap32(number)
#define ntohl(number) __builtin_bswap32(number)
#define htons(number) __builtin_bswap16(number)
#define ntohs(number) __builtin_bswap16(number)

#endif
