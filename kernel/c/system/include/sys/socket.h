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

enum { AF_UNSPEC = 0, AF_UNIX = 1, AF_LOCAL = 1, AF_INET = 2, AF_INET6 = 10 };
enum { PF_UNSPEC = 0, PF_UNIX = 1, PF_LOCAL = 1, PF_INET = 2, PF_INET6 = 10 };
enum { SOCK_STREAM = 1, SOCK_DGRAM = 2, SOCK_RAW = 3, SOL_SOCKET = 1, SOMAXCONN = 128 };
enum { SO_REUSEADDR = 2, SO_ERROR = 4, SO_BROADCAST = 6, SO_SNDBUF = 7, SO_RCVBUF = 8, SO_KEEPALIVE = 9, SO_LINGER = 13 };
enum { MSG_PEEK = 2, MSG_DONTWAIT = 64, MSG_WAITALL = 256, MSG_NOSIGNAL = 16384, SHUT_RD = 0, SHUT_WR = 1, SHUT_RDWR = 2 };

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
