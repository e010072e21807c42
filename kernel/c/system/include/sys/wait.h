/* Newlib's, and what BSD has besides. */
#include_next <sys/wait.h>

#ifndef ATOLL_SYS_WAIT_H
#define ATOLL_SYS_WAIT_H

struct rusage;

pid_t wait3(int *status, int options, struct rusage *usage);
pid_t wait4(pid_t process, int *status, int options, struct rusage *usage);

#endif
