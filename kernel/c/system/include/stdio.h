/* Newlib's, and what POSIX has besides, which newlib has by other names. */
#include_next <stdio.h>

#ifndef ATOLL_STDIO_H
#define ATOLL_STDIO_H

#ifdef __cplusplus
extern "C" {
#endif

ssize_t getline(char **line, size_t *bytes, FILE *file);
ssize_t getdelim(char **line, size_t *bytes, int delimiter, FILE *file);

#ifdef __cplusplus
}
#endif

#endif
