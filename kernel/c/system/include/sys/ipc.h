/* Keys of what processes of one machine share. A rank is alone on its machine. */
#ifndef ATOLL_SYS_IPC_H
#define ATOLL_SYS_IPC_H

#include <sys/types.h>

#define IPC_RMID 0
#define IPC_SET 1
#define IPC_STAT 2
#define IPC_CREAT 512
#define IPC_EXCL 1024
#define IPC_NOWAIT 2048
#define IPC_PRIVATE ((key_t)0)

key_t ftok(const char *path, int number);

#endif
