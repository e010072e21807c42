/* test: cores=1 says="ends here: No such file or directory" */
/* What programs for Linux include and call, where a rank has one core, and there are no network, threads, processes or directories. */
#include "../check.h"
#include <arpa/inet.h>
#include <byteswap.h>
#include <dirent.h>
#include <dlfcn.h>
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <error.h>
#include <execinfo.h>
#include <fcntl.h>
#include <features.h>
#include <grp.h>
#include <ifaddrs.h>
#include <libgen.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <syslog.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <values.h>

static int begun;

static void begin(void)
{
    begun++;
}

static void *never(void *argument)
{
    CHECK(0);
    return argument;
}

/* Of a type that can tell -1 from a number that is as wide. */
#define ABSENT(call, error)                                                                                             \
    do {                                                                                                                \
        errno = 0;                                                                                                      \
        EQUAL((long long)(call), -1);                                                                                   \
        EQUAL(errno, error);                                                                                            \
    } while (0)

static void threads(void)
{
    pthread_t thread;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_key_t key;
    EQUAL(pthread_create(&thread, NULL, never, NULL), EAGAIN);
    CHECK(pthread_equal(pthread_self(), pthread_self()));
    EQUAL(pthread_mutex_lock(&mutex), 0);
    EQUAL(pthread_mutex_trylock(&mutex), EBUSY);
    struct timespec before, after;
    clock_gettime(CLOCK_REALTIME, &before);
    struct timespec until = {before.tv_sec + 1, before.tv_nsec};
    EQUAL(pthread_cond_timedwait(&condition, &mutex, &until), ETIMEDOUT);
    clock_gettime(CLOCK_REALTIME, &after);
    CHECK(after.tv_sec > before.tv_sec);
    EQUAL(pthread_mutex_unlock(&mutex), 0);
    EQUAL(pthread_mutex_unlock(&mutex), EPERM);
    pthread_mutexattr_t attributes;
    EQUAL(pthread_mutexattr_init(&attributes) + pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE), 0);
    EQUAL(pthread_mutex_init(&mutex, &attributes), 0);
    EQUAL(pthread_mutex_lock(&mutex) + pthread_mutex_lock(&mutex), 0);
    EQUAL(pthread_mutex_unlock(&mutex) + pthread_mutex_unlock(&mutex), 0);
    EQUAL(pthread_mutex_unlock(&mutex), EPERM);
    EQUAL(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK) + pthread_mutex_init(&mutex, &attributes), 0);
    EQUAL(pthread_mutex_lock(&mutex), 0);
    EQUAL(pthread_mutex_lock(&mutex), EDEADLK);
    pthread_once(&once, begin);
    pthread_once(&once, begin);
    EQUAL(begun, 1);
    EQUAL(pthread_key_create(&key, NULL), 0);
    EQUAL(pthread_setspecific(key, &key), 0);
    CHECK(pthread_getspecific(key) == &key);
    EQUAL(pthread_join(pthread_self(), NULL), EDEADLK);
    EQUAL(pthread_detach(pthread_self()) + pthread_kill(pthread_self(), 0), 0);
    sigset_t held;
    memset(&held, 255, sizeof held);
    EQUAL(pthread_sigmask(SIG_BLOCK, NULL, &held), 0);
    EQUAL(held, 0);
    int old = 7;
    EQUAL(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old), 0);
    EQUAL(old, 0);
    sem_t semaphore;
    EQUAL(sem_init(&semaphore, 0, 1), 0);
    EQUAL(sem_wait(&semaphore), 0);
    ABSENT(sem_trywait(&semaphore), EAGAIN);
    atomic_int number = 3;
    EQUAL(atomic_fetch_add(&number, 4), 3);
    EQUAL(number, 7);
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int at = 0; at < 4; at++)
        sum += omp_get_num_threads() + omp_get_thread_num();
    EQUAL(sum, 4);
    CHECK(omp_get_wtime() >= 0);
}

static void network(void)
{
    char name[64], text[INET_ADDRSTRLEN];
    struct addrinfo *list;
    struct ifaddrs *ways;
    gethostname(name, sizeof name);
    struct hostent *here = gethostbyname(name);
    CHECK(here != NULL && strcmp(here->h_name, name) == 0);
    CHECK(strcmp(inet_ntoa(*(struct in_addr *)here->h_addr), "127.0.0.1") == 0);
    CHECK(gethostbyname("elsewhere.example") == NULL && h_errno == HOST_NOT_FOUND);
    EQUAL(getaddrinfo(name, NULL, NULL, &list), 0);
    CHECK(inet_ntop(AF_INET, &((struct sockaddr_in *)list->ai_addr)->sin_addr, text, sizeof text) == text);
    freeaddrinfo(list);
    EQUAL(getaddrinfo("elsewhere.example", NULL, NULL, &list), EAI_NONAME);
    EQUAL(inet_addr("1.2.3.4"), htonl(0x01020304));
    EQUAL(inet_addr("1.2.3.400"), INADDR_NONE);
    EQUAL(getifaddrs(&ways), 0);
    CHECK(ways == NULL);
    ABSENT(socket(AF_INET, SOCK_STREAM, 0), EAFNOSUPPORT);
    ABSENT(recv(3, text, sizeof text, 0), EAFNOSUPPORT);
    EQUAL(htobe32(0x01020304), bswap_32(0x01020304));
}

