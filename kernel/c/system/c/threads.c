/* Threads of a rank, weak as in posix.c: there is one, and pthread_create says so. What synchronises threads waits for nothing. */

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#define WEAK __attribute__((weak))

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

/* Nobody else could ever wake the thread. */
WEAK int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    (void)condition, (void)mutex;
    return EDEADLK;
}

WEAK int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
    (void)condition, (void)mutex, (void)until;
    return ETIMEDOUT;
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
    errno = EDEADLK;
    return -1;
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

/* There is no other thread that could be named, or hold a lock. */
static int done(void)
{
    return 0;
}

static int no_such_thread(void)
{
    return ESRCH;
}

#define IS(what, name)                                                                                                  \
    extern __typeof__(what) thread_##name __asm__("pthread_" #name) __attribute__((weak, alias(#what)));
#define DONE(name) IS(done, name)
#define NO_SUCH_THREAD(name) IS(no_such_thread, name)

NO_SUCH_THREAD(join) NO_SUCH_THREAD(detach) NO_SUCH_THREAD(cancel) NO_SUCH_THREAD(kill)

DONE(attr_init) DONE(attr_destroy) DONE(attr_setdetachstate) DONE(attr_setscope) DONE(attr_setstacksize)
DONE(attr_setschedparam) DONE(attr_setschedpolicy) DONE(attr_setinheritsched) DONE(attr_setguardsize)
DONE(mutexattr_init) DONE(mutexattr_destroy) DONE(mutexattr_settype) DONE(mutexattr_setpshared) DONE(mutex_init)
DONE(mutex_destroy) DONE(mutex_lock) DONE(mutex_trylock) DONE(mutex_timedlock) DONE(mutex_unlock) DONE(condattr_init)
DONE(condattr_destroy) DONE(condattr_setclock) DONE(cond_init) DONE(cond_destroy) DONE(cond_signal)
DONE(cond_broadcast) DONE(rwlock_init) DONE(rwlock_destroy) DONE(rwlock_rdlock) DONE(rwlock_tryrdlock)
DONE(rwlock_wrlock) DONE(rwlock_trywrlock) DONE(rwlock_unlock) DONE(spin_init) DONE(spin_destroy) DONE(spin_lock)
DONE(spin_trylock) DONE(spin_unlock) DONE(barrierattr_init) DONE(barrierattr_destroy) DONE(barrier_init)
DONE(barrier_destroy) DONE(setcancelstate) DONE(setcanceltype) DONE(testcancel) DONE(yield) DONE(setconcurrency)
DONE(atfork) DONE(sigmask) DONE(setname_np)
