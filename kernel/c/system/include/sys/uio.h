/* Pieces of memory that are read or written one after another. */
#ifndef ATOLL_SYS_UIO_H
#define ATOLL_SYS_UIO_H

#include <sys/types.h>

struct iovec {
    void *iov_base;
    size_t iov_len;
};

ssize_t readv(int file, const struct iovec *pieces, int count);
ssize_t writev(int file, const struct iovec *pieces, int count);

#endif
