/* What programs ask of POSIX about the machine and about themselves, weak as in posix.c: a rank is one process of one core. */

#include <atoll/services.h>
#include <atoll/weak.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };

WEAK int getpagesize(void)
{
    return PAGE;
}

WEAK long sysconf(int name)
{
    switch (name) {
    case _SC_PAGESIZE:
        return PAGE;
    case _SC_CLK_TCK:
        return CLOCKS_PER_SEC;
    case _SC_NPROCESSORS_CONF:
    case _SC_NPROCESSORS_ONLN:
        return 1;
    }
    errno = EINVAL;
    return -1;
}

/* All of a rank's time is its program's. The rest is not counted. */
WEAK int getrusage(int who, struct rusage *usage)
{
    *usage = (struct rusage){0};
    if (who == RUSAGE_SELF) {
        uint64_t us = atoll_services->now_ns(atoll_context) / 1000;
        usage->ru_utime = (struct timeval){.tv_sec = us / 1000000, .tv_usec = us % 1000000};
    } else if (who != RUSAGE_CHILDREN) {
        errno = EINVAL;
        return -1;
    }
    return 0;
}

/* A rank has all of its machine. */
WEAK int getrlimit(int what, struct rlimit *limit)
{
    (void)what;
    *limit = (struct rlimit){.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    return 0;
}

WEAK int setrlimit(int what, const struct rlimit *limit)
{
    (void)what;
    if (limit->rlim_cur == RLIM_INFINITY)
        return 0;
    errno = EPERM;
    return -1;
}

WEAK int uname(struct utsname *name)
{
    *name = (struct utsname){.sysname = "Atoll", .nodename = "atoll", .release = "1", .version = "1", .machine = "i586"};
    return 0;
}

WEAK int clock_getres(clockid_t clock, struct timespec *resolution)
{
    (void)clock;
    if (resolution != NULL)
        *resolution = (struct timespec){.tv_nsec = 1};
    return 0;
}

WEAK int sched_yield(void)
{
    atoll_services->sleep_ns(atoll_context, 1);
    return 0;
}

WEAK int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    if (alignment == 0 || alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    void *made = memalign(alignment, bytes);
    if (made == NULL)
        return ENOMEM;
    *block = made;
    return 0;
}

WEAK ssize_t getline(char **line, size_t *bytes, FILE *file)
{
    return __getline(line, bytes, file);
}

WEAK ssize_t getdelim(char **line, size_t *bytes, int delimiter, FILE *file)
{
    return __getdelim(line, bytes, delimiter, file);
}

/* What sigaction has set stays, while raise takes away what signal has. */
static _sig_func_ptr handlers[NSIG];

static void handle_again(int number)
{
    signal(number, handle_again);
    handlers[number](number);
}

WEAK int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    _sig_func_ptr before = signal(number, SIG_DFL), after = action == NULL ? before : action->sa_handler;
    if (before == SIG_ERR)
        return -1;
    if (old != NULL)
        *old = (struct sigaction){.sa_handler = before == handle_again ? handlers[number] : before};
    if (action != NULL && after != SIG_DFL && after != SIG_IGN) {
        handlers[number] = after;
        after = handle_again;
    }
    signal(number, after);
    return 0;
}

/* Signals are not held back: one comes only where the program raises it. */
WEAK int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    (void)how, (void)set;
    if (old != NULL)
        *old = 0;
    return 0;
}

/* Files have names, and no directories: one can be written below any. */
WEAK int mkdir(const char *path, mode_t mode)
{
    (void)path, (void)mode;
    return 0;
}

WEAK char *getcwd(char *path, size_t bytes)
{
    static const char root[] = "/";
    if (path == NULL)
        return strdup(root);
    if (bytes < sizeof root) {
        errno = bytes == 0 ? EINVAL : ERANGE;
        return NULL;
    }
    return strcpy(path, root);
}

WEAK int fsync(int file)
{
    (void)file;
    return 0;
}

WEAK uid_t getuid(void)
{
    return 0;
}

WEAK uid_t geteuid(void)
{
    return 0;
}

WEAK gid_t getgid(void)
{
    return 0;
}

WEAK gid_t getegid(void)
{
    return 0;
}

WEAK pid_t getppid(void)
{
    return 0;
}
