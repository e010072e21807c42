/* What a rank has used, and what it may use. Newlib's own header has the times only. */
#ifndef ATOLL_SYS_RESOURCE_H
#define ATOLL_SYS_RESOURCE_H

#include <sys/time.h>
#include <sys/types.h>

#define RUSAGE_SELF 0
#define RUSAGE_CHILDREN (-1)

struct rusage {
    struct timeval ru_utime;
    struct timeval ru_stime;
    long ru_maxrss, ru_ixrss, ru_idrss, ru_isrss, ru_minflt, ru_majflt, ru_nswap, ru_inblock, ru_oublock, ru_msgsnd, ru_msgrcv,
        ru_nsignals, ru_nvcsw, ru_nivcsw;
};

typedef unsigned long rlim_t;

struct rlimit {
    rlim_t rlim_cur, rlim_max;
};

#define RLIM_INFINITY ((rlim_t)-1)
#define RLIMIT_CPU 0
#define RLIMIT_FSIZE 1
#define RLIMIT_DATA 2
#define RLIMIT_STACK 3
#define RLIMIT_CORE 4
#define RLIMIT_RSS 5
#define RLIMIT_NPROC 6
#define RLIMIT_NOFILE 7
#define RLIMIT_MEMLOCK 8
#define RLIMIT_AS 9

#define PRIO_PROCESS 0
#define PRIO_PGRP 1
#define PRIO_USER 2

int getrusage(int who, struct rusage *usage);
int getrlimit(int what, struct rlimit *limit);
int setrlimit(int what, const struct rlimit *limit);
int getpriority(int which, id_t who);
int setpriority(int which, id_t who, int priority);

#endif
