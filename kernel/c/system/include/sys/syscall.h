/* Calls of a system by their numbers, which are those of Linux on an i386: none is there. */
#ifndef ATOLL_SYS_SYSCALL_H
#define ATOLL_SYS_SYSCALL_H

#define SYS_gettid 224
#define __NR_gettid SYS_gettid

long syscall(long number, ...);

#endif
