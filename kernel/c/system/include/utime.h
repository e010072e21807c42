/* Newlib's, which has the structure only, and not what it is made of. */
#ifndef ATOLL_UTIME_H
#define ATOLL_UTIME_H

#include <sys/types.h>
#include_next <utime.h>

int utime(const char *path, const struct utimbuf *times);

#endif
