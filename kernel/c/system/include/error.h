/* Messages of failures, as glibc has them, without the program's name. */
#ifndef ATOLL_ERROR_H
#define ATOLL_ERROR_H

void error(int status, int number, const char *format, ...);

#endif
