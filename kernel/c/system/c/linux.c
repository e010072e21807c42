/* What programs for Linux call besides, weak as in posix.c: who runs them, on which cores, pages of memory, pieces of files, parts of
   paths, messages of failures. */

#include <atoll/services.h>
#include <atoll/weak.h>
#include <err.h>
#include <errno.h>
#include <error.h>
#include <libgen.h>
#include <malloc.h>
#include <pwd.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <unistd.h>

WEAK struct passwd *getpwuid(uid_t user)
{
    static char name[] = "atoll", none[] = "", root[] = "/";
    static struct passwd entry = {.pw_name = name, .pw_passwd = none, .pw_gecos = none, .pw_dir = root, .pw_shell = none};
    return user == 0 ? &entry : NULL;
}

WEAK struct passwd *getpwnam(const char *name)
{
    struct passwd *entry = getpwuid(0);
    return strcmp(name, entry->pw_name) == 0 ? entry : NULL;
}

WEAK char *getlogin(void)
{
    return getpwuid(0)->pw_name;
}

WEAK int sysinfo(struct sysinfo *info)
{
    size_t all = atoll_heap_bytes();
    *info = (struct sysinfo){.totalram = all, .freeram = all - mallinfo().uordblks, .procs = 1, .mem_unit = 1};
    return 0;
}

WEAK int get_nprocs(void)
{
    return 1;
}

WEAK int get_nprocs_conf(void)
{
    return 1;
}

WEAK int atoll_cpu_count(const cpu_set_t *set)
{
    int count = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        count += CPU_ISSET(cpu, set);
    return count;
}

WEAK int sched_getcpu(void)
{
    return 0;
}

WEAK int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *set)
{
    (void)process;
    memset(set, 0, bytes);
    CPU_SET(0, set);
    return 0;
}

WEAK int sched_setaffinity(pid_t process, size_t bytes, const cpu_set_t *set)
{
    (void)process, (void)bytes;
    if (CPU_ISSET(0, set))
        return 0;
    errno = EINVAL;
    return -1;
}

/* What mmap has given, and munmap has not freed. */
static struct mapping {
    struct mapping *next;
    char *start;
    size_t bytes;
} *mappings;

/* Pages of no file are malloc's. */
WEAK void *mmap(void *near, size_t bytes, int access, int flags, int file, off_t offset)
{
    (void)near, (void)access, (void)file, (void)offset;
    if (!(flags & MAP_ANONYMOUS) || flags & MAP_FIXED) {
        errno = flags & MAP_FIXED ? EINVAL : ENODEV;
        return MAP_FAILED;
    }
    struct mapping *made = bytes == 0 ? NULL : malloc(sizeof *made);
    char *start = made == NULL ? NULL : memalign(getpagesize(), bytes);
    if (start == NULL) {
        free(made);
        errno = bytes == 0 ? EINVAL : ENOMEM;
        return MAP_FAILED;
    }
    *made = (struct mapping){.next = mappings, .start = start, .bytes = bytes};
    mappings = made;
    return memset(start, 0, bytes);
}

/* A mapping is freed as a whole. Where only some of its pages are unmapped, all of them are kept. */
WEAK int munmap(void *start, size_t bytes)
{
    for (struct mapping **at = &mappings; *at != NULL; at = &(*at)->next) {
        struct mapping *found = *at;
        size_t before = (size_t)start - (size_t)found->start;
        if (before >= found->bytes)
            continue;
        if (before == 0 && bytes >= found->bytes) {
            *at = found->next;
            free(found->start);
            free(found);
        }
        return 0;
    }
    errno = EINVAL;
    return -1;
}

static ssize_t pass(int file, void *bytes, size_t count, int writes)
{
    return writes ? write(file, bytes, count) : read(file, bytes, count);
}

static ssize_t pass_at(int file, void *bytes, size_t count, off_t offset, int writes)
{
    off_t here = lseek(file, 0, SEEK_CUR);
    if (here < 0 || lseek(file, offset, SEEK_SET) < 0)
        return -1;
    ssize_t passed = pass(file, bytes, count, writes);
    lseek(file, here, SEEK_SET);
    return passed;
}

WEAK ssize_t pread(int file, void *bytes, size_t count, off_t offset)
{
    return pass_at(file, bytes, count, offset, 0);
}

WEAK ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset)
{
    return pass_at(file, (void *)bytes, count, offset, 1);
}

/* Up to the first piece that is not passed as a whole. */
static ssize_t pass_pieces(int file, const struct iovec *pieces, int count, int writes)
{
    if (count < 0) {
        errno = EINVAL;
        return -1;
    }
    ssize_t all = 0;
    for (int at = 0; at < count; at++) {
        ssize_t passed = pass(file, pieces[at].iov_base, pieces[at].iov_len, writes);
        if (passed < 0)
            return all > 0 ? all : passed;
        all += passed;
        if ((size_t)passed < pieces[at].iov_len)
            break;
    }
    return all;
}

WEAK ssize_t readv(int file, const struct iovec *pieces, int count)
{
    return pass_pieces(file, pieces, count, 0);
}

WEAK ssize_t writev(int file, const struct iovec *pieces, int count)
{
    return pass_pieces(file, pieces, count, 1);
}

/* A path without the slashes at its end. */
static char *without_slashes(char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        path[--length] = 0;
    return path;
}

WEAK char *basename(char *path)
{
    static char here[] = ".";
    if (path == NULL || *path == 0)
        return here;
    char *slash = strrchr(without_slashes(path), '/');
    return slash == NULL || slash[1] == 0 ? path : slash + 1;
}

WEAK char *dirname(char *path)
{
    static char here[] = ".", root[] = "/";
    char *slash = path == NULL ? NULL : strrchr(without_slashes(path), '/');
    if (slash == NULL)
        return here;
    if (slash == path)
        return root;
    *slash = 0;
    return without_slashes(path);
}

WEAK char *realpath(const char *restrict path, char *restrict made)
{
    if (path == NULL) {
        errno = EINVAL;
        return NULL;
    }
    if (access(path, F_OK) < 0)
        return NULL;
    while (*path == '/' || (path[0] == '.' && path[1] == '/'))
        path++;
    if (made == NULL && (made = malloc(strlen(path) + 2)) == NULL)
        return NULL;
    made[0] = '/';
    strcpy(made + 1, path);
    return made;
}

static void say(int number, const char *format, va_list arguments)
{
    fflush(stdout);
    if (format != NULL)
        vfprintf(stderr, format, arguments);
    if (number != 0)
        fprintf(stderr, "%s%s", format != NULL ? ": " : "", strerror(number));
    fputc('\n', stderr);
}

#define SAYS(name, parameter, number, then)                                                                             \
    WEAK void name(parameter const char *format, ...)                                                                   \
    {                                                                                                                   \
        int noted = number;                                                                                             \
        va_list arguments;                                                                                              \
        va_start(arguments, format);                                                                                    \
        say(noted, format, arguments);                                                                                  \
        va_end(arguments);                                                                                              \
        then;                                                                                                           \
    }
#define STATUS int status,
#define NOTHING

SAYS(err, STATUS, errno, exit(status))
SAYS(errx, STATUS, 0, exit(status))
SAYS(warn, NOTHING, errno, (void)0)
SAYS(warnx, NOTHING, 0, (void)0)

WEAK void error(int status, int number, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(number, format, arguments);
    va_end(arguments);
    if (status != 0)
        exit(status);
}
