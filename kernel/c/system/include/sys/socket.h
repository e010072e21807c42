/* Sockets, which nobody gets: there is no network. */
#ifndef ATOLL_SYS_SOCKET_H
#define ATOLL_SYS_SOCKET_H

#include <sys/types.h>
#include <sys/uio.h>

typedef unsigned socklen_t;
typedef unsigned short sa_family_t;

struct sockaddr {
    sa_family_t sa_family;
    char sa_data[14];
};

struct sockaddr_storage {
    sa_family_t ss_family;
    char ss_data[126];
};

#define AF_UNSPEC 0
#define AF_UNIX 1
#define AF_LOCAL 1
#define AF_INET 2
#define AF_INET6 10
#define PF_UNSPEC 0
#define PF_UNIX 1
#define PF_LOCAL 1
#define PF_INET 2
#define PF_INET6 10
#define SOCK_STREAM 1
#define SOCK_DGRAM 2
#define SOCK_RAW 3
#define SOL_SOCKET 1
#define SOMAXCONN 128
#define SO_REUSEADDR 2
#define SO_ERROR 4
#define SO_BROADCAST 6
#define SO_SNDBUF 7
#define SO_RCVBUF 8
#define SO_KEEPALIVE 9
#define SO_LINGER 13
#define MSG_PEEK 2
#define MSG_DONTWAIT 64
#define MSG_WAITALL 256
#define MSG_NOSIGNAL 16384
#define SHUT_RD 0
#define SHUT_WR 1
#define SHUT_RDWR 2

int socket(int family, int kind, int protocol);
int socketpair(int family, int kind, int protocol, int pair[2]);
int bind(int socket, const struct sockaddr *address, socklen_t bytes);
int listen(int socket, int backlog);
int accept(int socket, struct sockaddr *address, socklen_t *bytes);
int connect(int socket, const struct sockaddr *address, socklen_t bytes);
int getsockname(int socket, struct sockaddr *address, socklen_t *bytes);
int getpeername(int socket, struct sockaddr *address, socklen_t *bytes);
int getsockopt(int socket, int level, int name, void *value, socklen_t *bytes);
int setsockopt(int socket, int level, int name, const void *value, socklen_t bytes);
int shutdown(int socket, int how);
ssize_t send(int socket, const void *bytes, size_t count, int flags);
ssize_t recv(int socket, void *bytes, size_t count, int flags);
ssize_t sendto(int socket, const void *bytes, size_t count, int flags, const struct sockaddr *to, socklen_t length);
ssize_t recvfrom(int socket, void *bytes, size_t count, int flags, struct sockaddr *from, socklen_t *length);

#endif
