/* What newlib asks of an operating system. */

#include <atoll/services.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#undef errno
extern int errno;

/* A result, or errno below zero. */
static int checked(int result)
{
    if (result >= 0)
        return result;
    errno = -result;
    return -1;
}

int _open(const char *path, int flags, ...)
{
    uint32_t mode = (flags & O_ACCMODE) == O_RDONLY ? 0 : ATOLL_WRITE;
    mode |= flags & O_CREAT ? ATOLL_CREATE : 0;
    mode |= flags & O_TRUNC ? ATOLL_EMPTY : 0;
    mode |= flags & O_APPEND ? ATOLL_APPEND : 0;
    mode |= flags & O_EXCL ? ATOLL_NEW : 0;
    return checked(atoll_services->open(atoll_context, path, mode));
}

int _close(int file)
{
    return checked(atoll_services->close(atoll_context, file));
}

int _read(int file, void *bytes, size_t count)
{
    return checked(atoll_services->read(atoll_context, file, bytes, count));
}

int _write(int file, const void *bytes, size_t count)
{
    return checked(atoll_services->write(atoll_context, file, bytes, count));
}

off_t _lseek(int file, off_t offset, int from)
{
    int64_t place = atoll_services->seek(atoll_context, file, offset, from);
    if (place >= 0)
        return place;
    errno = -place;
    return -1;
}

int _unlink(const char *path)
{
    return checked(atoll_services->unlink(atoll_context, path));
}

int _isatty(int file)
{
    return file >= 0 && file <= 2;
}

int _fstat(int file, struct stat *status)
{
    int64_t here = atoll_services->seek(atoll_context, file, 0, SEEK_CUR);
    *status = (struct stat){.st_mode = _isatty(file) ? S_IFCHR : S_IFREG};
    if (_isatty(file))
        return 0;
    if (here < 0)
        return checked(here);
    status->st_size = atoll_services->seek(atoll_context, file, 0, SEEK_END);
    atoll_services->seek(atoll_context, file, here, SEEK_SET);
    return 0;
}

int _stat(const char *path, struct stat *status)
{
    int file = _open(path, O_RDONLY);
    if (file < 0)
        return -1;
    _fstat(file, status);
    return _close(file);
}

int _link(const char *old, const char *new)
{
    (void)old, (void)new;
    errno = ENOSYS;
    return -1;
}

/* Where malloc has its next memory from. */
static char *next;
static size_t heap_bytes;

static char *heap(void)
{
    static char *start;
    if (start == NULL)
        next = start = atoll_services->heap(atoll_context, &heap_bytes);
    return start;
}

size_t atoll_heap_bytes(void)
{
    heap();
    return heap_bytes;
}

void *_sbrk(ptrdiff_t more)
{
    char *start = heap(), *block = next;
    if (more > 0 && (size_t)more > heap_bytes - (size_t)(next - start)) {
        atoll_services->heap_is_full(atoll_context, more);
        errno = ENOMEM;
        return (void *)-1;
    }
    next += more;
    return block;
}

_Noreturn void _exit(int status)
{
    atoll_leave(status, 0);
}

int _getpid(void)
{
    return atoll_services->rank(atoll_context) + 1;
}

/* The only process is this one, and it has not handled the signal. */
int _kill(int process, int signal)
{
    if (process != _getpid()) {
        errno = ESRCH;
        return -1;
    }
    if (signal != 0)
        atoll_leave(0, signal);
    return 0;
}

int _gettimeofday(struct timeval *time, void *zone)
{
    (void)zone;
    uint64_t us = atoll_services->now_ns(atoll_context) / 1000;
    *time = (struct timeval){.tv_sec = us / 1000000, .tv_usec = us % 1000000};
    return 0;
}

clock_t _times(struct tms *times)
{
    clock_t ticks = atoll_services->now_ns(atoll_context) / (1000000000 / CLOCKS_PER_SEC);
    *times = (struct tms){.tms_utime = ticks};
    return ticks;
}
