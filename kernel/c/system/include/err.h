/* Messages of failures, as BSD and glibc have them, without the program's name. */
#ifndef ATOLL_ERR_H
#define ATOLL_ERR_H

void err(int status, const char *format, ...) __attribute__((noreturn));
void errx(int status, const char *format, ...) __attribute__((noreturn));
void warn(const char *format, ...);
void warnx(const char *format, ...);

#endif
