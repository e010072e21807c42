/* Room for files, of which nobody knows. */
#ifndef ATOLL_SYS_VFS_H
#define ATOLL_SYS_VFS_H

struct statfs {
    long f_type, f_bsize, f_blocks, f_bfree, f_bavail, f_files, f_ffree;
};

int statfs(const char *path, struct statfs *room);
int fstatfs(int file, struct statfs *room);

#endif
