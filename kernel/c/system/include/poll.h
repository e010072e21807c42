/* Waiting for files, of which none is ever waited for. */
#ifndef ATOLL_POLL_H
#define ATOLL_POLL_H

enum { POLLIN = 1, POLLPRI = 2, POLLOUT = 4, POLLERR = 8, POLLHUP = 16, POLLNVAL = 32 };

typedef unsigned long nfds_t;

struct pollfd {
    int fd;
    short events, revents;
};

int poll(struct pollfd *files, nfds_t count, int milliseconds);

#endif
