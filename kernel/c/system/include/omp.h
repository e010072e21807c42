/* OpenMP's functions for a rank, which is one thread: what a program asks of them has the answer of a machine with one. Its
   directives are comments to the compiler here. */
#ifndef ATOLL_OMP_H
#define ATOLL_OMP_H

#include <stdlib.h>
#include <sys/time.h>

typedef struct {
    int held;
} omp_lock_t, omp_nest_lock_t;

typedef enum { omp_sched_static = 1, omp_sched_dynamic, omp_sched_guided, omp_sched_auto } omp_sched_t;
typedef enum {
    omp_proc_bind_false,
    omp_proc_bind_true,
    omp_proc_bind_master,
    omp_proc_bind_close,
    omp_proc_bind_spread
} omp_proc_bind_t;

#define ATOLL_OMP static __inline__ __attribute__((unused))
#define ATOLL_OMP_ANSWERS(name, answer) ATOLL_OMP int name(void) { return answer; }
#define ATOLL_OMP_TAKES(name, type) ATOLL_OMP void name(type value) { (void)value; }

ATOLL_OMP_ANSWERS(omp_get_num_threads, 1)
ATOLL_OMP_ANSWERS(omp_get_max_threads, 1)
ATOLL_OMP_ANSWERS(omp_get_thread_num, 0)
ATOLL_OMP_ANSWERS(omp_get_num_procs, 1)
ATOLL_OMP_ANSWERS(omp_in_parallel, 0)
ATOLL_OMP_ANSWERS(omp_get_dynamic, 0)
ATOLL_OMP_ANSWERS(omp_get_nested, 0)
ATOLL_OMP_ANSWERS(omp_get_thread_limit, 1)
ATOLL_OMP_ANSWERS(omp_get_max_active_levels, 1)
ATOLL_OMP_ANSWERS(omp_get_level, 0)
ATOLL_OMP_ANSWERS(omp_get_active_level, 0)
ATOLL_OMP_ANSWERS(omp_in_final, 1)
ATOLL_OMP_ANSWERS(omp_get_cancellation, 0)
ATOLL_OMP_ANSWERS(omp_get_proc_bind, omp_proc_bind_false)
ATOLL_OMP_ANSWERS(omp_get_num_places, 0)
ATOLL_OMP_ANSWERS(omp_get_place_num, -1)
ATOLL_OMP_ANSWERS(omp_get_default_device, 0)
ATOLL_OMP_ANSWERS(omp_get_num_devices, 0)
ATOLL_OMP_ANSWERS(omp_is_initial_device, 1)
ATOLL_OMP_ANSWERS(omp_get_num_teams, 1)
ATOLL_OMP_ANSWERS(omp_get_team_num, 0)

ATOLL_OMP_TAKES(omp_set_num_threads, int)
ATOLL_OMP_TAKES(omp_set_dynamic, int)
ATOLL_OMP_TAKES(omp_set_nested, int)
ATOLL_OMP_TAKES(omp_set_max_active_levels, int)
ATOLL_OMP_TAKES(omp_set_default_device, int)

ATOLL_OMP int omp_get_ancestor_thread_num(int level) { return level == 0 ? 0 : -1; }
ATOLL_OMP int omp_get_team_size(int level) { return level == 0 ? 1 : -1; }
ATOLL_OMP void omp_set_schedule(omp_sched_t kind, int chunk) { (void)kind, (void)chunk; }
ATOLL_OMP void omp_get_schedule(omp_sched_t *kind, int *chunk) { *kind = omp_sched_static, *chunk = 0; }

ATOLL_OMP double omp_get_wtime(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return (double)now.tv_sec + (double)now.tv_usec * 1e-6;
}

ATOLL_OMP double omp_get_wtick(void) { return 1e-6; }

/* Ends the program: the one thread holds the lock that it would wait for. */
extern void atoll_waits_for_itself(const char *call) __attribute__((noreturn));

ATOLL_OMP void omp_init_lock(omp_lock_t *lock) { lock->held = 0; }
ATOLL_OMP void omp_destroy_lock(omp_lock_t *lock) { (void)lock; }
ATOLL_OMP void omp_set_lock(omp_lock_t *lock)
{
    if (lock->held++)
        atoll_waits_for_itself("omp_set_lock");
}
ATOLL_OMP void omp_unset_lock(omp_lock_t *lock) { lock->held = 0; }
ATOLL_OMP int omp_test_lock(omp_lock_t *lock) { return lock->held ? 0 : (lock->held = 1); }
ATOLL_OMP void omp_init_nest_lock(omp_nest_lock_t *lock) { lock->held = 0; }
ATOLL_OMP void omp_destroy_nest_lock(omp_nest_lock_t *lock) { (void)lock; }
ATOLL_OMP void omp_set_nest_lock(omp_nest_lock_t *lock) { lock->held++; }
ATOLL_OMP void omp_unset_nest_lock(omp_nest_lock_t *lock) { lock->held--; }
ATOLL_OMP int omp_test_nest_lock(omp_nest_lock_t *lock) { return ++lock->held; }

#endif
