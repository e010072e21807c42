/* Threads of a rank, weak as in posix.c: there is one, and pthread_create says so. What would wait for another one ends the program. */

#include <atoll/services.h>
#include <atoll/weak.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* The one thread, which newlib's type has a number for. */
enum { SELF = 1, KEYS = 64 };

WEAK pthread_t pthread_self(void)
{
    return SELF;
}

WEAK int pthread_equal(pthread_t one, pthread_t other)
{
    return one == other;
}

WEAK int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    (void)thread, (void)attributes, (void)start, (void)argument;
    return EAGAIN;
}

WEAK void pthread_exit(void *value)
{
    (void)value;
    exit(0);
}

WEAK int pthread_once(pthread_once_t *control, void (*initialise)(void))
{
    if (!control->init_executed) {
        control->init_executed = 1;
        initialise();
    }
    return 0;
}

static const void *values[KEYS];
static unsigned char used[KEYS];

WEAK int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    (void)destructor;
    for (*key = 0; *key < KEYS; ++*key)
        if (!used[*key]) {
            used[*key] = 1;
            values[*key] = NULL;
            return 0;
        }
    return EAGAIN;
}

WEAK int pthread_key_delete(pthread_key_t key)
{
    if (key >= KEYS || !used[key])
        return EINVAL;
    used[key] = 0;
    return 0;
}

WEAK int pthread_setspecific(pthread_key_t key, const void *value)
{
    if (key >= KEYS || !used[key])
        return EINVAL;
    values[key] = value;
    return 0;
}

WEAK void *pthread_getspecific(pthread_key_t key)
{
    return key < KEYS ? (void *)values[key] : NULL;
}

WEAK int pthread_attr_getstacksize(const pthread_attr_t *attributes, size_t *bytes)
{
    (void)attributes;
    *bytes = 8 << 20;
    return 0;
}

WEAK int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    (void)barrier;
    return PTHREAD_BARRIER_SERIAL_THREAD;
}

_Noreturn void atoll_waits_for_itself(const char *call)
{
    fflush(stdout);
    fprintf(stderr, "%s would wait for ever: a rank is one thread, so that no other one can end the wait\n", call);
    abort();
}

WEAK int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    (void)condition, (void)mutex;
    atoll_waits_for_itself("pthread_cond_wait");
}

WEAK int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
    (void)condition, (void)mutex;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    long long ns = (until->tv_sec - now.tv_sec) * 1000000000LL + until->tv_nsec - now.tv_nsec;
    if (ns > 0)
        nanosleep(&(struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000}, NULL);
    return ETIMEDOUT;
}

/* A mutex holds its type, from this bit on, and below how often it is locked. */
enum { TYPE_BIT = 16, LOCKS = (1 << TYPE_BIT) - 1 };

WEAK int pthread_mutexattr_init(pthread_mutexattr_t *attributes)
{
    *attributes = (pthread_mutexattr_t){.is_initialized = 1, .type = PTHREAD_MUTEX_DEFAULT};
    return 0;
}

WEAK int pthread_mutexattr_settype(pthread_mutexattr_t *attributes, int kind)
{
    if (kind < PTHREAD_MUTEX_NORMAL || kind > PTHREAD_MUTEX_DEFAULT)
        return EINVAL;
    attributes->type = kind;
    return 0;
}

WEAK int pthread_mutexattr_gettype(const pthread_mutexattr_t *attributes, int *kind)
{
    *kind = attributes->type;
    return 0;
}

WEAK int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    *mutex = (attributes == NULL ? PTHREAD_MUTEX_DEFAULT : attributes->type) << TYPE_BIT;
    return 0;
}

WEAK int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    if (*mutex == PTHREAD_MUTEX_INITIALIZER)
        pthread_mutex_init(mutex, NULL);
    if ((*mutex & LOCKS) != 0 && *mutex >> TYPE_BIT != PTHREAD_MUTEX_RECURSIVE)
        return EBUSY;
    ++*mutex;
    return 0;
}

WEAK int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (pthread_mutex_trylock(mutex) == 0)
        return 0;
    if (*mutex >> TYPE_BIT == PTHREAD_MUTEX_ERRORCHECK)
        return EDEADLK;
    atoll_waits_for_itself("pthread_mutex_lock of a mutex that is locked");
}

