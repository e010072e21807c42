/* Newlib's, and the sets of cores that Linux has: a rank stays on its core, which is the only one that it knows. */
#include_next <sched.h>

#ifndef ATOLL_SCHED_H
#define ATOLL_SCHED_H

#include <stddef.h>

#define CPU_SETSIZE 1024

typedef struct {
    unsigned long bits[CPU_SETSIZE / (8 * sizeof(long))];
} cpu_set_t;

#define CPU_ZERO(set) ((void)(*(set) = (cpu_set_t){{0}}))
#define CPU_SET(cpu, set) atoll_cpu_set(cpu, set)
#define CPU_CLR(cpu, set) atoll_cpu_clear(cpu, set)
#define CPU_ISSET(cpu, set) atoll_cpu_is_set(cpu, set)
#define CPU_COUNT(set) atoll_cpu_count(set)

/* Numbers for which a set has no bit, negative ones among them, are in no set. */
#define ATOLL_CPU static __inline__ __attribute__((unused))
#define ATOLL_CPU_WORD(cpu, set) ((set)->bits[(cpu) / (8 * sizeof(long))])
#define ATOLL_CPU_BIT(cpu) (1UL << (cpu) % (8 * sizeof(long)))

ATOLL_CPU void atoll_cpu_set(size_t cpu, cpu_set_t *set)
{
    if (cpu < CPU_SETSIZE)
        ATOLL_CPU_WORD(cpu, set) |= ATOLL_CPU_BIT(cpu);
}

ATOLL_CPU void atoll_cpu_clear(size_t cpu, cpu_set_t *set)
{
    if (cpu < CPU_SETSIZE)
        ATOLL_CPU_WORD(cpu, set) &= ~ATOLL_CPU_BIT(cpu);
}

ATOLL_CPU int atoll_cpu_is_set(size_t cpu, const cpu_set_t *set)
{
    return cpu < CPU_SETSIZE && (ATOLL_CPU_WORD(cpu, set) & ATOLL_CPU_BIT(cpu)) != 0;
}

int atoll_cpu_count(const cpu_set_t *set);
int sched_setaffinity(pid_t process, size_t bytes, const cpu_set_t *set);
int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *set);
int sched_getcpu(void);

#endif
