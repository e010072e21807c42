/* Newlib's, and the sets of cores that Linux has: a rank stays on its core, which is the only one that it knows. */
#include_next <sched.h>

#ifndef ATOLL_SCHED_H
#define ATOLL_SCHED_H

#define CPU_SETSIZE 1024

typedef struct {
    unsigned long bits[CPU_SETSIZE / (8 * sizeof(long))];
} cpu_set_t;

#define ATOLL_CPU_WORD(cpu, set) ((set)->bits[(cpu) / (8 * sizeof(long))])
#define ATOLL_CPU_BIT(cpu) (1UL << (cpu) % (8 * sizeof(long)))
#define CPU_ZERO(set) ((void)(*(set) = (cpu_set_t){{0}}))
#define CPU_SET(cpu, set) ((void)(ATOLL_CPU_WORD(cpu, set) |= ATOLL_CPU_BIT(cpu)))
#define CPU_CLR(cpu, set) ((void)(ATOLL_CPU_WORD(cpu, set) &= ~ATOLL_CPU_BIT(cpu)))
#define CPU_ISSET(cpu, set) ((ATOLL_CPU_WORD(cpu, set) & ATOLL_CPU_BIT(cpu)) != 0)
#define CPU_COUNT(set) atoll_cpu_count(set)

int atoll_cpu_count(const cpu_set_t *set);
int sched_setaffinity(pid_t process, size_t bytes, const cpu_set_t *set);
int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *set);
int sched_getcpu(void);

#endif
