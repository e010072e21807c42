/* What programs call of POSIX, weak: a program may have functions with these names of its own. */

#include <atoll/services.h>
#include <atoll/weak.h>
#include <errno.h>
#include <fcntl.h>
#include <reent.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

/* Newlib's functions for one thread call those of system.c and set this thread's errno. */

WEAK int open(const char *path, int flags, ...)
{
    return _open_r(_REENT, path, flags, 0);
}

WEAK int close(int file)
{
    return _close_r(_REENT, file);
}

WEAK _READ_WRITE_RETURN_TYPE read(int file, void *bytes, size_t count)
{
    return _read_r(_REENT, file, bytes, count);
}

WEAK _READ_WRITE_RETURN_TYPE write(int file, const void *bytes, size_t count)
{
    return _write_r(_REENT, file, bytes, count);
}

WEAK off_t lseek(int file, off_t offset, int from)
{
    return _lseek_r(_REENT, file, offset, from);
}

WEAK int unlink(const char *path)
{
    return _unlink_r(_REENT, path);
}

WEAK int isatty(int file)
{
    return _isatty_r(_REENT, file);
}

WEAK int fstat(int file, struct stat *status)
{
    return _fstat_r(_REENT, file, status);
}

WEAK int stat(const char *restrict path, struct stat *restrict status)
{
    return _stat_r(_REENT, path, status);
}

WEAK int access(const char *path, int mode)
{
    struct stat status;
    (void)mode;
    return stat(path, &status);
}

WEAK pid_t getpid(void)
{
    return _getpid_r(_REENT);
}

WEAK int kill(pid_t process, int signal)
{
    return process == _getpid_r(_REENT) ? raise(signal) : _kill_r(_REENT, process, signal);
}

WEAK int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    return _gettimeofday_r(_REENT, time, zone);
}

WEAK clock_t times(struct tms *times)
{
    return _times_r(_REENT, times);
}

WEAK unsigned sleep(unsigned seconds)
{
    atoll_services->sleep_ns(atoll_context, seconds * UINT64_C(1000000000));
    return 0;
}

WEAK int usleep(useconds_t us)
{
    atoll_services->sleep_ns(atoll_context, us * UINT64_C(1000));
    return 0;
}

WEAK int nanosleep(const struct timespec *time, struct timespec *left)
{
    if (time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec > 999999999) {
        errno = EINVAL;
        return -1;
    }
    atoll_services->sleep_ns(atoll_context, time->tv_sec * UINT64_C(1000000000) + time->tv_nsec);
    if (left != NULL)
        *left = (struct timespec){0};
    return 0;
}

WEAK int clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    uint64_t ns = atoll_services->now_ns(atoll_context);
    *time = (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    return 0;
}

WEAK int gethostname(char *name, size_t bytes)
{
    if (bytes > 0) {
        strncpy(name, "atoll", bytes);
        name[bytes - 1] = 0;
    }
    return 0;
}
