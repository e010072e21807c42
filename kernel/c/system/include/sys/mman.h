/* Memory in pages: what is of no file can be had. */
#ifndef ATOLL_SYS_MMAN_H
#define ATOLL_SYS_MMAN_H

#include <sys/types.h>

#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define PROT_EXEC 4
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_FIXED 16
#define MAP_ANONYMOUS 32
#define MAP_ANON 32
#define MAP_LOCKED 0x2000
#define MAP_NORESERVE 0x4000
#define MAP_POPULATE 0x8000
#define MAP_HUGETLB 0x40000
#define MS_ASYNC 1
#define MS_INVALIDATE 2
#define MS_SYNC 4
#define MCL_CURRENT 1
#define MCL_FUTURE 2
#define MADV_NORMAL 0
#define MADV_RANDOM 1
#define MADV_SEQUENTIAL 2
#define MADV_WILLNEED 3
#define MADV_DONTNEED 4
#define MADV_HUGEPAGE 14
#define MAP_FAILED ((void *)-1)

void *mmap(void *near, size_t bytes, int access, int flags, int file, off_t offset);
int munmap(void *start, size_t bytes);
int mprotect(void *start, size_t bytes, int access);
int msync(void *start, size_t bytes, int flags);
int madvise(void *start, size_t bytes, int advice);
int mlock(const void *start, size_t bytes);
int munlock(const void *start, size_t bytes);
int mlockall(int flags);
int munlockall(void);
int shm_open(const char *name, int flags, mode_t mode);
int shm_unlink(const char *name);

#endif
