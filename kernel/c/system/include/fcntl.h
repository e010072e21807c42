/* Newlib's, and what POSIX has besides. */
#include_next <fcntl.h>

#ifndef ATOLL_FCNTL_H
#define ATOLL_FCNTL_H

#include <sys/types.h>

#define POSIX_FADV_NORMAL 0
#define POSIX_FADV_RANDOM 1
#define POSIX_FADV_SEQUENTIAL 2
#define POSIX_FADV_WILLNEED 3
#define POSIX_FADV_DONTNEED 4
#define POSIX_FADV_NOREUSE 5

int posix_fadvise(int file, off_t start, off_t bytes, int advice);
int posix_fallocate(int file, off_t start, off_t bytes);

#endif