static void cores_and_memory(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    EQUAL(sched_getaffinity(0, sizeof set, &set), 0);
    EQUAL(CPU_COUNT(&set), 1);
    CHECK(CPU_ISSET(sched_getcpu(), &set));
    EQUAL(sched_setaffinity(0, sizeof set, &set), 0);
    CPU_CLR(0, &set);
    CPU_SET(70, &set);
    ABSENT(sched_setaffinity(0, sizeof set, &set), EINVAL);
    EQUAL(get_nprocs(), 1);
    unsigned char *pages = mmap(NULL, 10000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED && (size_t)pages % 4096 == 0);
    EQUAL(pages[9999], 0);
    pages[9999] = 1;
    EQUAL(mlock(pages, 10000) + madvise(pages, 10000, MADV_DONTNEED), 0);
    EQUAL(pages[9999], 0);
    EQUAL(mprotect(pages, 10000, PROT_READ | PROT_WRITE), 0);
    ABSENT(mprotect(pages, 10000, PROT_NONE), ENOSYS);
    /* A piece of a mapping stays, as head and tail of one that was to be aligned. */
    EQUAL(munmap(pages + 4096, 4096), 0);
    pages[4096] = 1;
    EQUAL(munmap(pages, 10000), 0);
    ABSENT(munmap(pages, 10000), EINVAL);
    struct sysinfo info;
    EQUAL(sysinfo(&info), 0);
    CHECK(info.totalram > info.freeram && info.freeram > 0);
    errno = 0;
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 0, 0) == MAP_FAILED);
    EQUAL(errno, ENODEV);
    ABSENT(shmget(IPC_PRIVATE, 4096, IPC_CREAT), ENOSYS);
    void *places[2];
    EQUAL(backtrace(places, 2), 0);
}

static void files(void)
{
    char there[] = "/a/b/c.txt", same[] = "/a/b/c.txt", slashes[] = "/a//", text[8] = "";
    struct iovec pieces[] = {{"one", 3}, {"two", 3}};
    CHECK(strcmp(basename(there), "c.txt") == 0 && strcmp(dirname(same), "/a/b") == 0);
    CHECK(strcmp(dirname(slashes), "/") == 0);
    int file = open("pieces", O_RDWR | O_CREAT | O_TRUNC, 0600);
    EQUAL(writev(file, pieces, 2), 6);
    EQUAL(pread(file, text, 4, 2), 4);
    CHECK(strcmp(text, "etwo") == 0);
    EQUAL(pwrite(file, "x", 1, 0), 1);
    EQUAL(write(file, "!", 1), 1);
    EQUAL(pread(file, text, 7, 0), 7);
    CHECK(memcmp(text, "xnetwo!", 7) == 0);
    close(file);
    ABSENT(close(file), EBADF);
    ABSENT(open("nowhere", O_RDONLY), ENOENT);
    ABSENT(access("nowhere", F_OK), ENOENT);
    ABSENT(unlink("nowhere"), ENOENT);
    errno = 0;
    CHECK(opendir("/") == NULL);
    EQUAL(errno, ENOSYS);
    EQUAL(chdir("/") + chdir("."), 0);
    ABSENT(chdir("/tmp"), ENOENT);
    ABSENT(rmdir("/tmp"), ENOENT);
    EQUAL(chmod("pieces", 0600), 0);
    ABSENT(chmod("nowhere", 0600), ENOENT);
    ABSENT(writev(1, pieces, -1), EINVAL);
    char absolute[16];
    CHECK(realpath("./pieces", absolute) == absolute && strcmp(absolute, "/pieces") == 0);
    errno = 0;
    CHECK(realpath("nowhere", absolute) == NULL);
    EQUAL(errno, ENOENT);
    ABSENT(readlink("pieces", text, sizeof text), ENOSYS);
    EQUAL(alarm(3), 0);
}

static void processes(void)
{
    CHECK(strcmp(getpwuid(getuid())->pw_name, getlogin()) == 0);
    ABSENT(fork(), ENOSYS);
    ABSENT(wait(NULL), ENOSYS);
    ABSENT(execl("/bin/true", "true", NULL), ENOSYS);
    CHECK(popen("ls", "r") == NULL && dlopen("libm.so", RTLD_NOW) == NULL && dlerror() != NULL);
    EQUAL(setuid(0), 0);
    ABSENT(setuid(1000), EPERM);
    sigset_t pending;
    memset(&pending, 255, sizeof pending);
    EQUAL(sigpending(&pending), 0);
    EQUAL(pending, 0);
    double before = omp_get_wtime();
    EQUAL(select(0, NULL, NULL, NULL, &(struct timeval){.tv_usec = 2000}), 0);
    EQUAL(poll(NULL, 0, 3), 0);
    CHECK(omp_get_wtime() - before >= 0.0049);
    warnx("nothing is wrong with %s", "this");
}

