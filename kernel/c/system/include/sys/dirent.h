/* Directories, which there are none of. */
#ifndef ATOLL_SYS_DIRENT_H
#define ATOLL_SYS_DIRENT_H

#include <sys/types.h>

#define DT_UNKNOWN 0
#define DT_DIR 4
#define DT_REG 8
#define DT_LNK 10

struct dirent {
    ino_t d_ino;
    unsigned char d_type;
    char d_name[256];
};

typedef struct atoll_directory DIR;

#endif
