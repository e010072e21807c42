/* Room for files, of which nobody knows. */
#ifndef ATOLL_SYS_STATVFS_H
#define ATOLL_SYS_STATVFS_H

struct statvfs {
    unsigned long f_bsize, f_frsize, f_blocks, f_bfree, f_bavail, f_files, f_ffree, f_favail, f_fsid, f_flag, f_namemax;
};

int statvfs(const char *path, struct statvfs *room);
int fstatvfs(int file, struct statvfs *room);

#endif
