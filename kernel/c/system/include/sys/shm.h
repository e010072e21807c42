/* Memory that processes share, which there is none of: RCCE_shmalloc and MPI_Win_allocate_shared have it. */
#ifndef ATOLL_SYS_SHM_H
#define ATOLL_SYS_SHM_H

#include <sys/ipc.h>

struct shmid_ds {
    size_t shm_segsz;
    unsigned long shm_nattch;
};

int shmget(key_t key, size_t bytes, int flags);
void *shmat(int segment, const void *near, int flags);
int shmdt(const void *start);
int shmctl(int segment, int command, struct shmid_ds *status);

#endif
