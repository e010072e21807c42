/* Memory in pages: what is of no file can be had. */
#ifndef ATOLL_SYS_MMAN_H
#define ATOLL_SYS_MMAN_H

#include <sys/types.h>

enum { PROT_NONE = 0, PROT_READ = 1, PROT_WRITE = 2, PROT_EXEC = 4 };
enum { MAP_SHARED = 1, MAP_PRIVATE = 2, MAP_FIXED = 16, MAP_ANONYMOUS = 32, MAP_ANON = 32 };
enum { MAP_LOCKED = 0x2000, MAP_NORESERVE = 0x4000, MAP_POPULATE = 0x8000, MAP_HUGETLB = 0x40000 };
enum { MS_ASYNC = 1, MS_INVALIDATE = 2, MS_SYNC = 4, MCL_CURRENT = 1, MCL_FUTURE = 2 };
enum { MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED, MADV_HUGEPAGE = 14 };
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
