/* Semaphores that processes share, which there are none of. */
#ifndef ATOLL_SYS_SEM_H
#define ATOLL_SYS_SEM_H

#include <sys/ipc.h>

enum { GETVAL = 12, SETVAL = 16, SETALL = 17, SEM_UNDO = 4096 };

struct sembuf {
    unsigned short sem_num;
    short sem_op, sem_flg;
};

int semget(key_t key, int count, int flags);
int semop(int set, struct sembuf *operations, size_t count);
int semctl(int set, int number, int command, ...);

#endif
