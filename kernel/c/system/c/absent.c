/* What POSIX has and a rank has not, weak as in posix.c: other processes, pipes, links, directories, terminals. What is asked for and is
   not there fails with ENOSYS. What has no effect here, as locking memory, succeeds. */

#include <atoll/weak.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>
#include <utime.h>

/* Returns 64 bits of ones: a caller that expects an int or a long reads its lower half, -1. */
static intmax_t not_there(void)
{
    errno = ENOSYS;
    return -1;
}

static void *no_place(void)
{
    errno = ENOSYS;
    return NULL;
}

/* The result of those that do not say by errno what is wrong. */
static int error_number(void)
{
    return ENOSYS;
}

static intmax_t nothing_to_do(void)
{
    return 0;
}

/* By the name that the linker sees, whatever the compiler knows of a function of that name. */
#define IS(what, name) extern __typeof__(what) absent_##name __asm__(#name) __attribute__((weak, alias(#what)));
#define NOT_THERE(name) IS(not_there, name)
#define NO_PLACE(name) IS(no_place, name)
#define ERROR_NUMBER(name) IS(error_number, name)
#define NOTHING_TO_DO(name) IS(nothing_to_do, name)

NOT_THERE(fork) NOT_THERE(vfork) NOT_THERE(wait) NOT_THERE(waitpid) NOT_THERE(wait3) NOT_THERE(wait4) NOT_THERE(execl)
NOT_THERE(execle) NOT_THERE(execlp) NOT_THERE(execv) NOT_THERE(execve) NOT_THERE(execvp) NOT_THERE(pipe)
NOT_THERE(pclose) NOT_THERE(killpg) NOT_THERE(setpgid) NOT_THERE(setsid) NOT_THERE(prctl) NOT_THERE(syscall)
NOT_THERE(ptrace) NOT_THERE(daemon) NOT_THERE(dlclose)
NO_PLACE(popen) NO_PLACE(dlopen) NO_PLACE(dlsym)

NOT_THERE(dup) NOT_THERE(dup2) NOT_THERE(fcntl) NOT_THERE(ioctl) NOT_THERE(flock) NOT_THERE(lockf) NOT_THERE(mkfifo)
NOT_THERE(link) NOT_THERE(symlink) NOT_THERE(readlink) NOT_THERE(truncate) NOT_THERE(ftruncate)
NOT_THERE(closedir) NOT_THERE(scandir) NOT_THERE(dirfd) NOT_THERE(telldir)
NOT_THERE(statvfs) NOT_THERE(fstatvfs) NOT_THERE(statfs) NOT_THERE(fstatfs)
NOT_THERE(tcgetattr) NOT_THERE(tcsetattr)
ERROR_NUMBER(posix_fallocate) ERROR_NUMBER(readdir_r) ERROR_NUMBER(ttyname_r) ERROR_NUMBER(sigwait)
NO_PLACE(opendir) NO_PLACE(fdopendir) NO_PLACE(readdir) NO_PLACE(ttyname) NO_PLACE(getgrgid) NO_PLACE(getgrnam)

NOT_THERE(setitimer) NOT_THERE(getitimer) NOT_THERE(timer_create) NOT_THERE(timer_settime) NOT_THERE(timer_delete)
NOT_THERE(sigsuspend) NOT_THERE(sigaltstack) NOT_THERE(pause) NOT_THERE(clock_settime)
NOT_THERE(settimeofday) NOT_THERE(shmget) NOT_THERE(shmdt) NOT_THERE(shmctl) NOT_THERE(shmat) NOT_THERE(shm_open)
NOT_THERE(shm_unlink) NOT_THERE(semget) NOT_THERE(semop) NOT_THERE(semctl) NOT_THERE(ftok)

NOTHING_TO_DO(alarm) NOTHING_TO_DO(fchmod) NOTHING_TO_DO(umask) NOTHING_TO_DO(sync) NOTHING_TO_DO(nice)
NOTHING_TO_DO(fdatasync) NOTHING_TO_DO(posix_fadvise) NOTHING_TO_DO(setpriority) NOTHING_TO_DO(getpriority)
NOTHING_TO_DO(siginterrupt) NOTHING_TO_DO(getpgrp) NOTHING_TO_DO(getsid) NOTHING_TO_DO(gethostid)
NOTHING_TO_DO(backtrace) NOTHING_TO_DO(openlog) NOTHING_TO_DO(syslog) NOTHING_TO_DO(closelog)
NOTHING_TO_DO(backtrace_symbols_fd) NOTHING_TO_DO(msync) NOTHING_TO_DO(mlock) NOTHING_TO_DO(munlock)
NOTHING_TO_DO(mlockall) NOTHING_TO_DO(munlockall) NOTHING_TO_DO(sched_setscheduler) NOTHING_TO_DO(sched_getscheduler)
NOTHING_TO_DO(sched_setparam) NOTHING_TO_DO(sched_get_priority_min) NOTHING_TO_DO(sched_get_priority_max)
NOT_THERE(sched_getparam) NOT_THERE(sched_rr_get_interval)
NOTHING_TO_DO(rewinddir) NOTHING_TO_DO(seekdir) NOTHING_TO_DO(alphasort)
NO_PLACE(backtrace_symbols)

WEAK char *dlerror(void)
{
    static char none[] = "there are no libraries that a running program could load";
    return none;
}

WEAK int sigpending(sigset_t *set)
{
    *set = 0;
    return 0;
}

static int fails(int number)
{
    errno = number;
    return -1;
}

/* The only directory is the one that getcwd names. */
WEAK int chdir(const char *path)
{
    return strcmp(path, "/") == 0 || strcmp(path, ".") == 0 ? 0 : fails(ENOENT);
}

WEAK int rmdir(const char *path)
{
    (void)path;
    return fails(ENOENT);
}

/* Files that there are have no owner, no rights and no times. */
WEAK int chmod(const char *path, mode_t mode)
{
    (void)mode;
    return access(path, F_OK);
}

WEAK int chown(const char *path, uid_t user, gid_t group)
{
    (void)user, (void)group;
    return access(path, F_OK);
}

WEAK int utime(const char *path, const struct utimbuf *times)
{
    (void)times;
    return access(path, F_OK);
}

WEAK int utimes(const char *path, const struct timeval times[2])
{
    (void)times;
    return access(path, F_OK);
}

WEAK int setuid(uid_t user)
{
    return user == 0 ? 0 : fails(EPERM);
}

WEAK int setgid(gid_t group)
{
    return group == 0 ? 0 : fails(EPERM);
}

/* Nothing keeps a program from its own memory. */
WEAK int mprotect(void *start, size_t bytes, int rights)
{
    (void)start, (void)bytes;
    return (rights & PROT_READ) && (rights & PROT_WRITE) ? 0 : fails(ENOSYS);
}

WEAK int madvise(void *start, size_t bytes, int advice)
{
    if (advice == MADV_DONTNEED)
        memset(start, 0, bytes);
    return 0;
}
