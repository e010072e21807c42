/* Semaphores of a rank's one thread. */
#ifndef ATOLL_SEMAPHORE_H
#define ATOLL_SEMAPHORE_H

typedef unsigned sem_t;

int sem_init(sem_t *semaphore, int shared, unsigned value);
int sem_post(sem_t *semaphore);
int sem_trywait(sem_t *semaphore);
int sem_wait(sem_t *semaphore);
int sem_getvalue(sem_t *semaphore, int *value);
int sem_destroy(sem_t *semaphore);

#endif
