/* What POSIX has and a rank has not, weak as in posix.c: other processes, pipes, links, directories, terminals. It links, and says by
   its result that it is not there. */

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

/* As wide as any result is, whose lower half is what a narrower one is. */
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

/* What leaves nothing to do: there is no other user, no directory, no alarm. */
static intmax_t nothing_to_do(void)
{
    return 0;
}

/* By the name that the linker sees, whatever the compiler knows of a function of that name. */
#define IS(what, name) extern __typeof__(what) absent_##name __asm__(#name) __attribute__((weak, alias(#what)));
#define NOT_THERE(name) IS(not_there, name)
#define NO_PLACE(name) IS(no_place, name)
#define NOTHING_TO_DO(name) IS(nothing_to_do, name)

NOT_THERE(fork) NOT_THERE(vfork) NOT_THERE(wait) NOT_THERE(waitpid) NOT_THERE(wait3) NOT_THERE(wait4) NOT_THERE(execl)
NOT_THERE(execle) NOT_THERE(execlp) NOT_THERE(execv) NOT_THERE(execve) NOT_THERE(execvp) NOT_THERE(pipe)
NOT_THERE(pclose) NOT_THERE(killpg) NOT_THERE(setpgid) NOT_THERE(setsid) NOT_THERE(prctl) NOT_THERE(syscall)
NOT_THERE(ptrace) NOT_THERE(daemon) NOT_THERE(dlclose)
NO_PLACE(popen) NO_PLACE(dlopen) NO_PLACE(dlsym) NO_PLACE(dlerror)

NOT_THERE(dup) NOT_THERE(dup2) NOT_THERE(fcntl) NOT_THERE(ioctl) NOT_THERE(flock) NOT_THERE(lockf) NOT_THERE(mkfifo)
NOT_THERE(link) NOT_THERE(symlink) NOT_THERE(readlink) NOT_THERE(truncate) NOT_THERE(ftruncate)
NOT_THERE(posix_fallocate) NOT_THERE(closedir) NOT_THERE(readdir_r) NOT_THERE(scandir) NOT_THERE(dirfd)
NOT_THERE(statvfs) NOT_THERE(fstatvfs) NOT_THERE(statfs) NOT_THERE(fstatfs)
NOT_THERE(tcgetattr) NOT_THERE(tcsetattr) NOT_THERE(ttyname_r)
NO_PLACE(opendir) NO_PLACE(fdopendir) NO_PLACE(readdir) NO_PLACE(ttyname) NO_PLACE(getgrgid) NO_PLACE(getgrnam)

NOT_THERE(setitimer) NOT_THERE(getitimer) NOT_THERE(timer_create) NOT_THERE(timer_settime) NOT_THERE(timer_delete)
NOT_THERE(sigsuspend) NOT_THERE(sigwait) NOT_THERE(sigaltstack) NOT_THERE(pause) NOT_THERE(clock_settime)
NOT_THERE(settimeofday) NOT_THERE(shmget) NOT_THERE(shmdt) NOT_THERE(shmctl) NOT_THERE(shmat) NOT_THERE(shm_open)
NOT_THERE(shm_unlink) NOT_THERE(semget) NOT_THERE(semop) NOT_THERE(semctl) NOT_THERE(ftok)

NOTHING_TO_DO(alarm) NOTHING_TO_DO(chdir) NOTHING_TO_DO(chmod) NOTHING_TO_DO(fchmod) NOTHING_TO_DO(chown)
NOTHING_TO_DO(rmdir) NOTHING_TO_DO(umask) NOTHING_TO_DO(sync) NOTHING_TO_DO(nice) NOTHING_TO_DO(utime)
NOTHING_TO_DO(utimes) NOTHING_TO_DO(fdatasync) NOTHING_TO_DO(posix_fadvise) NOTHING_TO_DO(setpriority)
NOTHING_TO_DO(getpriority) NOTHING_TO_DO(setrlimit) NOTHING_TO_DO(sigpending) NOTHING_TO_DO(siginterrupt)
NOTHING_TO_DO(getpgrp) NOTHING_TO_DO(getsid) NOTHING_TO_DO(gethostid) NOTHING_TO_DO(setuid) NOTHING_TO_DO(setgid)
NOTHING_TO_DO(backtrace) NOTHING_TO_DO(openlog) NOTHING_TO_DO(syslog) NOTHING_TO_DO(closelog)
NOTHING_TO_DO(backtrace_symbols_fd) NOTHING_TO_DO(mprotect) NOTHING_TO_DO(msync) NOTHING_TO_DO(madvise)
NOTHING_TO_DO(mlock) NOTHING_TO_DO(munlock) NOTHING_TO_DO(mlockall) NOTHING_TO_DO(munlockall)
NOTHING_TO_DO(sched_setscheduler) NOTHING_TO_DO(sched_getscheduler) NOTHING_TO_DO(sched_setparam)
NO_PLACE(backtrace_symbols)
