/* Newlib's, and what POSIX has besides, which newlib has by other names. */
#include_next <stdio.h>

#ifndef ATOLL_STDIO_H
#define ATOLL_STDIO_H

/* Programs of other standards may have functions of their own by these names. */
#if __POSIX_VISIBLE >= 200809
ssize_t getline(char **line, size_t *bytes, FILE *file);
ssize_t getdelim(char **line, size_t *bytes, int delimiter, FILE *file);

#endif

#endif