/* What is ready, and what would never be. */
static void readiness(void)
{
    fd_set readable, exceptional;
    struct pollfd polled[] = {{.fd = 0, .events = POLLIN | POLLPRI}, {.fd = -1, .events = POLLIN}, {.fd = 1, .events = POLLERR}};
    FD_ZERO(&readable);
    FD_SET(0, &readable);
    FD_SET(5, &readable);
    exceptional = readable;
    EQUAL(select(5, &readable, NULL, &exceptional, NULL), 1);
    CHECK(FD_ISSET(0, &readable) && !FD_ISSET(0, &exceptional));
    EQUAL(select(6, &readable, &readable, NULL, NULL), 4);
    FD_SET(1023, &readable);
    EQUAL(select(1024, NULL, &readable, NULL, NULL), 3);
    CHECK(FD_ISSET(1023, &readable));
    ABSENT(select(0, NULL, NULL, NULL, NULL), EINVAL);
    ABSENT(select(0, NULL, NULL, NULL, &(struct timeval){.tv_usec = -1}), EINVAL);
    double before = omp_get_wtime();
    EQUAL(pselect(0, &readable, NULL, NULL, &(struct timespec){.tv_nsec = 1000}, NULL), 0);
    CHECK(!FD_ISSET(5, &readable));
    EQUAL(select(0, NULL, NULL, NULL, &(struct timeval){.tv_usec = 1500000}), 0);
    CHECK(omp_get_wtime() - before >= 1.4999);
    EQUAL(poll(polled, 3, -1), 1);
    EQUAL(polled[0].revents, POLLIN);
    EQUAL(polled[1].revents, 0);
    EQUAL(poll(polled + 1, 2, 0), 0);
    ABSENT(poll(polled + 1, 2, -1), EINVAL);
    /* Sets of a program whose FD_SETSIZE is that of one word. */
    fd_mask guarded[] = {1 << 5, -1};
    EQUAL(select(6, NULL, NULL, (fd_set *)guarded, &(struct timeval){0}), 0);
    EQUAL(guarded[0], 0);
    CHECK(guarded[1] == -1);
}

static void names(void)
{
    char own[64], name[64], service[8], text[INET_ADDRSTRLEN];
    struct addrinfo *list, hints = {.ai_flags = AI_CANONNAME, .ai_socktype = SOCK_DGRAM, .ai_protocol = IPPROTO_UDP};
    gethostname(own, sizeof own);
    EQUAL(getaddrinfo("localhost", "8080", &hints, &list), 0);
    CHECK(strcmp(list->ai_canonname, own) == 0);
    CHECK(list->ai_socktype == SOCK_DGRAM && list->ai_protocol == IPPROTO_UDP);
    EQUAL(getnameinfo(list->ai_addr, list->ai_addrlen, name, sizeof name, service, sizeof service, 0), 0);
    CHECK(strcmp(name, own) == 0 && strcmp(service, "8080") == 0);
    EQUAL(getnameinfo(list->ai_addr, list->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST), 0);
    CHECK(strcmp(text, "127.0.0.1") == 0);
    EQUAL(getnameinfo(list->ai_addr, list->ai_addrlen, name, 3, NULL, 0, 0), EAI_OVERFLOW);
    freeaddrinfo(list);
    EQUAL(getaddrinfo(own, "http", NULL, &list), EAI_SERVICE);
    EQUAL(getaddrinfo(own, "65536", NULL, &list), EAI_SERVICE);
    EQUAL(getaddrinfo(NULL, NULL, NULL, &list), EAI_NONAME);
    hints = (struct addrinfo){.ai_family = AF_INET6};
    EQUAL(getaddrinfo(own, NULL, &hints, &list), EAI_FAMILY);
    CHECK(strcmp(gai_strerror(EAI_FAMILY), gai_strerror(EAI_SERVICE)) != 0);
}

/* Numbers of cores that no set has, beside a word that must stay. */
static void sets(void)
{
    struct {
        unsigned long before;
        cpu_set_t set;
        unsigned long after;
    } guarded = {0};
    int core = 3;
    CPU_SET(-1, &guarded.set);
    CPU_SET(CPU_SETSIZE, &guarded.set);
    CPU_SET(core++, &guarded.set);
    CHECK(guarded.before == 0 && guarded.after == 0 && core == 4);
    CHECK(CPU_ISSET(3, &guarded.set) && !CPU_ISSET(-1, &guarded.set) && !CPU_ISSET(CPU_SETSIZE, &guarded.set));
    EQUAL(CPU_COUNT(&guarded.set), 1);
}

#if !defined MAP_ANONYMOUS || !defined AF_INET || !defined POLLIN || !defined RTLD_NOW || !defined LOG_ERR || !defined ICANON
#error "programs ask whether these are defined"
#endif

int main(void)
{
    threads();
    network();
    cores_and_memory();
    files();
    processes();
    readiness();
    names();
    sets();
    EQUAL(MAXINT, INT_MAX);
    errno = ENOENT;
    err(0, "%s", "ends here");
}
