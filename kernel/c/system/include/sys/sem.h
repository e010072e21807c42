/* Semaphores that processes share, which there are none of. */
#ifndef ATOLL_SYS_SEM_H
#define ATOLL_SYS_SEM_H

#include <sys/ipc.h>

#define GETVAL 12
#define SETVAL 16
#define SETALL 17
#define SEM_UNDO 4096

struct sembuf {
    unsigned short sem_num;
    short sem_op, sem_flg;
};

int semget(key_t key, int count, int flags);
int semop(int set, struct sembuf *operations, size_t count);
int semctl(int set, int number, int command, ...);

#endif
