/* Calls of a system by their numbers: none is there. */
#ifndef ATOLL_SYS_SYSCALL_H
#define ATOLL_SYS_SYSCALL_H

#define SYS_gettid 1
#define __NR_gettid SYS_gettid

long syscall(long number, ...);

#endif