WEAK int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (*mutex == PTHREAD_MUTEX_INITIALIZER || (*mutex & LOCKS) == 0)
        return EPERM;
    --*mutex;
    return 0;
}

WEAK int sem_init(sem_t *semaphore, int shared, unsigned value)
{
    (void)shared;
    *semaphore = value;
    return 0;
}

WEAK int sem_post(sem_t *semaphore)
{
    ++*semaphore;
    return 0;
}

WEAK int sem_trywait(sem_t *semaphore)
{
    if (*semaphore == 0) {
        errno = EAGAIN;
        return -1;
    }
    --*semaphore;
    return 0;
}

WEAK int sem_wait(sem_t *semaphore)
{
    if (sem_trywait(semaphore) == 0)
        return 0;
    atoll_waits_for_itself("sem_wait");
}

WEAK int sem_getvalue(sem_t *semaphore, int *value)
{
    *value = *semaphore;
    return 0;
}

WEAK int sem_destroy(sem_t *semaphore)
{
    (void)semaphore;
    return 0;
}

WEAK int pthread_join(pthread_t thread, void **value)
{
    (void)value;
    return thread == SELF ? EDEADLK : ESRCH;
}

WEAK int pthread_detach(pthread_t thread)
{
    return thread == SELF ? 0 : ESRCH;
}

WEAK int pthread_cancel(pthread_t thread)
{
    return thread == SELF ? ENOSYS : ESRCH;
}

WEAK int pthread_kill(pthread_t thread, int number)
{
    if (thread != SELF)
        return ESRCH;
    return number == 0 || raise(number) == 0 ? 0 : EINVAL;
}

WEAK int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return sigprocmask(how, set, old) == 0 ? 0 : errno;
}

/* States of being cancelled are 0 whatever is set: nobody can cancel the thread. */
static int was_zero(int state, int *old)
{
    (void)state;
    if (old != NULL)
        *old = 0;
    return 0;
}

WEAK int pthread_attr_getdetachstate(const pthread_attr_t *attributes, int *state)
{
    (void)attributes;
    *state = PTHREAD_CREATE_JOINABLE;
    return 0;
}

WEAK int pthread_attr_getschedparam(const pthread_attr_t *attributes, struct sched_param *parameters)
{
    (void)attributes;
    *parameters = (struct sched_param){0};
    return 0;
}

/* There is no other thread that could hold a lock for reading or writing. */
static int done(void)
{
    return 0;
}

#define IS(what, name)                                                                                                  \
    extern __typeof__(what) thread_##name __asm__("pthread_" #name) __attribute__((weak, alias(#what)));
#define DONE(name) IS(done, name)

IS(was_zero, setcancelstate) IS(was_zero, setcanceltype)

DONE(attr_init) DONE(attr_destroy) DONE(attr_setdetachstate) DONE(attr_setstacksize) DONE(attr_setschedparam)
DONE(attr_setguardsize) DONE(mutexattr_destroy) DONE(mutexattr_setpshared) DONE(mutex_destroy) DONE(condattr_init)
DONE(condattr_destroy) DONE(condattr_setclock) DONE(cond_init) DONE(cond_destroy) DONE(cond_signal)
DONE(cond_broadcast) DONE(rwlockattr_init) DONE(rwlockattr_destroy) DONE(rwlock_init) DONE(rwlock_destroy)
DONE(rwlock_rdlock) DONE(rwlock_tryrdlock) DONE(rwlock_timedrdlock) DONE(rwlock_wrlock) DONE(rwlock_trywrlock)
DONE(rwlock_timedwrlock) DONE(rwlock_unlock) DONE(spin_init) DONE(spin_destroy) DONE(spin_lock) DONE(spin_trylock)
DONE(spin_unlock) DONE(barrierattr_init) DONE(barrierattr_destroy) DONE(barrier_init) DONE(barrier_destroy)
DONE(testcancel) DONE(yield) DONE(getconcurrency) DONE(setconcurrency) DONE(atfork) DONE(setname_np)
